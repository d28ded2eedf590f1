/* The suites: which cases each has, and how they are told. */
#pragma once

#include "bench/spec.h"

typedef struct Suite {
    const char *name, *summary;
    /* Appends the suite's cases, NULL for the suite that measures no kernels (host.h). Errors:
     * GF_EMEMORY. */
    GfStatus (*cases)(Specs *specs);
    /* All cases have the same contestants: a line each. Else a table each. */
    bool grid;
} Suite;

/* The last one has no name. */
extern const Suite suites[];

/* The suite of that name, or NULL. */
const Suite *suite_find(const char *name);
