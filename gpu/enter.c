#include "gpu/enter.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

bool gf_can_enter(const GfStep *entry, const GfStep *layer)
{
    return entry->entry && entry->in == GF_U8 && entry->posts == 0 &&
           entry->linear.depth <= entry->linear.filters && gf_step_is_layer(layer) &&
           layer->linear.groups == 1 && layer->linear.weights &&
           layer->linear.sampling.fit != GF_FIT_BORDER;
}

/* The sample nearest to those that the entry makes 0 of channel d; where it makes several channels
 * of it, to their mean. */
static double centre_of(const GfLinear *entry, size_t d)
{
    double sum = 0.0, count = 0.0;
    for (size_t c = 0; c < entry->filters; c++) {
        double total = 0.0;
        for (size_t i = 0; i < entry->depth; i++)
            total += entry->weights[c * entry->depth + i];
        if (entry->weights[c * entry->depth + d] == 0.0 || total == 0.0)
            continue;
        sum -= entry->bias[c] / total;
        count += 1.0;
    }
    return count == 0.0 ? 0.0 : fmax(0.0, fmin(255.0, round(sum / count)));
}

/* What the entry makes of the centres. */
static double entered_centre(const GfLinear *entry, const double *centres, size_t c)
{
    double sum = entry->bias[c];
    for (size_t d = 0; d < entry->depth; d++)
        sum += entry->weights[c * entry->depth + d] * centres[d];
    return sum;
}

/* Of one filter. Where the layer has its constant around what it reads, there are zeros now, and
 * bias, which has what the entry makes of the centres for every tap, has that less the constant too
 * much for taps outside. */
static void enter_filter(const GfLinear *entry, const GfLinear *layer, size_t f, double constant,
                         GfEntered *entered)
{
    const size_t width = layer->width, taps = width * layer->height, pitch = width + 1;
    double *outside = entered->outside ? entered->outside + f * (layer->height + 1) * pitch : NULL;
    for (size_t k = 0; k < taps; k++) {
        double added = 0.0, expected = 0.0;
        for (size_t c = 0; c < layer->depth; c++) {
            double tap = layer->scale * layer->weights[(f * layer->depth + c) * taps + k];
            added += tap * entered_centre(entry, entered->centres, c);
            expected += tap * constant;
            for (size_t d = 0; d < entry->depth; d++)
                entered->weights[(f * entry->depth + d) * taps + k] +=
                    tap * entry->weights[c * entry->depth + d];
        }
        entered->bias[f] += added;
        if (!outside)
            continue;
        double *sum = outside + (k / width + 1) * pitch + k % width + 1;
        *sum = added - expected + sum[-1] + *(sum - pitch) - *(sum - pitch - 1);
    }
}

/* Memory for all numbers, zeros. */
static GfStatus make_room(const GfLinear *entry, const GfLinear *layer, bool edges,
                          GfEntered *entered)
{
    const size_t filters = layer->filters, size = sizeof(double);
    const size_t sums = (layer->height + 1) * (layer->width + 1);
    GF_TRY(gf_allocate_zero(entry->depth, size, &entered->centres));
    GF_TRY(gf_allocate_zero(filters, size, &entered->bias));
    GF_TRY(gf_allocate_zero(filters * entry->depth * layer->width * layer->height, size,
                            &entered->weights));
    return edges ? gf_allocate_zero(filters * sums, size, &entered->outside) : GF_OK;
}

GfStatus gf_enter(const GfStep *entry, const GfStep *layer, GfEntered *entered)
{
    GfStatus status = GF_OK;
    const GfLinear *first = &entry->linear, *linear = &layer->linear;
    *entered = (GfEntered){.step = *layer};
    GF_GO(make_room(first, linear, layer->border == GF_BORDER_CONSTANT, entered));
    for (size_t d = 0; d < first->depth; d++)
        entered->centres[d] = centre_of(first, d);
    for (size_t f = 0; f < linear->filters; f++) {
        entered->bias[f] = layer->bias ? layer->bias[f] : 0.0;
        enter_filter(first, linear, f, layer->border_value, entered);
    }
    GfStep *step = &entered->step;
    step->in = entry->in;
    step->in_layout = entry->in_layout;
    step->channels = entry->channels;
    step->linear.depth = first->depth;
    step->linear.weights = entered->weights;
    step->linear.scale = 1.0;
    step->bias = step->linear.bias = entered->bias;
    step->border_value = 0.0;
    step->centres = entered->centres;
    step->outside = entered->outside;
done:
    if (status != GF_OK)
        gf_entered_release(entered);
    return status;
}

void gf_entered_release(GfEntered *entered)
{
    free(entered->weights);
    free(entered->bias);
    free(entered->outside);
    free(entered->centres);
    *entered = (GfEntered){0};
}
