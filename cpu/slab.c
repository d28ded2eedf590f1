/* Strides and borders are dealt with when rows are loaded, once for all taps and maps: a row of a
 * plane is cut into slots, one for each residue of the columns modulo the stride, and the rows into
 * slots in the same way, so that what a tap meets along a row of outputs is contiguous. The rows of
 * a slot lie one behind the other, so that several output rows of a narrow picture are one long
 * run: sample (r, x) of a run is at r * pitch + x, for the input as for the results, and the few
 * samples between two rows' ends and begins are computed in vain.
 *
 * The block of outputs, TILE columns at most and as many rows as make a run of about RUN samples,
 * bounds the memory whatever the picture's size. Where taps lie so far apart that they share little
 * (a dilation as large as a tile), each has a slot of its own. */
#include "cpu/slab.h"

#include <stdint.h>
#include <stdlib.h>

enum { TILE = 256, RUN = 512, MOST_ROWS = 64, SLAB_BYTES = 256 << 10, MOST_SLAB_BYTES = 16 << 20 };

/* ---- geometry ---- */

static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Entries of all slots for `outputs` output positions. */
static size_t axis_entries(const GfSlabAxis *axis, size_t outputs)
{
    return axis->slots * (outputs + axis->reach);
}

static void lay_axis(GfSlabAxis *axis, size_t outputs)
{
    size_t residues = axis->stride / common_divisor(axis->stride, axis->dilation);
    axis->outputs = outputs;
    axis->slots = gf_min(residues, axis->taps);
    axis->reach = (axis->taps - 1) * axis->dilation / axis->stride;
    axis->own = axis->taps * outputs < axis_entries(axis, outputs);
    if (axis->own) {
        axis->slots = axis->taps;
        axis->reach = 0;
    }
}

static size_t tap_slot(const GfSlabAxis *axis, size_t k)
{
    return k % axis->slots;
}

static size_t tap_shift(const GfSlabAxis *axis, size_t k)
{
    return axis->own ? 0 : k * axis->dilation / axis->stride;
}

/* Largest shift of the taps of slot s. */
static size_t slot_reach(const GfSlabAxis *axis, size_t s)
{
    return tap_shift(axis, s + (axis->taps - 1 - s) / axis->slots * axis->slots);
}

/* Input position of entry 0 of slot s for the outputs from `first` on. */
static ptrdiff_t slot_origin(const GfSlabAxis *axis, ptrdiff_t first, size_t s)
{
    size_t along = s * axis->dilation;
    if (!axis->own)
        along %= axis->stride;
    return first * (ptrdiff_t)axis->stride + axis->origin + (ptrdiff_t)along;
}

/* `samples` rounded up to whole GF_ALIGNMENT bytes. */
static size_t whole(const GfSlab *slab, size_t samples)
{
    return gf_align(samples * slab->real) / slab->real;
}

/* Lays out the slab for `rows` output rows at once; false when it is too large. */
static bool size_slab(GfSlab *slab, size_t rows)
{
    const size_t most = PTRDIFF_MAX / 16; /* sums of a few of these do not overflow */
    size_t entries, plane;
    lay_axis(&slab->down, rows);
    if (!gf_mul(slab->pitch, rows + slab->down.reach, &entries) || entries > most / slab->real)
        return false;
    slab->block = gf_align(entries * slab->real);
    return gf_mul(slab->block, slab->across.slots * slab->down.slots, &plane) &&
           gf_mul(plane, slab->depth, &slab->bytes) && slab->bytes <= most;
}

/* As many rows as make a long run, and more while that costs little memory: rows that two blocks
 * meet are loaded twice. Fewer where windows are so large, and share so little, that a long run
 * would take the whole picture. */
static GfStatus choose_block(GfSlab *slab)
{
    const GfStep *step = slab->step;
    size_t tiles = (step->out_width + TILE - 1) / TILE, most = gf_min(MOST_ROWS, step->out_height);
    lay_axis(&slab->across, (step->out_width + tiles - 1) / tiles);
    slab->pitch = slab->across.outputs + slab->across.reach;
    /* Rows that are mostly in vain are rather taken one by one. */
    if (slab->pitch > 2 * whole(slab, slab->across.outputs))
        most = 1;
    size_t rows = gf_min((RUN + slab->pitch - 1) / slab->pitch, most);
    while (2 * rows <= most && size_slab(slab, 2 * rows) && slab->bytes <= SLAB_BYTES)
        rows *= 2;
    while (rows > 1 && !(size_slab(slab, rows) && slab->bytes <= MOST_SLAB_BYTES) &&
           rows > slab->down.reach)
        rows = (rows + 1) / 2;
    if (!size_slab(slab, rows))
        return gf_fail(GF_EMEMORY, "windows of %zu x %zu taps of %zu channels are too large",
                       step->taps_x, step->taps_y, slab->depth);
    return GF_OK;
}

static GfStatus list_offsets(GfSlab *slab)
{
    const GfSlabAxis *across = &slab->across, *down = &slab->down;
    size_t pitch = slab->pitch * slab->real, columns = slab->column_count * slab->real;
    GF_TRY(gf_allocate(down->taps, sizeof *slab->y, &slab->y));
    GF_TRY(gf_allocate(across->taps, sizeof *slab->x, &slab->x));
    GF_TRY(gf_allocate(across->taps, sizeof *slab->column_x, &slab->column_x));
    for (size_t k = 0; k < down->taps; k++)
        slab->y[k] = tap_slot(down, k) * across->slots * slab->block + tap_shift(down, k) * pitch;
    for (size_t k = 0; k < across->taps; k++) {
        size_t shift = tap_shift(across, k) * slab->real;
        slab->x[k] = tap_slot(across, k) * slab->block + shift;
        slab->column_x[k] = tap_slot(across, k) * columns + shift;
    }
    return GF_OK;
}

GfStatus gf_slab_create(GfSlab *slab, const GfStep *step, const GfRowFunctions *functions,
                        size_t real, size_t depth, double outside)
{
    bool pool = step->kind == GF_STEP_POOL;
    *slab = (GfSlab){.step = step, .functions = functions, .real = real, .depth = depth};
    slab->across = (GfSlabAxis){.taps = step->taps_x,
                                .stride = step->stride_x,
                                .dilation = step->dilation_x,
                                .origin = step->origin_x};
    slab->down = (GfSlabAxis){.taps = step->taps_y,
                              .stride = step->stride_y,
                              .dilation = step->dilation_y,
                              .origin = step->origin_y};
    slab->border = pool ? GF_BORDER_CONSTANT : step->border;
    slab->outside = outside;
    GF_TRY(choose_block(slab));
    size_t rows = slab->down.outputs;
    slab->count = whole(slab, (rows - 1) * slab->pitch + slab->across.outputs);
    slab->column_count = whole(slab, rows * slab->pitch);
    return list_offsets(slab);
}

void gf_slab_free(GfSlab *slab)
{
    free(slab->y);
    free(slab->x);
    free(slab->column_x);
}

/* ---- columns ---- */

size_t gf_slab_tile_bytes(const GfSlab *slab)
{
    size_t slots = slab->across.slots;
    return slots * slab->pitch * sizeof(ptrdiff_t) + 2 * slots * sizeof(size_t);
}

/* Samples from one column of the input to the next, and from one channel to the next. */
static size_t column_step(const GfStep *step)
{
    return step->in_layout == GF_PLANAR ? 1 : step->channels;
}

static size_t channel_step(const GfStep *step)
{
    return step->in_layout == GF_PLANAR ? step->in_width : 1;
}

GfTile gf_slab_tile(const GfSlab *slab, size_t x0, void *memory)
{
    const GfSlabAxis *across = &slab->across;
    const GfStep *step = slab->step;
    ptrdiff_t *index = memory, width = (ptrdiff_t)step->in_width;
    size_t *left = (size_t *)(index + across->slots * slab->pitch);
    size_t *inside = left + across->slots;
    GfTile tile = {x0, gf_min(across->outputs, step->out_width - x0), 0, index, left, inside};
    tile.count = tile.width + across->reach;
    for (size_t s = 0; s < across->slots; s++, index += slab->pitch) {
        ptrdiff_t x = slot_origin(across, (ptrdiff_t)x0, s);
        left[s] = inside[s] = 0;
        for (size_t i = 0; i < tile.count; i++, x += (ptrdiff_t)across->stride) {
            long long column = gf_border_index(x, width, slab->border);
            index[i] = column < 0 ? -1 : (ptrdiff_t)((size_t)column * column_step(step));
            left[s] += x < 0;
            inside[s] += x >= 0 && x < width;
        }
    }
    return tile;
}

/* ---- loading ---- */

/* One row of one channel, into all slots of columns; without a row what stands outside. A last tile
 * may be narrower than the pitch: what follows it is read in vain, but is read. */
static void load_row(const GfSlab *slab, const GfTile *tile, const unsigned char *row,
                     unsigned char *to)
{
    const GfRowFunctions *functions = slab->functions;
    GfSample sample = slab->step->in;
    size_t stride = slab->across.stride * column_step(slab->step), real = slab->real;
    for (size_t s = 0; s < slab->across.slots; s++, to += slab->block) {
        const ptrdiff_t *index = tile->index + s * slab->pitch;
        size_t left = tile->left[s], inside = tile->inside[s], right = left + inside;
        size_t known = row ? tile->count : 0;
        if (known < slab->pitch)
            functions->fill(to + known * real, slab->outside, slab->pitch - known);
        if (!row)
            continue;
        if (left > 0)
            functions->gather(to, row, sample, index, slab->outside, left);
        if (inside > 0)
            functions->load(to + left * real, row + (size_t)index[left] * gf_sample_size(sample),
                            sample, stride, inside);
        if (right < tile->count)
            functions->gather(to + right * real, row, sample, index + right, slab->outside,
                              tile->count - right);
    }
}

GfView gf_slab_load(const GfSlab *slab, const GfTile *tile, const GfStepInput *input, ptrdiff_t y,
                    size_t rows, size_t channel, void *memory)
{
    const GfStep *step = slab->step;
    const GfSlabAxis *across = &slab->across, *down = &slab->down;
    size_t plane = down->slots * across->slots * slab->block;
    size_t between = channel_step(step) * gf_sample_size(step->in);
    size_t run = (rows - 1) * slab->pitch + tile->width;
    for (size_t s = 0; s < down->slots; s++)
        for (size_t i = 0; i < rows + slot_reach(down, s); i++) {
            ptrdiff_t at = slot_origin(down, y, s) + (ptrdiff_t)(i * down->stride);
            const unsigned char *row = gf_step_input_row(step, input, slab->border, at);
            unsigned char *to = (unsigned char *)memory + s * across->slots * slab->block +
                                i * slab->pitch * slab->real;
            for (size_t d = 0; d < slab->depth; d++, to += plane)
                load_row(slab, tile, row ? row + (channel + d) * between : NULL, to);
        }
    return (GfView){.base = memory,
                    .plane = plane,
                    .y = slab->y,
                    .x = slab->x,
                    .count = whole(slab, run),
                    .slots = across->slots,
                    .slot = slab->block,
                    .column_count = whole(slab, run + across->reach),
                    .column = slab->column_count * slab->real,
                    .column_x = slab->column_x};
}
