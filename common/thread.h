/* Starting threads. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* Starts a thread that is to be joined. False where the system gives none, which callers bear: they
 * have a thread themselves. */
bool gf_thread_start(pthread_t *thread, void *(*begin)(void *), void *argument);

/* Threads whose stacks take a sixteenth of what a limit of the address space (ulimit -v) leaves,
 * SIZE_MAX where there is none. */
size_t gf_threads_room(void);

/* Makes the best of a limit of the address space (ulimit -v), where there is one. To be called
 * before there are threads. */
void gf_threads_save_room(void);
