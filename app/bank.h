/* The filters of one run: every --kernel, and what outputs call it. */
#pragma once

#include "filters/stage.h"

typedef struct GfBank {
    GfFilter **filters; /* owned */
    char **names;       /* {filter} in names of outputs, different for different kernels; owned */
    size_t count;
} GfBank;

/* Parses the texts. GF_EUSAGE with the kernel's text before the reason. `bank` is then empty. */
GfStatus gf_bank_create(const char *const *texts, size_t count, GfBank *bank);

/* Leaves an empty bank. */
void gf_bank_free(GfBank *bank);
