/* The page of --report: one file of HTML with everything in it, pictures as data: URIs, for a
 * browser without network and without scripts. A summary leads to the sections: one a picture, in
 * it one a comparison. */
#pragma once

#include "app/compare.h"
#include "app/options.h"

typedef struct GfReport GfReport;

/* One of the two that are compared. */
typedef struct GfReportSide {
    const char *name;     /* "cpu"; of files the path */
    const char *device;   /* "8 threads, AVX2"; NULL, as the rest: a file */
    const char *method;   /* of each step */
    double compute, copy; /* seconds in kernels and in transfers */
    const GfImage *image;
} GfReportSide;

typedef struct GfReportCase {
    const char *filter; /* as it was written; NULL: two files */
    GfReportSide sides[2];
    const GfFigures *figures;
    double opaque; /* the number that full opacity is in both */
} GfReportCase;

/* Begins the page that --report asks for, so that a place that takes no file is found now; *report
 * is NULL when none is wanted, which the functions below take and do nothing. GF_EUSAGE,
 * GF_EMEMORY. */
GfStatus gf_report_open(const GfOptions *options, GfReport **report);

/* A new section. `input` is shown with the section's first comparison; NULL: none. Borrowed until
 * then. */
void gf_report_picture(GfReport *report, const char *title, const GfImage *input);

/* A comparison in the present section. Like the functions above and below it fails at
 * gf_report_commit(). */
void gf_report_case(GfReport *report, const GfReportCase *compared);

/* A picture that could not be compared, or whose outputs could not be written. */
void gf_report_failure(GfReport *report, const char *title, const char *reason);

/* Writes the page and gives it its name, and frees the report. The first failure of any of the
 * above, with the name: GF_EWRITE, GF_EFULL, GF_EEXIST, GF_EMEMORY. */
GfStatus gf_report_commit(GfReport **report);

/* Drops the report: nothing is left. */
void gf_report_discard(GfReport **report);
