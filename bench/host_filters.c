/* The CPU backend alone: a picture that lies in memory through a session, all its rows at once. */
#include <stdlib.h>

#include "bench/host.h"
#include "bench/samples.h"
#include "common/clock.h"
#include "cpu/backend.h"
#include "filters/grammar.h"

enum { SIDE = 4096 };

typedef struct Trial {
    GfBackend *backend;
    GfFilter *filter;
    GfPlan *plan;
    GfSession *session;
    GfImage in, out;
} Trial;

static void free_trial(Trial *trial)
{
    if (trial->session)
        trial->backend->end(trial->session);
    gf_plan_free(trial->plan);
    gf_filter_free(trial->filter);
    gf_image_free(&trial->in);
    gf_image_free(&trial->out);
}

/* Taps with the sum 1, no product of a column and a row. */
static GfStatus make_kernel(size_t kernel, GfFilter **filter)
{
    GfLinear *linear;
    double sum = 0.0;
    GF_TRY(gf_allocate_zero(1, sizeof **filter, filter));
    GF_TRY(gf_filter_add_kernel(*filter, 1, kernel, kernel, &linear));
    for (size_t i = 0; i < kernel * kernel; i++)
        sum += linear->weights[i] = samples_uniform(0.1, 1.0);
    for (size_t i = 0; i < kernel * kernel; i++)
        linear->weights[i] /= sum;
    return GF_OK;
}

/* "K=5" is such a kernel; else a filter of the catalogue. */
static GfStatus make_filter(const char *name, GfFilter **filter)
{
    size_t kernel;
    return sscanf(name, "K=%zu", &kernel) == 1 ? make_kernel(kernel, filter)
                                               : gf_filter_parse(name, filter);
}

static GfStatus fill(GfImage *image)
{
    const void *samples;
    size_t row = gf_row_bytes(&image->format), height = image->format.height;
    GF_TRY(samples_get(image->format.sample, gf_row_samples(&image->format) * height, &samples));
    for (size_t y = 0; y < height; y++)
        memcpy((char *)image->samples + y * image->stride, (const char *)samples + y * row, row);
    return GF_OK;
}

static GfStatus make_trial(Trial *trial, const HostFilter *of)
{
    GfFormat format = {SIDE, SIDE, of->channels, false, of->sample};
    GfPlanOptions options = gf_plan_options_default(of->sample);
    options.whole = true;
    GF_TRY(make_filter(of->name, &trial->filter));
    const GfFilter *filter = trial->filter;
    GF_TRY(gf_plan_create(&filter, 1, &format, &options, &trial->plan));
    GF_TRY(trial->backend->supports(trial->backend, trial->plan));
    GF_TRY(gf_image_allocate(&format, &trial->in));
    GF_TRY(gf_image_allocate(&format, &trial->out));
    GF_TRY(fill(&trial->in));
    return trial->backend->session(trial->backend, trial->plan, &trial->session);
}

static GfStatus run_once(const Trial *trial, double *seconds)
{
    const GfRing ring = {trial->in.samples, trial->in.stride, SIDE};
    GfBand out = gf_image_band(&trial->out);
    double begin = gf_now();
    GF_TRY(trial->backend->begin(trial->session, &ring));
    GF_TRY(trial->backend->submit(trial->session, 0, SIDE, &out));
    GF_TRY(trial->backend->collect(trial->session));
    *seconds = gf_now() - begin;
    return GF_OK;
}

void host_filter_text(const HostFilter *of, char *text, size_t size)
{
    snprintf(text, size, "filter alone, %s %s %dx%d %s", gf_sample_name(of->sample),
             of->channels == 1 ? "gray" : "RGB", SIDE, SIDE, of->name);
}

static GfStatus measure(GfBackend *backend, const HostFilter *of, HostResults *results)
{
    char what[96], who[160];
    double seconds[HOST_RUNS];
    Trial trial = {.backend = backend};
    GfStatus status = GF_OK;
    GF_GO(make_trial(&trial, of));
    GF_GO(run_once(&trial, &seconds[0])); /* pages in what it touches */
    for (size_t i = 0; i < HOST_RUNS; i++)
        GF_GO(run_once(&trial, &seconds[i]));
    host_filter_text(of, what, sizeof what);
    snprintf(who, sizeof who, "cpu (%s)", backend->device);
    host_add(results, what, who, seconds, HOST_RUNS, 0);
done:
    free_trial(&trial);
    return status;
}

GfStatus host_filters(HostResults *results)
{
    static const char *const names[] = {"box:size=3",
                                        "box:size=5",
                                        "box:size=9",
                                        "box:size=31",
                                        "box:size=101",
                                        "gaussian:sigma=1",
                                        "gaussian:sigma=3",
                                        "gaussian:sigma=10",
                                        "sobel:x",
                                        "K=3",
                                        "K=5",
                                        "K=7",
                                        "K=15",
                                        "K=31",
                                        "K=63",
                                        "K=127",
                                        "K=255"};
    static const GfSample samples[] = {GF_U8, GF_U16, GF_F32};
    GfBackend *backend;
    GfStatus status = GF_OK;
    GF_TRY(gf_cpu_open(0, &backend));
    for (size_t channels = 1; channels <= 3; channels += 2)
        for (size_t s = 0; s < sizeof samples / sizeof *samples; s++)
            for (size_t i = 0; i < sizeof names / sizeof *names && status == GF_OK; i++) {
                const HostFilter of = {names[i], samples[s], channels};
                if (samples[s] == GF_U8 || names[i][0] != 'K')
                    status = measure(backend, &of, results);
            }
    backend->close(backend);
    return status;
}
