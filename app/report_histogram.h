/* The histogram of differences as SVG within a page. */
#pragma once

#include "app/html.h"
#include "app/report.h"

void gf_report_histogram(GfHtml *html, const GfReportCase *compared);
