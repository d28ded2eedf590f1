/* Programs as their users start them: one process that reads a file, smooths it with the binomial
 * kernel of 5 x 5 and writes a file. All are given the same input and the same kernel, and compress
 * as they do by themselves. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/host.h"
#include "bench/host_picture.h"
#include "bench/host_process.h"

#define COMMAS "1,4,6,4,1,4,16,24,16,4,6,24,36,24,6,4,16,24,16,4,1,4,6,4,1"

/* Ours first: the others are compared with the first row. */
static const HostCommand commands[] = {
    {"gpufilter --device cpu",
     {"@gpufilter", "@in", "--kernel", "5x5/256: " HOST_SPACED, "--device", "cpu", "--overwrite",
      "-o", "@out"}},
    {"gpufilter --device cuda:0",
     {"@gpufilter", "@in", "--kernel", "5x5/256: " HOST_SPACED, "--device", "cuda:0", "--overwrite",
      "-o", "@out"}},
    {"vips conv", {"vips", "conv", "@in", "@out", "@mask", "--precision", "integer"}},
    {"vips convsep", {"vips", "convsep", "@in", "@out", "@row", "--precision", "integer"}},
    {"magick -convolve", {"magick", "@in", "-convolve", COMMAS, "@out"}},
    {"convert -convolve", {"convert", "@in", "-convolve", COMMAS, "@out"}},
    {"gm convert -convolve", {"gm", "convert", "@in", "-convolve", COMMAS, "@out"}},
    {"ffmpeg convolution",
     {"ffmpeg", "-y", "-loglevel", "error", "-i", "@in", "-vf",
      "convolution=" HOST_SPACED ":" HOST_SPACED ":" HOST_SPACED ":" HOST_SPACED
      ":1/256:1/256:1/256:1/256",
      "@out"}},
    {"OpenCV filter2D (python3, its start included)", {"python3", "@opencv", "@in", "@out"}}};

static const struct {
    const char *name, *extension;
    size_t side, channels;
} cases[] = {{"RGB PNG 4096x4096", "png", 4096, 3},
             {"gray PNG 4096x4096", "png", 4096, 1},
             {"RGB JPEG 4096x4096", "jpg", 4096, 3},
             {"gray JPEG 4096x4096", "jpg", 4096, 1},
             {"RGB PNG 512x512", "png", 512, 3}};

/* ---- OpenCV ---- */

static const char opencv[] =
    "import cv2, time, numpy as np\n"
    "for channels in (1, 3):\n"
    "    a = np.random.randint(0, 256, (4096, 4096, channels), np.uint8).squeeze()\n"
    "    for k in (3, 5, 7, 15, 31, 63, 127, 255):\n"
    "        w = np.random.rand(k, k).astype(np.float32); w /= w.sum()\n"
    "        cv2.filter2D(a, -1, w)\n"
    "        for i in range(7):\n"
    "            t = time.perf_counter(); cv2.filter2D(a, -1, w)\n"
    "            print(channels, k, time.perf_counter() - t, cv2.getNumThreads(), "
    "cv2.__version__)\n";

/* A program of its own: reads, filters and writes a file, with the edges that the others have. */
static const char opencv_file[] =
    "import cv2, sys, numpy as np\n"
    "row = np.float32([1, 4, 6, 4, 1])\n"
    "a = cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED)\n"
    "b = cv2.filter2D(a, -1, np.outer(row, row) / 256, borderType=cv2.BORDER_REPLICATE)\n"
    "sys.exit(not cv2.imwrite(sys.argv[2], b))\n";

/* Reads the lines of one case after the other: channels, kernel, seconds, threads, version. */
static void read_opencv(FILE *lines, HostResults *results)
{
    char what[96], who[64], version[16];
    double seconds[HOST_RUNS];
    int channels, kernel, threads;
    for (size_t i = 0; fscanf(lines, "%d %d %lf %d %15s", &channels, &kernel, &seconds[i], &threads,
                              version) == 5;
         i = (i + 1) % HOST_RUNS)
        if (i + 1 == HOST_RUNS) {
            snprintf(what, sizeof what, "filter alone, u8 %s 4096x4096 K=%d",
                     channels == 1 ? "gray" : "RGB", kernel);
            snprintf(who, sizeof who, "OpenCV %s filter2D (%d threads)", version, threads);
            host_add(results, what, who, seconds, HOST_RUNS, 0);
        }
}

static GfStatus run_opencv(const char *folder, HostResults *results)
{
    char script[PATH_MAX], command[PATH_MAX + 64];
    size_t before = results->count;
    snprintf(script, sizeof script, "%s/opencv.py", folder);
    GF_TRY(host_write_text(script, opencv));
    snprintf(command, sizeof command, "python3 '%s' 2>/dev/null", script);
    FILE *lines = popen(command, "r");
    if (lines) {
        read_opencv(lines, results);
        pclose(lines);
    }
    if (results->count == before)
        host_note(results, "OpenCV: no python3 that imports cv2");
    return GF_OK;
}

/* ---- the suite ---- */

static GfStatus run_case(size_t number, const char *folder, HostPaths *paths, size_t runs,
                         HostResults *results)
{
    char what[96];
    snprintf(what, sizeof what, "whole process, 5x5 kernel, %s", cases[number].name);
    snprintf(paths->in, sizeof paths->in, "%s/in.%s", folder, cases[number].extension);
    snprintf(paths->out, sizeof paths->out, "%s/out.%s", folder, cases[number].extension);
    GF_TRY(host_picture(paths->in, cases[number].side, cases[number].side, cases[number].channels));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        host_measure(&commands[i], what, paths, runs, results);
    return GF_OK;
}

GfStatus host_commands(const HostOptions *options, const char *folder, HostResults *results)
{
    HostPaths paths;
    GF_TRY(run_opencv(folder, results));
    host_find_gpufilter(options->gpufilter, paths.gpufilter, sizeof paths.gpufilter);
    snprintf(paths.mask, sizeof paths.mask, "%s/mask", folder);
    snprintf(paths.row, sizeof paths.row, "%s/row", folder);
    GF_TRY(host_write_text(paths.mask, HOST_MASK));
    GF_TRY(host_write_text(paths.row, "5 1 16 0\n" HOST_ROW_1 "\n"));
    snprintf(paths.opencv, sizeof paths.opencv, "%s/opencv-file.py", folder);
    GF_TRY(host_write_text(paths.opencv, opencv_file));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        GF_TRY(run_case(i, folder, &paths, options->quick ? 3 : 5, results));
    return GF_OK;
}
