/* The GPU's methods against the float64 reference, by the exactness rule of filters/backend.h, and
 * against themselves: bits must not depend on bands, launches or the place in a minibatch. Each
 * method has to take some of the cases, and to refuse the others in its own name.
 *
 * Without frameworks, so that it runs wherever there is a GPU. `--quick` runs a part of the cases,
 * for compute-sanitizer; `--group NAME` one group; `--list` prints the groups' names instead.
 * `--loads METHOD` launches one step once and prints what filters/model.h says that it loads, for a
 * profiler to confirm. Exit status: 0 all passed, 1 not, 77 no device. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "tests/gpu/groups.h"
#include "tests/gpu/loads.h"
#include "tests/gpu/plans.h"
#include "tests/gpu/report.h"

static const struct {
    const char *name;
    void (*run)(void);
    bool quick; /* runs with --quick too */
} groups[] = {{"sizes", test_sizes, true},
              {"kernels", test_kernels, true},
              {"anchors", test_anchors, true},
              {"banks", test_banks, true},
              {"named banks", test_named_banks, true},
              {"magnitudes", test_magnitudes, true},
              {"options", test_options, true},
              {"derivatives", test_derivatives, true},
              {"chains", test_chains, true},
              {"factors", test_factors, true},
              {"large factors", test_large_factors, false},
              {"layers", test_layers, true},
              {"pools", test_pools, true},
              {"networks", test_networks, true},
              {"strides", test_strides, true},
              {"families", test_families, true},
              {"minibatches", test_minibatches, true},
              {"wide kernels", test_wide_kernels, true},
              {"large kernels", test_large_kernels, true},
              {"kernels on 16 bits", test_kernels_on_16_bits, true},
              {"kernels in tiles", test_kernels_in_tiles, true},
              {"sums in f64", test_sums_in_f64, true},
              {"tilings", test_tilings, true},
              {"depths", test_depths, false},
              {"sweep", test_sweep, true},
              {"short strips", test_short_strips, true},
              {"byte strips", test_byte_strips, true},
              {"long", test_long, false},
              {"sessions", test_sessions, true},
              {"failures", test_failures, false}};

static void run_groups(const char *only, bool list)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        Tally before = tally();
        double start = gf_now();
        if ((quick && !groups[i].quick) || (only && strcmp(only, groups[i].name) != 0))
            continue;
        if (list) {
            puts(groups[i].name);
            continue;
        }
        begin_group(groups[i].name);
        groups[i].run();
        close_group(groups[i].name, before, gf_now() - start);
    }
}

int main(int argc, char **argv)
{
    const char *only = NULL;
    bool list = false;
    if (argc == 3 && strcmp(argv[1], "--loads") == 0)
        return print_loads(argv[2]);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            quick = true;
        else if (strcmp(argv[i], "--list") == 0)
            list = true;
        else if (strcmp(argv[i], "--group") == 0 && i + 1 < argc)
            only = argv[++i];
        else
            return fprintf(stderr,
                           "usage: test_gpu [--quick] [--list] [--group NAME] | --loads METHOD\n"),
                   2;
    }
    if (list) {
        run_groups(only, true);
        return 0;
    }
    int status = open_backends();
    if (status != 0)
        return status;
    run_groups(only, false);
    close_backends(only == NULL);
    printf("%zu passed, %zu failed\n", tally().passed, tally().failed);
    return tally().failed > 0;
}
