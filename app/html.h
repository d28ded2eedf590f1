/* Text of a page of HTML on its way to an output. The first failure is kept and what follows it is
 * dropped, so that a page is written line after line as it reads. */
#pragma once

#include "images/codec.h"

typedef struct GfHtml {
    GfOutput *output;
    GfError error; /* GF_OK: none so far */
} GfHtml;

/* Markup as printf makes it. Strings of the user's are not among the arguments: gf_html_text(). */
void gf_html_print(GfHtml *html, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A name, as messages show it (gf_escape()) and so that it is text within elements and within
 * attributes in quotation marks. */
void gf_html_text(GfHtml *html, const char *name);

/* A data: URI with the picture as PNG. `options` as of any writer. */
void gf_html_picture(GfHtml *html, const GfImage *image, const GfWriteOptions *options);

/* All that was written to `from`. */
void gf_html_append(GfHtml *html, GfOutput *from);
