#include "bench/suites.h"

#include <string.h>

#include "bench/drawn.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- special: one input channel, the grid of Chen et al., DAC 2017, on today's sizes ---- */

static GfStatus one_channel(Specs *specs, size_t side, const char *methods)
{
    static const size_t kernels[] = {1, 3, 5, 7}, filters[] = {1, 4, 8, 16, 32};
    for (size_t k = 0; k < COUNT(kernels); k++)
        for (size_t f = 0; f < COUNT(filters); f++)
            GF_TRY(specs_add(specs, (Spec){.in = GF_F32,
                                           .out = GF_F32,
                                           .layer = true,
                                           .batch = 1,
                                           .channels = 1,
                                           .width = side,
                                           .height = side,
                                           .kernel = kernels[k],
                                           .filters = filters[f],
                                           .padding = kernels[k] / 2,
                                           .methods = methods}));
    return GF_OK;
}

static GfStatus special_cases(Specs *specs)
{
    for (size_t side = 1024; side <= 4096; side *= 2)
        GF_TRY(one_channel(specs, side, NULL));
    return GF_OK;
}

/* ---- u8: pictures of all sample types ---- */

enum { PICTURE = 8192 };

static Spec picture(GfSample sample, size_t channels, size_t kernel, Taps taps)
{
    return (Spec){.in = sample,
                  .out = sample == GF_F16 ? GF_F32 : sample,
                  .taps = taps,
                  .batch = 1,
                  .channels = channels,
                  .width = PICTURE,
                  .height = PICTURE,
                  .kernel = kernel,
                  .filters = 1};
}

/* Of kernels as banks of gabors have them, by the methods that are not hopeless. */
static GfStatus large_kernel_cases(Specs *specs)
{
    static const size_t kinds[][2] = {{1, 25}, {1, 31}, {3, 31}}; /* channels, K */
    for (size_t i = 0; i < COUNT(kinds); i++) {
        Spec spec = picture(GF_U8, kinds[i][0], kinds[i][1], TAPS_RANDOM);
        spec.methods = "tensor,shared";
        GF_TRY(specs_add(specs, spec));
    }
    return GF_OK;
}

static GfStatus u8_cases(Specs *specs)
{
    static const size_t kernels[] = {3, 5, 7, 9, 15};
    static const struct {
        GfSample sample;
        size_t channels;
    } kinds[] = {{GF_U8, 1}, {GF_U8, 3}, {GF_U16, 1}, {GF_F32, 1}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        for (size_t k = 0; k < COUNT(kernels); k++)
            GF_TRY(specs_add(specs,
                             picture(kinds[i].sample, kinds[i].channels, kernels[k], TAPS_RANDOM)));
        for (size_t k = 0; k < COUNT(kernels); k++)
            GF_TRY(specs_add(specs,
                             picture(kinds[i].sample, kinds[i].channels, kernels[k], TAPS_GAUSS)));
    }
    GF_TRY(specs_add(specs, picture(GF_U8, 1, 31, TAPS_GAUSS)));
    GF_TRY(specs_add(specs, picture(GF_U8, 3, 31, TAPS_GAUSS)));
    GF_TRY(large_kernel_cases(specs));
    GF_TRY(specs_add(specs, picture(GF_U8, 1, 3, TAPS_SOBEL)));
    GF_TRY(specs_add(specs, picture(GF_U8, 3, 3, TAPS_SOBEL)));
    return specs_add(specs, picture(GF_U8, 1, 3, TAPS_SOBEL_Y));
}

/* ---- sizes: where `auto` may change its mind about 3 x 3 on bytes ---- */

static GfStatus sizes_cases(Specs *specs)
{
    static const size_t sizes[][2] = {
        {64, 64},     {128, 128},   {256, 256},   {320, 240},   {512, 512},   {640, 480},
        {768, 768},   {1024, 768},  {1024, 1024}, {1280, 720},  {1200, 1200}, {1536, 1536},
        {1920, 1088}, {2048, 2048}, {3008, 2000}, {4096, 4096}, {6144, 6144}, {8192, 8192},
        {64, 4096},   {128, 2048},  {256, 1024},  {384, 768},   {4096, 64},   {300, 300},
        {641, 481},   {1001, 701},  {1501, 1101}, {16, 65536},  {64, 16384},  {240, 4096}};
    static const struct {
        size_t channels;
        Taps taps;
    } kinds[] = {{1, TAPS_RANDOM}, {1, TAPS_GAUSS}, {1, TAPS_SOBEL}, {3, TAPS_SOBEL}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t k = 0; k < COUNT(kinds); k++) {
            Spec spec = picture(GF_U8, kinds[k].channels, 3, kinds[k].taps);
            spec.width = sizes[i][0];
            spec.height = sizes[i][1];
            spec.methods = "tensor,special";
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}

/* ---- u16: where `auto` may change its mind on samples of 16 bits ---- */

static GfStatus u16_cases(Specs *specs)
{
    static const size_t sizes[][2] = {{64, 64},     {128, 128},   {256, 256},   {512, 512},
                                      {641, 481},   {1024, 1024}, {2048, 2048}, {3001, 2001},
                                      {4096, 4096}, {128, 4096},  {8192, 8192}};
    static const struct {
        Taps taps;
        bool wide;
    } kinds[] = {{TAPS_RANDOM, false}, {TAPS_GAUSS, false}, {TAPS_RANDOM, true}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t kernel = 3; kernel <= 15; kernel += 2)
            for (size_t channels = 1; channels <= 3; channels += 2)
                for (size_t k = 0; k < COUNT(kinds); k++) {
                    Spec spec = picture(GF_U16, channels, kernel, kinds[k].taps);
                    spec.width = sizes[i][0];
                    spec.height = sizes[i][1];
                    spec.wide = kinds[k].wide;
                    spec.methods = "tensor,special,separable/*,shared";
                    GF_TRY(specs_add(specs, spec));
                }
    return GF_OK;
}

static Spec on_picture(GfSample in, size_t channels, size_t kernel, size_t filters, size_t stride)
{
    return (Spec){.in = in,
                  .out = GF_F32,
                  .layer = true,
                  .batch = 1,
                  .channels = channels,
                  .width = 1024,
                  .height = 1024,
                  .kernel = kernel,
                  .filters = filters,
                  .padding = kernel / 2,
                  .stride = stride};
}

/* ---- small: where a launch takes as long as what it does ---- */

/* Layers without a border on pictures narrower than strips. */
static GfStatus narrow_cases(Specs *specs)
{
    static const size_t sizes[][2] = {{28, 28}, {80, 80}, {112, 199}}; /* of maps */
    static const size_t maps[] = {1, 4, 16, 64};
    static const GfSample samples[] = {GF_U8, GF_F32};
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t n = 0; n < COUNT(sizes); n++)
            for (size_t kernel = 3; kernel <= 7; kernel += 2)
                for (size_t m = 0; m < COUNT(maps); m++) {
                    Spec spec = on_picture(samples[i], 1, kernel, maps[m], 1);
                    spec.padding = 0;
                    spec.width = sizes[n][0] + kernel - 1;
                    spec.height = sizes[n][1] + kernel - 1;
                    spec.methods = "tensor,special";
                    GF_TRY(specs_add(specs, spec));
                }
    return GF_OK;
}

/* Products of a column and a row, which have passes in tiles and in strips. */
static GfStatus small_products(Specs *specs, size_t width, size_t height)
{
    static const GfSample samples[] = {GF_U8, GF_F16, GF_F32};
    static const size_t kernels[] = {11, 15, 21, 31}, of_colours[] = {5, 9, 15, 31};
    for (size_t k = 0; k < COUNT(kernels); k++)
        for (size_t i = 0; i <= COUNT(samples); i++) {
            Spec spec = i < COUNT(samples) ? picture(samples[i], 1, kernels[k], TAPS_GAUSS)
                                           : picture(GF_U8, 3, of_colours[k], TAPS_GAUSS);
            spec.width = width;
            spec.height = height;
            spec.methods = "tensor,special,separable/*,shared";
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}

static GfStatus small_cases(Specs *specs)
{
    static const size_t sizes[][2] = {{64, 64},   {128, 128},   {256, 256},   {512, 512},
                                      {641, 481}, {1024, 1024}, {1501, 1101}, {2048, 2048}};
    static const GfSample samples[] = {GF_U8, GF_F16, GF_F32};
    static const size_t maps[] = {1, 4, 16};
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t n = 0; n < COUNT(sizes); n++)
            for (size_t kernel = 3; kernel <= 9; kernel += 2)
                for (Taps taps = TAPS_RANDOM; taps <= TAPS_GAUSS; taps++) {
                    Spec spec = picture(samples[i], 1, kernel, taps);
                    spec.width = sizes[n][0];
                    spec.height = sizes[n][1];
                    spec.methods = "tensor,special,separable/*,shared";
                    GF_TRY(specs_add(specs, spec));
                }
    for (size_t n = 0; n < COUNT(sizes); n++) {
        GF_TRY(small_products(specs, sizes[n][0], sizes[n][1]));
        for (size_t kernel = 3; kernel <= 9; kernel += 2) {
            Spec spec = picture(GF_U8, 3, kernel, TAPS_RANDOM);
            spec.width = sizes[n][0];
            spec.height = sizes[n][1];
            spec.methods = "tensor,special,shared";
            GF_TRY(specs_add(specs, spec));
        }
    }
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t n = 0; n < COUNT(sizes); n++) {
            Spec spec = picture(samples[i], 1, 3, TAPS_SOBEL);
            spec.width = sizes[n][0];
            spec.height = sizes[n][1];
            spec.methods = "tensor,special,shared";
            GF_TRY(specs_add(specs, spec));
        }
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t n = 1; n < COUNT(sizes); n++)
            for (size_t kernel = 3; kernel <= 7; kernel += 2)
                for (size_t m = 0; m < COUNT(maps); m++) {
                    Spec spec = on_picture(samples[i], 1, kernel, maps[m], 1);
                    spec.width = sizes[n][0];
                    spec.height = sizes[n][1];
                    spec.methods = "tensor,special";
                    GF_TRY(specs_add(specs, spec));
                }
    return narrow_cases(specs);
}

/* ---- odd: rows that are no whole words, and of layers begin anywhere ---- */

static GfStatus odd_cases(Specs *specs)
{
    for (size_t side = 1023; side <= 4095; side = 2 * side + 1)
        GF_TRY(one_channel(specs, side, "tensor,special"));
    static const size_t sizes[][2] = {{641, 481}, {1501, 1101}, {3001, 2001}, {8191, 8191}};
    static const size_t kernels[] = {3, 5, 7, 9, 15};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t channels = 1; channels <= 3; channels += 2)
            for (size_t k = 0; k < COUNT(kernels); k++)
                for (Taps taps = TAPS_RANDOM; taps <= TAPS_GAUSS; taps++) {
                    Spec spec = picture(GF_U8, channels, kernels[k], taps);
                    spec.width = sizes[i][0];
                    spec.height = sizes[i][1];
                    spec.methods = "tensor,special";
                    GF_TRY(specs_add(specs, spec));
                }
    return GF_OK;
}

/* ---- large: kernels that registers have no room for, and sums in f64 ---- */

static GfStatus large_cases(Specs *specs)
{
    static const char f32[] = "special,tensor,shared", f64[] = "special,tensor,separable/*,shared";
    static const struct {
        GfSample sample;
        size_t channels, kernel;
        Taps taps;
        bool wide;
        const char *methods;
    } kinds[] = {{GF_U8, 1, 31, TAPS_RANDOM, false, "tensor,special"},
                 {GF_U8, 1, 63, TAPS_RANDOM, false, "tensor,special"},
                 {GF_U8, 3, 21, TAPS_RANDOM, false, "tensor,special"},
                 {GF_U8, 3, 31, TAPS_RANDOM, false, "tensor,special"},
                 {GF_U8, 3, 63, TAPS_RANDOM, false, "tensor,special"},
                 {GF_U16, 1, 9, TAPS_RANDOM, false, f32},
                 {GF_U16, 1, 11, TAPS_RANDOM, false, f32},
                 {GF_U16, 1, 13, TAPS_RANDOM, false, f32},
                 {GF_U16, 1, 15, TAPS_RANDOM, false, f32},
                 {GF_U16, 1, 21, TAPS_RANDOM, false, f32},
                 {GF_U16, 3, 9, TAPS_RANDOM, false, f32},
                 {GF_U16, 3, 11, TAPS_RANDOM, false, f32},
                 {GF_U16, 3, 15, TAPS_RANDOM, false, f32},
                 {GF_F16, 3, 11, TAPS_RANDOM, false, f32},
                 {GF_F32, 1, 17, TAPS_RANDOM, false, f32},
                 {GF_F32, 1, 31, TAPS_RANDOM, false, f32},
                 {GF_F32, 3, 9, TAPS_RANDOM, false, f32},
                 {GF_F32, 3, 15, TAPS_RANDOM, false, f32},
                 {GF_F32, 3, 31, TAPS_RANDOM, false, f32},
                 {GF_U8, 1, 127, TAPS_RANDOM, true, "tensor,special"},
                 {GF_U8, 1, 255, TAPS_RANDOM, true, "tensor,special"},
                 {GF_U16, 1, 3, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 3, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 5, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 7, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 7, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 9, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 9, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 11, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 15, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 15, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 21, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 31, TAPS_GAUSS, true, f64},
                 {GF_U16, 1, 31, TAPS_RANDOM, true, f64},
                 {GF_U16, 3, 7, TAPS_RANDOM, true, f64},
                 {GF_U16, 1, 63, TAPS_RANDOM, true, "special,tensor"},
                 {GF_U16, 3, 7, TAPS_GAUSS, true, f64},
                 {GF_U16, 3, 15, TAPS_RANDOM, true, f64},
                 {GF_F32, 1, 3, TAPS_SOBEL, true, f64},
                 {GF_F32, 1, 3, TAPS_SOBEL_Y, true, f64},
                 {GF_F32, 1, 5, TAPS_RANDOM, true, f64},
                 {GF_F32, 1, 7, TAPS_RANDOM, true, f64},
                 {GF_F32, 1, 31, TAPS_RANDOM, true, f64},
                 {GF_F32, 1, 63, TAPS_RANDOM, true, "special,direct"},
                 {GF_F32, 1, 5, TAPS_GAUSS, true, f64},
                 {GF_F32, 3, 3, TAPS_SOBEL, true, f64},
                 {GF_F32, 3, 5, TAPS_GAUSS, true, f64},
                 {GF_F32, 3, 7, TAPS_RANDOM, true, f64}};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        Spec spec = picture(kinds[i].sample, kinds[i].channels, kinds[i].kernel, kinds[i].taps);
        spec.width = spec.height = PICTURE / 2;
        spec.wide = kinds[i].wide;
        spec.methods = kinds[i].methods;
        GF_TRY(specs_add(specs, spec));
    }
    for (size_t side = 512; side <= PICTURE / 4; side += 512) {
        Spec colours = picture(GF_U8, 3, 31, TAPS_RANDOM);
        colours.width = colours.height = side;
        colours.methods = "tensor,special";
        GF_TRY(specs_add(specs, colours));
    }
    for (size_t side = 128; side <= 1024; side *= side < 256 ? 4 : 2) {
        Spec small[] = {picture(GF_F32, 1, 21, TAPS_RANDOM), picture(GF_F32, 3, 9, TAPS_RANDOM),
                        picture(GF_U16, 1, 15, TAPS_RANDOM), picture(GF_U16, 1, 7, TAPS_RANDOM),
                        picture(GF_F32, 1, 3, TAPS_SOBEL),   picture(GF_U16, 1, 7, TAPS_GAUSS),
                        picture(GF_U16, 1, 15, TAPS_RANDOM), picture(GF_U16, 1, 3, TAPS_GAUSS),
                        picture(GF_U16, 3, 5, TAPS_GAUSS),   picture(GF_U16, 1, 9, TAPS_RANDOM)};
        for (size_t i = 0; i < COUNT(small); i++) {
            small[i].width = small[i].height = side;
            small[i].wide = i > 2;
            small[i].methods = f64;
            GF_TRY(specs_add(specs, small[i]));
        }
    }
    return GF_OK;
}

/* ---- general: many channels, the same paper's other grid ---- */

static Spec general(size_t size, size_t kernel, size_t channels, size_t filters)
{
    return (Spec){.in = GF_F32,
                  .out = GF_F32,
                  .layer = true,
                  .batch = 1,
                  .channels = channels,
                  .width = size,
                  .height = size,
                  .kernel = kernel,
                  .filters = filters,
                  .padding = kernel / 2};
}

static GfStatus general_cases(Specs *specs)
{
    static const size_t sizes[] = {32, 64, 128, 224}, kernels[] = {3, 5, 7};
    static const size_t channels[] = {16, 64, 128, 256}, filters[] = {64, 128};
    for (size_t n = 0; n < COUNT(sizes); n++)
        for (size_t k = 0; k < COUNT(kernels); k++)
            for (size_t c = 0; c < COUNT(channels); c++)
                for (size_t f = 0; f < COUNT(filters); f++)
                    GF_TRY(
                        specs_add(specs, general(sizes[n], kernels[k], channels[c], filters[f])));
    return GF_OK;
}

/* ---- first: layers on pictures, with which networks begin ---- */

static GfStatus first_network_cases(Specs *specs)
{
    static const Spec networks[] = {
        {.label = "AlexNet", .width = 224, .kernel = 11, .filters = 64, .padding = 2, .stride = 4},
        {.label = "VGG-16", .width = 224, .kernel = 3, .filters = 64, .padding = 1},
        {.label = "ResNet", .width = 224, .kernel = 7, .filters = 64, .padding = 3, .stride = 2},
        {.label = "MobileNet",
         .width = 224,
         .kernel = 3,
         .filters = 32,
         .padding = 1,
         .stride = 2}};
    for (size_t i = 0; i < COUNT(networks); i++)
        for (size_t batch = 1; batch <= 64; batch *= 64)
            for (int bytes = 0; bytes < 2; bytes++) {
                Spec spec = networks[i];
                spec.in = bytes ? GF_U8 : GF_F32;
                spec.out = GF_F32;
                spec.layer = true;
                spec.batch = batch;
                spec.channels = 3;
                spec.height = spec.width;
                GF_TRY(specs_add(specs, spec));
            }
    return GF_OK;
}

static GfStatus first_cases(Specs *specs)
{
    static const size_t channels[] = {1, 3}, kernels[] = {3, 5, 7, 11}, filters[] = {16, 64};
    GF_TRY(first_network_cases(specs));
    for (size_t i = 0; i < 64; i++)
        GF_TRY(specs_add(specs, on_picture(i % 2 ? GF_U8 : GF_F32, channels[i / 2 % 2],
                                           kernels[i / 4 % 4], filters[i / 16 % 2], 1 + i / 32)));
    for (size_t i = 0; i < 3; i++)
        for (size_t scale = 1; scale <= 4; scale *= 4) {
            Spec spec = on_picture(GF_U8, 1, kernels[i], 4, 1);
            spec.width *= scale;
            spec.height *= scale;
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}

/* ---- networks: layers of known ones, most from their middle ---- */

/* Kernels that are no squares of an odd side, those of patches among them. */
static GfStatus other_kernel_cases(Specs *specs, size_t batch)
{
    static const struct {
        const char *label;
        size_t channels, side, rows, columns; /* columns 0: as many as rows */
        size_t filters, padding, stride;
    } layers[] = {
        {"Inception-v3", 128, 17, 1, 7, 128, 0, 1}, {"Inception-v3", 128, 17, 7, 1, 192, 3, 1},
        {"Inception-v3", 192, 17, 1, 7, 192, 0, 1}, {"Inception-v3", 192, 17, 7, 1, 192, 3, 1},
        {"Inception-v3", 384, 8, 1, 3, 384, 0, 1},  {"Inception-v3", 384, 8, 3, 1, 384, 1, 1},
        {"ConvNeXt", 96, 56, 2, 0, 192, 0, 2},      {"ConvNeXt", 384, 14, 2, 0, 768, 0, 2},
        {"pix2pix", 64, 128, 4, 0, 128, 1, 2},      {"pix2pix", 256, 32, 4, 0, 512, 1, 2},
        {"pix2pix", 3, 256, 4, 0, 64, 1, 2},        {"Swin", 3, 224, 4, 0, 96, 0, 4},
        {"ConvNeXt-L", 3, 224, 4, 0, 192, 0, 4},    {"ViT-B/16", 3, 224, 16, 0, 768, 0, 16},
        {"ViT-L/14", 3, 224, 14, 0, 1024, 0, 14}};
    for (size_t i = 0; i < COUNT(layers); i++)
        GF_TRY(specs_add(specs, (Spec){.label = layers[i].label,
                                       .in = GF_F32,
                                       .out = GF_F32,
                                       .layer = true,
                                       .batch = batch,
                                       .channels = layers[i].channels,
                                       .width = layers[i].side,
                                       .height = layers[i].side,
                                       .kernel = layers[i].rows,
                                       .columns = layers[i].columns,
                                       .filters = layers[i].filters,
                                       .padding = layers[i].padding,
                                       .stride = layers[i].stride}));
    return GF_OK;
}

static GfStatus network_cases(Specs *specs)
{
    static const size_t batches[] = {1, 8, 32};
    static const struct {
        const char *label;
        size_t channels, side, kernel;
        size_t filters; /* 0: a group a channel */
        size_t stride, groups, dilation;
    } layers[] = {
        {"AlexNet", 64, 27, 5, 192, 1, 1, 1},      {"AlexNet", 192, 13, 3, 384, 1, 1, 1},
        {"AlexNet", 384, 13, 3, 256, 1, 1, 1},     {"AlexNet", 256, 13, 3, 256, 1, 1, 1},
        {"VGG-16", 64, 224, 3, 64, 1, 1, 1},       {"VGG-16", 64, 112, 3, 128, 1, 1, 1},
        {"VGG-16", 128, 112, 3, 128, 1, 1, 1},     {"VGG-16", 128, 56, 3, 256, 1, 1, 1},
        {"VGG-16", 256, 56, 3, 256, 1, 1, 1},      {"VGG-16", 256, 28, 3, 512, 1, 1, 1},
        {"VGG-16", 512, 28, 3, 512, 1, 1, 1},      {"VGG-16", 512, 14, 3, 512, 1, 1, 1},
        {"ResNet-50", 64, 56, 1, 64, 1, 1, 1},     {"ResNet-50", 64, 56, 3, 64, 1, 1, 1},
        {"ResNet-50", 64, 56, 1, 256, 1, 1, 1},    {"ResNet-50", 256, 56, 1, 64, 1, 1, 1},
        {"ResNet-50", 256, 56, 1, 128, 1, 1, 1},   {"ResNet-50", 128, 56, 3, 128, 2, 1, 1},
        {"ResNet-50", 256, 56, 1, 512, 2, 1, 1},   {"ResNet-50", 128, 28, 3, 128, 1, 1, 1},
        {"ResNet-50", 128, 28, 1, 512, 1, 1, 1},   {"ResNet-50", 512, 28, 1, 128, 1, 1, 1},
        {"ResNet-50", 512, 28, 1, 256, 1, 1, 1},   {"ResNet-50", 256, 28, 3, 256, 2, 1, 1},
        {"ResNet-50", 256, 14, 3, 256, 1, 1, 1},   {"ResNet-50", 256, 14, 1, 1024, 1, 1, 1},
        {"ResNet-50", 1024, 14, 1, 256, 1, 1, 1},  {"ResNet-50", 512, 14, 3, 512, 2, 1, 1},
        {"ResNet-50", 512, 7, 3, 512, 1, 1, 1},    {"ResNet-50", 512, 7, 1, 2048, 1, 1, 1},
        {"MobileNet", 32, 112, 3, 0, 1, 1, 1},     {"MobileNet", 64, 112, 3, 0, 2, 1, 1},
        {"MobileNet", 256, 28, 3, 0, 1, 1, 1},     {"MobileNet", 512, 14, 3, 0, 1, 1, 1},
        {"ConvNeXt", 96, 56, 7, 0, 1, 1, 1},       {"ConvNeXt", 384, 14, 7, 0, 1, 1, 1},
        {"MobileNet", 32, 112, 1, 64, 1, 1, 1},    {"MobileNet", 64, 56, 1, 128, 1, 1, 1},
        {"MobileNet", 128, 56, 1, 128, 1, 1, 1},   {"MobileNet", 128, 28, 1, 256, 1, 1, 1},
        {"MobileNet", 256, 14, 1, 512, 1, 1, 1},   {"MobileNet", 512, 14, 1, 512, 1, 1, 1},
        {"SqueezeNet", 96, 54, 1, 16, 1, 1, 1},    {"SqueezeNet", 16, 54, 1, 64, 1, 1, 1},
        {"SqueezeNet", 256, 27, 1, 32, 1, 1, 1},   {"SqueezeNet", 32, 27, 1, 128, 1, 1, 1},
        {"ResNeXt-50", 128, 56, 3, 128, 1, 32, 1}, {"ResNeXt-50", 256, 28, 3, 256, 1, 32, 1},
        {"ResNeXt-50", 512, 14, 3, 512, 1, 32, 1}, {"ResNeXt-50", 1024, 7, 3, 1024, 1, 32, 1},
        {"DeepLab", 256, 28, 3, 256, 1, 1, 2},     {"DeepLab", 512, 28, 3, 512, 1, 1, 4},
        {"DeepLab", 2048, 28, 3, 256, 1, 1, 12}};
    for (size_t i = 0; i < COUNT(layers); i++)
        for (size_t b = 0; b < COUNT(batches); b++)
            GF_TRY(specs_add(
                specs, (Spec){.label = layers[i].label,
                              .in = GF_F32,
                              .out = GF_F32,
                              .layer = true,
                              .batch = batches[b],
                              .channels = layers[i].channels,
                              .width = layers[i].side,
                              .height = layers[i].side,
                              .kernel = layers[i].kernel,
                              .filters = layers[i].filters ? layers[i].filters : layers[i].channels,
                              .padding = layers[i].kernel / 2 * layers[i].dilation,
                              .stride = layers[i].stride,
                              .groups = layers[i].filters ? layers[i].groups : layers[i].channels,
                              .dilation = layers[i].dilation}));
    for (size_t b = 0; b < COUNT(batches); b++)
        GF_TRY(other_kernel_cases(specs, batches[b]));
    return GF_OK;
}

/* ---- sources: the experiments of the documents that the methods come from ---- */

static Spec layer(const char *label, size_t batch, size_t channels, size_t side, size_t kernel,
                  size_t filters, size_t padding)
{
    return (Spec){.label = label,
                  .in = GF_F32,
                  .out = GF_F32,
                  .layer = true,
                  .batch = batch,
                  .channels = channels,
                  .width = side,
                  .height = side,
                  .kernel = kernel,
                  .filters = filters,
                  .padding = padding};
}

/* A tutorial's layer, direct against shared memory, others of pictures as small, and the first
 * layers of a course's LeNet-5. */
static GfStatus layer_cases(Specs *specs)
{
    const Spec small[] = {
        layer("tutorial", 64, 1, 28, 5, 16, 2), layer("digits", 1, 1, 28, 5, 16, 2),
        layer("digits", 16, 1, 28, 5, 6, 2),    layer("digits", 256, 1, 28, 5, 16, 2),
        layer("digits", 1024, 1, 28, 5, 16, 2), layer("digits", 64, 1, 28, 3, 16, 1),
        layer("digits", 64, 1, 28, 7, 16, 3)};
    Spec chain;
    for (size_t i = 0; i < 2 * COUNT(small); i++) {
        Spec spec = small[i / 2];
        spec.pooled = i % 2;
        GF_TRY(specs_add(specs, spec));
    }
    for (size_t batch = 100; batch <= 10000; batch *= 10)
        GF_TRY(specs_add(specs, layer("course layer 1", batch, 1, 86, 7, 4, 0)));
    GF_TRY(specs_add(specs, layer("course layer 1", 10000, 1, 86, 7, 16, 0)));
    GF_TRY(specs_add(specs, layer("course layer 2", 10000, 4, 40, 7, 16, 0)));
    chain = layer("course chain", 10000, 1, 86, 7, 4, 0);
    chain.second = 16;
    return specs_add(specs, chain);
}

/* Samples narrower than a bank of shared memory: one and several a thread (the paper, fig. 7b). */
static GfStatus bank_width_cases(Specs *specs)
{
    static const GfSample samples[] = {GF_U8, GF_F16, GF_F32};
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t kernel = 3; kernel <= 7; kernel += 2) {
            Spec spec = picture(samples[i], 1, kernel, TAPS_RANDOM);
            spec.label = "bank width";
            spec.methods = "special/*";
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}

/* The paper's own block sizes (table 1) against those found on today's cards. */
static GfStatus paper_cases(Specs *specs)
{
    static const size_t sizes[] = {64, 224};
    for (size_t n = 0; n < COUNT(sizes); n++)
        for (size_t kernel = 3; kernel <= 7; kernel += 2) {
            Spec spec = general(sizes[n], kernel, 64, 128);
            spec.label = "paper's blocks";
            spec.methods = "general,general/paper";
            GF_TRY(specs_add(specs, spec));
        }
    return GF_OK;
}

/* What larger tiles save, beside what the model says they do. */
static GfStatus tile_cases(Specs *specs)
{
    for (size_t kernel = 5; kernel <= 9; kernel += 4) {
        Spec spec = picture(GF_F32, 1, kernel, TAPS_RANDOM);
        spec.label = "tiles";
        spec.methods = "direct,constant,tiled/*,cached/*,shared/*";
        GF_TRY(specs_add(specs, spec));
    }
    return GF_OK;
}

static GfStatus sources_cases(Specs *specs)
{
    GF_TRY(layer_cases(specs));
    GF_TRY(bank_width_cases(specs));
    GF_TRY(paper_cases(specs));
    return tile_cases(specs);
}

const Suite suites[] = {
    {"special", "one input channel, f32, 1 to 32 filters", special_cases, true},
    {"u8", "pictures of 8192 x 8192, all sample types", u8_cases, true},
    {"sizes", "3 x 3 on bytes, pictures of 64 x 64 to 8192 x 8192", sizes_cases, true},
    {"u16", "samples of 16 bits, kernels of 3 x 3 to 15 x 15, pictures of 64 x 64 to 8192 x 8192",
     u16_cases, true},
    {"small", "gray pictures of 64 x 64 to 2048 x 2048, kernels of 3 x 3 to 31 x 31, and layers",
     small_cases, true},
    {"odd", "pictures whose rows are no whole words", odd_cases, true},
    {"large", "kernels beyond registers, sums in f64, pictures of 128 x 128 to 4096 x 4096",
     large_cases, true},
    {"general", "16 to 256 channels, f32, batch 1", general_cases, true},
    {"first", "layers on pictures of 1 and 3 channels, f32 and u8", first_cases, true},
    {"networks", "layers of known networks, batches of 1, 8 and 32", network_cases, true},
    {"sources", "the experiments of the methods' sources", sources_cases, false},
    {"drawn", "cases of all kinds, their sizes drawn by chance (--seed)", drawn_cases, true},
    {"host", "the CPU backend, and whole processes", NULL, false},
    {0}};

const Suite *suite_find(const char *name)
{
    for (const Suite *suite = suites; suite->name; suite++)
        if (strcmp(suite->name, name) == 0)
            return suite;
    return NULL;
}
