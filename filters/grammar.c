/* A recursive descent without recursion: the text is split at commas into items, an item at colons
 * into a name and parameters. An inline kernel is known by its WxH, a kernel file by a "/" or "."
 * in its name, which no filter of the catalogue has. */
#include "filters/grammar.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/catalog.h"
#include "filters/kernel_file.h"

enum { SHOWN = 160 }; /* bytes of a user's text that a message repeats */

/* The number of `word` among `words` ("a b c"), or -1. */
static int word_number(const char *words, const char *word)
{
    size_t length = strlen(word);
    int number = 0;
    while (words && *words) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return number;
        words += n + strspn(words + n, " ");
        number++;
    }
    return -1;
}

static GfStatus set_parameter(const GfNamedFilter *row, const GfParameter *parameter,
                              const char *text, double *value)
{
    char shown[SHOWN];
    const char *end = text;
    gf_escape(text, shown, sizeof shown);
    if (parameter->words) {
        int number = word_number(parameter->words, text);
        if (number < 0)
            return gf_fail(GF_EUSAGE, "%s: %s is one of: %s; not \"%s\"", row->name,
                           parameter->name, parameter->words, shown);
        *value = number;
        return GF_OK;
    }
    if (!gf_read_number(&end, value) || *end)
        return gf_fail(GF_EUSAGE, "%s: %s=%s is not a number", row->name, parameter->name, shown);
    if (*value < parameter->minimum || *value > parameter->maximum)
        return gf_fail(GF_EUSAGE, "%s: %s=%s is outside %g to %g", row->name, parameter->name,
                       shown, parameter->minimum, parameter->maximum);
    if (parameter->integer && *value != floor(*value))
        return gf_fail(GF_EUSAGE, "%s: %s=%s is not a whole number", row->name, parameter->name,
                       shown);
    if (parameter->odd && *value > 0 && fmod(*value, 2.0) == 0.0)
        return gf_fail(GF_EUSAGE, "%s: %s=%s is not odd", row->name, parameter->name, shown);
    return GF_OK;
}

/* Finds the parameter that `text` ("key=value", or a bare word of a choice) sets. */
static GfStatus find_parameter(const GfNamedFilter *row, char *text, size_t *index, char **value)
{
    char shown[SHOWN];
    char *equals = strchr(text, '=');
    const char *names[GF_MAX_PARAMETERS + 1];
    size_t n = 0;
    if (equals)
        *equals = '\0';
    *value = equals ? equals + 1 : text;
    for (; n < GF_MAX_PARAMETERS && row->parameters[n].name; n++) {
        const GfParameter *parameter = &row->parameters[n];
        *index = n;
        if (equals ? strcmp(parameter->name, text) == 0 : word_number(parameter->words, text) >= 0)
            return GF_OK;
        names[n] = parameter->name;
    }
    names[n] = NULL;
    gf_escape(text, shown, sizeof shown);
    if (n == 0)
        return gf_fail(GF_EUSAGE, "%s has no parameters; \"%s\" is one too many", row->name, shown);
    if (!equals)
        return gf_fail(GF_EUSAGE, "%s: \"%s\" is not of the form parameter=value", row->name,
                       shown);
    const char *nearest = gf_nearest(text, names);
    return gf_fail(GF_EUSAGE, "%s has no parameter \"%s\"%s%s%s (gpufilter filters %s lists them)",
                   row->name, shown, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "", row->name);
}

static GfStatus add_named(const GfNamedFilter *row, char *parameters, GfFilter *filter)
{
    double values[GF_MAX_PARAMETERS];
    bool given[GF_MAX_PARAMETERS] = {false};
    for (size_t i = 0; i < GF_MAX_PARAMETERS; i++)
        values[i] = row->parameters[i].standard;
    while (parameters) {
        char *next = strchr(parameters, ':');
        if (next)
            *next++ = '\0';
        size_t index = 0;
        char *value;
        GF_TRY(find_parameter(row, parameters, &index, &value));
        if (given[index])
            return gf_fail(GF_EUSAGE, "%s: %s is given twice", row->name,
                           row->parameters[index].name);
        given[index] = true;
        GF_TRY(set_parameter(row, &row->parameters[index], value, &values[index]));
        parameters = next;
    }
    return row->stages(values, filter);
}

/* WxH[/SCALE][+OFFSET]: W1 W2 ... Sets *is_kernel where `text` begins as one. */
static GfStatus add_inline(const char *text, GfFilter *filter, bool *is_kernel)
{
    size_t side[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 5)
            return GF_OK;
        side[i] = strtoul(text, NULL, 10);
        text += digits;
        if (i == 0 && *text++ != 'x')
            return GF_OK;
    }
    *is_kernel = true;
    double scale = 1.0, offset = 0.0;
    if (*text == '/') {
        text++;
        if (!gf_read_number(&text, &scale) || scale == 0.0)
            return gf_fail(GF_EUSAGE,
                           "the kernel's scale after \"/\" is not a number other than 0");
    }
    if ((*text == '+' || *text == '-') && !gf_read_number(&text, &offset))
        return gf_fail(GF_EUSAGE, "the kernel's offset is not a number");
    if (*text++ != ':')
        return gf_fail(GF_EUSAGE, "a kernel is written %zux%zu: and then its %zu numbers", side[0],
                       side[1], side[0] * side[1]);
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, side[0], side[1], &linear));
    linear->scale = 1.0 / scale;
    linear->offset = offset;
    size_t count = side[0] * side[1];
    char shown[SHOWN];
    for (size_t i = 0; i < count; i++) {
        if (gf_read_number(&text, &linear->weights[i]))
            continue;
        text += strspn(text, " \t\r\n");
        if (*text)
            return gf_fail(GF_EUSAGE, "the %zux%zu kernel: \"%s\" is not a number", side[0],
                           side[1], gf_escape(text, shown, sizeof shown));
        return gf_fail(
            GF_EUSAGE,
            "the %zux%zu kernel has %zu numbers instead of %zu (separate them by spaces: "
            "a comma begins the next filter)",
            side[0], side[1], i, count);
    }
    text += strspn(text, " \t\r\n");
    if (*text)
        return gf_fail(GF_EUSAGE, "the %zux%zu kernel has more than %zu numbers: \"%s\" is left",
                       side[0], side[1], count, gf_escape(text, shown, sizeof shown));
    return GF_OK;
}

/* Appends "-name" to the filter's name for files. */
static GfStatus append_name(GfFilter *filter, const char *name, size_t length)
{
    size_t used = filter->name ? strlen(filter->name) : 0;
    char *longer = realloc(filter->name, used + length + 2);
    if (!longer)
        return gf_fail(GF_EMEMORY, "out of memory");
    if (used)
        longer[used++] = '-';
    memcpy(longer + used, name, length);
    longer[used + length] = '\0';
    filter->name = longer;
    return GF_OK;
}

static GfStatus unknown_filter(const char *name)
{
    char shown[SHOWN];
    const char *nearest = gf_catalog_nearest(name);
    gf_escape(name, shown, sizeof shown);
    if (nearest)
        return gf_fail(GF_EUSAGE, "unknown filter \"%s\"; did you mean \"%s\"?", shown, nearest);
    return gf_fail(GF_EUSAGE, "unknown filter \"%s\" (gpufilter filters lists them)", shown);
}

/* One item of the chain; `item` is changed. */
static GfStatus add_item(char *item, GfFilter *filter)
{
    item += strspn(item, " \t\r\n");
    for (size_t n = strlen(item); n > 0 && isspace((unsigned char)item[n - 1]); n--)
        item[n - 1] = '\0';
    if (!*item)
        return gf_fail(GF_EUSAGE, "an empty filter name");
    bool is_kernel = false;
    GF_TRY(add_inline(item, filter, &is_kernel));
    if (is_kernel)
        return append_name(filter, "custom", strlen("custom"));
    char *parameters = strchr(item, ':');
    size_t length = parameters ? (size_t)(parameters - item) : strlen(item);
    if (memchr(item, '/', length) || memchr(item, '.', length)) {
        GF_TRY(gf_kernel_file_read(item, filter));
        const char *base = strrchr(item, '/') ? strrchr(item, '/') + 1 : item;
        return append_name(filter, base, *base == '.' ? strlen(base) : strcspn(base, "."));
    }
    if (parameters)
        *parameters++ = '\0';
    const GfNamedFilter *row = gf_catalog_find(item);
    if (!row)
        return unknown_filter(item);
    GF_TRY(add_named(row, parameters, filter));
    return append_name(filter, item, length);
}

GfStatus gf_filter_parse(const char *text, GfFilter **out)
{
    GfFilter *filter = NULL;
    char *copy = strdup(text);
    GfStatus status = GF_OK;
    *out = NULL;
    GF_GO(copy ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    GF_GO(gf_allocate_zero(1, sizeof *filter, &filter));
    filter->text = strdup(text);
    GF_GO(filter->text ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    for (char *item = copy; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma++ = '\0';
        GF_GO(add_item(item, filter));
        item = comma;
    }
    GF_GO(gf_filter_check(filter));
    *out = filter;
    filter = NULL;
done:
    gf_filter_free(filter);
    free(copy);
    return status;
}
