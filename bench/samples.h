/* Random samples on the host: a pool a sample type, from whose start every case reads. */
#pragma once

#include "images/image.h"

/* `count` samples: integers over their whole range, floats in [-1, 1), halves in [1/32, 1). They
 * stay valid and unchanged until more of the same type are asked for. Errors: GF_EMEMORY. */
GfStatus samples_get(GfSample sample, size_t count, const void **samples);

/* The next number of the program's one random sequence. */
double samples_uniform(double low, double high);

void samples_free(void);
