/* A walk over directories that gives the same list on every machine: names sorted by bytes, folders
 * and files in one order. A folder that cannot be read becomes an entry that fails when its turn
 * comes, so that it is counted and reported like any bad file. */
#include "app/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/list.h"
#include "app/message.h"
#include "app/naming.h"
#include "common/text.h"

enum { SHOWN = 1024, REASON = 512 };

typedef struct Walk {
    const GfOptions *options;
    GfInputFiles *inputs;
    bool recursive, has_skipped;
    struct stat skipped;
} Walk;

static GfStatus out_of_memory(void)
{
    return gf_fail(GF_EMEMORY, "out of memory");
}

/* Appends an entry with copies of the texts. `about` is NULL when nothing is known. */
static GfStatus add_file(GfInputFiles *inputs, const char *path, const char *folder,
                         const struct stat *about, GfInputFile **added)
{
    if (inputs->count == inputs->capacity) {
        size_t capacity = inputs->capacity ? 2 * inputs->capacity : 16;
        GfInputFile *longer = reallocarray(inputs->files, capacity, sizeof *longer);
        if (!longer)
            return out_of_memory();
        inputs->files = longer;
        inputs->capacity = capacity;
    }
    GfInputFile *file = &inputs->files[inputs->count];
    *file = (GfInputFile){.path = strdup(path), .folder = strdup(folder)};
    if (!file->path || !file->folder) {
        free(file->path);
        free(file->folder);
        return out_of_memory();
    }
    if (about && (S_ISREG(about->st_mode) || S_ISFIFO(about->st_mode))) {
        file->found = true;
        file->regular = S_ISREG(about->st_mode);
        file->size = file->regular ? (uint64_t)about->st_size : 0;
        file->device = about->st_dev;
        file->inode = about->st_ino;
    }
    inputs->count++;
    *added = file;
    return GF_OK;
}

static int no_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/* Appends an entry that fails for that reason. */
static GfStatus add_trouble(GfInputFiles *inputs, const char *path, const char *folder,
                            const char *reason)
{
    GfInputFile *added;
    char *trouble = strdup(reason);
    GfStatus status = trouble ? GF_OK : out_of_memory();
    if (status == GF_OK)
        status = add_file(inputs, path, folder, NULL, &added);
    if (status == GF_OK)
        added->trouble = trouble;
    else
        free(trouble);
    return status;
}

static GfStatus walk(Walk *state, const char *path, const char *folder);

/* An entry that cannot be looked at, as in a folder that may be listed but not entered: it fails
 * where it may be a picture or a folder to go down into, but for one that was removed meanwhile. */
static GfStatus miss(Walk *state, const char *path, const char *below, const struct dirent *entry)
{
    char reason[REASON];
    int error = errno;
    bool folder = entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN;
    bool picture = entry->d_type != DT_DIR && gf_codec_for_path(entry->d_name);
    if (error == ENOENT || !(picture || (folder && state->recursive)))
        return GF_OK;
    snprintf(reason, sizeof reason, "cannot be read: %s", strerror(error));
    return add_trouble(state->inputs, path, below, reason);
}

/* One entry of a directory: a folder, a picture, or something else. */
static GfStatus visit(Walk *state, const char *path, const char *folder, const struct dirent *entry)
{
    char *inside = NULL, *below = NULL;
    const char *name = entry->d_name;
    struct stat about;
    GfInputFile *added;
    GfStatus status = GF_OK;
    const char *slash = path[strlen(path) - 1] == '/' ? "" : "/";
    if (asprintf(&inside, "%s%s%s", path, slash, name) < 0) {
        inside = NULL;
        GF_GO(out_of_memory());
    }
    if (asprintf(&below, "%s%s%s", folder, *folder ? "/" : "", name) < 0) {
        below = NULL;
        GF_GO(out_of_memory());
    }
    if (lstat(inside, &about) != 0) {
        status = miss(state, inside, below, entry);
    } else if (S_ISDIR(about.st_mode)) {
        bool skipped = state->has_skipped && about.st_dev == state->skipped.st_dev &&
                       about.st_ino == state->skipped.st_ino;
        if (state->recursive && skipped)
            gf_say_note(inside, "left out, since the outputs go there");
        else if (state->recursive)
            status = walk(state, inside, below);
    } else if (gf_codec_for_path(name)) {
        /* A link that leads nowhere is a picture that cannot be read. */
        bool lost = S_ISLNK(about.st_mode) && stat(inside, &about) != 0;
        if (lost || S_ISREG(about.st_mode))
            status = add_file(state->inputs, inside, folder, lost ? NULL : &about, &added);
    }
done:
    free(inside);
    free(below);
    return status;
}

static GfStatus walk(Walk *state, const char *path, const char *folder)
{
    struct dirent **entries;
    GfStatus status = GF_OK;
    int count = scandir(path, &entries, no_hidden, by_bytes);
    if (count < 0) {
        char reason[REASON];
        snprintf(reason, sizeof reason, "this folder cannot be read: %s", strerror(errno));
        return add_trouble(state->inputs, path, folder, reason);
    }
    for (int i = 0; i < count; i++) {
        if (status == GF_OK)
            status = visit(state, path, folder, entries[i]);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* A directory without pictures. In a call that is a mistake; of a list, which may be of what failed
 * before, it is one entry among others. */
static GfStatus no_pictures(Walk *state, const char *path, const char *folder, bool listed)
{
    char known[256] = "", reason[REASON], shown[SHOWN];
    size_t used = 0;
    for (const GfCodec *const *codec = gf_codecs; *codec && used < sizeof known; codec++)
        used += (size_t)snprintf(known + used, sizeof known - used, " %s", (*codec)->extensions);
    snprintf(reason, sizeof reason, "no pictures in it (names that end in%s)%s", known,
             state->recursive ? "" : "; -r goes down into its folders");
    if (listed)
        return add_trouble(state->inputs, path, folder, reason);
    return gf_fail(GF_EUSAGE, "%s: %s", gf_escape(path, shown, sizeof shown), reason);
}

/* `folder`: where in the tree of the outputs it stands. */
static GfStatus add_operand(Walk *state, const char *path, const char *folder, bool listed)
{
    const char *list = state->options->files_from;
    GfInputFiles *inputs = state->inputs;
    struct stat about;
    GfInputFile *added;
    bool is_stdin = strcmp(path, "-") == 0;
    bool exists = !is_stdin && stat(path, &about) == 0;
    if (exists && S_ISDIR(about.st_mode)) {
        size_t before = inputs->count;
        inputs->any_directory = true;
        GF_TRY(walk(state, path, folder));
        return inputs->count > before ? GF_OK : no_pictures(state, path, folder, listed);
    }
    bool taken = is_stdin && list && strcmp(list, "-") == 0;
    for (size_t i = 0; is_stdin && i < inputs->count; i++)
        taken |= strcmp(inputs->files[i].path, "-") == 0;
    if (taken)
        return gf_fail(GF_EUSAGE, "standard input (-) can be read only once");
    if (is_stdin || (exists && !S_ISREG(about.st_mode)))
        inputs->any_pipe = true;
    return add_file(inputs, path, folder, exists ? &about : NULL, &added);
}

/* An entry of --files-from. "in/./a/b.png" is the file in/a/b.png of the tree below in/. */
static GfStatus add_listed(void *context, const char *entry)
{
    Walk *state = context;
    char shown[SHOWN], *path = NULL, *folder = NULL, *below = NULL;
    struct stat about;
    GfStatus status = GF_OK;
    const char *mark = strstr(entry, "/./"), *inside = mark ? mark + 3 : "";
    if (gf_path_climbs(inside))
        return gf_fail(GF_EUSAGE, "--files-from: %s leaves the folder before /./",
                       gf_escape(entry, shown, sizeof shown));
    /* gf_input_relative() takes the folder's length off the path: both have one spelling. */
    GF_GO(gf_path_normal(inside + strspn(inside, "/"), &below));
    if (asprintf(&path, "%.*s%s", mark ? (int)(mark + 1 - entry) : (int)strlen(entry), entry,
                 below) < 0) {
        path = NULL;
        GF_GO(out_of_memory());
    }
    bool found = stat(path, &about) == 0;
    if (!found && errno != ENOENT && errno != ENOTDIR) { /* it may be a folder */
        char reason[REASON];
        snprintf(reason, sizeof reason, "cannot be read: %s", strerror(errno));
        GF_GO(add_trouble(state->inputs, path, below, reason));
        goto done;
    }
    bool is_folder = found && S_ISDIR(about.st_mode);
    size_t length = is_folder ? strlen(below) : (size_t)(gf_path_base(below) - below);
    while (length > 0 && below[length - 1] == '/')
        length--;
    folder = strndup(below, length);
    GF_GO(folder ? GF_OK : out_of_memory());
    GF_GO(add_operand(state, path, folder, true));
done:
    free(path);
    free(folder);
    free(below);
    return status;
}

GfStatus gf_inputs_find(const GfOptions *options, const char *skipped, GfInputFiles *inputs)
{
    Walk state = {.options = options, .inputs = inputs, .recursive = options->recursive};
    *inputs = (GfInputFiles){0};
    state.has_skipped =
        skipped && stat(skipped, &state.skipped) == 0 && S_ISDIR(state.skipped.st_mode);
    for (size_t i = 0; i < options->operand_count; i++)
        GF_TRY(add_operand(&state, options->operands[i], "", false));
    inputs->any_list = options->files_from != NULL;
    return options->files_from ? gf_list_read(options->files_from, add_listed, &state) : GF_OK;
}

const char *gf_input_relative(const GfInputFile *input)
{
    size_t folder = strlen(input->folder), all = strlen(input->path);
    size_t name = input->trouble ? 0 : strlen(gf_path_base(input->path));
    size_t tail = folder + name + (folder && name ? 1 : 0);
    return input->path + (tail && tail <= all ? all - tail : 0);
}

void gf_inputs_free(GfInputFiles *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        free(inputs->files[i].path);
        free(inputs->files[i].folder);
        free(inputs->files[i].trouble);
    }
    free(inputs->files);
    *inputs = (GfInputFiles){0};
}
