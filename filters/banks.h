/* The named banks: families of kernels that are made together. One table, as the catalogue's: help,
 * lists, completion, the man page's check and the tests walk it; to add a bank is to add a row to
 * banks.c. */
#pragma once

#include "filters/catalog.h"

/* What a bank came to: filters, each as if it had been given by a --kernel of its own. */
typedef struct GfMembers {
    GfFilter **filters; /* owned; names as "gabor-4-045" */
    size_t count, room;
} GfMembers;

typedef struct GfNamedBank {
    GfNamedFilter about; /* name, summary, formula and parameters; no stages of its own */
    /* Appends the members, in the order in which they are written; all of one scale. */
    GfStatus (*members)(const GfValue *values, GfMembers *members);
} GfNamedBank;

/* All banks; the last row has no name. */
extern const GfNamedBank gf_named_banks[];

/* The row of that name, or NULL. */
const GfNamedBank *gf_named_bank_find(const char *name);

/* Makes the bank NAME[:PARAMETER=VALUE]... The members' texts are the bank's and their name.
 * GF_EUSAGE with the reason; GF_EMEMORY. `members` is to be freed in every case. */
GfStatus gf_members_parse(const char *text, GfMembers *members);

/* Makes one filter of all members, its text being the bank's and the operation: their kernels, each
 * centred in a field of zeros of the largest size, and a stage that combines the responses.
 * GF_EUSAGE, GF_EMEMORY. On success the caller owns *filter, whose name is the bank's. */
GfStatus gf_members_combine(const char *text, const GfMembers *members, GfCombineOp op,
                            GfFilter **filter);

/* Leaves an empty list. */
void gf_members_free(GfMembers *members);
