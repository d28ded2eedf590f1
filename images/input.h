/* Bytes of one input: a file, a named or anonymous pipe, or standard input ("-"). Reading is
 * buffered: standard input may be consumed beyond the picture's last byte. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

typedef struct GfInput GfInput;

/* Opens `path`; "-" is standard input. Refuses directories and devices by name (GF_EREAD). */
GfStatus gf_input_open(const char *path, GfInput **input);

/* Bytes at the start of the input without consuming them; *size is at most GF_HEAD_SIZE and smaller
 * only when the input is shorter. */
enum { GF_HEAD_SIZE = 64 };
GfStatus gf_input_head(GfInput *input, const unsigned char **head, size_t *size);

/* Reads up to `size` bytes in order; *got is 0 only at the end. */
GfStatus gf_input_read(GfInput *input, void *bytes, size_t size, size_t *got);

/* Size in bytes when it is known (a regular file). */
bool gf_input_size(const GfInput *input, uint64_t *size);

/* Reads exactly `size` bytes at `offset`; GF_EINPUT when the file ends before. Only where
 * gf_input_size() knows the size. Does not move the place of gf_input_read(). */
GfStatus gf_input_read_at(GfInput *input, void *bytes, size_t size, uint64_t offset);

void gf_input_close(GfInput *input);
