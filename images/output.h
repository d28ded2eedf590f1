/* One output file, whole or not at all: the bytes go to a temporary in the same directory that has
 * no name where the file system can do that (O_TMPFILE), or a name of its own (O_EXCL, O_NOFOLLOW)
 * where it cannot, and take the output's name only when everything was written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

typedef struct GfOutput GfOutput;

/* Begins the output `path`; "-" is standard output, spooled and copied at commit. `replace` says
 * whether an existing file may be replaced; without it an existing path is GF_EEXIST, now or (when
 * another process made it meanwhile) at commit. A replaced file keeps its permission bits, and its
 * owner and group where the system allows it. GF_STOPPED: a signal came while a pipe waited for its
 * reader. */
GfStatus gf_output_open(const char *path, bool replace, GfOutput **output);

/* Begins an output that takes no name: a file in the temporary directory, for what is read again
 * with gf_output_read() and then discarded. Never committed. */
GfStatus gf_output_spool(GfOutput **output);

/* Reads up to `size` bytes of what was written, from `offset` on; *got is less only at the end. */
GfStatus gf_output_read(GfOutput *output, void *bytes, size_t size, uint64_t offset, size_t *got);

/* Appends bytes; buffered. */
GfStatus gf_output_write(GfOutput *output, const void *bytes, size_t size);

/* Writes bytes at an offset, also beyond the present end. Does not move the place of
 * gf_output_write(). */
GfStatus gf_output_write_at(GfOutput *output, const void *bytes, size_t size, uint64_t offset);

/* Waits until all that was written is on the disk, so that not even a loss of power leaves an
 * output that has its name but not its bytes. What takes no name has nothing to wait for. */
GfStatus gf_output_sync(GfOutput *output);

/* Gives the output its name. The object is freed and *output set to NULL in every case; on failure
 * nothing is left and an old file is untouched. */
GfStatus gf_output_commit(GfOutput **output);

/* Drops the output: nothing is left. NULL inside is allowed. */
void gf_output_discard(GfOutput **output);
