/* A reader for each kind of value. What is wrong is said with the value as it stands in the file,
 * cut to what a line can show. */
#include "filters/json_fields.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

enum { SHOWN = 80, KNOWN = 300 };

/* ---- what is wrong ---- */

static GfStatus refuse(const GfField *field, const json_t *value, const char *wanted)
{
    char shown[SHOWN];
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (!text)
        return gf_fail(GF_EMEMORY, "out of memory");
    gf_escape(text, shown, sizeof shown);
    free(text);
    return gf_fail(GF_EUSAGE, "\"%s\" is %s, not %s", field->name, wanted, shown);
}

static GfStatus refuse_number(const GfField *field, const json_t *value, const char *what)
{
    char wanted[KNOWN];
    if (field->minimum == field->maximum)
        snprintf(wanted, sizeof wanted, "%g", field->minimum);
    else
        snprintf(wanted, sizeof wanted, "%s from %g to %g%s%s", what, field->minimum,
                 field->maximum, field->words ? ", or one of: " : "",
                 field->words ? field->words : "");
    return refuse(field, value, wanted);
}

static GfStatus refuse_words(const GfField *field, const json_t *value)
{
    char wanted[KNOWN];
    snprintf(wanted, sizeof wanted, "one of: %s", field->words);
    return refuse(field, value, wanted);
}

static GfStatus unknown(const GfField *fields, const char *key)
{
    const char *names[GF_FIELDS_MAX + 1], *nearest;
    char shown[SHOWN], known[KNOWN] = "";
    size_t count = 0, used = 0;
    for (; fields[count].name; count++) {
        names[count] = fields[count].name;
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", count ? ", " : "",
                                     fields[count].name);
    }
    names[count] = NULL;
    nearest = gf_nearest(key, names);
    gf_escape(key, shown, sizeof shown);
    if (nearest)
        return gf_fail(GF_EUSAGE, "unknown key \"%s\"; did you mean \"%s\"?", shown, nearest);
    return gf_fail(GF_EUSAGE, "unknown key \"%s\"; known are: %s", shown, known);
}

/* ---- values ---- */

static bool in_range(const GfField *field, double number)
{
    return number >= field->minimum && number <= field->maximum;
}

static double number_of(const json_t *value)
{
    return gf_trim_to_single(json_number_value(value));
}

static GfStatus read_number(const GfField *field, const json_t *value, GfFieldValue *out)
{
    out->number = number_of(value);
    return json_is_number(value) && in_range(field, out->number)
               ? GF_OK
               : refuse_number(field, value, "a number");
}

/* 2.0 is a whole number too: to many writers of JSON all numbers are real. */
static bool is_whole(const GfField *field, const json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && in_range(field, number) && number == floor(number);
}

static GfStatus read_whole(const GfField *field, const json_t *value, GfFieldValue *out)
{
    out->number = json_number_value(value);
    return is_whole(field, value) ? GF_OK : refuse_number(field, value, "a whole number");
}

static GfStatus read_switch(const GfField *field, const json_t *value, GfFieldValue *out)
{
    out->word = json_is_true(value) ? 1 : 0;
    return json_is_boolean(value) ? GF_OK : refuse(field, value, "true or false");
}

static int word_number(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (int number = 0; words && *words; number++) {
        size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0)
            return number;
        words += n + strspn(words + n, " ");
    }
    return -1;
}

static GfStatus read_word(const GfField *field, const json_t *value, GfFieldValue *out)
{
    out->word = json_is_string(value) ? word_number(field->words, json_string_value(value)) : -1;
    return out->word >= 0 ? GF_OK : refuse_words(field, value);
}

bool gf_is_field_name(const char *text)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t length = strlen(text);
    return length >= 1 && length <= GF_FIELD_NAME_MAX && !strchr(".-", text[0]) &&
           strspn(text, letters) == length;
}

static GfStatus read_name(const GfField *field, const json_t *value, GfFieldValue *out)
{
    out->text = json_string_value(value);
    return out->text && gf_is_field_name(out->text)
               ? GF_OK
               : refuse(field, value,
                        "a name of at most 64 letters, digits, \"_\", and then \".\" and \"-\"");
}

static GfStatus read_text(const GfField *field, const json_t *value, GfFieldValue *out)
{
    size_t length = json_string_length(value);
    out->text = json_string_value(value);
    return length >= 1 && length <= GF_FIELD_TEXT_MAX
               ? GF_OK
               : refuse(field, value, "a text of 1 to 1000 bytes");
}

/* One number, two, or of padding four; sizes that are not given are those of the direction's other
 * side. */
static GfStatus read_sizes(const GfField *field, const json_t *value, GfFieldValue *out)
{
    bool padding = field->kind == GF_FIELD_PADDING;
    size_t count = json_is_array(value) ? json_array_size(value) : 1;
    const char *wanted = padding ? "N, [height, width] or [top, left, bottom, right], whole numbers"
                                 : "N or [height, width], whole numbers";
    out->word = json_is_string(value) ? word_number(field->words, json_string_value(value)) : -1;
    if (out->word >= 0)
        return GF_OK;
    if ((json_is_array(value) && count != 2 && !(padding && count == 4)))
        return refuse_number(field, value, wanted);
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_is_array(value) ? json_array_get(value, i) : value;
        if (!is_whole(field, item))
            return refuse_number(field, value, wanted);
        out->sizes[i] = (size_t)json_number_value(item);
    }
    for (size_t i = count; i < 4; i++)
        out->sizes[i] = out->sizes[i > 1 ? i - 2 : 0];
    return GF_OK;
}

static GfStatus read_numbers(const GfField *field, const json_t *value, GfFieldValue *out)
{
    (void)out;
    if (!json_is_array(value))
        return refuse(field, value, "a list of numbers");
    for (size_t i = 0; i < json_array_size(value); i++) {
        const json_t *item = json_array_get(value, i);
        if (!json_is_number(item) || !in_range(field, number_of(item)))
            return refuse_number(field, item, "a list of numbers");
    }
    return GF_OK;
}

static GfStatus read_object(const GfField *field, const json_t *value, GfFieldValue *out)
{
    (void)out;
    return json_is_object(value) ? GF_OK : refuse(field, value, "an object");
}

static GfStatus read_list(const GfField *field, const json_t *value, GfFieldValue *out)
{
    (void)out;
    double count = (double)json_array_size(value);
    if (!json_is_array(value))
        return refuse(field, value, "a list of objects");
    if (field->maximum > 0.0 && (count < 1 || count > field->maximum))
        return gf_fail(GF_EUSAGE, "\"%s\" has %g entries; 1 to %g are accepted", field->name, count,
                       field->maximum);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_object(json_array_get(value, i)))
            return refuse(field, json_array_get(value, i), "a list of objects");
    return GF_OK;
}

/* ---- objects ---- */

static GfFieldValue standard_value(const GfField *field)
{
    bool sizes = field->kind == GF_FIELD_SIZES || field->kind == GF_FIELD_PADDING;
    bool word = field->kind == GF_FIELD_WORD || field->kind == GF_FIELD_SWITCH;
    size_t size = sizes ? (size_t)field->standard : 0;
    return (GfFieldValue){.number = field->standard,
                          .word = word ? (int)field->standard : -1,
                          .sizes = {size, size, size, size}};
}

static GfStatus read_field(json_t *object, const GfField *field, GfFieldValue *out)
{
    static GfStatus (*const readers[])(const GfField *, const json_t *, GfFieldValue *) = {
        [GF_FIELD_NUMBER] = read_number,   [GF_FIELD_WHOLE] = read_whole,
        [GF_FIELD_SWITCH] = read_switch,   [GF_FIELD_WORD] = read_word,
        [GF_FIELD_NAME] = read_name,       [GF_FIELD_TEXT] = read_text,
        [GF_FIELD_SIZES] = read_sizes,     [GF_FIELD_PADDING] = read_sizes,
        [GF_FIELD_NUMBERS] = read_numbers, [GF_FIELD_OBJECT] = read_object,
        [GF_FIELD_LIST] = read_list};
    json_t *value = json_object_get(object, field->name);
    *out = standard_value(field);
    if (!value && field->required)
        return gf_fail(GF_EUSAGE, "\"%s\" is missing", field->name);
    if (!value)
        return GF_OK;
    out->given = true;
    out->value = value;
    return readers[field->kind](field, value, out);
}

GfStatus gf_fields_read(json_t *object, const GfField *fields, GfFieldValue *values)
{
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const GfField *field = fields;
        while (field->name && strcmp(field->name, json_object_iter_key(at)) != 0)
            field++;
        if (!field->name)
            return unknown(fields, json_object_iter_key(at));
    }
    for (size_t i = 0; fields[i].name; i++)
        GF_TRY(read_field(object, &fields[i], &values[i]));
    return GF_OK;
}

GfStatus gf_field_numbers(const GfField *field, const GfFieldValue *value, size_t wanted,
                          double *numbers)
{
    size_t count = json_array_size(value->value);
    if (count != wanted)
        return gf_fail(GF_EUSAGE, "\"%s\" has %zu number%s instead of %zu", field->name, count,
                       count == 1 ? "" : "s", wanted);
    for (size_t i = 0; i < count; i++)
        numbers[i] = number_of(json_array_get(value->value, i));
    return GF_OK;
}
