/* Each folder is looked through once, however many outputs go there. */
#include "app/leftovers.h"

#include <stdlib.h>
#include <string.h>

#include "app/message.h"
#include "app/naming.h"
#include "common/memory.h"
#include "images/temporary.h"

/* The beginning of an output's path, with the slash; "" is the working directory. */
typedef struct Folder {
    const char *path; /* borrowed, goes on behind the folder */
    size_t length;
} Folder;

static int by_name(const void *a, const void *b)
{
    const Folder *one = a, *other = b;
    if (one->length != other->length)
        return one->length < other->length ? -1 : 1;
    return memcmp(one->path, other->path, one->length);
}

static size_t sweep(const Folder *folder)
{
    char *path = strndup(folder->path, folder->length);
    size_t removed = path ? gf_temporaries_sweep(*path ? path : ".") : 0;
    free(path);
    return removed;
}

static Folder folder_of(const char *path)
{
    return (Folder){path, (size_t)(gf_path_base(path) - path)};
}

void gf_leftovers_remove(const GfJobs *jobs, const char *list)
{
    Folder *folders;
    size_t count = 0, room = 0, removed = 0;
    for (size_t i = 0; i < jobs->count; i++)
        room += jobs->jobs[i].outputs;
    /* Leftovers do no harm, so that failing to look for them is no failure of the run. */
    if (gf_allocate(room + 1, sizeof *folders, &folders) != GF_OK)
        return;
    for (size_t i = 0; i < jobs->count; i++)
        for (size_t j = 0; j < jobs->jobs[i].outputs; j++) {
            Folder folder = folder_of(jobs->jobs[i].paths[j]);
            if (count == 0 || by_name(&folders[count - 1], &folder) != 0)
                folders[count++] = folder;
        }
    if (list)
        folders[count++] = folder_of(list);
    qsort(folders, count, sizeof *folders, by_name);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || by_name(&folders[i - 1], &folders[i]) != 0)
            removed += sweep(&folders[i]);
    free(folders);
    if (removed)
        gf_say_detail(NULL, "unfinished files of runs that were killed are removed: %zu", removed);
}
