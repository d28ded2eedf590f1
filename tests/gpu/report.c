#include "tests/gpu/report.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TOLD = 40 };

static Tally all;

void report(bool good, const char *what, const char *detail)
{
    if (good)
        all.passed++;
    else if (all.failed++ < MAX_TOLD)
        printf("not ok - %s: %s\n", what, detail);
}

Tally tally(void)
{
    return all;
}

void close_group(const char *group, Tally before, double seconds)
{
    printf("%s - %s: %zu checks, %.1f s\n", all.failed == before.failed ? "ok" : "not ok", group,
           all.passed + all.failed - before.failed - before.passed, seconds);
    fflush(stdout);
}

void must(GfStatus status, const char *what)
{
    if (status == GF_OK)
        return;
    printf("not ok - %s: %s\n", what, gf_message());
    exit(1);
}

void must_cuda(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    printf("not ok - %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
}
