/* Random networks for the tests of every backend. */
#pragma once

#include "filters/plan.h"

/* A network for pictures of that format: entry, layers, additions, enlargements, mostly an exit,
 * now and then a bank before or after it. Its responses stay about as large as the picture. `text`
 * says what it is. random_below(n) is 0 to n - 1. The caller frees it with gf_filter_free(). */
GfFilter *draft_network(const GfFormat *format, size_t (*random_below)(size_t), char *text,
                        size_t size);
