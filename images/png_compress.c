/* Level 1 is to be fast, and no larger than what others write who take their time (zlib's level 6
 * on rows as they are, as libvips does). Photographs and blurs become small by row filters, and the
 * fast compressor is enough. Of edges on black filters leave much, the same strings come again, and
 * only a slow search finds them; of grain neither is left, and it takes good codes.
 *
 * So a strip that a filter helps is compressed fast, and where filters do not plainly win, some of
 * the rows are tried in other ways, until one is small enough, by a margin for what is not tried;
 * how long strings are looked for follows from what zlib's level 6 makes of a few. The constants
 * are of trials on 435 pictures: photographs under fifteen filters. */
#include "images/png_compress.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/checksum.h"
#include "images/deflate.h"
#include "images/squeeze.h"

enum {
    MARGIN = 64, /* for zlib's flush */
    ZLIB_MEMORY = 8,
    RUNS_MEMORY = 9, /* more symbols to a block: fewer headers */
    SAMPLED = 8,     /* the part of a strip that is tried, in so many groups of rows */
    GROUPS = 4,
    SAMPLE_LEAST = 128 << 10,
    CLEAR = 12,     /* where filters save this part of all bytes, no search saves more */
    SAFE = 128,     /* what of a sample is smaller by this part of all is so of the strip */
    GAP = 32,       /* another search may find strings that leave this part less */
    FEW = 10,       /* what leaves less than this part is a mask or the like */
    GOAL_LEVEL = 6, /* of zlib, on rows as they are */
    NEAR = 64,      /* what is smaller by less of some rows may be larger of all */
    GRAIN = 2       /* where strings leave more than this part, zlib's codes may be better */
};

/* Two for filtered rows, the others for rows as they are. */
typedef enum Way { FAST, RUNS, FEW_STRINGS, STRINGS, MANY_STRINGS, GOAL } Way;

struct GfPngCompressor {
    int level;
    unsigned char *filtered; /* with a filter byte before each row; owned */
    unsigned char *sample;   /* some of these; owned */
    unsigned char *plain;    /* the same rows as they are; owned */
    unsigned char *tried;    /* what is made of them; owned */
    GfDeflater *fast;        /* of level 1; owned */
    GfSqueezer *slow;        /* likewise */
    z_stream zlib;           /* of higher levels, and for RUNS and GOAL */
    bool has_zlib;
};

size_t gf_png_compressed_bound(size_t size)
{
    return gf_max(gf_deflate_bound(size), compressBound((uLong)size)) + MARGIN;
}

/* Rows of each group of a sample. */
static size_t group_rows(size_t count, size_t row_bytes)
{
    size_t least = SAMPLE_LEAST / (row_bytes + 1) + 1;
    size_t wanted = gf_min(gf_max(count / SAMPLED, least), count);
    return (wanted + GROUPS - 1) / GROUPS;
}

static GfStatus prepare(GfPngCompressor *compressor, size_t count, size_t row_bytes)
{
    size_t sampled = gf_min(group_rows(count, row_bytes) * GROUPS, count) * (row_bytes + 1);
    GF_TRY(gf_allocate(count, row_bytes + 1, &compressor->filtered));
    if (compressor->level == 0)
        return GF_OK;
    if (deflateInit2(&compressor->zlib, compressor->level, Z_DEFLATED, -MAX_WBITS,
                     compressor->level == 1 ? RUNS_MEMORY : ZLIB_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return gf_fail(GF_EMEMORY, "out of memory (zlib)");
    compressor->has_zlib = true;
    if (compressor->level > 1)
        return GF_OK;
    GF_TRY(gf_allocate(sampled, 1, &compressor->sample));
    GF_TRY(gf_allocate(sampled, 1, &compressor->plain));
    GF_TRY(gf_allocate(gf_png_compressed_bound(sampled), 1, &compressor->tried));
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
    GF_GO(prepare(compressor, count, row_bytes));
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
    free(compressor->sample);
    free(compressor->plain);
    free(compressor->tried);
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

static GfSearch search_of(Way way)
{
    return way == FEW_STRINGS ? GF_SEARCH_SHORT
           : way == STRINGS   ? GF_SEARCH_MEDIUM
                              : GF_SEARCH_LONG;
}

static size_t compress_as(GfPngCompressor *compressor, Way way, const unsigned char *from,
                          size_t size, unsigned char *out)
{
    switch (way) {
    case RUNS:
        return compress_zlib(compressor, 1, Z_RLE, from, size, out);
    case FEW_STRINGS:
    case STRINGS:
    case MANY_STRINGS:
        return gf_squeeze(compressor->slow, search_of(way), from, size, out);
    case GOAL:
        return compress_zlib(compressor, GOAL_LEVEL, Z_DEFAULT_STRATEGY, from, size, out);
    default:
        return gf_deflate(compressor->fast, from, size, out);
    }
}

/* How large that would be. */
static size_t try(GfPngCompressor *compressor, Way way, const unsigned char *from, size_t size)
{
    bool strings = way == FEW_STRINGS || way == STRINGS;
    size_t made =
        strings ? gf_squeezed_size(compressor->slow, search_of(way), from, size, compressor->tried)
                : compress_as(compressor, way, from, size, compressor->tried);
    return made ? made : size;
}

/* Filters some rows from all over a strip, and returns how many bytes that gave. */
static size_t filter_sample(const GfPngRows *rows, unsigned filter, unsigned char *to)
{
    size_t each = group_rows(rows->count, rows->row_bytes), size = 0;
    for (size_t i = 0; i < GROUPS && each * (i + 1) <= rows->count; i++) {
        GfPngRows group = *rows;
        group.above += (rows->count - each) * i / (GROUPS - 1) * rows->row_bytes;
        group.count = each;
        gf_png_filter(&group, filter, to + size);
        size += filtered_size(&group);
    }
    return size;
}

/* Whether filters win so plainly that nothing else need be tried. `made`: bytes that the strip
 * takes by FAST; `size`: of the sample, whose rows as they are stand ready here and below. */
static bool is_clear(GfPngCompressor *compressor, const GfPngRows *rows, size_t made, size_t size)
{
    size_t share = made * size / filtered_size(rows);
    return share + size / CLEAR < try(compressor, FAST, compressor->plain, size);
}

/* The shortest search that is as good as the goal in these rows, by a margin. */
static Way choose_search(GfPngCompressor *compressor, const unsigned char *rows, size_t size,
                         bool grain)
{
    size_t goal = try(compressor, GOAL, rows, size), safe = goal - goal / NEAR;
    if (try(compressor, FEW_STRINGS, rows, size) < safe)
        return FEW_STRINGS;
    size_t strings = try(compressor, STRINGS, rows, size);
    if (strings < safe || (grain && strings < goal))
        return STRINGS;
    return grain ? GOAL : MANY_STRINGS;
}

static Way choose_way(GfPngCompressor *compressor, const GfPngRows *rows, unsigned filter,
                      size_t size)
{
    const unsigned char *sample = compressor->sample, *plain = compressor->plain;
    const size_t safe = size / SAFE;
    filter_sample(rows, filter, compressor->sample);
    size_t fast = try(compressor, FAST, sample, size);
    size_t strings = try(compressor, STRINGS, plain, size), goal = strings - strings / GAP;
    if (fast + safe < goal)
        return FAST;
    size_t runs = try(compressor, RUNS, sample, size), least = gf_min(fast, runs);
    if (runs + safe < goal)
        return RUNS;
    if (strings >= least)
        return runs < fast ? RUNS : FAST;
    if (strings < size / FEW)
        return MANY_STRINGS;
    return choose_search(compressor, plain, size / GROUPS, strings > size / GRAIN);
}

static size_t compress_fast(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    unsigned char *filtered = compressor->filtered; /* before that, scratch */
    unsigned filter = gf_png_filter_choose(rows, filtered);
    size_t size = filtered_size(rows), made = 0;
    size_t sampled = filter_sample(rows, 0, compressor->plain);
    gf_png_filter(rows, filter, filtered);
    if (filter != 0) {
        made = gf_deflate(compressor->fast, filtered, size, out);
        if (is_clear(compressor, rows, made, sampled))
            return made;
    }
    Way way = choose_way(compressor, rows, filter, sampled);
    if (way == FAST && made > 0)
        return made;
    if (way > RUNS && filter != 0)
        gf_png_filter(rows, 0, filtered);
    made = compress_as(compressor, way, filtered, size, out);
    return made ? made : gf_deflate(compressor->fast, filtered, size, out);
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
    *adler = gf_adler32(compressor->filtered, filtered_size(rows));
    return made;
}
