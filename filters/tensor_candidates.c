/* The message is the work here: a file may have thousands of tensors with names of its own choice,
 * and what somebody needs is the ten that could have been meant, in one line that no name can
 * break. */
#include "filters/tensor_candidates.h"

#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum { LISTED = 10, LIST_SIZE = 700, SHOWN = 80 };

typedef struct List {
    const GfTensor *tensors[LISTED];
    size_t distances[LISTED];
    size_t count, all; /* `all`: those with no place in it too */
} List;

/* Puts the tensor behind those that are as near or nearer. */
static void insert(List *list, const GfTensor *tensor, size_t distance)
{
    size_t i = list->count < LISTED ? list->count : LISTED;
    list->all++;
    if (i == LISTED && list->distances[LISTED - 1] <= distance)
        return;
    if (i == LISTED)
        i--;
    else
        list->count++;
    for (; i > 0 && list->distances[i - 1] > distance; i--) {
        list->tensors[i] = list->tensors[i - 1];
        list->distances[i] = list->distances[i - 1];
    }
    list->tensors[i] = tensor;
    list->distances[i] = distance;
}

/* "conv1.weight (8, 3, 3, 3), conv1.bias (8,) and 3 more". Returns `text`. */
static const char *print_list(const List *list, char *text, size_t size)
{
    char name[SHOWN], shape[GF_SHAPE_SHOWN], piece[SHOWN + GF_SHAPE_SHOWN + 8];
    size_t used = 0, i = 0;
    text[0] = '\0';
    for (; i < list->count; i++) {
        const GfTensorInfo *info = &list->tensors[i]->info;
        gf_escape(info->name, name, sizeof name);
        gf_shape_text(info->rank, info->shape, shape, sizeof shape);
        int n = snprintf(piece, sizeof piece, "%s%s %s", i ? ", " : "", name, shape);
        if (n < 0 || used + (size_t)n + 24 > size)
            break;
        memcpy(text + used, piece, (size_t)n + 1);
        used += (size_t)n;
    }
    if (i < list->all)
        snprintf(text + used, size - used, " and %zu more", list->all - i);
    return text;
}

GfStatus gf_tensors_only(const GfTensors *tensors, size_t least, size_t most,
                         const GfTensor **tensor)
{
    List fit = {0}, all = {0};
    char text[LIST_SIZE];
    for (size_t i = 0; i < tensors->count; i++) {
        const GfTensorInfo *info = &tensors->list[i].info;
        insert(&all, &tensors->list[i], 0);
        if (info->readable && info->rank >= least && info->rank <= most)
            insert(&fit, &tensors->list[i], 0);
    }
    *tensor = fit.tensors[0];
    if (fit.count == 1)
        return GF_OK;
    if (tensors->count == 0)
        return gf_fail(GF_EUSAGE, "there are no tensors in it");
    if (fit.count == 0)
        return gf_fail(
            GF_EUSAGE,
            "none of its tensors can be meant (not empty, of type F16, BF16, F32 or F64, "
            "of a shape that fits): %s",
            print_list(&all, text, sizeof text));
    return gf_fail(GF_EUSAGE, "several tensors can be meant, and none is named: %s",
                   print_list(&fit, text, sizeof text));
}

GfStatus gf_tensors_missing(const GfTensors *tensors, const char *name)
{
    List near = {0};
    char text[LIST_SIZE], shown[SHOWN];
    gf_escape(name, shown, sizeof shown);
    if (!tensors->named)
        return gf_fail(GF_EUSAGE, "an .npy file has one array without a name, no tensor \"%s\"",
                       shown);
    if (tensors->count == 0)
        return gf_fail(GF_EUSAGE, "there are no tensors in it");
    for (size_t i = 0; i < tensors->count; i++)
        insert(&near, &tensors->list[i], gf_distance(name, tensors->list[i].name));
    return gf_fail(GF_EUSAGE, "it has no tensor \"%s\", but %s", shown,
                   print_list(&near, text, sizeof text));
}
