/* What was not done: said again at the end of a run, and listed for another one. */
#pragma once

#include "app/shard.h"
#include "images/output.h"

typedef struct GfFailure {
    const GfInputFile *input; /* borrowed */
    char *reason;             /* owned; NULL when there was no memory for it */
    bool failed;              /* else it was only not done */
} GfFailure;

typedef struct GfFailures {
    GfFailure *items; /* owned; room for one a job */
    size_t count;
    char separator;   /* of the list: a zero byte where a name has a line's end in it */
    char *path;       /* of the list; NULL: none is wanted; owned */
    GfOutput *output; /* begun with the run, so that a place that takes no file is found then */
} GfFailures;

/* Begins the list that --failures asks for, if any; {shard} in its name becomes the shard's number.
 * An older list is replaced when the new one is complete, no other file is, and no output of
 * `jobs`, which are those of all shards. GF_EUSAGE; GF_EMEMORY. Free `failures` in every case. */
GfStatus gf_failures_create(const GfOptions *options, const GfShard *shard, const GfJobs *jobs,
                            GfFailures *failures);

/* Notes an input. There may be one a job. */
void gf_failures_add(GfFailures *failures, const GfInputFile *input, bool failed,
                     const char *reason);

/* Puts them in the order of the inputs, which are one array, whatever order they came in. */
void gf_failures_sort(GfFailures *failures);

/* Writes the list and gives it its name. GF_EWRITE, GF_EFULL, with the name. */
GfStatus gf_failures_write(GfFailures *failures);

void gf_failures_free(GfFailures *failures);
