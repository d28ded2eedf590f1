/* A setter for each kind of parameter: it reads the text, holds it to the row's range and says what
 * is wrong with it. */
#include "filters/parameter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

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

/* What a parameter was given as, for messages. */
typedef struct Given {
    const char *filter;
    const GfParameter *parameter;
    const char *text;
} Given;

static GfStatus refuse(const Given *given, const char *why)
{
    char shown[SHOWN];
    return gf_fail(GF_EUSAGE, "%s: %s=%s %s", given->filter, given->parameter->name,
                   gf_escape(given->text, shown, sizeof shown), why);
}

static GfStatus check_range(const Given *given, double number)
{
    const GfParameter *parameter = given->parameter;
    char why[SHOWN];
    if (number >= parameter->minimum && number <= parameter->maximum)
        return GF_OK;
    snprintf(why, sizeof why, "is outside %g to %g", parameter->minimum, parameter->maximum);
    return refuse(given, why);
}

static GfStatus set_number(const Given *given, GfValue *value)
{
    const GfParameter *parameter = given->parameter;
    const char *end = given->text;
    if (!gf_read_number(&end, &value->number) || *end)
        return refuse(given, "is not a number");
    GF_TRY(check_range(given, value->number));
    if (parameter->kind != GF_NUMBER && value->number != floor(value->number))
        return refuse(given, "is not a whole number");
    if (parameter->kind == GF_ODD && value->number > 0 && fmod(value->number, 2.0) == 0.0)
        return refuse(given, "is not odd");
    return GF_OK;
}

static GfStatus set_word(const Given *given, GfValue *value)
{
    char shown[SHOWN];
    value->word = word_number(given->parameter->words, given->text);
    if (value->word >= 0)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "%s: %s is one of: %s; not \"%s\"", given->filter,
                   given->parameter->name, given->parameter->words,
                   gf_escape(given->text, shown, sizeof shown));
}

/* Numbers count as the same where names of outputs, which show six digits, could not tell them
 * apart. */
static bool is_listed(const GfValue *value, double number)
{
    for (size_t i = 0; i < value->count; i++)
        if (fabs(value->list[i] - number) <= 1e-5 * fabs(number))
            return true;
    return false;
}

static GfStatus set_list(const Given *given, GfValue *value)
{
    const char *end = given->text;
    value->count = 0;
    do {
        double number;
        if (!gf_read_number(&end, &number) || (*end && *end != ','))
            return refuse(given, "is not a list of numbers separated by commas");
        GF_TRY(check_range(given, number));
        if (is_listed(value, number))
            return refuse(given, "has a number twice");
        if (value->count == GF_MAX_LIST)
            return refuse(given, "has too many numbers");
        value->list[value->count++] = number;
    } while (*end++ == ',');
    return GF_OK;
}

/* Height and width, and once more: of top and left what bottom and right are too. */
static GfStatus set_sizes(const Given *given, GfValue *value)
{
    bool padding = given->parameter->kind == GF_PADDING;
    const char *text = given->text;
    char why[SHOWN];
    size_t count = 0;
    value->word = padding ? word_number(given->parameter->words, text) : -1;
    if (value->word >= 0)
        return GF_OK;
    do {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || count == (padding ? 4 : 2))
            break;
        value->sizes[count] = strtoul(text, NULL, 10);
        GF_TRY(check_range(given, (double)value->sizes[count++]));
        text += digits;
    } while (*text == 'x' && *++text);
    if (*text || count == 0 || count == 3 || text[-1] == 'x') {
        snprintf(why, sizeof why, "is neither N nor HEIGHTxWIDTH%s%s",
                 padding ? " nor TOPxLEFTxBOTTOMxRIGHT, nor one of: " : "",
                 padding ? given->parameter->words : "");
        return refuse(given, why);
    }
    for (; count < 4; count++)
        value->sizes[count] = value->sizes[count > 1 ? count - 2 : 0];
    return GF_OK;
}

static GfStatus set_file(const Given *given, GfValue *value)
{
    const char *what = given->parameter->kind == GF_OPTIONAL_NAME ? "nothing" : "no file";
    if (!*given->text)
        return gf_fail(GF_EUSAGE, "%s: %s= names %s", given->filter, given->parameter->name, what);
    value->file = given->text;
    return GF_OK;
}

static GfStatus set_parameter(const GfNamedFilter *row, const GfParameter *parameter,
                              const char *text, GfValue *value)
{
    static GfStatus (*const setters[])(const Given *, GfValue *) = {
        [GF_NUMBER] = set_number, [GF_WHOLE] = set_number,       [GF_ODD] = set_number,
        [GF_WORD] = set_word,     [GF_SIZE] = set_sizes,         [GF_PADDING] = set_sizes,
        [GF_FILE] = set_file,     [GF_OPTIONAL_FILE] = set_file, [GF_OPTIONAL_NAME] = set_file,
        [GF_LIST] = set_list};
    const Given given = {row->name, parameter, text};
    return setters[parameter->kind](&given, value);
}

/* What counts where the user gives nothing. */
static GfValue standard_value(const GfParameter *parameter)
{
    bool word = parameter->kind == GF_WORD;
    bool sizes = parameter->kind == GF_SIZE || parameter->kind == GF_PADDING;
    size_t size = sizes ? (size_t)parameter->standard : 0;
    return (GfValue){.number = parameter->standard,
                     .word = word ? (int)parameter->standard : -1,
                     .sizes = {size, size, size, size}};
}

static bool has_words(const GfParameter *parameter)
{
    return parameter->kind == GF_WORD || parameter->kind == GF_PADDING;
}

static bool is_name(const GfNamedFilter *row, const char *text)
{
    for (size_t i = 0; i < GF_MAX_PARAMETERS && row->parameters[i].name; i++)
        if (strcmp(row->parameters[i].name, text) == 0)
            return true;
    return false;
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
    bool word = !equals && !is_name(row, text);
    for (; n < GF_MAX_PARAMETERS && row->parameters[n].name; n++) {
        const GfParameter *parameter = &row->parameters[n];
        *index = n;
        if (equals ? strcmp(parameter->name, text) == 0
                   : word && has_words(parameter) && word_number(parameter->words, text) >= 0)
            return GF_OK;
        names[n] = parameter->name;
    }
    names[n] = NULL;
    gf_escape(text, shown, sizeof shown);
    if (n == 0)
        return gf_fail(GF_EUSAGE, "%s has no parameters; \"%s\" is one too many", row->name, shown);
    if (!equals)
        return gf_fail(
            GF_EUSAGE,
            "%s: \"%s\" is not of the form parameter=value (gpufilter filters %s%s lists "
            "what there is)",
            row->name, shown, row->stages ? "" : "--bank ", row->name);
    const char *nearest = gf_nearest(text, names);
    return gf_fail(GF_EUSAGE,
                   "%s has no parameter \"%s\"%s%s%s (gpufilter filters %s%s lists them)",
                   row->name, shown, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "", row->stages ? "" : "--bank ", row->name);
}

char *gf_cut(char *text, char separator)
{
    for (; *text && *text != separator; text++)
        if (*text == '\\' && text[1])
            text++;
    if (!*text)
        return NULL;
    *text = '\0';
    return text + 1;
}

void gf_unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        *to++ = *text;
    }
    *to = '\0';
}

GfStatus gf_parameters_read(const GfNamedFilter *row, char *parameters, GfValue *values)
{
    bool given[GF_MAX_PARAMETERS] = {false};
    for (size_t i = 0; i < GF_MAX_PARAMETERS; i++) {
        const GfParameter *parameter = &row->parameters[i];
        values[i] = standard_value(parameter);
        if (parameter->name && parameter->kind == GF_LIST)
            GF_TRY(set_parameter(row, parameter, parameter->words, &values[i]));
    }
    while (parameters) {
        char *next = gf_cut(parameters, ':'), *text;
        size_t index = 0;
        GF_TRY(find_parameter(row, parameters, &index, &text));
        if (given[index])
            return gf_fail(GF_EUSAGE, "%s: %s is given twice", row->name,
                           row->parameters[index].name);
        given[index] = true;
        gf_unescape(text);
        GF_TRY(set_parameter(row, &row->parameters[index], text, &values[index]));
        parameters = next;
    }
    const GfParameter *required = gf_catalog_required(row);
    if (required && !values[required - row->parameters].file)
        return gf_fail(GF_EUSAGE, "%s: %s=FILE is missing: %s", row->name, required->name,
                       required->summary);
    return GF_OK;
}
