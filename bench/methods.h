/* The program's own methods as contestants. */
#pragma once

#include "bench/contestant.h"

/* Adds the methods that the case names, or all, each with the tilings asked for. `only` and
 * `without` are the user's lists of method names, or NULL; `every` adds all tilings of each. What a
 * method cannot run stays in the field with the reason. The field's `chosen` becomes the method
 * that `auto` takes; where that is not one for all passes, they take part as "auto". Errors:
 * GF_EMEMORY, GF_EDEVICE. */
GfStatus methods_enter(Field *field, const Case *made, const char *only, const char *without,
                       bool every);

/* `direct`, to which the others' outputs are compared. The caller frees it with its close(). */
GfStatus methods_direct(Field *field, const Case *made, Contestant *direct);
