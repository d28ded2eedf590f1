/* How far a run is, its rate and what is left: on standard error, as a bar where that is a terminal
 * and as a line a minute elsewhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Begins with `pictures` pictures; the bar shows up when the run takes longer than a moment. With
 * `wanted` false all functions here do nothing. */
void gf_progress_begin(size_t pictures, bool wanted);

/* Part of a picture that is done (1 is a whole one; negative when it begins anew). Any thread. */
void gf_progress_add(double part);

/* A picture that needs no work: done, but nothing to reckon the rate from. Any thread. */
void gf_progress_pass(void);

/* Removes the bar. */
void gf_progress_end(void);
