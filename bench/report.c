#include "bench/report.h"

#include <string.h>

enum { MOST_NAMES = 64 };

static double us(double seconds)
{
    return seconds * 1e6;
}

/* ---- head ---- */

void report_head(const Run *run, FILE *to)
{
    const Device *device = &run->device;
    fprintf(to, "# gpufilter-bench, %s, commit %s\n\n", run->date, run->commit);
    if (!run->has_device)
        return;
    fprintf(
        to,
        "%s (sm_%d%d, %d multiprocessors, %d MHz, %zu MB of L2), CUDA %d.%d, driver %s for CUDA "
        "%d.%d. Limits: device-to-device copy %.2f TB/s (measured, bytes read and written), f32 "
        "multiply-adds %.1f TFLOP/s (multiprocessors x 128 x 2 x clock). cuDNN: %s. NPP: %s.\n\n",
        device->name, device->major, device->minor, device->multiprocessors,
        device->clock_khz / 1000, device->l2 >> 20, device->runtime_version / 1000,
        device->runtime_version % 1000 / 10, device->driver[0] ? device->driver : "unknown",
        device->driver_version / 1000, device->driver_version % 1000 / 10, device->copy_rate / 1e12,
        device->fma_rate / 1e12, run->peers.cudnn_note, run->peers.npp_note);
    fprintf(
        to,
        "Times are medians in microseconds of one launch, contestants taking turns on buffers that "
        "rotate beyond L2. Floor: the larger of bytes moved once at the copy's rate and operations "
        "at the multiply-adds' rate. A time in brackets: its result was wrong.\n");
}

/* ---- a line a case ---- */

static void print_cell(const Score *score, FILE *to)
{
    if (!score)
        fprintf(to, " - |");
    else if (score->judged && !score->verdict.right)
        fprintf(to, " [%.1f] |", us(score->timing.median));
    else
        fprintf(to, " %.1f |", us(score->timing.median));
}

static void print_grid_line(const Result *result, const char *const *names, size_t count, FILE *to)
{
    const Score *ours = result_best(result, SIDE_OURS), *peer = result_best(result, SIDE_PEER);
    fprintf(to, "| %s | %.1f | %.1f |", result->name, us(result->floor),
            result->operations / result->bytes);
    for (size_t i = 0; i < count; i++)
        print_cell(result_score(result, names[i]), to);
    if (ours)
        fprintf(to, " %s | %.2f | %.1f | %.0f |", ours->name, ours->timing.median / result->floor,
                result->operations / ours->timing.median / 1e12,
                result->bytes / ours->timing.median / 1e9);
    else
        fprintf(to, " - | - | - | - |");
    if (ours && peer)
        fprintf(to, " %.2f |\n", peer->timing.median / ours->timing.median);
    else
        fprintf(to, " - |\n");
}

static void print_grid(const Run *run, const Suite *suite, const char *const *names, size_t count,
                       FILE *to)
{
    fprintf(to, "\n| case | floor | OP/B |");
    for (size_t i = 0; i < count; i++)
        fprintf(to, " %s |", names[i]);
    fprintf(to, " best of ours | x floor | TFLOP/s | GB/s | x best peer |\n|---|---:|---:|");
    for (size_t i = 0; i < count; i++)
        fprintf(to, "---:|");
    fprintf(to, "---|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < run->results.count; i++)
        if (strcmp(run->results.list[i].suite, suite->name) == 0)
            print_grid_line(&run->results.list[i], names, count, to);
}

/* ---- a table a case ---- */

static void print_score(const Result *result, const Score *score, FILE *to)
{
    const Score *peer = result_best(result, SIDE_PEER), *direct = result_score(result, "direct");
    const Timing *timing = &score->timing;
    fprintf(to, "| %s |", score->name);
    print_cell(score, to);
    fprintf(to, " %.1f-%.1f | %.2f | %.2f | %.0f |", us(timing->least), us(timing->most),
            timing->median / result->floor, result->operations / timing->median / 1e12,
            result->bytes / timing->median / 1e9);
    if (direct)
        fprintf(to, " %.2f |", direct->timing.median / timing->median);
    else
        fprintf(to, " - |");
    if (peer)
        fprintf(to, " %.2f |", peer->timing.median / timing->median);
    else
        fprintf(to, " - |");
    if (score->verdict.samples > 0)
        fprintf(to, " %.1e |", score->verdict.error);
    else
        fprintf(to, " - |");
    fprintf(to, " %s |\n", score->note);
}

static void print_case(const Result *result, FILE *to)
{
    fprintf(to, "\n**%s**: floor %.1f us, %.1f OP/B, %zu sets of buffers\n\n", result->name,
            us(result->floor), result->operations / result->bytes, result->sets);
    fprintf(
        to,
        "| who | us | least-most | x floor | TFLOP/s | GB/s | x direct | x best peer | error | |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
    for (size_t i = 0; i < result->count; i++)
        if (result->scores[i].ran)
            print_score(result, &result->scores[i], to);
    for (size_t i = 0; i < result->count; i++)
        if (!result->scores[i].ran)
            fprintf(to, "\n- %s did not run: %s", result->scores[i].name, result->scores[i].note);
    fprintf(to, "\n");
}

static void print_cases(const Run *run, const Suite *suite, FILE *to)
{
    for (size_t i = 0; i < run->results.count; i++)
        if (strcmp(run->results.list[i].suite, suite->name) == 0)
            print_case(&run->results.list[i], to);
}

/* ---- means ---- */

static void print_mean(Mean mean, FILE *to)
{
    if (mean.cases > 0)
        fprintf(to, " %.2f (%.2f) |", mean.mean, mean.least);
    else
        fprintf(to, " - |");
}

static void print_summary(const Run *run, const Suite *suite, const char *name,
                          const char *const *peers, size_t peer_count, FILE *to)
{
    Summary summary = results_summary(&run->results, suite->name, name);
    if (summary.cases == 0)
        return;
    fprintf(to, "| %s | %zu | %zu | %zu |", name, summary.cases, summary.wrong, summary.wins);
    print_mean(summary.over_floor, to);
    print_mean(summary.behind, to);
    print_mean(summary.against, to);
    for (size_t i = 0; i < peer_count; i++)
        print_mean(results_against(&run->results, suite->name, name, peers[i]), to);
    if (summary.error > 0.0)
        fprintf(to, " %.1e |\n", summary.error);
    else
        fprintf(to, " - |\n");
}

static void print_means(const Run *run, const Suite *suite, const char *const *names, size_t count,
                        FILE *to)
{
    const char *peers[MOST_NAMES];
    size_t peer_count = 0;
    for (size_t i = 0; i < count; i++)
        if (results_side(&run->results, suite->name, names[i]) == SIDE_PEER)
            peers[peer_count++] = names[i];
    fprintf(
        to,
        "\nGeometric means over the cases of each, with the worst case in brackets. `behind`: time "
        "over that of the fastest of its side.\n\n"
        "| who | cases | wrong | fastest | time / floor | behind | x best peer |");
    for (size_t i = 0; i < peer_count; i++)
        fprintf(to, " x %s |", peers[i]);
    fprintf(to, " largest f32 error |\n|---|---:|---:|---:|---:|---:|---:|");
    for (size_t i = 0; i < peer_count; i++)
        fprintf(to, "---:|");
    fprintf(to, "---:|\n");
    print_summary(run, suite, BEST_OURS, peers, peer_count, to);
    print_summary(run, suite, CHOSEN, peers, peer_count, to);
    for (size_t i = 0; i < count; i++)
        print_summary(run, suite, names[i], peers, peer_count, to);
}

/* ---- what `auto` takes ---- */

static bool is_late(const Score *chosen, const Score *best)
{
    return chosen && best && chosen->timing.median > CHOICE_TOLERANCE * best->timing.median;
}

static void print_choices(const Run *run, const Suite *suite, FILE *to)
{
    const Summary summary = results_summary(&run->results, suite->name, CHOSEN);
    if (summary.cases == 0)
        return;
    fprintf(to,
            "\nWhat `auto` takes is at most %.0f %% behind the fastest method in %zu of %zu cases, "
            "at worst %.1f %%.\n",
            100.0 * (CHOICE_TOLERANCE - 1.0), summary.cases - summary.late, summary.cases,
            100.0 * (summary.behind.least - 1.0));
    if (summary.late > 0)
        fprintf(
            to,
            "\n| further behind | `auto` takes | us | fastest | us |\n|---|---|---:|---|---:|\n");
    for (size_t i = 0; i < run->results.count; i++) {
        const Result *result = &run->results.list[i];
        const Score *chosen = result_score(result, CHOSEN), *best = result_best(result, SIDE_OURS);
        if (strcmp(result->suite, suite->name) == 0 && is_late(chosen, best))
            fprintf(to, "| %s | %s | %.1f | %s | %.1f |\n", result->name, chosen->name,
                    us(chosen->timing.median), best->name, us(best->timing.median));
    }
}

/* ---- who did not run ---- */

/* The first reason of each, with how often it did not run. */
static void print_absent(const Run *run, const Suite *suite, FILE *to)
{
    const char *told[MOST_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < run->results.count; i++) {
        const Result *result = &run->results.list[i];
        for (size_t j = 0; j < result->count && strcmp(result->suite, suite->name) == 0; j++) {
            const Score *score = &result->scores[j];
            bool known = score->ran || count == MOST_NAMES;
            for (size_t k = 0; k < count; k++)
                known |= strcmp(told[k], score->name) == 0;
            if (known)
                continue;
            told[count++] = score->name;
            fprintf(to, "%s- %s did not run in some cases, the first %s: %s",
                    count == 1 ? "\n" : "", score->name, result->name, score->note);
            fprintf(to, "\n");
        }
    }
}

void report_suite(const Run *run, const Suite *suite, FILE *to)
{
    const char *names[MOST_NAMES];
    fprintf(to, "\n## %s: %s\n", suite->name, suite->summary);
    if (!suite->cases) {
        host_report(&run->host, to);
        return;
    }
    size_t count = results_names(&run->results, suite->name, names, MOST_NAMES);
    if (suite->grid || run->search) {
        print_grid(run, suite, names, count, to);
        print_means(run, suite, names, count, to);
        print_absent(run, suite, to);
    } else {
        print_cases(run, suite, to);
    }
    print_choices(run, suite, to);
    for (size_t i = 0; i < run->note_count; i++)
        if (strncmp(run->notes[i], suite->name, strlen(suite->name)) == 0)
            fprintf(to, "\n%s\n", run->notes[i]);
}

void report_progress(const Result *result, size_t number, size_t of)
{
    const Score *ours = result_best(result, SIDE_OURS), *peer = result_best(result, SIDE_PEER);
    fprintf(stderr, "%s %zu/%zu %s:", result->suite, number, of, result->name);
    if (ours)
        fprintf(stderr, " %s %.1f us, %.2f of the floor", ours->name, us(ours->timing.median),
                ours->timing.median / result->floor);
    if (ours && peer)
        fprintf(stderr, ", %s %.1f us: %.2f", peer->name, us(peer->timing.median),
                peer->timing.median / ours->timing.median);
    for (size_t i = 0; i < result->count; i++)
        if (result->scores[i].ran && result->scores[i].judged && !result->scores[i].verdict.right)
            fprintf(stderr, " WRONG: %s (%.3g)", result->scores[i].name,
                    result->scores[i].verdict.error);
    fprintf(stderr, "\n");
}
