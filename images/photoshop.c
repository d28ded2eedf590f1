/* Photoshop's block is a row of resources: "8BIM", a number, a name with its length in front and a
 * size, and so many bytes; name and bytes are filled up to an even number. Also with hostile sizes
 * nothing beyond the block is touched; what is no resource ends the row. */
#include <stdint.h>
#include <string.h>

#include "common/memory.h"
#include "images/metadata.h"

enum { SIGNATURE = 4, NUMBER = 2, SIZE = 4, LEAST = SIGNATURE + NUMBER + 2 + SIZE };
enum { OLD_THUMBNAIL = 1033, THUMBNAIL = 1036 };

static size_t even(size_t size)
{
    return size + size % 2;
}

/* Bytes of the resource at `place`, and its number; 0 for what is none. */
static size_t measure(const GfBlob *block, size_t place, unsigned *number)
{
    size_t left = block->size - place;
    if (left < LEAST || memcmp(block->data + place, "8BIM", SIGNATURE) != 0)
        return 0;
    const unsigned char *bytes = block->data + place;
    *number = (unsigned)bytes[SIGNATURE] << 8 | bytes[SIGNATURE + 1];
    size_t head = SIGNATURE + NUMBER + even((size_t)1 + bytes[SIGNATURE + NUMBER]);
    if (left < head + SIZE)
        return 0;
    const unsigned char *size = bytes + head;
    size_t data = (size_t)size[0] << 24 | (size_t)size[1] << 16 | (size_t)size[2] << 8 | size[3];
    return gf_min(head + SIZE + even(data), left);
}

void gf_photoshop_drop_thumbnail(GfBlob *block)
{
    unsigned number = 0;
    for (size_t place = 0, size; (size = measure(block, place, &number)) > 0;)
        if (number == THUMBNAIL || number == OLD_THUMBNAIL) {
            unsigned char *bytes = block->data + place;
            memmove(bytes, bytes + size, block->size - place - size);
            block->size -= size;
        } else {
            place += size;
        }
}
