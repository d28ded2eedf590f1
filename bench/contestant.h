/* Who takes part in a case: a method of gpu/algorithms.h with a tiling, another library, or the
 * copy that sets the limit. And what was found out about each. */
#pragma once

#include "bench/case.h"
#include "bench/device.h"

typedef enum Side { SIDE_OURS, SIDE_PEER, SIDE_COPY } Side;

/* Of one launch, in seconds. */
typedef struct Timing {
    double median, least, most;
    size_t rounds, launches; /* launches in a round */
    bool graph;              /* replayed from a graph, not launched one by one */
} Timing;

typedef struct Verdict {
    /* Of the samples compared with float64: relative l2 error of floats, largest |out - exact| of
     * integers. */
    double error;
    size_t samples;
    bool right;   /* by the rule of filters/backend.h */
    bool against; /* the whole output was compared with that of `direct`: */
    double apart; /* relative l2 difference of floats, largest difference of integers */
} Verdict;

enum { NAME_SIZE = 40, NOTE_SIZE = 160 };

/* What is reported. */
typedef struct Score {
    char name[NAME_SIZE]; /* "special", "special/n4", "cudnn-ieee" */
    Side side;
    bool ran;
    bool judged;          /* held to the rule: ours */
    char note[NOTE_SIZE]; /* why it did not run; or what to know about it */
    Timing timing;
    Verdict verdict;
} Score;

typedef struct Contestant {
    Score score;
    GfSample out;  /* of its output, where it differs from the case's */
    bool signed16; /* its 16-bit integers are signed */
    bool unlike;   /* it computes something else of the same cost: its result is not judged */
    /* One launch on a batch. */
    GfStatus (*run)(void *state, const void *in, void *out, cudaStream_t stream);
    void (*close)(void *state);
    void *state; /* owned */
    /* Of the race. */
    double estimate; /* seconds */
    cudaGraphExec_t graph;
    double *seconds; /* a round's, each */
    size_t rounds;
} Contestant;

enum { CONTESTANTS = 64 };

/* Those of one case. */
typedef struct Field {
    Contestant list[CONTESTANTS];
    size_t count;
    char chosen[NAME_SIZE];     /* what `auto` takes, whether it is in the list or not */
    Slab between[2], workspace; /* of the case's passes and of libraries; used by one at a time */
} Field;

/* The next place of the field, with its name and side set, or NULL when it is full. */
Contestant *field_add(Field *field, Side side, const char *name);

/* Closes all contestants; the slabs stay. */
void field_clear(Field *field);

/* Says why a contestant does not run: this thread's last message. */
void contestant_drop(Contestant *contestant);

/* Is `name` in the list of names with commas between them? */
bool name_listed(const char *list, const char *name);
