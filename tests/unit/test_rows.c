/* What the fast path does to a row, by each instruction set that the processor has, against loops
 * over single samples: moving sums, sums of 16 bits, and how numbers become samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "cpu/rows.h"

enum { MOST = 700, ROOM = MOST + 2 * GF_ALIGNMENT };

/* Rounded and saturated. */
static double nearest(double value, double white)
{
    return value > 0.0 ? value < white ? nearbyint(value) : white : 0.0;
}

/* ---- moving sums ---- */

/* Sums are int32_t beside f32, else double. */
static void set_sum(void *sums, bool wide, size_t i, double value)
{
    if (wide)
        ((double *)sums)[i] = value;
    else
        ((int32_t *)sums)[i] = (int32_t)value;
}

static double sum_at(const void *sums, bool wide, size_t i)
{
    return wide ? ((const double *)sums)[i] : ((const int32_t *)sums)[i];
}

static void check_slide(const GfRowSet *set, bool wide, GfSample sample, size_t n)
{
    static double memory[MOST];
    uint16_t deep[2][MOST];
    uint8_t bytes[2][MOST];
    for (size_t i = 0; i < MOST; i++) {
        set_sum(memory, wide, i, (double)i * 70000.0);
        for (size_t row = 0; row < 2; row++) {
            deep[row][i] = (uint16_t)((i + 3) * (row ? 40503 : 25969));
            bytes[row][i] = (uint8_t)(deep[row][i] >> 8);
        }
    }
    const bool u8 = sample == GF_U8;
    const void *come = u8 ? (void *)bytes[0] : deep[0], *go = u8 ? (void *)bytes[1] : deep[1];
    const GfRowFunctions *functions = &set->functions[wide];
    functions->slide(memory, come, go, sample, n);
    functions->slide(memory, come, NULL, sample, n);
    for (size_t i = 0; i < MOST; i++) {
        double should = (double)i * 70000.0;
        if (i < n)
            should += 2.0 * gf_sample_at(come, i, sample) - gf_sample_at(go, i, sample);
        assert_true(sum_at(memory, wide, i) == should);
    }
}

/* Sums of `count` pixels of columns whose sums are near `most`; `count` of them have 31 bits. */
static void check_total(const GfRowSet *set, bool wide, size_t count, size_t channels, size_t n,
                        double most)
{
    static double sums[MOST + ROOM], row[ROOM];
    const size_t apart = count * channels;
    unsigned char *from = (unsigned char *)sums + apart * (wide ? sizeof(double) : sizeof(int32_t));
    memset(sums, 0, sizeof sums);
    memset(row, 0x7f, sizeof row);
    for (size_t i = 0; i < n; i++)
        set_sum(from, wide, i, most - (double)(i * i % 1009));
    set->functions[wide].total(row, from, apart, channels, 0.25, n);
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t k = 0; k < count && k * channels <= i; k++)
            sum += sum_at(from, wide, i - k * channels);
        if (wide)
            assert_true(row[i] == 0.25 * sum);
        else
            assert_true(((float *)(void *)row)[i] == 0.25F * (float)sum);
    }
    for (size_t i = n * (wide ? sizeof(double) : sizeof(float)) + GF_ALIGNMENT; i < sizeof row; i++)
        assert_int_equal(((unsigned char *)row)[i], 0x7f);
}

static void test_moving_sums(void **state)
{
    static const size_t counts[] = {1, 2, 5, 16, 31};
    const GfRowSet *set;
    (void)state;
    for (size_t s = 0; (set = gf_row_set_at(s)); s++)
        for (int wide = 0; wide <= 1; wide++) {
            for (size_t n = 1; n <= MOST; n += n < 70 ? 1 : 157) {
                check_slide(set, wide, GF_U8, n);
                check_slide(set, wide, GF_U16, n);
            }
            for (size_t channels = 1; channels <= 18; channels++)
                for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                    for (size_t n = channels; n <= MOST; n += 3 * channels + 1) {
                        const double most = 0x1p31 / (double)counts[i] - 1.0;
                        check_total(set, wide, counts[i], channels, n, wide ? 0x1p47 : most);
                        check_total(set, wide, counts[i], channels, n, 2000.0);
                    }
        }
}

/* ---- sums of 16 bits ---- */

enum { SOURCES = 11, SHORT = 4 * GF_ALIGNMENT };

static const int16_t short_taps[SOURCES] = {1, -2, 7, 5, -9, 1, 1, 4, -1, 16, 3};

static void check_weigh(const GfRowSet *set, size_t count, size_t n)
{
    static uint8_t bytes[SOURCES][SHORT];
    static int16_t numbers[SOURCES][SHORT];
    const void *sources[2][SOURCES];
    int16_t sums[2][SHORT];
    for (size_t k = 0; k < SOURCES; k++) {
        for (size_t i = 0; i < SHORT; i++) {
            bytes[k][i] = (uint8_t)((i + 1) * (k + 3) * 40503 >> 7);
            numbers[k][i] = (int16_t)((int)((i + 5) * (k + 1) * 977 % 5800) - 2900);
        }
        sources[0][k] = bytes[k];
        sources[1][k] = numbers[k];
    }
    memset(sums, 0x55, sizeof sums);
    set->integers.weigh_bytes(sums[0], sources[0], short_taps, count, n);
    set->integers.weigh_sums(sums[1], sources[1], short_taps, count, n);
    for (size_t i = 0; i < SHORT; i++) {
        int of_bytes = 0, of_sums = 0;
        for (size_t k = 0; k < count; k++) {
            of_bytes += bytes[k][i] * short_taps[k];
            of_sums += numbers[k][i] * short_taps[k];
        }
        assert_int_equal((uint16_t)sums[0][i], i < n ? (uint16_t)of_bytes : 0x5555);
        assert_int_equal((uint16_t)sums[1][i], i < n ? (uint16_t)of_sums : 0x5555);
    }
}

static void check_respond(const GfRowSet *set, const GfIntegerResponse *how, size_t n)
{
    int16_t sums[SHORT];
    float row[SHORT];
    uint8_t bytes[2][SHORT];
    for (size_t i = 0; i < SHORT; i++)
        sums[i] = (int16_t)(i * 9277 % 65536 - 32768);
    memset(bytes, 0x55, sizeof bytes);
    set->integers.respond(row, sums, how, SHORT);
    set->integers.respond_bytes(bytes[0], sums, how, false, n);
    set->integers.respond_bytes(bytes[1], sums, how, true, n);
    for (size_t i = 0; i < SHORT; i++) {
        const double sum = how->positive ? (uint16_t)sums[i] : sums[i];
        const double should = sum * (double)how->factor + (double)how->offset;
        const double most = fabs(sum * (double)how->factor) + fabs((double)how->offset);
        assert_true(fabs((double)row[i] - should) <= most * 0x1p-23);
        assert_true(bytes[0][i] == (i < n ? nearest((double)row[i], 255.0) : 0x55));
        assert_true(bytes[1][i] == (i < n ? nearest(fabs((double)row[i]), 255.0) : 0x55));
    }
}

static void test_short_sums(void **state)
{
    static const GfIntegerResponse responses[] = {{1.0F, 0.0F, false},
                                                  {0.0078125F, 127.5F, false},
                                                  {0.00390625F, 0.0F, true},
                                                  {-3e30F, 1.0F, false},
                                                  {0.0277F, -31.0F, true}};
    const GfRowSet *set;
    (void)state;
    for (size_t s = 0; (set = gf_row_set_at(s)); s++) {
        for (size_t count = 0; count <= SOURCES; count++)
            for (size_t n = GF_ALIGNMENT; n < SHORT; n += GF_ALIGNMENT)
                check_weigh(set, count, n);
        for (size_t i = 0; i < sizeof responses / sizeof *responses; i++)
            for (size_t n = 1; n < SHORT; n++)
                check_respond(set, &responses[i], n);
    }
}

/* ---- samples ---- */

static void check_store(const GfRowSet *set, bool wide, GfSample sample, size_t stride)
{
    static const double odd[] = {NAN,    -INFINITY, INFINITY, -0.0,  -1e30,   1e30,      0.5,
                                 1.5,    2.5,       254.5,    255.5, 65534.5, 65535.25,  -0.5,
                                 -0.501, 0.499,     127.5,    1e-40, 70000.0, 8388607.5, 254.49999};
    enum { PIXELS = 150 };
    double numbers[PIXELS];
    float single[PIXELS];
    uint16_t to[4 * PIXELS];
    for (size_t i = 0; i < PIXELS; i++) {
        numbers[i] = i % 2 ? (double)i * 1.75 * (i % 7 == 1 ? 257.0 : 1.0)
                           : odd[i / 2 % (sizeof odd / sizeof *odd)];
        single[i] = (float)numbers[i];
    }
    memset(to, 0x55, sizeof to);
    set->functions[wide].store(to, sample, stride, wide ? (void *)numbers : single, PIXELS);
    for (size_t i = 0; i < PIXELS * stride; i++) {
        const double number = wide ? numbers[i / stride] : (double)single[i / stride];
        const double should =
            i % stride ? (sample == GF_U8 ? 0x55 : 0x5555) : nearest(number, gf_sample_max(sample));
        if (gf_sample_at(to, i, sample) != should)
            fail_msg("%s: %.17g becomes %g", set->name, number, gf_sample_at(to, i, sample));
    }
}

static void test_samples_of_numbers(void **state)
{
    const GfRowSet *set;
    (void)state;
    for (size_t s = 0; (set = gf_row_set_at(s)); s++)
        for (int wide = 0; wide <= 1; wide++)
            for (size_t stride = 1; stride <= 4; stride++) {
                check_store(set, wide, GF_U8, stride);
                check_store(set, wide, GF_U16, stride);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moving_sums),
        cmocka_unit_test(test_short_sums),
        cmocka_unit_test(test_samples_of_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
