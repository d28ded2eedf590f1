/* Plans run on backends: on the reference with the last step's store taken away, so that exact
 * values are compared, and then by every row of gf_algorithms, through sessions. */
#pragma once

#include "filters/backend.h"
#include "tests/gpu/picture.h"

enum { MAX_METHODS = 16, MAX_OUTPUTS = 4, IN_FLIGHT = 2 };

/* A row of gf_algorithms as a backend that is forced to it. */
typedef struct Method {
    const char *name;
    GfBackend *gpu;
    size_t sessions, launches; /* cases run in which there was a filter */
} Method;

extern Method methods[MAX_METHODS];
extern size_t method_count;
extern GfBackend *reference;
extern bool quick; /* a part of the cases, for compute-sanitizer */

/* A group of cases begins: its random numbers and turns are its own, whatever ran before it. */
void begin_group(const char *name);

/* Whose turn it is: 1, 2, ... since the group began. */
size_t next_turn(void);

/* Status 0, or 77 where there is no device. */
int open_backends(void);

/* Closes them, and says how often each method ran: where all groups did, each has to, both ways. */
void close_backends(bool all);

/* A picture on its way through a session. */
typedef struct Run {
    GfBackend *backend;
    const GfPlan *plan;
    const Block *in;
    Block *outs;
    GfRing ring;
    GfSession *session;
    size_t done[MAX_OUTPUTS]; /* output rows handed out */
    size_t flying;
} Run;

GfStatus submit_band(Run *run, size_t y0, size_t rows);
GfStatus run_picture(Run *run);

/* Runs a plan; the outputs are made here, poisoned, and the caller's to free. */
GfStatus run_plan(GfBackend *backend, const GfPlan *plan, const Block *in, Block *outs);

/* Makes bands of `rows` rows, and the ring as short as the contract allows: rows are written over
 * while the kernels that read them may still be running. */
void shrink_bands(GfPlan *plan, size_t rows);

typedef struct Case {
    GfFormat format;
    GfPlanOptions options;
    const GfFilter *filters[MAX_OUTPUTS];
    size_t count;
    const char *what;
    size_t share; /* of the methods, in turn, one in so many; 0 and 1: all */
    bool brief;   /* two methods only, in bands of one size */
    bool picked;  /* not run where it is ill-conditioned (tests/gpu/condition.h) */
} Case;

/* False where the filters cannot be applied to so small a picture. */
bool case_fits(const Case *c);

/* The plan with results that are neither rounded nor saturated. */
GfPlan *exact_plan(const Case *c);

/* What a failure is reported with. */
void describe(const Case *c, const char *method, char *text, size_t size);

/* Compares all outputs with the exact ones, or with those of another run. */
void check_outs(const GfPlan *plan, const Block *outs, const Block *exact, const Block *before,
                const char *what);

/* After a method has refused something: does it say so in its own name? */
void check_refusal(const char *method);

/* Every method, in bands of the plan's own size and in bands so small that every ring wraps
 * around. False when it is not run. */
bool run_case(const Case *c);
