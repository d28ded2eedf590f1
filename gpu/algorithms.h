/* The GPU's convolution methods: one table. --algorithm, `gpufilter algorithms`, the tests and the
 * bench walk it; a new method is a .cu file, a row in algorithms.c and a line of CMake. */
#pragma once

#include "filters/plan.h"
#include "gpu/launch.h"

/* What a device can. */
typedef struct GfCard {
    int capability; /* 10 * major + minor of its compute capability */
    bool groups;    /* has it products of groups of four warps, and the program code for them? */
} GfCard;

/* That of the current device; only in builds with CUDA. */
GfStatus gf_current_card(GfCard *card);

/* How a step's launches are. */
typedef struct GfUse {
    bool wide;       /* sums in f64 */
    size_t pictures; /* of a launch */
    bool
        packed; /* rows of planes lie right behind each other; else each begins where vectors may */
    bool enters; /* a network's entry comes before it, and may be part of it (gpu/enter.h) */
} GfUse;

typedef struct GfAlgorithm {
    const char *name, *summary, *source;
    /* GF_OK when the method can run a GF_STEP_FILTER step on some card, or GF_EUNSUPPORTED with
     * what it cannot do. */
    GfStatus (*supports)(const GfStep *step, bool wide);
    /* Is it worth while for a step that it supports? `auto` passes over it where not; NULL:
     * always. */
    bool (*pays)(const GfStep *step, const GfUse *use, const GfCard *card);
    /* Can it do the pool that follows a step which it supports in the same launch (GfLaunch.pool)?
     * NULL: never. */
    bool (*pools)(const GfStep *step, const GfStep *pool);
    /* Can it do a network's entry and the layer that follows it, which it supports, in one launch
     * (gpu/enter.h)? NULL: never. */
    bool (*enters)(const GfStep *entry, const GfStep *layer);
    /* The same of a card, for a step that it supports; NULL: every card. */
    GfStatus (*runs_on)(const GfStep *step, const GfCard *card);
    /* NULL in a build without CUDA. */
    GfLauncher launch;
    /* Names of the ways to cut the work that GfLaunch.tiling may ask for; the last is NULL. NULL:
     * one way. */
    const char *const *tilings;
    /* For methods that keep something from launch to launch, else NULL: makes GfLaunch.state on the
     * current device, for launches of one step, with that GfLaunch.tiling, on one stream at a time;
     * frees it (NULL is allowed). */
    GfStatus (*open)(const GfStep *step, bool wide, size_t tiling, void **state);
    void (*close)(void *state);
} GfAlgorithm;

/* The last row has no name. */
extern const GfAlgorithm gf_algorithms[];

/* The row of that name, or NULL. */
const GfAlgorithm *gf_algorithm_find(const char *name);

/* GF_OK when the card can run the step by the row's method, or GF_EUNSUPPORTED with why not. */
GfStatus gf_algorithm_runs(const GfAlgorithm *row, const GfStep *step, bool wide,
                           const GfCard *card);

/* The method that `auto` takes for the step on a card; `next` is the step that follows, or NULL.
 * There always is one: `direct` runs everything. */
const GfAlgorithm *gf_algorithm_choose(const GfStep *step, const GfStep *next, const GfUse *use,
                                       const GfCard *card);
