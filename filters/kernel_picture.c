/* Every kernel has a scale of its own, because what is looked at is its shape, but all are enlarged
 * alike, unless the smallest could then not be seen. The ground of the sheet is darker than the
 * gray that stands for zero, so that a kernel's edge is seen where its taps vanish. */
#include "filters/kernel_picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"
#include "images/sheet.h"

enum { LEAST_TILE = 128, READABLE = 4, GROUND = 32, MOST_PIXELS = 1 << 28 };

/* A kernel to be drawn, wherever its weights are. */
typedef struct Tile {
    const double *weights;
    size_t channels, height, width;
} Tile;

static double largest_weight(const Tile *tile)
{
    double largest = 0.0;
    for (size_t i = 0; i < tile->channels * tile->height * tile->width; i++)
        largest = fmax(largest, fabs(tile->weights[i]));
    return largest;
}

static size_t side_of(const Tile *tile)
{
    return gf_max(tile->width, tile->height);
}

/* Draws the kernel, a tap being zoom x zoom pixels; 0: as many as the tile takes. */
static void draw(const GfSheet *sheet, size_t number, const Tile *tile, size_t zoom,
                 const GfImage *image)
{
    size_t left, top;
    if (zoom == 0)
        zoom = sheet->tile_width / side_of(tile);
    size_t width = zoom * tile->width, height = zoom * tile->height;
    size_t channels = image->format.channels;
    double middle = gf_sample_middle(GF_U8), largest = largest_weight(tile);
    double gain = largest > 0.0 ? (middle - 1.0) / largest : 0.0;
    gf_sheet_place(sheet, number, width, height, &left, &top);
    for (size_t y = 0; y < height; y++) {
        unsigned char *row = (unsigned char *)image->samples + (top + y) * image->stride;
        for (size_t i = 0; i < width * channels; i++) {
            size_t c = tile->channels > 1 ? i % channels : 0;
            size_t tap = (c * tile->height + y / zoom) * tile->width + i / channels / zoom;
            gf_sheet_store(row, left * channels + i, GF_U8, middle + gain * tile->weights[tap]);
        }
    }
}

/* columns 0: near-square. */
static GfStatus draw_all(const Tile *tiles, size_t count, size_t *columns, GfImage *image)
{
    size_t least = SIZE_MAX, most = 1, channels = 1, pixels;
    GfSheet sheet;
    *image = (GfImage){0};
    for (size_t i = 0; i < count; i++) {
        least = gf_min(least, side_of(&tiles[i]));
        most = gf_max(most, side_of(&tiles[i]));
        channels = gf_max(channels, tiles[i].channels);
    }
    size_t side = gf_max(most, LEAST_TILE), zoom = side / most;
    if (least * zoom < side / READABLE)
        zoom = 0;
    GF_TRY(gf_sheet_plan(count, *columns, side, side, GF_SHEET_MARGIN, &sheet));
    if (!gf_mul(sheet.width, sheet.height, &pixels) || pixels > MOST_PIXELS)
        return gf_fail(GF_ELIMIT, "a picture of %zu kernels would be %zu x %zu pixels", count,
                       sheet.width, sheet.height);
    const GfFormat format = {sheet.width, sheet.height, channels, false, GF_U8};
    GF_TRY(gf_image_allocate(&format, image));
    memset(image->samples, GROUND, format.height * image->stride);
    for (size_t i = 0; i < count; i++)
        draw(&sheet, i, &tiles[i], zoom, image);
    *columns = sheet.columns;
    return GF_OK;
}

GfStatus gf_kernels_picture(const double *weights, size_t maps, size_t channels, size_t height,
                            size_t width, GfImage *image)
{
    bool together = channels == 1 || channels == 3;
    size_t count, columns = together ? 0 : channels, depth = together ? channels : 1;
    Tile *tiles;
    *image = (GfImage){0};
    if (!gf_mul(maps, channels / depth, &count))
        return gf_fail(GF_ELIMIT, "%zu x %zu kernels are too many for a picture", maps, channels);
    GF_TRY(gf_allocate(count, sizeof *tiles, &tiles));
    for (size_t i = 0; i < count; i++)
        tiles[i] = (Tile){weights + i * depth * height * width, depth, height, width};
    GfStatus status = draw_all(tiles, count, &columns, image);
    free(tiles);
    return status;
}

/* ---- lists ---- */

static GfStatus append(GfKernelList *list, const char *name, size_t number, size_t channels,
                       size_t height, size_t width, GfKernelTile **tile)
{
    GfKernelTile *longer = realloc(list->tiles, (list->count + 1) * sizeof *longer);
    if (!longer)
        return gf_fail(GF_EMEMORY, "out of memory");
    list->tiles = longer;
    *tile = &list->tiles[list->count++];
    **tile = (GfKernelTile){.channels = channels, .height = height, .width = width};
    int made = number ? asprintf(&(*tile)->name, "%s %zu", name, number)
                      : asprintf(&(*tile)->name, "%s", name);
    if (made < 0) {
        (*tile)->name = NULL;
        return gf_fail(GF_EMEMORY, "out of memory");
    }
    /* No overflow: the filter holds as many. */
    return gf_allocate_zero(channels * height * width, sizeof(double), &(*tile)->weights);
}

/* One kernel of a bank, or the sum of several. */
static GfStatus add_bank(GfKernelList *list, const char *name, const GfLinear *linear, bool sum)
{
    size_t tiles = sum ? 1 : linear->filters, kernels = linear->filters / tiles;
    for (size_t i = 0; i < tiles; i++) {
        GfKernelTile *tile;
        GF_TRY(append(list, name, tiles > 1 ? i + 1 : 0, 1, linear->height, linear->width, &tile));
        for (size_t f = i * kernels; f < (i + 1) * kernels; f++)
            for (size_t tap = 0; tap < linear->height * linear->width; tap++)
                tile->weights[tap] += linear->scale * gf_linear_tap(linear, f, tap / linear->width,
                                                                    tap % linear->width);
    }
    return GF_OK;
}

static GfStatus add_layer(GfKernelList *list, const char *name, const GfLinear *linear)
{
    size_t channels = linear->depth == 3 ? 3 : 1;
    size_t tiles = linear->filters * linear->depth / channels;
    size_t taps = channels * linear->height * linear->width;
    for (size_t i = 0; i < tiles; i++) {
        GfKernelTile *tile;
        GF_TRY(append(list, name, tiles > 1 ? i + 1 : 0, channels, linear->height, linear->width,
                      &tile));
        memcpy(tile->weights, linear->weights + i * taps, taps * sizeof(double));
    }
    return GF_OK;
}

GfStatus gf_kernel_list_add(GfKernelList *list, const GfFilter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        const GfStage *stage = &filter->stages[i];
        bool sum = i + 1 < filter->count && stage[1].kind == GF_STAGE_COMBINE &&
                   stage[1].combine.op == GF_COMBINE_SUM;
        if (stage->kind != GF_STAGE_LINEAR)
            continue;
        if (stage->linear.depth > 0)
            GF_TRY(add_layer(list, filter->name, &stage->linear));
        else
            GF_TRY(add_bank(list, filter->name, &stage->linear, sum));
    }
    return GF_OK;
}

GfStatus gf_kernel_list_picture(const GfKernelList *list, size_t *columns, GfImage *image)
{
    Tile *tiles;
    GF_TRY(gf_allocate(list->count, sizeof *tiles, &tiles));
    for (size_t i = 0; i < list->count; i++) {
        const GfKernelTile *tile = &list->tiles[i];
        tiles[i] = (Tile){tile->weights, tile->channels, tile->height, tile->width};
    }
    *columns = 0;
    GfStatus status = draw_all(tiles, list->count, columns, image);
    free(tiles);
    return status;
}

void gf_kernel_list_free(GfKernelList *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->tiles[i].weights);
        free(list->tiles[i].name);
    }
    free(list->tiles);
    *list = (GfKernelList){0};
}
