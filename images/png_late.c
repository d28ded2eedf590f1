/* Many programs write text and EXIF behind the pixels, but an orientation must be known before the
 * first row is given out, and text before the output's header is written. So the chunks' headers
 * are walked once, ahead of the pixels: 8 bytes each, nothing is decoded. */
#include "images/png_late.h"

#include <string.h>

enum { SIGNATURE = 8, HEADER = 8, CHECKSUM = 4, MOST_CHUNKS = 100000 };

static uint32_t big_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static bool is_text(const unsigned char *name)
{
    static const char *const names[] = {"tEXt", "zTXt", "iTXt"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (memcmp(name, names[i], 4) == 0)
            return true;
    return false;
}

void gf_png_find_late(GfInput *input, GfPngLate *late)
{
    uint64_t size, place = SIGNATURE;
    unsigned char header[HEADER];
    bool pixels_began = false;
    size_t texts = 0, exifs = 0;
    late->count = 0;
    if (!gf_input_size(input, &size))
        return;
    for (size_t i = 0; i < MOST_CHUNKS; i++) {
        if (place + HEADER > size || gf_input_read_at(input, header, HEADER, place) != GF_OK)
            return;
        uint64_t next = place + HEADER + big_endian(header) + CHECKSUM;
        if (next > size || memcmp(header + 4, "IEND", 4) == 0)
            return;
        pixels_began |= memcmp(header + 4, "IDAT", 4) == 0;
        bool is_exif = exifs < GF_PNG_EXIFS_MAX && memcmp(header + 4, "eXIf", 4) == 0;
        bool wanted = is_exif || (texts < GF_PNG_TEXTS_MAX && is_text(header + 4));
        if (pixels_began && wanted) {
            late->offsets[late->count++] = place;
            exifs += is_exif;
            texts += !is_exif;
        }
        place = next;
    }
}
