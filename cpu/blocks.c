/* The rows of the input are cut into blocks as tall as the box, the same ones whichever rows are
 * asked for. The sums from each row of a block to its end are made once all of it is there, those
 * from the beginning of the next one as its rows come: under any box lie one of either. So a row
 * takes three sums, however tall the box is, and each is of rows that lie under the box, whose
 * numbers alone decide it.
 *
 * Along a row sums of 4, 16, 64, ... columns side by side are made of each other, and the sum under
 * the taps of those: 31 columns are 3, 3 times 4, and 16. */
#include "cpu/blocks.h"

#include "common/memory.h"
#include "cpu/padded.h"

enum { BLOCK_BYTES = 1 << 21, MOST_PIECE = 1024, RADIX = GF_BLOCKS_RADIX };

/* ---- preparation ---- */

size_t gf_blocks_piece(const GfStep *step, size_t real)
{
    const size_t fit = BLOCK_BYTES / real / step->channels / step->taps_y;
    const size_t most = gf_max(MOST_PIECE / step->channels + 1, 2 * step->taps_x);
    const size_t piece = fit > step->taps_x ? gf_min(fit - step->taps_x, most) : 0;
    return piece >= step->taps_x || piece >= step->out_width ? gf_min(piece, step->out_width) : 0;
}

GfBlocks gf_blocks_of(const GfStep *step, const GfRowFunctions *functions, size_t real,
                      size_t pixels)
{
    GfBlocks blocks = {.step = step, .functions = functions, .real = real};
    blocks.row_bytes = gf_align((pixels + step->taps_x - 1) * step->channels * real);
    for (size_t k = 0; k < RADIX; k++) {
        gf_set_real(blocks.ones, real, k, 1.0);
        gf_set_real(blocks.row, real, k, step->linear.rows[0]);
    }
    gf_set_real(blocks.column, real, 0, step->linear.columns[0]);
    gf_set_real(blocks.column, real, 1, 1.0);
    return blocks;
}

/* Parts of a thread's memory: the block, then single rows. */
typedef enum Part { BEGUN, COLUMNS, SOME, OTHERS, PARTS } Part;

size_t gf_blocks_bytes(const GfBlocks *blocks)
{
    return (blocks->step->taps_y + PARTS) * blocks->row_bytes;
}

/* ---- one thread's work ---- */

static unsigned char *block_row(const GfBlocksRun *run, size_t i)
{
    return run->memory + i * run->blocks->row_bytes;
}

static unsigned char *part(const GfBlocksRun *run, Part which)
{
    return block_row(run, run->blocks->step->taps_y + which);
}

static size_t padded_pixels(const GfBlocksRun *run)
{
    return run->pixels + run->blocks->step->taps_x - 1;
}

/* Input row y, to row i of the block. */
static void load(const GfBlocksRun *run, ptrdiff_t y, size_t i)
{
    const GfBlocks *blocks = run->blocks;
    const GfPadded padded = {blocks->step, blocks->functions, blocks->real, 0,
                             blocks->step->channels};
    gf_padded_load(&padded, run->input, y, run->x, padded_pixels(run), block_row(run, i));
}

/* to = sum of the first `count` of two padded rows, times taps. */
static void sum_rows(const GfBlocksRun *run, void *to, const void *one, const void *other,
                     const double *taps, size_t count, bool add)
{
    const void *rows[] = {one, other};
    run->blocks->functions->sum(to, rows, taps, count,
                                padded_pixels(run) * run->blocks->step->channels, add);
}

/* Rows from i on become sums to the block's end. */
static void end_block(const GfBlocksRun *run, size_t i)
{
    const GfBlocks *blocks = run->blocks;
    size_t k = blocks->step->taps_y - 1;
    sum_rows(run, block_row(run, k), block_row(run, k), NULL, blocks->column, 1, false);
    while (k-- > i)
        sum_rows(run, block_row(run, k), block_row(run, k), block_row(run, k + 1), blocks->column,
                 2, false);
}

/* Row i of the next block comes. */
static void go_on(const GfBlocksRun *run, ptrdiff_t y, size_t i)
{
    load(run, y, i);
    sum_rows(run, part(run, BEGUN), block_row(run, i), NULL, run->blocks->column, 1, i > 0);
}

/* Makes part COLUMNS. */
static void sum_columns(const GfBlocksRun *run, ptrdiff_t y, bool begins)
{
    const GfBlocks *blocks = run->blocks;
    const ptrdiff_t height = (ptrdiff_t)blocks->step->taps_y;
    const size_t i = (size_t)((y % height + height) % height); /* row of its block */
    if (begins) {
        for (size_t k = i; k < (size_t)height; k++)
            load(run, y + (ptrdiff_t)(k - i), k);
        end_block(run, i);
        for (size_t k = 0; k < i; k++)
            go_on(run, y + height - (ptrdiff_t)(i - k), k);
    } else if (i == 0) {
        load(run, y + height - 1, (size_t)height - 1);
        end_block(run, 0);
    } else {
        go_on(run, y + height - 1, i - 1);
    }
    sum_rows(run, part(run, COLUMNS), block_row(run, i), part(run, BEGUN), blocks->ones,
             i > 0 ? 2 : 1, false);
}

/* to[i] = sum of `count` samples of `from`, every `apart`-th pixel's from pixel `first` on, times
 * taps; or is added to it. */
static void sum_pixels(const GfBlocks *blocks, void *to, const unsigned char *from, size_t first,
                       size_t apart, size_t count, const double *taps, size_t pixels, bool add)
{
    const void *sources[RADIX];
    const size_t channels = blocks->step->channels;
    for (size_t k = 0; k < count; k++)
        sources[k] = from + (first + k * apart) * channels * blocks->real;
    blocks->functions->sum(to, sources, taps, count, pixels * channels, add);
}

void gf_blocks_sum(const GfBlocksRun *run, ptrdiff_t y, bool begins, void *sums)
{
    const GfBlocks *blocks = run->blocks;
    const size_t taps = blocks->step->taps_x;
    sum_columns(run, y, begins);
    const unsigned char *from = part(run, COLUMNS); /* `pixels` sums of `size` columns each */
    const double *weights = blocks->row;
    size_t pixels = padded_pixels(run), done = 0;
    for (size_t level = 0, size = 1;; level++, size *= RADIX) {
        const size_t digit = taps / size % RADIX;
        if (digit > 0)
            sum_pixels(blocks, sums, from, done, size, digit, weights, run->pixels, done > 0);
        done += digit * size;
        if (done == taps)
            return;
        unsigned char *to = part(run, level % 2 ? OTHERS : SOME);
        pixels -= (RADIX - 1) * size;
        sum_pixels(blocks, to, from, 0, size, RADIX, weights, pixels, false);
        from = to;
        weights = blocks->ones;
    }
}
