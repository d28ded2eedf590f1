/* Both pictures are decoded whole, once their headers say that they can be compared; what differs
 * in kind (size, channels, depth) is trouble, not a difference: a number for it would mean
 * nothing. */
#include "app/compare_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/compare.h"
#include "app/figures.h"
#include "app/job_checks.h"
#include "app/message.h"
#include "app/report.h"
#include "app/whole.h"
#include "common/text.h"

enum { TWO = 2, NAME_SHOWN = 200 };

/* What has been opened and read of A and B. */
typedef struct Pair {
    GfReader *readers[TWO];
    GfImage images[TWO];
} Pair;

/* What keeps two pictures from being compared is about both. */
static GfStatus check_formats(const GfOptions *options, const GfFormat *a, const GfFormat *b)
{
    GfStatus status = gf_compare_formats(a, b);
    char one[NAME_SHOWN], other[NAME_SHOWN];
    if (status == GF_OK)
        return GF_OK;
    return gf_fail(status, "%s and %s: %s", gf_escape(options->operands[0], one, sizeof one),
                   gf_escape(options->operands[1], other, sizeof other), gf_message());
}

/* Opens both and reads them only when they can be compared. On failure *path is the file to blame,
 * or NULL. */
static GfStatus load(const GfOptions *options, Pair *pair, const char **path)
{
    for (size_t i = 0; i < TWO; i++) {
        *path = options->operands[i];
        GF_TRY(gf_reader_open(*path, &options->read, &pair->readers[i]));
    }
    *path = NULL;
    GF_TRY(check_formats(options, &pair->readers[0]->format, &pair->readers[1]->format));
    for (size_t i = 0; i < TWO; i++) {
        *path = options->operands[i];
        GF_TRY(gf_whole_read(pair->readers[i], &options->read, &pair->images[i]));
        if (pair->readers[i]->note[0])
            gf_say_note(*path, "%s", pair->readers[i]->note);
    }
    *path = NULL;
    /* Again: of arrays of several pictures there may be more in one file. */
    return check_formats(options, &pair->images[0].format, &pair->images[1].format);
}

static void print_figures(const GfOptions *options, const char *title, const GfFigures *figures)
{
    if (options->json) {
        json_t *line = json_object();
        json_object_set_new(line, "a", gf_name_json(options->operands[0]));
        json_object_set_new(line, "b", gf_name_json(options->operands[1]));
        gf_figures_json(line, figures);
        return;
    }
    gf_figures_print(title, figures);
}

static GfStatus write_report(const GfOptions *options, const Pair *pair, const char *title,
                             const GfFigures *figures, GfReport **report)
{
    GfReportCase compared = {.figures = figures,
                             .opaque = gf_sample_max(pair->images[0].format.sample)};
    for (size_t i = 0; i < TWO; i++)
        compared.sides[i] = (GfReportSide){.name = options->operands[i], .image = &pair->images[i]};
    gf_report_picture(*report, title, NULL);
    gf_report_case(*report, &compared);
    return gf_report_commit(report);
}

/* Compares what has been loaded. */
static GfStatus compare_loaded(const GfOptions *options, const Pair *pair, GfFigures *figures,
                               GfReport **report)
{
    const GfImage *a = &pair->images[0], *b = &pair->images[1];
    char *title = NULL;
    GfStatus status;
    if (asprintf(&title, "%s and %s", options->operands[0], options->operands[1]) < 0)
        return gf_fail(GF_EMEMORY, "out of memory");
    GF_GO(gf_compare_images(a, b, options->tolerance, figures));
    print_figures(options, title, figures);
    GF_GO(gf_whole_write_difference(options, a, b, figures->largest));
    GF_GO(write_report(options, pair, title, figures, report));
done:
    free(title);
    return status;
}

static GfStatus compare(const GfOptions *options, Pair *pair, GfFigures *figures, const char **path)
{
    GfReport *report = NULL;
    GfStatus status;
    *path = NULL;
    if (strcmp(options->operands[0], "-") == 0 && strcmp(options->operands[1], "-") == 0)
        GF_GO(gf_fail(GF_EUSAGE, "standard input (-) can be read only once"));
    GF_GO(gf_compare_check_paths(options, options->operands, options->operand_count));
    GF_GO(gf_report_open(options, &report));
    GF_GO(load(options, pair, path));
    GF_GO(compare_loaded(options, pair, figures, &report));
done:
    gf_report_discard(&report);
    return status;
}

int gf_compare_files(const GfOptions *options)
{
    Pair pair = {0};
    GfFigures figures = {0};
    const char *path;
    GfStatus status = compare(options, &pair, &figures, &path);
    if (status != GF_OK)
        gf_say_error(path, "%s", gf_message());
    for (size_t i = 0; i < TWO; i++) {
        gf_reader_close(pair.readers[i]);
        gf_image_free(&pair.images[i]);
    }
    return status != GF_OK ? 2 : figures.beyond > 0;
}
