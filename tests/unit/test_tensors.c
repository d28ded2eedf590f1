/* Files of named tensors: what is read out of sound ones, and every way in which one can be
 * unsound. The files are put together here, byte by byte, from a length, a header's text and
 * numbers known by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "filters/tensors.h"

/* ---- files ---- */

static const char path[] = "test.safetensors";

static void append(FILE *file, const void *bytes, size_t size)
{
    assert_int_equal(fwrite(bytes, 1, size, file), size);
}

/* The eight bytes of length, whatever follows. */
static void append_length(FILE *file, uint64_t length)
{
    for (int i = 0; i < 8; i++)
        assert_int_not_equal(fputc((int)(length >> 8 * i & 0xff), file), EOF);
}

static FILE *create(void)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

static void write_parts(uint64_t length, const char *header, size_t header_size, const void *data,
                        size_t size)
{
    FILE *file = create();
    append_length(file, length);
    append(file, header, header_size);
    append(file, data, size);
    assert_int_equal(fclose(file), 0);
}

static void write_tensors(const char *header, const void *data, size_t size)
{
    write_parts(strlen(header), header, strlen(header), data, size);
}

static GfTensors *open_sound(void)
{
    GfTensors *tensors;
    if (gf_tensors_open(path, &tensors) != GF_OK)
        fail_msg("%s", gf_message());
    return tensors;
}

static void assert_message(const char *reason, const char *about)
{
    if (!strstr(gf_message(), reason))
        fail_msg("%.200s gave \"%s\", not \"%s\"", about, gf_message(), reason);
    for (const char *c = gf_message(); *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            fail_msg("%.200s: a control character in the message", about);
}

static void assert_refused(const char *reason, const char *about)
{
    GfTensors *tensors = (GfTensors *)(uintptr_t)1;
    if (gf_tensors_open(path, &tensors) != GF_EUSAGE)
        fail_msg("%.200s was not refused", about);
    assert_null(tensors);
    assert_message(reason, about);
}

static void assert_unreadable(GfTensors *tensors, const char *name, const char *reason)
{
    GfWeights weights;
    memset(&weights, 0x5a, sizeof weights);
    assert_int_equal(gf_tensors_read(tensors, name, &weights), GF_EUSAGE);
    assert_null(weights.values);
    assert_int_equal(weights.count, 0);
    assert_message(reason, name ? name : "(no name)");
}

/* ---- sound files ---- */

#define TENSOR(name, dtype, shape, begin, end)                                                     \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin        \
    "," #end "]}"

static void test_values_of_every_type(void **state)
{
    (void)state;
    static const char header[] = "{" TENSOR("half", "F16", "2", 0, 4) "," TENSOR(
        "brain", "BF16", "2", 4, 8) "," TENSOR("single", "F32", "2", 8, 16) "," //
        TENSOR("double", "F64", "2", 16, 32) "}   ";
    static const unsigned char data[] = {0x00, 0x3c, 0x01, 0x80,                /* 1, -2^-24 */
                                         0x40, 0xc0, 0x80, 0x3f,                /* -3, 1 */
                                         0,    0,    0x40, 0x40, 1, 0, 0,    0, /* 3, 2^-149 */
                                         0,    0,    0,    0,    0, 0, 0x04, 0xc0,
                                         1,    0,    0,    0, /* -2.5, 2^-1074 */
                                         0,    0,    0,    0};
    static const struct {
        const char *name;
        double values[2];
    } expected[] = {{"half", {1, -0x1p-24}},
                    {"brain", {-3, 1}},
                    {"single", {3, 0x1p-149}},
                    {"double", {-2.5, 0x1p-1074}}};
    write_tensors(header, data, sizeof data);
    GfTensors *tensors = open_sound();
    assert_true(gf_tensors_named(tensors));
    for (size_t i = 0; i < 4; i++) {
        GfWeights weights;
        assert_int_equal(gf_tensors_read(tensors, expected[i].name, &weights), GF_OK);
        assert_int_equal(weights.rank, 1);
        assert_int_equal(weights.shape[0], 2);
        assert_memory_equal(weights.values, expected[i].values, sizeof expected[i].values);
        gf_weights_free(&weights);
    }
    gf_tensors_close(tensors);
}

static void test_structure(void **state)
{
    (void)state;
    static const unsigned char data[64] = {0};
    static const char header[] =
        "{ \"__metadata__\" : {\"format\":\"pt\",\"\\u00e9\":\"1.5e-3 {[\\\"\\\\\"} ,\n" TENSOR(
            "conv10.weight", "F32", "1,2,2,1", 16, 32) "," TENSOR("conv2.weight", "F32", "2, 2", 0,
                                                                  16) ","                 //
        TENSOR("scalar", "F32", "", 40, 44) "," TENSOR("empty", "F16", "0,7", 44, 44) "," //
        TENSOR("count", "I64", "1", 32, 40) "," TENSOR("\\u0063onv2\\/bias", "U8", "4", 44, 48) "}";
    static const struct {
        const char *name, *type;
        size_t rank, count;
        bool readable;
    } expected[] = {{"conv2.weight", "F32", 2, 4, true},  {"conv2/bias", "U8", 1, 4, false},
                    {"conv10.weight", "F32", 4, 4, true}, {"count", "I64", 1, 1, false},
                    {"empty", "F16", 2, 0, false},        {"scalar", "F32", 0, 1, true}};
    write_tensors(header, data, 48);
    GfTensors *tensors = open_sound();
    assert_int_equal(gf_tensors_count(tensors), 6);
    for (size_t i = 0; i < 6; i++) {
        const GfTensorInfo *info = gf_tensors_info(tensors, i);
        assert_string_equal(info->name, expected[i].name);
        assert_string_equal(info->type, expected[i].type);
        assert_int_equal(info->rank, expected[i].rank);
        assert_int_equal(info->count, expected[i].count);
        assert_int_equal(info->readable, expected[i].readable);
        assert_ptr_equal(gf_tensors_find(tensors, info->name), info);
    }
    assert_null(gf_tensors_find(tensors, "conv"));
    assert_unreadable(tensors, "empty", "tensor \"empty\": it is empty");
    assert_unreadable(tensors, "count", "tensor \"count\": numbers of type I64 cannot be weights");
    gf_tensors_close(tensors);
}

/* A header is read in windows; a name may lie across two of them. */
static void test_header_of_many_windows(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    size_t size = COUNT * 100 + 2, used = 1;
    char *header = malloc(size), name[32];
    unsigned char *data = calloc(COUNT, 4);
    assert_non_null(header);
    assert_non_null(data);
    header[0] = '{';
    for (int i = 0; i < COUNT; i++) {
        float value = (float)i;
        memcpy(data + 4 * i, &value, 4);
        used +=
            (size_t)snprintf(header + used, size - used,
                             "%s\"t%d\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[%d,%d]}",
                             i ? "," : "", i, 4 * i, 4 * i + 4);
    }
    header[used++] = '}';
    write_parts(used, header, used, data, COUNT * 4);
    GfTensors *tensors = open_sound();
    for (int i = 0; i < COUNT; i += 7) {
        GfWeights weights;
        snprintf(name, sizeof name, "t%d", i);
        assert_string_equal(gf_tensors_info(tensors, (size_t)i)->name, name);
        assert_int_equal(gf_tensors_read(tensors, name, &weights), GF_OK);
        assert_true(weights.values[0] == (double)i);
        gf_weights_free(&weights);
    }
    gf_tensors_close(tensors);
    free(header);
    free(data);
}

static void test_memory(void **state)
{
    (void)state;
    static const char header[] = "{" TENSOR("w", "F32", "1", 0, 4) "}";
    unsigned char bytes[128] = {sizeof header - 1};
    const size_t size = 8 + sizeof header - 1 + 4;
    memcpy(bytes + 8, header, sizeof header - 1);
    memcpy(bytes + 8 + sizeof header - 1, "\x00\x00\x40\xc0", 4);
    GfTensors *tensors;
    GfWeights weights;
    assert_int_equal(gf_tensors_open_memory(bytes, size, &tensors), GF_OK);
    for (int i = 0; i < 2; i++) { /* as often as it is asked for */
        assert_int_equal(gf_tensors_read(tensors, NULL, &weights), GF_OK);
        assert_true(weights.values[0] == -3.0);
        gf_weights_free(&weights);
    }
    gf_tensors_close(tensors);
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(gf_tensors_open_memory(bytes, cut, &tensors), GF_EUSAGE);
        assert_null(tensors);
    }
}

/* ---- which one is meant ---- */

static void test_candidates(void **state)
{
    (void)state;
    static const unsigned char data[64] = {0};
    const GfTensorInfo *info;
    GfTensors *tensors;
    write_tensors(
        "{" TENSOR("conv1.weight", "F32", "1,1,2,2", 0, 16) "," //
        TENSOR("conv1.bias", "F32", "1", 16, 20) "," TENSOR("steps", "I64", "1", 20, 28) "}",
        data, 28);
    tensors = open_sound();
    assert_int_equal(gf_tensors_choose(tensors, NULL, 2, 4, &info), GF_OK);
    assert_string_equal(info->name, "conv1.weight");
    assert_int_equal(gf_tensors_choose(tensors, NULL, 1, 1, &info), GF_OK);
    assert_string_equal(info->name, "conv1.bias"); /* numbers of type I64 cannot be meant */
    assert_unreadable(tensors, NULL,
                      "several tensors can be meant, and none is named: conv1.bias (1,), "
                      "conv1.weight (1, 1, 2, 2)");
    assert_unreadable(tensors, "conv1.wieght",
                      "no tensor \"conv1.wieght\", but conv1.weight (1, 1, 2, 2), conv1.bias (1,), "
                      "steps (1,)");
    assert_unreadable(tensors, "\x1b[2J", "no tensor \"\\x1b[2J\"");
    gf_tensors_close(tensors);
    write_tensors("{" TENSOR("a", "I8", "1", 0, 1) "," TENSOR("b", "F32", "0", 1, 1) "}", data, 1);
    tensors = open_sound();
    assert_unreadable(tensors, NULL, "none of its tensors can be meant");
    gf_tensors_close(tensors);
    write_tensors("{\"__metadata__\":{}}", data, 0);
    tensors = open_sound();
    assert_unreadable(tensors, NULL, "no tensors in it");
    assert_unreadable(tensors, "a", "no tensors in it");
    gf_tensors_close(tensors);
}

/* ---- unsound headers ---- */

static void test_headers_that_are_refused(void **state)
{
    (void)state;
    static const unsigned char data[36] = {0};
    static const char names[] = "more than strings and whole numbers";
    static const struct {
        const char *header, *reason;
    } cases[] = {
        {"", "no '{'"},
        {" {}", "no '{'"},
        {"\xef\xbb\xbf{}", "no '{'"},
        {"[]", "no '{'"},
        {"{", "no '\"'"},
        {"{}", "36 bytes behind the last tensor"},
        {"{\"a", "ends within"},
        {"{\"a\":", "no '{'"},
        {"{\"a\"}", "no ':'"},
        {"{\"a\":\"x\"}", "no '{'"},
        {"{\"a\":[[[[]]]]}", "no '{'"},
        {"{\"a\":null}", "no '{'"},
        {"{\"a\":{\"b\":[[0]]}}", "nested too deep"},
        {"{\"a\":{\"b\":{\"c\":{}}}}", "nested too deep"},
        {"{\"a\":{]}", "no JSON"},
        {"{\"a\":{\"dtype\":\"F32\"", "ends within"},
        {"{\"a\":{}}", "tensor \"a\": it has no dtype"},
        {"{\"a\":{\"dtype\":32}}", "it has no dtype"},
        {"{\"a\\u0000b\":{}}", "no JSON"},
        {"{\"\xff\xfe\":{}}", "no JSON"},
        {"{\"\xc0\x80\":{}}", "no JSON"},
        {"{\"\\ud800\":{}}", "no JSON"},
        {"{\"a\n\":{}}", "no JSON"},
        {"{\"__metadata__\":{\"a\":1}," TENSOR("a", "F32", "3,3", 0, 36) "}", "no string"},
        {"{\"__metadata__\":{\"a\":true}}", names},
        {"{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", "duplicate"},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", "twice"},
        {"{\"__metadata__\":{},\"\\u005f_metadata__\":{}}", "twice"},
        {"{\"__metadata__\":\"x\"}", "no '{'"},
        {"{" TENSOR("a", "F32", "3,3", 0, 36) ",}", "no '\"'"},
        {"{," TENSOR("a", "F32", "3,3", 0, 36) "}", "no '\"'"},
        {"{" TENSOR("a", "F32", "3,3", 0, 36) "", "no '}'"},
        {"{" TENSOR("a", "F32", "3,3", 0, 36) "} x", "goes on after"},
        {"{" TENSOR("a", "F32", "3,3", 0, 36) "}{}", "goes on after"},
        {"{" TENSOR("a", "F32", "3,3", 0, 36) "}\n", "goes on after"},
        {"{" TENSOR("a", "F12", "3,3", 0, 36) "}", "tensor \"a\": unknown dtype \"F12\""},
        {"{" TENSOR("a", "f32", "3,3", 0, 36) "}", "unknown dtype"},
        {"{" TENSOR("\\u001b[31m\\n", "\\u0007", "3,3", 0, 36) "}",
         "tensor \"\\x1b[31m\\x0a\": unknown dtype \"\\x07\""},
        {"{" TENSOR("a", "F32", "-3,-3", 0, 36) "}", names},
        {"{" TENSOR("a", "F32", "3.0,3", 0, 36) "}", names},
        {"{" TENSOR("a", "F32", "3,03", 0, 36) "}", "no JSON"},
        {"{" TENSOR("a", "F32", "3 3", 0, 36) "}", "no JSON"},
        {"{" TENSOR("a", "F32", "3,\"3\"", 0, 36) "}", "something else than whole numbers"},
        {"{" TENSOR("a", "F32", "3,null", 0, 36) "}", names},
        {"{" TENSOR("a", "F32", "1,1,1,1,1,1,1,9,1", 0, 36) "}", "at most 8"},
        {"{" TENSOR("a", "F32", "4294967296,4294967296", 0, 36) "}", "too large"},
        {"{" TENSOR("a", "F32", "4611686018427387913", 0, 36) "}", "too large"},
        {"{" TENSOR("a", "F32", "4294967296,4294967296,0", 0, 0) "}", "too large"},
        {"{" TENSOR("a", "F32", "9223372036854775808", 0, 36) "}", "too big integer"},
        {"{" TENSOR("a", "F32", "3,3", 0, 18446744073709551652) "}", "too big integer"},
        {"{" TENSOR("a", "F32", "3,3", -0, 36) "}", names},
        {"{" TENSOR("a", "F32", "3,3", 0, 3.6e1) "}", names},
        {"{" TENSOR("a", "F32", "3,3", 0, 36E0) "}", names},
        {"{" TENSOR("a", "F32", "3,3", "0", 36) "}", "something else than whole numbers"},
        {"{" TENSOR("a", "F32", "3,3", 36, 0) "}", "bytes 36 to 0 are not the 36"},
        {"{" TENSOR("a", "F32", "3,4", 0, 36) "}", "bytes 0 to 36 are not the 48"},
        {"{" TENSOR("a", "F64", "3,3", 0, 36) "}", "bytes 0 to 36 are not the 72"},
        {"{" TENSOR("a", "F4", "9", 0, 36) "}", "ends within a byte"},
        {"{" TENSOR("a", "F32", "30,30", 0, 3600) "}", "it ends at byte 3600 of 36"},
        {"{" TENSOR("a", "F32", "2,4", 4, 36) "}",
         "begins at byte 4, but what is before it ends at 0"},
        {"{" TENSOR("a", "F32", "2,4", 0, 32) "}", "4 bytes behind the last tensor belong to"},
        {"{" TENSOR("a", "U8", "35", 0, 35) "}", "1 byte behind the last tensor belongs to"},
        {"{" TENSOR("a", "F32", "4", 0, 16) "," TENSOR("b", "F32", "4", 20, 36) "}",
         "tensor \"b\": it begins at byte 20, but what is before it ends at 16"},
        {"{" TENSOR("a", "F32", "5", 0, 20) "," TENSOR("b", "F32", "5", 16, 36) "}",
         "tensor \"b\": it begins at byte 16"},
        {"{" TENSOR("a", "F32", "9", 0, 36) "," TENSOR("b", "F32", "9", 0, 36) "}",
         "it begins at byte 0"},
        {"{" TENSOR("a", "F32", "9", 0, 36) "," TENSOR("b", "F32", "0", 4, 4) "}",
         "it begins at byte 4"},
        {"{" TENSOR("a", "F32", "9", 0, 36) "," TENSOR("a", "F32", "9", 0, 36) "}",
         "two tensors are called \"a\""},
        {"{" TENSOR("a", "F32", "9", 0, 36) "," TENSOR("\\u0061", "F32", "0", 36, 36) "}",
         "two tensors are called \"a\""},
        {"{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,36]}}",
         "duplicate"},
        {"{\"a\":{\"dtype\":\"F32\",\"d\\u0074ype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,36]}"
         "}",
         "duplicate"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,36],\"x\":1}}",
         "more than dtype"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[0,18,36]}}", "has 3 numbers"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":[36]}}", "are not two"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9],\"data_offsets\":36}}",
         "data_offsets is no list"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9]}}", "data_offsets is no list"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":9,\"data_offsets\":[0,36]}}", "shape is no list"},
        {"{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,36]}}", "shape is no list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_tensors(cases[i].header, data, sizeof data);
        assert_refused(cases[i].reason, cases[i].header);
    }
    write_parts(5, "{\"a\0\"", 5, data, 0);
    assert_refused("control character", "a header with a NUL byte in a name");
    write_parts(4, "{}\0 ", 4, data, 0);
    assert_refused("goes on after", "a header padded by NUL");
    write_parts(3, "{\0}", 3, data, 0);
    assert_refused("no '\"'", "a header with a NUL byte");
}

/* A header of `count` repeated pieces between two texts. */
static void write_repeated(const char *before, const char *piece, size_t count, const char *after)
{
    FILE *file = create();
    append_length(file, strlen(before) + count * strlen(piece) + strlen(after));
    append(file, before, strlen(before));
    for (size_t i = 0; i < count; i++)
        append(file, piece, strlen(piece));
    append(file, after, strlen(after));
    assert_int_equal(fclose(file), 0);
}

static void test_headers_without_end(void **state)
{
    (void)state;
    write_repeated("{\"a\":{\"b\":", "[", 1 << 20, "");
    assert_refused("nested too deep", "nested lists");
    write_repeated("{\"a\":", "{\"a\":", 1 << 20, "");
    assert_refused("nested too deep", "nested objects");
    write_repeated("{\"", "a", 1 << 20, "\":{}}");
    assert_refused("longer than", "a name of a million letters");
    write_repeated("{\"", "a", GF_TENSOR_NAME_MAX + 1, "\":{}}");
    assert_refused("more than 511 bytes", "a name of 512 letters");
    write_repeated("{\"a\":{\"shape\":[0", ",0", 1 << 20, "]}}");
    assert_refused("longer than", "a shape of a million lengths");
    write_repeated("{\"__metadata__\":{\"a\":[0", ",0", 1 << 20, "]}}");
    assert_refused("too long", "metadata of a million numbers");
    write_repeated("{\"__metadata__\":{\"a\":\"", "a", 9 << 20, "\"}}");
    assert_refused("longer than", "metadata of 9 MiB");
    write_repeated("{\"a\":", " ", 1 << 20, "x}");
    assert_refused("no '{'", "a million blanks");
    write_repeated("{\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}",
                   ",\"\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}", GF_TENSORS_MAX,
                   "}");
    assert_refused("more than 65536 tensors", "too many tensors");
    write_repeated("{\"__metadata__\":{\"a\":\"", "a", 1 << 20, "\"}}");
    gf_tensors_close(open_sound());
}

static void test_lengths_that_are_refused(void **state)
{
    (void)state;
    static const char header[] = "{" TENSOR("a", "F32", "1", 0, 4) "}";
    static const unsigned char data[4] = {0};
    const size_t length = sizeof header - 1;
    static const uint64_t claims[] = {100000001, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63,
                                      4096};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        write_parts(claims[i], header, length, data, 4);
        assert_refused("its header claims", "a length");
    }
    write_parts(0, header, 0, data, 0);
    assert_refused("no '{'", "a header of no bytes");
    write_parts(length - 1, header, length, data, 4);
    assert_refused("no '}'", "a length that is one less");
    write_parts(length + 1, header, length, data, 4);
    assert_refused("goes on after", "a length that is one more");
    for (off_t cut = 0; cut < (off_t)(8 + length + 4); cut++) {
        write_parts(length, header, length, data, 4);
        assert_int_equal(truncate(path, cut), 0);
        assert_refused("", "a file cut short");
    }
}

/* ---- unsound numbers, and files that are none ---- */

static void test_numbers_that_are_refused(void **state)
{
    (void)state;
    static const char header[] = "{" TENSOR("h", "F16", "2", 0, 4) "," TENSOR(
        "b", "BF16", "2", 4, 8) "," TENSOR("s", "F32", "2", 8, 16) "," //
        TENSOR("d", "F64", "2", 16, 32) "}";
    static const unsigned char data[] = {0,    0,    0x00, 0x7c, 0x80, 0xff, 0,    0,    0, 0, 0,
                                         0,    0,    0,    0xc0, 0x7f, 0,    0,    0,    0, 0, 0,
                                         0xf0, 0x7e, 0,    0,    0,    0,    0xf0, 0x7f, 0, 0};
    write_tensors(header, data, sizeof data);
    GfTensors *tensors = open_sound();
    assert_unreadable(tensors, "h", "tensor \"h\": number 2 of 2 is infinite");
    assert_unreadable(tensors, "b", "tensor \"b\": number 1 of 2 is infinite");
    assert_unreadable(tensors, "s", "tensor \"s\": number 2 of 2 is NaN");
    assert_unreadable(tensors, "d", "tensor \"d\": number 1 of 2 is beyond what floats can hold");
    gf_tensors_close(tensors);
}

/* No file stays as it is because somebody reads it. */
static void test_file_cut_short_after_opening(void **state)
{
    (void)state;
    static const unsigned char data[256 << 10] = {0};
    write_tensors("{" TENSOR("a", "F32", "1024,64", 0, 262144) "}", data, sizeof data);
    GfTensors *tensors = open_sound();
    assert_int_equal(truncate(path, 100000), 0);
    assert_unreadable(tensors, "a", "tensor \"a\": the file ends early");
    gf_tensors_close(tensors);
}

static void test_other_files(void **state)
{
    (void)state;
    static const char advice[] = "safetensors.torch.save_file(model.state_dict()";
    static const struct {
        const char *bytes;
        size_t size;
        const char *reason;
    } cases[] = {
        {"", 0, "0 bytes are no .safetensors"},
        {"\x10", 1, "1 byte is no .safetensors"},
        {"\x10\0\0\0\0\0\0", 7, "7 bytes are no .safetensors"},
        {"PK\x03\x04\x14\0\0\0\0\0\0\0", 12, "an archive or a pickle"},
        {"\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20", 10, "an archive or a pickle"},
        {"this is no file of tensors", 26, "its header claims"},
        {"\x93NUMPY\x01\x00", 8, "ends in its first bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FILE *file = create();
        append(file, cases[i].bytes, cases[i].size);
        assert_int_equal(fclose(file), 0);
        assert_refused(cases[i].reason, cases[i].reason);
        assert_true(!strstr(cases[i].reason, "pickle") || strstr(gf_message(), advice));
    }
    /* Names do not decide: a header of 640 bytes makes a file begin as a pickle does. */
    char header[641];
    snprintf(header, sizeof header, "%-640s", "{" TENSOR("a", "F32", "0", 0, 0) "}");
    write_tensors(header, "", 0);
    assert_int_equal(rename(path, "other.pt"), 0);
    GfTensors *tensors;
    assert_int_equal(gf_tensors_open("other.pt", &tensors), GF_OK);
    assert_int_equal(gf_tensors_count(tensors), 1);
    gf_tensors_close(tensors);
    unlink("other.pt");
}

static char folder[] = "/tmp/gpufilter_tensors_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_every_type),
        cmocka_unit_test(test_structure),
        cmocka_unit_test(test_header_of_many_windows),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_headers_that_are_refused),
        cmocka_unit_test(test_headers_without_end),
        cmocka_unit_test(test_lengths_that_are_refused),
        cmocka_unit_test(test_numbers_that_are_refused),
        cmocka_unit_test(test_file_cut_short_after_opening),
        cmocka_unit_test(test_other_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
