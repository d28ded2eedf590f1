/* The parameters of a filter as text: KEY=VALUE[:KEY=VALUE]... */
#pragma once

#include "filters/catalog.h"

/* Reads `parameters` (NULL: none; the text is changed) into `values`, as many as a row may have:
 * what is given, within its range, and the standard values of the rest. A word of a choice may
 * stand without its key. GfValue.file points into the text. GF_EUSAGE with the reason, also where
 * the row's file is missing. */
GfStatus gf_parameters_read(const GfNamedFilter *row, char *parameters, GfValue *values);

/* Ends `text` at the first `separator` that has no backslash before it, and returns what follows;
 * NULL where there is none. */
char *gf_cut(char *text, char separator);

/* Takes away the backslashes, each of which made the next character an ordinary one. */
void gf_unescape(char *text);
