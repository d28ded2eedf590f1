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
    store(block + VALUE, type == 4 || type == 9 ? 4 : 2, big, value);
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
            make_block(block, big, 0x0112, 8, value); /* SSHORT */
            assert_int_equal(orientation_of(block, sizeof block), value);
            make_block(block, big, 0x0112, 9, value); /* SLONG */
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
    make_block(block, true, 0x0112, 8, 0xfffa); /* -6 */
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

enum {
    CAMERA =
        ONE_ENTRY, /* behind IFD0: a directory of two entries, and the next one, which is none */
    TWO_ENTRIES = CAMERA + 2 + 2 * 12 + 4
};

/* A block whose IFD0 leads to the camera's directory, which has a width and a height. */
static void make_sizes(unsigned char *block, bool big, uint32_t type, uint32_t width,
                       uint32_t height)
{
    make_block(block, big, 0x8769, 4, CAMERA);
    store(block + CAMERA, 2, big, 2);
    for (size_t i = 0; i < 2; i++) {
        unsigned char *entry = block + CAMERA + 2 + i * 12;
        uint32_t number = i == 0 ? width : height;
        memset(entry, 0, 12);
        store(entry, 2, big, i == 0 ? 0xa002 : 0xa003);
        store(entry + 2, 2, big, type);
        store(entry + 4, 4, big, 1);
        store(entry + 8, type == 4 ? 4 : 2, big, number);
    }
    memset(block + TWO_ENTRIES - 4, 0, 4);
}

/* Sets the size in a copy of exactly `size` bytes of the block, and copies it back. */
static void set_size(unsigned char *block, size_t size, size_t width, size_t height)
{
    GfBlob blob = {malloc(size ? size : 1), size};
    memcpy(blob.data, block, size);
    gf_exif_set_size(&blob, width, height);
    memcpy(block, blob.data, size);
    free(blob.data);
}

static void sizes_are_set_in_place(void **state)
{
    (void)state;
    unsigned char block[TWO_ENTRIES], expected[TWO_ENTRIES];
    for (int big = 0; big < 2; big++) {
        for (uint32_t type = 3; type <= 4; type++) {
            make_sizes(block, big, type, 60, 40);
            make_sizes(expected, big, type, 40, 60);
            set_size(block, sizeof block, 40, 60);
            assert_memory_equal(block, expected, sizeof block);
            make_sizes(expected, big, type, 65535, 1);
            set_size(block, sizeof block, 65535, 1);
            assert_memory_equal(block, expected, sizeof block);
            make_sizes(expected, big, 4, 65536, 70000); /* too large for SHORT */
            set_size(block, sizeof block, 65536, 70000);
            assert_memory_equal(block, expected, sizeof block);
        }
        make_sizes(block, big, 2, 60, 40); /* a text */
        memcpy(expected, block, sizeof block);
        set_size(block, sizeof block, 1, 2);
        assert_memory_equal(block, expected, sizeof block);
    }
    gf_exif_set_size(&(GfBlob){NULL, 0}, 1, 2);
}

static void sizes_are_not_set_outside(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {0,           1,          8,          TWO_ENTRIES - 2,
                                       TWO_ENTRIES, 0x7fffffff, 0xfffffffe, 0xffffffff};
    unsigned char block[TWO_ENTRIES], expected[TWO_ENTRIES];
    for (size_t size = 0; size <= TWO_ENTRIES; size++) {
        make_sizes(block, true, 4, 60, 40);
        make_sizes(expected, true, 4, size < CAMERA + 14 ? 60 : 1, size < CAMERA + 26 ? 40 : 2);
        set_size(block, size, 1, 2);
        assert_memory_equal(block, expected, TWO_ENTRIES);
    }
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        make_sizes(block, true, 4, 60, 40);
        store(block + VALUE, 4, true, offsets[i]);
        memcpy(expected, block, sizeof block);
        set_size(block, sizeof block, 1, 2);
        assert_memory_equal(block, expected, sizeof block);
    }
}

/* What becomes of an XMP packet once the picture has been turned. */
static void assert_xmp(const char *packet, const char *expected)
{
    GfMetadata metadata = gf_metadata_none();
    assert_int_equal(gf_metadata_add_text(&metadata, GF_XMP_KEYWORD, packet), GF_OK);
    assert_int_equal(gf_metadata_add_text(&metadata, "Comment", packet), GF_OK);
    gf_metadata_reset_orientation(&metadata);
    assert_string_equal(metadata.texts[0].text, expected);
    assert_string_equal(metadata.texts[1].text, packet); /* which is no XMP */
    gf_metadata_free(&metadata);
}

enum { THUMBNAIL = 40, WITH_THUMBNAIL = TWO_ENTRIES + 2 + 2 * 12 + 4 + THUMBNAIL };

/* IFD0 and the camera's directory, and behind them IFD1, whose two entries tell of a thumbnail that
 * lies at the end. */
static void make_thumbnail(unsigned char *block, bool big, uint32_t place_tag, uint32_t size_tag)
{
    make_sizes(block, big, 3, 60, 40);
    memset(block + TWO_ENTRIES, 0, WITH_THUMBNAIL - TWO_ENTRIES);
    store(block + ONE_ENTRY - 4, 4, big, TWO_ENTRIES);
    store(block + TWO_ENTRIES, 2, big, 2);
    for (size_t i = 0; i < 2; i++) {
        unsigned char *entry = block + TWO_ENTRIES + 2 + i * 12;
        store(entry, 2, big, i == 0 ? place_tag : size_tag);
        store(entry + 2, 2, big, 4);
        store(entry + 4, 4, big, 1);
        store(entry + 8, 4, big, i == 0 ? WITH_THUMBNAIL - THUMBNAIL : THUMBNAIL);
    }
    memset(block + WITH_THUMBNAIL - THUMBNAIL, 0xd8, THUMBNAIL);
}

/* Drops the thumbnail in a copy of exactly `size` bytes of the block, and copies it back. */
static size_t drop_thumbnail(unsigned char *block, size_t size)
{
    GfBlob blob = {malloc(size ? size : 1), size};
    memcpy(blob.data, block, size);
    gf_exif_drop_thumbnail(&blob);
    memcpy(block, blob.data, size);
    free(blob.data);
    return blob.size;
}

/* The two entries of the directory at CAMERA exchange what they say; done twice, nothing has
 * changed. */
static void check_swap(unsigned char *block, bool big, uint32_t x, uint32_t y)
{
    unsigned char expected[TWO_ENTRIES];
    for (size_t i = 0; i < 2; i++)
        store(block + CAMERA + 2 + i * 12, 2, big, i == 0 ? x : y);
    memcpy(expected, block, sizeof expected);
    memcpy(expected + CAMERA + 2 + 2, block + CAMERA + 2 + 14, 10);
    memcpy(expected + CAMERA + 2 + 14, block + CAMERA + 2 + 2, 10);
    GfBlob blob = {malloc(TWO_ENTRIES), TWO_ENTRIES};
    memcpy(blob.data, block, TWO_ENTRIES);
    gf_exif_swap_resolutions(&blob);
    assert_memory_equal(blob.data, expected, TWO_ENTRIES);
    gf_exif_swap_resolutions(&blob);
    assert_memory_equal(blob.data, block, TWO_ENTRIES);
    free(blob.data);
}

static void resolutions_change_places(void **state)
{
    (void)state;
    unsigned char block[TWO_ENTRIES];
    for (int big = 0; big < 2; big++) {
        make_sizes(block, big, 5, 1000, 2000); /* offsets of fractions */
        check_swap(block, big, 0xa20e, 0xa20f);
        store(block + 4, 4, big, CAMERA); /* IFD0 itself */
        check_swap(block, big, 0x011a, 0x011b);
        check_swap(block, big, 0x011b, 0x011a);
        /* One alone stays. */
        store(block + CAMERA + 2, 2, big, 0x0100);
        GfBlob blob = {malloc(TWO_ENTRIES), TWO_ENTRIES};
        memcpy(blob.data, block, TWO_ENTRIES);
        gf_exif_swap_resolutions(&blob);
        assert_memory_equal(blob.data, block, TWO_ENTRIES);
        free(blob.data);
    }
    gf_exif_swap_resolutions(&(GfBlob){NULL, 0});
}

static void thumbnails_are_dropped(void **state)
{
    (void)state;
    unsigned char block[WITH_THUMBNAIL], expected[WITH_THUMBNAIL];
    for (int i = 0; i < 4; i++) {
        bool big = i % 2, strips = i / 2;
        make_thumbnail(block, big, strips ? 0x0111 : 0x0201, strips ? 0x0117 : 0x0202);
        memcpy(expected, block, sizeof block);
        memset(expected + ONE_ENTRY - 4, 0, 4);
        memset(expected + WITH_THUMBNAIL - THUMBNAIL, 0, THUMBNAIL);
        assert_int_equal(drop_thumbnail(block, sizeof block), WITH_THUMBNAIL - THUMBNAIL);
        assert_memory_equal(block, expected, sizeof block);
        assert_int_equal(drop_thumbnail(block, sizeof block), WITH_THUMBNAIL); /* none is left */
        assert_memory_equal(block, expected, sizeof block);
    }
    gf_exif_drop_thumbnail(&(GfBlob){NULL, 0});
}

static void thumbnails_are_not_looked_for_outside(void **state)
{
    (void)state;
    unsigned char block[WITH_THUMBNAIL];
    for (int big = 0; big < 2; big++)
        for (size_t size = 0; size <= WITH_THUMBNAIL; size++) {
            make_thumbnail(block, big, 0x0201, 0x0202);
            drop_thumbnail(block, size);
            make_thumbnail(block, big, 0x0201, 0x0202);
            store(block + TWO_ENTRIES + 2 + 12 + 8, 4, big, UINT32_MAX); /* longer than the block */
            drop_thumbnail(block, size);
            make_thumbnail(block, big, 0x0201, 0x0202);
            store(block + TWO_ENTRIES + 2 + 8, 4, big, UINT32_MAX); /* behind it */
            drop_thumbnail(block, size);
            make_thumbnail(block, big, 0x0201, 0x0202);
            store(block + ONE_ENTRY - 4, 4, big, (uint32_t)size - 1); /* a directory cut off */
            drop_thumbnail(block, size);
        }
}

/* Of a copy of exactly `size` bytes of a block of Photoshop's, without its thumbnails. */
static void check_photoshop(const char *block, size_t size, const char *expected, size_t left)
{
    GfBlob blob = {malloc(size ? size : 1), size};
    memcpy(blob.data, block, size);
    gf_photoshop_drop_thumbnail(&blob);
    assert_int_equal(blob.size, left);
    assert_memory_equal(blob.data, expected, left);
    free(blob.data);
}

static void photoshops_thumbnails_are_dropped(void **state)
{
    (void)state;
#define IPTC                                                                                       \
    "8BIM\x04\x04\0\0\0\0\0\x03"                                                                   \
    "abc\0"
#define SMALL                                                                                      \
    "8BIM\x04\x0c\x02"                                                                             \
    "no\0\0\0\0\x03"                                                                               \
    "xyz\0"
#define OLD                                                                                        \
    "8BIM\x04\x09\0\0\0\0\0\x02"                                                                   \
    "xy"
    static const char all[] = SMALL IPTC OLD IPTC SMALL, kept[] = IPTC IPTC;
    check_photoshop(all, sizeof all - 1, kept, sizeof kept - 1);
    check_photoshop(kept, sizeof kept - 1, kept, sizeof kept - 1);
    check_photoshop(all, sizeof all - 3, kept, sizeof kept - 1); /* the last one is cut off */
    check_photoshop("no resource" SMALL, 11 + sizeof SMALL - 1, "no resource" SMALL,
                    11 + sizeof SMALL - 1);
    for (size_t size = 0; size < sizeof all; size++) {
        GfBlob blob = {malloc(size ? size : 1), size};
        memcpy(blob.data, all, size);
        gf_photoshop_drop_thumbnail(&blob);
        assert_true(blob.size <= size);
        free(blob.data);
    }
    gf_photoshop_drop_thumbnail(&(GfBlob){NULL, 0});
}

static void sizes_are_set_in_the_first_directory(void **state)
{
    (void)state;
    unsigned char block[ONE_ENTRY], expected[ONE_ENTRY];
    for (int big = 0; big < 2; big++) {
        make_block(block, big, 0x0100, 4, 60);
        make_block(expected, big, 0x0100, 4, 40);
        set_size(block, sizeof block, 40, 60);
        assert_memory_equal(block, expected, sizeof block);
        make_block(block, big, 0x0101, 3, 40);
        make_block(expected, big, 0x0101, 3, 60);
        set_size(block, sizeof block, 40, 60);
        assert_memory_equal(block, expected, sizeof block);
    }
}

static void orientation_of_xmp_is_reset(void **state)
{
    (void)state;
    assert_xmp("<r tiff:Orientation=\"6\"/>", "<r tiff:Orientation=\"1\"/>");
    assert_xmp("<r tiff:Orientation = '8'/>", "<r tiff:Orientation = '1'/>");
    assert_xmp("<tiff:Orientation>3</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>");
    assert_xmp("<tiff:Orientation>\n 2\n</tiff:Orientation> tiff:Orientation='5'",
               "<tiff:Orientation>\n 1\n</tiff:Orientation> tiff:Orientation='1'");
    static const char *const others[] = {
        "",
        "tiff:Orientation",
        "tiff:Orientation=",
        "tiff:Orientation=\"",
        "tiff:Orientation=6",
        "tiff:Orientation=\"66\"",
        "tiff:Orientation=\"9\"",
        "tiff:Orientation=\"0\"",
        "<tiff:Orientation>",
        "<tiff:Orientation/>6",
        "tiff:OrientationX=\"6\"",
        "tiff:XResolution=\"6\"",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_xmp(others[i], others[i]);
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

/* What becomes of a profile of version 4 and 130 bytes, all of them 7 but for size, version and
 * colours. */
static void profiles_are_filled_up_for_png(void **state)
{
    (void)state;
    unsigned char odd[130], expected[132];
    GfMetadata metadata = gf_metadata_none();
    GfBlob filled;
    memset(odd, 7, sizeof odd);
    memcpy(odd, "\0\0\0\x82", 4);
    odd[8] = 4;
    memcpy(odd + 16, "RGB ", 4);
    memcpy(expected, odd, sizeof odd);
    expected[3] = 132;
    memset(expected + 84, 0, 16); /* the identifier */
    memset(expected + 130, 0, 2);
    metadata.icc = (GfBlob){odd, sizeof odd};
    assert_int_equal(gf_profile_for(&metadata, 3, GF_COLOUR_CHUNKS, &filled), GF_OK);
    assert_int_equal(filled.size, 132);
    assert_memory_equal(filled.data, expected, 132);
    free(filled.data);
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
    for (unsigned char size = 129; size <= 132; size++) { /* not of version 4, nor for JPEG */
        unsigned char odd[132] = {0, 0, 0, size};
        memcpy(odd + 16, "RGB ", 4);
        assert_int_equal(kept(odd, size, 3, GF_COLOUR_CHUNKS), size);
        odd[8] = 4;
        assert_int_equal(kept(odd, size, 3, GF_COLOUR_PROFILE), size);
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
        cmocka_unit_test(sizes_are_set_in_place),
        cmocka_unit_test(sizes_are_not_set_outside),
        cmocka_unit_test(sizes_are_set_in_the_first_directory),
        cmocka_unit_test(resolutions_change_places),
        cmocka_unit_test(thumbnails_are_dropped),
        cmocka_unit_test(thumbnails_are_not_looked_for_outside),
        cmocka_unit_test(photoshops_thumbnails_are_dropped),
        cmocka_unit_test(orientation_of_xmp_is_reset),
        cmocka_unit_test(profiles_are_filled_up_for_png),
        cmocka_unit_test(profiles_fit_their_colour_space_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
