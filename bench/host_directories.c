/* Directories of photographs, which are in the page cache. Of programs that take one file as many
 * run at a time as there are processors. All write JPEG of one quality, with colour at half
 * resolution, so that it is the same work. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/host_picture.h"
#include "bench/host_process.h"

enum { WIDTH = 4000, HEIGHT = 3000, DIFFERENT = 3, RUNS = 3 };

#define QUALITY "89"

/* A pool of processes of one thread each. */
static const char opencv_pool[] =
    "import cv2, multiprocessing, os, sys, numpy as np\n"
    "row = np.float32([1, 4, 6, 4, 1])\n"
    "def one(name):\n"
    "    cv2.setNumThreads(1)\n"
    "    a = cv2.imread(os.path.join(sys.argv[1], name), cv2.IMREAD_UNCHANGED)\n"
    "    b = cv2.filter2D(a, -1, np.outer(row, row) / 256, borderType=cv2.BORDER_REPLICATE)\n"
    "    how = [cv2.IMWRITE_JPEG_QUALITY, " QUALITY "] if name.endswith('jpg') else []\n"
    "    return cv2.imwrite(os.path.join(sys.argv[2], name), b, how)\n"
    "if __name__ == '__main__':\n"
    "    os.makedirs(sys.argv[2], exist_ok=True)\n"
    "    with multiprocessing.Pool() as pool:\n"
    "        done = pool.map(one, sorted(os.listdir(sys.argv[1])), chunksize=1)\n"
    "    sys.exit(not all(done))\n";

static const HostCommand commands[] = {
    {"gpufilter --device cpu",
     {"@gpufilter", "@in", "--kernel", "5x5/256: " HOST_SPACED, "--device", "cpu", "--quality",
      QUALITY, "--overwrite", "-o", "@out"}},
    {"gpufilter --device cuda:0",
     {"@gpufilter", "@in", "--kernel", "5x5/256: " HOST_SPACED, "--device", "cuda:0", "--quality",
      QUALITY, "--overwrite", "-o", "@out"}},
    {"OpenCV filter2D, a pool of processes", {"python3", "@opencv", "@in", "@out"}},
    {"vips conv, a process a picture",
     {"sh", "-c",
      "mkdir -p \"$1\" && ls \"$0\" | xargs -P \"$(nproc)\" -I{} "
      "vips conv \"$0/{}\" \"$1/{}[Q=" QUALITY "]\" \"$2\" --precision integer",
      "@in", "@out", "@mask"}}};

static const struct {
    const char *name, *extension;
    long each; /* pictures for a processor: some 500 JPEG where there are 16 */
} cases[] = {{"PNG", "png", 6}, {"JPEG", "jpg", 32}};

/* Fills paths->in: a few different pictures, each under many names. */
static GfStatus make_folder(const char *extension, size_t count, const HostPaths *paths)
{
    char first[PATH_MAX + 32], next[PATH_MAX + 32];
    if (mkdir(paths->in, 0700) != 0)
        return gf_fail(GF_EWRITE, "%s: %s", paths->in, strerror(errno));
    for (size_t i = 0; i < count; i++) {
        snprintf(next, sizeof next, "%s/%04zu.%s", paths->in, i, extension);
        snprintf(first, sizeof first, "%s/%04zu.%s", paths->in, i % DIFFERENT, extension);
        if (i < DIFFERENT)
            GF_TRY(host_picture(next, WIDTH, HEIGHT, 3));
        else if (link(first, next) != 0)
            return gf_fail(GF_EWRITE, "%s: %s", next, strerror(errno));
    }
    return GF_OK;
}

static GfStatus run_case(size_t number, const HostPaths *paths, size_t count, HostResults *results)
{
    char what[96];
    snprintf(what, sizeof what, "directory of %zu %s, RGB %dx%d, 5x5 kernel", count,
             cases[number].name, WIDTH, HEIGHT);
    GF_TRY(make_folder(cases[number].extension, count, paths));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        host_measure(&commands[i], what, paths, RUNS, results);
    return GF_OK;
}

GfStatus host_directories(const HostOptions *options, const char *folder, HostResults *results)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    HostPaths paths = {0};
    GfStatus status = GF_OK;
    host_find_gpufilter(options->gpufilter, paths.gpufilter, sizeof paths.gpufilter);
    snprintf(paths.in, sizeof paths.in, "%s/pictures", folder);
    snprintf(paths.out, sizeof paths.out, "%s/filtered", folder);
    snprintf(paths.mask, sizeof paths.mask, "%s/mask", folder);
    snprintf(paths.opencv, sizeof paths.opencv, "%s/opencv-pool.py", folder);
    GF_TRY(host_write_text(paths.mask, HOST_MASK));
    GF_TRY(host_write_text(paths.opencv, opencv_pool));
    for (size_t i = 0; i < sizeof cases / sizeof *cases && status == GF_OK; i++) {
        const long each = options->quick ? 2 : cases[i].each;
        status = run_case(i, &paths, (size_t)(each * (processors > 0 ? processors : 1)), results);
        host_remove_folder(paths.in);
        host_remove_folder(paths.out);
    }
    return status;
}
