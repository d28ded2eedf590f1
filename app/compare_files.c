/* Both pictures are decoded whole; what differs in kind (size, channels, depth) is trouble, not a
 * difference: a number for it would mean nothing. */
#include "app/compare_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "app/compare.h"
#include "app/figures.h"
#include "app/job_checks.h"
#include "app/message.h"
#include "app/whole.h"

static GfStatus load(const GfOptions *options, const char *path, GfImage *image)
{
    GfReader *reader;
    GfStatus status = gf_reader_open(path, &options->read, &reader);
    if (status == GF_OK) {
        status = gf_whole_read(reader, &options->read, image);
        if (status == GF_OK && reader->note[0])
            gf_say_note(path, "%s", reader->note);
    }
    gf_reader_close(reader);
    if (status != GF_OK)
        gf_say_error(path, "%s", gf_message());
    return status;
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

static GfStatus compare(const GfOptions *options, const GfImage *a, const GfImage *b,
                        GfFigures *figures)
{
    GF_TRY(gf_compare_formats(&a->format, &b->format));
    GF_TRY(gf_compare_images(a, b, options->tolerance, figures));
    print_figures(options, figures);
    return gf_whole_write_difference(options, a, b, figures->largest);
}

int gf_compare_files(const GfOptions *options)
{
    GfImage a = {0}, b = {0};
    GfFigures figures = {0};
    int result = 2;
    if (gf_diff_image_check(options, options->operands, options->operand_count) != GF_OK)
        gf_say_error(NULL, "%s", gf_message());
    else if (load(options, options->operands[0], &a) == GF_OK &&
             load(options, options->operands[1], &b) == GF_OK) {
        if (compare(options, &a, &b, &figures) == GF_OK)
            result = figures.beyond > 0;
        else
            gf_say_error(NULL, "%s", gf_message());
    }
    gf_image_free(&a);
    gf_image_free(&b);
    return result;
}
