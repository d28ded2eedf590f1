/* Fewer pictures at once are slower; too many open files would be a failure of pictures that are in
 * order. One that alone needs more than the limit is told of, and left to fail. */
#include "app/descriptors.h"

#include <dirent.h>
#include <sys/resource.h>

#include "app/message.h"
#include "common/memory.h"

/* ASSUMED are taken where the system does not say how many are open; SPARE is for what libraries
 * open for a moment. */
enum { ASSUMED = 16, SPARE = 2 };

void gf_descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    /* Without it a picture with too many outputs fails, and says why. */
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t count_open(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (!directory)
        return ASSUMED;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

size_t gf_descriptors_pictures(const GfJobs *jobs, size_t wished)
{
    struct rlimit limit;
    size_t outputs = 0, needed = count_open() + SPARE;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return wished;
    for (size_t i = 0; i < jobs->count; i++)
        outputs = gf_max(outputs, jobs->jobs[i].outputs);
    /* The input, of each output the file and its folder, and one more while it gets its name. */
    size_t room = limit.rlim_cur > needed ? limit.rlim_cur - needed : 0, each = 2 + 2 * outputs;
    size_t pictures = gf_max(room / each, 1);
    if (room < each)
        gf_say_note(NULL,
                    "%zu output%s of a picture take%s %zu open files, and the limit leaves %zu "
                    "(ulimit -n)",
                    outputs, outputs == 1 ? "" : "s", outputs == 1 ? "s" : "", each, room);
    if (pictures >= wished)
        return wished;
    gf_say_detail(NULL, "%zu picture%s at once: the limit of open files is %zu (ulimit -n)",
                  pictures, pictures == 1 ? "" : "s", (size_t)limit.rlim_cur);
    return pictures;
}
