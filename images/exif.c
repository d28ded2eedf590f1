/* EXIF is a TIFF file without pixels: a byte-order mark, the offset of the first directory (IFD0),
 * and entries of twelve bytes, then the offset of the next directory. What matters here are
 * Orientation in IFD0, the picture's size and resolution there and in the camera's directory, to
 * which an entry of IFD0 leads, and the thumbnail, of which the directory behind IFD0 tells. No
 * other is entered, so there is no chain that could loop, and every read is checked against the end
 * of the block, which a hostile file controls. */
#include <stdint.h>
#include <string.h>

#include "common/memory.h"
#include "images/metadata.h"

enum { TIFF_HEADER = 8, COUNT = 2, ENTRY = 12, OFFSET = 4 };
enum { ORIENTATION = 0x0112, CAMERA = 0x8769 };
enum { WIDTH = 0x0100, HEIGHT = 0x0101, CAMERA_WIDTH = 0xa002, CAMERA_HEIGHT = 0xa003 };
enum { X_RESOLUTION = 0x011a, Y_RESOLUTION = 0x011b };
enum { FOCAL_X_RESOLUTION = 0xa20e, FOCAL_Y_RESOLUTION = 0xa20f };
enum { JPEG = 0x0201, JPEG_SIZE = 0x0202, STRIP = 0x0111, STRIP_SIZE = 0x0117 };
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

/* Where IFD0 is, and the byte order; 0 when there is none. */
static size_t find_first(const GfBlob *exif, bool *big)
{
    if (exif->size < TIFF_HEADER)
        return 0;
    *big = memcmp(exif->data, "MM\0*", 4) == 0;
    if (!*big && memcmp(exif->data, "II*\0", 4) != 0)
        return 0;
    return load(exif->data + 4, OFFSET, *big);
}

/* An entry of the directory at `place`; NULL when there is none. A directory that claims more
 * entries than the block holds is searched to the end of the block. */
static unsigned char *find_entry(const GfBlob *exif, bool big, size_t place, uint32_t tag)
{
    if (place < TIFF_HEADER || place > exif->size - COUNT)
        return NULL;
    size_t entries = load(exif->data + place, COUNT, big);
    for (place += COUNT; entries > 0 && exif->size - place >= ENTRY; entries--, place += ENTRY)
        if (load(exif->data + place, 2, big) == tag)
            return exif->data + place;
    return NULL;
}

static unsigned char *find_orientation(const GfBlob *exif, bool *big)
{
    size_t place = find_first(exif, big);
    return place ? find_entry(exif, *big, place, ORIENTATION) : NULL;
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

/* What the entry says; 0 when there is none. */
static size_t number_of(const unsigned char *entry, bool big)
{
    return entry ? load(entry + 8, value_size(entry, big), big) : 0;
}

void gf_exif_set_size(GfBlob *exif, size_t width, size_t height)
{
    bool big;
    size_t first = find_first(exif, &big);
    if (!first)
        return;
    size_t camera = number_of(find_entry(exif, big, first, CAMERA), big);
    set_number(find_entry(exif, big, first, WIDTH), big, width);
    set_number(find_entry(exif, big, first, HEIGHT), big, height);
    set_number(find_entry(exif, big, camera, CAMERA_WIDTH), big, width);
    set_number(find_entry(exif, big, camera, CAMERA_HEIGHT), big, height);
}

/* Two entries exchange all but their tags: type, count, and the value or where it stands. */
static void swap_values(unsigned char *one, unsigned char *other)
{
    enum { TAG = 2 };
    unsigned char kept[ENTRY];
    if (!one || !other)
        return;
    memcpy(kept, one, ENTRY);
    memcpy(one + TAG, other + TAG, ENTRY - TAG);
    memcpy(other + TAG, kept + TAG, ENTRY - TAG);
}

void gf_exif_swap_resolutions(GfBlob *exif)
{
    bool big;
    size_t first = find_first(exif, &big);
    if (!first)
        return;
    size_t camera = number_of(find_entry(exif, big, first, CAMERA), big);
    swap_values(find_entry(exif, big, first, X_RESOLUTION),
                find_entry(exif, big, first, Y_RESOLUTION));
    swap_values(find_entry(exif, big, camera, FOCAL_X_RESOLUTION),
                find_entry(exif, big, camera, FOCAL_Y_RESOLUTION));
}

/* Overwrites the bytes that two entries of a directory tell the place and number of. At the end of
 * the block they are cut off. */
static void erase(GfBlob *exif, bool big, size_t directory, uint32_t place_tag, uint32_t size_tag)
{
    size_t place = number_of(find_entry(exif, big, directory, place_tag), big);
    size_t size = number_of(find_entry(exif, big, directory, size_tag), big);
    if (place < TIFF_HEADER || place >= exif->size)
        return;
    size = gf_min(size, exif->size - place);
    memset(exif->data + place, 0, size);
    if (place + size == exif->size)
        exif->size = place;
}

void gf_exif_drop_thumbnail(GfBlob *exif)
{
    bool big;
    size_t place = find_first(exif, &big);
    if (place < TIFF_HEADER || place > exif->size - COUNT)
        return;
    place += COUNT + ENTRY * load(exif->data + place, COUNT, big);
    if (place > exif->size - OFFSET)
        return;
    size_t second = load(exif->data + place, OFFSET, big);
    memset(exif->data + place, 0, OFFSET);
    erase(exif, big, second, JPEG, JPEG_SIZE);
    erase(exif, big, second, STRIP, STRIP_SIZE);
}
