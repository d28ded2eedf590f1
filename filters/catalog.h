/* The named filters: one table. Help, the man page's list and the tests walk it; to add a filter is
 * to add a row to catalog.c. */
#pragma once

#include "filters/stage.h"

enum { GF_MAX_PARAMETERS = 8 };

typedef struct GfParameter {
    const char *name, *summary;
    const char *words; /* choices separated by space, the value is the choice's number; or NULL */
    double minimum, maximum, standard; /* the standard value counts where the user gives none */
    bool integer, odd;
} GfParameter;

typedef struct GfNamedFilter {
    const char *name, *summary, *formula;
    GfParameter parameters[GF_MAX_PARAMETERS]; /* up to the first without a name */
    /* Appends the filter's stages; `values` in the order of the parameters, checked against their
     * ranges. GF_EUSAGE where values do not go together. */
    GfStatus (*stages)(const double *values, GfFilter *filter);
} GfNamedFilter;

/* The catalogue; the last row has no name. */
extern const GfNamedFilter gf_catalog[];

/* The row of that name, or NULL. */
const GfNamedFilter *gf_catalog_find(const char *name);

/* The name closest to a misspelt one, or NULL. */
const char *gf_catalog_nearest(const char *name);
