/* Small files that are read whole before anything of them is understood. */
#pragma once

#include <stddef.h>

#include "common/status.h"

/* Reads a file or a pipe of at most `most` bytes into *text, which the caller frees also on
 * failure; behind its *size bytes stands a NUL. A byte order mark is left out. Errors: GF_EUSAGE
 * with the reason, without the path; GF_EMEMORY. */
GfStatus gf_text_file_read(const char *path, size_t most, char **text, size_t *size);
