/* The suite that measures the host's side: the CPU backend's filter alone beside OpenCV's, and
 * whole processes that read, filter and write a file, or a directory of them, beside other
 * programs. Peers are what is found. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "common/status.h"
#include "images/image.h"

typedef struct HostScore {
    char what[96]; /* the case: "filter alone, u8 gray 4096x4096 box:size=5" */
    char who[64];  /* "cpu (16 threads, AVX-512)", "vips conv" */
    double seconds, least, most;
    size_t runs, bytes; /* bytes: of the output file; 0: none */
} HostScore;

enum { HOST_SCORES = 256, HOST_NOTES = 32, HOST_RUNS = 7 };

typedef struct HostResults {
    HostScore list[HOST_SCORES];
    size_t count;
    char notes[HOST_NOTES][160]; /* commands that were not found, or failed */
    size_t note_count;
} HostResults;

typedef struct HostOptions {
    const char *gpufilter; /* the program's path, or NULL: beside this one, else on the PATH */
    bool quick;
} HostOptions;

/* Runs the suite; what is missing or fails is noted. Files are made in a temporary folder, which is
 * removed. Errors: those of our own side. */
GfStatus host_run(const HostOptions *options, HostResults *results);

void host_report(const HostResults *results, FILE *to);

/* A new object; NULL for lack of memory. */
json_t *host_json(const HostResults *results);

/* ---- for the parts of the suite ---- */

/* Adds the median of the runs, in seconds, which are sorted. */
void host_add(HostResults *results, const char *what, const char *who, double *seconds, size_t runs,
              size_t bytes);

/* Adds a note, cut to its room, unless it is there already. */
void host_note(HostResults *results, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A filter on a picture in memory: one of the catalogue's, or "K=5", a kernel of random taps. */
typedef struct HostFilter {
    const char *name;
    GfSample sample;
    size_t channels;
} HostFilter;

/* The case's name. */
void host_filter_text(const HostFilter *of, char *text, size_t size);

/* The CPU backend's filter alone, on pictures in memory. */
GfStatus host_filters(HostResults *results);

/* OpenCV's filter through Python, and whole processes; files go to `folder`. */
GfStatus host_commands(const HostOptions *options, const char *folder, HostResults *results);

/* Directories of photographs; folders of them in `folder`, which are removed. */
GfStatus host_directories(const HostOptions *options, const char *folder, HostResults *results);
