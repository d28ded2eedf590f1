#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/memory.h"
#include "images/inflate.h"

struct GfInflater {
    z_stream stream;
};

GfStatus gf_inflater_create(GfInflater **inflater)
{
    GF_TRY(gf_allocate_zero(1, sizeof **inflater, inflater));
    if (inflateInit(&(*inflater)->stream) == Z_OK)
        return GF_OK;
    free(*inflater);
    *inflater = NULL;
    return gf_fail(GF_EMEMORY, "out of memory (inflate)");
}

void gf_inflater_free(GfInflater *inflater)
{
    if (inflater)
        inflateEnd(&inflater->stream);
    free(inflater);
}

GfInflated gf_inflate(GfInflater *inflater, const unsigned char **in, size_t *size,
                      unsigned char *out, size_t room, size_t *made, const char **reason)
{
    z_stream *stream = &inflater->stream;
    stream->next_in = (unsigned char *)(uintptr_t)*in;
    stream->avail_in = (uInt)*size;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    const int error = inflate(stream, Z_NO_FLUSH);
    *in = stream->next_in;
    *size = stream->avail_in;
    *made = room - stream->avail_out;
    if (error == Z_STREAM_END)
        return GF_INFLATED_ALL;
    if (error == Z_OK || error == Z_BUF_ERROR)
        return GF_INFLATED_SOME;
    *reason = error == Z_NEED_DICT   ? "missing dictionary"
              : error == Z_MEM_ERROR ? "insufficient memory"
              : stream->msg          ? stream->msg
                                     : "damaged stream";
    return GF_INFLATED_BROKEN;
}
