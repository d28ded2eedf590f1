/* Lists of inputs: what --files-from reads and --failures writes. */
#pragma once

#include "common/status.h"

/* What a list of failures begins with. */
extern const char gf_list_comment[];

/* Hands each entry of the list `path` ("-" is standard input) to `take`, which may fail. Entries
 * end with a zero byte where the list has one, else with the line, be it "\n" or "\r\n". Empty ones
 * and comments, which begin with gf_list_comment, are passed over. GF_EUSAGE where the list cannot
 * be read; what `take` returns; GF_EMEMORY. */
GfStatus gf_list_read(const char *path, GfStatus (*take)(void *context, const char *entry),
                      void *context);
