/* gpufilter-bench: kernels alone, on data that lies on the device, against a device-to-device copy
 * of the same bytes in the same run: the floor of a filter that reads and writes each sample once.
 * Buffer sets rotate so that none is still in L2 when its turn comes again; copy and kernel take
 * turns, and the median of the rounds counts. Each result is checked on a sample of pixels against
 * the definition in float64. */
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/algorithms.h"
#include "gpu/backend.h"

enum { SETS = 4, ROUNDS = 9, TURNS = 3, CHECKED = 4000, MOST_TAPS = 49, POISON = 0xA5 };

typedef struct Case {
    const char *name;
    GfSample sample;
    size_t channels, side; /* side 0: each of 3, 5, 7 */
    bool sobel;            /* magnitude, fused */
} Case;

/* Every row with sides 3, 5 and 7, but for sobel, which has one. */
static const Case rows[] = {{"u8 gray", GF_U8, 1, 0, false},
                            {"u8 sobel", GF_U8, 1, 3, true},
                            {"u16 gray", GF_U16, 1, 0, false},
                            {"f32 gray", GF_F32, 1, 0, false},
                            {"u8 RGB", GF_U8, 3, 0, false}};

/* One case on the device. */
typedef struct Bench {
    const Case *what;
    const GfAlgorithm *algorithm;
    GfStep step;
    GfLaunch launch;
    double taps[2 * MOST_TAPS];
    float taps_float[2 * MOST_TAPS];
    void *in[SETS], *out[SETS], *weights;
    unsigned char *picture, *result; /* of set 0, on the host */
    size_t row, bytes;               /* of a picture; rows have no padding */
    double kernel, copy;             /* seconds, medians */
} Bench;

static void must_cuda(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "gpufilter-bench: CUDA: %s\n", cudaGetErrorString(error));
    exit(1);
}

static void must(GfStatus status, const char *what)
{
    if (status == GF_OK)
        return;
    fprintf(stderr, "gpufilter-bench: %s: %s\n", what, gf_message());
    exit(1);
}

/* ---- making a case ---- */

static uint32_t next(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* One step as the plan makes it: random taps that sum to about 1, or sobel's two kernels. */
static void make_step(Bench *b, size_t size)
{
    static const double sobel[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1, -1, -2, -1, 0, 0, 0, 1, 2, 1};
    const Case *what = b->what;
    size_t side = what->side, half = side / 2;
    b->step = (GfStep){.in_width = size,
                       .in_height = size,
                       .out_width = size,
                       .out_height = size,
                       .channels = what->channels,
                       .post_channels = what->channels,
                       .in = what->sample,
                       .out = what->sample,
                       .origin_x = -(ptrdiff_t)half,
                       .origin_y = -(ptrdiff_t)half,
                       .combine.op = what->sobel ? GF_COMBINE_L2 : GF_COMBINE_NONE,
                       .white = gf_sample_max(what->sample),
                       .gain = 1.0};
    b->step.linear = (GfLinear){.filters = what->sobel ? 2 : 1,
                                .width = side,
                                .height = side,
                                .anchor_x = half,
                                .anchor_y = half,
                                .scale = 1.0,
                                .weights = b->taps};
    for (size_t i = 0; i < side * side * b->step.linear.filters; i++) {
        b->taps[i] =
            what->sobel ? sobel[i] : (1.0 + next() % 1000 / 1e3) / 1.5 / (double)(side * side);
        b->taps_float[i] = (float)b->taps[i];
    }
}

/* Random samples, the same in every set; outputs poisoned. */
static void make_pictures(Bench *b)
{
    size_t samples = b->bytes / gf_sample_size(b->what->sample);
    must(gf_allocate(b->bytes, 1, &b->picture), "picture");
    must(gf_allocate(b->bytes, 1, &b->result), "picture");
    for (size_t i = 0; i < samples; i++)
        if (b->what->sample == GF_F32)
            ((float *)(void *)b->picture)[i] = (float)next() / 2147483648.0f;
        else if (b->what->sample == GF_U16)
            ((uint16_t *)(void *)b->picture)[i] = (uint16_t)next();
        else
            b->picture[i] = (uint8_t)next();
    for (size_t i = 0; i < SETS; i++) {
        must_cuda(cudaMalloc(&b->in[i], b->bytes));
        must_cuda(cudaMalloc(&b->out[i], b->bytes));
        must_cuda(cudaMemcpy(b->in[i], b->picture, b->bytes, cudaMemcpyHostToDevice));
        must_cuda(cudaMemset(b->out[i], POISON, b->bytes));
    }
}

/* False when the algorithm does not take the case. */
static bool make_bench(Bench *b, size_t size)
{
    make_step(b, size);
    b->row = size * b->what->channels * gf_sample_size(b->what->sample);
    b->bytes = b->row * size;
    if (b->algorithm->supports(&b->step, false) != GF_OK)
        return false;
    make_pictures(b);
    must_cuda(cudaMalloc(&b->weights, sizeof b->taps_float));
    must_cuda(cudaMemcpy(b->weights, b->taps_float, sizeof b->taps_float, cudaMemcpyHostToDevice));
    b->launch = (GfLaunch){.step = &b->step,
                           .in = {.stride = b->row, .capacity = size},
                           .out_stride = b->row,
                           .y1 = size,
                           .weights = b->weights,
                           .weights_host = b->taps_float};
    return true;
}

static void free_bench(Bench *b)
{
    for (size_t i = 0; i < SETS; i++) {
        cudaFree(b->in[i]);
        cudaFree(b->out[i]);
    }
    cudaFree(b->weights);
    free(b->picture);
    free(b->result);
}

/* ---- timing ---- */

static void copy_set(Bench *b, size_t set)
{
    must_cuda(cudaMemcpyAsync(b->out[set], b->in[set], b->bytes, cudaMemcpyDeviceToDevice, NULL));
}

static void filter_set(Bench *b, size_t set)
{
    b->launch.in.samples = b->in[set];
    b->launch.out = b->out[set];
    must_cuda(b->algorithm->launch(&b->launch, NULL));
}

/* Seconds of one run, every set taking TURNS turns. */
static double time_once(Bench *b, void (*run)(Bench *, size_t))
{
    static cudaEvent_t begin, end; /* live as long as the program */
    float milliseconds;
    if (!begin) {
        must_cuda(cudaEventCreate(&begin));
        must_cuda(cudaEventCreate(&end));
    }
    must_cuda(cudaEventRecord(begin, NULL));
    for (size_t i = 0; i < SETS * TURNS; i++)
        run(b, i % SETS);
    must_cuda(cudaEventRecord(end, NULL));
    must_cuda(cudaEventSynchronize(end));
    must_cuda(cudaEventElapsedTime(&milliseconds, begin, end));
    return (double)milliseconds / 1e3 / (SETS * TURNS);
}

static int compare_seconds(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void measure(Bench *b)
{
    double kernel[ROUNDS], copy[ROUNDS];
    time_once(b, filter_set);
    time_once(b, copy_set);
    for (size_t i = 0; i < ROUNDS; i++) {
        copy[i] = time_once(b, copy_set);
        kernel[i] = time_once(b, filter_set);
    }
    qsort(kernel, ROUNDS, sizeof *kernel, compare_seconds);
    qsort(copy, ROUNDS, sizeof *copy, compare_seconds);
    b->kernel = kernel[ROUNDS / 2];
    b->copy = copy[ROUNDS / 2];
}

/* ---- checking ---- */

/* The exact response of the step at sample s of row y. */
static double exact_at(const Bench *b, size_t s, size_t y)
{
    const GfStep *step = &b->step;
    long long width = (long long)step->in_width, height = (long long)step->in_height;
    double squares = 0.0, sum = 0.0;
    for (size_t f = 0; f < step->linear.filters; f++) {
        sum = 0.0;
        for (size_t i = 0; i < step->linear.width * step->linear.height; i++) {
            size_t ky = i / step->linear.width, kx = i % step->linear.width;
            long long x = (long long)(s / step->channels + kx) + step->origin_x;
            long long row =
                gf_border_index((long long)(y + ky) + step->origin_y, height, step->border);
            x = gf_border_index(x, width, step->border);
            size_t at = (size_t)(row * width + x) * step->channels + s % step->channels;
            sum += gf_linear_tap(&step->linear, f, ky, kx) * gf_sample_at(b->picture, at, step->in);
        }
        squares += sum * sum;
    }
    return b->what->sobel ? sqrt(squares) : sum;
}

/* True when CHECKED samples, corners among them, are right. */
static bool check(Bench *b)
{
    const GfStep *step = &b->step;
    size_t row = step->out_width * step->channels;
    double white = gf_sample_max(step->out);
    must_cuda(cudaMemset(b->out[0], POISON, b->bytes));
    filter_set(b, 0);
    must_cuda(cudaMemcpy(b->result, b->out[0], b->bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < CHECKED; i++) {
        size_t s = i < 4 ? i % 2 * (row - 1) : next() % row;
        size_t y = i < 4 ? i / 2 * (step->out_height - 1) : next() % step->out_height;
        double exact = exact_at(b, s, y), got = gf_sample_at(b->result, y * row + s, step->out);
        double allowed = step->out == GF_U8    ? 0.5 + 1e-3
                         : step->out == GF_U16 ? 0.5 + 0.05
                                               : 1e-6 * fabs(exact);
        if (step->out != GF_F32)
            exact = exact < white ? exact : white;
        if (!(fabs(got - exact) <= allowed)) {
            fprintf(stderr, "row %zu sample %zu is %.9g, not %.9g\n", y, s, got, exact);
            return false;
        }
    }
    return true;
}

/* ---- the program ---- */

static void print_line(const Bench *b, bool right, FILE *json, bool first)
{
    double rate = 2.0 * (double)b->bytes / b->kernel / 1e9;
    printf("%-10s %zux%zu  %-9s %9.1f us  %7.0f GB/s  copy %8.1f us  ratio %5.2f  %s\n",
           b->what->name, b->what->side, b->what->side, b->algorithm->name, b->kernel * 1e6, rate,
           b->copy * 1e6, b->kernel / b->copy, right ? "right" : "WRONG");
    fflush(stdout);
    if (json)
        fprintf(json,
                "%s\n  {\"case\": \"%s\", \"side\": %zu, \"algorithm\": \"%s\", \"us\": %.2f, "
                "\"copy_us\": %.2f, \"gb_s\": %.1f, \"right\": %s}",
                first ? "" : ",", b->what->name, b->what->side, b->algorithm->name, b->kernel * 1e6,
                b->copy * 1e6, rate, right ? "true" : "false");
}

/* True when the result is right, or the method does not take the case. */
static bool run_case(const GfAlgorithm *algorithm, const Case *what, size_t size, FILE *json)
{
    static bool first = true;
    bool right = true;
    Bench b = {.what = what, .algorithm = algorithm};
    if (make_bench(&b, size)) {
        measure(&b);
        right = check(&b);
        print_line(&b, right, json, first);
        first = false;
    }
    free_bench(&b);
    return right;
}

static bool run_all(size_t size, const char *wanted, FILE *json)
{
    bool right = true;
    for (const GfAlgorithm *algorithm = gf_algorithms; algorithm->name; algorithm++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            for (size_t side = 3; side <= 7; side += 2) {
                Case what = rows[i];
                bool one = what.side != 0 && what.side != side;
                if (one || (wanted && strcmp(wanted, algorithm->name) != 0))
                    continue;
                what.side = side;
                right &= run_case(algorithm, &what, size, json);
            }
    return right;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"json", required_argument, NULL, 'j'},
                                            {"algorithm", required_argument, NULL, 'a'},
                                            {"size", required_argument, NULL, 's'},
                                            {NULL, 0, NULL, 0}};
    const char *wanted = NULL, *path = NULL;
    size_t size = 8192, count;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == '?')
            return 2;
        wanted = option == 'a' ? optarg : wanted;
        path = option == 'j' ? optarg : path;
        size = option == 's' ? strtoul(optarg, NULL, 10) : size;
    }
    GfDevice device;
    must(gf_cuda_devices(&device, 1, &count), "devices");
    FILE *json = path ? fopen(path, "w") : NULL;
    if (path && !json) {
        perror(path);
        return 1;
    }
    printf("%s, %zu x %zu, median of %d\n", device.name, size, size, ROUNDS);
    if (json)
        fprintf(json, "{\"device\": \"%s\", \"size\": %zu, \"results\": [", device.name, size);
    bool right = run_all(size, wanted, json);
    if (json && (fputs("\n]}\n", json) < 0 || fclose(json) != 0)) {
        perror(path);
        return 1;
    }
    return right ? 0 : 1;
}
