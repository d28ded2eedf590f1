#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/inflate.h"

struct GfInflater {
    struct inflate_state stream;
    const char *broken;
    const unsigned char *rest; /* what was inflated before, and found no room yet */
    size_t left;
};

GfStatus gf_inflater_create(GfInflater **inflater)
{
    GF_TRY(gf_allocate_zero(1, sizeof **inflater, inflater));
    isal_inflate_init(&(*inflater)->stream);
    (*inflater)->stream.crc_flag = ISAL_ZLIB;
    return GF_OK;
}

void gf_inflater_free(GfInflater *inflater)
{
    free(inflater);
}

static const char *name_error(int error)
{
    switch (error) {
    case ISAL_INVALID_BLOCK:
        return "invalid block";
    case ISAL_INVALID_SYMBOL:
        return "invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "invalid distance too far back";
    case ISAL_INVALID_WRAPPER:
        return "incorrect header check";
    case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM: /* of the data, or of the stream's two first bytes */
        return "incorrect checksum";
    case ISAL_NEED_DICT:
        return "missing dictionary";
    default:
        return "damaged stream";
    }
}

/* ISA-L (2.30) keeps what does not fit, and does not give it out after an error; and the last that
 * it made before a distance too far back is a string of that distance, whatever stands there. */
static void end_broken(GfInflater *inflater, int error, size_t *made)
{
    const struct inflate_state *stream = &inflater->stream;
    inflater->broken = name_error(error);
    inflater->rest = stream->tmp_out_buffer + stream->tmp_out_processed;
    inflater->left = (size_t)(stream->tmp_out_valid - stream->tmp_out_processed);
    size_t wrong = error == ISAL_INVALID_LOOKBACK ? ISAL_LOOK_AHEAD : 0;
    const size_t kept = gf_min(wrong, inflater->left);
    inflater->left -= kept;
    wrong -= kept;
    *made -= gf_min(wrong, *made);
}

GfInflated gf_inflate(GfInflater *inflater, const unsigned char **in, size_t *size,
                      unsigned char *out, size_t room, size_t *made, const char **reason)
{
    struct inflate_state *stream = &inflater->stream;
    *made = 0;
    if (!inflater->broken) {
        stream->next_in = (unsigned char *)(uintptr_t)*in;
        stream->avail_in = (uint32_t)*size;
        stream->next_out = out;
        stream->avail_out = (uint32_t)room;
        const int error = isal_inflate(stream);
        const bool broken = error < ISAL_DECOMP_OK || error == ISAL_NEED_DICT;
        *size = broken ? 0 : stream->avail_in; /* where it is broken that is no number */
        *in = stream->next_in;
        *made = room - stream->avail_out;
        if (broken) {
            end_broken(inflater, error, made);
        } else if (stream->block_state == ISAL_BLOCK_FINISH) {
            *size += (size_t)stream->read_in_length / 8; /* which it has read, and not used */
            return GF_INFLATED_ALL;
        }
    }
    if (!inflater->broken)
        return GF_INFLATED_SOME;
    const size_t more = gf_min(inflater->left, room - *made);
    memcpy(out + *made, inflater->rest, more);
    inflater->rest += more;
    inflater->left -= more;
    *made += more;
    *reason = inflater->broken;
    return inflater->left > 0 ? GF_INFLATED_SOME : GF_INFLATED_BROKEN;
}
