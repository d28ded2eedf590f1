#include "bench/methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/algorithms.h"

static const char AUTO[] = "auto";

/* A method on all passes of a case, or a method for each of them. */
typedef struct Method {
    const GfAlgorithm *algorithms[CASE_PASSES]; /* NULL: a pool */
    const Case *made;
    Field *field; /* for what passes hand on */
    size_t tiling;
    void *states[CASE_PASSES];
} Method;

/* Does the method do pass i + 1 in the launch of pass i? */
static bool pools(const Case *made, const GfAlgorithm *algorithm, size_t i)
{
    return i + 1 < made->count && made->passes[i].step.kind == GF_STEP_FILTER && algorithm->pools &&
           algorithm->pools(&made->passes[i].step, &made->passes[i + 1].step);
}

static GfStatus run_pass(const Method *method, size_t i, const void *from, void *to,
                         cudaStream_t stream)
{
    const GfAlgorithm *algorithm = method->algorithms[i];
    GfLaunch launch = case_launch(method->made, i, from, to);
    if (!algorithm)
        return cuda_status(gf_launch_pool(&launch, stream), "pool");
    launch.state = method->states[i];
    launch.tiling = method->tiling;
    if (pools(method->made, algorithm, i)) {
        const GfLaunch pool = case_launch(method->made, i + 1, NULL, to);
        launch.pool = pool.step;
        launch.out = pool.out;
        launch.y1 = pool.y1;
    }
    return cuda_status(algorithm->launch(&launch, stream), algorithm->name);
}

static GfStatus run(void *state, const void *in, void *out, cudaStream_t stream)
{
    const Method *method = state;
    const Case *made = method->made;
    const void *from = in;
    for (size_t i = 0, launches = 0; i < made->count; i++, launches++) {
        const size_t first = i;
        i += method->algorithms[i] && pools(made, method->algorithms[i], i);
        void *to = i + 1 == made->count ? out : method->field->between[launches % 2].memory;
        GF_TRY(run_pass(method, first, from, to, stream));
        from = to;
    }
    return GF_OK;
}

static void close_method(void *state)
{
    Method *method = state;
    for (size_t i = 0; method && i < CASE_PASSES; i++)
        if (method->states[i])
            method->algorithms[i]->close(method->states[i]);
    free(method);
}

/* What `auto` takes for a pass that is a filter. */
static const GfAlgorithm *choose(const Case *made, size_t i, const GfCard *card)
{
    const GfStep *step = &made->passes[i].step;
    const GfUse use = {
        .pictures = made->spec->batch, .packed = made->spec->layer, .wide = made->spec->wide};
    return gf_algorithm_choose(step, i + 1 < made->count ? &made->passes[i + 1].step : NULL, &use,
                               card);
}

/* The one that it takes for all of them, or NULL. */
static const GfAlgorithm *choose_one(const Case *made, const GfCard *card)
{
    const GfAlgorithm *one = choose(made, 0, card);
    for (size_t i = 1; i < made->count; i++)
        if (made->passes[i].step.kind == GF_STEP_FILTER && choose(made, i, card) != one)
            return NULL;
    return one;
}

/* What the model of PMPP, 7.4, says about a tile of one channel of f32: operations for a byte that
 * is read from global memory, halo and all. `tiled` names its input tiles, `shared` its output
 * tiles. */
static void note_model(const Case *made, const char *algorithm, const char *tile, char *note)
{
    const GfStep *step = &made->passes[0].step;
    size_t columns, rows, halo = step->linear.width - 1;
    bool inner = strcmp(algorithm, "shared") == 0;
    if (made->spec->layer || step->channels > 1 || step->in != GF_F32 ||
        (!inner && strcmp(algorithm, "tiled") != 0) ||
        sscanf(tile, "%zux%zu", &columns, &rows) != 2)
        return;
    if (!inner && (columns <= halo || rows <= halo))
        return;
    double in = inner ? (double)((columns + halo) * (rows + halo)) : (double)(columns * rows);
    double out = inner ? (double)(columns * rows) : (double)((columns - halo) * (rows - halo));
    double taps = (double)gf_linear_taps(&step->linear);
    snprintf(note, NOTE_SIZE, "the model: %.2f OP/B", out * taps * 2.0 / (in * sizeof(float)));
}

static void note_pools(const Case *made, const GfAlgorithm *algorithm, char *note)
{
    for (size_t i = 0; i < made->count; i++)
        if (pools(made, algorithm, i))
            snprintf(note, NOTE_SIZE, "pools in the layer's launch");
}

/* By one method, or by what `auto` takes for each pass where `algorithm` is NULL. On failure the
 * contestant's state is still to be freed. */
static GfStatus open_method(Field *field, const Case *made, const GfAlgorithm *algorithm,
                            size_t tiling, Contestant *contestant)
{
    Method *method;
    GfCard card;
    GF_TRY(gf_current_card(&card));
    GF_TRY(gf_allocate_zero(1, sizeof *method, &method));
    *method = (Method){.made = made, .field = field, .tiling = tiling};
    contestant->state = method;
    contestant->run = run;
    contestant->close = close_method;
    for (size_t i = 0; i < made->count; i++) {
        const GfStep *step = &made->passes[i].step;
        if (step->kind != GF_STEP_FILTER)
            continue;
        const GfAlgorithm *row = algorithm ? algorithm : choose(made, i, &card);
        GF_TRY(gf_algorithm_runs(row, step, made->spec->wide, &card));
        method->algorithms[i] = row;
        if (row->open)
            GF_TRY(row->open(step, made->spec->wide, tiling, &method->states[i]));
    }
    return GF_OK;
}

static GfStatus enter(Field *field, const Case *made, const GfAlgorithm *algorithm, size_t tiling)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%s%s%s", algorithm ? algorithm->name : AUTO, tiling ? "/" : "",
             tiling ? algorithm->tilings[tiling - 1] : "");
    Contestant *contestant = field_add(field, SIDE_OURS, name);
    if (!contestant)
        return GF_OK;
    if (open_method(field, made, algorithm, tiling, contestant) == GF_OK) {
        contestant->score.ran = true;
        if (algorithm)
            note_pools(made, algorithm, contestant->score.note);
        if (tiling)
            note_model(made, algorithm->name, algorithm->tilings[tiling - 1],
                       contestant->score.note);
        return GF_OK;
    }
    contestant_drop(contestant);
    return GF_OK;
}

/* Does the case's list ask for NAME/TILING, itself or by an asterisk? */
static bool tiling_asked(const char *list, const char *name, const char *tiling)
{
    char full[NAME_SIZE];
    snprintf(full, sizeof full, "%s/*", name);
    if (name_listed(list, full))
        return true;
    snprintf(full, sizeof full, "%s/%s", name, tiling);
    return name_listed(list, full);
}

static bool method_asked(const char *list, const char *name)
{
    return !list || name_listed(list, name) || tiling_asked(list, name, "");
}

/* A method for each pass is a contestant of its own. */
static GfStatus enter_auto(Field *field, const Case *made)
{
    GfCard card;
    GF_TRY(gf_current_card(&card));
    const GfAlgorithm *one = choose_one(made, &card);
    snprintf(field->chosen, sizeof field->chosen, "%s", one ? one->name : AUTO);
    return one ? GF_OK : enter(field, made, NULL, 0);
}

GfStatus methods_enter(Field *field, const Case *made, const char *only, const char *without,
                       bool every)
{
    const char *list = made->spec->methods;
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++) {
        if ((only && !name_listed(only, row->name)) || name_listed(without, row->name))
            continue;
        if (every || method_asked(list, row->name))
            GF_TRY(enter(field, made, row, 0));
        for (size_t i = 0; row->tilings && row->tilings[i]; i++)
            if (every || tiling_asked(list, row->name, row->tilings[i]))
                GF_TRY(enter(field, made, row, i + 1));
    }
    return enter_auto(field, made);
}

GfStatus methods_direct(Field *field, const Case *made, Contestant *direct)
{
    const GfAlgorithm *row = gf_algorithm_find("direct");
    *direct = (Contestant){0};
    GfStatus status = open_method(field, made, row, 0, direct);
    if (status != GF_OK) {
        close_method(direct->state);
        direct->state = NULL;
    }
    return status;
}
