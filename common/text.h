/* Names in messages: made harmless, and matched when misspelt. Numbers read, sizes written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Writes `name` to `out` (size bytes, always terminated) with control characters, bytes
 * that are no UTF-8, characters that turn the writing direction and byte order marks as \xNN, and a
 * backslash doubled, so that no file name can forge a line, move the cursor or look like another.
 * Returns `out`. Names that do not fit end in "...". */
const char *gf_escape(const char *name, char *out, size_t size);

/* Reads a finite decimal number at *text, after white space, and moves *text behind it; false (and
 * *text unchanged) where there is none. Other notations that strtod() knows are none: nan, inf,
 * 0x1p3; nor is 1.2.3. What rounds to FLT_MAX in f32 is FLT_MAX. */
bool gf_read_number(const char **text, double *value);

/* `number`; FLT_MAX, of its sign, for one that is beyond it but rounds to it in f32. Such a one is
 * 3.4028235e38, as FLT_MAX mostly is written. */
double gf_trim_to_single(double number);

enum { GF_SIZE_TEXT = 32 }; /* bytes that a size takes as text, with its end */

/* Write a number of bytes to `out` (GF_SIZE_TEXT bytes), below 1 KiB as "1000 bytes", else in
 * whole KiB: limits are rounded down and needs up, so that a need beyond a limit is also seen to
 * be. Return `out`. */
const char *gf_limit_text(size_t bytes, char *out);
const char *gf_need_text(size_t bytes, char *out);

/* Letters to insert, remove or change to make one name of the other (Levenshtein), capitals being
 * the same as small ones; SIZE_MAX where `b` has 128 or more: such names match nothing. */
size_t gf_distance(const char *a, const char *b);

/* The entry of `names` (NULL-terminated) closest to `name` by edit distance, or NULL when more than
 * about a third of the letters differ. */
const char *gf_nearest(const char *name, const char *const *names);
