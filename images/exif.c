/* EXIF is a TIFF file without pixels: a byte-order mark, the offset of the first directory (IFD0),
 * and entries of twelve bytes. Only one entry matters here, Orientation (0x0112) of IFD0.
 * Directories after it (the thumbnail's, the camera's) are never entered, so there is no chain that
 * could loop, and every read is checked against the end of the block, which a hostile file
 * controls. */
#include <stdint.h>
#include <string.h>

#include "images/metadata.h"

enum { TIFF_HEADER = 8, ENTRY = 12, ORIENTATION = 0x0112, TYPE_SHORT = 3, TYPE_LONG = 4 };

static uint32_t load(const unsigned char *bytes, size_t size, bool big)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[big ? i : size - 1 - i];
    return value;
}

/* The Orientation entry of IFD0, and the byte order; NULL when there is none. A directory that
 * claims more entries than the block holds is searched to the end of the block. */
static unsigned char *find_orientation(const GfBlob *exif, bool *big)
{
    if (exif->size < TIFF_HEADER)
        return NULL;
    *big = memcmp(exif->data, "MM\0*", 4) == 0;
    if (!*big && memcmp(exif->data, "II*\0", 4) != 0)
        return NULL;
    size_t place = load(exif->data + 4, 4, *big);
    if (place > exif->size - 2)
        return NULL;
    size_t entries = load(exif->data + place, 2, *big);
    for (place += 2; entries > 0 && exif->size - place >= ENTRY; entries--, place += ENTRY)
        if (load(exif->data + place, 2, *big) == ORIENTATION)
            return exif->data + place;
    return NULL;
}

/* Bytes of the entry's value, which stands in its last four bytes; 0 for a type or count that no
 * Orientation has. LONG is not EXIF's type for it, but is written by some cameras. */
static size_t value_size(const unsigned char *entry, bool big)
{
    uint32_t type = load(entry + 2, 2, big);
    if (load(entry + 4, 4, big) != 1)
        return 0;
    return type == TYPE_SHORT ? 2 : type == TYPE_LONG ? 4 : 0;
}

unsigned gf_exif_orientation(const GfBlob *exif)
{
    bool big;
    const unsigned char *entry = find_orientation(exif, &big);
    if (!entry)
        return 1;
    uint32_t value = load(entry + 8, value_size(entry, big), big);
    return value >= 1 && value <= 8 ? (unsigned)value : 1;
}

void gf_exif_reset_orientation(GfBlob *exif)
{
    bool big;
    unsigned char *entry = find_orientation(exif, &big);
    size_t size = entry ? value_size(entry, big) : 0;
    if (size == 0)
        return;
    memset(entry + 8, 0, size);
    entry[8 + (big ? size - 1 : 0)] = 1;
}
