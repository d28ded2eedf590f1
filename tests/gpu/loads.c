#include "tests/gpu/loads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filters/model.h"
#include "gpu/backend.h"
#include "tests/gpu/filters.h"
#include "tests/gpu/launch.h"
#include "tests/gpu/report.h"

/* Output pixels: a multiple of every tile. */
enum { WIDTH = 1024, HEIGHT = 64, ALIGNED = 16 };
enum { WARP = 32, STRIP_ROWS = 32 }; /* of `special` by tilings that name samples of a lane */

/* The tile that the sources give figures for, or whose size does not depend on the card, where it
 * is not the method's own choice. */
static const char *const told_tiles[][2] = {
    {"shared", "8x8"}, {"tiled", "32x32"}, {"cached", "32x32"}, {"special", "n16"}};

static size_t find_tiling(const GfAlgorithm *row, const char **name)
{
    *name = "its own";
    for (size_t i = 0; i < sizeof told_tiles / sizeof *told_tiles; i++)
        for (size_t t = 0; row->tilings && row->tilings[t]; t++)
            if (strcmp(told_tiles[i][0], row->name) == 0 &&
                strcmp(told_tiles[i][1], row->tilings[t]) == 0) {
                *name = row->tilings[t];
                return t + 1;
            }
    return 0;
}

/* Bytes are loaded one by one and told apart from weights by that: a gray picture through a
 * kernel of 5 x 5 taps, or (methods for networks) 16 channels through 64 maps of 3 x 3. */
static GfFilter *make_filter(const char *method, bool network, GfFormat *format)
{
    GfFilter *filter = new_filter();
    if (network) {
        *format = format_of(WIDTH + 2, HEIGHT + 2, 16, GF_U8);
        add_layer(filter, 64, 16, 1, 3, 3);
        return filter;
    }
    *format = format_of(WIDTH + 4, HEIGHT + 4, 1, GF_U8);
    if (strcmp(method, "separable") != 0) {
        add_kernel(filter, 1, 5, 5, POSITIVE);
        return filter;
    }
    add_factors(filter, 1, 5, 5);
    return filter;
}

static bool launch(const GfAlgorithm *row, const GfStep *step, const GfFormat *in,
                   const GfFormat *out, size_t tiling)
{
    Lay lay = step->in_layout == GF_PLANAR ? LAY_NCHW : LAY_INTERLEAVED;
    Block picture = random_picture(in);
    Inputs inputs = {*in, 1, &picture};
    size_t gap = (ALIGNED - gf_row_samples(in) % ALIGNED) % ALIGNED; /* for vectors of samples */
    Way way = {tiling, lay, gap, 0, 1, 0};
    Array array = make_array(out, 1, lay, 0, 0, POISON);
    Stand *stand = make_stand(row, step, NULL, false);
    bool done = launch_stand(stand, &inputs, &way, &array);
    free_stand(stand);
    free(array.memory);
    free_blocks(&picture, 1);
    return done;
}

static bool print_step(const GfAlgorithm *row, const GfStep *step, const char *name)
{
    GfWork work;
    GfTile tile = gf_model_tile(row->name, step, false);
    unsigned columns, rows, own;
    if (sscanf(name, "%ux%u", &columns, &rows) == 2)
        tile = (GfTile){columns, rows, tile.maps};
    else if (sscanf(name, "n%u", &own) == 1) /* strips for warps */
        tile = (GfTile){WARP * own, STRIP_ROWS, SIZE_MAX};
    if (!gf_model_work(row->name, step, false, &tile, &work))
        return false;
    printf("%s tiling %s: %.0f samples of %zu bytes, %.0f weights, %.0f tiles, %.0f operations\n",
           row->name, name, work.samples, gf_sample_size(step->in), work.weights,
           gf_model_tiles(row->name, step, &tile), work.operations);
    return true;
}

static int print_case(const GfAlgorithm *row, bool network)
{
    const char *name;
    GfCard card;
    GfFormat format;
    GfPlanOptions options = options_of(GF_U8, GF_BORDER_VALID);
    GfFilter *filter = make_filter(row->name, network, &format);
    const GfFilter *filters[] = {filter};
    GfPlan *plan;
    must(gf_plan_create(filters, 1, &format, &options, &plan), row->name);
    GfStep *step = &plan->pipelines[0].steps[0];
    step->in_layout = step->out_layout = network ? GF_PLANAR : GF_INTERLEAVED;
    int status = 2; /* not taken */
    size_t tiling = find_tiling(row, &name);
    must(gf_current_card(&card), row->name);
    if (gf_algorithm_runs(row, step, false, &card) == GF_OK)
        status = launch(row, step, &format, &plan->pipelines[0].out, tiling) &&
                         print_step(row, step, name)
                     ? 0
                     : 1;
    gf_plan_free(plan);
    gf_filter_free(filter);
    return status;
}

int print_loads(const char *method)
{
    size_t count;
    const GfAlgorithm *row = gf_algorithm_find(method);
    if (!row)
        return fprintf(stderr, "there is no method \"%s\"\n", method), 1;
    if (gf_cuda_count(&count) != GF_OK)
        return fprintf(stderr, "SKIP: %s\n", gf_message()), 77;
    int status = print_case(row, false);
    return status == 2 ? print_case(row, true) : status;
}
