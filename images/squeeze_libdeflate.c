/* libdeflate compresses as well as zlib in a third of the time, but only whole streams: its last
 * block is marked as the last, and ends anywhere in a byte. So zlib looks for that block (it can
 * stop at the end of each), its mark is taken away, and an empty stored block, which begins where
 * the blocks end and itself ends at a byte's end, makes a piece of it. That is how zlib's
 * examples/gzjoin.c joins files. */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/memory.h"
#include "images/squeeze.h"

enum {
    STORED_TYPE = 3, /* bits: "not the last, stored" */
    STORED_SIZES = 4,
    BLOCK_ENDS = 128, /* in z_stream.data_type */
    LAST_BLOCK = 64,
    UNUSED_BITS = 7,
    SCRATCH = 64 << 10
};

/* Of rows in which some strings come again level 6 mostly makes no more than zlib's level 6, in
 * three fifths of the next level's time; of masks only that one does. */
static const int levels[GF_SEARCHES] = {
    [GF_SEARCH_SHORT] = 5, [GF_SEARCH_MEDIUM] = 6, [GF_SEARCH_LONG] = 7};

struct GfSqueezer {
    struct libdeflate_compressor *compressors[GF_SEARCHES];
    z_stream inflate;
    bool has_inflate;
    unsigned char scratch[SCRATCH]; /* for what nobody reads */
};

/* Takes all memory, zlib's window too, so that what comes out never depends on what is left of
 * it. */
static GfStatus prepare(GfSqueezer *squeezer)
{
    z_stream *inflater = &squeezer->inflate;
    bool complete = true;
    for (GfSearch search = GF_SEARCH_SHORT; search < GF_SEARCHES; search++) {
        squeezer->compressors[search] = libdeflate_alloc_compressor(levels[search]);
        complete = complete && squeezer->compressors[search];
    }
    squeezer->has_inflate = inflateInit2(inflater, -MAX_WBITS) == Z_OK;
    if (!complete || !squeezer->has_inflate ||
        inflateSetDictionary(inflater, squeezer->scratch, 1 << MAX_WBITS) != Z_OK)
        return gf_fail(GF_EMEMORY, "out of memory (deflate)");
    return GF_OK;
}

GfStatus gf_squeezer_create(GfSqueezer **out)
{
    GfSqueezer *squeezer;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *squeezer, &squeezer));
    GF_GO(prepare(squeezer));
    *out = squeezer;
    return GF_OK;
done:
    gf_squeezer_free(squeezer);
    return status;
}

void gf_squeezer_free(GfSqueezer *squeezer)
{
    if (!squeezer)
        return;
    for (GfSearch search = GF_SEARCH_SHORT; search < GF_SEARCHES; search++)
        libdeflate_free_compressor(squeezer->compressors[search]); /* may be NULL */
    if (squeezer->has_inflate)
        inflateEnd(&squeezer->inflate);
    free(squeezer);
}

/* Finds the bit at which the last block begins, and that behind it. */
static bool find_last(GfSqueezer *squeezer, unsigned char *stream, size_t size, size_t *begin,
                      size_t *end)
{
    z_stream *inflater = &squeezer->inflate;
    if (inflateReset(inflater) != Z_OK)
        return false;
    inflater->data_type = 0; /* which a reset leaves alone */
    inflater->next_in = stream;
    inflater->avail_in = (uInt)size;
    *begin = *end = 0;
    while (!(inflater->data_type & BLOCK_ENDS) || !(inflater->data_type & LAST_BLOCK)) {
        inflater->next_out = squeezer->scratch;
        inflater->avail_out = SCRATCH;
        if (inflate(inflater, Z_BLOCK) != Z_OK)
            return false;
        if (inflater->data_type & BLOCK_ENDS) {
            *begin = *end;
            *end = (size - inflater->avail_in) * 8 - (size_t)(inflater->data_type & UNUSED_BITS);
        }
    }
    return true;
}

size_t gf_squeezed_size(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                        unsigned char *out)
{
    return libdeflate_deflate_compress(squeezer->compressors[search], in, size, out, size);
}

size_t gf_squeeze(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                  unsigned char *out)
{
    static const unsigned char empty[STORED_SIZES] = {0, 0, 0xff, 0xff};
    size_t begin, end;
    size_t made = libdeflate_deflate_compress(squeezer->compressors[search], in, size, out, size);
    if (made == 0 || !find_last(squeezer, out, made, &begin, &end))
        return 0;
    out[begin / 8] = (unsigned char)(out[begin / 8] & ~(1u << begin % 8));
    size_t whole = (end + STORED_TYPE + 7) / 8;
    if (whole > made)
        out[made] = 0;
    memcpy(out + whole, empty, sizeof empty);
    return whole + sizeof empty;
}
