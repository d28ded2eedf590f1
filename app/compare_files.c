/* Both pictures are decoded whole, once their headers say that they can be compared; what differs in
 * kind (size, channels, depth) is trouble, not a difference: a number for it would mean nothing. */
#include "app/compare_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/compare.h"
#include "app/figures.h"
#include "app/job_checks.h"
#include "app/message.h"
#include "app/whole.h"

enum { TWO = 2 };

/* What has been opened and read of A and B. */
typedef struct Pair {
    GfReader *readers[TWO];
    GfImage images[TWO];
} Pair;

/* Opens both and reads them only when they can be compared. On failure *path is the file to blame,
 * or NULL. */
static GfStatus load(const GfOptions *options, Pair *pair, const char **path)
{
    for (size_t i = 0; i < TWO; i++) {
        *path = options->operands[i];
        GF_TRY(gf_reader_open(*path, &options->read, &pair->readers[i]));
    }
    *path = NULL;
    GF_TRY(gf_compare_formats(&pair->readers[0]->format, &pair->readers[1]->format));
    for (size_t i = 0; i < TWO; i++) {
        *path = options->operands[i];
        GF_TRY(gf_whole_read(pair->readers[i], &options->read, &pair->images[i]));
        if (pair->readers[i]->note[0])
            gf_say_note(*path, "%s", pair->readers[i]->note);
    }
    *path = NULL;
    /* Again: of arrays of several pictures there may be more in one file. */
    return gf_compare_formats(&pair->images[0].format, &pair->images[1].format);
}

static void print_figures(const GfOptions *options, const GfFigures *figures)
{
    const char *a = options->operands[0], *b = options->operands[1];
    if (options->json) {
        json_t *line = json_object();
        json_object_set_new(line, "a", gf_name_json(a));
        json_object_set_new(line, "b", gf_name_json(b));
        gf_figures_json(line, figures);
        return;
    }
    char *title = NULL;
    if (asprintf(&title, "%s and %s", a, b) < 0)
        title = NULL;
    gf_figures_print(title ? title : a, figures);
    free(title);
}

static GfStatus compare(const GfOptions *options, Pair *pair, GfFigures *figures, const char **path)
{
    *path = NULL;
    GF_TRY(gf_diff_image_check(options, options->operands, options->operand_count));
    GF_TRY(load(options, pair, path));
    const GfImage *a = &pair->images[0], *b = &pair->images[1];
    GF_TRY(gf_compare_images(a, b, options->tolerance, figures));
    print_figures(options, figures);
    return gf_whole_write_difference(options, a, b, figures->largest);
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
