/* What single taps take that `tensor` reads as they are, by which it cuts them among blocks, and
 * `auto` estimates its time. */
#include <math.h>

#include "gpu/launch.h"

/* Of a block, where tiles have so many runs of maps: what is multiplied, what is converted, and the
 * bytes that memory moves for a multiprocessor meanwhile. */
static double cycles_of(const GfPixelsCut *cut, size_t channels)
{
    enum { START = 4000, A_CYCLE = 18 }; /* cycles; bytes */
    const size_t numbers = GF_PIXELS_TILE * (channels + GF_FLAT_MAPS * cut->runs);
    const size_t moving = numbers * sizeof(float) / A_CYCLE;
    const size_t most = cut->products > cut->converting ? cut->products : cut->converting;
    return START + (double)(cut->tiles * (most > moving ? most : moving));
}

GfPixelsCut gf_pixels_cut(const GfStep *step, size_t positions, size_t processors)
{
    enum { PRODUCT = 192, OCTET = 100 }; /* cycles: of 16 channels of 64 maps; of 8 channels */
    const GfTensorFlat shape = gf_tensor_flat(step);
    const size_t tiles = gf_units(positions, GF_PIXELS_TILE);
    const size_t octets = shape.octets * shape.stages;
    GfPixelsCut best = {0};
    double least = INFINITY;
    for (size_t splits = 1; splits <= shape.map_runs; splits++) {
        GfPixelsCut cut = {.splits = splits, .runs = gf_units(shape.map_runs, splits), .passes = 1};
        if (gf_units(shape.map_runs, cut.runs) != splits)
            continue;
        if (shape.stages > GF_PIXELS_STAGES)
            cut.passes = gf_units(cut.runs, GF_PIXELS_GROUPS);
        const size_t units = splits * step->linear.groups, each = processors / units;
        cut.blocks = each < 1 ? 1 : each > tiles ? tiles : each;
        cut.products = octets / 2 * PRODUCT * cut.runs;
        cut.converting = octets * OCTET * cut.passes;
        const size_t waves = gf_units(cut.blocks * units, processors);
        cut.tiles = gf_units(tiles, cut.blocks);
        const double cost = (double)waves * cycles_of(&cut, octets * 8);
        cut.tiles *= waves;
        if (cost < least) {
            least = cost;
            best = cut;
        }
    }
    return best;
}
