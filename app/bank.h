/* The filters of one run: every --kernel, the members of every --bank or what --combine makes of
 * them, and what outputs call it. */
#pragma once

#include "app/options.h"

typedef struct GfBank {
    GfFilter **filters; /* owned */
    char **names;       /* {filter} in names of outputs, different for different kernels; owned */
    size_t count;
} GfBank;

/* Parses the texts of the options. GF_EUSAGE with the option before the reason. `bank` is then
 * empty. */
GfStatus gf_bank_create(const GfOptions *options, GfBank *bank);

/* Leaves an empty bank. */
void gf_bank_free(GfBank *bank);
