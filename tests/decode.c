/* decode [options] FILE...: reads pictures through images/ as the program does, by bands, and
 * prints a line for each, with "FILE<tab>" before it when there are several:
 *
 *   ok WxHxC SAMPLE CHECKSUM [xN] [note: ...]
 *   error STATUS REASON
 *
 * CHECKSUM is FNV-1a over the rows' bytes in order. --rss adds "rss_kb N", the peak of the process.
 * Exit status 1 when one failed. For corpora.sh, and for a look at any picture. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "images/codec.h"

enum { BAND_BYTES = 1 << 20 };

static const char *status_name(GfStatus status)
{
    switch (status) {
    case GF_EINPUT:
        return "INPUT";
    case GF_ELIMIT:
        return "LIMIT";
    case GF_EREAD:
        return "READ";
    case GF_EMEMORY:
        return "MEMORY";
    default:
        return "OTHER";
    }
}

static uint64_t fnv1a(uint64_t sum, const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static GfStatus read_picture(GfReader *reader, void *samples, size_t rows, uint64_t *sum)
{
    size_t row_bytes = gf_row_bytes(&reader->format);
    for (size_t y = 0; y < reader->format.height; y += rows) {
        GfBand band = {y, gf_min(rows, reader->format.height - y), row_bytes, samples};
        GF_TRY(gf_reader_rows(reader, &band));
        *sum = fnv1a(*sum, samples, band.rows * row_bytes);
    }
    return GF_OK;
}

static GfStatus read_file(GfReader *reader, uint64_t *sum)
{
    void *samples;
    size_t row_bytes = gf_row_bytes(&reader->format);
    size_t rows = gf_max(1, gf_min(reader->format.height, BAND_BYTES / row_bytes));
    GfStatus status = gf_allocate(rows, row_bytes, &samples);
    *sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; status == GF_OK && i < reader->pictures; i++)
        status = read_picture(reader, samples, rows, sum);
    free(samples);
    return status == GF_OK ? gf_reader_finish(reader) : status;
}

static GfStatus decode(const char *path, const GfReadOptions *options)
{
    GfReader *reader;
    uint64_t sum = 0;
    GfStatus status = gf_reader_open(path, options, &reader);
    if (status == GF_OK)
        status = read_file(reader, &sum);
    if (status == GF_OK) {
        const GfFormat *format = &reader->format;
        printf("ok %zux%zux%zu %s %016" PRIx64, format->width, format->height, format->channels,
               gf_sample_name(format->sample), sum);
        if (reader->pictures > 1)
            printf(" x%zu", reader->pictures);
        if (reader->note[0])
            printf(" note: %s", reader->note);
    } else {
        printf("error %s %s", status_name(status), gf_message());
    }
    gf_reader_close(reader);
    return status;
}

/* Takes leading options; the index of the first file. */
static int parse(int count, char **words, GfReadOptions *options, bool *rss)
{
    int i = 1;
    for (; i < count && strncmp(words[i], "--", 2) == 0; i++) {
        if (strcmp(words[i], "--tolerant") == 0)
            options->tolerant = true;
        else if (strcmp(words[i], "--no-auto-orient") == 0)
            options->auto_orient = false;
        else if (strcmp(words[i], "--rss") == 0)
            *rss = true;
        else if (strncmp(words[i], "--max-pixels=", 13) == 0)
            options->max_pixels = strtoull(words[i] + 13, NULL, 10);
        else if (strncmp(words[i], "--max-scans=", 12) == 0)
            options->max_scans = (unsigned)strtoul(words[i] + 12, NULL, 10);
        else
            exit(2);
    }
    return i;
}

int main(int count, char **words)
{
    GfReadOptions options = gf_read_options_default();
    bool failed = false, rss = false;
    int first = parse(count, words, &options, &rss);
    for (int i = first; i < count; i++) {
        if (count - first > 1)
            printf("%s\t", words[i]);
        failed |= decode(words[i], &options) != GF_OK;
        if (rss) {
            struct rusage usage;
            getrusage(RUSAGE_SELF, &usage);
            printf(" rss_kb %ld", usage.ru_maxrss);
        }
        putchar('\n');
    }
    return failed;
}
