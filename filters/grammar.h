/* The language of --kernel. */
#pragma once

#include "filters/stage.h"

/* Reads a chain of filters separated by commas; each is one of
 *
 *   NAME[:PARAMETER=VALUE]...         a filter of the catalogue; of a choice VALUE is enough
 *   WxH[/SCALE][+OFFSET]: W1 W2 ...   a kernel of W columns and H rows, row by row
 *   @PATH[:PARAMETER=VALUE]...        a filter file (network_file.h)
 *   PATH                              a kernel file, known by a "/" or "." in it (kernel_file.h)
 *
 * In paths a backslash makes the next character, a comma or colon, an ordinary one. Files are read
 * here. Errors: GF_EUSAGE with the reason and, for unknown names, the nearest known one;
 * GF_EMEMORY. On success the caller owns *filter. */
GfStatus gf_filter_parse(const char *text, GfFilter **filter);
