#include "bench/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/suites.h"
#include "gpu/algorithms.h"

#ifndef GPUFILTER_COMMIT
#define GPUFILTER_COMMIT "unknown"
#endif

static const char usage[] =
    "usage: gpufilter-bench [--suite NAME[,NAME]|all] [--case TEXT] [--json FILE]\n"
    "           [--table FILE] [--algorithm NAME[,NAME]] [--without NAME[,NAME]]\n"
    "           [--peer NAME|none] [--search METHOD] [--seconds BUDGET] [--quick] [--once]\n"
    "           [--seed N] [--commit ID] [--gpufilter PROGRAM] [--list] [--help]\n";

/* ---- what there is ---- */

static void print_list(unsigned seed)
{
    for (const Suite *suite = suites; suite->name; suite++) {
        Specs specs = {.seed = seed};
        char name[96];
        printf("%s: %s\n", suite->name, suite->summary);
        if (suite->cases && suite->cases(&specs) == GF_OK)
            for (size_t i = 0; i < specs.count; i++)
                printf("  %s\n", spec_name(&specs.list[i], name, sizeof name));
        free(specs.list);
    }
    printf("methods:\n");
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++) {
        printf("  %s", row->name);
        for (size_t i = 0; row->tilings && row->tilings[i]; i++)
            printf("%s%s", i == 0 ? ": " : " ", row->tilings[i]);
        printf("\n");
    }
}

/* ---- checks ---- */

/* Every name of the list must be a method's. */
static GfStatus check_methods(const char *list)
{
    char name[NAME_SIZE];
    for (const char *at = list; at && *at;) {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (!gf_algorithm_find(name))
            return gf_fail(GF_EUSAGE, "there is no method \"%s\"", name);
        at += length + (at[length] == ',');
    }
    return GF_OK;
}

static GfStatus check_suites(const char *list)
{
    char name[NAME_SIZE];
    if (strcmp(list, "all") == 0)
        return GF_OK;
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (!suite_find(name))
            return gf_fail(GF_EUSAGE, "there is no suite \"%s\"", name);
        at += length + (at[length] == ',');
    }
    return GF_OK;
}

/* The suite in which a method's tilings are searched when none is named: where it is meant to be
 * fast. */
static const char *search_suite(const char *method)
{
    bool many = strcmp(method, "special") != 0 && strcmp(method, "tiled") != 0;
    return many ? "general" : "special";
}

static GfStatus finish(Options *options)
{
    if (options->search) {
        if (options->race.only)
            return gf_fail(GF_EUSAGE, "--search names the method: no --algorithm beside it");
        options->race.only = options->search;
        options->race.every_tiling = true;
        if (!options->race.peer)
            options->race.peer = "none";
        if (!options->suite)
            options->suite = search_suite(options->search);
    }
    if (!options->suite)
        options->suite = "all";
    GF_TRY(check_suites(options->suite));
    GF_TRY(check_methods(options->race.only));
    return check_methods(options->race.without);
}

/* ---- reading ---- */

enum { QUICK = 1000, ONCE, LIST, HELP, SEED };

static GfStatus read_seed(const char *text, unsigned *seed)
{
    char *end;
    *seed = (unsigned)strtoul(text, &end, 10);
    return end > text && *end == '\0' ? GF_OK : gf_fail(GF_EUSAGE, "\"%s\" is no seed", text);
}

/* Options with a value, by their place in this list, and then those of their own. */
static const struct option names[] = {{"suite", required_argument, NULL, 0},
                                      {"json", required_argument, NULL, 1},
                                      {"table", required_argument, NULL, 2},
                                      {"algorithm", required_argument, NULL, 3},
                                      {"without", required_argument, NULL, 4},
                                      {"peer", required_argument, NULL, 5},
                                      {"search", required_argument, NULL, 6},
                                      {"seconds", required_argument, NULL, 7},
                                      {"commit", required_argument, NULL, 8},
                                      {"gpufilter", required_argument, NULL, 9},
                                      {"case", required_argument, NULL, 10},
                                      {"seed", required_argument, NULL, SEED},
                                      {"quick", no_argument, NULL, QUICK},
                                      {"once", no_argument, NULL, ONCE},
                                      {"list", no_argument, NULL, LIST},
                                      {"help", no_argument, NULL, HELP},
                                      {NULL, 0, NULL, 0}};

GfStatus options_read(int argc, char **argv, Options *options)
{
    const char *seconds = NULL;
    const char **values[] = {
        &options->suite,        &options->json,      &options->table,  &options->race.only,
        &options->race.without, &options->race.peer, &options->search, &seconds,
        &options->commit,       &options->gpufilter, &options->text};
    *options = (Options){.commit = GPUFILTER_COMMIT};
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (option == LIST)
            print_list(options->seed);
        if (option == HELP)
            fputs(usage, stdout);
        if (option == LIST || option == HELP)
            return GF_END;
        if (option == '?')
            return gf_fail(GF_EUSAGE, "see --help");
        if (option == QUICK)
            options->race.quick = true;
        else if (option == ONCE)
            options->race.once = true;
        else if (option == SEED)
            GF_TRY(read_seed(optarg, &options->seed));
        else
            *values[option] = optarg;
    }
    if (optind < argc)
        return gf_fail(GF_EUSAGE, "\"%s\" is no option", argv[optind]);
    options->seconds = seconds ? strtod(seconds, NULL) : 0.0;
    return finish(options);
}
