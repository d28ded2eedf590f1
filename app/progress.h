/* The progress bar: on standard error, and only where that is a terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Begins a bar for `pictures` pictures, which shows up when the run takes longer than a moment.
 * With `wanted` false, or without a terminal, all functions here do nothing. */
void gf_progress_begin(size_t pictures, bool wanted);

/* Part of a picture that is done (1 is a whole one; negative when it begins anew). Any thread. */
void gf_progress_add(double part);

/* Removes the bar. */
void gf_progress_end(void);
