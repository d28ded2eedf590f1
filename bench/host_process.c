#include "bench/host_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

extern char **environ;

enum { NOT_FOUND = 127 }; /* of shells and of xargs */

GfStatus host_write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        return gf_fail(GF_EWRITE, "%s: %s", path, strerror(errno));
    return GF_OK;
}

void host_remove_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)) != NULL)
        (void)unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    (void)rmdir(folder);
}

void host_find_gpufilter(const char *given, char *path, size_t size)
{
    static const char *const beside[] = {"gpufilter", "../gpufilter"};
    char self[PATH_MAX] = "";
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(path, size, "%s", given ? given : "gpufilter");
    if (given || length <= 0)
        return;
    const char *folder = dirname(self);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, size, "%.3800s/%s", folder, beside[i]);
        if (access(path, X_OK) == 0)
            return;
    }
    snprintf(path, size, "gpufilter");
}

/* Starts it with its output thrown away, waits, and returns its exit status; -1 when it has
 * none. */
static int run_process(const char *const *arguments)
{
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0);
    int error = posix_spawnp(&child, arguments[0], &actions, NULL,
                             (char *const *)(uintptr_t)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void fill_arguments(const HostCommand *command, const HostPaths *paths,
                           const char **arguments)
{
    const struct {
        const char *name, *path;
    } names[] = {{"@in", paths->in},         {"@out", paths->out},
                 {"@mask", paths->mask},     {"@row", paths->row},
                 {"@opencv", paths->opencv}, {"@gpufilter", paths->gpufilter}};
    size_t count = 0;
    for (; command->arguments[count]; count++) {
        arguments[count] = command->arguments[count];
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (strcmp(arguments[count], names[i].name) == 0)
                arguments[count] = names[i].path;
    }
    arguments[count] = NULL;
}

static bool on_path(const char *program)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(program, '/'))
        return access(program, X_OK) == 0;
    while (at && *at) {
        size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", (int)length, at, program);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static void clear(const char *path)
{
    struct stat kind;
    if (stat(path, &kind) == 0 && S_ISDIR(kind.st_mode))
        host_remove_folder(path);
    else
        (void)unlink(path);
}

/* Of a file, or of the files of a folder. False where there is none. */
static bool count_bytes(const char *path, size_t *bytes)
{
    struct stat file;
    if (stat(path, &file) != 0)
        return false;
    *bytes = (size_t)file.st_size;
    if (!S_ISDIR(file.st_mode))
        return true;
    DIR *entries = opendir(path);
    const struct dirent *entry;
    *bytes = 0;
    while (entries && (entry = readdir(entries)) != NULL)
        if (fstatat(dirfd(entries), entry->d_name, &file, 0) == 0 && S_ISREG(file.st_mode))
            *bytes += (size_t)file.st_size;
    if (entries)
        closedir(entries);
    return *bytes > 0;
}

void host_measure(const HostCommand *command, const char *what, const HostPaths *paths, size_t runs,
                  HostResults *results)
{
    const char *arguments[HOST_ARGUMENTS];
    double seconds[HOST_RUNS];
    size_t written = 0;
    fill_arguments(command, paths, arguments);
    if (!on_path(arguments[0])) {
        host_note(results, "%s: %s was not found", command->who, arguments[0]);
        return;
    }
    for (size_t i = 0; i < runs + 1; i++) { /* the first only fills caches */
        double begin = gf_now();
        clear(paths->out);
        const int status = run_process(arguments);
        if (status != 0 || !count_bytes(paths->out, &written)) {
            host_note(results, "%s: %s", command->who,
                      status == NOT_FOUND ? "a program was not found" : "failed");
            return;
        }
        seconds[i ? i - 1 : 0] = gf_now() - begin;
    }
    host_add(results, what, command->who, seconds, runs, written);
}
