/* What libpng reads of a file. It is strict about pixels and lenient about the rest, but its limits
 * make an over-long ancillary chunk fatal, and it spends memory on chunks nobody asked for. So the
 * bytes pass a small filter first: the read function follows the chunks, leaves out ancillary ones
 * that are not carried or are too large, and brings metadata from behind the pixels to the front,
 * where the file is no pipe. EXIF, gamma and primaries are taken on the way. The chunks of pixels
 * are others than the file's: png_pixels.c. */
#include "images/png_reader.h"

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

void gf_png_take(GfPngReader *state, void *bytes, size_t size)
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
        gf_png_take(state, block, piece);
        size -= piece;
    }
}

bool gf_png_is(const GfPngReader *state, const char *name)
{
    return memcmp(state->header + 4, name, 4) == 0;
}

static bool is_text(const GfPngReader *state)
{
    return gf_png_is(state, "tEXt") || gf_png_is(state, "zTXt") || gf_png_is(state, "iTXt");
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

/* It would make libpng forget the first. */
static bool is_second_profile(const GfPngReader *state)
{
    return gf_png_is(state, "iCCP") && png_get_valid(state->png, state->info, PNG_INFO_iCCP);
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
        if (gf_png_is(state, carried[i]))
            return is_second_profile(state);
    return true;
}

/* Reads the next chunk's header. In front of the first IDAT those of the late chunks come, one
 * after the other, and IDAT's own waits meanwhile. */
static void read_chunk_header(GfPngReader *state)
{
    if (!state->serving_late) {
        gf_png_take(state, state->header, GF_PNG_HEADER);
        if (state->pixels_began || state->late.count == 0 || !gf_png_is(state, "IDAT"))
            return;
        memcpy(state->waiting, state->header, GF_PNG_HEADER);
    }
    state->serving_late = state->late_served < state->late.count;
    if (state->serving_late) {
        state->late_place = state->late.offsets[state->late_served++];
        gf_png_take(state, state->header, GF_PNG_HEADER);
    } else {
        memcpy(state->header, state->waiting, GF_PNG_HEADER);
    }
}

/* Takes an eXIf chunk of less than GF_PNG_CHUNK_MAX bytes; the first that is whole counts. libpng
 * would drop those of writers that put JPEG's "Exif\0\0" before the block. */
static void take_exif(GfPngReader *state, uint32_t length)
{
    enum { NAME = 4, PREFIX = 6 };
    GfBlob *exif = &state->reader->metadata.exif;
    state->status = gf_allocate(1, NAME + (size_t)state->left, &state->exif);
    if (state->status != GF_OK)
        png_error(state->png, gf_message());
    const unsigned char *block = state->exif + NAME, *end = block + length;
    memcpy(state->exif, state->header + 4, NAME);
    gf_png_take(state, state->exif + NAME, state->left);
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

static void set_srgb(GfPngReader *state, const unsigned char *content)
{
    int *intent = &state->reader->metadata.srgb_intent;
    if (*intent < 0 && content[0] < PNG_sRGB_INTENT_LAST)
        *intent = content[0];
}

/* The range is libpng's. */
static void set_gamma(GfPngReader *state, const unsigned char *content)
{
    enum { LEAST = 16, MOST = 625000000 };
    GfMetadata *metadata = &state->reader->metadata;
    png_uint_32 gamma = png_get_uint_32(content);
    if (!(metadata->gamma > 0.0) && gamma >= LEAST && gamma <= MOST)
        metadata->gamma = gamma / 1e5;
}

/* libpng judges them, apart from the picture's colours. */
static void set_chromaticities(GfPngReader *state, const unsigned char *content)
{
    GfMetadata *metadata = &state->reader->metadata;
    png_fixed_point c[8];
    for (size_t i = 0; i < 8; i++)
        c[i] = png_get_int_32(content + 4 * i);
    png_destroy_info_struct(state->png, &state->trial);
    state->trial = png_create_info_struct(state->png);
    if (!state->trial)
        png_error(state->png, "Out of memory");
    png_set_cHRM_fixed(state->png, state->trial, c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]);
    if (metadata->has_chromaticities || !png_get_valid(state->png, state->trial, PNG_INFO_cHRM))
        return;
    metadata->has_chromaticities = true;
    for (size_t i = 0; i < 8; i++)
        metadata->chromaticities[i] = c[i] / 1e5;
}

/* Chunks of gamma and primaries (PNG 1.2, 4.2.2). libpng forgets all it knows of a picture's
 * colours, the profile too, where one comes twice, is nonsense, or stands in front of a profile;
 * so they are taken here, the first of each that is whole and makes sense. */
static const struct ColourChunk {
    const char *name;
    uint32_t size;
    void (*set)(GfPngReader *state, const unsigned char *content);
} colour_chunks[] = {
    {"sRGB", 1, set_srgb}, {"gAMA", 4, set_gamma}, {"cHRM", 32, set_chromaticities}};

static const struct ColourChunk *find_colour(const GfPngReader *state, uint32_t length)
{
    for (size_t i = 0; i < sizeof colour_chunks / sizeof *colour_chunks; i++)
        if (length == colour_chunks[i].size && gf_png_is(state, colour_chunks[i].name))
            return &colour_chunks[i];
    return NULL;
}

static void take_colour(GfPngReader *state, const struct ColourChunk *chunk)
{
    enum { NAME = 4, LONGEST = 32 };
    unsigned char bytes[NAME + LONGEST + GF_PNG_CHECKSUM];
    memcpy(bytes, state->header + 4, NAME);
    gf_png_take(state, bytes + NAME, state->left);
    if (gf_crc32(bytes, NAME + chunk->size) == png_get_uint_32(bytes + NAME + chunk->size))
        chunk->set(state, bytes + NAME);
}

/* Takes a chunk that libpng is not to see, behind IHDR, as they must be; false for others. */
static bool take(GfPngReader *state, uint32_t length)
{
    const struct ColourChunk *colour = find_colour(state, length);
    const bool exif = gf_png_is(state, "eXIf") && length < GF_PNG_CHUNK_MAX;
    if ((!exif && !colour) || png_get_image_width(state->png, state->info) == 0)
        return false;
    if (exif)
        take_exif(state, length);
    else
        take_colour(state, colour);
    return true;
}

/* Goes on to the next chunk that libpng is to see. */
void gf_png_next_chunk(GfPngReader *state)
{
    for (;;) {
        read_chunk_header(state);
        uint32_t length = png_get_uint_32(state->header);
        state->left = (uint64_t)length + 4;
        state->animated |= gf_png_is(state, "acTL");
        state->profiled |= gf_png_is(state, "iCCP");
        state->coded |= gf_png_is(state, "cICP");
        if (left_out(state, length))
            skip(state, state->left);
        else if (!take(state, length))
            break;
    }
    state->pixels_began |= gf_png_is(state, "IDAT");
}

void gf_png_read_bytes(png_structp png, png_bytep bytes, size_t size)
{
    GfPngReader *state = png_get_io_ptr(png);
    const bool between = state->pixels.inside ? gf_png_pixels_served(state)
                                              : state->signature_read && state->left == 0;
    if (between && size == GF_PNG_HEADER && !gf_png_next_shown(state)) {
        memcpy(bytes, state->header, GF_PNG_HEADER);
    } else if (state->pixels.inside) {
        gf_png_serve_pixels(state, bytes, size);
    } else {
        gf_png_take(state, bytes, size);
        if (state->signature_read)
            state->left -= size < state->left ? size : state->left;
        state->signature_read = true;
    }
}
