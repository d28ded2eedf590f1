/* What was measured, and what it comes to. */
#pragma once

#include "bench/race.h"
#include "bench/suites.h"

typedef struct Results {
    Result *list; /* owned */
    size_t count, room;
} Results;

/* Takes the result over. Errors: GF_EMEMORY, and the result is freed. */
GfStatus results_add(Results *results, Result *result);

void results_free(Results *results);

/* The fastest of one side that ran in the case, and was right where it is judged; NULL: none. */
const Score *result_best(const Result *result, Side side);

/* The score of that name when it ran, or NULL. CHOSEN: of what `auto` takes. */
const Score *result_score(const Result *result, const char *name);

/* The names of all that ran in a suite: ours, peers, the copy, each in the order of their
 * appearance. Returns how many, at most `room`. */
size_t results_names(const Results *results, const char *suite, const char **names, size_t room);

/* The side of one that ran in the suite. */
Side results_side(const Results *results, const char *suite, const char *name);

/* Geometric means over the cases in which both ran. */
typedef struct Mean {
    double mean, least;
    size_t cases;
} Mean;

/* One contestant over a suite. The name may be BEST_OURS or BEST_PEER, the fastest of each case, or
 * CHOSEN. */
typedef struct Summary {
    const char *name;
    size_t cases, wrong, wins; /* wins: cases in which it was the fastest of its side */
    Mean over_floor;           /* time / floor; `least` is the greatest here */
    Mean behind;               /* time / that of the fastest of its side; the same */
    size_t late;               /* cases in which that is more than CHOICE_TOLERANCE */
    Mean against;              /* time of the best peer / its own */
    double error;              /* the largest */
} Summary;

extern const char BEST_OURS[], BEST_PEER[], CHOSEN[];

/* How far what `auto` takes may be behind the fastest method. */
#define CHOICE_TOLERANCE 1.05

/* Over the suite's results that ran it. */
Summary results_summary(const Results *results, const char *suite, const char *name);

/* How much faster `name` is than `peer`: the time of the one over that of the other. */
Mean results_against(const Results *results, const char *suite, const char *name, const char *peer);
