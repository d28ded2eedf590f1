#include "bench/drawn.h"

#include <math.h>
#include <stdint.h>

/* ---- chance ---- */

/* Steele, Lea and Flood's SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)(next(state) % n);
}

static size_t one_of(uint64_t *state, const size_t *list, size_t count)
{
    return list[below(state, count)];
}

#define ONE_OF(state, ...)                                                                         \
    one_of(state, (const size_t[]){__VA_ARGS__},                                                   \
           sizeof((const size_t[]){__VA_ARGS__}) / sizeof(size_t))

/* From least to most, each octave as often as another. */
static size_t size_between(uint64_t *state, size_t least, size_t most)
{
    const double part = (double)(next(state) >> 11) * 0x1p-53;
    return (size_t)((double)least * pow((double)(most + 1) / (double)least, part));
}

/* Likewise; every other one a multiple of 16. */
static size_t side_between(uint64_t *state, size_t least, size_t most)
{
    const size_t side = size_between(state, least, most);
    return below(state, 2) && side >= 16 ? side / 16 * 16 : side;
}

/* ---- kinds ---- */

static const size_t MOST_SAMPLES = (size_t)1 << 29; /* of a case's input, or its output */
static const double MOST_WORK = 0x1p34;             /* multiply-adds */

static Spec draw_picture(uint64_t *state)
{
    static const GfSample samples[] = {GF_U8, GF_U8, GF_U8, GF_U16, GF_F16, GF_F32};
    Spec spec = {.in = samples[below(state, 6)],
                 .batch = 1,
                 .channels = ONE_OF(state, 1, 3),
                 .width = side_between(state, 64, 8192),
                 .height = side_between(state, 64, 8192),
                 .kernel = ONE_OF(state, 1, 3, 3, 5, 5, 7, 7, 9, 11, 13, 15, 21),
                 .filters = 1};
    spec.out = spec.in == GF_F16 ? GF_F32 : spec.in;
    if (spec.kernel > 1 && below(state, 2))
        spec.taps = TAPS_GAUSS;
    if (spec.kernel == 3 && spec.in == GF_U8 && below(state, 3) == 0)
        spec.taps = TAPS_SOBEL;
    /* As the program does: f32 holds sums of few taps on 16 bits, and no differences of floats. */
    spec.wide =
        (spec.in == GF_U16 && spec.kernel > 7) || (spec.in == GF_F32 && below(state, 4) == 0);
    return spec;
}

static Spec draw_layer(uint64_t *state, size_t channels, size_t filters, size_t least, size_t most)
{
    return (Spec){.in = GF_F32,
                  .out = GF_F32,
                  .layer = true,
                  .batch = 1,
                  .channels = channels,
                  .width = side_between(state, least, most),
                  .height = side_between(state, least, most),
                  .filters = filters};
}

static Spec draw_special(uint64_t *state)
{
    Spec spec = draw_layer(state, 1, size_between(state, 1, 64), 64, 4096);
    spec.kernel = ONE_OF(state, 1, 3, 5, 7);
    return spec;
}

static Spec draw_first(uint64_t *state)
{
    Spec spec = draw_layer(state, ONE_OF(state, 1, 3, 4), size_between(state, 4, 96), 64, 1024);
    spec.in = below(state, 2) ? GF_U8 : GF_F32;
    spec.kernel = ONE_OF(state, 3, 5, 7, 9, 11);
    spec.stride = ONE_OF(state, 1, 1, 2, 4);
    spec.batch = ONE_OF(state, 1, 1, 4, 16);
    return spec;
}

static Spec draw_general(uint64_t *state)
{
    Spec spec = draw_layer(state, size_between(state, 4, 512), size_between(state, 4, 512), 7, 256);
    spec.kernel = ONE_OF(state, 1, 3, 3, 5, 7);
    spec.stride = ONE_OF(state, 1, 1, 1, 2);
    spec.batch = ONE_OF(state, 1, 1, 1, 8);
    return spec;
}

static Spec draw_groups(uint64_t *state)
{
    const size_t groups = size_between(state, 2, 256);
    const size_t of_group = ONE_OF(state, 1, 1, 2, 4, 8, 16);
    Spec spec = draw_layer(state, groups * of_group, groups * of_group, 7, 128);
    spec.groups = groups;
    spec.kernel = ONE_OF(state, 3, 3, 5, 7);
    spec.stride = ONE_OF(state, 1, 1, 2);
    spec.batch = ONE_OF(state, 1, 8);
    return spec;
}

static Spec draw_small(uint64_t *state)
{
    Spec spec = draw_layer(state, ONE_OF(state, 1, 1, 3, 4), size_between(state, 2, 32), 8, 96);
    spec.kernel = ONE_OF(state, 3, 5, 7);
    spec.batch = size_between(state, 16, 4096);
    spec.pooled = below(state, 2);
    return spec;
}

static bool is_too_much(const Spec *spec)
{
    const size_t stride = spec->stride ? spec->stride : 1, groups = spec->groups ? spec->groups : 1;
    const size_t pixels = spec->batch * spec->width * spec->height;
    const size_t outputs =
        pixels / stride / stride * (spec->layer ? spec->filters : spec->channels);
    const size_t taps = spec->kernel * spec->kernel * (spec->layer ? spec->channels / groups : 1);
    return pixels * spec->channels > MOST_SAMPLES || outputs > MOST_SAMPLES ||
           (double)outputs * (double)taps > MOST_WORK;
}

GfStatus drawn_cases(Specs *specs)
{
    static const struct {
        Spec (*draw)(uint64_t *state);
        size_t count;
    } kinds[] = {{draw_picture, 80}, {draw_special, 40}, {draw_first, 40},
                 {draw_general, 60}, {draw_groups, 20},  {draw_small, 20}};
    uint64_t state = specs->seed;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (size_t i = 0; i < kinds[kind].count; i++) {
            Spec spec = {0};
            do
                spec = kinds[kind].draw(&state);
            while (is_too_much(&spec));
            if (spec.layer)
                spec.padding = spec.kernel / 2;
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}
