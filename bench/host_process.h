/* Programs as their users start them, and the kernel that all of them are given. */
#pragma once

#include <limits.h>
#include <stddef.h>

#include "bench/host.h"

/* The binomial of 5 x 5, times 256. */
#define HOST_ROW_1  "1 4 6 4 1 "
#define HOST_ROW_4  "4 16 24 16 4 "
#define HOST_ROW_6  "6 24 36 24 6 "
#define HOST_SPACED HOST_ROW_1 HOST_ROW_4 HOST_ROW_6 HOST_ROW_4 HOST_ROW_1

/* The same as a file for libvips. */
#define HOST_MASK                                                                                  \
    "5 5 256 0\n" HOST_ROW_1 "\n" HOST_ROW_4 "\n" HOST_ROW_6 "\n" HOST_ROW_4 "\n" HOST_ROW_1 "\n"

enum { HOST_ARGUMENTS = 16 };

/* A command line; @in, @out, @mask, @row, @opencv and @gpufilter stand for paths. */
typedef struct HostCommand {
    const char *who;
    const char *arguments[HOST_ARGUMENTS];
} HostCommand;

typedef struct HostPaths {
    char in[PATH_MAX], out[PATH_MAX], mask[PATH_MAX], row[PATH_MAX], opencv[PATH_MAX];
    char gpufilter[PATH_MAX];
} HostPaths;

/* The program that was named, or lies beside this one or a folder higher, or on the PATH. */
void host_find_gpufilter(const char *given, char *path, size_t size);

/* GF_EWRITE. */
GfStatus host_write_text(const char *path, const char *text);

/* Removes the files of a folder; the folder too. None is no error. */
void host_remove_folder(const char *folder);

/* Runs a command `runs` times, at most HOST_RUNS, after once to fill caches, and adds its times and
 * how many bytes paths->out then has, a file or the files of a folder. What was written is removed
 * before each run. */
void host_measure(const HostCommand *command, const char *what, const HostPaths *paths, size_t runs,
                  HostResults *results);
