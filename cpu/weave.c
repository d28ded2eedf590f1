/* A row of one channel at a time: loaded, added to or spread out, finished and stored. */
#include "cpu/weave.h"

#include <stdlib.h>

#include "cpu/finish.h"

struct GfWeave {
    const GfStep *step;
    const GfRowFunctions *functions;
    size_t real; /* bytes of a number */
    size_t row;  /* bytes of a row of them */
    double gain; /* of what is added, in both types */
    float gain_f32;
};

/* One channel of a row, wherever it lies: sample i is at samples + i * apart. */
typedef struct Line {
    const unsigned char *samples;
    size_t apart;
    GfSample sample;
} Line;

GfStatus gf_weave_create(const GfStep *step, bool wide, const GfRowSet *rows, GfWeave **out)
{
    GF_TRY(gf_allocate_zero(1, sizeof **out, out));
    GfWeave *weave = *out;
    weave->step = step;
    weave->functions = &rows->functions[wide];
    weave->real = wide ? sizeof(double) : sizeof(float);
    weave->row = gf_align(step->in_width * weave->real);
    weave->gain = step->skip_gain;
    weave->gain_f32 = (float)step->skip_gain;
    return GF_OK;
}

size_t gf_weave_scratch(const GfWeave *weave)
{
    return 2 * weave->row;
}

void gf_weave_free(GfWeave *weave)
{
    free(weave);
}

static Line input_line(const GfStep *step, const unsigned char *row, size_t c)
{
    bool planar = step->in_layout == GF_PLANAR;
    return (Line){row + (planar ? c * step->in_width : c) * gf_sample_size(step->in),
                  planar ? 1 : step->channels, step->in};
}

static Line skipped_line(const GfStep *step, const unsigned char *row, size_t c)
{
    bool planar = step->skip_layout == GF_PLANAR;
    return (Line){row + (planar ? c * step->in_width : c) * gf_sample_size(step->skip_in),
                  planar ? 1 : step->skip_channels, step->skip_in};
}

static void load(const GfWeave *weave, const Line *line, void *row)
{
    weave->functions->load(row, line->samples, line->sample, line->apart, weave->step->in_width);
}

/* Stores numbers as every `apart`-th sample of channel c of an output row, from the first-th on. */
static void store(const GfWeave *weave, const void *row, unsigned char *to, size_t c, size_t first,
                  size_t apart, size_t count)
{
    const GfStep *step = weave->step;
    bool planar = step->out_layout == GF_PLANAR;
    size_t at = planar ? c * step->out_width + first : first * step->out_channels + c;
    weave->functions->store(to + at * gf_sample_size(step->out), step->out,
                            planar ? apart : apart * step->out_channels, row, count);
}

/* ---- additions ---- */

static void add_channel(const GfWeave *weave, const unsigned char *in, const unsigned char *skipped,
                        size_t c, void *scratch)
{
    const GfStep *step = weave->step;
    size_t colours = step->skip_channels - (step->keep_alpha ? 1 : 0);
    void *rows[] = {scratch, (unsigned char *)scratch + weave->row};
    bool wide = weave->real == sizeof(double);
    const void *gain = wide ? (const void *)&weave->gain : &weave->gain_f32;
    Line line = input_line(step, in, step->channels == 1 ? 0 : c);
    load(weave, &line, rows[0]);
    if (step->skip_gain == 0.0)
        return;
    Line other = skipped_line(step, skipped, colours == 1 ? 0 : c);
    load(weave, &other, rows[1]);
    const void *const sources[] = {rows[1]};
    weave->functions->sum(rows[0], sources, gain, 1, step->in_width, true);
}

static void add_rows(const GfWeave *weave, const unsigned char *in, const unsigned char *skipped,
                     unsigned char *to, void *scratch)
{
    const GfStep *step = weave->step;
    size_t last = step->out_channels - 1;
    for (size_t c = 0; c < step->out_channels; c++) {
        if (step->keep_alpha && c == last) {
            Line alpha = skipped_line(step, skipped, step->skip_channels - 1);
            load(weave, &alpha, scratch);
        } else {
            add_channel(weave, in, skipped, c, scratch);
        }
        gf_finish_row(step, weave->functions, c, scratch, step->in_width);
        store(weave, scratch, to, c, 0, 1, step->out_width);
    }
}

/* ---- enlargements ---- */

/* Output row y, of which `in` is the input row. */
static void enlarge_rows(const GfWeave *weave, const unsigned char *in, size_t y, unsigned char *to,
                         void *scratch)
{
    const GfStep *step = weave->step;
    size_t factor = step->factor_x, i = y % step->factor_y;
    for (size_t c = 0; c < step->out_channels; c++)
        for (size_t j = 0; j < factor && j < step->out_width; j++) {
            if (step->shuffle || j == 0) {
                size_t from = step->shuffle ? (c * step->factor_y + i) * factor + j : c;
                Line line = input_line(step, in, from);
                load(weave, &line, scratch);
                gf_finish_row(step, weave->functions, c, scratch, step->in_width);
            }
            store(weave, scratch, to, c, j, factor, (step->out_width - j - 1) / factor + 1);
        }
}

void gf_weave_run(const GfWeave *weave, const GfStepInput *input, const GfStepInput *skipped,
                  ptrdiff_t y0, ptrdiff_t y1, void *to, size_t stride, void *scratch)
{
    const GfStep *step = weave->step;
    bool adds = step->kind == GF_STEP_ADD;
    unsigned char *row = to;
    for (ptrdiff_t y = y0; y < y1; y++, row += stride) {
        ptrdiff_t from = adds ? y : y / (ptrdiff_t)step->factor_y;
        const unsigned char *in = gf_step_input_row(step, input, step->border, from);
        if (adds)
            add_rows(weave, in, gf_step_input_row(step, skipped, step->border, y), row, scratch);
        else
            enlarge_rows(weave, in, (size_t)y, row, scratch);
    }
}
