/* The command line. */
#pragma once

#include "bench/race.h"

typedef struct Options {
    const char *suite; /* names with commas between them, or "all" */
    const char *text;  /* only cases whose names have it; NULL: all */
    const char *json, *table, *commit, *gpufilter, *search;
    double seconds; /* of a suite; 0: no limit */
    unsigned seed;  /* of suite drawn */
    RaceOptions race;
} Options;

/* Reads it. GF_END: it asked for help or the list, which was printed. GF_EUSAGE. */
GfStatus options_read(int argc, char **argv, Options *options);
