/* Filter files: what they become, and that nothing else than what the manual says is taken for one.
 * What the stages compute, tests/cli/networks.bats and tests/networks.py hold to values from
 * elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/memory.h"
#include "filters/grammar.h"
#include "filters/network_file.h"
#include "filters/network_stages.h"

static char folder[] = "/tmp/gpufilter-networks-XXXXXX";

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void write_text(const char *name, const char *text)
{
    write_bytes(name, text, strlen(text));
}

/* An array of F32, all of them 0.5. */
static void write_npy(const char *name, const char *shape, size_t count)
{
    char bytes[4096], header[118];
    const float half = 0.5f;
    int length = snprintf(header, sizeof header,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
    memset(bytes, ' ', 128);
    memcpy(bytes, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(bytes + 10, header, (size_t)length);
    bytes[127] = '\n';
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + 128 + 4 * i, &half, 4);
    write_bytes(name, bytes, 128 + 4 * count);
}

/* net.safetensors: w 4 x 2 x 3 x 3, back 2 x 4 x 1 x 1, deep 4 x 1 x 3 x 3, flat 3 x 3, b of 4
 * numbers, all of them zero. */
static void write_tensors(void)
{
    char bytes[2048] = {0};
    const char *header =
        "{\"w\":{\"dtype\":\"F32\",\"shape\":[4,2,3,3],\"data_offsets\":[0,288]},"
        "\"back\":{\"dtype\":\"F32\",\"shape\":[2,4,1,1],\"data_offsets\":[288,320]},"
        "\"deep\":{\"dtype\":\"F32\",\"shape\":[4,1,3,3],\"data_offsets\":[320,464]},"
        "\"flat\":{\"dtype\":\"F32\",\"shape\":[3,3],\"data_offsets\":[464,500]},"
        "\"whole\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[500,508]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[508,524]}}";
    size_t length = strlen(header);
    bytes[0] = (char)(length & 0xff);
    bytes[1] = (char)(length >> 8);
    memcpy(bytes + 8, header, length);
    write_bytes("net.safetensors", bytes, 8 + length + 524);
}

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    write_tensors();
    write_npy("one.npy", "1, 1, 1, 1", 1);
    write_npy("row.npy", "3,", 3);
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return chdir("/") != 0 || system(command) != 0 ? -1 : 0;
}

static GfFilter *parse(const char *text)
{
    GfFilter *filter;
    if (gf_filter_parse(text, &filter) != GF_OK)
        fail_msg("%s: %s", text, gf_message());
    return filter;
}

static GfFilter *parse_file(const char *json)
{
    write_text("net.json", json);
    return parse("@net.json");
}

/* ---- what files become ---- */

#define HEAD  "{\"gpufilter\":1,\"weights\":\"net.safetensors\","
#define PLAIN "{\"gpufilter\":1,"

/* Editors put a mark in front. */
static void test_byte_order_mark(void **state)
{
    (void)state;
    GfFilter *filter = parse_file("\xef\xbb\xbf" PLAIN "\"stages\":[{\"stage\":\"relu\"}]}");
    gf_filter_free(filter);
}

static void test_stages_and_references(void **state)
{
    (void)state;
    GfFilter *filter = parse_file(
        HEAD "\"name\":\"tiny\",\"input\":{\"channels\":1,\"planes\":[{\"value\":2}]},\"stages\":["
             "{\"stage\":\"conv\",\"name\":\"body\",\"weight\":\"w\",\"bias\":\"b\",\"padding\":1},"
             "{\"stage\":\"relu\"},"
             "{\"stage\":\"add\",\"from\":\"body\"},"
             "{\"stage\":\"conv\",\"weight\":\"back\",\"stride\":2},"
             "{\"stage\":\"upsample\",\"factor\":2,\"like\":\"picture\"},"
             "{\"stage\":\"add\",\"from\":\"input\"},"
             "{\"stage\":\"conv\",\"weight\":\"w\",\"padding\":\"same\"},"
             "{\"stage\":\"shuffle\",\"factor\":2}],"
             "\"output\":{\"as\":\"picture\",\"range\":[-1,1]}}");
    assert_int_equal(filter->count, 10);
    assert_string_equal(filter->name, "tiny");
    assert_int_equal(filter->stages[0].kind, GF_STAGE_ENTRY);
    assert_int_equal(filter->stages[3].add.from, 2); /* stage 2 reads what "body" made */
    assert_int_equal(filter->stages[5].upsample.like, 0);
    assert_int_equal(filter->stages[6].add.from, 1);
    assert_int_equal(filter->stages[9].kind, GF_STAGE_EXIT);
    assert_true(filter->stages[9].exit.low == -1 && filter->stages[9].exit.high == 1);
    assert_string_equal(filter->stages[0].label, "@net.json: input");
    assert_string_equal(filter->stages[1].label, "@net.json: stage 1 (conv \"body\")");
    assert_string_equal(filter->stages[2].label, "@net.json: stage 2 (relu)");
    assert_string_equal(filter->stages[9].label, "@net.json: output");
    gf_filter_free(filter);
    filter = parse("gaussian,@net.json,sobel"); /* numbers count from the chain's beginning */
    assert_string_equal(filter->name, "gaussian-tiny-sobel");
    assert_int_equal(filter->count, 13);
    assert_int_equal(filter->stages[4].add.from, 3);
    assert_int_equal(filter->stages[6].upsample.like, 1);
    assert_int_equal(filter->stages[7].add.from, 2);
    gf_filter_free(filter);
}

static void test_layers_and_pools(void **state)
{
    (void)state;
    GfFilter *filter = parse_file(
        HEAD
        "\"stages\":[{\"stage\":\"conv\",\"weight\":\"deep\",\"groups\":2,\"stride\":[2,3],"
        "\"padding\":[1,2,3,4],\"dilation\":[5,6],\"border\":\"reflect101\"},"
        "{\"stage\":\"maxpool\",\"size\":[3,2],\"ceil\":true},"
        "{\"stage\":\"avgpool\",\"size\":2,\"stride\":1,\"count_padding\":true,\"padding\":\"same_"
        "lower\"},"
        "{\"stage\":\"leaky_relu\"},{\"stage\":\"scale\"},"
        "{\"stage\":\"clamp\",\"low\":-3.4028235e38,\"high\":6.0}]}");
    const GfSampling *sampling = &filter->stages[0].linear.sampling;
    assert_int_equal(sampling->stride_y, 2);
    assert_int_equal(sampling->stride_x, 3);
    assert_int_equal(sampling->dilation_y, 5);
    assert_int_equal(sampling->dilation_x, 6);
    assert_int_equal(sampling->top, 1);
    assert_int_equal(sampling->left, 2);
    assert_int_equal(sampling->bottom, 3);
    assert_int_equal(sampling->right, 4);
    assert_int_equal(sampling->border, GF_BORDER_REFLECT101);
    const GfPool *pool = &filter->stages[1].pool;
    assert_int_equal(pool->height, 3);
    assert_int_equal(pool->width, 2);
    assert_int_equal(pool->sampling.stride_y, 3);
    assert_int_equal(pool->sampling.stride_x, 2);
    assert_true(pool->ceil && !pool->count_padding);
    pool = &filter->stages[2].pool;
    assert_int_equal(pool->sampling.stride_x, 1);
    assert_int_equal(pool->sampling.fit, GF_FIT_SAME_LOWER);
    assert_true(!pool->ceil && pool->count_padding);
    assert_true(filter->stages[3].pointwise.a == 0.01);
    assert_true(filter->stages[4].pointwise.a == 1.0 && filter->stages[4].pointwise.b == 0.0);
    assert_true(filter->stages[5].pointwise.a == -0x1.fffffep127 &&
                filter->stages[5].pointwise.b == 6.0);
    gf_filter_free(filter);
}

static void test_parameters_and_pairs(void **state)
{
    (void)state;
    write_text(
        "pair.json", PLAIN
        "\"parameters\":{\"sigma\":{\"default\":25,\"minimum\":0,\"maximum\":75}},\"networks\":["
        "{\"input\":{\"channels\":3,\"mean\":[1,2,3],\"std\":[4,5,6]},\"stages\":[{\"stage\":"
        "\"abs\"}]},"
        "{\"input\":{\"channels\":1,\"range\":[1,-1],\"planes\":["
        "{\"parameter\":\"sigma\",\"scale\":0.5,\"offset\":-1},{\"parameter\":\"sigma\"}]},"
        "\"stages\":[{\"stage\":\"tanh\"},{\"stage\":\"conv\",\"weight\":\"one.npy\",\"groups\":1}]"
        "}]}");
    GfFilter *filter;
    assert_int_equal(gf_filter_parse("@pair.json", &filter),
                     GF_EUSAGE); /* three channels come in */
    write_text(
        "pair.json", PLAIN
        "\"parameters\":{\"sigma\":{\"default\":25,\"minimum\":0,\"maximum\":75}},\"networks\":["
        "{\"input\":{\"channels\":3,\"mean\":[1,2,3],\"std\":[4,5,6]},\"stages\":[{\"stage\":"
        "\"abs\"}]},"
        "{\"input\":{\"channels\":1,\"range\":[1,-1],\"planes\":["
        "{\"parameter\":\"sigma\",\"scale\":0.5,\"offset\":-1},{\"parameter\":\"sigma\"}]},"
        "\"stages\":[{\"stage\":\"tanh\"}]}]}");
    filter = parse("@pair.json:sigma=7");
    assert_int_equal(filter->count, 4);
    assert_int_equal(filter->stages[0].audience, GF_FOR_GRAY);
    assert_int_equal(filter->stages[1].audience, GF_FOR_GRAY);
    assert_int_equal(filter->stages[3].audience, GF_FOR_COLOUR);
    assert_string_equal(filter->stages[1].label, "@pair.json: network 2: stage 1 (tanh)");
    assert_string_equal(filter->stages[2].label, "@pair.json: network 1: input");
    assert_true(filter->stages[0].entry.low == 1.0 && filter->stages[0].entry.high == -1.0);
    assert_true(filter->stages[0].entry.planes[0] == 2.5);
    assert_true(filter->stages[0].entry.planes[1] == 7.0);
    assert_true(filter->stages[2].entry.mean[2] == 3.0 &&
                filter->stages[2].entry.deviation[0] == 4.0);
    gf_filter_free(filter);
    filter = parse("@pair.json");
    assert_true(filter->stages[0].entry.planes[1] == 25.0);
    assert_string_equal(filter->name, "pair");
    gf_filter_free(filter);
}

static void test_paths(void **state)
{
    (void)state;
    const char *text = PLAIN "\"stages\":[{\"stage\":\"conv\",\"weight\":\"one.npy\"}]}";
    write_text("a:b,c.d.json", text);
    GfFilter *filter = parse("@a\\:b\\,c.d.json,relu");
    assert_string_equal(filter->name, "a:b,c-relu");
    assert_int_equal(filter->count, 2);
    gf_filter_free(filter);
    assert_int_equal(symlink("one.npy", "link.npy"), 0);
    filter = parse_file(PLAIN "\"stages\":[{\"stage\":\"conv\",\"weight\":\"./link.npy\"}]}");
    assert_true(filter->stages[0].linear.weights[0] == 0.5);
    gf_filter_free(filter);
    char absolute[64];
    snprintf(absolute, sizeof absolute, "@%s/net.json", folder);
    gf_filter_free(parse(absolute));
}

/* ---- what is refused ---- */

static void assert_refused(const char *text, const char *reason)
{
    GfFilter *filter;
    GfStatus status = gf_filter_parse(text, &filter);
    if (status != GF_EUSAGE || filter || !strstr(gf_message(), reason))
        fail_msg("%s: status %d and \"%s\" instead of \"%s\"", text, (int)status,
                 status == GF_OK ? "" : gf_message(), reason);
}

static void assert_file_refused(const char *json, const char *reason)
{
    write_text("net.json", json);
    assert_refused("@net.json", reason);
}

/* Of a network of one stage. */
static void assert_stage_refused(const char *members, const char *reason)
{
    char json[2048];
    snprintf(json, sizeof json, HEAD "\"stages\":[{\"stage\":\"relu\",\"name\":\"first\"},{%s}]}",
             members);
    assert_file_refused(json, reason);
}

static void test_stages_that_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"stage\":\"conv\",\"weight\":\"w\",\"strde\":2",
         "@net.json: stage 2 (conv): unknown key \"strde\"; did you mean \"stride\"?"},
        {"\"stage\":\"relu\",\"q\":2", "stage 2 (relu): unknown key \"q\"; known are: stage, name"},
        {"\"stage\":\"convv\"", "stage 2 (convv): unknown stage \"convv\"; did you mean \"conv\"?"},
        {"\"stage\":5", "stage 2: no \"stage\" says of what kind it is"},
        {"\"name\":\"x\"", "stage 2: no \"stage\" says"},
        {"\"stage\":\"conv\",\"name\":\"body\"", "stage 2 (conv \"body\"): \"weight\" is missing"},
        {"\"stage\":\"conv\",\"weight\":7", "\"weight\" is a text of 1 to 1000 bytes, not 7"},
        {"\"stage\":\"conv\",\"weight\":\"\"", "\"weight\" is a text of 1 to 1000 bytes, not \"\""},
        {"\"stage\":\"conv\",\"weight\":\"ww\"", "stage 2 (conv): \"weight\": "},
        {"\"stage\":\"conv\",\"weight\":\"flat\"",
         "an array of shape (3, 3); a layer's kernels are"},
        {"\"stage\":\"conv\",\"weight\":\"whole\"", "stage 2 (conv): \"weight\": "},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"bias\":\"row.npy\"",
         "\"bias\": an array of shape (3,) for 4 maps, which take a number each"},
        {"\"stage\":\"conv\",\"weight\":\"one.npy\",\"bias\":\"row.npy\"",
         "\"bias\": an array of shape (3,) for 1 map, which takes a number"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"bias\":\"flat\"",
         "\"bias\": an array of shape (3, 3)"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"bias\":null",
         "\"bias\" is a text of 1 to 1000 bytes, not null"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"groups\":3", "4 maps cannot be cut into 3 groups"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"groups\":0",
         "\"groups\" is a whole number from 1 to 65535, not 0"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":0",
         "\"stride\" is N or [height, width], whole numbers from 1 to 4095, not 0"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":-0", "not 0"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":1.5", "\"stride\" is N or"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":[1,2,3]", "not [1,2,3]"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":[]", "not []"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":\"same\"", "\"stride\" is N or"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"stride\":{\"a\":1}", "not {\"a\":1}"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"padding\":-1",
         "from 0 to 4095, or one of: same same_lower, not -1"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"padding\":[1,2,3]", "[top, left, bottom, right]"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"padding\":\"valid\"", "not \"valid\""},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"padding\":9223372036854775807", "\"padding\" is N"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"border\":\"zero\"",
         "\"border\" is one of: zeros replicate"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"border\":true", "not true"},
        {"\"stage\":\"maxpool\"", "\"size\" is missing"},
        {"\"stage\":\"maxpool\",\"size\":2,\"ceil\":1", "\"ceil\" is true or false, not 1"},
        {"\"stage\":\"maxpool\",\"size\":2,\"count_padding\":true",
         "unknown key \"count_padding\""},
        {"\"stage\":\"clamp\",\"low\":2,\"high\":1", "\"low\" is 2, above \"high\", 1"},
        {"\"stage\":\"scale\",\"gain\":1e39", "\"gain\" is a number from"},
        {"\"stage\":\"scale\",\"gain\":\"2\"", "not \"2\""},
        {"\"stage\":\"add\"", "\"from\" is missing"},
        {"\"stage\":\"add\",\"from\":\"frst\"",
         "\"from\": no stage before it is named \"frst\"; did you mean \"first\"?"},
        {"\"stage\":\"add\",\"from\":\"x\",\"name\":\"x\"", "\"x\" is stage 2, which is this one"},
        {"\"stage\":\"add\",\"from\":\"picture\"", "\"picture\" is none of the network's numbers"},
        {"\"stage\":\"add\",\"from\":\"a b\"", "\"from\" is a name of at most 64 letters"},
        {"\"stage\":\"abs\"},{\"stage\":\"add\",\"from\":\"y\"},{\"stage\":\"abs\",\"name\":\"y\"",
         "stage 3 (add): \"from\": \"y\" is stage 4, which is a later one"},
        {"\"stage\":\"abs\",\"name\":\"first\"",
         "stage 2 (abs \"first\"): stage 1 too is named \"first\""},
        {"\"stage\":\"abs\",\"name\":\"input\"", "the name \"input\" is taken"},
        {"\"stage\":\"abs\",\"name\":\"picture\"", "the name \"picture\" is taken"},
        {"\"stage\":\"abs\",\"name\":\"\"", "\"name\" is a name of at most 64"},
        {"\"stage\":\"abs\",\"name\":\"..\"", "\"name\" is a name of at most 64"},
        {"\"stage\":\"abs\",\"name\":\"a\\u001b[2J\\n\"",
         "stage 2 (abs \"a\\x1b[2J\\x0a\"): \"name\" is a name"},
        {"\"stage\":\"abs\",\"a\\u001bb\":1", "unknown key \"a\\x1bb\""},
        {"\"stage\":\"upsample\"", "\"factor\" is missing"},
        {"\"stage\":\"upsample\",\"factor\":65", "from 1 to 64, not 65"},
        {"\"stage\":\"upsample\",\"factor\":2,\"like\":\"there\"",
         "\"like\": no stage before it is named \"there\""},
        {"\"stage\":\"shuffle\",\"factor\":[2,2]",
         "\"factor\" is a whole number from 1 to 64, not [2,2]"},
        {"\"stage\":\"conv\",\"weight\":\"w\"},{\"stage\":\"conv\",\"weight\":\"w\",\"name\":\"z\"",
         "stage 3 (conv \"z\"): \"weight\": kernels of shape (4, 2, 3, 3) in 1 group take 2 "
         "channels; 4 come in"},
        {"\"stage\":\"conv\",\"weight\":\"w\",\"name\":\"a\"},{\"stage\":\"conv\",\"weight\":"
         "\"back\"},"
         "{\"stage\":\"add\",\"from\":\"a\"",
         "stage 4 (add): 2 channels come in, and \"a\" made 4"},
        {"\"stage\":\"conv\",\"weight\":\"w\"},{\"stage\":\"shuffle\",\"factor\":3",
         "4 channels cannot be shuffled into blocks of 3 x 3, which take 9 each"},
        {"\"stage\":\"conv\",\"weight\":\"../one.npy\"",
         "\"weight\": ../one.npy: weights lie beside"},
        {"\"stage\":\"conv\",\"weight\":\"a/../../one.npy\"", "weights lie beside"},
        {"\"stage\":\"conv\",\"weight\":\"/etc/one.npy\"", "weights lie beside"},
        {"\"stage\":\"conv\",\"weight\":\"none.npy\"", "none.npy: No such file"},
        {"\"stage\":\"conv\",\"weight\":\"net.json.npy\\u0007\"", "\"weight\": "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_stage_refused(cases[i][0], cases[i][1]);
}

#define STAGES "\"stages\":[{\"stage\":\"relu\"}]"

static void test_files_that_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "@net.json: line 1, column 0: "},
        {"[1]", "a filter file is a JSON object"},
        {"{", "line 1, column 1: "},
        {"{\"gpufilter\":1}{", "end of file expected"},
        {"{\"gpufilter\":1,\"gpufilter\":1}", "duplicate object key"},
        {"{" STAGES "}", "\"gpufilter\" is missing"},
        {"{\"gpufilter\":2," STAGES "}", "\"gpufilter\" is 1, not 2"},
        {"{\"gpufilter\":\"1\"," STAGES "}", "not \"1\""},
        {"{\"gpufilter\":1e999," STAGES "}", "real number overflow"},
        {"{\"gpufilter\":NaN," STAGES "}", "line 1"},
        {"{\"gpufilter\":99999999999999999999," STAGES "}", "too big integer"},
        {"{\"gpufilter\":1,\"name\":\"a\\u0000\"," STAGES "}", "line 1"},
        {"{\"gpufilter\":1,\"name\":\"\xff\"," STAGES "}", "line 1"},
        {PLAIN STAGES ",\"stagess\":1}", "unknown key \"stagess\"; did you mean \"stages\"?"},
        {PLAIN "\"name\":\"../x\"," STAGES "}", "\"name\" is a name of at most 64"},
        {PLAIN "\"stages\":[]}", "\"stages\" has 0 entries; 1 to 200 are accepted"},
        {PLAIN "\"stages\":{}}", "\"stages\" is a list of objects, not {}"},
        {PLAIN "\"stages\":[1]}", "\"stages\" is a list of objects, not 1"},
        {PLAIN "\"output\":{}}", "neither \"stages\" nor \"networks\""},
        {PLAIN "\"networks\":[{}]," STAGES "}", "there are others beside them"},
        {PLAIN "\"networks\":[{\"input\":{\"channels\":1}," STAGES "}]}", "\"networks\" has 1"},
        {PLAIN "\"networks\":[]}", "\"networks\" has 0; two are one for gray"},
        {PLAIN "\"networks\":[{},{},{}]}", "\"networks\" has 3; two are one for gray"},
        {PLAIN "\"networks\":[{\"input\":{\"channels\":1}," STAGES
               "},{\"input\":{\"channels\":2}," STAGES "}]}",
         "network 2: of two networks the \"input\" of one has 1 channel, of the other 3"},
        {PLAIN "\"networks\":[{\"input\":{\"channels\":1}," STAGES
               "},{\"input\":{\"channels\":1}," STAGES "}]}",
         "both networks take gray pictures"},
        {PLAIN "\"networks\":[{\"input\":{\"channels\":1}," STAGES "},{\"input\":{\"channels\":3},"
               "\"stages\":[{\"stage\":\"reluu\"}]}]}",
         "@net.json: network 2: stage 1 (reluu): unknown"},
        {PLAIN "\"networks\":[{" STAGES "},{" STAGES "}]}", "network 1: \"input\" is missing"},
        {PLAIN "\"input\":{}," STAGES "}", "input: \"channels\" is missing"},
        {PLAIN "\"input\":{\"channels\":0}," STAGES "}",
         "input: \"channels\" is a whole number from 1"},
        {PLAIN "\"input\":{\"channels\":1,\"range\":[0]}," STAGES "}",
         "\"range\" has 1 number instead of 2"},
        {PLAIN "\"input\":{\"channels\":1,\"range\":[2,2]}," STAGES "}",
         "black and white are both 2"},
        {PLAIN "\"input\":{\"channels\":1,\"range\":5}," STAGES "}",
         "\"range\" is a list of numbers, not 5"},
        {PLAIN "\"input\":{\"channels\":3,\"mean\":[1,2]}," STAGES "}",
         "\"mean\" has 2 numbers instead of 3"},
        {PLAIN "\"input\":{\"channels\":1,\"mean\":[\"a\"]}," STAGES "}", "not \"a\""},
        {PLAIN "\"input\":{\"channels\":3,\"std\":[1,2,0]}," STAGES "}",
         "nothing is divided by 0, as that of channel 3"},
        {PLAIN "\"input\":{\"channels\":1,\"std\":[1e-300]}," STAGES "}",
         "@net.json: input: a filter's numbers are beyond"},
        {PLAIN "\"input\":{\"channels\":1,\"mean\":[3e38],\"std\":[1e-9]}," STAGES "}",
         "@net.json: input: a filter's numbers are beyond"},
        {PLAIN "\"input\":{\"channels\":1,\"planes\":[{}]}," STAGES "}",
         "input: plane 1: a plane has either"},
        {PLAIN "\"input\":{\"channels\":1,\"planes\":[{\"value\":1},{\"parameter\":\"s\"}]}," STAGES
               "}",
         "input: plane 2: \"parameters\" has no \"s\""},
        {PLAIN "\"input\":{\"channels\":1,\"planes\":[{\"value\":1,\"scale\":2}]}," STAGES "}",
         "go with a \"parameter\""},
        {PLAIN "\"input\":{\"channels\":1,\"planes\":[]}," STAGES "}", "\"planes\" has 0 entries"},
        {PLAIN STAGES ",\"output\":{\"as\":\"picture\"}}",
         "output: \"as\": \"picture\" needs an \"input\" object"},
        {PLAIN STAGES ",\"output\":{\"as\":\"pictures\"}}",
         "output: \"as\" is one of: maps picture residual"},
        {PLAIN STAGES ",\"output\":{\"range\":[0,1]}}", "output: \"range\" goes with"},
        {PLAIN "\"input\":{\"channels\":1,\"planes\":[{\"value\":1}]}," STAGES
               ",\"output\":{\"as\":\"residual\"}}",
         "output: the last stage makes 2 maps; a residual has 1, 3 or as many as the input, 1"},
        {PLAIN "\"parameters\":{\"a:b\":{}}," STAGES "}", "parameter \"a:b\": a name has"},
        {PLAIN "\"parameters\":{\"s\":1}," STAGES "}",
         "parameter \"s\": an object says what it is"},
        {PLAIN "\"parameters\":{\"s\":{\"default\":1,\"minimum\":2,\"maximum\":3}}," STAGES "}",
         "parameter \"s\": the default, 1, is not from minimum, 2, to maximum, 3"},
        {PLAIN "\"parameters\":{\"s\":{\"default\":1,\"minimum\":0}}," STAGES "}",
         "\"maximum\" is missing"},
        {PLAIN "\"weights\":\"none.safetensors\"," STAGES "}",
         "\"weights\": none.safetensors: No such file"},
        {PLAIN "\"weights\":\"one.npy\"," STAGES "}",
         "\"weights\": one.npy: an .npy file has no names"},
        {PLAIN "\"weights\":\"../net.safetensors\"," STAGES "}", "weights lie beside"},
        {PLAIN "\"weights\":\"net.json\"," STAGES "}", "neither an .npy nor a .safetensors file"},
        {PLAIN "\"stages\":[{\"stage\":\"conv\",\"weight\":\"w\"}]}",
         "\"weight\": \"w\" is a tensor of the file that \"weights\" names, and it names none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_file_refused(cases[i][0], cases[i][1]);
    assert_refused("@", "\"@\" without the path of a filter file");
    assert_refused("@none.json", "@none.json: No such file");
    assert_refused("@.", "it is neither a file nor a pipe");
    assert_refused("@a\x1b.json", "@a\\x1b.json: No such file");
}

#define NUMBER(name) "\"" name "\":{\"default\":1,\"minimum\":0,\"maximum\":2}"
#define SEVEN                                                                                      \
    NUMBER("a")                                                                                    \
    "," NUMBER("b") "," NUMBER("c") "," NUMBER("d") "," NUMBER("e") "," NUMBER("f") "," NUMBER("g")

static void test_parameters_that_are_refused(void **state)
{
    (void)state;
    write_text("net.json", PLAIN "\"parameters\":{" SEVEN "," NUMBER("h") "}," STAGES "}");
    gf_filter_free(parse("@net.json:h=2"));
    assert_file_refused(PLAIN "\"parameters\":{" SEVEN "," NUMBER("h") "," NUMBER("i") "}," STAGES
                                                                                       "}",
                        "more than 8 parameters");
    write_text("net.json", PLAIN
               "\"parameters\":{\"sigma\":{\"default\":25,\"minimum\":0,\"maximum\":75}}," STAGES
               "}");
    assert_refused("@net.json:sigma=76", "@net.json: sigma=76 is outside 0 to 75");
    assert_refused("@net.json:sigma=a", "is not a number");
    assert_refused("@net.json:sgma=1",
                   "@net.json has no parameter \"sgma\"; did you mean \"sigma\"?");
    assert_refused("@net.json:sigma=1:sigma=2", "sigma is given twice");
    write_text("net.json", PLAIN STAGES "}");
    assert_refused("@net.json:sigma=1", "@net.json has no parameters");
}

/* What would take much memory or time, or a deep stack. */
static void test_monsters(void **state)
{
    (void)state;
    const size_t size = 2 << 20;
    char *text;
    assert_int_equal(gf_allocate(size + 1, 1, &text), GF_OK);
    text[size] = '\0';
    memset(text, ' ', size);
    assert_file_refused(text, "the file is larger than 1 MiB");
    text[1 << 20] = '\0';
    memset(text, '[', 1 << 20);
    assert_file_refused(text, "line 1");
    for (size_t i = 0; i + 5 < 1 << 20; i += 5)
        memcpy(text + i, "{\"a\":", 6);
    assert_file_refused(text, "line 1");
    for (size_t i = 1; i < 1 << 20; i++)
        text[i] = i % 2 ? '1' : ',';
    memcpy(text, PLAIN "\"stages\":[0", strlen(PLAIN "\"stages\":[0"));
    memcpy(text + (1 << 20) - 3, "1]}", 4);
    assert_file_refused(text, "\"stages\" has 5");
    memcpy(text, PLAIN "\"summary\" :[0", strlen(PLAIN "\"summary\" :[0"));
    assert_file_refused(text, "\"summary\" is a text of 1 to 1000 bytes, not [0,1,1");
    free(text);
    write_bytes("net.json", "{\"gpufilter\"\0:1}", 16);
    assert_refused("@net.json", "line 1");
}

/* ---- the manual ---- */

/* The JSON between the marked lines of the manual page, its escapes taken out. */
static json_t *read_schema(void)
{
    static char page[1 << 18];
    FILE *file = fopen(GF_MANUAL, "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    char *begin = strstr(page, ".\\\" schema\n");
    assert_non_null(begin);
    begin = strchr(strstr(begin, "\n.Bd"), '{');
    char *end = strstr(begin, "\n.Ed"), *to = begin;
    for (const char *from = begin; from < end; from++)
        if (*from != '\\')
            *to++ = *from;
        else if (from[1] == 'e')
            *to++ = *++from == 'e' ? '\\' : '-';
    json_error_t error;
    json_t *schema = json_loadb(begin, (size_t)(to - begin), JSON_REJECT_DUPLICATES, &error);
    if (!schema)
        fail_msg("line %d of the schema: %s", error.line, error.text);
    return schema;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* What the schema refers to for sizes: a definition for each range. */
static const json_t *sizes_of(const json_t *schema, const json_t *definitions)
{
    static const char place[] = "#/$defs/";
    const char *path = text_of(schema, "$ref");
    bool refers = strncmp(path, place, strlen(place)) == 0;
    const json_t *sizes = refers ? json_object_get(definitions, path + strlen(place)) : NULL;
    return json_array_get(json_object_get(sizes, "anyOf"), 0);
}

/* The type that the schema gives a member, or what it refers to. */
static void assert_described(const char *stage, const GfField *field, const json_t *schema,
                             const json_t *definitions)
{
    static const char *const types[] = {
        [GF_FIELD_NUMBER] = "number",     [GF_FIELD_WHOLE] = "integer",
        [GF_FIELD_SWITCH] = "boolean",    [GF_FIELD_WORD] = "",
        [GF_FIELD_NAME] = "#/$defs/name", [GF_FIELD_TEXT] = "#/$defs/text",
        [GF_FIELD_SIZES] = "integer",     [GF_FIELD_PADDING] = "#/$defs/padding",
        [GF_FIELD_NUMBERS] = "array",     [GF_FIELD_OBJECT] = "object",
        [GF_FIELD_LIST] = "array"};
    const json_t *standard = json_object_get(schema, "default");
    if (field->kind == GF_FIELD_SIZES)
        schema = sizes_of(schema, definitions);
    const char *type = *text_of(schema, "$ref") ? text_of(schema, "$ref") : text_of(schema, "type");
    bool limited = field->maximum < 1e38 && field->maximum > 0;
    if (!schema || strcmp(type, types[field->kind]) != 0)
        fail_msg("%s: %s is \"%s\" in the schema", stage, field->name, type);
    if (field->kind == GF_FIELD_WHOLE || field->kind == GF_FIELD_SIZES ||
        (field->kind == GF_FIELD_NUMBER && limited))
        assert_true(json_number_value(json_object_get(schema, "maximum")) == field->maximum &&
                    json_number_value(json_object_get(schema, "minimum")) == field->minimum);
    if (field->kind == GF_FIELD_WORD)
        for (size_t i = 0; i < json_array_size(json_object_get(schema, "enum")); i++)
            assert_non_null(strstr(field->words, json_string_value(json_array_get(
                                                     json_object_get(schema, "enum"), i))));
    if (json_is_number(standard) && json_number_value(standard) != field->standard)
        fail_msg("%s: the default of %s", stage, field->name);
    if (field->kind == GF_FIELD_NUMBER && fabs(field->standard) < 1e38)
        assert_non_null(standard);
}

static bool is_required(const json_t *schema, const char *name)
{
    const json_t *list = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), name) == 0)
            return true;
    return false;
}

/* The schema in the manual has every kind of stage with just its members. */
static void test_schema(void **state)
{
    (void)state;
    json_t *schema = read_schema();
    const json_t *definitions = json_object_get(schema, "$defs");
    const json_t *kinds = json_object_get(json_object_get(definitions, "stage"), "oneOf");
    const json_t *longest = json_object_get(json_object_get(definitions, "text"), "maxLength");
    assert_int_equal(json_integer_value(longest), GF_FIELD_TEXT_MAX);
    size_t count = 0;
    for (const GfNetworkStage *kind = gf_network_stages; kind->name; kind++, count++) {
        const json_t *described = json_array_get(kinds, count);
        json_t *properties = json_object_get(described, "properties");
        assert_string_equal(text_of(json_object_get(properties, "stage"), "const"), kind->name);
        assert_true(is_required(described, "stage"));
        assert_true(json_is_false(json_object_get(described, "additionalProperties")));
        size_t members = 2;
        for (const GfField *field = kind->fields; field->name; field++, members++) {
            assert_described(kind->name, field, json_object_get(properties, field->name),
                             definitions);
            assert_int_equal(is_required(described, field->name), field->required);
        }
        assert_non_null(json_object_get(properties, "name"));
        assert_int_equal(json_object_size(properties), members);
    }
    assert_int_equal(json_array_size(kinds), count);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_stages_and_references),
        cmocka_unit_test(test_layers_and_pools),
        cmocka_unit_test(test_parameters_and_pairs),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_stages_that_are_refused),
        cmocka_unit_test(test_files_that_are_refused),
        cmocka_unit_test(test_parameters_that_are_refused),
        cmocka_unit_test(test_monsters),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
