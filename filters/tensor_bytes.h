/* Where tensors lie: a file, a pipe, or memory that is part of the program. Nothing is mapped: a
 * file that is cut short while it is read is an error and no signal. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/status.h"

typedef struct GfBytes {
    FILE *stream;                /* NULL: memory */
    const unsigned char *memory; /* borrowed */
    bool sized;                  /* no pipe: `size` is known, and any place can be gone to */
    size_t size, at;             /* `at`: what is read next */
} GfBytes;

/* Opens a regular file or a pipe. GF_EUSAGE with the reason, without the path; `bytes` is then to
 * be closed as well. */
GfStatus gf_bytes_open(const char *path, GfBytes *bytes);

/* Reads up to `size` bytes and returns how many there were. */
size_t gf_bytes_some(GfBytes *bytes, void *to, size_t size);

/* Reads exactly that many. GF_EUSAGE when they are not there. */
GfStatus gf_bytes_read(GfBytes *bytes, void *to, size_t size);

/* Goes to a place within. GF_EUSAGE where that is no longer possible: a pipe runs once. */
GfStatus gf_bytes_seek(GfBytes *bytes, size_t at);

/* Leaves an empty struct. */
void gf_bytes_close(GfBytes *bytes);
