/* A thread's stack and what the C library sets aside for its memory are address space, 8 MiB and 64
 * MiB by themselves, of which almost nothing is used. Nobody minds, but for who limits the address
 * space: batch systems do. */
#include "common/thread.h"

#include <stdint.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { STACK = 2 << 20, STACKS_PART = 4 };

bool gf_thread_start(pthread_t *thread, void *(*begin)(void *), void *argument)
{
    pthread_attr_t wishes;
    if (pthread_attr_init(&wishes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&wishes, STACK) == 0 &&
                   pthread_create(thread, &wishes, begin, argument) == 0;
    pthread_attr_destroy(&wishes);
    return started;
}

/* Whether the address space is limited, and to how many bytes. */
static bool is_limited(rlim_t *bytes)
{
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    *bytes = limited ? limit.rlim_cur : 0;
    return limited;
}

size_t gf_threads_room(void)
{
    rlim_t bytes;
    return is_limited(&bytes) ? (size_t)(bytes / STACKS_PART / STACK) : SIZE_MAX;
}

void gf_threads_save_room(void)
{
#ifdef __GLIBC__
    rlim_t bytes;
    if (is_limited(&bytes))
        (void)mallopt(M_ARENA_MAX, 1); /* one for all; what fails changes nothing */
#endif
}
