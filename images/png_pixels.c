/* The chunks of pixels that libpng is shown instead of the file's.
 *
 * libpng inflates by zlib and, as Debian builds it, undoes most row filters byte by byte: nine
 * tenths of reading a picture. Both are done here in a third or less of the time (png_lines.h), and
 * libpng is shown chunks of the rows stored, not compressed, and not filtered, which cost it a
 * copy; all else about pixels stays libpng's. The stream that it is shown says of itself that no
 * string is more than 256 bytes away, as there are none: so zlib keeps no copy of the last 32,768.
 * Checksums of the file are looked at here. */
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "images/checksum.h"
#include "images/png_reader.h"

static bool is_pixels(const GfPngReader *state)
{
    return gf_png_is(state, "IDAT") && png_get_uint_32(state->header) <= PNG_UINT_31_MAX;
}

/* ---- the file's chunks ---- */

static void begin_chunk(GfPngReader *state)
{
    state->pixels.checksum = gf_crc32(state->header + 4, 4);
    state->pixels.waiting = 0;
}

static bool can_refill(const GfPngReader *state)
{
    return state->left > GF_PNG_CHECKSUM && !state->pixels.cut;
}

/* Reads more of the chunk; of one that is cut short what there is. */
static void refill(GfPngReader *state)
{
    GfPngPixels *pixels = &state->pixels;
    const uint64_t left = state->left - GF_PNG_CHECKSUM;
    const size_t size = left < sizeof pixels->in ? (size_t)left : sizeof pixels->in;
    size_t filled = 0, got = 1;
    for (; filled < size && got > 0; filled += got) {
        state->status = gf_input_read(state->input, pixels->in + filled, size - filled, &got);
        if (state->status != GF_OK)
            png_error(state->png, gf_message());
    }
    pixels->cut = filled < size;
    pixels->checksum = gf_crc32_more(pixels->checksum, pixels->in, filled);
    pixels->at = pixels->in;
    pixels->waiting = filled;
    state->left -= filled;
}

/* From the end of a chunk, of which all was shown, to the next one. */
static void finish_chunk(GfPngReader *state)
{
    unsigned char checksum[GF_PNG_CHECKSUM];
    while (can_refill(state)) /* behind the stream */
        refill(state);
    gf_png_take(state, checksum, sizeof checksum);
    if (png_get_uint_32(checksum) != state->pixels.checksum) {
        if (!state->tolerant)
            png_error(state->png, "IDAT: CRC error");
        gf_png_note_damage(state, "IDAT: CRC error");
    }
    gf_png_next_chunk(state);
    begin_chunk(state);
}

/* ---- those for libpng ---- */

/* It looks at checksums where it is shown the file's own chunks, and nowhere else. */
static void enter(GfPngReader *state)
{
    state->pixels.inside = true;
    begin_chunk(state);
    png_set_crc_action(state->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    png_set_option(state->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
}

static void leave(GfPngReader *state)
{
    const int action = state->tolerant ? PNG_CRC_WARN_USE : PNG_CRC_DEFAULT;
    state->pixels.inside = false;
    png_set_crc_action(state->png, action, PNG_CRC_NO_CHANGE);
}

static void begin_stream(GfPngReader *state)
{
    const size_t lines = state->interlaced ? 0 : png_get_image_height(state->png, state->info);
    state->status = gf_png_lines_create(state->line, state->pixel, lines, &state->pixels.lines);
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
}

/* Takes some of what there is of the file's chunk, which is inflated as long as there is nothing to
 * take. */
static const unsigned char *take_some(GfPngReader *state, size_t *size)
{
    GfPngPixels *pixels = &state->pixels;
    const unsigned char *bytes;
    bool progress = true;
    while ((bytes = gf_png_lines_take(pixels->lines, GF_PNG_STORED_MAX, size)), *size == 0) {
        const char *reason = NULL;
        if (pixels->ended || pixels->broken ||
            (!progress && (pixels->waiting > 0 || !can_refill(state))))
            break;
        if (pixels->waiting == 0 && can_refill(state))
            refill(state);
        const GfInflated inflated =
            gf_png_lines_inflate(pixels->lines, &pixels->at, &pixels->waiting, &progress, &reason);
        pixels->ended = inflated == GF_INFLATED_ALL;
        pixels->broken = inflated == GF_INFLATED_BROKEN;
        if (pixels->broken)
            snprintf(pixels->reason, sizeof pixels->reason, "IDAT: %s", reason);
    }
    return bytes;
}

static void add(GfPngPart *part, const unsigned char *bytes, size_t size)
{
    memcpy(part->own + part->size, bytes, size);
    part->size += size;
}

/* What a chunk says of the stream's end: its last block and a checksum, or a block of no type where
 * the stream is broken, for libpng to find what it would have found; and a byte more where the file
 * has more. */
static void add_end(GfPngReader *state)
{
    static const unsigned char last[] = {1, 0, 0, 0xff, 0xff, 0, 0, 0, 0}, invalid[] = {7};
    GfPngPixels *pixels = &state->pixels;
    if (pixels->broken)
        add(&pixels->tail, invalid, sizeof invalid);
    else
        add(&pixels->tail, last, sizeof last);
    if (pixels->ended && (pixels->waiting > 0 || can_refill(state)))
        add(&pixels->tail, last, 1);
    pixels->closed = true;
}

/* Fills the chunk's parts. False where there is nothing left of the file's chunk. Before the first
 * row is asked for, the picture's size may be beyond all limits: no more than the stream's first
 * bytes is shown. */
static bool fill_chunk(GfPngReader *state)
{
    static const unsigned char stream[] = {0x08, 0x1d};
    GfPngPixels *pixels = &state->pixels;
    if (!pixels->shown) {
        add(&pixels->head, stream, sizeof stream);
        pixels->shown = true;
        return true;
    }
    if (!pixels->lines)
        begin_stream(state);
    pixels->body = take_some(state, &pixels->size);
    if (pixels->size > 0) {
        const unsigned char low = pixels->size & 0xff, high = (unsigned char)(pixels->size >> 8);
        const unsigned char block[] = {0, low, high, low ^ 0xff, high ^ 0xff};
        add(&pixels->head, block, sizeof block);
        return true;
    }
    const bool over = (pixels->ended || pixels->broken) && !pixels->closed;
    if (over)
        add_end(state);
    return over;
}

static bool make_chunk(GfPngReader *state)
{
    static const unsigned char checksum[GF_PNG_CHECKSUM];
    GfPngPixels *pixels = &state->pixels;
    pixels->head.size = GF_PNG_HEADER;
    pixels->tail.size = pixels->size = pixels->served = 0;
    if (!fill_chunk(state))
        return false;
    const size_t length = pixels->head.size - GF_PNG_HEADER + pixels->size + pixels->tail.size;
    png_save_uint_32(pixels->head.own, (png_uint_32)length);
    memcpy(pixels->head.own + 4, "IDAT", 4);
    add(&pixels->tail, checksum, sizeof checksum);
    return true;
}

bool gf_png_next_shown(GfPngReader *state)
{
    if (!state->pixels.inside)
        gf_png_next_chunk(state);
    while (is_pixels(state)) {
        if (!state->pixels.inside)
            enter(state);
        if (make_chunk(state))
            return true;
        finish_chunk(state);
    }
    if (state->pixels.inside)
        leave(state);
    return false;
}

bool gf_png_pixels_served(const GfPngReader *state)
{
    const GfPngPixels *pixels = &state->pixels;
    return pixels->served == pixels->head.size + pixels->size + pixels->tail.size;
}

void gf_png_serve_pixels(GfPngReader *state, unsigned char *to, size_t size)
{
    GfPngPixels *pixels = &state->pixels;
    const unsigned char *const parts[] = {pixels->head.own, pixels->body, pixels->tail.own};
    const size_t sizes[] = {pixels->head.size, pixels->size, pixels->tail.size};
    size_t at = pixels->served;
    for (size_t i = 0; i < 3; i++) {
        const size_t piece = at < sizes[i] ? gf_min(sizes[i] - at, size) : 0;
        if (piece > 0)
            memcpy(to, parts[i] + at, piece);
        at -= gf_min(at, sizes[i]);
        to += piece;
        size -= piece;
        pixels->served += piece;
    }
}
