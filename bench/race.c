/* The order of things: upload; `direct` for comparison; each contestant launched, estimated,
 * captured into a graph, replayed on a poisoned output and checked; then rounds in which all take
 * turns. Buffer sets rotate, so many that none is in L2 when its turn comes again. */
#include "bench/race.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/methods.h"
#include "bench/samples.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
#define nvtxRangePushA(name) ((void)(name))
#define nvtxRangePop()       ((void)0)
#endif

enum {
    ROUNDS = 9,
    FEW_ROUNDS = 3, /* for slow launches, and quick runs */
    MOST_SETS = 256,
    SETS_OF_L2 = 3, /* all sets together are this many times as large as L2 */
    ALIGNMENT = 256,
    GRAPH_LAUNCHES = 1024
};

static const double round_seconds = 1.5e-3; /* of one contestant, unless one launch takes longer */
static const double slow = 20e-3, too_slow = 0.5, hopeless = 2.0;

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- buffers ---- */

/* Sets of one case. */
typedef struct Sets {
    unsigned char *in, *out;
    size_t in_step, out_step, count;
} Sets;

/* Outputs have room for a peer's 16 bits where ours are 8. */
static size_t out_room(const Case *made)
{
    bool byte = made->passes[made->count - 1].step.out == GF_U8;
    return aligned(made->out_bytes * (byte ? 2 : 1));
}

static size_t set_count(const Race *race, const Case *made)
{
    size_t sets = SETS_OF_L2 * race->device->l2 / (size_t)made->bytes + 1;
    return race->options.once ? 1 : gf_min(sets, MOST_SETS);
}

static GfStatus load(Race *race, const Case *made, const Sets *sets, const void *samples)
{
    GfSample sample = made->spec->in;
    if (race->loaded == sample && race->loaded_bytes == made->in_bytes &&
        race->loaded_sets >= sets->count)
        return GF_OK;
    CUDA(cudaMemcpy, sets->in, samples, made->in_bytes, cudaMemcpyHostToDevice);
    for (size_t i = 1; i < sets->count; i++)
        CUDA(cudaMemcpy, sets->in + i * sets->in_step, sets->in, made->in_bytes,
             cudaMemcpyDeviceToDevice);
    GF_TRY(cuda_status(cudaDeviceSynchronize(), "cudaDeviceSynchronize"));
    race->loaded = sample;
    race->loaded_bytes = made->in_bytes;
    race->loaded_sets = sets->count;
    return GF_OK;
}

static GfStatus make_sets(Race *race, const Case *made, const void *samples, Sets *sets)
{
    *sets = (Sets){.in_step = aligned(made->in_bytes),
                   .out_step = out_room(made),
                   .count = set_count(race, made)};
    void *before = race->in.memory;
    GF_TRY(slab_reserve(&race->in, sets->count * sets->in_step));
    if (race->in.memory != before)
        race->loaded_sets = 0;
    GF_TRY(slab_reserve(&race->out, sets->count * sets->out_step));
    GF_TRY(slab_reserve(&race->base, sets->out_step));
    for (size_t i = 0; i < 2; i++)
        GF_TRY(slab_reserve(&race->field.between[i], aligned(made->between_bytes)));
    sets->in = race->in.memory;
    sets->out = race->out.memory;
    return load(race, made, sets, samples);
}

static GfStatus poison(Race *race, const Case *made, void *out)
{
    CUDA(cudaMemsetAsync, out, CHECK_POISON, out_room(made), race->device->stream);
    return GF_OK;
}

/* ---- one contestant ---- */

static GfStatus launch(Contestant *contestant, const Sets *sets, size_t i, cudaStream_t stream)
{
    size_t set = i % sets->count;
    return contestant->run(contestant->state, sets->in + set * sets->in_step,
                           sets->out + set * sets->out_step, stream);
}

/* All launches of a round. */
static GfStatus replay(Contestant *contestant, const Sets *sets, cudaStream_t stream)
{
    if (contestant->graph) {
        CUDA(cudaGraphLaunch, contestant->graph, stream);
        return GF_OK;
    }
    for (size_t i = 0; i < contestant->score.timing.launches; i++)
        GF_TRY(launch(contestant, sets, i, stream));
    return GF_OK;
}

/* Keeps the stream until what is to be timed is submitted, so that what submitting takes is not in
 * the time; but not for ever, since a full queue waits for the stream. A profiler has a launch wait
 * until it has run: single launches are not kept. */
static void CUDART_CB hold(void *submitted)
{
    enum { NAPS = 1000 };
    const struct timespec nap = {.tv_nsec = 20000};
    for (int i = 0; i < NAPS && !atomic_load((atomic_bool *)submitted); i++)
        nanosleep(&nap, NULL);
}

static GfStatus submit(Race *race, Contestant *contestant, const Sets *sets)
{
    cudaStream_t stream = race->device->stream;
    CUDA(cudaEventRecord, race->begin, stream);
    GF_TRY(replay(contestant, sets, stream));
    CUDA(cudaEventRecord, race->end, stream);
    return GF_OK;
}

static GfStatus time_replay(Race *race, Contestant *contestant, const Sets *sets, double *seconds)
{
    float milliseconds;
    atomic_bool submitted = false;
    if (!race->options.once)
        CUDA(cudaLaunchHostFunc, race->device->stream, hold, &submitted);
    GfStatus status = submit(race, contestant, sets);
    atomic_store(&submitted, true);
    CUDA(cudaStreamSynchronize, race->device->stream); /* it reads `submitted` until then */
    GF_TRY(status);
    CUDA(cudaEventElapsedTime, &milliseconds, race->begin, race->end);
    *seconds = (double)milliseconds / 1e3 / (double)contestant->score.timing.launches;
    return GF_OK;
}

/* Captures a round's launches; what cannot be captured is launched one by one. */
static void capture(Contestant *contestant, const Sets *sets, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    GfStatus status = GF_OK;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) != cudaSuccess) {
        (void)cudaGetLastError();
        return;
    }
    for (size_t i = 0; i < contestant->score.timing.launches && status == GF_OK; i++)
        status = launch(contestant, sets, i, stream);
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess || status != GF_OK ||
        cudaGraphInstantiate(&contestant->graph, graph, 0) != cudaSuccess)
        contestant->graph = NULL;
    if (graph)
        (void)cudaGraphDestroy(graph);
    (void)cudaGetLastError();
    contestant->score.timing.graph = contestant->graph != NULL;
}

/* The first launch loads code and makes what the library makes once; the second is timed. */
static GfStatus estimate(Race *race, Contestant *contestant, const Sets *sets)
{
    contestant->score.timing.launches = 1;
    GF_TRY(time_replay(race, contestant, sets, &contestant->estimate));
    if (contestant->estimate <= hopeless)
        GF_TRY(time_replay(race, contestant, sets, &contestant->estimate));
    if (contestant->estimate > too_slow)
        return gf_fail(GF_EUNSUPPORTED, "a launch takes %.2f s", contestant->estimate);
    return GF_OK;
}

/* One that a profiler finds by its name: durations.py does. */
static GfStatus launch_named(Race *race, const Case *made, Contestant *contestant, const Sets *sets)
{
    char name[160];
    snprintf(name, sizeof name, "bench: %s: %s", made->name, contestant->score.name);
    nvtxRangePushA(name);
    GfStatus status = launch(contestant, sets, 0, race->device->stream);
    nvtxRangePop();
    return status;
}

static size_t round_launches(const Contestant *contestant, const Sets *sets)
{
    double seconds = fmax(contestant->estimate, 1e-6);
    double wanted = fmax(round_seconds / seconds, (double)sets->count);
    double affordable = fmax(slow / seconds, 1.0);
    return (size_t)fmin(ceil(fmin(wanted, affordable)), GRAPH_LAUNCHES);
}

static GfStatus prepare(Race *race, const Case *made, const Probes *probes, Contestant *contestant,
                        const Sets *sets)
{
    cudaStream_t stream = race->device->stream;
    GfSample out = made->passes[made->count - 1].step.out;
    Verdict *verdict = &contestant->score.verdict;
    if (!contestant->signed16)
        contestant->out = out;
    GF_TRY(estimate(race, contestant, sets));
    GF_TRY(launch_named(race, made, contestant, sets));
    if (!race->options.once)
        contestant->score.timing.launches = round_launches(contestant, sets);
    if (contestant->estimate < slow / 4.0 && !race->options.once)
        capture(contestant, sets, stream);
    GF_TRY(gf_allocate_zero(ROUNDS, sizeof *contestant->seconds, &contestant->seconds));
    GF_TRY(poison(race, made, sets->out));
    GF_TRY(replay(contestant, sets, stream));
    CUDA(cudaStreamSynchronize, stream);
    if (contestant->score.side == SIDE_COPY || contestant->unlike)
        return GF_OK;
    GF_TRY(check_probes(made, probes, contestant, sets->out, stream, verdict));
    if (contestant->score.side == SIDE_OURS && race->base.memory && !race->options.quick)
        GF_TRY(check_against(made, sets->out, race->base.memory, stream, verdict));
    return GF_OK;
}

/* ---- all of them ---- */

static GfStatus copy_run(void *state, const void *in, void *out, cudaStream_t stream)
{
    const Case *made = state;
    const GfStep *step = &made->passes[0].step;
    const Lay lay = step_in_lay(step);
    const size_t size = gf_sample_size(step->in), pitch = lay.pitch * size;
    if (lay.row == lay.pitch)
        CUDA(cudaMemcpyAsync, out, in, made->in_bytes, cudaMemcpyDeviceToDevice, stream);
    else
        CUDA(cudaMemcpy2DAsync, out, pitch, in, pitch, lay.row * size, made->spec->batch * lay.rows,
             cudaMemcpyDeviceToDevice, stream);
    return GF_OK;
}

/* A copy moves what the case moves only where input and output are of one size. */
static void enter_copy(Field *field, Case *made)
{
    Contestant *copy =
        made->in_bytes == made->out_bytes ? field_add(field, SIDE_COPY, "copy") : NULL;
    if (!copy)
        return;
    copy->run = copy_run;
    copy->state = made;
    copy->score.ran = true;
}

/* One launch of `direct`, for comparison. */
static GfStatus make_base(Race *race, const Case *made, const Sets *sets)
{
    Contestant direct;
    GF_TRY(methods_direct(&race->field, made, &direct));
    GfStatus status = poison(race, made, race->base.memory);
    if (status == GF_OK)
        status = direct.run(direct.state, sets->in, race->base.memory, race->device->stream);
    if (status == GF_OK)
        status = cuda_status(cudaStreamSynchronize(race->device->stream), "direct");
    direct.close(direct.state);
    return status;
}

/* GF_OK also when the contestant fails, as long as the device goes on. */
static GfStatus try_prepare(Race *race, const Case *made, const Probes *probes,
                            Contestant *contestant, const Sets *sets)
{
    if (prepare(race, made, probes, contestant, sets) == GF_OK)
        return GF_OK;
    contestant_drop(contestant);
    if (device_is_lost())
        return gf_fail(GF_EDEVICE, "%s: %s", contestant->score.name, contestant->score.note);
    return GF_OK;
}

static GfStatus take_turns(Race *race, const Sets *sets)
{
    Field *field = &race->field;
    size_t rounds = race->options.once ? 1 : race->options.quick ? FEW_ROUNDS : ROUNDS;
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < field->count; i++) {
            Contestant *contestant = &field->list[i];
            bool done = contestant->estimate > slow && round >= FEW_ROUNDS;
            if (!contestant->score.ran || done)
                continue;
            GF_TRY(time_replay(race, contestant, sets, &contestant->seconds[contestant->rounds]));
            contestant->rounds++;
        }
    return GF_OK;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void conclude(Contestant *contestant)
{
    Timing *timing = &contestant->score.timing;
    if (!contestant->score.ran || contestant->rounds == 0)
        return;
    qsort(contestant->seconds, contestant->rounds, sizeof *contestant->seconds, compare);
    timing->rounds = contestant->rounds;
    timing->least = contestant->seconds[0];
    timing->median = contestant->seconds[contestant->rounds / 2];
    timing->most = contestant->seconds[contestant->rounds - 1];
}

static GfStatus fill_result(const Race *race, const Case *made, const Sets *sets, Result *result)
{
    const Field *field = &race->field;
    memcpy(result->name, made->name, sizeof result->name);
    result->bytes = made->bytes;
    result->operations = made->operations;
    result->floor =
        fmax(made->bytes / race->device->copy_rate, made->operations / race->device->fma_rate);
    result->sets = sets->count;
    GF_TRY(gf_allocate_zero(field->count, sizeof *result->scores, &result->scores));
    for (size_t i = 0; i < field->count; i++)
        result->scores[i] = field->list[i].score;
    result->count = field->count;
    memcpy(result->chosen, field->chosen, sizeof result->chosen);
    return GF_OK;
}

static GfStatus run_made(Race *race, Case *made, Result *result)
{
    Sets sets;
    Probes probes;
    const void *samples;
    const RaceOptions *options = &race->options;
    size_t count = made->in_bytes / gf_sample_size(made->spec->in);
    GF_TRY(samples_get(made->spec->in, count, &samples));
    GF_TRY(make_sets(race, made, samples, &sets));
    probes_make(made, samples, &probes);
    GF_TRY(make_base(race, made, &sets));
    GF_TRY(
        methods_enter(&race->field, made, options->only, options->without, options->every_tiling));
    GF_TRY(peers_enter(race->peers, options->peer, &race->field, made, sets.in, sets.out));
    enter_copy(&race->field, made);
    for (size_t i = 0; i < race->field.count; i++)
        if (race->field.list[i].score.ran)
            GF_TRY(try_prepare(race, made, &probes, &race->field.list[i], &sets));
    GF_TRY(take_turns(race, &sets));
    for (size_t i = 0; i < race->field.count; i++)
        conclude(&race->field.list[i]);
    return fill_result(race, made, &sets, result);
}

GfStatus race_run(Race *race, const Spec *spec, Result *result)
{
    Case made;
    result->spec = *spec;
    if (!race->begin) {
        CUDA(cudaEventCreate, &race->begin);
        CUDA(cudaEventCreate, &race->end);
    }
    spec_name(spec, result->name, sizeof result->name);
    GfStatus status = case_make(spec, &made);
    if (status == GF_OK)
        status = run_made(race, &made, result);
    field_clear(&race->field);
    case_free(&made);
    return status;
}

void race_free(Race *race)
{
    slab_free(&race->in);
    slab_free(&race->out);
    slab_free(&race->base);
    slab_free(&race->field.between[0]);
    slab_free(&race->field.between[1]);
    slab_free(&race->field.workspace);
    if (race->begin) {
        (void)cudaEventDestroy(race->begin);
        (void)cudaEventDestroy(race->end);
    }
    check_free();
}

void result_free(Result *result)
{
    free(result->scores);
    *result = (Result){0};
}
