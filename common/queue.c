#include "common/queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/memory.h"

struct GfQueue {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t capacity, first, count;
    bool closed;
    void *items[];
};

GfStatus gf_queue_create(size_t capacity, GfQueue **queue)
{
    size_t items;
    *queue = NULL;
    if (!gf_mul(capacity, sizeof(void *), &items) || !gf_add(items, sizeof(GfQueue), &items))
        return gf_fail(GF_EMEMORY, "queue of %zu items", capacity);
    GF_TRY(gf_allocate_zero(1, items, queue));
    (*queue)->capacity = capacity;
    pthread_mutex_init(&(*queue)->mutex, NULL);
    pthread_cond_init(&(*queue)->changed, NULL);
    return GF_OK;
}

bool gf_queue_push(GfQueue *queue, void *item)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == queue->capacity && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    bool taken = !queue->closed;
    if (taken) {
        queue->items[(queue->first + queue->count++) % queue->capacity] = item;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return taken;
}

bool gf_queue_pop(GfQueue *queue, void **item)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->count == 0 && !queue->closed)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    bool found = queue->count > 0;
    if (found) {
        *item = queue->items[queue->first];
        queue->first = (queue->first + 1) % queue->capacity;
        queue->count--;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return found;
}

void gf_queue_close(GfQueue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->closed = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

void gf_queue_destroy(GfQueue *queue)
{
    if (!queue)
        return;
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
    free(queue);
}
