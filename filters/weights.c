/* The header is read by the parser that pictures use; only what follows differs: weights take more
 * types of numbers than samples do, and become doubles, which hold all of these exactly. Whatever
 * else people keep weights in is told apart here only to say what to do with it. */
#include "filters/weights.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "common/memory.h"
#include "images/image.h"

enum { CHUNK_BYTES = 64 << 10 };

typedef struct Type {
    char kind; /* 'u', 'i' or 'f' */
    size_t size;
    bool big_endian;
} Type;

typedef struct File {
    FILE *stream;
    bool sized; /* a file whose size is known, not a pipe */
    size_t size;
} File;

/* ---- the file ---- */

static GfStatus open_file(const char *path, File *file)
{
    static const char unread[] = ".safetensors";
    struct stat about;
    size_t length = strlen(path), suffix = strlen(unread);
    if (length > suffix && strcasecmp(path + length - suffix, unread) == 0)
        return gf_fail(GF_EUSAGE,
                       "%s files are not read, only .npy: save the tensor by "
                       "numpy.save()",
                       unread);
    file->stream = fopen(path, "re");
    if (!file->stream)
        return gf_fail(GF_EUSAGE, "%s", strerror(errno));
    if (fstat(fileno(file->stream), &about) != 0 ||
        !(S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)))
        return gf_fail(GF_EUSAGE, "it is neither a file nor a pipe");
    file->sized = S_ISREG(about.st_mode);
    file->size = (size_t)about.st_size;
    return GF_OK;
}

static GfStatus read_bytes(const File *file, void *bytes, size_t size)
{
    if (fread(bytes, 1, size, file->stream) == size)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "%s",
                   ferror(file->stream) ? strerror(errno) : "the .npy file ends early");
}

static GfStatus refuse_format(const unsigned char *head, size_t size)
{
    static const char advice[] = "save one array by numpy.save(); of a PyTorch tensor t it is "
                                 "numpy.save(\"weights.npy\", t.detach().numpy())";
    if (size >= 2 && (memcmp(head, "PK", 2) == 0 || (head[0] == 0x80 && head[1] <= 5)))
        return gf_fail(GF_EUSAGE,
                       "an archive or a pickle (.npz, .pt, .pkl), which is never opened; "
                       "%s",
                       advice);
    return gf_fail(GF_EUSAGE, "not an .npy file; %s", advice);
}

/* Reads the header and leaves the stream at the first number. */
static GfStatus read_header(const File *file, GfNpyHeader *header)
{
    unsigned char head[GF_NPY_PREAMBLE];
    size_t offset, text_size;
    char *text;
    size_t size = fread(head, 1, 10, file->stream);
    if (size < 6 || memcmp(head, "\x93NUMPY", 6) != 0)
        return refuse_format(head, size);
    if (size == 10 && head[6] > 1) /* versions whose length has four bytes */
        size += fread(head + size, 1, 2, file->stream);
    GF_TRY(gf_npy_preamble(head, size, &offset, &text_size));
    GF_TRY(gf_allocate(text_size + 1, 1, &text));
    GfStatus status = read_bytes(file, text, text_size);
    if (status == GF_OK)
        status = gf_npy_parse(text, text_size, header);
    free(text);
    return status;
}

static GfStatus find_type(const char *descr, Type *type)
{
    static const char known[][3] = {"f2", "f4", "f8", "u1", "i1", "u2", "i2", "u4", "i4"};
    const char *name = descr[0] ? descr + 1 : descr;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size = (size_t)(known[i][1] - '0');
        if (strcmp(name, known[i]) != 0 || !strchr(size == 1 ? "<>|" : "<>", descr[0]))
            continue;
        *type = (Type){known[i][0], size, descr[0] == '>'};
        return GF_OK;
    }
    return gf_fail(GF_EUSAGE,
                   "numbers of dtype '%s' are not accepted; convert them to float16, float32 or "
                   "float64 with array.astype()",
                   descr);
}

static GfStatus check_size(const File *file, const GfNpyHeader *header, size_t size)
{
    if (header->count > GF_WEIGHTS_MAX)
        return gf_fail(GF_EUSAGE, "%zu numbers are more than the %d that one array may have",
                       header->count, GF_WEIGHTS_MAX);
    size_t start = (size_t)ftello(file->stream), bytes = header->count * size;
    if (!file->sized || file->size - start == bytes)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "the file holds %zu bytes of numbers, its header announces %zu",
                   file->size - start, bytes);
}

/* ---- the numbers ---- */

static double decode(const unsigned char *bytes, const Type *type)
{
    uint64_t bits = 0;
    float single;
    double value;
    for (size_t i = 0; i < type->size; i++)
        bits = bits << 8 | bytes[type->big_endian ? i : type->size - 1 - i];
    if (type->kind == 'u')
        return (double)bits;
    if (type->kind == 'i') {
        uint64_t sign = (uint64_t)1 << (8 * type->size - 1);
        return (double)(bits & ~sign) - (double)(bits & sign);
    }
    if (type->size == 2)
        return (double)gf_half((uint16_t)bits);
    if (type->size == 8) {
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    memcpy(&single, &low, sizeof single);
    return (double)single;
}

static GfStatus read_values(const File *file, const Type *type, GfWeights *weights)
{
    unsigned char chunk[CHUNK_BYTES];
    for (size_t done = 0, n; done < weights->count; done += n) {
        n = gf_min(weights->count - done, CHUNK_BYTES / type->size);
        GF_TRY(read_bytes(file, chunk, n * type->size));
        for (size_t i = 0; i < n; i++) {
            double value = decode(chunk + i * type->size, type);
            if (!(fabs(value) <= (double)FLT_MAX))
                return gf_fail(GF_EUSAGE, "number %zu of %zu is %s", done + i + 1, weights->count,
                               isnan(value)   ? "NaN"
                               : isinf(value) ? "infinite"
                                              : "beyond what floats can hold");
            weights->values[done + i] = value;
        }
    }
    if (fgetc(file->stream) != EOF)
        return gf_fail(GF_EUSAGE, "the file goes on after the last number");
    return GF_OK;
}

/* From Fortran order, the first index fastest, to C order. */
static GfStatus transpose(GfWeights *weights)
{
    double *turned;
    size_t step[GF_NPY_RANK_MAX], index[GF_NPY_RANK_MAX] = {0}, to = 0, last = 1;
    GF_TRY(gf_allocate(weights->count, sizeof *turned, &turned));
    for (size_t d = weights->rank; d-- > 0; last *= weights->shape[d])
        step[d] = last;
    for (size_t from = 0; from < weights->count; from++) {
        turned[to] = weights->values[from];
        for (size_t d = 0; d < weights->rank; d++) {
            to += step[d];
            if (++index[d] < weights->shape[d])
                break;
            to -= index[d] * step[d];
            index[d] = 0;
        }
    }
    free(weights->values);
    weights->values = turned;
    return GF_OK;
}

static GfStatus read_array(const File *file, GfWeights *weights)
{
    GfNpyHeader header;
    Type type;
    GF_TRY(read_header(file, &header));
    GF_TRY(find_type(header.descr, &type));
    GF_TRY(check_size(file, &header, type.size));
    weights->rank = header.rank;
    weights->count = header.count;
    memcpy(weights->shape, header.shape, sizeof weights->shape);
    GF_TRY(gf_allocate(header.count, sizeof *weights->values, &weights->values));
    GF_TRY(read_values(file, &type, weights));
    return header.fortran_order && header.rank > 1 ? transpose(weights) : GF_OK;
}

GfStatus gf_weights_read(const char *path, GfWeights *weights)
{
    File file = {0};
    *weights = (GfWeights){0};
    GfStatus status = open_file(path, &file);
    if (status == GF_OK)
        status = read_array(&file, weights);
    if (file.stream)
        fclose(file.stream);
    if (status == GF_OK)
        return GF_OK;
    gf_weights_free(weights);
    /* What is wrong with a picture is wrong usage here: nothing was started. */
    return status == GF_EMEMORY ? status : GF_EUSAGE;
}

void gf_weights_free(GfWeights *weights)
{
    free(weights->values);
    *weights = (GfWeights){0};
}

const char *gf_weights_shape(const GfWeights *weights, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < weights->rank && used < size; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", weights->shape[i]);
    if (used < size)
        snprintf(text + used, size - used, weights->rank == 1 ? ",)" : ")");
    return text;
}
