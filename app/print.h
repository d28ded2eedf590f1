/* What the program prints on standard output beside pictures, and whether all of it got there. */
#pragma once

#include <jansson.h>

/* Makes room for whole lists on standard output, but on a terminal, so that gf_print_flush() knows
 * why one cannot be written. To be called before anything is printed. */
void gf_print_begin(void);

/* Writes the text at once, whatever a signal interrupts and however slow the reader is. After a
 * failure, which gf_print_flush() tells, no more is written. One caller at a time. */
void gf_print_text(const char *text);

/* The same with an object as a line of JSON; its real numbers have so many digits, with 0 all that
 * they need. Takes `line`, which may be NULL: without memory for it standard error says so. */
void gf_print_json(json_t *line, size_t digits);

/* Writes what printf() has left in memory. Returns errno of the first failure since the program
 * began, 0: there was none. */
int gf_print_flush(void);
