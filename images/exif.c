/* EXIF is a TIFF file without pixels: a byte-order mark, the offset of the first directory (IFD0),
 * and entries of twelve bytes. What matters here are Orientation in IFD0, and the picture's size in
 * the camera's directory, to which an entry of IFD0 leads. No other is entered, so there is no
 * chain that could loop, and every read is checked against the end of the block, which a hostile
 * file controls. */
#include <stdint.h>
#include <string.h>

#include "images/metadata.h"

enum { TIFF_HEADER = 8, ENTRY = 12 };
enum { ORIENTATION = 0x0112, CAMERA = 0x8769, WIDTH = 0xa002, HEIGHT = 0xa003 };
enum { TYPE_SHORT = 3, TYPE_LONG = 4, TYPE_SSHORT = 8, TYPE_SLONG = 9 };

static uint32_t load(const unsigned char *bytes, size_t size, bool big)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[big ? i : size - 1 - i];
    return value;
}

static void store(unsigned char *bytes, size_t size, bool big, size_t value)
{
    for (size_t i = 0; i < size; i++)
        bytes[big ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* An entry of the directory at `place`; NULL when there is none. A directory that claims more
 * entries than the block holds is searched to the end of the block. */
static unsigned char *find_entry(const GfBlob *exif, bool big, size_t place, uint32_t tag)
{
    if (place > exif->size - 2)
        return NULL;
    size_t entries = load(exif->data + place, 2, big);
    for (place += 2; entries > 0 && exif->size - place >= ENTRY; entries--, place += ENTRY)
        if (load(exif->data + place, 2, big) == tag)
            return exif->data + place;
    return NULL;
}

/* An entry of IFD0, and the byte order. */
static unsigned char *find_first(const GfBlob *exif, bool *big, uint32_t tag)
{
    if (exif->size < TIFF_HEADER)
        return NULL;
    *big = memcmp(exif->data, "MM\0*", 4) == 0;
    if (!*big && memcmp(exif->data, "II*\0", 4) != 0)
        return NULL;
    return find_entry(exif, *big, load(exif->data + 4, 4, *big), tag);
}

static unsigned char *find_orientation(const GfBlob *exif, bool *big)
{
    return find_first(exif, big, ORIENTATION);
}

/* Bytes of the entry's value, which stands in its last four bytes; 0 for a type or count that no
 * Orientation or size has. Only SHORT is EXIF's type for the first, but others are written, and
 * read by Pillow, OpenCV and libvips. */
static size_t value_size(const unsigned char *entry, bool big)
{
    uint32_t type = load(entry + 2, 2, big);
    if (load(entry + 4, 4, big) != 1)
        return 0;
    return type == TYPE_SHORT || type == TYPE_SSHORT ? 2
           : type == TYPE_LONG || type == TYPE_SLONG ? 4
                                                     : 0;
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
    store(entry + 8, size, big, 1);
}

/* A number too large for its type becomes a LONG, for which there always is room. */
static void set_number(unsigned char *entry, bool big, size_t number)
{
    size_t size = entry ? value_size(entry, big) : 0;
    if (size == 0)
        return;
    if (size == 2 && number > UINT16_MAX) {
        store(entry + 2, 2, big, TYPE_LONG);
        size = 4;
    }
    store(entry + 8, size, big, number);
}

void gf_exif_set_size(GfBlob *exif, size_t width, size_t height)
{
    bool big;
    const unsigned char *camera = find_first(exif, &big, CAMERA);
    if (!camera || value_size(camera, big) != 4)
        return;
    size_t place = load(camera + 8, 4, big);
    set_number(find_entry(exif, big, place, WIDTH), big, width);
    set_number(find_entry(exif, big, place, HEIGHT), big, height);
}
