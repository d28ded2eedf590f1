/* A picture without words: the tiles' names are printed in its order. */
#include "app/kernel_sheet.h"

#include <stdio.h>
#include <string.h>

#include "app/whole.h"
#include "common/text.h"
#include "filters/banks.h"
#include "filters/grammar.h"
#include "filters/kernel_picture.h"

enum { SHOWN = 200 };

/* Kernels, and nothing after them but what combines them linearly or as a magnitude. */
static bool is_linear(const GfFilter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        const GfStage *stage = &filter->stages[i];
        bool combined = stage->kind == GF_STAGE_COMBINE && stage->combine.op != GF_COMBINE_UNSHARP;
        if (stage->kind != GF_STAGE_LINEAR && !combined)
            return false;
    }
    return true;
}

static GfStatus add_text(GfKernelList *list, const char *text, bool only_linear)
{
    GfFilter *filter;
    GF_TRY(gf_filter_parse(text, &filter));
    GfStatus status = only_linear && !is_linear(filter) ? GF_OK : gf_kernel_list_add(list, filter);
    gf_filter_free(filter);
    return status;
}

static GfStatus add_catalog(GfKernelList *list)
{
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        if (!gf_catalog_required(row))
            GF_TRY(add_text(list, row->name, true));
    return GF_OK;
}

static GfStatus add_members(GfKernelList *list, const char *text)
{
    GfMembers members;
    GfStatus status;
    GF_GO(gf_members_parse(text, &members));
    for (size_t i = 0; i < members.count; i++)
        GF_GO(gf_kernel_list_add(list, members.filters[i]));
done:
    gf_members_free(&members);
    return status;
}

static GfStatus collect(const GfOptions *options, GfKernelList *list)
{
    char shown[SHOWN];
    if (options->operand_count + options->kernel_count == 0)
        return add_catalog(list);
    for (size_t i = 0; i < options->operand_count; i++) {
        size_t before = list->count;
        GF_TRY(add_text(list, options->operands[i], false));
        if (list->count == before)
            return gf_fail(GF_EUSAGE, "%s has no kernel that could be drawn",
                           gf_escape(options->operands[i], shown, sizeof shown));
    }
    for (size_t i = 0; i < options->kernel_count; i++)
        GF_TRY(add_members(list, options->kernels[i]));
    return GF_OK;
}

static void print_names(const GfKernelList *list, size_t columns)
{
    char shown[SHOWN];
    for (size_t i = 0; i < list->count; i++) {
        if (i % columns == 0)
            printf("%srow %zu:", i ? "\n" : "", i / columns + 1);
        printf("%s %s", i % columns ? "," : "",
               gf_escape(list->tiles[i].name, shown, sizeof shown));
    }
    putchar('\n');
}

GfStatus gf_kernel_sheet(const GfOptions *options)
{
    GfKernelList list = {0};
    GfImage image = {0};
    GfStatus status;
    size_t columns;
    GF_GO(collect(options, &list));
    GF_GO(gf_kernel_list_picture(&list, &columns, &image));
    GF_GO(gf_whole_write(options, options->picture, &image));
    if (strcmp(options->picture, "-") != 0)
        print_names(&list, columns);
done:
    gf_image_free(&image);
    gf_kernel_list_free(&list);
    return status;
}
