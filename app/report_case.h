/* A comparison within a report's page: figures, pictures, histogram. */
#pragma once

#include "app/html.h"
#include "app/report.h"

/* A finite number by that format of printf, an infinite one by its sign. */
void gf_report_number(GfHtml *html, const char *format, double value)
    __attribute__((format(printf, 2, 0)));

/* "640 x 480 pixels, RGB, 8 bits" */
void gf_report_format(GfHtml *html, const GfFormat *format);

/* The element <article id="cNUMBER">. `input` NULL: it is shown elsewhere, or there is none. */
void gf_report_article(GfHtml *html, size_t number, const GfReportCase *compared,
                       const GfImage *input, const GfWriteOptions *options);
