/* A pipe tells no size, and a file's may change, so what is read is bounded instead of what is
 * there. */
#include "filters/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"

/* Editors put a mark in front of UTF-8, which is no part of the text. */
static void drop_mark(char *text, size_t *size)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    size_t length = strlen(byte_order_mark);
    if (strncmp(text, byte_order_mark, length) != 0)
        return;
    *size -= length;
    memmove(text, text + length, *size + 1);
}

GfStatus gf_text_file_read(const char *path, size_t most, char **text, size_t *size)
{
    struct stat about;
    FILE *file = fopen(path, "re");
    *text = NULL;
    *size = 0;
    if (!file)
        return gf_fail(GF_EUSAGE, "%s", strerror(errno));
    GfStatus status = GF_OK;
    if (fstat(fileno(file), &about) != 0 || !(S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)))
        GF_GO(gf_fail(GF_EUSAGE, "it is neither a file nor a pipe"));
    GF_GO(gf_allocate(most + 1, 1, text));
    *size = fread(*text, 1, most + 1, file);
    if (ferror(file))
        GF_GO(gf_fail(GF_EUSAGE, "%s", strerror(errno)));
    if (*size > most)
        GF_GO(gf_fail(GF_EUSAGE, "the file is larger than %zu MiB, the most that is read",
                      most >> 20));
    (*text)[*size] = '\0';
    drop_mark(*text, size);
done:
    fclose(file);
    return status;
}
