/* A folder is known by device and inode, which see through links and mounts; the name in it is
 * text, since the file may not be there yet. A folder that is still to be made will be no link, so
 * that below the last one that exists the text says where a path leads, ".." and all. */
#include "app/place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/naming.h"

/* Where the last name within path[0, end) begins. */
static size_t name_begin(const char *path, size_t end)
{
    while (end > 0 && path[end - 1] != '/')
        end--;
    return end;
}

/* Looks at the folder path[0, begin); "" is the working directory. */
static bool stat_folder(char *path, size_t begin, struct stat *about)
{
    char first = path[begin];
    path[begin] = '\0';
    bool found = stat(begin ? path : ".", about) == 0 && S_ISDIR(about->st_mode);
    path[begin] = first;
    return found;
}

/* Where the last name before path[end] begins that is not "."; path[end - 1] is a slash. */
static size_t parent_begin(const char *path, size_t end)
{
    size_t begin = end;
    do {
        while (begin > 0 && path[begin - 1] == '/')
            begin--;
        begin = name_begin(path, begin);
    } while (begin > 0 && path[begin] == '.' && path[begin + 1] == '/');
    return begin;
}

GfStatus gf_place_settle(const char *path, char **settled)
{
    struct stat about;
    char *text = strdup(path);
    *settled = text;
    if (!text)
        return gf_fail(GF_EMEMORY, "out of memory");
    for (size_t begin = 0; text[begin];) {
        size_t length = strcspn(text + begin, "/"), next = begin + length;
        next += strspn(text + next, "/");
        bool up = length == 2 && strncmp(text + begin, "..", 2) == 0;
        if (up && begin > 0 && !stat_folder(text, begin, &about)) {
            begin = parent_begin(text, begin);
            memmove(text + begin, text + next, strlen(text + next) + 1);
        } else {
            begin = next;
        }
    }
    return GF_OK;
}

/* The place of a settled path. */
static GfStatus find(char *path, GfPlace *place)
{
    struct stat about = {0};
    char *name;
    size_t begin = name_begin(path, strlen(path));
    while (!stat_folder(path, begin, &about) && begin > 0)
        begin = name_begin(path, begin - 1);
    GF_TRY(gf_path_normal(path + begin, &name));
    *place = (GfPlace){about.st_dev, about.st_ino, name};
    return GF_OK;
}

GfStatus gf_place_find(const char *path, GfPlace *place)
{
    struct stat about;
    char *settled, *real = NULL;
    *place = (GfPlace){0};
    GF_TRY(gf_place_settle(path, &settled));
    /* Following a path to its end is slow, on network file systems most of all, and only a link
     * leads elsewhere than into its folder. */
    if (lstat(settled, &about) == 0 && S_ISLNK(about.st_mode))
        real = realpath(settled, NULL);
    GfStatus status = find(real ? real : settled, place);
    free(real);
    free(settled);
    return status;
}

/* Of a byte in the order of names: a slash stands before all but the end. */
static int rank(char byte)
{
    return byte == '/' ? 1 : byte ? (unsigned char)byte + 1 : 0;
}

int gf_place_order(const GfPlace *a, const GfPlace *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    const char *one = a->name, *other = b->name;
    for (; *one && *one == *other; one++)
        other++;
    return rank(*one) - rank(*other);
}

bool gf_place_is_below(const GfPlace *place, const GfPlace *folder)
{
    size_t length = strlen(folder->name);
    return place->device == folder->device && place->inode == folder->inode &&
           strncmp(place->name, folder->name, length) == 0 && place->name[length] == '/';
}

GfStatus gf_place_same(const char *a, const char *b, bool *same)
{
    struct stat one, other;
    GfPlace place_a = {0}, place_b = {0};
    GfStatus status = GF_OK;
    *same = false;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return GF_OK;
    if (stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
        one.st_ino == other.st_ino) {
        *same = true;
        return GF_OK;
    }
    GF_GO(gf_place_find(a, &place_a));
    GF_GO(gf_place_find(b, &place_b));
    *same = gf_place_order(&place_a, &place_b) == 0;
done:
    free(place_a.name);
    free(place_b.name);
    return status;
}
