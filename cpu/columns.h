/* The columns of tall kernels that are products, for some output rows at once. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

enum { GF_COLUMNS_ROWS = 128 }; /* output rows at once, at most */

/* What does not change in a session. */
typedef struct GfColumns GfColumns;

/* What a thread has: its place in scratch memory, and how far it is. */
typedef struct GfColumnsWork {
    const GfColumns *columns;
    const GfStepInput *input;
    ptrdiff_t y;                 /* the input row under the first output row's first tap */
    size_t rows, x, ready;       /* output rows; pixels of their results: the next, how many */
    unsigned char *window, *row; /* rows of the input in panels; one as it lies */
    unsigned char *results;      /* GF_COLUMNS_ROWS rows a kernel */
    void **tops;                 /* places of results */
    const void **sources;        /* places under taps */
    size_t finite_from;          /* all rows of the window from this one on are finite */
} GfColumnsWork;

/* Is a dense bank faster so? */
bool gf_columns_pay(const GfStep *step);

/* Prepares a step for sums of `real` bytes. Errors: GF_EMEMORY. */
GfStatus gf_columns_create(const GfStep *step, const GfRowFunctions *functions, size_t real,
                           GfColumns **columns);

/* Output columns at once, at most. */
size_t gf_columns_width(const GfColumns *columns);

/* Bytes of scratch memory of a thread, aligned to GF_ALIGNMENT. */
size_t gf_columns_scratch(const GfColumns *columns);

/* Begins with `rows` output rows, of which the first meets input rows from y on, at output column
 * x0. */
GfColumnsWork gf_columns_begin(const GfColumns *columns, const GfStepInput *input, ptrdiff_t y,
                               size_t rows, size_t x0, void *memory);

/* Sums what the next `width` output columns meet, those beyond the picture's sides included. */
void gf_columns_next(GfColumnsWork *work, size_t width);

/* Kernel f's results for output row m, from the pixel under the first of those columns' first tap
 * on. */
const void *gf_columns_results(const GfColumnsWork *work, size_t f, size_t m);

/* NULL is allowed. */
void gf_columns_free(GfColumns *columns);
