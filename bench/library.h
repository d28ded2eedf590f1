/* Shared libraries that are looked for when the program runs. */
#pragma once

#include <stddef.h>

#include "common/status.h"

/* Opens the first of the file names (NULL at the end) that is found: by the loader's own rules,
 * then in the CUDA toolkit's usual folder. Never closed again. Errors: GF_ENODEVICE with the
 * loader's reason. */
GfStatus library_open(const char *const *names, void **library);

/* The address of a function, stored to *function, a pointer to a function. GF_ENODEVICE when there
 * is none. */
GfStatus library_find(void *library, const char *name, void *function);
