/* A part of the inputs, so that several machines share the work of one call. */
#pragma once

#include "app/jobs.h"

typedef struct GfShard {
    size_t index;     /* from 0 */
    size_t count;     /* 1: everything */
    bool engine;      /* taken from what started the process, not from the call */
    char source[256]; /* where both come from, for people; "": not asked for */
} GfShard;

/* Reads the value of --shard: K/N with K from 1 to N, "auto" (shard_auto.h), "auto/N", or NULL for
 * everything. GF_EUSAGE. */
GfStatus gf_shard_find(const char *value, GfShard *shard);

/* Leaves in `jobs` those of the shard, in their order. The inputs are ranked by their path below
 * the directory that was given (of a file that was named: its name), byte by byte, then by their
 * whole path; the input of rank r belongs to shard r mod count. So every input belongs to one
 * shard, whatever the order of the call, of the directories, and whatever the locale.
 * GF_EMEMORY. */
GfStatus gf_shard_take(const GfShard *shard, GfJobs *jobs);
