/* ISA-L's level 1: of the libraries that Debian has the fastest on filtered rows (twice as fast as
 * libdeflate's, five times as zlib's), and smaller than zlib's level 1. A flush after each piece
 * ends it at a byte; what ISA-L would make larger than it was is stored.
 *
 * Without history ISA-L (2.30) files the third byte under a hash of the stream's address instead of
 * its own, and where that is the place of one of the first three, other strings are found. So a
 * piece's first byte is stored, and is the history of the others. */
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/memory.h"
#include "images/deflate.h"

struct GfDeflater {
    struct isal_zstream stream;
    unsigned char level[ISAL_DEF_LVL1_DEFAULT];
};

GfStatus gf_deflater_create(GfDeflater **deflater)
{
    return gf_allocate_zero(1, sizeof **deflater, deflater);
}

void gf_deflater_free(GfDeflater *deflater)
{
    free(deflater);
}

size_t gf_deflate(GfDeflater *deflater, const unsigned char *in, size_t size, unsigned char *out)
{
    struct isal_zstream *stream = &deflater->stream;
    unsigned char *from = (unsigned char *)(uintptr_t)in;
    size_t stored = gf_min(size, 1), room = gf_deflate_bound(size);
    size_t made = gf_deflate_store(in, stored, out);
    isal_deflate_init(stream);
    stream->level = 1;
    stream->level_buf = deflater->level;
    stream->level_buf_size = sizeof deflater->level;
    stream->flush = SYNC_FLUSH;
    stream->next_in = from + stored;
    stream->avail_in = (uint32_t)(size - stored);
    stream->next_out = out + made;
    stream->avail_out = (uint32_t)(room - made);
    if (isal_deflate_set_dict(stream, from, (uint32_t)stored) != COMP_OK ||
        isal_deflate(stream) != COMP_OK || stream->avail_in > 0 || stream->avail_out == 0)
        return gf_deflate_store(in, size, out);
    return room - stream->avail_out;
}
