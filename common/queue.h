/* A bounded queue of pointers between threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

typedef struct GfQueue GfQueue;

/* A queue of at most `capacity` items (>= 1). GF_EMEMORY on failure. */
GfStatus gf_queue_create(size_t capacity, GfQueue **queue);

/* Adds an item, waiting while the queue is full. False when the queue is closed: the item was not
 * taken and stays the caller's. */
bool gf_queue_push(GfQueue *queue, void *item);

/* Takes the oldest item, waiting while there is none. False when the queue is closed and empty. */
bool gf_queue_pop(GfQueue *queue, void **item);

/* No more pushes; waiting threads wake up. What is inside can still be popped. */
void gf_queue_close(GfQueue *queue);

/* Frees the queue, not its items. NULL is allowed. No thread may be using it. */
void gf_queue_destroy(GfQueue *queue);
