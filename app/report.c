/* The summary comes first and is known last, so that its rows and the sections wait in files
 * without a name: however many pictures there are, only one comparison is in memory. */
#include "app/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "app/message.h"
#include "app/report_case.h"
#include "app/report_style.h"
#include "common/text.h"

enum { SHOWN = 512, PNG_LEVEL = 6 };

struct GfReport {
    const char *path;       /* borrowed */
    GfWriteOptions options; /* of the pictures */
    GfHtml page, rows, sections;
    bool in_section;
    const GfImage *input; /* to be shown with the next comparison */
    const char *title;    /* of the section; borrowed */
    size_t passed, failed, errors;
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

GfStatus gf_report_open(const GfOptions *options, GfReport **report)
{
    char shown[SHOWN];
    GfReport *opened;
    GfStatus status;
    *report = NULL;
    if (!options->report)
        return GF_OK;
    GF_TRY(gf_allocate_zero(1, sizeof *opened, &opened));
    opened->path = options->report;
    opened->options = options->write;
    opened->options.compression = PNG_LEVEL;
    GF_GO(gf_output_open(options->report, options->overwrite, &opened->page.output));
    GF_GO(gf_output_spool(&opened->rows.output));
    GF_GO(gf_output_spool(&opened->sections.output));
    *report = opened;
done:
    if (status == GF_OK)
        return GF_OK;
    gf_report_discard(&opened);
    return gf_fail(GF_EUSAGE, "--report %s: %s", gf_escape(options->report, shown, sizeof shown),
                   gf_message());
}

static void end_section(GfReport *report)
{
    if (report->in_section)
        gf_html_print(&report->sections, "</section>\n");
    report->in_section = false;
}

void gf_report_picture(GfReport *report, const char *title, const GfImage *input)
{
    if (!report)
        return;
    end_section(report);
    gf_html_print(&report->sections, "<section>\n<h2>");
    gf_html_text(&report->sections, title);
    gf_html_print(&report->sections, "</h2>\n");
    report->in_section = true;
    report->title = title;
    report->input = input;
}

static void put_cell(GfHtml *html, const char *format, double value)
{
    gf_html_print(html, "<td class=\"number\">");
    gf_report_number(html, format, value);
    gf_html_print(html, "</td>");
}

void gf_report_case(GfReport *report, const GfReportCase *compared)
{
    if (!report)
        return;
    GfHtml *rows = &report->rows;
    const GfFigures *figures = compared->figures;
    bool passed = figures->beyond == 0;
    size_t number = report->passed + report->failed + 1;
    gf_html_print(rows, "<tr><th scope=\"row\"><a href=\"#c%zu\">", number);
    gf_html_text(rows, report->title);
    gf_html_print(rows, "</a></th><td>");
    gf_html_text(rows, compared->filter ? compared->filter : "–");
    gf_html_print(rows, "</td>");
    put_cell(rows, "%.6g", figures->largest);
    put_cell(rows, "%.4g", figures->mean);
    put_cell(rows, "%.2f", figures->psnr);
    put_cell(rows, "%.6f", figures->ssim);
    gf_html_print(rows, "<td class=\"number\">%zu</td>", figures->beyond);
    gf_html_print(rows, "<td><span class=\"verdict %s\">%s</span></td></tr>\n",
                  passed ? "passed" : "failed", passed ? "passed" : "failed");
    if (report->sections.error.status == GF_OK)
        gf_report_article(&report->sections, number, compared, report->input, &report->options);
    report->input = NULL;
    report->passed += passed;
    report->failed += !passed;
}

void gf_report_failure(GfReport *report, const char *title, const char *reason)
{
    if (!report)
        return;
    report->errors++;
    report->input = NULL;
    gf_html_print(&report->rows, "<tr><th scope=\"row\">");
    gf_html_text(&report->rows, title);
    gf_html_print(&report->rows, "</th><td colspan=\"6\">");
    gf_html_text(&report->rows, reason);
    gf_html_print(&report->rows,
                  "</td><td><span class=\"verdict failed\">error</span></td></tr>\n");
}

static void put_heading(GfReport *report)
{
    GfHtml *page = &report->page;
    const char *verdict = report->failed ? "failed" : report->errors ? "incomplete" : "passed";
    gf_html_print(page, "%s<title>gpufilter comparison: %s</title>\n<style>\n%s</style>\n", head,
                  verdict, gf_report_style);
    gf_html_print(page, "</head>\n<body>\n<header>\n<h1>Comparison %s</h1>\n<p>", verdict);
    gf_html_print(page, "%zu of %zu within the tolerance", report->passed,
                  report->passed + report->failed);
    if (report->errors)
        gf_html_print(page, ", %zu with errors", report->errors);
    gf_html_print(page, ".</p>\n</header>\n<main>\n<div class=\"scroll\" role=\"region\" "
                        "aria-label=\"Summary\" tabindex=\"0\">"
                        "<table>\n"
                        "<thead><tr><th scope=\"col\">Picture</th><th scope=\"col\">Filter</th>"
                        "<th scope=\"col\" class=\"number\">Largest</th>"
                        "<th scope=\"col\" class=\"number\">Mean</th>"
                        "<th scope=\"col\" class=\"number\">PSNR, dB</th>"
                        "<th scope=\"col\" class=\"number\">SSIM</th>"
                        "<th scope=\"col\" class=\"number\">Beyond</th>"
                        "<th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n");
}

static void put_page(GfReport *report)
{
    GfHtml *page = &report->page;
    char date[64] = "";
    time_t now = time(NULL);
    struct tm parts;
    end_section(report);
    put_heading(report);
    gf_html_append(page, report->rows.output);
    gf_html_print(page, "</tbody>\n</table></div>\n");
    gf_html_append(page, report->sections.output);
    if (gmtime_r(&now, &parts))
        strftime(date, sizeof date, ", %Y-%m-%d %H:%M UTC", &parts);
    gf_html_print(page, "</main>\n<footer>gpufilter " GPUFILTER_VERSION "%s</footer>\n", date);
    gf_html_print(page, "<script>\n%s</script>\n</body>\n</html>\n", gf_report_script);
}

GfStatus gf_report_commit(GfReport **report)
{
    GfReport *done = *report;
    GfStatus status;
    if (!done)
        return GF_OK;
    GF_GO(gf_error_raise(&done->rows.error));
    GF_GO(gf_error_raise(&done->sections.error));
    put_page(done);
    GF_GO(gf_error_raise(&done->page.error));
    GF_GO(gf_output_commit(&done->page.output));
done:
    status = gf_fail_output(status, done->path);
    gf_report_discard(report);
    return status;
}

void gf_report_discard(GfReport **report)
{
    GfReport *dropped = *report;
    *report = NULL;
    if (!dropped)
        return;
    gf_output_discard(&dropped->page.output);
    gf_output_discard(&dropped->rows.output);
    gf_output_discard(&dropped->sections.output);
    free(dropped);
}
