/* The run as JSON, whole or not at all. */
#pragma once

#include "bench/run.h"

/* Writes to run->json; an older file is replaced. Errors: GF_EWRITE, GF_EMEMORY. */
GfStatus json_write(const Run *run);
