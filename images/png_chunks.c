/* What libpng reads of a file. It is strict about pixels and lenient about the rest, but its limits make an
 * over-long ancillary chunk fatal, and it spends memory on chunks nobody asked for. So the bytes pass a small
 * filter first: the read function follows the chunks, leaves out ancillary ones that are not carried or are too
 * large, and brings metadata from behind the pixels to the front, where the file is no pipe.
 *
 * Inflating the pixels by zlib, as libpng does, is five sixths of reading a picture. So they are inflated here
 * (inflate.h), and libpng is shown chunks of the same bytes stored without compression, which cost zlib a copy. The
 * stream's header says that no string is further away than 256 bytes, as there are none: so zlib keeps no copy
 * of the last 32,768. Checksums are looked at here; all else about pixels stays libpng's. */
#include "images/png_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/checksum.h"

/* Once is enough: every IDAT chunk of a file may have its checksum wrong. */
void gf_png_note_damage(GfPngReader *state, const char *text)
{
    if (!state->noted)
        gf_reader_note(state->reader, "damage accepted: %s", text);
    state->noted = true;
}

/* ---- bytes and chunks ---- */

static void take(GfPngReader *state, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    if (state->serving_late) {
        state->status = gf_input_read_at(state->input, bytes, size, state->late_place);
        if (state->status != GF_OK)
            png_error(state->png, gf_message());
        state->late_place += size;
        return;
    }
    while (size > 0) {
        size_t got;
        state->status = gf_input_read(state->input, to, size, &got);
        if (state->status != GF_OK)
            png_error(state->png, gf_message());
        state->cut = got == 0;
        if (state->cut)
            png_error(state->png, "the file is cut short");
        to += got;
        size -= got;
    }
}

static void skip(GfPngReader *state, uint64_t size)
{
    unsigned char block[4096];
    while (size > 0) {
        size_t piece = size < sizeof block ? (size_t)size : sizeof block;
        take(state, block, piece);
        size -= piece;
    }
}

static bool is(const GfPngReader *state, const char *name)
{
    return memcmp(state->header + 4, name, 4) == 0;
}

static bool is_text(const GfPngReader *state)
{
    return is(state, "tEXt") || is(state, "zTXt") || is(state, "iTXt");
}

/* Bytes that the texts to come may still take. One deflated kilobyte can become a megabyte of text,
 * so it is the text in memory that is counted. */
static size_t text_budget(GfPngReader *state)
{
    png_textp texts;
    int count = 0;
    png_get_text(state->png, state->info, &texts, &count);
    for (; state->texts_counted < count; state->texts_counted++) {
        const png_text *text = &texts[state->texts_counted];
        state->text_bytes += text->text_length + text->itxt_length;
        state->text_bytes += text->lang_key ? strlen(text->lang_key) : 0;
        state->text_bytes += text->lang ? strlen(text->lang) : 0;
    }
    bool room = count < GF_PNG_TEXTS_MAX && state->text_bytes < GF_PNG_CHUNK_MAX;
    return room ? GF_PNG_CHUNK_MAX - state->text_bytes : 0;
}

/* Whether libpng shall not see the chunk in state->header. Critical chunks and names that are no
 * names (not four letters) are libpng's to judge. */
static bool left_out(GfPngReader *state, uint32_t length)
{
    static const char *const carried[] = {"tRNS", "iCCP", "eXIf", "pHYs", "gAMA",
                                          "cHRM", "sRGB", "tEXt", "zTXt", "iTXt"};
    const unsigned char *name = state->header + 4;
    png_set_chunk_malloc_max(state->png, GF_PNG_CHUNK_MAX);
    for (size_t i = 0; i < 4; i++)
        if ((name[i] | 0x20) < 'a' || (name[i] | 0x20) > 'z')
            return false;
    bool ancillary = name[0] & 0x20;
    if (!ancillary || length > PNG_UINT_31_MAX)
        return false;
    size_t limit = is_text(state) ? text_budget(state) : GF_PNG_CHUNK_MAX;
    if (state->pixels_began || length >= limit)
        return true;
    png_set_chunk_malloc_max(state->png, limit);
    for (size_t i = 0; i < sizeof carried / sizeof carried[0]; i++)
        if (is(state, carried[i]))
            return false;
    return true;
}

/* Reads the next chunk's header. In front of the first IDAT those of the late chunks come, one after
 * the other, and IDAT's own waits meanwhile. */
static void read_chunk_header(GfPngReader *state)
{
    if (!state->serving_late) {
        take(state, state->header, GF_PNG_HEADER);
        if (state->pixels_began || state->late.count == 0 || !is(state, "IDAT"))
            return;
        memcpy(state->waiting, state->header, GF_PNG_HEADER);
    }
    state->serving_late = state->late_served < state->late.count;
    if (state->serving_late) {
        state->late_place = state->late.offsets[state->late_served++];
        take(state, state->header, GF_PNG_HEADER);
    } else {
        memcpy(state->header, state->waiting, GF_PNG_HEADER);
    }
}

/* Takes an eXIf chunk of less than GF_PNG_CHUNK_MAX bytes; the first that is whole counts. libpng would drop
 * those of writers that put JPEG's "Exif\0\0" before the block. */
static void take_exif(GfPngReader *state, uint32_t length)
{
    enum { NAME = 4, PREFIX = 6 };
    GfBlob *exif = &state->reader->metadata.exif;
    state->status = gf_allocate(1, NAME + (size_t)state->left, &state->exif);
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
    const unsigned char *block = state->exif + NAME, *end = block + length;
    memcpy(state->exif, state->header + 4, NAME);
    take(state, state->exif + NAME, state->left);
    bool whole = gf_crc32(state->exif, NAME + length) == png_get_uint_32(end);
    if (length >= PREFIX && memcmp(block, "Exif\0\0", PREFIX) == 0)
        block += PREFIX;
    bool order = end - block >= 2 && (memcmp(block, "II", 2) == 0 || memcmp(block, "MM", 2) == 0);
    if (whole && order && !exif->data)
        state->status = gf_blob_set(exif, block, (size_t)(end - block));
    free(state->exif);
    state->exif = NULL;
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
}

/* Goes on to the next chunk that libpng is to see. */
static void next_chunk(GfPngReader *state)
{
    for (;;) {
        read_chunk_header(state);
        uint32_t length = png_get_uint_32(state->header);
        state->left = (uint64_t)length + 4;
        state->animated |= is(state, "acTL");
        if (left_out(state, length))
            skip(state, state->left);
        else if (is(state, "eXIf") && length < GF_PNG_CHUNK_MAX &&
                 png_get_image_width(state->png, state->info) > 0) /* behind IHDR, as it must be */
            take_exif(state, length);
        else
            break;
    }
    state->pixels_began |= is(state, "IDAT");
}

/* ---- pixels ---- */

static bool is_pixels(const GfPngReader *state)
{
    return is(state, "IDAT") && png_get_uint_32(state->header) <= PNG_UINT_31_MAX;
}

/* libpng looks at checksums where it is shown the file's own chunks, and nowhere else. */
static void enter_pixels(GfPngReader *state)
{
    GfPngPixels *pixels = &state->pixels;
    if (!pixels->inflater)
        state->status = gf_inflater_create(&pixels->inflater);
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
    pixels->inside = true;
    pixels->checksum = gf_crc32(state->header + 4, 4);
    png_set_crc_action(state->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    png_set_option(state->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
}

static void leave_pixels(GfPngReader *state)
{
    const int action = state->tolerant ? PNG_CRC_WARN_USE : PNG_CRC_DEFAULT;
    state->pixels.inside = false;
    png_set_crc_action(state->png, action, PNG_CRC_NO_CHANGE);
}

static bool can_refill(const GfPngReader *state)
{
    return state->left > GF_PNG_CHECKSUM && !state->pixels.cut;
}

/* Reads more of the file's chunk; of one that is cut short what there is. */
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

/* Inflates what there is of the file's chunk, GF_PNG_STORED_MAX bytes at most. */
static size_t inflate_some(GfPngReader *state, unsigned char *out)
{
    GfPngPixels *pixels = &state->pixels;
    size_t made = 0;
    while (made < GF_PNG_STORED_MAX && !pixels->ended && !pixels->broken) {
        if (pixels->waiting == 0 && can_refill(state))
            refill(state);
        const size_t waited = pixels->waiting;
        const char *reason = NULL;
        size_t more;
        const GfInflated inflated =
            gf_inflate(pixels->inflater, &pixels->at, &pixels->waiting, out + made,
                       GF_PNG_STORED_MAX - made, &more, &reason);
        pixels->ended = inflated == GF_INFLATED_ALL;
        pixels->broken = inflated == GF_INFLATED_BROKEN;
        if (pixels->broken)
            snprintf(pixels->reason, sizeof pixels->reason, "IDAT: %s", reason);
        made += more;
        if (more == 0 && pixels->waiting == waited && !can_refill(state))
            break;
    }
    return made;
}

static unsigned char *put(unsigned char *to, const unsigned char *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

/* Makes a chunk for libpng of what there is of the file's. False where that is nothing. */
static bool store_pixels(GfPngReader *state)
{
    static const unsigned char begin[] = {0x08, 0x1d}; /* zlib's: strings within 256 bytes */
    static const unsigned char last[] = {1, 0, 0, 0xff, 0xff}, checksum[GF_PNG_CHECKSUM];
    static const unsigned char invalid[] = {7}; /* a block of no type */
    GfPngPixels *pixels = &state->pixels;
    unsigned char *const data = pixels->chunk + GF_PNG_HEADER, *to = data;
    const bool over = pixels->ended || pixels->broken;
    if (!pixels->shown)
        to = put(to, begin, sizeof begin);
    const size_t made = inflate_some(state, to + sizeof last);
    if (made > 0) {
        const unsigned char low = made & 0xff, high = (unsigned char)(made >> 8);
        const unsigned char block[] = {0, low, high, low ^ 0xff, high ^ 0xff};
        to = put(to, block, sizeof block) + made;
    }
    if (pixels->broken && !over) {
        to = put(to, invalid, sizeof invalid);
    } else if (pixels->ended && !over) {
        to = put(to, last, sizeof last);
        to = put(to, checksum, sizeof checksum);
        if (pixels->waiting > 0 || can_refill(state))
            *to++ = 0; /* for libpng to find, and tell */
    }
    pixels->shown = true;
    pixels->served = 0;
    pixels->size = GF_PNG_HEADER + (size_t)(to - data) + GF_PNG_CHECKSUM;
    png_save_uint_32(pixels->chunk, (png_uint_32)(to - data));
    memcpy(pixels->chunk + 4, "IDAT", 4);
    put(to, checksum, sizeof checksum);
    return to > data;
}

/* Goes on to the file's next chunk, at the end of one of which all has been shown. */
static void finish_pixels(GfPngReader *state)
{
    GfPngPixels *pixels = &state->pixels;
    unsigned char checksum[GF_PNG_CHECKSUM];
    while (can_refill(state)) /* behind the stream */
        refill(state);
    pixels->waiting = 0;
    state->cut = pixels->cut;
    if (state->cut)
        png_error(state->png, "the file is cut short");
    take(state, checksum, sizeof checksum);
    if (png_get_uint_32(checksum) != pixels->checksum) {
        if (!state->tolerant)
            png_error(state->png, "IDAT: CRC error");
        gf_png_note_damage(state, "IDAT: CRC error");
    }
    next_chunk(state);
    pixels->checksum = gf_crc32(state->header + 4, 4);
}

/* The next chunk for libpng: true where it is one of pixels, in state->pixels.chunk, false where it is the file's
 * own, whose header is in state->header. */
static bool next_shown(GfPngReader *state)
{
    if (!state->pixels.inside)
        next_chunk(state);
    while (is_pixels(state)) {
        if (!state->pixels.inside)
            enter_pixels(state);
        if (store_pixels(state))
            return true;
        finish_pixels(state);
    }
    if (state->pixels.inside)
        leave_pixels(state);
    return false;
}

/* ---- what libpng calls ---- */

void gf_png_read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    GfPngReader *state = png_get_io_ptr(png);
    GfPngPixels *pixels = &state->pixels;
    const bool between =
        pixels->inside ? pixels->served == pixels->size : state->signature_read && state->left == 0;
    if (between && size == GF_PNG_HEADER && !next_shown(state)) {
        memcpy(bytes, state->header, GF_PNG_HEADER);
        return;
    }
    if (pixels->inside) {
        memcpy(bytes, pixels->chunk + pixels->served, size);
        pixels->served += size;
        return;
    }
    take(state, bytes, size);
    if (state->signature_read)
        state->left -= size < state->left ? size : state->left;
    state->signature_read = true;
}
