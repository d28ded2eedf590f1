/* A tensor of the named file comes before a file of that name, so that what a filter file means
 * does not depend on what else lies in its folder. Paths stay below that folder: a filter file from
 * elsewhere must not be able to ask what is where on a machine. */
#include "filters/network_weights.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 160 };

/* Puts the file's name before the reason. */
static GfStatus fail_file(GfStatus status, const char *name)
{
    char shown[SHOWN];
    return status == GF_OK ? GF_OK : gf_fail_at(status, gf_escape(name, shown, sizeof shown));
}

static bool stays_below(const char *name)
{
    if (name[0] == '/')
        return false;
    for (const char *part = name; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2]))
            return false;
    return true;
}

static GfStatus open_beside(const GfNetworkWeights *weights, const char *name, GfTensors **tensors)
{
    char *path;
    *tensors = NULL;
    if (!weights->folder)
        return fail_file(gf_fail(GF_EUSAGE, "no files belong to this filter"), name);
    if (!stays_below(name))
        return fail_file(gf_fail(GF_EUSAGE, "weights lie beside the filter file or below it: "
                                            "neither \"/\" first nor \"..\""),
                         name);
    size_t length = strlen(weights->folder), size = length + strlen(name) + 1;
    GF_TRY(gf_allocate(size, 1, &path));
    memcpy(path, weights->folder, length);
    memcpy(path + length, name, size - length);
    GfStatus status = fail_file(gf_tensors_open(path, tensors), name);
    free(path);
    return status;
}

GfStatus gf_network_weights_open(GfNetworkWeights *weights, const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    *weights = (GfNetworkWeights){.folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0)};
    if (!weights->folder)
        return gf_fail(GF_EMEMORY, "out of memory");
    if (!name)
        return GF_OK;
    GF_TRY(open_beside(weights, name, &weights->tensors));
    if (gf_tensors_named(weights->tensors))
        return GF_OK;
    return fail_file(gf_fail(GF_EUSAGE, "an .npy file has no names; it is given to the stage that "
                                        "uses it"),
                     name);
}

GfStatus gf_network_weights_open_memory(GfNetworkWeights *weights, const void *bytes, size_t size)
{
    *weights = (GfNetworkWeights){0};
    return size ? gf_tensors_open_memory(bytes, size, &weights->tensors) : GF_OK;
}

void gf_network_weights_close(GfNetworkWeights *weights)
{
    gf_tensors_close(weights->tensors);
    free(weights->folder);
    *weights = (GfNetworkWeights){0};
}

static bool is_npy(const char *name)
{
    size_t length = strlen(name);
    return length >= 4 && strcasecmp(name + length - 4, ".npy") == 0;
}

GfStatus gf_network_tensor_find(const GfNetworkWeights *weights, const char *name,
                                GfNetworkTensor *tensor)
{
    char shown[SHOWN];
    const GfTensors *named = weights->tensors;
    *tensor = (GfNetworkTensor){.tensors = weights->tensors};
    if (is_npy(name) && (!named || !gf_tensors_find(named, name))) {
        tensor->own = true;
        GF_TRY(open_beside(weights, name, &tensor->tensors));
        return fail_file(
            gf_tensors_choose(tensor->tensors, NULL, 1, GF_TENSOR_RANK_MAX, &tensor->info), name);
    }
    if (!named)
        return gf_fail(GF_EUSAGE,
                       "\"%s\" is a tensor of the file that \"weights\" names, and it "
                       "names none",
                       gf_escape(name, shown, sizeof shown));
    return gf_tensors_choose(named, name, 1, GF_TENSOR_RANK_MAX, &tensor->info);
}

GfStatus gf_network_tensor_read(GfNetworkWeights *weights, const GfNetworkTensor *tensor,
                                double **numbers)
{
    GfWeights read;
    if (!gf_add(weights->numbers, tensor->info->count, &weights->numbers) ||
        weights->numbers > GF_WEIGHTS_MAX)
        return gf_fail(GF_EUSAGE, "with it the filter has more than %d weights", GF_WEIGHTS_MAX);
    GF_TRY(gf_tensors_read(tensor->tensors, tensor->info->name, &read));
    *numbers = read.values;
    return GF_OK;
}

void gf_network_tensor_close(GfNetworkTensor *tensor)
{
    if (tensor->own)
        gf_tensors_close(tensor->tensors);
    *tensor = (GfNetworkTensor){0};
}
