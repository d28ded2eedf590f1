/* Names of outputs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

/* What the words of a template stand for. */
typedef struct GfNameParts {
    const char *folder;    /* {dir}: folders below the directory that was given, or "" */
    const char *stem;      /* {stem}: the input's name without folders and known extension */
    const char *filter;    /* {filter} */
    const char *extension; /* {ext}: with its dot, or "" */
    size_t index;          /* {index}: the output's number in the run, from 1 */
    int index_digits;      /* leading zeros up to this length, so that names sort */
} GfNameParts;

/* "{stem}.{filter}{ext}" */
extern const char gf_name_default[];

/* GF_EUSAGE when the template, the value of that option, has an unknown word or an open brace. */
GfStatus gf_name_check(const char *option, const char *template);

/* Whether the template says itself where folders go. */
bool gf_name_has_folder(const char *template);

/* Fills a template that gf_name_check() accepts. The caller frees *name. */
GfStatus gf_name_make(const char *template, const GfNameParts *parts, char **name);

/* The path of map `map`, from 1 on, of `maps`: its number, with leading zeros as the others need,
 * before the known extension: in.conv.03.png. With one map the path itself. The caller frees
 * *name. */
GfStatus gf_name_map(const char *path, size_t map, size_t maps, char **name);

/* directory/name, with neither doubled nor missing slashes; "" is no directory. The caller frees
 * *path. */
GfStatus gf_path_join(const char *directory, const char *name, char **path);

/* The path without "." and empty parts and with "a/.." taken away: two spellings of one output
 * become equal. Links are not looked at. The caller frees *normal. */
GfStatus gf_path_normal(const char *path, char **normal);

/* Whether one of its parts is "..". */
bool gf_path_climbs(const char *path);

/* The last part of a path, as a pointer into it. */
const char *gf_path_base(const char *path);

/* The extension of the path, known or not, with its dot, as a pointer into it; "" when there is
 * none. */
const char *gf_path_any_extension(const char *path);

/* The known picture extension at the end of the path, with its dot, as a pointer into it; "" when
 * there is none. A name that only consists of it (".png") has none. */
const char *gf_path_extension(const char *path);
