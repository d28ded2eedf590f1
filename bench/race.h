/* One case: all contestants on the same data, taking turns, checked and timed. */
#pragma once

#include "bench/check.h"
#include "bench/peers.h"

typedef struct RaceOptions {
    const char *only, *without; /* lists of methods, or NULL */
    const char *peer;           /* the one peer that takes part, "none", or NULL: all */
    bool every_tiling, quick;
    bool once; /* single launches, for a profiler: times mean little */
} RaceOptions;

/* What is kept from case to case. Zeroed before the first. */
typedef struct Race {
    Device *device;
    RaceOptions options;
    Peers *peers;
    Field field;
    Slab in, out, base;
    GfSample loaded; /* what `in` holds: `loaded_sets` times `loaded_bytes` of this type */
    size_t loaded_bytes, loaded_sets;
    cudaEvent_t begin, end;
} Race;

/* What a case gave. */
typedef struct Result {
    const char *suite; /* borrowed */
    size_t number;     /* of the case in its suite */
    Spec spec;
    char name[96];
    double bytes, operations, floor; /* floor in seconds */
    size_t sets;                     /* of buffers that took turns */
    Score *scores;                   /* owned */
    size_t count;
    char chosen[NAME_SIZE]; /* the one of them that `auto` takes, if it ran */
} Result;

/* Runs a case. Contestants that cannot take part, fail or are too slow say so in their scores.
 * Errors: those after which nothing more can be measured (GF_EDEVICE, GF_EMEMORY), and GF_EDEVMEM
 * when the case does not fit. *result is to be freed by result_free() in every case. */
GfStatus race_run(Race *race, const Spec *spec, Result *result);

void race_free(Race *race);

void result_free(Result *result);
