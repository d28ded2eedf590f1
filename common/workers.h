/* Worker threads for loops whose rounds do not depend on each other. */
#pragma once

#include <stddef.h>

#include "common/status.h"

typedef struct GfWorkers GfWorkers;

/* One round of a loop. `worker` is below gf_workers_count() and names a thread's private scratch
 * space: two rounds of one loop that run at the same time have different numbers. 0 is the caller
 * of the loop. */
typedef void (*GfRound)(void *context, size_t round, size_t worker);

/* `count` workers, the thread that calls gf_workers_run() being one of them, or fewer where the
 * address space is limited (gf_threads_room()). The threads of the others start with the first loop
 * of several rounds; when the system gives fewer, loops are slower. count >= 1. GF_EMEMORY. */
GfStatus gf_workers_create(size_t count, GfWorkers **workers);

size_t gf_workers_count(const GfWorkers *workers);

/* Runs round(context, i, worker) for every i below `rounds` and returns when all are done. Nobody
 * waits for others: while another caller's loop runs, and without workers (NULL), the calling
 * thread does all rounds alone, as worker 0. So scratch space must be the caller's own. */
void gf_workers_run(GfWorkers *workers, size_t rounds, GfRound round, void *context);

/* Sees to it that workers 1 and up have `bytes` of memory each, aligned to GF_ALIGNMENT, not
 * cleared and not kept from loop to loop; may wait for a loop that runs. GF_EMEMORY: they keep what
 * they had. */
GfStatus gf_workers_reserve(GfWorkers *workers, size_t bytes);

/* In a round of a loop, the memory of worker 1 or up; NULL where none was reserved. */
void *gf_workers_memory(const GfWorkers *workers, size_t worker);

/* Ends the threads. NULL is allowed. */
void gf_workers_destroy(GfWorkers *workers);

/* Processors that this process may use, at least 1. */
size_t gf_processors(void);
