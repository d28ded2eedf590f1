/* Where there is no ISA-L. */
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/memory.h"
#include "images/deflate.h"

enum { MEMORY = 8 };

struct GfDeflater {
    z_stream stream;
};

GfStatus gf_deflater_create(GfDeflater **deflater)
{
    GF_TRY(gf_allocate_zero(1, sizeof **deflater, deflater));
    if (deflateInit2(&(*deflater)->stream, 1, Z_DEFLATED, -MAX_WBITS, MEMORY, Z_FILTERED) == Z_OK)
        return GF_OK;
    free(*deflater);
    *deflater = NULL;
    return gf_fail(GF_EMEMORY, "out of memory (zlib)");
}

void gf_deflater_free(GfDeflater *deflater)
{
    if (deflater)
        deflateEnd(&deflater->stream);
    free(deflater);
}

size_t gf_deflate(GfDeflater *deflater, const unsigned char *in, size_t size, unsigned char *out)
{
    z_stream *stream = &deflater->stream;
    size_t room = gf_deflate_bound(size);
    stream->next_in = (unsigned char *)(uintptr_t)in;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    if (deflateReset(stream) != Z_OK || deflate(stream, Z_SYNC_FLUSH) != Z_OK ||
        stream->avail_in > 0 || stream->avail_out == 0)
        return gf_deflate_store(in, size, out);
    return room - stream->avail_out;
}
