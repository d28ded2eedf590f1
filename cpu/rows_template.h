/* Included by rows.c for each real type: REAL, NAME(x), ... are defined there. No include guard. */

#include "cpu/rows_samples.h"

#include "cpu/rows_sums.h"

#include "cpu/rows_box.h"

#include "cpu/rows_values.h"

#ifndef FUNCTIONS
#define FUNCTIONS(type)                                                                            \
    {                                                                                              \
        .load = load_##type, .gather = gather_##type, .fill = fill_##type, .sum = sum_##type,      \
        .mix = mix_##type, .slide = slide_##type, .total = total_##type,                           \
        .squares = squares_##type, .maximum = maximum_##type, .affine = affine_##type,             \
        .divide = divide_##type, .root = root_##type, .pointwise = pointwise_##type,               \
        .light = light_##type, .combine = combine_##type, .premultiply = premultiply_##type,       \
        .unpremultiply = unpremultiply_##type, .finite = finite_##type,                            \
        .copy_channel = copy_channel_##type, .store = store_##type                                 \
    }
#endif
