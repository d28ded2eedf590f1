/* Kernels that are a product of a column and a row, on samples of 8 bits, as two products of
 * matrices of f16 (gpu/tensor_shape.h): which are exact enough, and what is multiplied by. */
#include <limits.h>
#include <math.h>

#include "gpu/tensor_blocks.h"
#include "gpu/tensor_halves.h"
#include "gpu/tensor_ways.h"
#include "gpu/tensor_weights.h"

enum { WORD = GF_BLOCK_WORD, GROUP = GF_BLOCK_GROUP };

/* Steps and blocks for which there is code; 0: for none. */
static size_t steps_of(const GfStep *step)
{
    const size_t groups = gf_block_groups_for(step, GF_FACTORS_RUN);
    return groups <= 2                  ? 2
           : groups <= 4                ? groups
           : groups <= GF_FACTORS_STEPS ? GF_FACTORS_STEPS
                                        : 0;
}

static size_t blocks_of(const GfStep *step)
{
    const size_t rows = step->linear.height + GF_FACTORS_ROWS - 1;
    const size_t blocks = (rows + GF_FACTORS_ROWS - 1) / GF_FACTORS_ROWS;
    return blocks <= 2 ? 2 : blocks == 3 ? 3 : blocks <= GF_FACTORS_BLOCKS ? GF_FACTORS_BLOCKS : 0;
}

static double unit_of_row(const GfStep *step)
{
    return gf_halves_unit(step->linear.rows, step->linear.width);
}

/* By which what comes out are steps of the output: bytes stand for 2^-24 of them. */
static double unit_of_column(const GfStep *step)
{
    return 0x1p-24 / (unit_of_row(step) * step->linear.scale * step->gain);
}

/* The sum of weights' magnitudes, and of what their halves are off. */
static double sum_of_halves(const double *weights, size_t count, double unit, double *error)
{
    double sum = 0.0;
    *error = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += fabs(weights[i]);
        *error += gf_halves_rounding(weights[i], unit);
    }
    return sum;
}

/* How far off a sample may be, in steps of the output: the weights are; each product rounds the
 * sums that it is added to; a filtered row becomes two halves; what their lower ones make with
 * those of the column is not added. */
static double reach(const GfStep *step)
{
    const GfLinear *linear = &step->linear;
    double row_error, column_error;
    const double row = sum_of_halves(linear->rows, linear->width, unit_of_row(step), &row_error);
    const double column =
        sum_of_halves(linear->columns, linear->height, unit_of_column(step), &column_error);
    const double most = row * UCHAR_MAX; /* of a filtered row */
    const size_t steps = steps_of(step), blocks = blocks_of(step);
    double filtered = row_error * UCHAR_MAX + (double)(2 * steps) * gf_halves_last_place(most);
    filtered += most * (0x1p-22 + 0x1p-23) + gf_halves_last_place(most);
    const double error = filtered * column + most * column_error +
                         (double)((blocks + 1) / 2 * 3) * gf_halves_last_place(most * column);
    return fabs(linear->scale * step->gain) * error;
}

static bool numbers_of_column_fit(const GfStep *step)
{
    const double most = gf_weights_largest(step->linear.columns, step->linear.height);
    return fabs(most / unit_of_column(step)) < 0x1p15;
}

bool gf_tensor_uses_factors(const GfStep *step)
{
    return step->separable && step->out == GF_U8 && gf_tensor_finishes(step) &&
           step->post_channels == step->channels && steps_of(step) > 0 && blocks_of(step) > 0 &&
           numbers_of_column_fit(step) && reach(step) <= GF_TENSOR_ALLOWED_U8 &&
           !(gf_block_fits(step) && gf_taps_planes(&step->linear) == 1);
}

/* Half of a tap of a row or column, or 0 beyond it. */
static uint16_t half_of(const double *weights, size_t count, double unit, ptrdiff_t tap, bool upper)
{
    return tap >= 0 && tap < (ptrdiff_t)count ? gf_halves_part(weights[tap] / unit, upper) : 0;
}

/* The row for 16 samples. The samples of a lane's four words are neighbours, and the numbers of a
 * word belong to bytes 0 and 2, or 1 and 3, of a word of the picture. */
static void fill_row(const GfStep *step, const GfTensor *tensor, size_t p, uint32_t *word)
{
    int first_word;
    const int lead = gf_block_lead(step, &first_word), channels = (int)step->channels;
    const double unit = unit_of_row(step);
    for (size_t i = 0; i < tensor->groups * 4 * GF_TENSOR_LANES * 2; i++) {
        const int half = (int)(i % 2), quarter = (int)(i / 2 % 4);
        const int lane = (int)(i / 8 % GF_TENSOR_LANES), group = (int)(i / 8 / GF_TENSOR_LANES);
        const int sample = lane / 4 * 2 + quarter % 2;
        const int at = group * GROUP + lane % 4 * WORD + quarter / 2 + half * 2;
        const int apart = at - lead - sample;
        const ptrdiff_t tap = apart % channels == 0 ? apart / channels : -1;
        const uint32_t number =
            half_of(step->linear.rows, step->linear.width, unit, tap, p + 1 == tensor->planes);
        word[i / 2] |= number << 16 * half;
    }
}

static void fill_column(const GfStep *step, const GfTensor *tensor, size_t p, uint32_t *word)
{
    const double unit = unit_of_column(step);
    for (size_t i = 0; i < tensor->height * GF_TENSOR_LANES * 2; i++) {
        const ptrdiff_t lane = (ptrdiff_t)(i / 2 % GF_TENSOR_LANES);
        const ptrdiff_t row = (ptrdiff_t)(i / 2 / GF_TENSOR_LANES) * GF_FACTORS_ROWS +
                              lane % 4 * 2 + (ptrdiff_t)(i % 2);
        const uint32_t number = half_of(step->linear.columns, step->linear.height, unit,
                                        row - lane / 4, p + 1 == tensor->planes);
        word[i / 2] |= number << i % 2 * 16;
    }
}

void gf_tensor_factors_plan(const GfStep *step, GfTensor *tensor)
{
    *tensor = (GfTensor){.factors = true,
                         .filters = 1,
                         .planes = GF_FACTORS_PLANES,
                         .groups = steps_of(step),
                         .height = blocks_of(step),
                         .unit = {unit_of_row(step) * unit_of_column(step) * 0x1p24}};
    (void)gf_block_lead(step, &tensor->first_word);
    const size_t rows = tensor->groups * 4 * GF_TENSOR_LANES;
    for (size_t p = 0; p < tensor->planes; p++) {
        fill_row(step, tensor, p, tensor->words + p * rows);
        fill_column(step, tensor, p,
                    tensor->words + tensor->planes * rows + p * tensor->height * GF_TENSOR_LANES);
    }
}
