/* What became of one picture: for --json, --stats and the summary. */
#pragma once

#include <jansson.h>

#include "app/flow.h"
#include "app/outlets.h"
#include "app/work.h"

typedef enum GfOutcome {
    GF_OUTCOME_WRITTEN,
    GF_OUTCOME_FAILED,
    GF_OUTCOME_SKIPPED,
    GF_OUTCOME_STOPPED /* begun, and given up because a signal asked for it */
} GfOutcome;

typedef struct GfRecord {
    GfOutcome outcome;
    GfError error; /* of GF_OUTCOME_FAILED */
    GfFormat in;   /* width 0 when the picture could not be opened */
    size_t pictures;
    size_t bands, band_rows; /* of each picture: parts it was computed in, rows of one */
    char device[192];        /* "cuda:0 (NVIDIA H200)"; "" when it did not come to that */
    json_t *methods; /* for each filter an array with the method of each step, empty where it was
                      * left out; owned; or NULL */
    GfFlowTimes times;
    char **outputs;       /* paths; owned */
    bool *exist;          /* which of them were passed over; owned */
    size_t output_count;  /* 0: those of the job */
    double total;         /* seconds from opening or decoding ahead to the last rename */
    double multiply_adds; /* of all filters */
    GfLaneWork work;      /* owned */
} GfRecord;

/* Notes plan, device and methods of a lane that is about to run. */
void gf_record_lane(GfRecord *record, const GfLane *lane, size_t pictures);

/* Notes the paths of the outputs, which may be more than the job knows. GF_EMEMORY. */
GfStatus gf_record_outputs(GfRecord *record, const GfOutlets *outlets);

/* Notes which of those outputs were passed over. */
void gf_record_existing(GfRecord *record, const GfOutlets *outlets);

/* Prints the record as one line of JSON on standard output, all at once. */
void gf_record_json(const GfRecord *record, const GfJob *job);

/* Prints times and throughput as a small table on standard error. */
void gf_record_stats(const GfRecord *record, const GfJob *job, const GfBank *bank);

/* With --verbose: which outputs were passed over, and for each filter the method of each of its
 * steps. */
void gf_record_detail(const GfRecord *record, const GfJob *job, const GfBank *bank);

/* Whether the record is of a failure that the next picture would meet too: a full disk, a lost
 * device that the user insists on, or a standard output that cannot be written. The run then ends
 * with status 3. */
bool gf_record_is_fatal(const GfRecord *record);

/* Lists the jobs from `first` on as not started. */
void gf_record_not_started(const GfJobs *jobs, size_t first);

/* Frees what the record owns. */
void gf_record_free(GfRecord *record);
