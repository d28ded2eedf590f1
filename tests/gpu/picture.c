#include "tests/gpu/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

static uint64_t state = 1;

/* FNV-1a. */
void seed(const char *name)
{
    state = 14695981039346656037u;
    for (; *name; name++)
        state = (state ^ (unsigned char)*name) * 1099511628211u;
}

uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t mixed = (state ^ state >> 29) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(mixed >> 32);
}

size_t below(size_t limit)
{
    return next() % limit;
}

double uniform(double low, double high)
{
    return low + (high - low) * next() / 4294967296.0;
}

/* ---- pictures ---- */

Block make_block(size_t rows, size_t stride)
{
    Block block = {.stride = stride, .bytes = rows * stride + 2 * GUARD};
    block.memory = malloc(block.bytes);
    if (!block.memory)
        exit(1);
    memset(block.memory, POISON, block.bytes);
    block.rows = block.memory + GUARD;
    return block;
}

Block make_picture(const GfFormat *format)
{
    return make_block(format->height, gf_row_bytes(format) + 3 * gf_sample_size(format->sample));
}

/* A number of [0, 2) as binary16, cut off after 11 significant bits. */
static uint16_t half_of(double value)
{
    int exponent;
    double fraction = frexp(value, &exponent); /* [0.5, 1) */
    if (value < 0x1p-14)                       /* below the normal numbers */
        return (uint16_t)(value * 0x1p24);
    return (uint16_t)((exponent + 14) << 10 | ((int)(fraction * 2048.0) & 1023));
}

static void set_sample(void *row, size_t i, GfSample sample, double value)
{
    switch (sample) {
    case GF_U8:
        ((uint8_t *)row)[i] = (uint8_t)value;
        break;
    case GF_U16:
        ((uint16_t *)row)[i] = (uint16_t)value;
        break;
    case GF_F16:
        ((uint16_t *)row)[i] = half_of(value);
        break;
    case GF_F32:
        ((float *)row)[i] = (float)value;
        break;
    case GF_F64:
        ((double *)row)[i] = value;
        break;
    }
}

static Rows rows_made;

void make_rows(Rows rows)
{
    rows_made = rows;
}

Block random_picture(const GfFormat *format)
{
    Block block = make_picture(format);
    double white = gf_sample_max(format->sample);
    bool real = gf_sample_is_float(format->sample);
    for (size_t y = 0; y < format->height; y++) {
        const size_t samples = gf_row_samples(format), glare = rows_made ? below(samples) : 0;
        const double brightest = rows_made ? ldexp(1.25, (int)below(6) - 3) : 1.25;
        for (size_t i = 0; i < samples; i++) {
            double value = real ? uniform(0.0, brightest) : floor(uniform(0.0, white + 1.0));
            if (rows_made && i >= glare && i - glare <= samples / 16)
                value *= rows_made == GLARING_ROWS ? 0x1p12 : 16.0;
            if (format->has_alpha && i % format->channels == format->channels - 1 && next() % 2)
                value = next() % 2 ? white : 0.0;
            set_sample(block.rows + y * block.stride, i, format->sample, value);
        }
    }
    return block;
}

void free_blocks(Block *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(blocks[i].memory);
}

GfFormat format_of(size_t width, size_t height, size_t channels, GfSample sample)
{
    return (GfFormat){width, height, channels, channels == 2 || channels == 4, sample};
}

/* ---- comparing ---- */

bool guards_whole(const Block *block, const GfFormat *format)
{
    size_t bytes = gf_row_bytes(format);
    for (size_t i = 0; i < GUARD; i++)
        if (block->memory[i] != POISON || block->memory[block->bytes - 1 - i] != POISON)
            return false;
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = bytes; i < block->stride; i++)
            if (block->rows[y * block->stride + i] != POISON)
                return false;
    return true;
}

bool exact_enough(const GfFormat *format, const Block *out, const Block *exact, char *detail)
{
    double white = gf_sample_max(format->sample), error = 0.0, size = 0.0;
    double allowed = format->sample == GF_U8 ? 0.5 + 1e-3 : 0.5 + 0.05;
    for (size_t y = 0; y < format->height; y++)
        for (size_t i = 0; i < gf_row_samples(format); i++) {
            double got = gf_sample_at(out->rows + y * out->stride, i, format->sample);
            double want = gf_sample_at(exact->rows + y * exact->stride, i, GF_F64);
            if (gf_sample_is_float(format->sample)) {
                error += (got - want) * (got - want);
                size += want * want;
                continue;
            }
            want = want < 0.0 ? 0.0 : want > white ? white : want;
            if (fabs(got - want) <= allowed)
                continue;
            snprintf(detail, 160, "row %zu sample %zu is %g, not %.9g", y, i, got, want);
            return false;
        }
    if (gf_sample_is_float(format->sample) && !(sqrt(error) <= 1e-6 * sqrt(size))) {
        snprintf(detail, 160, "relative error %g", sqrt(error / size));
        return false;
    }
    return true;
}

bool same_bits(const GfFormat *format, const Block *a, const Block *b)
{
    for (size_t y = 0; y < format->height; y++)
        if (memcmp(a->rows + y * a->stride, b->rows + y * b->stride, gf_row_bytes(format)) != 0)
            return false;
    return true;
}
