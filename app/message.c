/* One mutex around standard error. The status line (the progress bar) is wiped before a message and
 * drawn again after it, so that messages scroll above it. */
#include "app/message.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"

enum { PATH_SHOWN = 4096, OUTPUT_SHOWN = 800, STATUS_LINE = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool quiet, verbose;
static char status_line[STATUS_LINE];

void gf_message_setup(bool be_quiet, bool be_verbose)
{
    quiet = be_quiet;
    verbose = be_verbose && !be_quiet;
}

/* Erases or draws the status line; the mutex is held. */
static void show_status_line(bool shown)
{
    if (status_line[0])
        fprintf(stderr, shown ? "\r%s\033[K" : "\r\033[K", status_line);
}

static void say(const char *path, const char *format, va_list arguments)
{
    char reason[GF_MESSAGE_SIZE], shown[PATH_SHOWN];
    vsnprintf(reason, sizeof reason, format, arguments);
    /* Reasons escape the names in them; this is for the one that forgets. */
    for (char *c = reason; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    bool is_stdin = path && strcmp(path, "-") == 0;
    gf_escape(is_stdin ? "standard input" : path ? path : "", shown, sizeof shown);
    pthread_mutex_lock(&mutex);
    show_status_line(false);
    fprintf(stderr, "gpufilter: %s%s%s\n", shown, path ? ": " : "", reason);
    show_status_line(true);
    pthread_mutex_unlock(&mutex);
}

void gf_say_error(const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(path, format, arguments);
    va_end(arguments);
}

void gf_say_note(const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!quiet)
        say(path, format, arguments);
    va_end(arguments);
}

void gf_say_detail(const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (verbose)
        say(path, format, arguments);
    va_end(arguments);
}

void gf_say_text(const char *text)
{
    pthread_mutex_lock(&mutex);
    show_status_line(false);
    fputs(text, stderr);
    show_status_line(true);
    pthread_mutex_unlock(&mutex);
}

void gf_status_line(const char *text)
{
    pthread_mutex_lock(&mutex);
    show_status_line(false);
    snprintf(status_line, sizeof status_line, "%s", text);
    show_status_line(true);
    fflush(stderr);
    pthread_mutex_unlock(&mutex);
}

GfStatus gf_fail_output(GfStatus status, const char *path)
{
    char shown[OUTPUT_SHOWN]; /* leaves room for the reason */
    if (status == GF_OK)
        return GF_OK;
    if (strcmp(path, "-") == 0)
        return gf_fail_at(status, "standard output");
    return gf_fail_at(status, gf_escape(path, shown, sizeof shown));
}
