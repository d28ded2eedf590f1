/* A file's structure says everything but the range of its numbers, so only that needs them to be
 * read. A file is listed when all of it is known to be right; half a list would look like a whole
 * one. */
#include "app/tensor_listing.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "app/figures.h"
#include "app/message.h"
#include "app/print.h"
#include "common/memory.h"
#include "common/text.h"
#include "filters/tensors.h"

enum { NAME_SHOWN = 4 * GF_TENSOR_NAME_MAX + 8, NAME_COLUMN = 48, PATH_SHOWN = 4 * 4096 + 8 };

/* The smallest and largest number; none of what cannot be weights. */
typedef struct Extent {
    bool known;
    double least, most;
} Extent;

/* ---- ranges ---- */

static GfStatus read_extent(GfTensors *tensors, const GfTensorInfo *info, Extent *extent)
{
    GfWeights weights;
    if (!info->readable)
        return GF_OK;
    GF_TRY(gf_tensors_read(tensors, info->name, &weights));
    *extent = (Extent){true, weights.values[0], weights.values[0]};
    for (size_t i = 1; i < weights.count; i++) {
        if (weights.values[i] < extent->least)
            extent->least = weights.values[i];
        if (weights.values[i] > extent->most)
            extent->most = weights.values[i];
    }
    gf_weights_free(&weights);
    return GF_OK;
}

/* Of every tensor where they are wanted. The caller frees *extents. */
static GfStatus read_extents(GfTensors *tensors, bool wanted, Extent **extents)
{
    size_t count = gf_tensors_count(tensors);
    GF_TRY(gf_allocate_zero(count + 1, sizeof **extents, extents));
    for (size_t i = 0; i < count && wanted; i++)
        GF_TRY(read_extent(tensors, gf_tensors_info(tensors, i), &(*extents)[i]));
    return GF_OK;
}

/* ---- text ---- */

/* Of .npy files, whose array has none, a dash. */
static const char *show_name(const GfTensors *tensors, size_t i, char *text)
{
    return gf_tensors_named(tensors)
               ? gf_escape(gf_tensors_info(tensors, i)->name, text, NAME_SHOWN)
               : "-";
}

static void print_tensors(const char *path, const GfTensors *tensors, const Extent *extents)
{
    char text[PATH_SHOWN], shape[GF_SHAPE_SHOWN];
    size_t count = gf_tensors_count(tensors), column = 0;
    for (size_t i = 0; i < count; i++)
        column = gf_max(column, strlen(show_name(tensors, i, text)));
    column = gf_min(column, NAME_COLUMN);
    printf("%s: %zu tensor%s\n", gf_escape(path, text, sizeof text), count, count == 1 ? "" : "s");
    for (size_t i = 0; i < count; i++) {
        const GfTensorInfo *info = gf_tensors_info(tensors, i);
        printf("  %-*s  %-5s %-18s %9zu", (int)column, show_name(tensors, i, text), info->type,
               gf_shape_text(info->rank, info->shape, shape, sizeof shape), info->count);
        if (extents[i].known)
            printf("  %.6g to %.6g", extents[i].least, extents[i].most);
        putchar('\n');
    }
}

/* ---- JSON ---- */

static json_t *tensor_json(const GfTensorInfo *info, const Extent *extent)
{
    json_t *object = json_object(), *shape = json_array();
    for (size_t i = 0; i < info->rank; i++)
        json_array_append_new(shape, json_integer((json_int_t)info->shape[i]));
    json_object_set_new(object, "name", json_string(info->name));
    json_object_set_new(object, "type", json_string(info->type));
    json_object_set_new(object, "shape", shape);
    json_object_set_new(object, "count", json_integer((json_int_t)info->count));
    if (extent->known) {
        json_object_set_new(object, "min", json_real(extent->least));
        json_object_set_new(object, "max", json_real(extent->most));
    }
    return object;
}

static void print_tensors_json(const char *path, const GfTensors *tensors, const Extent *extents)
{
    json_t *line = json_object(), *list = json_array();
    for (size_t i = 0; i < gf_tensors_count(tensors); i++)
        json_array_append_new(list, tensor_json(gf_tensors_info(tensors, i), &extents[i]));
    json_object_set_new(line, "input", gf_name_json(path));
    json_object_set_new(line, "status", json_string("ok"));
    json_object_set_new(line, "tensors", list);
    gf_print_json(line, 0);
}

static void print_failure_json(const char *path)
{
    json_t *line = json_object();
    json_object_set_new(line, "input", gf_name_json(path));
    json_object_set_new(line, "status", json_string("failed"));
    json_object_set_new(line, "error", json_string(gf_message()));
    gf_print_json(line, 0);
}

/* ---- files ---- */

static GfStatus list_file(const char *path, const GfOptions *options)
{
    Extent *extents = NULL;
    GfTensors *tensors;
    GfStatus status;
    GF_GO(gf_tensors_open(path, &tensors));
    GF_GO(read_extents(tensors, options->verbose, &extents));
    if (options->json)
        print_tensors_json(path, tensors, extents);
    else
        print_tensors(path, tensors, extents);
done:
    gf_tensors_close(tensors);
    free(extents);
    return status;
}

int gf_list_weights(const GfOptions *options)
{
    int result = 0;
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *path = options->operands[i];
        if (list_file(path, options) == GF_OK)
            continue;
        result = 2;
        gf_say_error(path, "%s", gf_message());
        if (options->json)
            print_failure_json(path);
    }
    return result;
}
