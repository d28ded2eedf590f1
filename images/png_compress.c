/* Level 1 is to be fast, and no larger than what others write who take their time (zlib's level 6 on rows as
 * they are, as libvips does). What a blur or a photograph gives is compressed by the numbers that the row
 * filters leave; there the fast compressor is both. Edges on black are another matter: filters gain little,
 * strings that come again much, and those only a slow search finds.
 *
 * So some rows of a strip are tried first, in all ways from fast to slow, until one is small enough. What
 * is small enough is what the others would write, which is not tried where filters gain so much that it
 * cannot matter. The constants are of trials on 470 pictures, photographs under ten filters. */
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
    THIN = 8,      /* what becomes so many times smaller is drawings and masks */
    GOAL_LEVEL = 6 /* of zlib, on rows as they are */
};

/* How much larger rows as they are may be after a glance at their strings than filtered ones after the fast
 * compressor, for anything else to be tried: longer searches gain less than that, but for drawings. */
static const double filters_gain = 1.12;
/* Small enough, as a part of the goal: what is tried is not all. */
static const double enough = 0.985;

typedef enum Method { FAST, RUNS, STRINGS, GOAL } Method;

/* From fast to slow. */
typedef struct Way {
    Method method;
    GfSqueeze how; /* of STRINGS */
    bool filtered;
} Way;

static const Way ways[] = {
    {FAST, 0, true},
    {FAST, 0, false},
    {RUNS, 0, true},
    {RUNS, 0, false},
    {STRINGS, GF_SQUEEZE_LITTLE, true},
    {STRINGS, GF_SQUEEZE_LITTLE, false},
    {STRINGS, GF_SQUEEZE_MORE, true},
    {STRINGS, GF_SQUEEZE_MORE, false},
    {STRINGS, GF_SQUEEZE_MOST, false},
    {GOAL, 0, false}, /* as the others do */
};

struct GfPngCompressor {
    int level;
    unsigned char *filtered; /* with a filter byte before each row; owned */
    unsigned char *plain;    /* the same of rows as they are, while some are tried; owned */
    GfDeflater *fast;        /* of level 1; owned */
    GfSqueezer *slow;        /* likewise */
    z_stream zlib;           /* of higher levels, and for runs */
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

/* Compresses filtered rows. STRINGS may be only tried: what is made then is no piece. 0 where it fails. */
static size_t go(GfPngCompressor *compressor, const Way *way, bool only_try,
                 const unsigned char *from, size_t size, unsigned char *out)
{
    switch (way->method) {
    case RUNS:
        return compress_zlib(compressor, 1, Z_RLE, from, size, out);
    case GOAL:
        return compress_zlib(compressor, GOAL_LEVEL, Z_DEFAULT_STRATEGY, from, size, out);
    case STRINGS:
        return (only_try ? gf_squeezed_size : gf_squeeze)(compressor->slow, way->how, from, size,
                                                          out);
    default:
        return gf_deflate(compressor->fast, from, size, out);
    }
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

static const Way glance = {STRINGS, GF_SQUEEZE_LITTLE, false};

enum { WAYS = sizeof ways / sizeof *ways };

/* `out` is room to try in. */
static const Way *choose_way(GfPngCompressor *compressor, const GfPngRows *rows, unsigned filter,
                             unsigned char *out)
{
    size_t size = filter_sample(rows, filter, compressor->filtered), least = SIZE_MAX, goal = 0;
    const Way *best = ways;
    filter_sample(rows, 0, compressor->plain);
    for (size_t i = filter == 0; i < WAYS; i++) {
        const unsigned char *from = ways[i].filtered ? compressor->filtered : compressor->plain;
        if (filter == 0 && ways[i].filtered)
            continue;
        size_t made = i == WAYS - 1 ? goal : go(compressor, &ways[i], true, from, size, out);
        if (made > 0 && made < least) {
            least = made;
            best = &ways[i];
        }
        if (i == 0 && least > size / THIN &&
            (double)go(compressor, &glance, true, compressor->plain, size, out) >
                filters_gain * (double)least)
            return best;
        if (goal == 0)
            goal = go(compressor, &ways[WAYS - 1], true, compressor->plain, size, out);
        if ((double)least < enough * (double)goal)
            break;
    }
    return best;
}

static size_t compress_fast(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    /* The scratch is the place of the filtered rows. */
    unsigned filter = gf_png_filter_choose(rows, compressor->filtered);
    const Way *way = choose_way(compressor, rows, filter, out);
    size_t size = filtered_size(rows);
    gf_png_filter(rows, way->filtered ? filter : 0, compressor->filtered);
    size_t made = go(compressor, way, false, compressor->filtered, size, out);
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
