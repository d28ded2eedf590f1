/* A thin buffered reader on a file descriptor. Codecs ask for a few bytes at a time (a PNG chunk's
 * length, a JPEG marker), so there is one buffer, and large requests pass it by. Positional reads
 * go to the file directly, which lets planar files be read a plane at a time without a second
 * handle. */
#include "images/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "images/again.h"

enum { BUFFER_SIZE = 64 * 1024 };

struct GfInput {
    int fd;
    bool owned;         /* fd is ours to close: not standard input */
    bool sized;         /* a regular file */
    uint64_t start;     /* file offset of the input's first byte: standard input may be part-read */
    uint64_t size;      /* bytes from there */
    size_t used, ready; /* buffer[used, ready) is not consumed yet */
    unsigned char buffer[BUFFER_SIZE];
};

/* Refuses what is no stream of bytes, and finds the size where there is one. */
static GfStatus examine(GfInput *input)
{
    struct stat about;
    if (fstat(input->fd, &about) != 0)
        return gf_fail(GF_EREAD, "cannot be read: %s", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return gf_fail(GF_EREAD, "is a directory");
    if (input->owned && (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)))
        return gf_fail(GF_EREAD, "is a device, not a file");
    off_t start = lseek(input->fd, 0, SEEK_CUR);
    /* Size 0 is also what /proc and the like say of files that have contents. */
    if (!S_ISREG(about.st_mode) || start < 0 || about.st_size <= start)
        return GF_OK;
    input->sized = true;
    input->start = (uint64_t)start;
    input->size = (uint64_t)(about.st_size - start);
    return GF_OK;
}

GfStatus gf_input_open(const char *path, GfInput **input)
{
    GfInput *opened;
    *input = NULL;
    GF_TRY(gf_allocate(1, sizeof *opened, &opened));
    memset(opened, 0, offsetof(GfInput, buffer));
    GfStatus status = GF_OK;
    if (strcmp(path, "-") == 0) {
        opened->fd = STDIN_FILENO;
    } else {
        opened->owned = true;
        opened->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (opened->fd < 0)
            status = gf_fail(GF_EREAD, "cannot be opened: %s", strerror(errno));
    }
    if (status == GF_OK)
        status = examine(opened);
    if (status != GF_OK) {
        gf_input_close(opened);
        return status;
    }
    *input = opened;
    return GF_OK;
}

static GfStatus read_some(GfInput *input, void *bytes, size_t size, size_t *got)
{
    ssize_t n;
    do
        n = read(input->fd, bytes, size);
    while (n < 0 && gf_again(input->fd, POLLIN));
    if (n < 0)
        return gf_fail(GF_EREAD, "reading failed: %s", strerror(errno));
    *got = (size_t)n;
    return GF_OK;
}

GfStatus gf_input_head(GfInput *input, const unsigned char **head, size_t *size)
{
    size_t got = 1;
    while (input->ready - input->used < GF_HEAD_SIZE && got > 0) {
        GF_TRY(read_some(input, input->buffer + input->ready, BUFFER_SIZE - input->ready, &got));
        input->ready += got;
    }
    *head = input->buffer + input->used;
    *size = gf_min(GF_HEAD_SIZE, input->ready - input->used);
    return GF_OK;
}

GfStatus gf_input_read(GfInput *input, void *bytes, size_t size, size_t *got)
{
    if (input->used == input->ready) {
        if (size >= BUFFER_SIZE)
            return read_some(input, bytes, size, got);
        input->used = input->ready = 0;
        GF_TRY(read_some(input, input->buffer, BUFFER_SIZE, &input->ready));
    }
    *got = gf_min(size, input->ready - input->used);
    memcpy(bytes, input->buffer + input->used, *got);
    input->used += *got;
    return GF_OK;
}

bool gf_input_size(const GfInput *input, uint64_t *size)
{
    *size = input->size;
    return input->sized;
}

GfStatus gf_input_read_at(GfInput *input, void *bytes, size_t size, uint64_t offset)
{
    unsigned char *to = bytes;
    uint64_t place = input->start + offset;
    while (size > 0) {
        ssize_t n = pread(input->fd, to, size, (off_t)place);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gf_fail(GF_EREAD, "reading failed: %s", strerror(errno));
        if (n == 0)
            return gf_fail(GF_EINPUT, "the file ends early");
        to += n;
        place += (uint64_t)n;
        size -= (size_t)n;
    }
    return GF_OK;
}

void gf_input_close(GfInput *input)
{
    if (!input)
        return;
    if (input->owned && input->fd >= 0)
        close(input->fd);
    free(input);
}
