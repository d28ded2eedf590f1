/* Figures are written so that a person reads them at a glance and a script finds them in --json. */
#include "app/figures.h"

#include <math.h>
#include <stdio.h>

#include "app/print.h"
#include "common/text.h"

enum { NAME_SHOWN = 4 * 4096 + 8, REAL_DIGITS = 12 };

void gf_figures_print(const char *title, const GfFigures *figures)
{
    static const char undefined[] = "undefined (samples are infinite, NaN or too large)";
    char shown[NAME_SHOWN];
    printf("%s\n", gf_escape(title, shown, sizeof shown));
    printf("  largest difference  %.9g\n", figures->largest);
    printf("  mean difference     %.6g\n", figures->mean);
    if (!(figures->largest > 0.0))
        printf("  PSNR                inf (the pictures are equal)\n");
    else if (isnan(figures->psnr))
        printf("  PSNR                %s\n", undefined);
    else
        printf("  PSNR                %.2f dB\n", figures->psnr);
    if (isnan(figures->ssim))
        printf("  SSIM                %s\n", undefined);
    else
        printf("  SSIM                %.8f\n", figures->ssim);
    printf("  beyond %-12.6g %zu of %zu samples (%.4g %%)\n", figures->tolerance, figures->beyond,
           figures->samples, 100.0 * (double)figures->beyond / (double)figures->samples);
    (void)gf_print_flush(); /* main() asks again */
}

static json_t *real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *gf_name_json(const char *name)
{
    char shown[NAME_SHOWN];
    json_t *text = json_string(name);
    return text ? text : json_string(gf_escape(name, shown, sizeof shown));
}

void gf_figures_json(json_t *line, const GfFigures *figures)
{
    json_object_set_new(line, "largest_difference", real_json(figures->largest));
    json_object_set_new(line, "mean_difference", real_json(figures->mean));
    json_object_set_new(line, "psnr", real_json(figures->psnr));
    json_object_set_new(line, "ssim", real_json(figures->ssim));
    json_object_set_new(line, "tolerance", real_json(figures->tolerance));
    json_object_set_new(line, "beyond", json_integer((json_int_t)figures->beyond));
    json_object_set_new(line, "samples", json_integer((json_int_t)figures->samples));
    json_object_set_new(line, "within", json_boolean(figures->beyond == 0));
    gf_print_json(line, REAL_DIGITS);
}
