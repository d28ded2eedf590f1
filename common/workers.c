/* A pool with one loop at a time. Rounds are handed out by a counter under the mutex: a round is
 * many rows of a picture, so the lock costs nothing beside it. */
#include "common/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/memory.h"

struct GfWorkers {
    pthread_mutex_t mutex, loop; /* loop: held by the caller whose rounds run */
    pthread_cond_t begin, finished;
    size_t count, started;
    size_t rounds, next, running;
    GfRound round;
    void *context;
    bool quit;
    pthread_t threads[];
};

typedef struct Start {
    GfWorkers *workers;
    size_t number;
} Start;

/* Runs rounds while there are any. Called and left with the mutex held. */
static void work(GfWorkers *workers, size_t number)
{
    while (workers->next < workers->rounds) {
        size_t mine = workers->next++;
        workers->running++;
        pthread_mutex_unlock(&workers->mutex);
        workers->round(workers->context, mine, number);
        pthread_mutex_lock(&workers->mutex);
        workers->running--;
    }
}

static void *thread_main(void *argument)
{
    Start start = *(Start *)argument;
    free(argument);
    GfWorkers *workers = start.workers;
    pthread_mutex_lock(&workers->mutex);
    while (!workers->quit) {
        if (workers->next >= workers->rounds) {
            pthread_cond_wait(&workers->begin, &workers->mutex);
            continue;
        }
        work(workers, start.number);
        if (workers->running == 0)
            pthread_cond_signal(&workers->finished);
    }
    pthread_mutex_unlock(&workers->mutex);
    return NULL;
}

GfStatus gf_workers_create(size_t count, GfWorkers **out)
{
    *out = NULL;
    size_t bytes;
    GfWorkers *workers;
    if (!gf_mul(count, sizeof(pthread_t), &bytes) || !gf_add(bytes, sizeof *workers, &bytes))
        return gf_fail(GF_EMEMORY, "%zu threads", count);
    GF_TRY(gf_allocate_zero(1, bytes, &workers));
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_mutex_init(&workers->loop, NULL);
    pthread_cond_init(&workers->begin, NULL);
    pthread_cond_init(&workers->finished, NULL);
    workers->count = count;
    for (size_t i = 1; i < count; i++) {
        Start *start = malloc(sizeof *start);
        if (start)
            *start = (Start){workers, i};
        if (!start || pthread_create(&workers->threads[i], NULL, thread_main, start) != 0) {
            free(start);
            gf_workers_destroy(workers);
            return gf_fail(GF_EMEMORY, "cannot start %zu threads", count);
        }
        workers->started = i;
    }
    *out = workers;
    return GF_OK;
}

size_t gf_workers_count(const GfWorkers *workers)
{
    return workers->count;
}

void gf_workers_run(GfWorkers *workers, size_t rounds, GfRound round, void *context)
{
    pthread_mutex_lock(&workers->loop);
    pthread_mutex_lock(&workers->mutex);
    workers->round = round;
    workers->context = context;
    workers->next = 0;
    workers->rounds = rounds;
    if (rounds > 1)
        pthread_cond_broadcast(&workers->begin);
    work(workers, 0);
    while (workers->running > 0)
        pthread_cond_wait(&workers->finished, &workers->mutex);
    workers->rounds = workers->next = 0;
    pthread_mutex_unlock(&workers->mutex);
    pthread_mutex_unlock(&workers->loop);
}

void gf_workers_destroy(GfWorkers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->mutex);
    workers->quit = true;
    pthread_cond_broadcast(&workers->begin);
    pthread_mutex_unlock(&workers->mutex);
    for (size_t i = 1; i <= workers->started; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->begin);
    pthread_mutex_destroy(&workers->loop);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}

size_t gf_processors(void)
{
    cpu_set_t set;
    /* More processors than the set has bits: all that are there. */
    long count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                             : sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (size_t)count : 1;
}
