/* Values of options, read from text. Each function returns GF_EUSAGE with a message that names the
 * option (`option`, without its dashes), the text and what would be right; *value is then
 * unchanged. */
#pragma once

#include <stddef.h>

#include "common/status.h"

/* A word and what it stands for; a list ends with a NULL word. */
typedef struct GfWord {
    const char *word;
    int value;
} GfWord;

/* A whole number from `least` to `most`. */
GfStatus gf_value_count(const char *option, const char *text, size_t least, size_t most,
                        size_t *value);

/* A whole number >= 1 with an optional k, M, G or T for powers of `unit` (1000 or 1024). */
GfStatus gf_value_size(const char *option, const char *text, size_t unit, size_t *value);

/* A finite number from `least` to `most`, which may be INFINITY. */
GfStatus gf_value_number(const char *option, const char *text, double least, double most,
                         double *value);

/* Any text that is not empty. */
GfStatus gf_value_text(const char *option, const char *text, const char **value);

/* The path of a picture that is written: its extension says the format, or it has none. */
GfStatus gf_value_picture(const char *option, const char *text, const char **path);

/* One of the words; the message names the nearest, or all of them. */
GfStatus gf_value_word(const char *option, const char *text, const GfWord *words, int *value);
