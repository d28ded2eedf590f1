/* Whoever makes progress draws the bar, a few times a second: no thread and no timer of its own. */
#include "app/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/message.h"
#include "common/clock.h"

enum { WIDTH = 30 };
static const double first_after = 0.5, every = 0.1; /* seconds */
static const double rounding = 1e-6;                /* what the parts of a picture may miss 1 by */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool active;
static double total, done, begun, next;

void gf_progress_begin(size_t pictures, bool wanted)
{
    active = wanted && isatty(STDERR_FILENO);
    total = (double)pictures;
    done = 0.0;
    begun = gf_now();
    next = begun + first_after;
}

static void draw(double now)
{
    char line[128], bar[WIDTH + 1];
    double part = total > 0 && done < total ? done / total : 1.0;
    size_t filled = part > 0 ? (size_t)(part * WIDTH) : 0;
    memset(bar, '.', WIDTH);
    memset(bar, '#', filled);
    bar[WIDTH] = '\0';
    double left = part > 0 ? (now - begun) / part * (1.0 - part) : 0.0;
    snprintf(line, sizeof line, "[%s] %3.0f %%  %.0f of %.0f pictures, %.0f s left", bar,
             100.0 * part, floor(done + rounding), total, left);
    gf_status_line(line);
}

void gf_progress_add(double part)
{
    if (!active)
        return;
    pthread_mutex_lock(&mutex);
    done += part;
    double now = gf_now();
    if (now >= next) {
        next = now + every;
        draw(now);
    }
    pthread_mutex_unlock(&mutex);
}

void gf_progress_end(void)
{
    if (active)
        gf_status_line("");
    active = false;
}
