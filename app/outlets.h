/* The output files of one picture while it is computed: a file a filter, a file a map, one file of
 * all filters, or a sheet with all of them. */
#pragma once

#include "app/held.h"
#include "app/jobs.h"
#include "app/montage.h"

typedef struct GfOutlet {
    char *path;             /* owned */
    size_t filter;          /* whose output it is, where that is one filter's */
    size_t first, channels; /* what goes here of the output's channels */
    size_t of;              /* how many those are */
    bool exists;            /* it did so before, and is passed over: its rows are dropped */
    GfOutput *output;       /* NULL: not begun, or done with */
    GfWriter *writer;
} GfOutlet;

typedef struct GfOutlets {
    const GfJob *job; /* borrowed */
    bool stacked;     /* all filters go into the one outlet, each picture of the input to each */
    bool skip_existing;
    size_t filters;
    GfOutlet *items; /* in the order of the filters; owned */
    size_t count;
    GfSample sample;   /* of the files */
    GfSample in;       /* of the input, whose opacity floats still have */
    GfHeld held;       /* where rows cannot be written as they come */
    GfMontage montage; /* of a sheet */
    void *scratch;     /* rows of some channels; owned */
    size_t scratch_bytes;
} GfOutlets;

/* Whether every output of the job is there already. */
bool gf_outlets_exist(const GfJob *job);

/* Sets in missing[i] whether any output of filter i of the job is not there yet, and says whether
 * one has such outputs. */
bool gf_outlets_missing(const GfJob *job, bool *missing);

/* The sample type that the plan is to give for a picture of the reader: that of the files, or where
 * a stretch follows floats, doubles for a picture of those. */
GfSample gf_outlets_sample(const GfOptions *options, const GfJob *job, const GfReader *reader);

/* Makes missing folders and begins all files; formats[i] is the format of filter i's output, or
 * NULL where its files exist, as gf_outlets_missing() says, and its rows do not come. The reader
 * gives the number of pictures and the metadata, of which --strip leaves the profile; `memory` is
 * the limit for what is held, `taken` as in GfWriteOptions. Messages name the output. Errors:
 * GF_EEXIST, GF_EWRITE, GF_EUSAGE (the format does not fit), GF_EFILTER (stacked, and formats
 * differ), GF_ELIMIT, GF_EMEMORY. On failure nothing is left but new folders. */
GfStatus gf_outlets_open(const GfOptions *options, const GfJob *job, const GfReader *reader,
                         const GfFormat *const *formats, size_t filters, size_t memory,
                         size_t taken, GfOutlets *outlets);

/* What rounding may leave of a filter's responses (GfPipeline.noise) is not stretched. */
void gf_outlets_noise(GfOutlets *outlets, size_t filter, double noise);

/* Takes rows of filter `filter` of input picture `picture`. */
GfStatus gf_outlets_rows(GfOutlets *outlets, size_t picture, size_t filter, GfBand *band);

/* Completes the bytes of all files, and tells the user what their writers note; nothing has its
 * name yet. */
GfStatus gf_outlets_finish(GfOutlets *outlets);

/* Gives all files their names and counts them; gf_outlets_discard() is still due, which after a
 * failure drops those not named yet. Under --skip-existing a file that has come up meanwhile is
 * none. */
GfStatus gf_outlets_commit(GfOutlets *outlets, size_t *written);

/* Drops what is not committed and frees everything. Empty outlets are allowed. */
void gf_outlets_discard(GfOutlets *outlets);
