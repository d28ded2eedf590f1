#include "bench/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/exact.h"
#include "bench/samples.h"
#include "common/workers.h"

/* ---- samples against the definition ---- */

static size_t random_below(size_t n)
{
    return gf_min((size_t)samples_uniform(0.0, (double)n), n - 1);
}

/* Corner i of 8: of the first picture's first channel, or of the last picture's last. */
static void corner(const GfStep *step, size_t batch, size_t i, size_t place[4])
{
    place[0] = i / 4 * (batch - 1);
    place[1] = i / 4 * (step->out_channels - 1);
    place[2] = i % 2 * (step->out_width - 1);
    place[3] = i / 2 % 2 * (step->out_height - 1);
}

/* Picture, channel, x, y: corners first, then one of four on an edge, then anywhere. */
static void choose_place(const GfStep *step, size_t batch, size_t i, size_t place[4])
{
    if (i < 8) {
        corner(step, batch, i, place);
        return;
    }
    place[0] = random_below(batch);
    place[1] = random_below(step->out_channels);
    place[2] = random_below(step->out_width);
    place[3] = random_below(step->out_height);
    if (i % 4 == 0)
        place[2] = i / 4 % 2 * (step->out_width - 1);
    else if (i % 4 == 1)
        place[3] = i / 4 % 2 * (step->out_height - 1);
}

void probes_make(const Case *made, const void *samples, Probes *probes)
{
    const GfStep *last = &made->passes[made->count - 1].step;
    size_t place[4], plane = last->out_width * last->out_height;
    probes->count = PROBES;
    for (size_t i = 0; i < probes->count; i++) {
        choose_place(last, made->spec->batch, i, place);
        size_t row = place[3] * last->out_width + place[2];
        size_t at = last->out_layout == GF_PLANAR ? place[1] * plane + row
                                                  : row * last->out_channels + place[1];
        probes->at[i] = place[0] * step_out_samples(last) + at;
        probes->exact[i] =
            exact_sample(made, made->count - 1, samples, place[0], place[1], place[2], place[3]);
    }
}

static GfStatus fetch(const Probes *probes, const void *out, size_t size, cudaStream_t stream,
                      unsigned char *got)
{
    for (size_t i = 0; i < probes->count; i++)
        CUDA(cudaMemcpyAsync, got + i * size, (const unsigned char *)out + probes->at[i] * size,
             size, cudaMemcpyDeviceToHost, stream);
    CUDA(cudaStreamSynchronize, stream);
    return GF_OK;
}

static void judge_floats(const Probes *probes, const unsigned char *got, GfSample sample,
                         Verdict *verdict)
{
    double squares = 0.0, whole = 0.0;
    for (size_t i = 0; i < probes->count; i++) {
        double off = gf_sample_at(got, i, sample) - probes->exact[i];
        squares += off * off;
        whole += probes->exact[i] * probes->exact[i];
    }
    verdict->error = sqrt(squares / whole);
    verdict->right = verdict->error <= 1e-6;
}

static void judge_integers(const Probes *probes, const unsigned char *got,
                           const Contestant *contestant, Verdict *verdict)
{
    double white = contestant->signed16 ? 32767.0 : gf_sample_max(contestant->out);
    for (size_t i = 0; i < probes->count; i++) {
        double exact = fmin(fmax(probes->exact[i], 0.0), white);
        double off = fabs(gf_sample_at(got, i, contestant->out) - exact);
        verdict->error = fmax(verdict->error, off);
    }
    verdict->right = verdict->error <= 0.5 + (contestant->out == GF_U8 ? 1e-3 : 0.05);
}

GfStatus check_probes(const Case *made, const Probes *probes, const Contestant *contestant,
                      const void *out, cudaStream_t stream, Verdict *verdict)
{
    unsigned char got[PROBES * sizeof(double)] __attribute__((aligned(8)));
    (void)made;
    *verdict = (Verdict){.samples = probes->count};
    GF_TRY(fetch(probes, out, gf_sample_size(contestant->out), stream, got));
    if (gf_sample_is_float(contestant->out))
        judge_floats(probes, got, contestant->out, verdict);
    else
        judge_integers(probes, got, contestant, verdict);
    return GF_OK;
}

/* ---- whole outputs against one another ---- */

enum { CHUNK = 32 << 20, PARTS = 64 };

/* Pinned memory for a chunk of each output, and threads. */
static void *chunks[2];
static GfWorkers *workers;

typedef struct Comparison {
    GfSample sample;
    size_t samples; /* of this chunk */
    double squares[PARTS], whole[PARTS], most[PARTS];
} Comparison;

static void compare_floats(Comparison *c, size_t part, size_t begin, size_t end)
{
    const float *left = chunks[0], *right = chunks[1];
    double squares = 0.0, whole = 0.0;
    for (size_t i = begin; i < end; i++) {
        double off = (double)left[i] - (double)right[i];
        squares += off * off;
        whole += (double)right[i] * (double)right[i];
    }
    c->squares[part] += squares;
    c->whole[part] += whole;
}

static void compare_bytes(Comparison *c, size_t part, size_t begin, size_t end)
{
    const uint8_t *left = chunks[0], *right = chunks[1];
    int most = 0;
    for (size_t i = begin; i < end; i++) {
        int off = abs(left[i] - right[i]);
        most = off > most ? off : most;
    }
    c->most[part] = fmax(c->most[part], most);
}

static void compare_words(Comparison *c, size_t part, size_t begin, size_t end)
{
    const uint16_t *left = chunks[0], *right = chunks[1];
    int most = 0;
    for (size_t i = begin; i < end; i++) {
        int off = abs(left[i] - right[i]);
        most = off > most ? off : most;
    }
    c->most[part] = fmax(c->most[part], most);
}

static void compare_part(void *context, size_t part, size_t worker)
{
    Comparison *c = context;
    size_t begin = c->samples * part / PARTS, end = c->samples * (part + 1) / PARTS;
    (void)worker;
    if (c->sample == GF_F32)
        compare_floats(c, part, begin, end);
    else if (c->sample == GF_U16)
        compare_words(c, part, begin, end);
    else
        compare_bytes(c, part, begin, end);
}

static GfStatus compare_chunk(Comparison *c, const void *out, const void *base, size_t bytes,
                              cudaStream_t stream)
{
    CUDA(cudaMemcpyAsync, chunks[0], out, bytes, cudaMemcpyDeviceToHost, stream);
    CUDA(cudaMemcpyAsync, chunks[1], base, bytes, cudaMemcpyDeviceToHost, stream);
    CUDA(cudaStreamSynchronize, stream);
    c->samples = bytes / gf_sample_size(c->sample);
    gf_workers_run(workers, PARTS, compare_part, c);
    return GF_OK;
}

static void conclude(const Comparison *c, Verdict *verdict)
{
    double squares = 0.0, whole = 0.0, most = 0.0;
    for (size_t i = 0; i < PARTS; i++) {
        squares += c->squares[i];
        whole += c->whole[i];
        most = fmax(most, c->most[i]);
    }
    bool real = c->sample == GF_F32;
    verdict->against = true;
    verdict->apart = real ? (whole > 0.0 ? sqrt(squares / whole) : sqrt(squares)) : most;
    verdict->right &= verdict->apart <= (real ? 2e-6 : 1.0);
}

GfStatus check_against(const Case *made, const void *out, const void *base, cudaStream_t stream,
                       Verdict *verdict)
{
    Comparison *c;
    GfStatus status = GF_OK;
    if (!workers)
        GF_TRY(gf_workers_create(gf_processors(), &workers));
    for (size_t i = 0; i < 2; i++)
        if (!chunks[i])
            CUDA(cudaHostAlloc, &chunks[i], CHUNK, cudaHostAllocDefault);
    GF_TRY(gf_allocate_zero(1, sizeof *c, &c));
    c->sample = made->passes[made->count - 1].step.out;
    for (size_t at = 0; at < made->out_bytes; at += CHUNK)
        GF_GO(compare_chunk(c, (const char *)out + at, (const char *)base + at,
                            gf_min(CHUNK, made->out_bytes - at), stream));
    conclude(c, verdict);
done:
    free(c);
    return status;
}

void check_free(void)
{
    gf_workers_destroy(workers);
    workers = NULL;
    for (size_t i = 0; i < 2; i++) {
        (void)cudaFreeHost(chunks[i]);
        chunks[i] = NULL;
    }
}
