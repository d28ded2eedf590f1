/* A pool with one loop at a time; its threads start with the first loop that can use them, so that
 * who has little to do does not pay for them. Rounds are handed out by a counter under the mutex: a
 * round is many rows of a picture, so the lock costs nothing beside it. */
#include "common/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/thread.h"

struct GfWorkers {
    pthread_mutex_t mutex, loop; /* loop: held by the caller whose rounds run */
    pthread_cond_t begin, finished;
    size_t count, started;
    size_t rounds, next, running;
    GfRound round;
    void *context;
    bool quit;
    void **memory; /* one a worker, but the first; changed while no loop runs */
    size_t bytes;  /* of each, under the mutex */
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
    count = gf_max(gf_min(count, gf_threads_room()), 1);
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
    *out = workers;
    return GF_OK;
}

size_t gf_workers_count(const GfWorkers *workers)
{
    return workers->count;
}

/* Starts what is missing. Fewer threads than wished are slower, but no failure. */
static void start_threads(GfWorkers *workers)
{
    while (workers->started + 1 < workers->count) {
        size_t number = workers->started + 1;
        Start *start = malloc(sizeof *start);
        if (start)
            *start = (Start){workers, number};
        if (!start || !gf_thread_start(&workers->threads[number], thread_main, start)) {
            free(start);
            break;
        }
        workers->started = number;
    }
}

/* The loop; workers->loop is held. */
static void run_loop(GfWorkers *workers, size_t rounds, GfRound round, void *context)
{
    if (rounds > 1)
        start_threads(workers);
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
}

void gf_workers_run(GfWorkers *workers, size_t rounds, GfRound round, void *context)
{
    if (workers && rounds > 1 && pthread_mutex_trylock(&workers->loop) == 0) {
        run_loop(workers, rounds, round, context);
        pthread_mutex_unlock(&workers->loop);
        return;
    }
    for (size_t i = 0; i < rounds; i++)
        round(context, i, 0);
}

/* No loop runs. */
static GfStatus reserve(GfWorkers *workers, size_t bytes)
{
    if (!workers->memory)
        GF_TRY(gf_allocate_zero(workers->count, sizeof *workers->memory, &workers->memory));
    for (size_t i = 1; i < workers->count; i++) {
        void *memory;
        GF_TRY(gf_allocate(1, bytes, &memory));
        free(workers->memory[i]);
        workers->memory[i] = memory;
    }
    pthread_mutex_lock(&workers->mutex);
    workers->bytes = bytes;
    pthread_mutex_unlock(&workers->mutex);
    return GF_OK;
}

static bool has_memory(GfWorkers *workers, size_t bytes)
{
    pthread_mutex_lock(&workers->mutex);
    bool has = workers->bytes >= bytes;
    pthread_mutex_unlock(&workers->mutex);
    return has;
}

GfStatus gf_workers_reserve(GfWorkers *workers, size_t bytes)
{
    GfStatus status = GF_OK;
    if (has_memory(workers, bytes))
        return GF_OK;
    pthread_mutex_lock(&workers->loop);
    if (!has_memory(workers, bytes))
        status = reserve(workers, bytes);
    pthread_mutex_unlock(&workers->loop);
    return status;
}

void *gf_workers_memory(const GfWorkers *workers, size_t worker)
{
    return workers->memory ? workers->memory[worker] : NULL;
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
    for (size_t i = 1; workers->memory && i < workers->count; i++)
        free(workers->memory[i]);
    free(workers->memory);
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
