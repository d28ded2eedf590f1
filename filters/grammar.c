/* A recursive descent without recursion: the text is split at commas into items, an item at colons
 * into a name and parameters (parameter.c). An inline kernel is known by its WxH, a filter file by
 * its "@", a kernel file by a "/" or "." in its name, which no filter of the catalogue has. */
#include "filters/grammar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/banks.h"
#include "filters/catalog.h"
#include "filters/kernel_file.h"
#include "filters/network_file.h"
#include "filters/parameter.h"

enum { SHOWN = 160 }; /* bytes of a user's text that a message repeats */

static GfStatus add_named(const GfNamedFilter *row, char *parameters, GfFilter *filter)
{
    GfValue values[GF_MAX_PARAMETERS];
    GF_TRY(gf_parameters_read(row, parameters, values));
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
    char shown[SHOWN];
    if (*text == '/') {
        text++;
        if (!gf_read_number(&text, &scale) || scale == 0.0)
            return gf_fail(GF_EUSAGE,
                           "the kernel's scale after \"/\" is not a number other than 0");
    }
    if ((*text == '+' || *text == '-') && !gf_read_number(&text, &offset))
        return gf_fail(GF_EUSAGE,
                       "the kernel's offset is not a number: \"%s\" (one sign stands "
                       "before it, as in %zux%zu-3:)",
                       gf_escape(text, shown, sizeof shown), side[0], side[1]);
    size_t count = side[0] * side[1];
    const char *plural = count == 1 ? "" : "s";
    if (*text++ != ':')
        return gf_fail(GF_EUSAGE, "a kernel is written %zux%zu: and its %zu number%s behind that",
                       side[0], side[1], count, plural);
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, side[0], side[1], &linear));
    linear->scale = 1.0 / scale;
    linear->offset = offset;
    for (size_t i = 0; i < count; i++) {
        if (gf_read_number(&text, &linear->weights[i]))
            continue;
        text += strspn(text, " \t\r\n");
        if (*text)
            return gf_fail(GF_EUSAGE, "the %zux%zu kernel: \"%s\" is not a number", side[0],
                           side[1], gf_escape(text, shown, sizeof shown));
        return gf_fail(
            GF_EUSAGE,
            "the %zux%zu kernel has %zu number%s instead of %zu (separate them by spaces: "
            "a comma begins the next filter)",
            side[0], side[1], i, i == 1 ? "" : "s", count);
    }
    text += strspn(text, " \t\r\n");
    if (*text)
        return gf_fail(GF_EUSAGE, "the %zux%zu kernel has more than %zu number%s: \"%s\" is left",
                       side[0], side[1], count, plural, gf_escape(text, shown, sizeof shown));
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

/* @PATH[:PARAMETER=VALUE]...; `item` begins behind the "@". */
static GfStatus add_file(char *item, GfFilter *filter)
{
    GfValue values[GF_MAX_PARAMETERS];
    GfNetworkFile *file = NULL;
    GfStatus status;
    char *parameters = gf_cut(item, ':');
    gf_unescape(item);
    if (!*item)
        return gf_fail(GF_EUSAGE, "\"@\" without the path of a filter file");
    GF_GO(gf_network_file_open(item, &file));
    GF_GO(gf_parameters_read(gf_network_file_row(file), parameters, values));
    GF_GO(gf_network_file_add(file, values, filter));
    const char *name = gf_network_file_name(file);
    status = append_name(filter, name, strlen(name));
done:
    gf_network_file_close(file);
    return status;
}

/* Filters that people look for and do not find: what weighs and adds samples is fast and exact
 * because it does nothing else. */
static const struct {
    const char *name, *why;
} nonlinear[] = {
    {"median", "sorts samples"},
    {"bilateral", "weighs samples by their differences"},
};

/* Whether the text goes on behind what could be a filter's name, but not as the grammar wants. */
static bool has_other_separator(const char *text)
{
    char name[SHOWN];
    size_t length = strcspn(text, "./ \t\r\n=+|;&(");
    if (length >= sizeof name || !text[length] || text[length] == '.' || text[length] == '/')
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    return gf_catalog_nearest(name) != NULL;
}

static GfStatus unknown_filter(const char *name)
{
    char shown[SHOWN];
    for (size_t i = 0; i < sizeof nonlinear / sizeof *nonlinear; i++)
        if (strcmp(nonlinear[i].name, name) == 0)
            return gf_fail(GF_EUSAGE,
                           "unknown filter \"%s\": it %s, which is not linear and out of scope; "
                           "kernels here have fixed weights",
                           name, nonlinear[i].why);
    const char *nearest = gf_catalog_nearest(name);
    gf_escape(name, shown, sizeof shown);
    if (strspn(name, "+-.0123456789eE \t\r\n") == strlen(name) && strchr(name, ' '))
        return gf_fail(
            GF_EUSAGE,
            "\"%s\": a kernel's size comes first, as in \"3x3: 0 -1 0  -1 5 -1  0 -1 0\"", shown);
    if (*name && strspn(name, "0123456789") == strlen(name))
        return gf_fail(GF_EUSAGE,
                       "unknown filter \"%s\": a comma begins the next filter; fractions have a "
                       "point, as in gaussian:sigma=1.5",
                       shown);
    if (has_other_separator(name))
        return gf_fail(GF_EUSAGE,
                       "unknown filter \"%s\": parameters stand behind a colon, the next filter "
                       "behind a comma, as in gaussian:sigma=2,sobel",
                       shown);
    if (gf_named_bank_find(name))
        return gf_fail(GF_EUSAGE, "\"%s\" is a bank of filters; write --bank %s", shown, shown);
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
    if (*item == '@')
        return add_file(item + 1, filter);
    bool is_kernel = false;
    GF_TRY(add_inline(item, filter, &is_kernel));
    if (is_kernel)
        return append_name(filter, "custom", strlen("custom"));
    char *parameters = strchr(item, ':');
    size_t length = parameters ? (size_t)(parameters - item) : strlen(item);
    if (memchr(item, '/', length) || memchr(item, '.', length)) {
        gf_unescape(item);
        if (has_other_separator(item) && access(item, F_OK) != 0)
            return unknown_filter(item);
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
        char *next = gf_cut(item, ',');
        GF_GO(add_item(item, filter));
        item = next;
    }
    GF_GO(gf_filter_check(filter));
    *out = filter;
    filter = NULL;
done:
    gf_filter_free(filter);
    free(copy);
    return status;
}
