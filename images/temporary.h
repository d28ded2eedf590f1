/* Names of files that are not complete yet, and what is left of them when a process is killed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

/* ".gpufilter-", 12 digits for the running system, "-", 16 random ones: short, whatever the
 * output's name is, since a name as long as the file system allows leaves no room for an
 * addition. */
enum { GF_TEMPORARY_SIZE = 48 };

typedef struct GfTemporary {
    char name[GF_TEMPORARY_SIZE]; /* "" while there is none */
    struct GfTemporarySlot *slot; /* by which a signal handler finds it; NULL when all are taken */
} GfTemporary;

/* Draws a new name for a file in the open directory. `temporary` has none before. GF_EWRITE. */
GfStatus gf_temporary_draw(int directory, GfTemporary *temporary);

/* Marks an open file as one in use, for gf_temporaries_sweep() of other processes, until its last
 * descriptor is closed. False when such a sweep has just taken away the file, which is `named`. */
bool gf_temporary_hold(int fd, bool named);

/* The name is gone, or has become the final one. */
void gf_temporary_forget(GfTemporary *temporary);

/* Removes all files whose names are drawn and not forgotten. Async-signal-safe, for the second
 * SIGINT; the process must end right after it. */
void gf_temporaries_remove(void);

/* Removes from a folder the temporaries of this user's processes on this machine that are gone, and
 * returns how many. Those of living processes, and of other machines, where nobody can tell from
 * here, stay. A folder that cannot be read has none. */
size_t gf_temporaries_sweep(const char *folder);
