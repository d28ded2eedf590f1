/* Objects in JSON files, held to tables of their members: a row a member, and what may be its
 * value. What no row names is refused, so that a misspelt member does not go unseen. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "common/status.h"

enum {
    GF_FIELDS_MAX = 16,     /* rows of a table */
    GF_FIELD_NAME_MAX = 64, /* bytes of a name */
    GF_FIELD_TEXT_MAX = 1000
};

typedef enum GfFieldKind {
    GF_FIELD_NUMBER,  /* from minimum to maximum */
    GF_FIELD_WHOLE,   /* a whole number */
    GF_FIELD_SWITCH,  /* true or false */
    GF_FIELD_WORD,    /* one of `words` */
    GF_FIELD_NAME,    /* letters, digits, "_", and but for the first "." and "-" */
    GF_FIELD_TEXT,    /* 1 to GF_FIELD_TEXT_MAX bytes */
    GF_FIELD_SIZES,   /* N or [height, width], whole numbers */
    GF_FIELD_PADDING, /* the same, or [top, left, bottom, right], or one of `words` */
    GF_FIELD_NUMBERS, /* a list of numbers, each from minimum to maximum */
    GF_FIELD_OBJECT,
    GF_FIELD_LIST /* a list of 1 to maximum objects; of any number where maximum is 0 */
} GfFieldKind;

typedef struct GfField {
    const char *name;
    GfFieldKind kind;
    bool required;
    const char *words;                 /* separated by a space, or NULL */
    double minimum, maximum, standard; /* the standard value counts where there is none */
} GfField;

/* What a member came to. */
typedef struct GfFieldValue {
    bool given;
    double number;    /* of GF_FIELD_NUMBER and GF_FIELD_WHOLE */
    int word;         /* of GF_FIELD_WORD, of GF_FIELD_PADDING or -1; of GF_FIELD_SWITCH 0 or 1 */
    size_t sizes[4];  /* height and width; top, left, bottom, right */
    const char *text; /* of GF_FIELD_NAME and GF_FIELD_TEXT, or NULL; borrowed */
    json_t *value;    /* as the file has it, or NULL; borrowed */
} GfFieldValue;

/* Reads the members of `object` into values[i] of fields[i]; the table ends with a row without a
 * name. Errors: GF_EUSAGE with the member's name and, for unknown ones, the nearest known one. */
GfStatus gf_fields_read(json_t *object, const GfField *fields, GfFieldValue *values);

/* Whether `text` is what a GF_FIELD_NAME takes. */
bool gf_is_field_name(const char *text);

/* The numbers of a GF_FIELD_NUMBERS, `wanted` of them, into `numbers`. Errors: GF_EUSAGE, both
 * counts. */
GfStatus gf_field_numbers(const GfField *field, const GfFieldValue *value, size_t wanted,
                          double *numbers);
