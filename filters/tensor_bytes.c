/* Buffered streams rather than mapped memory: weights are read once, from one end to the other, and
 * a mapped file that somebody cuts short would end the program. */
#include "filters/tensor_bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"

GfStatus gf_bytes_open(const char *path, GfBytes *bytes)
{
    struct stat about;
    *bytes = (GfBytes){.stream = fopen(path, "re")};
    if (!bytes->stream)
        return gf_fail(GF_EUSAGE, "%s", strerror(errno));
    if (fstat(fileno(bytes->stream), &about) != 0 ||
        !(S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)))
        return gf_fail(GF_EUSAGE, "it is neither a file nor a pipe");
    bytes->sized = S_ISREG(about.st_mode);
    bytes->size = bytes->sized ? (size_t)about.st_size : 0;
    return GF_OK;
}

size_t gf_bytes_some(GfBytes *bytes, void *to, size_t size)
{
    if (bytes->stream) {
        size = fread(to, 1, size, bytes->stream);
    } else {
        size = gf_min(size, bytes->size - bytes->at);
        memcpy(to, bytes->memory + bytes->at, size);
    }
    bytes->at += size;
    return size;
}

GfStatus gf_bytes_read(GfBytes *bytes, void *to, size_t size)
{
    if (gf_bytes_some(bytes, to, size) == size)
        return GF_OK;
    bool fault = bytes->stream && ferror(bytes->stream);
    return gf_fail(GF_EUSAGE, "%s", fault ? strerror(errno) : "the file ends early");
}

GfStatus gf_bytes_seek(GfBytes *bytes, size_t at)
{
    if (at == bytes->at)
        return GF_OK;
    if (!bytes->sized)
        return gf_fail(GF_EUSAGE, "a pipe can be read only once");
    if (at > bytes->size)
        return gf_fail(GF_EUSAGE, "the file ends early");
    if (bytes->stream && fseeko(bytes->stream, (off_t)at, SEEK_SET) != 0)
        return gf_fail(GF_EUSAGE, "%s", strerror(errno));
    bytes->at = at;
    return GF_OK;
}

void gf_bytes_close(GfBytes *bytes)
{
    if (bytes->stream)
        fclose(bytes->stream);
    *bytes = (GfBytes){0};
}
