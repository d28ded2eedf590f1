/* Shapes are written as NumPy and PyTorch print them, which is where people compare them with. */
#include "filters/weights.h"

#include <stdio.h>
#include <stdlib.h>

void gf_weights_free(GfWeights *weights)
{
    free(weights->values);
    *weights = (GfWeights){0};
}

const char *gf_shape_text(size_t rank, const size_t *shape, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "(");
    for (size_t i = 0; i < rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size)
        snprintf(text + used, size - used, rank == 1 ? ",)" : ")");
    return text;
}
