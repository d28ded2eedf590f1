/* Where there is no libdeflate: zlib, one level above its usual one, for what joining pieces costs.
 * All searches are that one. */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/memory.h"
#include "images/squeeze.h"

enum { LEVEL = 7, MEMORY = 8 };

struct GfSqueezer {
    z_stream stream;
};

GfStatus gf_squeezer_create(GfSqueezer **out)
{
    GfSqueezer *squeezer;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *squeezer, &squeezer));
    if (deflateInit2(&squeezer->stream, LEVEL, Z_DEFLATED, -MAX_WBITS, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        free(squeezer);
        return gf_fail(GF_EMEMORY, "out of memory (zlib)");
    }
    *out = squeezer;
    return GF_OK;
}

void gf_squeezer_free(GfSqueezer *squeezer)
{
    if (squeezer)
        deflateEnd(&squeezer->stream);
    free(squeezer);
}

size_t gf_squeeze(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                  unsigned char *out)
{
    z_stream *stream = &squeezer->stream;
    (void)search;
    if (deflateReset(stream) != Z_OK)
        return 0;
    stream->next_in = (unsigned char *)(uintptr_t)in;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = (uInt)size;
    if (deflate(stream, Z_SYNC_FLUSH) != Z_OK || stream->avail_in > 0 || stream->avail_out == 0)
        return 0;
    return size - stream->avail_out;
}

size_t gf_squeezed_size(GfSqueezer *squeezer, GfSearch search, const unsigned char *in, size_t size,
                        unsigned char *out)
{
    return gf_squeeze(squeezer, search, in, size, out);
}
