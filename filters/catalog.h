/* The named filters: one table. Help, the man page's list and the tests walk it; to add a filter is
 * to add a row to catalog.c. */
#pragma once

#include "filters/stage.h"

enum { GF_MAX_PARAMETERS = 10, GF_MAX_LIST = 16 };

/* What may stand after a parameter's "=". */
typedef enum GfParameterKind {
    GF_NUMBER, /* from minimum to maximum */
    GF_WHOLE,  /* a whole number */
    GF_ODD,    /* an odd one, or 0 where the range begins there */
    GF_LIST, /* several such numbers separated by commas, none twice; standard: those of `words` */
    GF_WORD, /* one of `words`; may stand alone, without the parameter's name */
    GF_SIZE, /* HEIGHTxWIDTH, whole numbers within the range; N is NxN */
    GF_PADDING, /* GF_SIZE, or TOPxLEFTxBOTTOMxRIGHT, or one of `words`, which may stand alone */
    GF_FILE,    /* a path; has no standard value and must be given */
    GF_OPTIONAL_FILE, /* a path, or none */
    GF_OPTIONAL_NAME  /* what something in a file is called, or none */
} GfParameterKind;

typedef struct GfParameter {
    const char *name, *summary;
    GfParameterKind kind;
    const char *words;                 /* choices separated by space, a list's standard, or NULL */
    double minimum, maximum, standard; /* the standard value counts where the user gives none */
} GfParameter;

/* What a parameter came to. */
typedef struct GfValue {
    double number;    /* of GF_NUMBER, GF_WHOLE, GF_ODD */
    int word;         /* the number of the word, from 0 on; -1 where sizes were given */
    size_t sizes[4];  /* of GF_SIZE height and width, of GF_PADDING top, left, bottom, right */
    const char *file; /* of GF_FILE, GF_OPTIONAL_FILE and GF_OPTIONAL_NAME; borrowed; NULL: none */
    double list[GF_MAX_LIST]; /* of GF_LIST: count numbers */
    size_t count;
} GfValue;

typedef struct GfNamedFilter {
    const char *name, *summary, *formula;
    GfParameter parameters[GF_MAX_PARAMETERS]; /* up to the first without a name */
    /* Appends the filter's stages; `values` in the order of the parameters, checked against their
     * ranges. GF_EUSAGE where values do not go together or a file is not what it should be. NULL in
     * rows that are no filters (banks.h). */
    GfStatus (*stages)(const GfValue *values, GfFilter *filter);
} GfNamedFilter;

/* The catalogue; the last row has no name. */
extern const GfNamedFilter gf_catalog[];

/* The row of that name, or NULL. */
const GfNamedFilter *gf_catalog_find(const char *name);

/* The name closest to a misspelt one, or NULL. */
const char *gf_catalog_nearest(const char *name);

/* The row's first parameter that must be given, or NULL. */
const GfParameter *gf_catalog_required(const GfNamedFilter *row);
