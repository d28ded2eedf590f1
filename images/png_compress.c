/* Level 1 is to be fast, and no larger than what others write who take their time (zlib's level 6 on rows as
 * they are, as libvips does). What a blur or a photograph gives is compressed by the numbers that the row
 * filters leave; there the fast compressor is both. Edges on black are another matter: filters gain little,
 * strings that come again much, and those only a slow search finds. Which it is shows by trial: the fast
 * compressor takes the rows as they are, too, and where that is not much larger, other ways are tried.
 *
 * The constants are of trials on 340 pictures, photographs under ten filters: none became larger than
 * libvips makes it. */
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
    THIN = 10        /* what becomes so many times smaller is drawings and masks */
};

/* How much larger rows as they are may be than filtered ones, both compressed fast. */
static const double filters_gain = 1.2;  /* else there is nothing to look for */
static const double filters_stay = 1.03; /* else filtered rows are looked at */
static const double thin_stay = 1.35;
/* Runs that gain so much on the fast compressor are all there is to find. */
static const double runs_gain = 0.85;
/* What stays larger than this gains little by strings, and only just enough by a longer search. */
static const double dense = 0.4;

struct GfPngCompressor {
    int level;
    unsigned char *filtered; /* with a filter byte before each row; owned */
    unsigned char *other;    /* what is compared with the best so far; owned */
    size_t bound;            /* of other */
    GfDeflater *fast;        /* of level 1; owned */
    GfSqueezer *slow;        /* likewise */
    z_stream zlib;           /* of higher levels, and for runs */
    bool has_zlib;
};

/* A piece that was made of rows under one filter. */
typedef struct Piece {
    unsigned filter;
    size_t rows, size; /* bytes, before and after */
    uLong adler;
} Piece;

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
    compressor->bound = gf_png_compressed_bound(size);
    GF_TRY(gf_allocate(compressor->bound, 1, &compressor->other));
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
    free(compressor->other);
    free(compressor);
}

/* Puts the filtered rows in their place. */
static Piece filter_rows(GfPngCompressor *compressor, const GfPngRows *rows, unsigned filter)
{
    Piece piece = {filter, rows->count * (rows->row_bytes + 1), 0, 0};
    gf_png_filter(rows, filter, compressor->filtered);
    piece.adler = adler32_z(1, compressor->filtered, piece.rows);
    return piece;
}

/* zlib, into `room` bytes from `to` on. Returns 0 where that fails. */
static size_t compress_zlib(GfPngCompressor *compressor, int strategy, size_t size,
                            unsigned char *to, size_t room)
{
    z_stream *zlib = &compressor->zlib;
    if (deflateReset(zlib) != Z_OK || deflateParams(zlib, compressor->level, strategy) != Z_OK)
        return 0;
    zlib->next_in = compressor->filtered;
    zlib->avail_in = (uInt)size;
    zlib->next_out = to;
    zlib->avail_out = (uInt)room;
    if (deflate(zlib, Z_SYNC_FLUSH) != Z_OK || zlib->avail_out == 0)
        return 0;
    return room - zlib->avail_out;
}

/* Takes the other piece, of `size` bytes, where it is smaller (0: there is none). */
static void take_smaller(const GfPngCompressor *compressor, Piece *best, size_t size,
                         unsigned char *out)
{
    if (size == 0 || size >= best->size)
        return;
    memcpy(out, compressor->other, size);
    best->size = size;
}

/* Tries runs, and where they are not all, strings. */
static void look_farther(GfPngCompressor *compressor, bool thin, Piece *best, unsigned char *out)
{
    size_t fast = best->size;
    take_smaller(compressor, best,
                 compress_zlib(compressor, Z_RLE, best->rows, compressor->other, compressor->bound),
                 out);
    if (!thin && (double)best->size < runs_gain * (double)fast)
        return;
    bool longer = thin || (double)fast > dense * (double)best->rows;
    take_smaller(compressor, best,
                 gf_squeeze(compressor->slow, longer ? GF_SQUEEZE_SMALLER : GF_SQUEEZE_SMALL,
                            compressor->filtered, best->rows, compressor->other),
                 out);
}

static Piece compress_fast(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    /* The scratch is the place of the filtered rows. */
    unsigned filter = gf_png_filter_choose(rows, compressor->filtered);
    Piece filtered = filter_rows(compressor, rows, filter), best = filtered;
    best.size = filtered.size = gf_deflate(compressor->fast, compressor->filtered, best.rows, out);
    bool thin = best.size < best.rows / THIN;
    if (filter != 0) {
        Piece plain = filter_rows(compressor, rows, 0);
        plain.size =
            gf_deflate(compressor->fast, compressor->filtered, plain.rows, compressor->other);
        double larger = (double)plain.size / (double)filtered.size;
        thin = thin || plain.size < plain.rows / THIN;
        if (!thin && larger > filters_gain)
            return filtered;
        if (larger <= (thin ? thin_stay : filters_stay)) {
            memcpy(out, compressor->other, plain.size);
            best = plain;
        } else {
            best = filter_rows(compressor, rows, filter);
            best.size = filtered.size;
        }
    }
    look_farther(compressor, thin, &best, out);
    return best;
}

/* Of filtered rows zlib is not to take short repetitions, which are no gain there. */
static Piece compress_well(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    Piece piece = filter_rows(compressor, rows, gf_png_filter_choose(rows, compressor->filtered));
    piece.size = compress_zlib(compressor, piece.filter ? Z_FILTERED : Z_DEFAULT_STRATEGY,
                               piece.rows, out, gf_png_compressed_bound(piece.rows));
    return piece;
}

static Piece store(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out)
{
    Piece piece = filter_rows(compressor, rows, 0);
    piece.size = gf_deflate_store(compressor->filtered, piece.rows, out);
    return piece;
}

size_t gf_png_compress(GfPngCompressor *compressor, const GfPngRows *rows, unsigned char *out,
                       uLong *adler)
{
    Piece piece = (compressor->level == 0   ? store
                   : compressor->level == 1 ? compress_fast
                                            : compress_well)(compressor, rows, out);
    *adler = piece.adler;
    return piece.size;
}
