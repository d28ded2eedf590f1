/* A folder is known by device and inode, which see through links and mounts; the name in it is
 * text, since the file may not be there yet. Folders that are still to be made have no links in
 * them, so that below the last one that exists the normal form of the path says where it leads. */
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
    bool found = stat(begin ? path : ".", about) == 0;
    path[begin] = first;
    return found;
}

GfStatus gf_place_find(const char *path, GfPlace *place)
{
    struct stat about = {0};
    /* Following a path to its end is slow, on network file systems most of all, and only a link
     * leads elsewhere than into its folder. */
    bool link = lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
    char *real = link ? realpath(path, NULL) : NULL, *normal = NULL;
    GfStatus status = GF_OK;
    *place = (GfPlace){0};
    char *text = real ? real : strdup(path);
    GF_GO(text ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    size_t begin = name_begin(text, strlen(text));
    const char *name = text + begin;
    if (!stat_folder(text, begin, &about)) {
        GF_GO(gf_path_normal(path, &normal));
        begin = name_begin(normal, strlen(normal));
        while (!stat_folder(normal, begin, &about) && begin > 0)
            begin = name_begin(normal, begin - 1);
        name = normal + begin;
    }
    *place = (GfPlace){about.st_dev, about.st_ino, strdup(name)};
    GF_GO(place->name ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
done:
    free(text);
    free(normal);
    return status;
}

int gf_place_order(const GfPlace *a, const GfPlace *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    return strcmp(a->name, b->name);
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
