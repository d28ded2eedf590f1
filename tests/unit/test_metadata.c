/* EXIF blocks built byte by byte, right ones and hostile ones, each in memory of exactly its size
 * so that a sanitizer sees any read beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "images/codecs.h"

enum { ONE_ENTRY = 8 + 2 + 12 + 4, VALUE = 8 + 2 + 8 };

static void store(unsigned char *to, size_t size, bool big, uint32_t value)
{
    for (size_t i = 0; i < size; i++)
        to[big ? size - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

/* A block whose IFD0 has one entry. */
static void make_block(unsigned char *block, bool big, uint32_t tag, uint32_t type, uint32_t value)
{
    memset(block, 0, ONE_ENTRY);
    memcpy(block, big ? "MM\0*" : "II*\0", 4);
    store(block + 4, 4, big, 8);
    store(block + 8, 2, big, 1);
    store(block + 10, 2, big, tag);
    store(block + 12, 2, big, type);
    store(block + 14, 4, big, 1);
    store(block + VALUE, type == 4 ? 4 : 2, big, value);
}

/* The orientation that a copy of exactly `size` bytes gives. */
static unsigned orientation_of(const unsigned char *block, size_t size)
{
    GfBlob blob = {malloc(size ? size : 1), size};
    memcpy(blob.data, block, size);
    unsigned orientation = gf_exif_orientation(&blob);
    gf_exif_reset_orientation(&blob);
    if (orientation != 1)
        assert_int_equal(gf_exif_orientation(&blob), 1);
    free(blob.data);
    return orientation;
}

static void orientation_is_read_in_both_byte_orders(void **state)
{
    (void)state;
    unsigned char block[ONE_ENTRY];
    for (unsigned value = 1; value <= 8; value++) {
        for (int big = 0; big < 2; big++) {
            make_block(block, big, 0x0112, 3, value);
            assert_int_equal(orientation_of(block, sizeof block), value);
            make_block(block, big, 0x0112, 4, value);
            assert_int_equal(orientation_of(block, sizeof block), value);
        }
    }
}

static void other_values_and_tags_mean_upright(void **state)
{
    (void)state;
    unsigned char block[ONE_ENTRY];
    static const uint32_t values[] = {0, 9, 99, 0x0600, 0xffff};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        make_block(block, false, 0x0112, 3, values[i]);
        assert_int_equal(orientation_of(block, sizeof block), 1);
    }
    make_block(block, false, 0x0111, 3, 6); /* another tag */
    assert_int_equal(orientation_of(block, sizeof block), 1);
    make_block(block, false, 0x0112, 2, 6); /* a text */
    assert_int_equal(orientation_of(block, sizeof block), 1);
    make_block(block, false, 0x0112, 3, 6);
    store(block + 14, 4, false, 2); /* two values */
    assert_int_equal(orientation_of(block, sizeof block), 1);
}

static void damaged_blocks_are_never_read_outside(void **state)
{
    (void)state;
    unsigned char block[ONE_ENTRY];
    make_block(block, true, 0x0112, 3, 6);
    for (size_t size = 0; size < ONE_ENTRY - 4; size++)
        assert_int_equal(orientation_of(block, size), 1);
    assert_int_equal(orientation_of(block, ONE_ENTRY - 4), 6); /* only the next IFD is missing */
    static const uint32_t offsets[] = {0,         1,          ONE_ENTRY - 2, ONE_ENTRY - 1,
                                       ONE_ENTRY, 0x7fffffff, 0xfffffffe,    0xffffffff};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        store(block + 4, 4, true, offsets[i]);
        assert_int_equal(orientation_of(block, sizeof block), 1);
    }
    make_block(block, true, 0x0111, 3, 6);
    store(block + 8, 2, true, 0xffff); /* more entries than bytes */
    store(block + 22, 4, true, 8);     /* the next IFD is this one */
    assert_int_equal(orientation_of(block, sizeof block), 1);
}

static void reset_changes_the_value_only(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        unsigned char before[ONE_ENTRY], after[ONE_ENTRY];
        make_block(before, big, 0x0112, 3, 6);
        memcpy(after, before, sizeof after);
        gf_exif_reset_orientation(&(GfBlob){after, sizeof after});
        store(before + VALUE, 2, big, 1);
        assert_memory_equal(before, after, sizeof after);
    }
    gf_exif_reset_orientation(&(GfBlob){NULL, 0});
}

static void texts_and_blobs_are_copies(void **state)
{
    (void)state;
    GfMetadata metadata = gf_metadata_none();
    assert_int_equal(metadata.srgb_intent, -1);
    char text[] = "first";
    assert_int_equal(gf_metadata_add_text(&metadata, "Title", text), GF_OK);
    text[0] = 'x';
    assert_int_equal(gf_metadata_add_text(&metadata, "Comment", text), GF_OK);
    assert_int_equal(metadata.text_count, 2);
    assert_string_equal(metadata.texts[0].keyword, "Title");
    assert_string_equal(metadata.texts[0].text, "first");
    assert_string_equal(metadata.texts[1].text, "xirst");
    assert_int_equal(gf_blob_set(&metadata.icc, text, 3), GF_OK);
    assert_memory_equal(metadata.icc.data, "xir", 3);
    assert_int_equal(gf_blob_set(&metadata.exif, text, 0), GF_OK);
    assert_null(metadata.exif.data);
    gf_metadata_free(&metadata);
    assert_null(metadata.texts);
    assert_int_equal(metadata.srgb_intent, -1);
    gf_metadata_free(&metadata);
}

/* The bytes of the profile that goes into such an output. */
static size_t kept(unsigned char *profile, size_t size, size_t colours, GfColourRoom room)
{
    GfMetadata metadata = gf_metadata_none();
    GfBlob copy;
    metadata.icc = (GfBlob){profile, size};
    assert_int_equal(gf_profile_for(&metadata, colours, room, &copy), GF_OK);
    if (copy.size > 0)
        assert_memory_equal(copy.data, profile, copy.size);
    free(copy.data);
    return copy.size;
}

static void profiles_fit_their_colour_space_only(void **state)
{
    (void)state;
    unsigned char profile[128] = {0};
    memcpy(profile + 16, "RGB ", 4);
    assert_int_equal(kept(profile, 128, 3, GF_COLOUR_PROFILE), 128);
    assert_int_equal(kept(profile, 128, 3, GF_COLOUR_CHUNKS), 128);
    assert_int_equal(kept(profile, 128, 3, GF_COLOUR_NOWHERE), 0);
    assert_int_equal(kept(profile, 128, 1, GF_COLOUR_CHUNKS), 0); /* has no curve to keep */
    assert_int_equal(kept(profile, 127, 3, GF_COLOUR_CHUNKS), 0);
    for (size_t size = 127; size <= 131;
         size++) { /* by the header; what is shorter than it is no size */
        unsigned char padded[130] = {0, 0, 0, (unsigned char)size};
        memcpy(padded + 16, "RGB ", 4);
        size_t expected = size == 128 || size == 129 ? size : 130;
        assert_int_equal(kept(padded, 130, 3, GF_COLOUR_CHUNKS), expected);
    }
    memcpy(profile + 16, "GRAY", 4);
    assert_int_equal(kept(profile, 128, 1, GF_COLOUR_CHUNKS), 128);
    assert_int_equal(kept(profile, 128, 3, GF_COLOUR_CHUNKS), 0);
    memcpy(profile + 16, "CMYK", 4);
    assert_int_equal(kept(profile, 128, 3, GF_COLOUR_CHUNKS), 0);
    assert_int_equal(kept(profile, 128, 1, GF_COLOUR_CHUNKS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orientation_is_read_in_both_byte_orders),
        cmocka_unit_test(other_values_and_tags_mean_upright),
        cmocka_unit_test(damaged_blocks_are_never_read_outside),
        cmocka_unit_test(reset_changes_the_value_only),
        cmocka_unit_test(texts_and_blobs_are_copies),
        cmocka_unit_test(profiles_fit_their_colour_space_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
