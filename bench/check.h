/* Whether outputs are right: samples against the definition in float64, and whole outputs of two
 * methods against one another. */
#pragma once

#include "bench/contestant.h"

/* CHECK_POISON: every byte of an output before a method writes it: NaN for floats, and no likely
 * integers. */
enum { PROBES = 256, CHECK_POISON = 0xFF };

/* Positions of the output and what the definition gives there. */
typedef struct Probes {
    size_t at[PROBES]; /* sample of the output, of the whole batch */
    double exact[PROBES];
    size_t count;
} Probes;

/* Computes the exact values at the corners of the first and last picture and map, on all four
 * edges, and at random places. `samples` is the input of the whole batch, on the host. */
void probes_make(const Case *made, const void *samples, Probes *probes);

/* Fills all of the verdict but `against` and `apart` from the output that lies at `out` on the
 * device. */
GfStatus check_probes(const Case *made, const Probes *probes, const Contestant *contestant,
                      const void *out, cudaStream_t stream, Verdict *verdict);

/* Compares two outputs of the case on the device; the verdict's `right` becomes false where they
 * are further apart than two right outputs can be, or where the first has something else than
 * poison between its rows. */
GfStatus check_against(const Case *made, const void *out, const void *base, cudaStream_t stream,
                       Verdict *verdict);

/* Frees what comparing needs. */
void check_free(void);
