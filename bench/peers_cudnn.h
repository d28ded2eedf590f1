/* cuDNN, twice: in IEEE f32 throughout, and with inputs rounded to TF32 where that is faster. */
#pragma once

#include "bench/contestant.h"

/* NULL when it is not there; `note` (NOTE_SIZE) gets its version, or the reason. */
struct Cudnn *cudnn_open(const Device *device, char *note);

/* NULL is allowed. */
void cudnn_close(struct Cudnn *cudnn);

/* Adds "cudnn-ieee" and "cudnn-tf32", of which `only` may want one, each with the fastest algorithm
 * that trying all of them on `in` and `out` finds. Errors: GF_EDEVICE when the device was lost. */
GfStatus cudnn_enter(struct Cudnn *cudnn, const char *only, Field *field, const Case *made,
                     void *in, void *out);
