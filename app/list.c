/* Both ways in which programs hand on names of files, told apart by looking: names cannot hold a
 * zero byte, so that a list with one is separated by them. A comment begins with "# " rather than
 * with "#", with which names of files do begin now and then. */
#include "app/list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

enum { SHOWN = 512 };

const char gf_list_comment[] = "# ";

static GfStatus take_entry(const char *entry, GfStatus (*take)(void *context, const char *entry),
                           void *context)
{
    bool comment = strncmp(entry, gf_list_comment, strlen(gf_list_comment)) == 0;
    return *entry && !comment ? take(context, entry) : GF_OK;
}

/* The lines of a text. It is changed. */
static GfStatus take_lines(char *text, GfStatus (*take)(void *context, const char *entry),
                           void *context)
{
    for (char *line; (line = strsep(&text, "\n")) != NULL;)
        GF_TRY(take_entry(line, take, context));
    return GF_OK;
}

GfStatus gf_list_read(const char *path, GfStatus (*take)(void *context, const char *entry),
                      void *context)
{
    char shown[SHOWN], *text = NULL;
    size_t size = 0;
    GfStatus status = GF_OK;
    bool own = strcmp(path, "-") != 0, zeros = false;
    FILE *file = own ? fopen(path, "re") : stdin;
    gf_escape(path, shown, sizeof shown);
    if (!file)
        return gf_fail(GF_EUSAGE, "--files-from %s: %s", shown, strerror(errno));
    ssize_t length;
    for (errno = 0; (length = getdelim(&text, &size, '\0', file)) > 0; errno = 0) {
        zeros |= text[length - 1] == '\0';
        GF_GO(zeros ? take_entry(text, take, context) : take_lines(text, take, context));
    }
    if (!feof(file))
        status = gf_fail(GF_EUSAGE, "--files-from %s: %s", shown, strerror(errno));
done:
    free(text);
    if (own)
        fclose(file);
    return status;
}
