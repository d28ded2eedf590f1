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
    size_t place[4];
    probes->count = PROBES;
    for (size_t i = 0; i < probes->count; i++) {
        choose_place(last, made->spec->batch, i, place);
        probes->at[i] = step_out_at(last, place[0], place[1], place[2], place[3]);
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
    Lay lay;
    size_t rows; /* of this chunk */
    double squares[PARTS], whole[PARTS], most[PARTS];
    bool beside[PARTS]; /* was something written between rows? */
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

/* What lies between rows is as it was poisoned. */
static bool is_poison(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != CHECK_POISON)
            return false;
    return true;
}

static void compare_part(void *context, size_t part, size_t worker)
{
    Comparison *c = context;
    const size_t size = gf_sample_size(c->sample);
    (void)worker;
    for (size_t y = c->rows * part / PARTS; y < c->rows * (part + 1) / PARTS; y++) {
        const size_t begin = y * c->lay.pitch, end = begin + c->lay.row;
        if (c->sample == GF_F32)
            compare_floats(c, part, begin, end);
        else if (c->sample == GF_U16)
            compare_words(c, part, begin, end);
        else
            compare_bytes(c, part, begin, end);
        c->beside[part] |= !is_poison((const unsigned char *)chunks[0] + end * size,
                                      (c->lay.pitch - c->lay.row) * size);
    }
}

static GfStatus compare_chunk(Comparison *c, const void *out, const void *base, size_t rows,
                              cudaStream_t stream)
{
    const size_t bytes = rows * c->lay.pitch * gf_sample_size(c->sample);
    CUDA(cudaMemcpyAsync, chunks[0], out, bytes, cudaMemcpyDeviceToHost, stream);
    CUDA(cudaMemcpyAsync, chunks[1], base, bytes, cudaMemcpyDeviceToHost, stream);
    CUDA(cudaStreamSynchronize, stream);
    c->rows = rows;
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
        verdict->right &= !c->beside[i];
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
    const GfStep *last = &made->passes[made->count - 1].step;
    c->sample = last->out;
    c->lay = step_out_lay(last);
    const size_t pitch = c->lay.pitch * gf_sample_size(c->sample);
    const size_t rows = made->spec->batch * c->lay.rows, most = CHUNK / pitch;
    for (size_t y = 0; y < rows; y += most)
        GF_GO(compare_chunk(c, (const char *)out + y * pitch, (const char *)base + y * pitch,
                            gf_min(most, rows - y), stream));
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
