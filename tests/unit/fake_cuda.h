/* A CUDA device that is none, for the code that drives one. Its memory is the host's. What is put on its streams is done
 * sooner or later: between calls some streams go on, which and how far is chance, in the order that events and
 * synchronisation demand and no other. So what is not ordered comes out wrong, for one seed or another.
 *
 * Its kernels compute no pixels. Each row begins with a mark, which says what it is; a kernel makes the marks of its
 * output rows of those of the rows that they need, as the step says (gf_step_rows()). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "filters/plan.h"

/* Starts the device anew. */
void fake_begin(uint64_t seed);

/* Lets one call fail that makes something or puts something on a stream: as if memory were short, after so many
 * others. */
void fake_fail_after(size_t calls);

/* The name of the call that failed, of a launch that of its method; NULL: none has. */
const char *fake_failed(void);

/* How much has been made and not been given back: memory, streams, events. */
size_t fake_left(void);

/* What failed, or NULL: a row that is not where it is looked for. */
const char *fake_complaint(void);

/* Mark of row y of a picture. */
uint64_t fake_picture_mark(size_t y);

/* Marks of a step's output row y, from those of its input rows and of the rows that it adds, by number. */
uint64_t fake_step_mark(const GfStep *step, size_t y, const uint64_t *in, const uint64_t *skipped);
