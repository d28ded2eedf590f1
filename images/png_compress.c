/* Level 1 is to be fast, and no larger than what others write who take their time (zlib's level 6 on rows as
 * they are, as libvips does). Photographs and blurs become small by row filters, and the fast compressor is
 * enough. Of edges on black filters leave much, the same strings come again, and only a slow search finds
 * them; of grain neither is left, and it takes good codes.
 *
 * So some rows of a strip are tried, first in the fast ways, until one is small enough, by a margin for what
 * is not tried. The constants are of trials on 435 pictures: photographs under fifteen filters. */
#include "images/png_compress.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/deflate.h"
#include "images/squeeze.h"

enum {
    MARGIN = 64, /* for zlib's flush */
    ZLIB_MEMORY = 8,
    RUNS_MEMORY = 9, /* more symbols to a block: fewer headers */
    SAMPLED = 8,     /* the part of a strip that is tried, in so many groups of rows */
    GROUPS = 4,
    SAMPLE_LEAST = 128 << 10,
    CLEAR = 10,     /* filters that save this part of the bytes leave strings nothing to gain */
    SAFE = 128,     /* what is smaller by this part of them is so in the strip as well */
    GOAL_LEVEL = 6, /* of zlib, on rows as they are */
    GRAIN = 2 /* where strings save less than this part, zlib's blocks may be the better ones */
};

/* Those of filtered rows, then those of rows as they are; from fast to slow. */
typedef enum Way { FAST, RUNS, STRINGS, GOAL } Way;

struct GfPngCompressor {
    int level;
    unsigned char *filtered; /* with a filter byte before each row; owned */
    unsigned char *plain;    /* the same of rows as they are, while some are tried; owned */
    GfDeflater *fast;        /* of level 1; owned */
    GfSqueezer *slow;        /* likewise */
    z_stream zlib;           /* of higher levels, and for RUNS and GOAL */
    bool has_zlib;
};

size_t gf_png_compressed_bound(size_t size)
{
    return gf_max(gf_deflate_bound(size), compressBound((uLong)size)) + MARGIN;
}

static GfStatus prepare(GfPngCompressor *compressor, size_t size)
{
    GF_TRY(gf_allocate(size, 1, &compressor->filtered));
    if (compressor->level == 0)
        return GF_OK;
    if (deflateInit2(&compressor->zlib, compressor->level, Z_DEFLATED, -MAX_WBITS,
                     compressor->level == 1 ? RUNS_MEMORY : ZLIB_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return gf_fail(GF_EMEMORY, "out of memory (zlib)");
    compressor->has_zlib = true;
    if (compressor->level > 1)
        return GF_OK;
    GF_TRY(gf_allocate(size, 1, &compressor->plain));
    GF_TRY(gf_deflater_create(&compressor->fast));
    return gf_squeezer_create(&compressor->slow);
}

GfStatus gf_png_compressor_create(int level, size_t count, size_t row_bytes, GfPngCompressor **out)
{
    GfPngCompressor *compressor;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *compressor, &compressor));
    compressor->level = level;
    GF_GO(prepare(compressor, count * (row_bytes + 1)));
    *out = compressor;
    return GF_OK;
done:
    gf_png_compressor_free(compressor);
    return status;
}

void gf_png_compressor_free(GfPngCompressor *compressor)
{
    if (!compressor)
        return;
    if (compressor->has_zlib)
        deflateEnd(&compressor->zlib);
    gf_deflater_free(compressor->fast);
    gf_squeezer_free(compressor->slow);
    free(compressor->filtered);
    free(compressor->plain);
    free(compressor);
}

static size_t filtered_size(const GfPngRows *rows)
{
    return rows->count * (rows->row_bytes + 1);
}

/* zlib, into `room` bytes from `to` on. Returns 0 where that fails. */
static size_t compress_zlib(GfPngCompressor *compressor, int level, int strategy,
                            const unsigned char *from, size_t size, unsigned char *to)
{
    z_stream *zlib = &compressor->zlib;
    size_t room = gf_png_compressed_bound(size);
    if (deflateReset(zlib) != Z_OK || deflateParams(zlib, level, strategy) != Z_OK)
        return 0;
    zlib->next_in = (unsigned char *)(uintptr_t)from;
    zlib->avail_in = (uInt)size;
    zlib->next_out = to;
    zlib->avail_out = (uInt)room;
    if (deflate(zlib, Z_SYNC_FLUSH) != Z_OK || zlib->avail_out == 0)
        return 0;
    return room - zlib->avail_out;
}

/* ---- level 1 ---- */

static size_t compress_as(GfPngCompressor *compressor, Way way, const unsigned char *from,
                          size_t size, unsigned char *out)
{
    switch (way) {
    case RUNS:
        return compress_zlib(compressor, 1, Z_RLE, from, size, out);
    case STRINGS:
        return gf_squeeze(compressor->slow, from, size, out);
    case GOAL:
        return compress_zlib(compressor, GOAL_LEVEL, Z_DEFAULT_STRATEGY, from, size, out);
    default:
        return gf_deflate(compressor->fast, from, size, out);
    }
}

/* How large that would be. */
static size_t try(GfPngCompressor *compressor, Way way, const unsigned char *from, size_t size,
                  unsigned char *out)
{
    size_t made = way == STRINGS ? gf_squeezed_size(compressor->slow, from, size, out)
                                 : compress_as(compressor, way, from, size, out);
    return made ? made : size;
}

/* Filters some rows from all over a strip, and returns how many bytes that gave. */
static size_t filter_sample(const GfPngRows *rows, unsigned filter, unsigned char *to)
{
    size_t least = SAMPLE_LEAST / (rows->row_bytes + 1) + 1, size = 0;
    size_t wanted = gf_min(gf_max(rows->count / SAMPLED, least), rows->count);
    size_t each = (wanted + GROUPS - 1) / GROUPS;
    for (size_t i = 0; i < GROUPS && each * (i + 1) <= rows->count; i++) {
        GfPngRows group = *rows;
        group.above += (rows->count - each) * i / (GROUPS - 1) * rows->row_bytes;
        group.count = each;
        gf_png_filter(&group, filter, to + size);
        size += filtered_size(&group);
    }
    return size;
}

/* `out` is room to try in. */
static Way choose_way(GfPngCompressor *compressor, const GfPngRows *rows, unsigned filter,
                      unsigned char *out)
{
    const unsigned char *filtered = compressor->filtered, *plain = compressor->plain;
    size_t size = filter_sample(rows, filter, compressor->filtered), safe = size / SAFE;
    filter_sample(rows, 0, compressor->plain);
    size_t fast = try(compressor, FAST, filtered, size, out);
    if (filter != 0 && fast + size / CLEAR < try(compressor, FAST, plain, size, out))
        return FAST;
    size_t strings = try(compressor, STRINGS, plain, size, out);
    if (fast + safe < strings)
        return FAST;
    size_t runs = try(compressor, RUNS, filtered, size, out), least = gf_min(fast, runs);
    if (runs + safe < strings)
        return RUNS;
    if (strings > size / GRAIN && try(compressor, GOAL, plain, size, out) < gf_min(least, strings))
        return GOAL;
    return strings < least ? STRINGS : runs < fast ? RUNS : FAST;
}

static size_t compress_fast(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    /* The scratch is the place of the filtered rows. */
    unsigned filter = gf_png_filter_choose(rows, compressor->filtered);
    Way way = choose_way(compressor, rows, filter, out);
    size_t size = filtered_size(rows);
    gf_png_filter(rows, way < STRINGS ? filter : 0, compressor->filtered);
    size_t made = compress_as(compressor, way, compressor->filtered, size, out);
    return made ? made : gf_deflate(compressor->fast, compressor->filtered, size, out);
}

/* ---- the others ---- */

/* Of filtered rows zlib is not to take short repetitions, which are no gain there. */
static size_t compress_well(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    unsigned filter = gf_png_filter_choose(rows, compressor->filtered);
    gf_png_filter(rows, filter, compressor->filtered);
    return compress_zlib(compressor, compressor->level, filter ? Z_FILTERED : Z_DEFAULT_STRATEGY,
                         compressor->filtered, filtered_size(rows), out);
}

static size_t store(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    gf_png_filter(rows, 0, compressor->filtered);
    return gf_deflate_store(compressor->filtered, filtered_size(rows), out);
}

size_t gf_png_compress(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out,
                       uLong *adler)
{
    size_t made = (compressor->level == 0   ? store
                   : compressor->level == 1 ? compress_fast
                                            : compress_well)(compressor, rows, out);
    *adler = adler32_z(1, compressor->filtered, filtered_size(rows));
    return made;
}
