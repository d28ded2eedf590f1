/* The files behind the arguments of a call. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "app/options.h"

typedef struct GfInputFile {
    char *path;    /* as it is opened; "-" is standard input; owned */
    char *folder;  /* folders between the directory that was given and the file: "", "a/b"; owned */
    char *trouble; /* why nothing can be read here (a folder that cannot be opened), or NULL; owned.
                    * Then `folder` is all of the path below the directory that was given */
    bool regular;  /* a regular file: its size is known, it can be opened twice */
    bool found;    /* a regular file or a named pipe: device and inode are known */
    uint64_t size; /* bytes */
    dev_t device;
    ino_t inode;
} GfInputFile;

typedef struct GfInputFiles {
    GfInputFile *files; /* owned */
    size_t count, capacity;
    bool any_directory; /* some argument was a directory */
    bool any_list;      /* --files-from was given */
    bool any_pipe;      /* some argument is standard input or no regular file */
} GfInputFiles;

/* Expands the operands, then what --files-from lists, in the order given: a file is itself, a
 * directory its pictures (known extensions, no hidden files) in byte order of their names, with
 * --recursive those below it too. Links to directories inside a directory are not followed, so
 * there are no loops, and the folder `skipped` (where the outputs go; NULL: none) is not entered.
 * Files that do not exist are kept: opening them reports it. What cannot be looked at is kept with
 * its trouble, and so is a directory without any picture where a list names it. GF_EUSAGE: one that
 * the call names, standard input twice, a list that cannot be read. Free `inputs` in every case. */
GfStatus gf_inputs_find(const GfOptions *options, const char *skipped, GfInputFiles *inputs);

/* The path below the directory that was given, as a pointer into the input's path; of a file that
 * was named itself the last part. */
const char *gf_input_relative(const GfInputFile *input);

void gf_inputs_free(GfInputFiles *inputs);
