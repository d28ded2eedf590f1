#include "bench/spec.h"

#include <stdio.h>
#include <stdlib.h>

GfStatus specs_add(Specs *specs, Spec spec)
{
    if (specs->count == specs->room) {
        size_t room = specs->room ? 2 * specs->room : 64;
        Spec *list = realloc(specs->list, room * sizeof *list);
        if (!list)
            return gf_fail(GF_EMEMORY, "no memory for %zu cases", room);
        specs->list = list;
        specs->room = room;
    }
    specs->list[specs->count++] = spec;
    return GF_OK;
}

static const char *taps_name(Taps taps)
{
    static const char *const names[] = {"", " gauss", " sobel", " sobel-y"};
    return names[taps];
}

static void layer_name(const Spec *spec, char *name, size_t size)
{
    char batch[32] = "", stride[32] = "", then[64] = "";
    char groups[32] = "", dilation[32] = "", columns[32] = "";
    const bool real = spec->in == GF_F32;
    if (spec->batch > 1)
        snprintf(batch, sizeof batch, "%zux", spec->batch);
    if (spec->columns > 0)
        snprintf(columns, sizeof columns, "x%zu", spec->columns);
    if (spec->stride > 1)
        snprintf(stride, sizeof stride, " S=%zu", spec->stride);
    if (spec->groups > 1 && spec->groups == spec->channels)
        snprintf(groups, sizeof groups, " depthwise");
    else if (spec->groups > 1)
        snprintf(groups, sizeof groups, " G=%zu", spec->groups);
    if (spec->dilation > 1)
        snprintf(dilation, sizeof dilation, " D=%zu", spec->dilation);
    if (spec->second)
        snprintf(then, sizeof then, " relu pool F=%zu relu pool", spec->second);
    else if (spec->pooled)
        snprintf(then, sizeof then, " relu pool");
    snprintf(name, size, "%s%s%s%s%s%zux%zux%zu K=%zu%s F=%zu%s%s%s%s",
             spec->label ? spec->label : "", spec->label ? " " : "",
             real ? "" : gf_sample_name(spec->in), real ? "" : " ", batch, spec->channels,
             spec->height, spec->width, spec->kernel, columns, spec->filters, stride, dilation,
             groups, then);
}

const char *spec_name(const Spec *spec, char *name, size_t size)
{
    static const char *const colours[] = {"", " gray", " gray+alpha", " RGB", " RGBA"};
    if (spec->layer)
        layer_name(spec, name, size);
    else
        snprintf(name, size, "%s%s%s%s %zux%zu K=%zu%s%s", spec->label ? spec->label : "",
                 spec->label ? " " : "", gf_sample_name(spec->in), colours[spec->channels % 5],
                 spec->width, spec->height, spec->kernel, taps_name(spec->taps),
                 spec->wide ? " f64" : "");
    return name;
}
