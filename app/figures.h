/* The figures of a comparison on standard output. */
#pragma once

#include <jansson.h>

#include "app/compare.h"

/* A few lines below `title`, which is printed escaped. */
void gf_figures_print(const char *title, const GfFigures *figures);

/* Adds the figures to `line`, prints it as one line and frees it. What is not finite (PSNR of equal
 * pictures) is null. */
void gf_figures_json(json_t *line, const GfFigures *figures);

/* json_string() of a name that may be no UTF-8: escaped. */
json_t *gf_name_json(const char *name);
