#include "bench/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char BEST_OURS[] = "best of ours", BEST_PEER[] = "best peer", CHOSEN[] = "what auto takes";

GfStatus results_add(Results *results, Result *result)
{
    if (results->count == results->room) {
        size_t room = results->room ? 2 * results->room : 64;
        Result *list = realloc(results->list, room * sizeof *list);
        if (!list) {
            result_free(result);
            return gf_fail(GF_EMEMORY, "no memory for %zu results", room);
        }
        results->list = list;
        results->room = room;
    }
    results->list[results->count++] = *result;
    return GF_OK;
}

void results_free(Results *results)
{
    for (size_t i = 0; i < results->count; i++)
        result_free(&results->list[i]);
    free(results->list);
    *results = (Results){0};
}

const Score *result_best(const Result *result, Side side)
{
    const Score *best = NULL;
    for (size_t i = 0; i < result->count; i++) {
        const Score *score = &result->scores[i];
        if (score->side != side || !score->ran || (score->judged && !score->verdict.right))
            continue;
        if (!best || score->timing.median < best->timing.median)
            best = score;
    }
    return best;
}

const Score *result_score(const Result *result, const char *name)
{
    if (name == BEST_OURS)
        return result_best(result, SIDE_OURS);
    if (name == BEST_PEER)
        return result_best(result, SIDE_PEER);
    if (name == CHOSEN)
        name = result->chosen;
    for (size_t i = 0; i < result->count; i++)
        if (result->scores[i].ran && strcmp(result->scores[i].name, name) == 0)
            return &result->scores[i];
    return NULL;
}

static bool known(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

size_t results_names(const Results *results, const char *suite, const char **names, size_t room)
{
    size_t count = 0;
    for (Side side = SIDE_OURS; side <= SIDE_COPY; side++)
        for (size_t i = 0; i < results->count; i++) {
            const Result *result = &results->list[i];
            for (size_t j = 0; j < result->count && strcmp(result->suite, suite) == 0; j++) {
                const Score *score = &result->scores[j];
                if (score->ran && score->side == side && count < room &&
                    !known(names, count, score->name))
                    names[count++] = score->name;
            }
        }
    return count;
}

Side results_side(const Results *results, const char *suite, const char *name)
{
    for (size_t i = 0; i < results->count; i++) {
        const Result *result = &results->list[i];
        const Score *score = strcmp(result->suite, suite) == 0 ? result_score(result, name) : NULL;
        if (score)
            return score->side;
    }
    return SIDE_OURS;
}

/* ---- means ---- */

/* Sums of logarithms until closed. */
static void mean_add(Mean *mean, double value, bool greatest)
{
    mean->mean += log(value);
    if (mean->cases == 0 || (greatest ? value > mean->least : value < mean->least))
        mean->least = value;
    mean->cases++;
}

static void mean_close(Mean *mean)
{
    if (mean->cases > 0)
        mean->mean = exp(mean->mean / (double)mean->cases);
}

static void summarise(const Result *result, const Score *score, Summary *summary)
{
    const Score *first = result_best(result, score->side);
    const Score *peer = result_best(result, SIDE_PEER);
    double seconds = score->timing.median;
    bool real = gf_sample_is_float(result->spec.out);
    summary->cases++;
    summary->wrong += score->judged && !score->verdict.right;
    summary->wins += score == first;
    mean_add(&summary->over_floor, seconds / result->floor, true);
    if (first) {
        mean_add(&summary->behind, seconds / first->timing.median, true);
        summary->late += seconds > CHOICE_TOLERANCE * first->timing.median;
    }
    if (peer)
        mean_add(&summary->against, peer->timing.median / seconds, false);
    if (score->verdict.samples > 0 && real)
        summary->error = fmax(summary->error, score->verdict.error);
}

Summary results_summary(const Results *results, const char *suite, const char *name)
{
    Summary summary = {.name = name};
    for (size_t i = 0; i < results->count; i++) {
        const Result *result = &results->list[i];
        const Score *score = strcmp(result->suite, suite) == 0 ? result_score(result, name) : NULL;
        if (score)
            summarise(result, score, &summary);
    }
    mean_close(&summary.over_floor);
    mean_close(&summary.behind);
    mean_close(&summary.against);
    return summary;
}

Mean results_against(const Results *results, const char *suite, const char *name, const char *peer)
{
    Mean mean = {0};
    for (size_t i = 0; i < results->count; i++) {
        const Result *result = &results->list[i];
        if (strcmp(result->suite, suite) != 0)
            continue;
        const Score *ours = result_score(result, name), *theirs = result_score(result, peer);
        if (ours && theirs)
            mean_add(&mean, theirs->timing.median / ours->timing.median, false);
    }
    mean_close(&mean);
    return mean;
}
