/* Banks of kernels: the responses of one run of output samples, combined. */
#pragma once

#include "cpu/rows.h"
#include "cpu/view.h"

/* Taps that are not zero, in groups that are summed up by themselves before they are added: a
 * rounding error then grows with the number of groups plus their length (filters/precision.c counts
 * on it). */
typedef struct GfTapList {
    void *taps;    /* of the type of the sums */
    size_t *y, *x; /* where in the kernel */
    size_t *group; /* index of each group's first tap; group[groups] = count */
    size_t count, groups;
} GfTapList;

typedef struct GfRowBank {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real;      /* bytes of a sum */
    GfTapList *lists; /* for each kernel: all taps, or when separable columns and then rows */
    size_t list_count;
    size_t longest; /* taps of a list */
} GfRowBank;

/* What one thread needs: rows for the columns' results (GfView), sources for bank->longest taps, a
 * row for each kernel. */
typedef struct GfRowBankMemory {
    void *columns;
    const void *const
        *ready; /* or the columns' results, one a kernel, where they are there already */
    const void **sources;
    void **responses;
} GfRowBankMemory;

/* Lists the taps of a bank, for sums of `real` bytes. On failure too it is to be freed. */
GfStatus gf_row_bank_create(GfRowBank *bank, const GfStep *step, const GfRowFunctions *functions,
                            size_t real);

/* Makes the combined response in memory->responses[0]; changes the others. */
void gf_row_bank_run(const GfRowBank *bank, const GfView *view, const GfRowBankMemory *memory);

/* Scales and shifts the responses, one a kernel, and combines them in responses[0]; changes the
 * others. */
void gf_row_bank_combine(const GfStep *step, const GfRowFunctions *functions,
                         void *const *responses, size_t count);

/* Combines them, scaled and shifted as they are. */
void gf_row_bank_join(const GfStep *step, const GfRowFunctions *functions, void *const *responses,
                      size_t count);

/* Frees what a bank, or a cleared one, holds. */
void gf_row_bank_free(GfRowBank *bank);
