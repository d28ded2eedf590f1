/* The columns of tall kernels that are products, for some output rows at once. */
#pragma once

#include "cpu/input.h"
#include "cpu/rows.h"

/* What does not change in a session. */
typedef struct GfColumns GfColumns;

/* What a thread has: its place in scratch memory, and the strip that it is at. */
typedef struct GfColumnsWork {
    const GfColumns *columns;
    size_t x0;                   /* first column of the output */
    size_t first, pixels;        /* columns of the picture that it meets: the first, and how many */
    unsigned char *window, *row; /* rows of the picture in panels; one as it lies */
    unsigned char *results;      /* GF_MIX_MAPS rows a kernel, as wide as the strip */
    void **tops;                 /* places of results */
    const void **sources;        /* places under taps */
    size_t finite_from;          /* all rows of the window from this one on are finite */
} GfColumnsWork;

/* Is a dense bank faster so? */
bool gf_columns_pay(const GfStep *step);

/* Prepares a step for sums of `real` bytes, strips of so many output columns at a time. Errors:
 * GF_EMEMORY. */
GfStatus gf_columns_create(const GfStep *step, const GfRowFunctions *functions, size_t real,
                           size_t strip, GfColumns **columns);

/* Bytes of scratch memory of a thread, aligned to GF_ALIGNMENT. */
size_t gf_columns_scratch(const GfColumns *columns);

/* Begins a run of the strip of `width` output columns from x0 on. */
GfColumnsWork gf_columns_begin(const GfColumns *columns, size_t x0, size_t width, void *memory);

/* Brings input row y (beyond the picture: what the border says) to row r of the window, which
 * counts from the first row that the run's first output row meets. It holds taps_y + GF_MIX_MAPS -
 * 1 rows. */
void gf_columns_load(GfColumnsWork *work, const GfStepInput *input, ptrdiff_t y, size_t r);

/* Sums the columns under all kernels' taps from rows r, r + 1, ... of the window on: `rows` results
 * each, 1 to GF_MIX_MAPS, whose bits do not depend on how many there are. */
void gf_columns_sum(const GfColumnsWork *work, size_t r, size_t rows);

/* Lays out result m of kernel f with the border at both ends: `padded` samples. */
void gf_columns_lay(const GfColumnsWork *work, size_t f, size_t m, void *to, size_t padded);

/* The pixels of row r of the window, from work->first on. */
const void *gf_columns_row(const GfColumnsWork *work, size_t r);

/* NULL is allowed. */
void gf_columns_free(GfColumns *columns);
