/* Lists are the tables themselves, walked. A filter's numbers come from its stages, so that they
 * show what is computed, with the parameters that were asked for. */
#include "app/listing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cpu/backend.h"
#include "filters/catalog.h"
#include "filters/grammar.h"
#include "gpu/algorithms.h"
#include "gpu/backend.h"

enum { MAX_SIDE = 25, MAX_DEVICES = 64 };

/* ---- filters ---- */

static void print_choices(const GfParameter *parameter)
{
    const char *words = parameter->words;
    for (int i = 0; *words; i++) {
        int length = (int)strcspn(words, " ");
        printf("%s%.*s%s", i ? ", " : "", length, words,
               i == (int)parameter->standard ? " (default)" : "");
        words += length;
        words += strspn(words, " ");
    }
}

static void print_parameters(const GfNamedFilter *row)
{
    printf("\nParameters:%s\n", row->parameters[0].name ? "" : " none");
    for (int i = 0; i < GF_MAX_PARAMETERS && row->parameters[i].name; i++) {
        const GfParameter *parameter = &row->parameters[i];
        printf("  %-12s %s: ", parameter->name, parameter->summary);
        if (parameter->words)
            print_choices(parameter);
        else
            printf("%g to %g, default %g", parameter->minimum, parameter->maximum,
                   parameter->standard);
        putchar('\n');
    }
}

static void print_numbers(const char *title, const double *numbers, size_t count)
{
    printf("%s", title);
    for (size_t i = 0; i < count; i++)
        printf(" %10.6g", numbers[i]);
    putchar('\n');
}

/* Large kernels that are products are shown by their factors. */
static void print_kernel(const GfLinear *linear, size_t f)
{
    if (linear->columns && (linear->width > MAX_SIDE || linear->height > MAX_SIDE)) {
        print_numbers("  column", linear->columns + f * linear->height, linear->height);
        print_numbers("  row   ", linear->rows + f * linear->width, linear->width);
        return;
    }
    for (size_t y = 0; y < linear->height; y++) {
        putchar(' ');
        for (size_t x = 0; x < linear->width; x++)
            printf(" %10.6g", gf_linear_tap(linear, f, y, x));
        putchar('\n');
    }
}

static void print_linear(const GfLinear *linear)
{
    for (size_t f = 0; f < linear->filters; f++) {
        printf("\nKernel");
        if (linear->filters > 1)
            printf(" %zu of %zu", f + 1, linear->filters);
        printf(", %zu x %zu, times %.9g", linear->width, linear->height, linear->scale);
        if (linear->offset != 0.0)
            printf(", plus %g", linear->offset);
        printf("%s:\n", linear->columns ? " (column times row)" : "");
        print_kernel(linear, f);
    }
}

static void print_combine(const GfCombine *combine)
{
    static const char *const formulas[] = {
        [GF_COMBINE_NONE] = "the response itself",
        [GF_COMBINE_L2] = "square root of the sum of squared responses",
        [GF_COMBINE_L1] = "sum of absolute responses",
        [GF_COMBINE_MAX] = "largest response",
        [GF_COMBINE_MIN] = "smallest response",
        [GF_COMBINE_SUM] = "sum of responses",
        [GF_COMBINE_UNSHARP] = "first + amount * (first - second)",
    };
    printf("\nCombined: %s", formulas[combine->op]);
    if (combine->op == GF_COMBINE_UNSHARP)
        printf(", amount %g, where the difference is at least %g on a scale of 0 to 255",
               combine->amount, combine->threshold);
    putchar('\n');
}

static void print_stage(const GfStage *stage)
{
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        print_linear(&stage->linear);
        break;
    case GF_STAGE_COMBINE:
        print_combine(&stage->combine);
        break;
    case GF_STAGE_POINTWISE:
        if (stage->pointwise.op == GF_POINTWISE_ABS)
            printf("\nEach sample: its absolute value\n");
        else
            printf("\nEach sample: times %g, plus %g\n", stage->pointwise.a, stage->pointwise.b);
        break;
    }
}

static void list_catalog(void)
{
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        printf("%-12s %s\n", row->name, row->summary);
    printf(
        "\nOne in numbers: gpufilter filters sobel, or with parameters gaussian:sigma=2.\n"
        "A kernel of your own: --kernel '3x3: 0 -1 0  -1 5 -1  0 -1 0', or a text file's path.\n");
}

GfStatus gf_list_filters(const char *text)
{
    GfFilter *filter;
    if (!text) {
        list_catalog();
        return GF_OK;
    }
    GF_TRY(gf_filter_parse(text, &filter));
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)gf_min(strcspn(text, ":,"), sizeof name - 1), text);
    const GfNamedFilter *row = strchr(text, ',') ? NULL : gf_catalog_find(name);
    if (row) {
        printf("%s: %s\n\nFormula: %s\n", row->name, row->summary, row->formula);
        print_parameters(row);
    }
    for (size_t i = 0; i < filter->count; i++)
        print_stage(&filter->stages[i]);
    gf_filter_free(filter);
    return GF_OK;
}

/* ---- devices ---- */

static void print_cuda_devices(void)
{
    GfDevice devices[MAX_DEVICES];
    size_t count = 0;
    if (gf_cuda_devices(devices, MAX_DEVICES, &count) != GF_OK) {
        printf("cuda       none: %s\n", gf_message());
        return;
    }
    for (size_t i = 0; i < gf_min(count, MAX_DEVICES); i++) {
        const GfDevice *device = &devices[i];
        char label[16];
        snprintf(label, sizeof label, "cuda:%d", device->number);
        printf("%-10s %s, compute capability %d.%d, %d multiprocessors, %.1f GiB (%.1f GiB free)",
               label, device->name, device->major, device->minor, device->multiprocessors,
               ldexp((double)device->memory, -30), ldexp((double)device->free_memory, -30));
        printf(", L2 %.1f MiB", ldexp((double)device->l2, -20));
        if (device->bandwidth > 0)
            printf(", %.0f GB/s", device->bandwidth * 1e-9);
        putchar('\n');
    }
}

GfStatus gf_list_devices(void)
{
    GfBackend *cpu;
    GF_TRY(gf_cpu_open(0, &cpu));
    printf("%-10s %s\n", cpu->name, cpu->device);
    cpu->close(cpu);
    print_cuda_devices();
    return GF_OK;
}

/* ---- algorithms ---- */

void gf_list_algorithms(void)
{
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++)
        printf("%-12s %s\n%-12s source: %s\n", row->name, row->summary, "", row->source);
}
