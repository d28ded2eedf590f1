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
    "def run(f, *what):\n"
    "    f()\n"
    "    for i in range(7):\n"
    "        t = time.perf_counter(); f()\n"
    "        print(*what, time.perf_counter() - t, cv2.getNumThreads(), cv2.__version__)\n"
    "types = np.uint8, np.uint16, np.float32\n"
    "for channels in 1, 3:\n"
    "    for sample, of in enumerate(types):\n"
    "        a = np.random.rand(4096, 4096, channels) * (255, 65535, 1)[sample]\n"
    "        a = a.astype(of).squeeze()\n"
    "        what = channels, 'u8 u16 f32'.split()[sample]\n"
    "        for k in 3, 5, 9, 31, 101:\n"
    "            run(lambda: cv2.blur(a, (k, k)), *what, f'box:size={k}')\n"
    "        for s in 1, 3, 10:\n"
    "            run(lambda: cv2.GaussianBlur(a, (8 * s + 1, 8 * s + 1), s), *what, "
    "f'gaussian:sigma={s}')\n"
    "        run(lambda: cv2.Sobel(a, -1, 1, 0), *what, 'sobel:x')\n"
    "        for k in (3, 5, 7, 15, 31, 63, 127, 255) if of is np.uint8 else ():\n"
    "            w = np.random.rand(k, k).astype(np.float32); w /= w.sum()\n"
    "            run(lambda: cv2.filter2D(a, -1, w), *what, f'K={k}')\n";

/* A program of its own: reads, filters and writes a file, with the edges that the others have. */
static const char opencv_file[] =
    "import cv2, sys, numpy as np\n"
    "row = np.float32([1, 4, 6, 4, 1])\n"
    "a = cv2.imread(sys.argv[1], cv2.IMREAD_UNCHANGED)\n"
    "b = cv2.filter2D(a, -1, np.outer(row, row) / 256, borderType=cv2.BORDER_REPLICATE)\n"
    "sys.exit(not cv2.imwrite(sys.argv[2], b))\n";

/* Reads the lines of one case after the other: channels, samples, filter, seconds, threads,
 * version. */
static void read_opencv(FILE *lines, HostResults *results)
{
    char what[96], who[64], sample[8], name[64], version[16];
    double seconds[HOST_RUNS];
    size_t channels;
    int threads;
    for (size_t i = 0; fscanf(lines, "%zu %7s %63s %lf %d %15s", &channels, sample, name,
                              &seconds[i], &threads, version) == 6;
         i = (i + 1) % HOST_RUNS)
        if (i + 1 == HOST_RUNS) {
            HostFilter of = {name, GF_U8, channels};
            while (of.sample < GF_F64 && strcmp(gf_sample_name(of.sample), sample) != 0)
                of.sample++;
            host_filter_text(&of, what, sizeof what);
            snprintf(who, sizeof who, "OpenCV %s (%d threads)", version, threads);
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
