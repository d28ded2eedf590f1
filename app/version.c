/* What reports of faults begin with: which libraries are at work. */
#include "app/version.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "filters/spread.h"
#include "filters/stage.h"
#include "filters/weights.h"
#include "gpu/backend.h"
#include "images/libraries.h"

static void print_library(const GfLibrary *library)
{
    printf("%s %s", library->name, library->compiled ? library->compiled : "not compiled in");
    if (library->running && strcmp(library->running, library->compiled) != 0)
        printf(" (running with %s)", library->running);
    putchar('\n');
}

void gf_version_print(void)
{
    char cuda[32];
    int number = gf_cuda_version();
    snprintf(cuda, sizeof cuda, "%d.%d", number / 1000, number % 1000 / 10);
    const GfLibrary others[] = {{"jansson", JANSSON_VERSION, NULL},
                                {"CUDA", number ? cuda : NULL, NULL}};
    printf("gpufilter %s\n", GPUFILTER_VERSION);
    for (int i = 0; gf_image_library(i).name; i++) {
        GfLibrary library = gf_image_library(i);
        print_library(&library);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        print_library(&others[i]);
    char gpu[128];
    gf_cuda_limits(gpu, sizeof gpu);
    if (gpu[0])
        printf("GPUs: up to %d, %s\n", GF_SPREAD_MAX, gpu);
    printf("limits: kernels of %d x %d, layers of %d channels, weights of %d numbers\n",
           GF_KERNEL_MAX_SIDE, GF_KERNEL_MAX_SIDE, GF_LAYER_MAX_CHANNELS, GF_WEIGHTS_MAX);
}
