/* An output is written to a file that nobody sees and then named, so that a reader of the directory
 * finds the old file or the new one and never half of it. The unseen file is one without a name
 * (O_TMPFILE), which vanishes with the process even on SIGKILL; where the file system or a missing
 * /proc forbids that, it has a random name (temporary.h) that is removed on failure, on the way
 * out, or by a later run. All names are relative to an open descriptor of the directory: moving or
 * replacing the directory meanwhile cannot lead the output elsewhere.
 *
 * What cannot be renamed (standard output, a pipe, a device) is spooled in the temporary directory
 * and copied at commit. */
#include "images/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/text.h"
#include "images/again.h"
#include "images/temporary.h"

enum { BUFFER_SIZE = 256 * 1024, COPY_SIZE = 1024 * 1024, ATTEMPTS = 100, SHOWN = 400 };

struct GfOutput {
    int fd;        /* the unseen file */
    int directory; /* of the final name; -1 when spooled */
    int target;    /* where the bytes are copied to at commit; -1 when renamed */
    bool replace;
    char *name;            /* final name within the directory, owned */
    GfTemporary temporary; /* its name */
    uint64_t place;        /* where the buffer goes */
    uint64_t size;         /* farthest end of any write */
    size_t buffered;
    unsigned char buffer[BUFFER_SIZE];
};

static GfStatus fail_errno(const char *what)
{
    bool full = errno == ENOSPC || errno == EDQUOT;
    return gf_fail(full ? GF_EFULL : GF_EWRITE, "%s: %s", what, strerror(errno));
}

/* A file without a name that can be given one later: that needs the file's entry in /proc. */
static int open_unnamed(int directory, mode_t mode)
{
    char entry[64];
    int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd < 0)
        return -1;
    snprintf(entry, sizeof entry, "/proc/self/fd/%d", fd);
    if (access(entry, F_OK) == 0)
        return fd;
    close(fd);
    return -1;
}

static GfStatus open_temporary(GfOutput *output, mode_t mode)
{
    output->fd = open_unnamed(output->directory, mode);
    for (int i = 0; output->fd < 0 && i < ATTEMPTS; i++) {
        GF_TRY(gf_temporary_draw(output->directory, &output->temporary));
        output->fd = openat(output->directory, output->temporary.name,
                            O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (output->fd >= 0 && gf_temporary_hold(output->fd, true))
            break;
        int reason = output->fd < 0 ? errno : EEXIST;
        if (output->fd >= 0)
            close(output->fd);
        output->fd = -1;
        gf_temporary_forget(&output->temporary);
        errno = reason;
        if (reason != EEXIST)
            break;
    }
    return output->fd >= 0 ? GF_OK : fail_errno("cannot be created");
}

/* Splits the resolved path into an open directory and a name in it. */
static GfStatus open_directory(GfOutput *output, char *path)
{
    char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return gf_fail(GF_EWRITE, "names a directory, not a file");
    output->name = strdup(name);
    if (!output->name)
        return gf_fail(GF_EMEMORY, "out of memory");
    const char *directory = !slash ? "." : slash == path ? "/" : path;
    if (slash && slash != path)
        *slash = '\0';
    output->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (output->directory >= 0)
        return GF_OK;
    return errno == ENOENT ? gf_fail(GF_EWRITE, "its directory does not exist")
                           : fail_errno("its directory cannot be used");
}

/* As far as it may be done: not everybody may give files away, then it is the group that is kept,
 * or nothing. */
static bool keep_owner(int fd, const struct stat *about)
{
    return fchown(fd, about->st_uid, about->st_gid) == 0 ||
           fchown(fd, (uid_t)-1, about->st_gid) == 0;
}

/* A new file, or one to replace: `about` describes the existing one, whose link is followed so that
 * the link stays a link. */
static GfStatus open_file(GfOutput *output, const char *path, const struct stat *about)
{
    char *resolved = about ? realpath(path, NULL) : strdup(path);
    if (!resolved)
        return fail_errno("cannot be resolved");
    GfStatus status = open_directory(output, resolved);
    free(resolved);
    GF_TRY(status);
    mode_t mode = about ? about->st_mode & 0777 : 0666;
    GF_TRY(open_temporary(output, mode));
    if (about && fchmod(output->fd, mode) != 0)
        return fail_errno("its permissions cannot be kept");
    if (about) /* last: what is given away may not be changed any more */
        (void)keep_owner(output->fd, about);
    return GF_OK;
}

/* errno says why there is no temporary file in `place`. */
static GfStatus fail_spool(const char *place)
{
    char shown[SHOWN], what[SHOWN + 64];
    int reason = errno;
    snprintf(what, sizeof what, "no temporary file can be made in %s (TMPDIR)",
             gf_escape(place, shown, sizeof shown));
    errno = reason;
    return fail_errno(what);
}

/* Standard output, a pipe or a device: `target` is open; the bytes wait in the temporary directory.
 */
static GfStatus open_spool(GfOutput *output)
{
    const char *place = getenv("TMPDIR");
    char path[PATH_MAX];
    if (!place || !*place)
        place = "/tmp";
    output->fd = open(place, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (output->fd >= 0)
        return GF_OK;
    if (snprintf(path, sizeof path, "%s/gpufilter-XXXXXX", place) >= (int)sizeof path)
        return gf_fail(GF_EWRITE, "the temporary directory's name is too long");
    output->fd = mkostemp(path, O_CLOEXEC);
    if (output->fd < 0)
        return fail_spool(place);
    unlink(path);
    return GF_OK;
}

static GfStatus open_special(GfOutput *output, const char *path)
{
    output->target = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (output->target < 0 && errno == EINTR) /* nobody reads the pipe, and a signal came */
        return gf_fail(GF_STOPPED, "stopped");
    if (output->target < 0)
        return fail_errno("cannot be opened");
    return open_spool(output);
}

/* Chooses the way by what is at `path` now. */
static GfStatus open_path(GfOutput *output, const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0) {
        output->target = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
        return output->target < 0 ? fail_errno("standard output") : open_spool(output);
    }
    if (stat(path, &about) != 0) {
        if (errno != ENOENT)
            return fail_errno("cannot be created");
        if (lstat(path, &about) == 0)
            return gf_fail(GF_EEXIST, "is a symbolic link to a file that does not exist");
        return open_file(output, path, NULL);
    }
    if (S_ISDIR(about.st_mode))
        return gf_fail(GF_EWRITE, "is a directory");
    if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))
        return open_special(output, path);
    if (!S_ISREG(about.st_mode))
        return gf_fail(GF_EWRITE, "is not a regular file");
    if (!output->replace)
        return gf_fail(GF_EEXIST, "exists already");
    return open_file(output, path, &about);
}

/* `path` NULL: an output without a name. */
static GfStatus open_output(const char *path, bool replace, GfOutput **output)
{
    GfOutput *opened;
    *output = NULL;
    GF_TRY(gf_allocate(1, sizeof *opened, &opened));
    memset(opened, 0, offsetof(GfOutput, buffer));
    opened->fd = opened->directory = opened->target = -1;
    opened->replace = replace;
    GfStatus status = path ? open_path(opened, path) : open_spool(opened);
    if (status != GF_OK)
        gf_output_discard(&opened);
    *output = opened;
    return status;
}

GfStatus gf_output_open(const char *path, bool replace, GfOutput **output)
{
    return open_output(path, replace, output);
}

GfStatus gf_output_spool(GfOutput **output)
{
    return open_output(NULL, false, output);
}

static GfStatus write_all_at(const GfOutput *output, const void *bytes, size_t size,
                             uint64_t offset)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        ssize_t n = pwrite(output->fd, from, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(output->directory < 0
                                  ? "the temporary file cannot be written (TMPDIR)"
                                  : "writing failed");
        from += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return GF_OK;
}

static GfStatus flush(GfOutput *output)
{
    size_t size = output->buffered;
    output->buffered = 0;
    output->place += size;
    return write_all_at(output, output->buffer, size, output->place - size);
}

static void extend(GfOutput *output, uint64_t end)
{
    if (end > output->size)
        output->size = end;
}

GfStatus gf_output_write(GfOutput *output, const void *bytes, size_t size)
{
    extend(output, output->place + output->buffered + size);
    if (size > BUFFER_SIZE - output->buffered)
        GF_TRY(flush(output));
    if (size > BUFFER_SIZE) {
        output->place += size;
        return write_all_at(output, bytes, size, output->place - size);
    }
    memcpy(output->buffer + output->buffered, bytes, size);
    output->buffered += size;
    return GF_OK;
}

GfStatus gf_output_write_at(GfOutput *output, const void *bytes, size_t size, uint64_t offset)
{
    GF_TRY(flush(output));
    extend(output, offset + size);
    return write_all_at(output, bytes, size, offset);
}

GfStatus gf_output_read(GfOutput *output, void *bytes, size_t size, uint64_t offset, size_t *got)
{
    *got = 0;
    GF_TRY(flush(output));
    while (*got < size) {
        unsigned char *to = (unsigned char *)bytes + *got;
        ssize_t n = pread(output->fd, to, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gf_fail(GF_EREAD, "the temporary file cannot be read back: %s", strerror(errno));
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return GF_OK;
}

/* Errors that network file systems keep until close() come out at the first close of any descriptor
 * of the file, so a duplicate shows them while the output can still be withheld. */
static GfStatus settle(int fd)
{
    int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0 || close(duplicate) != 0)
        return fail_errno("writing failed");
    return GF_OK;
}

/* Links the unnamed file to `name`; false with errno. */
static bool link_unnamed(const GfOutput *output, const char *name)
{
    char entry[64];
    snprintf(entry, sizeof entry, "/proc/self/fd/%d", output->fd);
    return linkat(AT_FDCWD, entry, output->directory, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Gives the unnamed file a temporary name, as renaming needs one. */
static GfStatus name_unnamed(GfOutput *output)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        GF_TRY(gf_temporary_draw(output->directory, &output->temporary));
        if (gf_temporary_hold(output->fd, false) && link_unnamed(output, output->temporary.name))
            return GF_OK;
        int reason = errno;
        gf_temporary_forget(&output->temporary);
        errno = reason;
        if (reason != EEXIST)
            break;
    }
    return fail_errno("cannot be created");
}

/* Renames without replacing. Old kernels and some file systems (FUSE) know no such renaming; there
 * a second link does the same, and where links are unknown too only looking first is left. */
static bool rename_exclusive(GfOutput *output)
{
    int directory = output->directory;
    const char *from = output->temporary.name, *to = output->name;
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno == EEXIST)
        return false;
    if (linkat(directory, from, directory, to, 0) == 0)
        return unlinkat(directory, from, 0) == 0;
    if (errno == EEXIST)
        return false;
    struct stat about;
    if (fstatat(directory, to, &about, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return false;
    }
    return renameat(directory, from, directory, to) == 0;
}

static GfStatus take_name(GfOutput *output)
{
    bool done = false;
    bool unnamed = !output->temporary.name[0];
    if (unnamed)
        done = link_unnamed(output, output->name);
    else if (!output->replace)
        done = rename_exclusive(output);
    if (!done && output->replace) {
        if (unnamed && errno == EEXIST)
            GF_TRY(name_unnamed(output));
        if (output->temporary.name[0])
            done = renameat(output->directory, output->temporary.name, output->directory,
                            output->name) == 0;
    }
    if (done) {
        gf_temporary_forget(&output->temporary);
        return GF_OK;
    }
    return errno == EEXIST ? gf_fail(GF_EEXIST, "exists already")
                           : fail_errno("cannot take its name");
}

static GfStatus copy_to_target(GfOutput *output)
{
    unsigned char *block;
    GfStatus status = GF_OK;
    GF_TRY(gf_allocate(COPY_SIZE, 1, &block));
    for (uint64_t place = 0; status == GF_OK && place < output->size;) {
        ssize_t got = pread(output->fd, block, COPY_SIZE, (off_t)place);
        if (got <= 0)
            status = fail_errno("the temporary file cannot be read back");
        for (ssize_t sent = 0; status == GF_OK && sent < got;) {
            ssize_t n = write(output->target, block + sent, (size_t)(got - sent));
            if (n < 0 && !gf_again(output->target, POLLOUT))
                status = fail_errno("writing failed");
            sent += n < 0 ? 0 : n;
        }
        place += got > 0 ? (uint64_t)got : 0;
    }
    free(block);
    return status;
}

GfStatus gf_output_sync(GfOutput *output)
{
    GF_TRY(flush(output));
    if (output->directory < 0)
        return GF_OK;
    while (fdatasync(output->fd) != 0) {
        if (errno == EINVAL || errno == ENOSYS) /* a file system that knows no such thing */
            return GF_OK;
        if (errno != EINTR)
            return fail_errno("writing failed");
    }
    return GF_OK;
}

GfStatus gf_output_commit(GfOutput **output)
{
    GfOutput *done = *output;
    GfStatus status = flush(done);
    if (status == GF_OK && done->target >= 0)
        status = copy_to_target(done);
    if (status == GF_OK)
        status = settle(done->target >= 0 ? done->target : done->fd);
    if (status == GF_OK && done->target < 0)
        status = take_name(done);
    gf_output_discard(output);
    return status;
}

void gf_output_discard(GfOutput **output)
{
    GfOutput *dropped = *output;
    *output = NULL;
    if (!dropped)
        return;
    if (dropped->temporary.name[0])
        unlinkat(dropped->directory, dropped->temporary.name, 0);
    gf_temporary_forget(&dropped->temporary);
    if (dropped->fd >= 0)
        close(dropped->fd);
    if (dropped->target >= 0)
        close(dropped->target);
    if (dropped->directory >= 0)
        close(dropped->directory);
    free(dropped->name);
    free(dropped);
}
