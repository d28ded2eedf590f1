/* The output files of one picture while it is computed. */
#pragma once

#include "app/jobs.h"

typedef struct GfOutlet {
    GfOutput *output; /* NULL: passed over, its rows are dropped */
    GfWriter *writer;
} GfOutlet;

typedef struct GfOutlets {
    const GfJob *job; /* borrowed */
    bool stacked;     /* all filters go into the one outlet, each picture of the input to each */
    size_t filters;
    GfOutlet *items; /* job->outputs of them; owned */
} GfOutlets;

/* Whether every output of the job is there already. */
bool gf_outlets_exist(const GfJob *job);

/* Makes missing folders and begins all files; formats[i] is the format of filter i, `pictures` how
 * many pictures the input has; `metadata` is the input's, of which --strip leaves the profile.
 * Messages name the output. Errors: GF_EEXIST, GF_EWRITE, GF_EUSAGE
 * (the format does not fit), GF_EFILTER (stacked, and formats differ), GF_EMEMORY. On failure
 * nothing is left but new folders. */
GfStatus gf_outlets_open(const GfOptions *options, const GfJob *job, const GfCodec *codec,
                         const GfFormat *const *formats, size_t filters, size_t pictures,
                         const GfMetadata *metadata, GfOutlets *outlets);

/* Writes rows of filter `filter` of input picture `picture`. */
GfStatus gf_outlets_rows(GfOutlets *outlets, size_t picture, size_t filter, GfBand *band);

/* Completes the bytes of all files; nothing has its name yet. */
GfStatus gf_outlets_finish(GfOutlets *outlets);

/* Gives all files their names and frees everything. On failure those not named yet are dropped. */
GfStatus gf_outlets_commit(GfOutlets *outlets);

/* Drops what is not committed and frees everything. Empty outlets are allowed. */
void gf_outlets_discard(GfOutlets *outlets);
