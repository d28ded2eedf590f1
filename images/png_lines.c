#include "images/png_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "images/png_unfilter.h"

enum { ROOM = 64 << 10, LINE_MAX = 1 << 20 };

/* In front of what is being made is the last line that was made before. */
struct GfPngLines {
    GfInflater *inflater;
    size_t line, pixel, lines; /* lines that are still to come */
    size_t room;               /* for a line at least */
    unsigned char *memory, *made;
    size_t filled, ready, taken; /* bytes of `made` */
};

GfStatus gf_png_lines_create(size_t line, size_t pixel, size_t lines, GfPngLines **out)
{
    GfPngLines *created;
    GfStatus status = GF_OK;
    const bool looks = lines > 0 && line <= LINE_MAX && gf_png_unfilters();
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *created, &created));
    created->line = looks ? line : 0;
    created->pixel = pixel;
    created->lines = looks ? lines : 0;
    created->room = gf_max(ROOM, created->line);
    GF_GO(gf_allocate(created->line + created->room + GF_PNG_UNFILTER_SLACK, 1, &created->memory));
    memset(created->memory, 0, created->line);
    created->made = created->memory + created->line;
    GF_GO(gf_inflater_create(&created->inflater));
    *out = created;
    return GF_OK;
done:
    gf_png_lines_free(created);
    return status;
}

void gf_png_lines_free(GfPngLines *lines)
{
    if (!lines)
        return;
    gf_inflater_free(lines->inflater);
    free(lines->memory);
    free(lines);
}

/* Goes on behind what was taken, with the last whole line in front. */
static void begin(GfPngLines *lines)
{
    const size_t shown = lines->taken;
    memmove(lines->memory, lines->memory + shown, lines->line + lines->filled - shown);
    lines->filled -= shown;
    lines->ready = lines->taken = 0;
}

static void undo_filters(GfPngLines *lines)
{
    const size_t whole = gf_min((lines->filled - lines->ready) / lines->line, lines->lines);
    gf_png_unfilter(lines->made + lines->ready, whole, lines->line - 1, lines->pixel);
    lines->ready += whole * lines->line;
    lines->lines -= whole;
}

GfInflated gf_png_lines_inflate(GfPngLines *lines, const unsigned char **in, size_t *size,
                                bool *progress, const char **reason)
{
    const size_t given = *size;
    size_t made;
    begin(lines);
    const GfInflated inflated = gf_inflate(lines->inflater, in, size, lines->made + lines->filled,
                                           lines->room - lines->filled, &made, reason);
    lines->filled += made;
    *progress = made > 0 || *size < given;
    if (lines->lines > 0)
        undo_filters(lines);
    if (lines->lines == 0)
        lines->ready = lines->filled;
    return inflated;
}

const unsigned char *gf_png_lines_take(GfPngLines *lines, size_t most, size_t *size)
{
    const unsigned char *bytes = lines->made + lines->taken;
    *size = gf_min(lines->ready - lines->taken, most);
    lines->taken += *size;
    return bytes;
}
