/* An .npy header is the repr() of a Python dict, which NumPy reads with ast.literal_eval. Only one
 * shape of dict can be right, so this is a parser of just that: three known keys, each once, in any
 * order, a quoted string, True or False, and a tuple of whole numbers. It never recurses, so that
 * no nesting can exhaust the stack, and knows no expression, so that none can be evaluated. */
#include "images/npy_header.h"

#include <string.h>

#include "common/memory.h"

typedef struct Text {
    const char *at, *end;
} Text;

GfStatus gf_npy_preamble(const unsigned char *bytes, size_t size, size_t *text_offset,
                         size_t *text_size)
{
    if (size < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return gf_fail(GF_EINPUT, "not an .npy file, or one that ends in its first bytes");
    unsigned version = bytes[6];
    if (version < 1 || version > 3 || bytes[7] != 0)
        return gf_fail(GF_EINPUT, ".npy format version %u.%u is not known", version, bytes[7]);
    *text_offset = version == 1 ? 10 : 12;
    if (size < *text_offset)
        return gf_fail(GF_EINPUT, "the .npy file ends in its first bytes");
    *text_size = bytes[8] | (size_t)bytes[9] << 8;
    if (version > 1)
        *text_size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (*text_size > GF_NPY_TEXT_MAX)
        return gf_fail(GF_EINPUT, "the .npy header claims %zu bytes, over the limit of %d",
                       *text_size, GF_NPY_TEXT_MAX);
    return GF_OK;
}

static GfStatus malformed(const char *what)
{
    return gf_fail(GF_EINPUT, "the .npy header is malformed: %s", what);
}

static void skip_spaces(Text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n'))
        text->at++;
}

/* Takes `c`, spaces around it ignored; false and nothing taken when something else comes. */
static bool take(Text *text, char c)
{
    skip_spaces(text);
    if (text->at == text->end || *text->at != c)
        return false;
    text->at++;
    skip_spaces(text);
    return true;
}

static bool take_word(Text *text, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(text->end - text->at) < size || memcmp(text->at, word, size) != 0)
        return false;
    text->at += size;
    return true;
}

/* A quoted string of printable ASCII without escapes, cut to nothing but its characters. */
static GfStatus take_string(Text *text, char *string, size_t size)
{
    char quote = text->at < text->end ? *text->at : '\0';
    if (quote != '\'' && quote != '"')
        return malformed("a quoted string is missing");
    size_t used = 0;
    for (text->at++; text->at < text->end && *text->at != quote; text->at++) {
        if (*text->at < ' ' || *text->at > '~' || *text->at == '\\')
            return malformed("a string holds a character that no key or dtype has");
        if (used + 1 >= size)
            return malformed("a string is too long for a key or dtype");
        string[used++] = *text->at;
    }
    string[used] = '\0';
    if (text->at == text->end)
        return malformed("a string does not end");
    text->at++;
    return GF_OK;
}

static GfStatus take_number(Text *text, size_t *number)
{
    const char *start = text->at;
    *number = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
        if (!gf_mul(*number, 10, number) || !gf_add(*number, (size_t)(*text->at - '0'), number))
            return malformed("a dimension is too large");
    if (text->at == start)
        return malformed("the shape holds something that is no whole number from 1 on");
    return GF_OK;
}

/* Python's tuples: (), (3,), (3, 4) or (3, 4,); (3) is a number. */
static GfStatus take_shape(Text *text, GfNpyHeader *header)
{
    bool comma = true;
    header->rank = 0;
    header->count = 1;
    if (!take(text, '('))
        return malformed("the shape is no tuple");
    while (!take(text, ')')) {
        size_t number;
        if (!comma)
            return malformed("the shape is no tuple of whole numbers");
        GF_TRY(take_number(text, &number));
        comma = take(text, ',');
        if (number == 0)
            return gf_fail(GF_EINPUT, "the .npy array is empty: a dimension is 0");
        if (header->rank == GF_NPY_RANK_MAX)
            return gf_fail(GF_EINPUT, "the .npy array has more than %d dimensions",
                           GF_NPY_RANK_MAX);
        if (!gf_mul(header->count, number, &header->count))
            return gf_fail(GF_EINPUT, "the .npy array's shape is too large");
        header->shape[header->rank++] = number;
    }
    return header->rank == 1 && !comma ? malformed("the shape is no tuple") : GF_OK;
}

static GfStatus take_descr(Text *text, GfNpyHeader *header)
{
    if (text->at < text->end && *text->at == '[')
        return gf_fail(GF_EINPUT, "a structured .npy dtype is not accepted; save one field of it");
    GF_TRY(take_string(text, header->descr, sizeof header->descr));
    if (strchr(header->descr, 'O'))
        return gf_fail(GF_EINPUT, "an .npy array of Python objects is a pickle and never opened; "
                                  "save it by numpy.save() with a numeric dtype, e.g. "
                                  "array.astype('float32')");
    return GF_OK;
}

static GfStatus take_order(Text *text, GfNpyHeader *header)
{
    header->fortran_order = take_word(text, "True");
    if (!header->fortran_order && !take_word(text, "False"))
        return malformed("fortran_order is neither True nor False");
    return GF_OK;
}

GfStatus gf_npy_parse(const char *bytes, size_t size, GfNpyHeader *header)
{
    static const struct {
        const char *key;
        GfStatus (*take)(Text *, GfNpyHeader *);
    } entries[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};
    enum { ENTRIES = sizeof entries / sizeof entries[0] };
    Text text = {bytes, bytes + size};
    bool seen[ENTRIES] = {false}, comma = true;
    if (!take(&text, '{'))
        return malformed("it is no dict");
    while (!take(&text, '}')) {
        char key[GF_NPY_DESCR_SIZE];
        size_t i = 0;
        if (!comma)
            return malformed("a comma or the closing brace is missing");
        GF_TRY(take_string(&text, key, sizeof key));
        while (i < ENTRIES && strcmp(key, entries[i].key) != 0)
            i++;
        if (i == ENTRIES || seen[i])
            return gf_fail(GF_EINPUT, "the .npy header has the key '%s'%s", key,
                           i < ENTRIES ? " twice" : ", which the format does not know");
        if (!take(&text, ':'))
            return malformed("a colon is missing");
        GF_TRY(entries[i].take(&text, header));
        seen[i] = true;
        comma = take(&text, ',');
    }
    for (size_t i = 0; i < ENTRIES; i++)
        if (!seen[i])
            return gf_fail(GF_EINPUT, "the .npy header has no key '%s'", entries[i].key);
    return text.at == text.end ? GF_OK : malformed("something follows the dict");
}
