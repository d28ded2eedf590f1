/* A line of JSON is what a script knows of a picture, and stdio drops it where a signal interrupts
 * the write or a pipe that does not block is full. So lines go around it; lists and help, during
 * which no signal is caught, do not. */
#include "app/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/message.h"
#include "images/again.h"

enum { LIST = 256 << 10 }; /* bytes, more than any list of the program's own has */

static int first_error;

/* Of what stdio writes in between it keeps only whether that failed. */
void gf_print_begin(void)
{
    static char list[LIST];
    if (!isatty(STDOUT_FILENO))
        (void)setvbuf(stdout, list, _IOFBF, sizeof list);
}

static void note_error(int number)
{
    if (!first_error)
        first_error = number;
}

void gf_print_text(const char *text)
{
    size_t left = strlen(text);
    while (left > 0 && !first_error) {
        ssize_t n = write(STDOUT_FILENO, text, left);
        if (n < 0 && !gf_again(STDOUT_FILENO, POLLOUT))
            note_error(errno);
        text += n < 0 ? 0 : n;
        left -= n < 0 ? 0 : (size_t)n;
    }
}

void gf_print_json(json_t *line, size_t digits)
{
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(digits)), *ended = NULL;
    if (text && asprintf(&ended, "%s\n", text) < 0)
        ended = NULL;
    if (ended)
        gf_print_text(ended);
    else
        note_error(ENOMEM);
    free(ended);
    free(text);
    json_decref(line);
}

int gf_print_flush(void)
{
    if (fflush(stdout) != 0)
        note_error(errno);
    else if (ferror(stdout))
        note_error(EIO);
    return first_error;
}
