/* What is to be done: for every input the outputs that it gives, all known and checked before
 * anything is started. */
#pragma once

#include "app/bank.h"
#include "app/inputs.h"

typedef struct GfJob {
    const GfInputFile *input; /* borrowed */
    char **bases;             /* a path a filter; one when stacked or a montage; owned */
    size_t filters;           /* how many; 0 when nothing is written */
    bool bases_are_names;     /* not standard output, not all filters' */
    char **paths;             /* of the outputs, with the numbers of their maps (maps.h); owned */
    size_t outputs;
    size_t *maps;         /* how many of those are of each base; owned */
    const GfCodec *codec; /* of all outputs; NULL: the input's */
} GfJob;

typedef struct GfJobs {
    GfInputFiles inputs;
    GfJob *jobs; /* owned, in the order of the inputs; of a shard only its own */
    size_t count;
    bool stacked; /* a bank goes into one file: its pictures are the filters */
    bool montage; /* a bank goes onto one sheet */
} GfJobs;

/* Expands the operands and names all outputs. GF_EUSAGE, with nothing started, when two outputs
 * have one name, an output is an input (unless --in-place), a name gives no format, or -o does not
 * fit the number of outputs. Free `jobs` in every case. */
GfStatus gf_jobs_create(const GfOptions *options, const GfBank *bank, GfJobs *jobs);

/* Whether the run may wait for other programs: for an input that is no file, or to be rid of the
 * only picture's outputs. */
bool gf_jobs_may_wait(const GfJobs *jobs);

void gf_job_free(GfJob *job);

void gf_jobs_free(GfJobs *jobs);
