/* A thread's stack and what the C library sets aside for its memory are address space, 8 MiB and 64
 * MiB by themselves, of which almost nothing is used. Nobody minds, but for who limits the address
 * space: batch systems do. */
#include "common/thread.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { STACK = 2 << 20 };
/* Where the address space is limited. The C library keeps the stacks of threads that are done. */
enum { SMALL_STACK = 512 << 10, STACKS_PART = 16 };
enum { RETURNED = 128 << 10 }; /* bytes of memory that go back to the system at once */

/* Whether the address space is limited, and to how many bytes. */
static bool is_limited(rlim_t *bytes)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    *bytes = limited ? limit.rlim_cur : 0;
    return limited;
}

bool gf_thread_start(pthread_t *thread, void *(*begin)(void *), void *argument)
{
    pthread_attr_t wishes;
    rlim_t bytes;
    if (pthread_attr_init(&wishes) != 0)
        return false;
    bool started =
        pthread_attr_setstacksize(&wishes, is_limited(&bytes) ? SMALL_STACK : STACK) == 0 &&
        pthread_create(thread, &wishes, begin, argument) == 0;
    pthread_attr_destroy(&wishes);
    return started;
}

/* Bytes of the address space that are taken, as Linux tells; 0 where it is not told. */
static rlim_t taken_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

size_t gf_threads_room(void)
{
    rlim_t bytes, taken;
    if (!is_limited(&bytes))
        return SIZE_MAX;
    taken = taken_bytes();
    return taken < bytes ? (size_t)((bytes - taken) / STACKS_PART / SMALL_STACK) : 0;
}

void gf_threads_save_room(void)
{
#ifdef __GLIBC__
    rlim_t bytes;
    if (!is_limited(&bytes))
        return;
    /* What fails changes nothing. */
    (void)mallopt(M_ARENA_MAX, 1); /* one for all */
    (void)mallopt(M_MMAP_THRESHOLD, RETURNED);
#endif
}
