/* How a report's page looks. */
#pragma once

extern const char gf_report_style[];  /* CSS */
extern const char gf_report_script[]; /* what a page can do without, in JavaScript */
