/* Method `tensor`'s integers and matrices, which are made on the host, multiplied out here as a
 * tensor core does and held against the kernel that they stand for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/status.h"
#include "gpu/algorithms.h"
#include "gpu/launch.h"
#include "gpu/tensor.h"
#include "tests/unit/bank_step.h"

/* WIDEST: of kernels whose window has 32 bytes wherever it begins. */
enum { BLOCK = 8, GROUP = 16, RGB = 3, WIDEST = 22 };

static uint32_t state = 12345;

static GfStatus supports(const GfStep *step, bool wide)
{
    return gf_algorithm_find("tensor")->supports(step, wide);
}

static uint32_t next(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static size_t between(size_t least, size_t most)
{
    return least + next() % (most - least + 1);
}

static GfStep bank(size_t channels, size_t width, size_t height, double *weights)
{
    return bank_step(100, channels, width, height, weights);
}

/* Sample n of a block, from the words of the second matrix: `rows` holds, for each row of taps, the
 * bytes from the block's first window byte on. */
static double multiply(const GfTensor *tensor, unsigned char (*rows)[GF_TENSOR_GROUPS * GROUP],
                       int n)
{
    double sum = 0.0, digit = 1.0;
    const uint32_t *word = tensor->words;
    for (size_t p = 0; p < tensor->planes; p++, digit *= 256.0)
        for (size_t r = 0; r < tensor->height; r++)
            for (size_t g = 0; g < tensor->groups; g++, word += GF_TENSOR_LANES)
                for (int i = 0; i < GROUP; i++) {
                    uint32_t held = word[4 * n + i / 4];
                    sum +=
                        digit * (int8_t)(held >> i % 4 * 8 & 0xFF) * rows[r][g * GROUP + (size_t)i];
                }
    return sum * tensor->unit[0];
}

static void check(const GfStep *step, double tolerance)
{
    static GfTensor tensor;
    unsigned char rows[GF_TENSOR_SIDE][GF_TENSOR_GROUPS * GROUP];
    const GfLinear *linear = &step->linear;
    assert_int_equal(supports(step, false), GF_OK);
    gf_tensor_plan(step, &tensor);
    const int channels = tensor.by_channel ? 1 : (int)step->channels;
    assert_false(tensor.factors);
    assert_true(tensor.height >= linear->height && tensor.height % 2 == 1);
    for (size_t i = 0; i < sizeof rows; i++)
        ((unsigned char *)rows)[i] = (unsigned char)next();
    /* The first window byte is at 4 * first_word from the block, its first tap at origin_x. */
    const int lead = (int)step->origin_x * channels - 4 * tensor.first_word;
    assert_in_range(lead, 0, 3);
    for (int n = 0; n < BLOCK; n++) {
        double exact = 0.0;
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++)
                exact += gf_linear_tap(linear, 0, y, x) * rows[y][lead + n + channels * (int)x];
        assert_true(fabs(multiply(&tensor, rows, n) - exact) <= tolerance);
    }
}

static void test_fractions(void **unused)
{
    double weights[WIDEST * GF_TENSOR_SIDE];
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        size_t channels = between(1, 4), most = channels == 1 ? WIDEST : channels == 2 ? 9 : 5;
        size_t width = between(1, most), height = between(1, 15);
        for (size_t i = 0; i < width * height; i++)
            weights[i] = ((double)next() / 0x1p24 - 0.3) / (double)(width * height);
        GfStep step = bank(channels, width, height, weights);
        check(&step, 255.0 * (double)(width * height) * 0x1p-23 / (double)(width * height));
    }
}

/* Of RGB, kernels too wide for blocks of all channels, wherever their anchor is. */
static void test_by_channel(void **unused)
{
    double weights[WIDEST * GF_TENSOR_SIDE];
    static GfTensor tensor;
    (void)unused;
    for (size_t width = 10; width <= WIDEST; width++)
        for (size_t height = 1; height <= GF_TENSOR_SIDE; height++) {
            const size_t count = width * height;
            const bool whole = height % 3 == 0;
            for (size_t i = 0; i < count; i++)
                weights[i] = whole ? (double)between(0, 254) - 127.0
                                   : ((double)next() / 0x1p24 - 0.3) / (double)count;
            GfStep step = bank(RGB, width, height, weights);
            step.origin_x = -(ptrdiff_t)between(0, width - 1);
            check(&step, whole ? 1e-7 : 255.0 * 0x1p-23);
            gf_tensor_plan(&step, &tensor);
            assert_true(tensor.by_channel);
            assert_int_equal(tensor.planes, whole ? 1 : GF_TENSOR_PLANES);
            assert_int_equal(tensor.groups, 2);
            assert_in_range(tensor.height, height < 9 ? 9 : height, height < 9 ? 9 : height + 1);
        }
}

/* The rest is computed as it lies, a channel beside the other. */
static void test_not_by_channel(void **unused)
{
    double weights[15 * 15];
    static GfTensor tensor;
    (void)unused;
    for (size_t i = 0; i < 15 * 15; i++)
        weights[i] = (double)(i % 7) + 0.1234567;
    GfStep step = bank(1, 15, 15, weights);
    gf_tensor_plan(&step, &tensor);
    assert_false(tensor.by_channel);
    step = bank(RGB, 9, 9, weights); /* 4 pixels to the left: it begins with a word */
    gf_tensor_plan(&step, &tensor);
    assert_false(tensor.by_channel);
    step.origin_x = -3;
    gf_tensor_plan(&step, &tensor);
    assert_true(tensor.by_channel);
}

/* Whole numbers of any unit take one plane, and are exact but for the unit. */
static void test_integers(void **unused)
{
    double weights[25];
    static GfTensor tensor;
    (void)unused;
    for (int turn = 0; turn < 100; turn++) {
        double unit = turn % 2 ? 1.0 / 9.0 : 0.37;
        for (size_t i = 0; i < 25; i++)
            weights[i] = unit * ((double)between(0, 254) - 127.0);
        GfStep step = bank(between(1, 4), 5, 5, weights);
        gf_tensor_plan(&step, &tensor);
        assert_int_equal(tensor.planes, 1);
        check(&step, 1e-7);
    }
}

/* ---- samples of 16 bits ---- */

/* Sample n of a block from its window's bytes, the lower one of each sample first. */
static double multiply_levels(const GfTensor *tensor,
                              unsigned char (*rows)[GF_TENSOR_GROUPS * GROUP], int n)
{
    double sum = 0.0;
    for (size_t p = tensor->planes; p-- > 0;) {
        GfTensor plane = *tensor;
        plane.planes = 1;
        memcpy(plane.words, tensor->words + p * gf_tensor_words(&plane),
               gf_tensor_words(&plane) * sizeof *plane.words);
        const double level = multiply(&plane, rows, n) / tensor->unit[0];
        assert_true(fabs(level) < GF_TENSOR_MOST_SUM);
        sum = 256.0 * sum + level;
    }
    return sum * tensor->unit[0];
}

/* Against the kernel on random samples, or on white where sums are largest; how many planes there
 * are. */
static size_t check_16_bits(const GfStep *step, bool white)
{
    static GfTensor tensor;
    unsigned char rows[GF_TENSOR_SIDE][GF_TENSOR_GROUPS * GROUP];
    const GfLinear *linear = &step->linear;
    assert_int_equal(supports(step, true), GF_OK);
    assert_false(gf_tensor_is_large(step));
    gf_tensor_plan(step, &tensor);
    const int channels = tensor.by_channel ? 1 : (int)step->channels;
    assert_int_equal(tensor.bytes, 2);
    assert_int_equal(tensor.groups, 2);
    assert_in_range(tensor.height, linear->height, 9);
    assert_true(tensor.height % 2 == 1 && tensor.height >= (tensor.by_channel ? 5u : 3u));
    for (size_t i = 0; i < sizeof rows; i++)
        ((unsigned char *)rows)[i] = white ? 255 : (unsigned char)next();
    const int lead = (int)step->origin_x * channels * 2 - 4 * tensor.first_word;
    assert_true(lead == 0 || lead == 2);
    for (int n = 0; n < BLOCK; n++) {
        double exact = 0.0;
        for (size_t y = 0; y < linear->height; y++)
            for (size_t x = 0; x < linear->width; x++) {
                const unsigned char *at = &rows[y][lead + 2 * (n + channels * (int)x)];
                exact += gf_linear_tap(linear, 0, y, x) * (at[0] + 256.0 * at[1]);
            }
        const double scale = fabs(linear->scale * step->gain);
        assert_true(scale * fabs(multiply_levels(&tensor, rows, n) - exact) <= 2.5e-2);
    }
    return tensor.planes;
}

static GfStep bank_on_16_bits(size_t channels, size_t width, size_t height, double *weights)
{
    GfStep step = bank(channels, width, height, weights);
    step.in = step.out = GF_U16;
    step.origin_x = -(ptrdiff_t)between(0, width - 1);
    return step;
}

static void test_16_bits(void **unused)
{
    double weights[9 * 9];
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        const size_t channels = between(1, 4), kind = (size_t)turn % 3;
        const size_t most = channels % 2 == 1 ? 8 : channels == 2 ? 4 : 2; /* of any anchor */
        const size_t width = between(1, most), height = between(1, 9), count = width * height;
        for (size_t i = 0; i < count; i++)
            weights[i] = kind == 0   ? (double)between(0, 200) - 100.0
                         : kind == 1 ? ((double)next() / 0x1p24 - 0.3) / (double)count
                                     : (double)next() / 0x1p24 - 0.5;
        weights[0] = kind == 0 ? 101.0 : kind == 1 ? 1.0 / (double)count : 1.0;
        GfStep step = bank_on_16_bits(channels, width, height, weights);
        step.separable = turn % 2;
        const size_t planes = check_16_bits(&step, turn % 4 == 0);
        if (kind == 0 || count == 1)
            assert_int_equal(planes, channels == RGB && width > 3 ? 3 : 2); /* a tap is a unit */
        else if (kind == 1)
            assert_int_equal(planes, 3);
        else /* 23 bits are not enough of many that are large */
            assert_int_equal(planes, count < 5 ? 3 : count > 20 ? 4 : planes);
    }
}

/* Which banks are computed otherwise, if at all. */
static void test_who_has_levels(void **unused)
{
    double weights[10 * 10];
    (void)unused;
    for (size_t i = 0; i < 10 * 10; i++)
        weights[i] = (double)(i % 7) / 431.7 + 1e-3;
    GfStep step = bank_on_16_bits(1, 9, 9, weights);
    step.origin_x = -4;
    assert_false(gf_tensor_is_large(&step));
    step.origin_x = -3; /* its windows begin in the middle of a word, and so take one word more */
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(1, 10, 9, weights);
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(1, 8, 10, weights);
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(3, 7, 7, weights);
    assert_false(gf_tensor_is_large(&step));
    step = bank_on_16_bits(4, 5, 5, weights);
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(2, 3, 3, weights);
    assert_false(gf_tensor_is_large(&step));
    step.keep_alpha = true;
    step.post_channels = 1;
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(1, 7, 7, weights);
    step.out = GF_U8;
    assert_true(gf_tensor_is_large(&step));
    step = bank_on_16_bits(1, 7, 7, weights);
    step.linear.offset = -2e5; /* what f32 rounds is larger than what is left */
    assert_true(gf_tensor_is_large(&step));
    step.linear.offset = -1e4;
    assert_false(gf_tensor_is_large(&step));
    step.linear.offset = 0.0;
    step.linear.scale = 1e5; /* rounding of weights is seen */
    assert_true(gf_tensor_is_large(&step));
    for (size_t i = 0; i < 9 * 9; i++) /* sums of a plane's digits beyond 2^22 */
        weights[i] = i ? 1.0 : 0.777123;
    step = bank_on_16_bits(1, 8, 9, weights);
    assert_true(gf_tensor_is_large(&step));
}

/* A copied opacity has a tap of 1 where the kernel's anchor is. */
static void test_opacity(void **unused)
{
    double weights[] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    static GfTensor tensor;
    (void)unused;
    GfStep step = bank(2, 3, 3, weights);
    step.keep_alpha = true;
    step.post_channels = 1;
    assert_int_equal(supports(&step, false), GF_OK);
    gf_tensor_plan(&step, &tensor);
    const int lead = -2 - 4 * tensor.first_word;
    for (int i = 0; i < GROUP; i++) {
        uint32_t held = tensor.words[GF_TENSOR_LANES + 4 * 1 + i / 4] >> i % 4 * 8 & 0xFF;
        assert_int_equal(held, i == lead + 1 + 2 ? 1 : 0);
    }
}

/* ---- products of a column and a row ---- */

static double value_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, digits = half & 1023;
    const double value = exponent == 0 ? ldexp(digits, -24) : ldexp(1024 + digits, exponent - 25);
    return half & 0x8000 ? -value : value;
}

enum { RUN = GF_FACTORS_RUN, ROWS = GF_FACTORS_ROWS, MOST_BYTES = GF_FACTORS_STEPS * GROUP };

/* Number k of row m of 16 x 16, as lanes hold them in four words each: row m % 8 of two, number k %
 * 8 of two. */
static double row_number(const uint32_t *words, size_t m, size_t k)
{
    const uint32_t word = words[(m % 8 * 4 + k % 8 / 2) * 4 + k / 8 * 2 + m / 8];
    return value_of_half((uint16_t)(word >> k % 2 * 16));
}

/* Row m of the first product is a sample, number k a byte of the window: of four those with even
 * numbers come in the first 8. */
static size_t sample_of(size_t m)
{
    return m % 8 * 2 + m / 8;
}

static size_t byte_of(size_t k)
{
    return k % 8 / 2 * 4 + k % 2 * 2 + k / 8;
}

/* Output row `y` of sample `x` of a run, from the bytes of its windows. */
static double multiply_factors(const GfTensor *tensor, unsigned char (*rows)[MOST_BYTES], size_t x,
                               size_t y)
{
    const size_t row_words = tensor->groups * 4 * GF_TENSOR_LANES;
    const uint32_t *columns = tensor->words + tensor->planes * row_words;
    double sum = 0.0;
    for (size_t r = 0; r < tensor->height * ROWS; r++) {
        double filtered = 0.0, tap = 0.0;
        for (size_t p = 0; p < tensor->planes; p++) {
            for (size_t i = 0; i < tensor->groups * GROUP * RUN; i++) {
                const size_t s = i / GROUP / RUN, m = i / GROUP % RUN, k = i % GROUP;
                const uint32_t *step = tensor->words + p * row_words + s * 4 * GF_TENSOR_LANES;
                if (sample_of(m) == x)
                    filtered += row_number(step, m, k) * rows[r][s * GROUP + byte_of(k)];
            }
            const uint32_t word =
                columns[(p * tensor->height + r / ROWS) * GF_TENSOR_LANES + y * 4 + r % ROWS / 2];
            tap += value_of_half((uint16_t)(word >> r % 2 * 16));
        }
        sum += filtered * tap;
    }
    return sum * tensor->unit[0] * 0x1p-24; /* bytes stand for so little */
}

/* Against its kernel on random bytes; rows below the kernel are random, too. */
static void check_factors(const GfStep *step)
{
    static GfTensor tensor;
    unsigned char rows[GF_FACTORS_BLOCKS * ROWS][MOST_BYTES];
    const GfLinear *linear = &step->linear;
    assert_int_equal(supports(step, false), GF_OK);
    gf_tensor_plan(step, &tensor);
    assert_true(tensor.factors && !tensor.by_channel);
    assert_in_range(tensor.groups, 2, GF_FACTORS_STEPS);
    assert_in_range(tensor.height, 2, GF_FACTORS_BLOCKS);
    assert_true(gf_tensor_words(&tensor) <= GF_TENSOR_WORDS);
    for (size_t i = 0; i < sizeof rows; i++)
        ((unsigned char *)rows)[i] = (unsigned char)next();
    const int lead = (int)step->origin_x * (int)step->channels - 4 * tensor.first_word;
    assert_in_range(lead, 0, 3);
    for (size_t i = 0; i < RUN * ROWS; i++) {
        const size_t x = i % RUN, y = i / RUN;
        double exact = 0.0, most = 0.0;
        for (size_t j = 0; j < linear->width * linear->height; j++) {
            const size_t column = j % linear->width, row = j / linear->width;
            const double tap = linear->rows[column] * linear->columns[row];
            exact += tap * rows[y + row][(size_t)lead + x + column * step->channels];
            most += fabs(tap) * 255.0;
        }
        assert_true(fabs(multiply_factors(&tensor, rows, x, y) - exact) <= most * 0x1p-21);
    }
}

static void test_factors(void **unused)
{
    double row[33], column[33];
    (void)unused;
    for (int turn = 0; turn < 120; turn++) {
        const size_t channels = between(1, 4), width = between(2, channels < 3    ? 33
                                                                  : channels == 3 ? 32
                                                                                  : 25);
        const size_t height = between(turn % 10 ? 2 : 33, 33);
        for (size_t i = 0; i < 33; i++) {
            row[i] = ((double)next() / 0x1p24 - 0.2) / (double)width;
            column[i] =
                i == 0 || between(0, 5) ? ((double)next() / 0x1p24 - 0.2) / (double)height : 1e-6;
        }
        GfStep step = bank(channels, width, height, NULL);
        step.linear.rows = row;
        step.linear.columns = column;
        step.separable = true;
        step.origin_x = -(ptrdiff_t)between(0, width - 1);
        check_factors(&step);
    }
}

/* Which kernels that are products go so. */
static void test_who_has_factors(void **unused)
{
    double row[] = {0.1, 0.2, 0.4, 0.2, 0.1}, column[] = {-1.0, -2.0, 0.0, 2.0, 1.0};
    double fractions[] = {0.123, 0.2, 0.354, 0.2, 0.123}, large[] = {12.3, 20.0, 35.4, 20.0, 12.3};
    double long_row[40];
    static GfTensor tensor;
    (void)unused;
    for (size_t i = 0; i < 40; i++)
        long_row[i] = 0.01 + (double)i * 0.0003;
    GfStep step = bank(1, 5, 5, NULL);
    step.linear.rows = row;
    step.linear.columns = column;
    step.separable = true;
    gf_tensor_plan(&step, &tensor);
    assert_int_equal(tensor.planes, 1); /* 1, 2 and 4 times 0.1, times small integers */
    check(&step, 1e-9);                 /* so all of it stands in one plane */
    step.linear.rows = fractions;
    step.linear.columns = row;
    check_factors(&step);
    step.out = GF_U16; /* takes more bits */
    check(&step, 255.0 * 0x1p-23);
    step.out = GF_U8;
    step.linear.rows = large; /* sums up to 100: roundings count 100 times */
    gf_tensor_plan(&step, &tensor);
    assert_false(tensor.factors);
    step = bank(1, 34, 33, NULL); /* 33 taps and 16 samples take three vectors, 34 four */
    step.linear.rows = step.linear.columns = long_row;
    step.separable = true;
    check_factors(&step);
    step.linear.height = 34;
    assert_int_equal(supports(&step, false), GF_EUNSUPPORTED);
}

/* ---- banks that roll ---- */

/* Sample n of a block. Of 16 numbers of the first matrix the first 8 are the lower halves of a
 * lane's words of 4 bytes, two each, the others the upper. */
static double multiply_halves(const GfTensorRolling *rolling,
                              unsigned char (*rows)[GF_ROLLING_STEPS * GROUP], size_t n)
{
    double sum = 0.0;
    for (size_t p = 0; p < rolling->planes; p++)
        for (size_t r = 0; r < rolling->height; r++)
            for (size_t s = 0; s < rolling->steps; s++)
                for (size_t k = 0; k < GROUP; k++) {
                    const size_t matrix = (p * rolling->height + r) * rolling->steps + s;
                    const uint16_t half =
                        rolling->halves[((matrix * 2 + k / 8) * rolling->block + n) * 8 + k % 8];
                    const size_t byte = k % 8 / 2 * 4 + k / 8 * 2 + k % 2;
                    sum += value_of_half(half) * rows[r][s * GROUP + byte];
                }
    return sum * rolling->unit;
}

/* Against its kernel on random bytes; rows below the kernel are random, too. The GPU has code for
 * blocks of 8 and some heights, and for pairs and two. */
static void check_rolling(const GfStep *step, size_t most_planes)
{
    static GfTensorRolling rolling;
    unsigned char rows[GF_TENSOR_SIDE + 1][GF_ROLLING_STEPS * GROUP];
    const GfLinear *linear = &step->linear;
    assert_true(gf_tensor_rolling_plan(step, true, &rolling));
    /* By channel a block's bytes are those of one. */
    const size_t apart = rolling.by_channel ? step->channels : 1;
    const size_t channels = step->channels / apart;
    const bool pairs = rolling.block == 2;
    assert_true(!rolling.by_channel || (step->channels == 3 && rolling.steps == 1));
    assert_in_range(rolling.planes, 1, pairs ? 2 : most_planes);
    if (pairs)
        assert_true(rolling.height > linear->height &&
                    (rolling.height == 12 || rolling.height == 16) && rolling.steps == 1);
    else
        assert_true(rolling.height >= linear->height && rolling.height % 2 == 1 &&
                    rolling.height <= GF_ROLLING_ROWS && rolling.block == BLOCK);
    assert_in_range(rolling.steps, 1, GF_ROLLING_STEPS);
    for (size_t i = 0; i < sizeof rows; i++)
        ((unsigned char *)rows)[i] = (unsigned char)next();
    assert_int_equal(rolling.first_byte % (int)apart, 0);
    const ptrdiff_t lead =
        step->origin_x * (ptrdiff_t)channels - rolling.first_byte / (ptrdiff_t)apart;
    assert_in_range(lead, 0, pairs ? 0 : 3);
    for (size_t n = 0; n < rolling.block; n++) {
        double exact = 0.0, most = 0.0;
        for (size_t i = 0; i < linear->width * linear->height; i++) {
            const double tap = linear->weights[i];
            exact += tap * rows[i / linear->width][(size_t)lead + n + i % linear->width * channels];
            most += fabs(tap) * 255.0;
        }
        assert_true(fabs(multiply_halves(&rolling, rows, n) - exact) <= most * 0x1p-22);
    }
}

static void test_rolling(void **unused)
{
    double weights[WIDEST * GF_TENSOR_SIDE];
    (void)unused;
    for (int turn = 0; turn < 300; turn++) {
        const size_t channels = between(1, 4);
        const bool by_channel = channels % 2 == 1;
        const size_t height = between(1, by_channel ? 15 : GF_ROLLING_ROWS);
        const bool pairs = channels == RGB || height > GF_ROLLING_ROWS;
        const size_t room = (GF_ROLLING_STEPS * GROUP - BLOCK - 3) / channels + 1;
        const size_t width = between(1, pairs ? 15 : room), count = width * height;
        for (size_t i = 0; i < count; i++) {
            weights[i] = turn % 4 == 3 ? (double)between(0, 254) - 127.0
                                       : (double)next() / 0x1p24 / (double)count;
            if (between(0, 9) == 0)
                weights[i] = 0.0;
            else if (between(0, 9) == 0)
                weights[i] *= 1e-6;
        }
        for (size_t i = 0; i < count && turn % 4 == 3; i++)
            weights[i] = nearbyint(weights[i]);
        GfStep step = bank(channels, width, height, weights);
        check_rolling(&step, turn % 4 == 3 ? 1 : 2);
    }
}

/* Weights of which a product in halves is exact enough. */
static void fill_small(double *weights, size_t count)
{
    for (size_t i = 0; i < count; i++)
        weights[i] = (double)(i % 7 + 1) / 3571.3 + (double)(i % 2) / 2713.7;
}

/* Which banks do, and on which pictures it pays. */
static void test_who_rolls(void **unused)
{
    double weights[16 * 12], row[] = {0.1, 0.2, 0.4, 0.2, 0.123, 0.2, 0.1, 0.3, 0.1};
    double column[] = {0.1, 0.2, 0.4, 0.2, 0.123, 0.2, 0.1, 0.3, 0.1, 0.15};
    static GfTensorRolling rolling;
    (void)unused;
    fill_small(weights, 16 * 12);
    GfStep step = bank(1, 9, 9, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_true(gf_tensor_rolling_plan(&step, false, &rolling));
    step.out = GF_U16;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    /* The window of two samples has room for 15 columns, that of eight for more. */
    step = bank(1, 15, 12, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(1, 16, 12, weights);
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(1, 16, 9, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(RGB, 15, 9, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(RGB, 16, 9, weights);
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    /* A column and a row: only low ones whose window takes one step. */
    step = bank(1, 9, 5, weights);
    step.separable = true;
    step.linear.rows = step.linear.columns = row;
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_false(gf_tensor_rolling_plan(&step, false, &rolling));
    step.in_width = step.out_width = step.in_height = step.out_height = 1024;
    assert_true(gf_tensor_rolling_plan(&step, false, &rolling));
    step.out_width = 1023; /* the rows of many narrow pictures leave warps idle */
    step.out_height = 4096;
    assert_false(gf_tensor_rolling_plan(&step, false, &rolling));
    step.linear.height = 7;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(2, 9, 9, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_false(rolling.by_channel);
    step.separable = true;
    step.linear.rows = step.linear.columns = row;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    /* The window of each channel of RGB takes one. */
    step.channels = step.out_channels = step.post_channels = RGB;
    step.linear.height = 5;
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_true(rolling.by_channel);
    step = bank(RGB, 3, 9, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_false(rolling.by_channel);
    assert_int_equal(rolling.block, BLOCK);
    /* Pairs: high kernels of one channel, and wide ones of each of three. */
    for (size_t channels = 1; channels <= 4; channels++) {
        step = bank(channels, 5, 10, weights);
        step.linear.scale = 0.01;
        assert_int_equal(gf_tensor_rolling_plan(&step, true, &rolling), channels % 2 == 1);
        assert_true(channels % 2 == 0 || (rolling.block == 2 && rolling.height == 12));
        assert_int_equal(rolling.by_channel, channels == RGB);
    }
    step = bank(RGB, 11, 3, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_true(rolling.block == 2 && rolling.height == 12);
    step = bank(1, 11, 3, weights);
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_true(rolling.block == BLOCK && rolling.steps == 2);
    step = bank(1, 5, 10, weights);
    step.separable = true;
    step.linear.rows = step.linear.columns = column;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    /* Each product rounds the sum: kernels whose weights cancel would be off too far. */
    for (size_t i = 0; i < 81; i++)
        weights[i] *= i % 2 ? 200.0 : -200.0;
    step = bank(1, 9, 9, weights);
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
}

/* On a picture of that size; a product of `factors`, unless they are NULL. */
static void place(GfStep *step, size_t width, size_t height, double *factors)
{
    step->in_width = step->out_width = width;
    step->in_height = step->out_height = height;
    step->separable = factors;
    step->linear.columns = step->linear.rows = factors;
}

/* Sample n of a block of 16 bits, from the digits of the second matrix; `rows` holds the samples of
 * its window, those beyond the kernel, too. */
static double multiply_digits(const GfTensorRolling *rolling, uint16_t (*rows)[GROUP], size_t n)
{
    const int8_t *digit = rolling->digits;
    double sum = 0.0, unit = rolling->unit;
    for (size_t p = 3; p < rolling->planes; p++)
        unit /= 256.0;
    for (size_t p = 0; p < rolling->planes; p++, unit *= 256.0) {
        long plane = 0;
        for (size_t r = 0; r < rolling->height; r++)
            for (size_t k = 0; k < 2 * GROUP; k++) {
                const int byte = rows[r][k / 2] >> 8 * (k % 2) & 0xFF;
                plane += byte * digit[((p * rolling->height + r) * 2 + k / 4 % 2) * 2 * GROUP +
                                      n * GROUP + k / 8 * 4 + k % 4];
            }
        if (p + 1 == rolling->planes) { /* with carries: bits of a float of 2^23 or more */
            const long first = rolling->first_sum - 0x4B000000;
            assert_in_range(first + plane, 1 << 16, (1 << 23) - (1 << 16));
        }
        sum += (double)plane * unit;
    }
    return sum;
}

/* A kernel on 16 bits against samples at random, or all as light as can be. */
static void check_words(const GfStep *step, bool light)
{
    static GfTensorRolling rolling;
    uint16_t rows[GF_WORDS_ROWS][GROUP];
    const GfLinear *linear = &step->linear;
    assert_true(gf_tensor_rolling_plan(step, true, &rolling));
    assert_true(rolling.each == 2 || rolling.each == 4);
    assert_int_equal(rolling.height, GF_WORDS_ROWS);
    assert_true(rolling.height >= linear->height + rolling.each - 1);
    assert_int_equal(rolling.by_channel, step->channels == RGB);
    assert_int_equal(rolling.first_byte, 2 * step->origin_x * (ptrdiff_t)step->channels);
    for (size_t i = 0; i < GF_WORDS_ROWS * (size_t)GROUP; i++)
        rows[i / GROUP][i % GROUP] = light ? UINT16_MAX : (uint16_t)next();
    for (size_t n = 0; n < GF_WORDS_BLOCK; n++) {
        double exact = 0.0;
        for (size_t i = 0; i < linear->width * linear->height; i++)
            exact += linear->weights[i] * rows[i / linear->width][n + i % linear->width];
        assert_true(fabs(multiply_digits(&rolling, rows, n) - exact) <= 0.05);
    }
}

static void test_rolling_words(void **unused)
{
    double weights[15 * 15];
    (void)unused;
    for (int turn = 0; turn < 200; turn++) {
        const size_t width = turn % 5 ? between(1, 15) : 15, count = width * between(1, 15);
        const double scale = turn % 4 == 3 ? 1.0 : 1.0 / (double)count;
        for (size_t i = 0; i < count; i++)
            weights[i] = turn % 4 == 3   ? (double)between(0, 254) - 127.0
                         : turn % 4 == 2 ? scale
                                         : ((double)next() / 0x1p24 - 0.3) * scale;
        GfStep step = bank(turn % 3 ? 1 : RGB, width, count / width, weights);
        step.in = step.out = GF_U16;
        check_words(&step, turn % 7 == 0);
    }
}

/* Which do: of one channel or RGB, to 16 bits, within 15 x 15, on pictures that are large
 * enough. */
static void test_whose_words_roll(void **unused)
{
    double weights[16 * 16], steep[9];
    static GfTensorRolling rolling;
    (void)unused;
    fill_small(weights, 16 * 16);
    for (size_t channels = 1; channels <= 4; channels++) {
        GfStep step = bank(channels, 15, 15, weights);
        step.in = step.out = GF_U16;
        assert_int_equal(gf_tensor_rolling_plan(&step, true, &rolling), channels % 2 == 1);
        assert_false(gf_tensor_rolling_plan(&step, false, &rolling));
        place(&step, 256, 256, NULL);
        assert_int_equal(gf_tensor_rolling_plan(&step, false, &rolling), channels % 2 == 1);
        step.out = GF_U8;
        assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    }
    GfStep step = bank(1, 16, 3, weights);
    step.in = step.out = GF_U16;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    step = bank(1, 3, 16, weights);
    step.in = step.out = GF_U16;
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
    /* Four planes of digits of gray alone, and not of weights so large that what is below the upper
     * three counts. */
    for (size_t i = 0; i < 9; i++)
        steep[i] = i == 4 ? 9.1234567 : -1.0153;
    for (size_t channels = 1; channels <= RGB; channels += 2) {
        step = bank(channels, 3, 3, steep);
        step.in = step.out = GF_U16;
        assert_int_equal(gf_tensor_rolling_plan(&step, true, &rolling), channels == 1);
        assert_true(channels == RGB || rolling.planes == 4);
    }
    step = bank(1, 3, 3, steep);
    step.in = step.out = GF_U16;
    step.linear.scale = 15.0;
    assert_int_equal(gf_tensor_levels(&step), 4);
    assert_false(gf_tensor_rolling_plan(&step, true, &rolling));
}

/* A copied opacity is a 1 where the anchor is, in the plane of upper halves. */
static void test_rolling_opacity(void **unused)
{
    double weights[] = {0.1, 0.2, 0.1, 0.2, 0.4371, 0.2, 0.1, 0.2, 0.1};
    static GfTensorRolling rolling;
    (void)unused;
    GfStep step = bank(2, 3, 3, weights);
    step.keep_alpha = true;
    step.post_channels = 1;
    assert_true(gf_tensor_rolling_plan(&step, true, &rolling));
    assert_int_equal(rolling.planes, 2);
    const size_t anchor = (size_t)(-2 - rolling.first_byte) + 1 + 2; /* byte of sample 1's */
    for (size_t p = 0; p < 2; p++)
        for (size_t r = 0; r < 3; r++)
            for (size_t k = 0; k < GROUP; k++) {
                const size_t byte = k % 8 / 2 * 4 + k / 8 * 2 + k % 2;
                const bool there = p == 1 && r == 1 && byte == anchor;
                assert_int_equal(
                    rolling.halves[(((p * 3 + r) * 2 + k / 8) * BLOCK + 1) * 8 + k % 8],
                    there ? 0x3C00 : 0);
            }
}

static void refuses(const GfStep *step, bool wide, const char *reason)
{
    assert_int_equal(supports(step, wide), GF_EUNSUPPORTED);
    assert_non_null(strstr(gf_message(), "tensor: "));
    assert_non_null(strstr(gf_message(), reason));
}

static void test_refusals(void **unused)
{
    double fractions[] = {0.1, 0.23, 0.3571}, huge[] = {1e4, 1.0 / 3.0, 0.1234567};
    double square[15 * 16] = {0.1, 0.23, 0.3571};
    (void)unused;
    GfStep step = bank(1, 3, 1, fractions);
    refuses(&step, true, "f32");
    step.in = GF_F32;
    refuses(&step, false, "8 or 16 bits");
    step = bank(1, 3, 1, fractions);
    step.out = GF_F32;
    refuses(&step, false, "small integers");
    step = bank(1, 3, 1, fractions);
    step.stride_x = 2;
    refuses(&step, false, "stride");
    step = bank(5, 3, 1, fractions);
    refuses(&step, false, "channels");
    step = bank(1, 3, 1, huge);
    refuses(&step, false, "23 bits");
    step = bank(1, 1, 16, fractions);
    step.linear.filters = 2;
    refuses(&step, false, "15 x 15");
    step = bank(4, 15, 15, square);
    step.linear.filters = 2;
    refuses(&step, false, "15 x 15");
    step = bank(RGB, 15, 15, square);
    assert_int_equal(supports(&step, false), GF_OK);
    step.out = GF_F32;
    refuses(&step, false, "small integers");
    step = bank(RGB, 15, 7, square);
    step.linear.filters = 2;
    refuses(&step, false, "15 x 15");
    step = bank(RGB, 15, 15, square);
    step.post_channels = 2;
    refuses(&step, false, "opacity");
}

static const char *choose(const GfStep *step, int capability)
{
    const GfCard card = {.capability = capability, .groups = capability == 90};
    return gf_algorithm_choose(step, NULL, &(GfUse){.pictures = 1}, &card)->name;
}

static const char *choose_for(const GfStep *step, bool wide)
{
    const GfCard card = {.capability = 90, .groups = true};
    return gf_algorithm_choose(step, NULL, &(GfUse){.pictures = 1, .wide = wide}, &card)->name;
}

/* The method that took least time on an H200, of gray pictures (bench, suites `u8`, `large` and
 * `drawn`). */
static void test_measured_on_gray(void **unused)
{
    enum { F32, F64, PRODUCT }; /* sums; of a product, in f64 */
    static const struct {
        GfSample sample;
        size_t width, height, side;
        int sums;
        const char *name;
    } cases[] = {{GF_U16, 1362, 1120, 21, F64, "tensor"},
                 {GF_U16, 534, 400, 21, F64, "tensor"},
                 {GF_U16, 128, 4096, 11, F64, "special"},
                 {GF_U16, 128, 128, 15, F64, "shared"},
                 {GF_F32, 4096, 4096, 31, F64, "special"},
                 {GF_U16, 512, 512, 7, F64, "special"},
                 {GF_F32, 128, 128, 3, F64, "shared"},
                 {GF_F32, 704, 2943, 7, PRODUCT, "separable"},
                 {GF_F32, 80, 5376, 5, PRODUCT, "separable"},
                 {GF_U16, 4096, 4096, 21, PRODUCT, "separable"},
                 {GF_U16, 512, 512, 7, PRODUCT, "separable"},
                 {GF_U16, 128, 128, 7, PRODUCT, "separable"},
                 {GF_U16, 4096, 4096, 11, F32, "tensor"},
                 {GF_U16, 4096, 4096, 13, F32, "tensor"},
                 {GF_U16, 4096, 4096, 21, F32, "tensor"},
                 {GF_U16, 1024, 1024, 15, F32, "tensor"},
                 {GF_U16, 512, 512, 3, PRODUCT, "separable"},
                 {GF_U16, 512, 512, 15, PRODUCT, "separable"},
                 {GF_U16, 512, 512, 15, F64, "tensor"},
                 {GF_U16, 2048, 2048, 15, PRODUCT, "tensor"},
                 {GF_U16, 641, 481, 11, PRODUCT, "separable"},
                 {GF_U16, 256, 256, 7, F64, "shared"},
                 {GF_U16, 1024, 1024, 7, PRODUCT, "tensor"},
                 {GF_U16, 128, 128, 3, PRODUCT, "separable"}};
    double weights[31 * 31];
    (void)unused;
    for (size_t i = 0; i < 31 * 31; i++)
        weights[i] = (1.0 + (double)(i * 7919 % 1009)) / 505000.0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfStep step = bank(1, cases[i].side, cases[i].side, weights);
        step.in = step.out = cases[i].sample;
        place(&step, cases[i].width, cases[i].height, cases[i].sums == PRODUCT ? weights : NULL);
        const char *chosen = choose_for(&step, cases[i].sums != F32);
        if (strcmp(chosen, cases[i].name) != 0)
            print_message("case %zu\n", i);
        assert_string_equal(chosen, cases[i].name);
    }
}

/* Kernels on 16 bits, as measured for results/2026-11-26-h200-5.md, 2026-11-27-h200.md and
 * 2026-11-30-h200-6.md. */
static void test_measured_on_16_bits(void **unused)
{
    enum { F32, F64, PRODUCT };
    static const struct {
        size_t channels, width, height, side;
        int sums;
        const char *name;
    } cases[] = {{1, 512, 512, 3, F32, "special"},       {1, 128, 4096, 3, F32, "special"},
                 {1, 641, 481, 9, F32, "special"},       {1, 1024, 1024, 9, F32, "special"},
                 {1, 8192, 8192, 7, F32, "tensor"},      {1, 128, 4096, 7, F64, "special"},
                 {1, 128, 4096, 9, F64, "tensor"},       {1, 1024, 1024, 7, F64, "tensor"},
                 {1, 1024, 1024, 7, PRODUCT, "special"}, {1, 2048, 2048, 3, F32, "special"},
                 {1, 2048, 2048, 5, F32, "special"},     {1, 2048, 2048, 9, F32, "tensor"},
                 {1, 3001, 2001, 5, F32, "tensor"},      {1, 8192, 8192, 3, F32, "special"},
                 {1, 2048, 2048, 7, PRODUCT, "tensor"},  {1, 4096, 4096, 5, PRODUCT, "tensor"},
                 {3, 641, 481, 3, F32, "tensor"},        {3, 641, 481, 3, F64, "tensor"},
                 {3, 1024, 1024, 3, F32, "tensor"},      {3, 512, 512, 5, F32, "special"},
                 {3, 2048, 2048, 5, F32, "tensor"},      {3, 8192, 8192, 5, F32, "special"},
                 {3, 8192, 8192, 5, F64, "tensor"},      {3, 512, 512, 7, F32, "tensor"},
                 {3, 1024, 1024, 7, F32, "tensor"},      {3, 256, 256, 9, F32, "shared"},
                 {3, 256, 256, 9, F64, "special"},       {3, 512, 512, 9, F32, "tensor"},
                 {3, 4096, 4096, 1, F32, "special"},     {1, 1024, 1024, 15, PRODUCT, "separable"},
                 {1, 2048, 2048, 15, PRODUCT, "tensor"}};
    double weights[15 * 15];
    (void)unused;
    for (size_t i = 0; i < 15 * 15; i++)
        weights[i] = (1.0 + (double)(i * 7919 % 1009)) / 50500.0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfStep step = bank(cases[i].channels, cases[i].side, cases[i].side, weights);
        step.in = step.out = GF_U16;
        place(&step, cases[i].width, cases[i].height, cases[i].sums == PRODUCT ? weights : NULL);
        const char *chosen = choose_for(&step, cases[i].sums == F64);
        if (strcmp(chosen, cases[i].name) != 0)
            print_message("case %zu\n", i);
        assert_string_equal(chosen, cases[i].name);
    }
    weights[0] = 3.0; /* which takes four planes */
    for (size_t channels = 1; channels <= 3; channels += 2)
        for (size_t side = 3; side <= 9; side += 2) {
            GfStep step = bank(channels, side, side, weights);
            step.in = step.out = GF_U16;
            place(&step, 4096, 4096, NULL);
            assert_int_equal(gf_tensor_levels(&step), 4);
            assert_string_equal(choose_for(&step, true), "tensor");
            const bool slow = channels == 1 ? side == 3 : side < 9;
            assert_string_equal(choose_for(&step, false), slow ? "special" : "tensor");
        }
}

static void test_older_cards(void **unused)
{
    double weights[9] = {0.1, 0.23, 0.3571};
    const GfStep step = bank(1, 3, 3, weights);
    const GfAlgorithm *row = gf_algorithm_find("tensor");
    (void)unused;
    assert_int_equal(gf_algorithm_runs(row, &step, false, &(GfCard){.capability = 80}), GF_OK);
    assert_int_equal(gf_algorithm_runs(row, &step, false, &(GfCard){.capability = 75}),
                     GF_EUNSUPPORTED);
    assert_string_equal(gf_message(), "tensor: a GPU of compute capability 8.0, this one has 7.5");
}

/* `auto` takes it where it pays and where there are such tensor cores. */
static void test_choice(void **unused)
{
    enum { LARGE = 2048 };
    double weights[15 * 15] = {0.1, 0.23, 0.3571};
    (void)unused;
    GfStep step = bank_step(LARGE, 1, 5, 5, weights);
    assert_string_equal(choose(&step, 90), "tensor");
    assert_string_equal(choose(&step, 80), "tensor");
    assert_string_equal(choose(&step, 75), "special");
    step = bank_step(LARGE, 1, 3, 3, weights);
    assert_string_equal(choose(&step, 90), "special");
    step = bank_step(LARGE, 1, 1, 1, weights);
    assert_string_equal(choose(&step, 90), "special");
    step = bank_step(LARGE, 1, 5, 5, weights);
    step.in = GF_U16;
    assert_string_equal(choose(&step, 90), "special");
    step = bank_step(LARGE, RGB, 15, 15, weights);
    assert_string_equal(choose(&step, 90), "tensor");
    assert_string_equal(choose(&step, 80), "tensor");
    assert_string_equal(choose(&step, 75), "special");
    /* A product of 7 x 7 goes to two passes where samples are halves and gray; in floats it does
     * not. */
    for (size_t channels = 1; channels <= RGB; channels += RGB - 1) {
        step = bank_step(LARGE, channels, 7, 7, weights);
        step.in = step.out = GF_F32;
        assert_string_equal(choose(&step, 90), "special");
        step.separable = true;
        step.linear.rows = step.linear.columns = weights;
        assert_string_equal(choose(&step, 90), "special");
        step.in = GF_F16;
        assert_string_equal(choose(&step, 90), channels == RGB ? "special" : "separable");
    }
    /* Large kernels: in registers, or in tiles where hardly any of their square is filled, and of
     * colour. */
    step = bank_step(LARGE, 1, 9, 9, weights);
    step.in = step.out = GF_F32;
    assert_string_equal(choose(&step, 90), "special");
    assert_false(gf_special_is_tile(&step, false));
    assert_true(gf_special_is_tile(&step, true));
    step = bank_step(LARGE, 1, 9, 2, weights);
    step.in = GF_U16;
    assert_true(gf_special_is_tile(&step, false));
    assert_string_equal(choose(&step, 90), "special");
    step = bank_step(LARGE, RGB, 9, 9, weights);
    step.in = GF_U16;
    assert_true(gf_special_is_tile(&step, false));
    assert_string_equal(choose(&step, 90), "special");
    step = bank_step(100, RGB, 9, 9, weights); /* too few tiles */
    step.in = GF_U16;
    assert_string_equal(choose(&step, 90), "shared");
}

/* One kernel on a picture of bytes, and the method that took least time on an H200: by a tenth or
 * more, of all that can run it (bench, suites `small`, `odd` and `drawn`). */
static void test_measured_pictures(void **unused)
{
    static const struct {
        size_t channels, width, height, side;
        bool product;
        const char *name;
    } cases[] = {{1, 176, 704, 5, false, "special"},    {1, 512, 512, 5, false, "special"},
                 {1, 1862, 4608, 5, false, "tensor"},   {1, 286, 192, 7, false, "special"},
                 {1, 641, 481, 7, false, "special"},    {1, 1501, 1101, 7, false, "tensor"},
                 {1, 641, 481, 9, false, "special"},    {1, 1024, 1024, 9, false, "tensor"},
                 {1, 413, 272, 11, false, "tensor"},    {1, 384, 586, 13, false, "tensor"},
                 {1, 770, 2832, 13, false, "tensor"},   {1, 72, 107, 15, false, "shared"},
                 {1, 144, 272, 15, false, "tensor"},    {1, 641, 481, 15, false, "tensor"},
                 {1, 304, 272, 5, true, "special"},     {1, 2944, 491, 5, true, "tensor"},
                 {1, 512, 512, 7, true, "special"},     {1, 1024, 1024, 7, true, "tensor"},
                 {1, 850, 2334, 9, true, "tensor"},     {1, 160, 1265, 13, true, "separable"},
                 {1, 8135, 1072, 11, true, "tensor"},   {RGB, 512, 512, 3, false, "tensor"},
                 {RGB, 8192, 8192, 3, false, "tensor"}, {RGB, 8191, 8191, 3, false, "tensor"},
                 {RGB, 480, 144, 5, false, "tensor"},   {RGB, 1173, 203, 5, false, "special"},
                 {RGB, 1501, 1101, 5, false, "tensor"}, {RGB, 464, 5678, 5, false, "tensor"},
                 {RGB, 207, 124, 7, false, "special"},  {RGB, 641, 481, 7, false, "tensor"},
                 {RGB, 1845, 2620, 7, false, "tensor"}, {RGB, 112, 316, 11, false, "tensor"},
                 {RGB, 94, 277, 11, false, "shared"},   {RGB, 256, 112, 13, false, "tensor"},
                 {RGB, 77, 128, 13, false, "shared"},   {RGB, 1173, 490, 15, false, "tensor"},
                 {RGB, 832, 1424, 7, true, "tensor"},   {RGB, 225, 1248, 13, true, "separable"},
                 {RGB, 3643, 1280, 13, true, "tensor"}};
    double weights[15 * 15];
    (void)unused;
    fill_small(weights, 15 * 15);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        GfStep step = bank(cases[i].channels, cases[i].side, cases[i].side, weights);
        place(&step, cases[i].width, cases[i].height, cases[i].product ? weights : NULL);
        if (strcmp(choose(&step, 90), cases[i].name) != 0)
            print_message("case %zu\n", i);
        assert_string_equal(choose(&step, 90), cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fractions),        cmocka_unit_test(test_by_channel),
        cmocka_unit_test(test_not_by_channel),   cmocka_unit_test(test_integers),
        cmocka_unit_test(test_factors),          cmocka_unit_test(test_who_has_factors),
        cmocka_unit_test(test_opacity),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_older_cards),      cmocka_unit_test(test_choice),
        cmocka_unit_test(test_rolling),          cmocka_unit_test(test_who_rolls),
        cmocka_unit_test(test_16_bits),          cmocka_unit_test(test_who_has_levels),
        cmocka_unit_test(test_rolling_words),    cmocka_unit_test(test_whose_words_roll),
        cmocka_unit_test(test_rolling_opacity),  cmocka_unit_test(test_measured_pictures),
        cmocka_unit_test(test_measured_on_gray), cmocka_unit_test(test_measured_on_16_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
