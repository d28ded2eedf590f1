/* Templates are filled in one pass; what is filled in is not looked at again, so that a file called
 * "{filter}.png" is no template. */
#include "app/naming.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "images/codec.h"

enum { WORD_LENGTH = 31, SHOWN = 200 };

const char gf_name_default[] = "{stem}.{filter}{ext}";

static const char *const words[] = {"dir", "stem", "filter", "ext", "index", NULL};
enum { WORD_DIR, WORD_STEM, WORD_FILTER, WORD_EXT, WORD_INDEX, WORD_UNKNOWN };

/* The word of the braces that `text` begins with, and their length. An unknown or unclosed word has
 * the number WORD_UNKNOWN. */
static int read_word(const char *text, size_t *length)
{
    size_t n = strcspn(text, "}");
    *length = n + (text[n] == '}');
    for (int i = 0; text[n] && words[i]; i++)
        if (strlen(words[i]) == n - 1 && strncmp(text + 1, words[i], n - 1) == 0)
            return i;
    return WORD_UNKNOWN;
}

GfStatus gf_name_check(const char *option, const char *template)
{
    for (const char *s = template; (s = strchr(s, '{')) != NULL;) {
        size_t length;
        char word[WORD_LENGTH + 1], shown[SHOWN];
        if (read_word(s, &length) != WORD_UNKNOWN) {
            s += length;
            continue;
        }
        if (s[length - 1] != '}')
            return gf_fail(GF_EUSAGE, "--%s: a { without its }", option);
        size_t n = gf_min(length - 2, WORD_LENGTH);
        memcpy(word, s + 1, n);
        word[n] = '\0';
        const char *nearest = gf_nearest(word, words);
        gf_escape(word, shown, sizeof shown);
        if (nearest)
            return gf_fail(GF_EUSAGE, "--%s: unknown {%s}; did you mean {%s}?", option, shown,
                           nearest);
        return gf_fail(GF_EUSAGE,
                       "--%s: unknown {%s}; there are {stem} {filter} {ext} {dir} {index}", option,
                       shown);
    }
    return GF_OK;
}

bool gf_name_has_folder(const char *template)
{
    return strstr(template, "{dir}") != NULL;
}

GfStatus gf_name_make(const char *template, const GfNameParts *parts, char **name)
{
    size_t size;
    FILE *stream = open_memstream(name, &size);
    if (!stream)
        return gf_fail(GF_EMEMORY, "out of memory");
    for (const char *s = template; *s;) {
        size_t length = 1;
        int word = *s == '{' ? read_word(s, &length) : WORD_UNKNOWN;
        const char *text[] = {parts->folder, parts->stem, parts->filter, parts->extension};
        if (word == WORD_INDEX)
            fprintf(stream, "%0*zu", parts->index_digits, parts->index);
        else if (word == WORD_UNKNOWN)
            fwrite(s, 1, length, stream);
        else
            fputs(text[word], stream);
        /* Without a folder its slash would make the name one at the root. */
        bool nothing = s == template && word == WORD_DIR && !*parts->folder;
        s += length;
        s += nothing ? strspn(s, "/") : 0;
    }
    if (fclose(stream) == 0)
        return GF_OK;
    free(*name);
    *name = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

GfStatus gf_name_map(const char *path, size_t map, size_t maps, char **name)
{
    const char *extension = gf_path_extension(path);
    size_t length = strlen(path) - strlen(extension);
    int digits = 0, made;
    for (size_t n = maps; n > 0; n /= 10)
        digits++;
    if (maps == 1)
        made = asprintf(name, "%s", path);
    else
        made = asprintf(name, "%.*s.%0*zu%s", (int)length, path, digits, map, extension);
    if (made >= 0)
        return GF_OK;
    *name = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

GfStatus gf_path_join(const char *directory, const char *name, char **path)
{
    size_t n = strlen(directory);
    const char *slash = n == 0 || directory[n - 1] == '/' ? "" : "/";
    while (n > 0 && *name == '/')
        name++;
    if (asprintf(path, "%s%s%s", directory, slash, name) >= 0)
        return GF_OK;
    *path = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

GfStatus gf_path_normal(const char *path, char **normal)
{
    char *out = malloc(strlen(path) + 2);
    *normal = out;
    if (!out)
        return gf_fail(GF_EMEMORY, "out of memory");
    size_t root = *path == '/', used = root, floor = root; /* before floor stand only ".." */
    memcpy(out, "/", root);
    while (*path) {
        size_t n = strcspn(path, "/");
        bool up = n == 2 && memcmp(path, "..", 2) == 0;
        if (up && used > floor) {
            while (used > floor && out[used - 1] != '/')
                used--;
            used -= used > floor;
        } else if (n > 0 && !(n == 1 && *path == '.') && !(up && root)) {
            if (used > root)
                out[used++] = '/';
            memcpy(out + used, path, n);
            used += n;
            if (up)
                floor = used;
        }
        path += n + (path[n] == '/');
    }
    out[used] = '\0';
    return GF_OK;
}

bool gf_path_climbs(const char *path)
{
    for (const char *part = path; *part; part += strspn(part, "/")) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0)
            return true;
        part += length;
    }
    return false;
}

const char *gf_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *gf_path_any_extension(const char *path)
{
    const char *base = gf_path_base(path), *dot = strrchr(base, '.');
    return dot && dot != base ? dot : "";
}

const char *gf_path_extension(const char *path)
{
    return gf_codec_for_path(gf_path_base(path)) ? gf_path_any_extension(path) : "";
}
