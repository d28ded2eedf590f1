/* The bytes come from an assembler file that CMakeLists.txt writes: filters/learned/NAME.json and
 * NAME.safetensors, each with its size behind it. To bring another network along is a name there,
 * two lines here and a row of the catalogue. */
#include "filters/learned.h"

#include <string.h>

#define EMBEDDED(name)                                                                             \
    extern const char gf_learned_##name##_json[];                                                  \
    extern const size_t gf_learned_##name##_json_size;                                             \
    extern const unsigned char gf_learned_##name##_safetensors[];                                  \
    extern const size_t gf_learned_##name##_safetensors_size;                                      \
    GfStatus gf_learned_##name(const GfValue *values, GfFilter *filter)                            \
    {                                                                                              \
        return add(#name, values, filter);                                                         \
    }

#define ROW(name)                                                                                  \
    {                                                                                              \
#name, gf_learned_##name##_json, &gf_learned_##name##_json_size,                           \
            gf_learned_##name##_safetensors, &gf_learned_##name##_safetensors_size                 \
    }

static GfStatus add(const char *name, const GfValue *values, GfFilter *filter)
{
    GfNetworkFile *file = NULL;
    GfStatus status;
    GF_GO(gf_learned_open(gf_learned_find(name), &file));
    GF_GO(gf_network_file_add(file, values, filter));
done:
    gf_network_file_close(file);
    return status;
}

EMBEDDED(deblur)
EMBEDDED(denoise)
EMBEDDED(natural)

const GfLearned gf_learned[] = {
    ROW(deblur),
    ROW(denoise),
    ROW(natural),
    {NULL, NULL, NULL, NULL, NULL},
};

const GfLearned *gf_learned_find(const char *name)
{
    for (const GfLearned *row = gf_learned; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

GfStatus gf_learned_open(const GfLearned *learned, GfNetworkFile **file)
{
    return gf_network_file_open_memory(learned->name, learned->json, *learned->json_size,
                                       learned->weights, *learned->weights_size, file);
}
