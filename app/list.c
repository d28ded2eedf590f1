/* Both ways in which programs hand on names of files, told apart by looking: names cannot hold a
 * zero byte, so that a list with one is separated by them. A comment begins with "# " rather than
 * with "#", with which names of files do begin now and then. */
#include "app/list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "images/again.h"

enum { SHOWN = 512, BLOCK = 64 << 10 };

const char gf_list_comment[] = "# ";

static GfStatus take_entry(const char *entry, GfStatus (*take)(void *context, const char *entry),
                           void *context)
{
    bool comment = strncmp(entry, gf_list_comment, strlen(gf_list_comment)) == 0;
    return *entry && !comment ? take(context, entry) : GF_OK;
}

/* Lines may end as those of Windows do. */
static void end_line(char *line)
{
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\r')
        line[length - 1] = '\0';
}

/* Hands on what ends with `separator` or with the text, which is changed. */
static GfStatus take_parts(char *text, size_t size, char separator,
                           GfStatus (*take)(void *context, const char *entry), void *context)
{
    for (char *part = text, *end = text + size; part < end;) {
        char *ended = memchr(part, separator, (size_t)(end - part));
        if (ended)
            *ended = '\0';
        if (separator == '\n')
            end_line(part);
        GF_TRY(take_entry(part, take, context));
        part = ended ? ended + 1 : end;
    }
    return GF_OK;
}

/* All that `fd` gives, with a zero byte behind it. The caller frees *text, also on failure. */
static GfStatus read_all(int fd, char **text, size_t *size)
{
    size_t room = 0;
    *text = NULL;
    *size = 0;
    for (;;) {
        if (room - *size < BLOCK) {
            room = 2 * room + BLOCK;
            char *larger = realloc(*text, room);
            if (!larger)
                return gf_fail(GF_EMEMORY, "out of memory");
            *text = larger;
        }
        ssize_t n = read(fd, *text + *size, BLOCK - 1);
        if (n < 0 && gf_again(fd, POLLIN))
            continue;
        if (n < 0)
            return gf_fail(GF_EUSAGE, "%s", strerror(errno));
        *size += (size_t)n;
        (*text)[*size] = '\0';
        if (n == 0)
            return GF_OK;
    }
}

static GfStatus read_list(const char *path, char **text, size_t *size)
{
    char shown[SHOWN];
    bool own = strcmp(path, "-") != 0;
    int fd = own ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
    *text = NULL;
    GfStatus status = fd < 0 ? gf_fail(GF_EUSAGE, "%s", strerror(errno)) : read_all(fd, text, size);
    if (own && fd >= 0)
        close(fd);
    if (status == GF_EUSAGE)
        return gf_fail(status, "--files-from %s: %s", gf_escape(path, shown, sizeof shown),
                       gf_message());
    return status;
}

GfStatus gf_list_read(const char *path, GfStatus (*take)(void *context, const char *entry),
                      void *context)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf"; /* of editors, in front of UTF-8 */
    char *text;
    size_t size, mark = 0;
    GfStatus status = read_list(path, &text, &size);
    if (status == GF_OK) {
        char separator = memchr(text, '\0', size) ? '\0' : '\n';
        if (separator == '\n' && strncmp(text, byte_order_mark, 3) == 0)
            mark = 3;
        status = take_parts(text + mark, size - mark, separator, take, context);
    }
    free(text);
    return status;
}
