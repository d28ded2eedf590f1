/* Tiles of `general`, `implicit` and `shared`: those that they choose on an H200 for some of the
 * layers of which each tile was measured, and which the weights were fitted to, where the fastest
 * was ahead of all others by 8 % or more (bench/results/2026-11-30-h200-3.md, -4.md); what their
 * times have to obey anywhere; and what `tensor` takes of tensor cores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "gpu/tensor.h"

/* A layer on pictures, whose maps are as large as they are but for the stride; and the tile, in the
 * order of the tilings. */
typedef struct Layer {
    size_t pictures, channels, height, width, side, maps, groups, stride, tile;
} Layer;

static GfStep step_of(const Layer *layer)
{
    const size_t pad = layer->side / 2;
    return (GfStep){.kind = GF_STEP_FILTER,
                    .channels = layer->channels,
                    .out_channels = layer->maps,
                    .in_width = layer->width,
                    .in_height = layer->height,
                    .out_width = (layer->width + 2 * pad - layer->side) / layer->stride + 1,
                    .out_height = (layer->height + 2 * pad - layer->side) / layer->stride + 1,
                    .in = GF_F32,
                    .out = GF_F32,
                    .border = GF_BORDER_CONSTANT,
                    .origin_x = -(ptrdiff_t)pad,
                    .origin_y = -(ptrdiff_t)pad,
                    .stride_x = layer->stride,
                    .stride_y = layer->stride,
                    .dilation_x = 1,
                    .dilation_y = 1,
                    .linear = {.width = layer->side,
                               .height = layer->side,
                               .depth = layer->channels / layer->groups,
                               .filters = layer->maps,
                               .groups = layer->groups}};
}

static GfTask on_h200(const GfStep *step, size_t pictures)
{
    return (GfTask){step, step->out_height, pictures,  false, step->out_width % 4 == 0,
                    132,  228 << 10,        227 << 10, true};
}

static size_t general_tile(const GfTask *task)
{
    size_t tiling = GF_GENERAL_TILINGS;
    gf_general_cycles(task, &tiling);
    return tiling;
}

/* And that no other tile takes less, and the one that is asked for is what is described. */
static size_t implicit_tile(const GfTask *task)
{
    GfImplicitCut cut = {GF_IMPLICIT_TILINGS, 0};
    const double cycles = gf_implicit_cycles(task, 0, &cut);
    for (size_t asked = 1; asked <= GF_IMPLICIT_TILINGS; asked++) {
        GfImplicitCut other = {GF_IMPLICIT_TILINGS, 0};
        assert_true(gf_implicit_cycles(task, asked, &other) >= cycles);
        assert_int_equal(other.tiling, asked - 1);
    }
    return cut.tiling;
}

/* The same. */
static size_t shared_tile(const GfTask *task)
{
    GfSharedCut cut = {.maps = 0};
    const double cycles = gf_shared_cycles(task, 0, &cut);
    size_t tile = SIZE_MAX;
    for (size_t i = 0; gf_tile_size(i).columns > 0; i++) {
        const GfTileSize size = gf_tile_size(i);
        GfSharedCut other = {.maps = 0};
        assert_true(gf_shared_cycles(task, i + 1, &other) >= cycles);
        assert_true(other.maps == 0 ||
                    (other.tile.columns == size.columns && other.tile.rows == size.rows));
        if (size.columns == cut.tile.columns && size.rows == cut.tile.rows)
            tile = i;
    }
    return tile;
}

static void check_tiles(const Layer *layers, size_t count, size_t (*tile_of)(const GfTask *task))
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const GfStep step = step_of(&layers[i]);
        const GfTask task = on_h200(&step, layers[i].pictures);
        const size_t tile = tile_of(&task);
        if (tile == layers[i].tile)
            continue;
        print_message("layer %zu: tile %zu, not %zu\n", i, layers[i].tile, tile);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_general(void **unused)
{
    static const Layer layers[] = {
        {1, 32, 93, 54, 5, 72, 1, 1, 4},   {1, 64, 110, 28, 5, 143, 1, 1, 4},
        {1, 12, 83, 80, 7, 49, 1, 1, 3},   {1, 37, 26, 67, 3, 109, 1, 1, 5},
        {1, 70, 37, 84, 3, 130, 1, 1, 4},  {1, 10, 40, 100, 5, 29, 1, 1, 5},
        {1, 68, 39, 68, 5, 13, 1, 1, 5},   {1, 94, 52, 16, 1, 366, 1, 1, 4},
        {1, 52, 8, 20, 1, 383, 1, 1, 5},   {1, 405, 18, 45, 3, 225, 15, 1, 5},
        {2, 168, 19, 52, 3, 126, 6, 1, 3}, {1, 339, 14, 33, 3, 335, 1, 1, 4},
        {32, 384, 55, 55, 1, 64, 1, 1, 2}};
    (void)unused;
    check_tiles(layers, sizeof layers / sizeof *layers, general_tile);
}

static void test_implicit(void **unused)
{
    static const Layer layers[] = {
        {1, 8, 39, 76, 5, 155, 1, 1, 5},   {1, 86, 39, 16, 5, 92, 1, 1, 4},
        {1, 46, 76, 20, 7, 123, 1, 1, 1},  {1, 84, 52, 60, 5, 11, 1, 1, 7},
        {1, 387, 28, 24, 1, 198, 1, 1, 5}, {1, 351, 51, 64, 1, 173, 1, 1, 2},
        {8, 97, 25, 12, 1, 437, 1, 1, 5},  {1, 126, 44, 50, 1, 52, 1, 1, 8},
        {1, 200, 33, 52, 1, 330, 1, 1, 2}, {1, 290, 42, 50, 1, 246, 1, 2, 5},
        {2, 208, 27, 24, 5, 176, 8, 1, 5}, {7, 48, 50, 52, 7, 124, 1, 2, 1},
        {4, 67, 112, 112, 1, 27, 1, 1, 5}, {3, 32, 112, 112, 3, 256, 1, 1, 1},
        {8, 64, 93, 93, 5, 128, 1, 1, 1}};
    (void)unused;
    check_tiles(layers, sizeof layers / sizeof *layers, implicit_tile);
}

static void test_shared(void **unused)
{
    static const Layer layers[] = {
        {17, 45, 39, 8, 7, 45, 15, 1, 0},     {1, 288, 111, 7, 5, 960, 96, 1, 0},
        {1, 352, 29, 14, 1, 154, 22, 1, 0},   {1, 400, 61, 80, 3, 800, 40, 2, 0},
        {8, 100, 108, 11, 3, 500, 50, 1, 1},  {22, 200, 78, 16, 1, 1350, 50, 1, 1},
        {1, 200, 90, 133, 7, 220, 10, 2, 1},  {1, 40, 79, 72, 5, 105, 5, 1, 1},
        {1, 252, 94, 52, 7, 189, 63, 2, 2},   {1, 44, 8, 134, 7, 14, 1, 2, 2},
        {1, 1216, 31, 122, 1, 384, 32, 1, 4}, {23, 570, 26, 152, 1, 420, 30, 1, 4},
        {10, 468, 85, 147, 1, 36, 36, 1, 4}};
    (void)unused;
    check_tiles(layers, sizeof layers / sizeof *layers, shared_tile);
}

/* No tile has room for the taps of this one. */
static void test_shared_without_room(void **unused)
{
    const Layer large = {1, 4, 400, 400, 201, 8, 1, 1, 0};
    const GfStep step = step_of(&large);
    const GfTask task = on_h200(&step, 1);
    GfSharedCut cut = {.maps = 0};
    (void)unused;
    assert_true(isinf(gf_shared_cycles(&task, 0, &cut)));
    assert_int_equal(cut.maps, 0);
}

/* Blocks share a tile where tiles are few and taps many, and the card lets them. */
static void test_clusters(void **unused)
{
    const Layer deep = {1, 512, 14, 14, 3, 64, 1, 1, 0};
    const GfStep step = step_of(&deep);
    GfTask task = on_h200(&step, 1);
    GfImplicitCut cut;
    (void)unused;
    const double shared = gf_implicit_cycles(&task, 0, &cut);
    assert_true(cut.cluster > 1);
    task.clusters = false;
    assert_true(gf_implicit_cycles(&task, 0, &cut) > shared);
    assert_int_equal(cut.cluster, 1);
    task.clusters = true;
    task.pictures = 1024;
    gf_implicit_cycles(&task, 0, &cut);
    assert_int_equal(cut.cluster, 1);
}

/* More pictures, rows that are no vectors, fewer multiprocessors, and sums in f64 take longer. */
static void test_times(void **unused)
{
    const Layer layer = {8, 48, 40, 40, 3, 96, 1, 1, 0};
    const GfStep step = step_of(&layer);
    const GfTask task = on_h200(&step, 8);
    GfTask more = task, apart = task, small = task;
    (void)unused;
    more.pictures = 16;
    apart.vectors = false;
    small.processors = 66;
    const GfTask longer[] = {more, apart, small};
    GfTask wide = task;
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        assert_true(gf_general_cycles(&longer[i], NULL) > gf_general_cycles(&task, NULL));
        assert_true(gf_implicit_cycles(&longer[i], 0, NULL) > gf_implicit_cycles(&task, 0, NULL));
        if (longer[i].vectors)
            assert_true(gf_shared_cycles(&longer[i], 0, NULL) > gf_shared_cycles(&task, 0, NULL));
    }
    wide.wide = true;
    assert_true(gf_implicit_cycles(&wide, 0, NULL) > gf_implicit_cycles(&task, 0, NULL));
    assert_true(gf_shared_cycles(&wide, 0, NULL) > gf_shared_cycles(&task, 0, NULL));
}

/* By hand: a product of so many runs is eight thirds of a cycle for each, less 37 thirds; a step
 * waits 920, and 80 for each pair of lines. 3 steps of 18 products (3 taps, 3 kinds, 2 groups), 8
 * runs, of a block that keeps 3 parts, at 200 each, 260 for each run and 2500 for the rest; one of
 * 30, 12 runs, in blocks that share 5 parts, 5700 for the rest; one of 24, 14 runs, 6 parts; three
 * times 8 of 24, 17 runs, 4 parts kept; and 6 of 36, 15 runs, 8 parts in blocks that have two, for
 * another 2500. Without clusters it does not take less. For the tile of the fourth 200 KB of shared
 * memory do not suffice. */
static void test_tensor_cores(void **unused)
{
    static const struct {
        Layer layer;
        size_t cycles;
    } cases[] = {
        {{1, 16, 64, 64, 3, 128, 1, 1, 0}, 3 * (162 + 920 + 160) + 3 * 200 + 8 * 260 + 2500},
        {{1, 16, 64, 64, 5, 64, 1, 1, 0}, 590 + 920 + 160 + 12 * 260 + 5700},
        {{1, 384, 20, 20, 1, 512, 1, 1, 0}, 600 + 920 + 640 + 14 * 260 + 5700},
        {{32, 512, 28, 28, 1, 1024, 1, 2, 0},
         3 * (8 * (792 + 920 + 640) + 4 * 200 + 17 * 260 + 2500)},
        {{8, 256, 28, 28, 3, 256, 1, 2, 0},
         6 * (996 + 920 + 640) + 2 * 200 + 15 * 260 + 5700 + 2500},
        /* Those of tests/gpu/launches.c, where blocks have two parts each. */
        {{11, 64, 9, 9, 3, 256, 1, 1, 0}, 2 * (324 + 920 + 320) + 2 * 200 + 8 * 260 + 8200},
        {{9, 32, 13, 13, 5, 192, 1, 1, 0}, 4 * (590 + 920 + 160) + 2 * 200 + 12 * 260 + 8200},
        {{2, 48, 21, 21, 5, 256, 1, 1, 0}, 4 * (350 + 920 + 160) + 2 * 200 + 9 * 260 + 8200}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const GfStep step = step_of(&cases[i].layer);
        GfTask task = on_h200(&step, cases[i].layer.pictures);
        const size_t cycles = gf_flat_work(&task).cycles;
        assert_int_equal(cycles, cases[i].cycles);
        task.clusters = false;
        assert_true(gf_flat_work(&task).cycles >= cycles);
    }
    const GfStep step = step_of(&cases[3].layer);
    GfTask task = on_h200(&step, cases[3].layer.pictures);
    task.block_bytes = 200 << 10;
    assert_true(gf_flat_work(&task).cycles > cases[3].cycles);
}

/* One picture more than a line has room for takes as long as it does alone. */
static void test_last_line(void **unused)
{
    const Layer layer = {1, 64, 112, 112, 3, 128, 1, 1, 0};
    const GfStep step = step_of(&layer);
    GfTask task = on_h200(&step, 1);
    const GfFlatWork one = gf_flat_work(&task);
    GfFlatWork before = one, work = one;
    (void)unused;
    assert_int_equal(one.lines, 1);
    while (work.lines == 1) {
        before = work;
        task.pictures++;
        work = gf_flat_work(&task);
    }
    assert_int_equal(work.lines, 2);
    assert_true(before.cycles > one.cycles);
    assert_int_equal(work.cycles, before.cycles + one.cycles);
}

/* Slots fill what is left, eight at most, and totals come where they were; of a block with several
 * parts those of the last, and the others behind all slots. */
static void test_slots(void **unused)
{
    static const struct {
        size_t room, slot, kept;
        bool several;
        GfFlatMemory memory;
    } cases[] = {{1000, 300, 400, false, {3, 0, 900}},   {1000, 300, 950, false, {3, 0, 950}},
                 {1000, 50, 300, false, {8, 0, 400}},    {1000, 300, 400, true, {2, 600, 1000}},
                 {1000, 100, 450, true, {5, 500, 950}},  {1000, 250, 500, true, {2, 500, 1000}},
                 {1000, 280, 500, true, {0, 500, 1000}}, {1000, 200, 501, true, {0, 501, 1002}},
                 {1000, 600, 100, false, {0, 0, 600}}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const GfFlatMemory memory =
            gf_flat_memory(cases[i].room, cases[i].slot, cases[i].kept, cases[i].several);
        assert_int_equal(memory.slots, cases[i].memory.slots);
        assert_int_equal(memory.kept, cases[i].memory.kept);
        assert_int_equal(memory.bytes, cases[i].memory.bytes);
    }
}

/* By hand: 33 tiles of 128 of 64 rows of 65 positions. A slot has 4 lines of 264 octets (128
 * positions, 2 rows and 2 columns of the window, to a multiple of 8), 8 scales and 3 rows of 192
 * vectors of taps: 26,240 bytes, at 20 a cycle. A tap is 2 products of 64 positions, of 44 cycles
 * each. */
static void test_few_maps(void **unused)
{
    const Layer layer = {1, 16, 64, 64, 3, 16, 1, 1, 0};
    const GfStep step = step_of(&layer);
    GfTask task = on_h200(&step, 1);
    const GfFewWork work = gf_few_work(&task);
    (void)unused;
    assert_int_equal(work.products, 9 * 2 * 44);
    assert_int_equal(work.brought, 1312);
    assert_int_equal(work.blocks, 1);
    assert_false(work.shared);
    task.pictures = 64;
    assert_true(gf_few_work(&task).products > work.products);
    const Layer deep = {1, 512, 7, 7, 3, 16, 1, 1, 0};
    const GfStep deep_step = step_of(&deep);
    task = on_h200(&deep_step, 1);
    assert_true(gf_few_work(&task).shared);
    task.clusters = false;
    assert_false(gf_few_work(&task).shared);
}

/* By hand: 360 tiles for 132 blocks; and two tiles, each for eight blocks of 64 of the maps. A tile
 * is 192 cycles for 16 channels and 64 maps, 100 for 8 channels that are converted. */
static void test_single_taps(void **unused)
{
    const Layer wide = {1, 21, 240, 192, 1, 4, 1, 1, 0}, small = {1, 128, 14, 14, 1, 512, 1, 1, 0};
    GfStep step = step_of(&wide);
    GfPixelsCut cut = gf_pixels_cut(&step, (size_t)240 * 192, 132);
    (void)unused;
    assert_int_equal(cut.splits, 1);
    assert_int_equal(cut.blocks, 132);
    assert_int_equal(cut.tiles, 3);
    assert_int_equal(cut.products, 2 * 192);
    assert_int_equal(cut.converting, 4 * 100);
    step = step_of(&small);
    cut = gf_pixels_cut(&step, (size_t)14 * 14, 132);
    assert_int_equal(cut.splits, 8);
    assert_int_equal(cut.runs, 1);
    assert_int_equal(cut.passes, 1);
    assert_int_equal(cut.blocks, 2);
    assert_int_equal(cut.tiles, 1);
    assert_int_equal(cut.products, 8 * 192);
    assert_int_equal(cut.converting, 16 * 100);
}

/* By hand: tiles are 64 windows by 4 rows; 112 x 112 outputs are 2 x 28 of them, for 4 blocks each,
 * which have one of four runs of 16 maps. Of a tile's 8 units of 8 windows each of 4 warps has 2 a
 * channel, of 7 rows of taps, 4 rows of outputs and 3 products of halves (of bytes 2). A tile is
 * made of 13 rows of 3 channels, of 64 windows two apart and 8 taps. */
static void test_few_channels(void **unused)
{
    const Layer layer = {1, 3, 224, 224, 7, 64, 1, 2, 0};
    GfStep step = step_of(&layer);
    GfTask task = on_h200(&step, 1);
    GfFirstWork work = gf_first_work(&task);
    (void)unused;
    assert_int_equal(work.blocks, 2); /* 224 for 132 */
    assert_int_equal(work.turns, 2 * 3);
    assert_int_equal(work.products, 2 * 3 * 7 * 4 * 3);
    assert_int_equal(work.numbers, 13 * 3 * (64 * 2 + 8));
    step.in = GF_U8;
    work = gf_first_work(&task);
    assert_int_equal(work.products, 2 * 3 * 7 * 4 * 2);
    assert_true(gf_first_work(&(GfTask){&step, 112, 32, false, true, 132, 0, 0, true}).blocks >
                work.blocks);
}

/* Tiles are as high as leaves three for each multiprocessor, of many maps no higher than four
 * units; where there are fewer, blocks share the maps. They are narrow where few columns are, and
 * where large kernels far apart would leave multiprocessors without any. */
static void test_first_tiles(void **unused)
{
    const Layer large = {1, 3, 224, 224, 11, 64, 1, 4, 0},
                short_rows = {1, 3, 32, 32, 3, 64, 1, 1, 0};
    GfStep step = step_of(&large);
    (void)unused;
    assert_int_equal(gf_first_units(100, 128, 1, 8, 132), 8);
    assert_int_equal(gf_first_units(100, 128, 2, 8, 132), 4);
    assert_int_equal(gf_first_units(100, 128, 1, 2, 132), 2);
    assert_int_equal(gf_first_units(24, 128, 1, 8, 132), 1);
    assert_int_equal(gf_first_units(25, 128, 1, 8, 132), 2);
    assert_int_equal(gf_first_splits(396, 8, 132), 1);
    assert_int_equal(gf_first_splits(395, 8, 132), 2);
    assert_int_equal(gf_first_splits(100, 8, 132), 4);
    assert_int_equal(gf_first_splits(1, 8, 132), 8);
    assert_int_equal(gf_first_windows(&step, 3, 99, 8), 16); /* 14 tiles, 4 runs of maps */
    step.out_height = 133;                                   /* 34 tiles: 136 */
    assert_int_equal(gf_first_windows(&step, 3, 1, 132), 64);
    step.in = GF_U8;
    assert_int_equal(gf_first_windows(&step, 55, 1, 132), 16);
    assert_int_equal(gf_first_windows(&step, 55, 3, 132), 64);
    assert_int_equal(gf_first_windows(&step, 55, 1, 56), 64);
    step.in = GF_F16;
    assert_int_equal(gf_first_windows(&step, 55, 1, 132), 64);
    step = step_of(&short_rows);
    assert_int_equal(gf_first_windows(&step, 32, 99, 132), 16);
    step.out_width = 33;
    assert_int_equal(gf_first_windows(&step, 32, 99, 132), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_general),
        cmocka_unit_test(test_implicit),
        cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_tensor_cores),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_last_line),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shared_without_room),
        cmocka_unit_test(test_few_maps),
        cmocka_unit_test(test_single_taps),
        cmocka_unit_test(test_few_channels),
        cmocka_unit_test(test_first_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
