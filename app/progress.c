/* Whoever makes progress draws the bar, a few times a second: no thread and no timer of its own. In
 * a run that is resumed pictures without work fly past first, which would promise too much. */
#include "app/progress.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/message.h"
#include "common/clock.h"
#include "common/memory.h"

enum { WIDTH = 30, LEAST_WIDTH = 4, LINE = 160 };
static const double first_after = 0.5, every = 0.1, line_every = 60.0; /* seconds */
static const double rounding = 1e-6; /* what the parts of a picture may miss 1 by */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool active, terminal;
static double total, done, passed, begun, next;

/* Whether standard error is a terminal that can erase a line. */
static bool is_terminal(void)
{
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) && !(kind && strcmp(kind, "dumb") == 0);
}

void gf_progress_begin(size_t pictures, bool wanted)
{
    active = wanted;
    terminal = is_terminal();
    total = (double)pictures;
    done = passed = 0.0;
    begun = gf_now();
    next = begun + (terminal ? first_after : line_every);
}

/* "12 of 340 pictures, 8.3/s, 39 s left" */
static void describe(double now, char *text, size_t size)
{
    double rate = (done - passed) / fmax(now - begun, every);
    double left = rate > 0 ? fmax(total - done, 0.0) / rate : 0.0;
    bool minutes = left >= 120, hours = left >= 7200;
    snprintf(text, size, "%.0f of %.0f pictures, %.*f/s, %.*f %s left", floor(done + rounding),
             total, rate < 10 ? 1 : 0, rate, hours ? 1 : 0,
             left / (hours     ? 3600
                     : minutes ? 60
                               : 1),
             hours     ? "h"
             : minutes ? "min"
                       : "s");
}

/* What a line may have without the terminal going to the next, where it cannot be erased. */
static size_t line_room(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0)
        return LINE - 1;
    return gf_min(window.ws_col - 1U, LINE - 1);
}

/* "[####....]  12 %  ..."; the bar, and then the end of the line, make way on a narrow terminal. */
static void draw(const char *text)
{
    char line[LINE], bar[WIDTH + 4] = "", percent[16];
    double part = total > 0 && done < total ? done / total : 1.0;
    size_t room = line_room();
    snprintf(percent, sizeof percent, "%3.0f %%  ", 100.0 * part);
    size_t others = strlen(percent) + strlen(text) + strlen("[] ");
    size_t width = room > others ? gf_min(room - others, WIDTH) : 0;
    size_t filled = part > 0 ? (size_t)(part * (double)width) : 0;
    if (width >= LEAST_WIDTH) {
        memset(bar, '.', width + 1);
        bar[0] = '[';
        memset(bar + 1, '#', filled);
        memcpy(bar + 1 + width, "] ", sizeof "] ");
    }
    snprintf(line, room + 1, "%s%s%s", bar, percent, text);
    gf_status_line(line);
}

static void advance(double part, bool without_work)
{
    char text[96];
    if (!active)
        return;
    pthread_mutex_lock(&mutex);
    done += part;
    passed += without_work ? part : 0.0;
    double now = gf_now();
    if (now >= next) {
        next = now + (terminal ? every : line_every);
        describe(now, text, sizeof text);
        if (terminal)
            draw(text);
        else
            gf_say_note(NULL, "%s", text);
    }
    pthread_mutex_unlock(&mutex);
}

void gf_progress_add(double part)
{
    advance(part, false);
}

void gf_progress_pass(void)
{
    advance(1.0, true);
}

void gf_progress_end(void)
{
    if (active && terminal)
        gf_status_line("");
    active = false;
}
