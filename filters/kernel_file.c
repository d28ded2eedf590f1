/* A kernel file is what people already have: a matrix pasted from a paper or written by libvips.
 * Lines are read first and understood afterwards, because whether the first one is a header shows
 * only when the rows below it are counted. */
#include "filters/kernel_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/text_file.h"

enum { MAX_FILE_BYTES = 16 << 20, SHOWN = 160 };

typedef struct Table {
    double *values; /* all numbers, row after row */
    size_t count, capacity;
    size_t *row_begin; /* index of each row's first number */
    size_t *row_line;  /* number of its line in the file */
    size_t rows, row_capacity;
} Table;

static GfStatus grow(void *array, size_t size, size_t count, size_t *capacity)
{
    void *old, *longer;
    if (count < *capacity)
        return GF_OK;
    size_t wanted = *capacity ? *capacity * 2 : 64, bytes;
    memcpy(&old, array, sizeof old);
    longer = gf_mul(wanted, size, &bytes) ? realloc(old, bytes) : NULL;
    if (!longer)
        return gf_fail(GF_EMEMORY, "out of memory");
    memcpy(array, &longer, sizeof longer);
    *capacity = wanted;
    return GF_OK;
}

static GfStatus begin_row(Table *table, size_t line)
{
    size_t capacity = table->row_capacity;
    GF_TRY(grow(&table->row_begin, sizeof *table->row_begin, table->rows, &capacity));
    capacity = table->row_capacity;
    GF_TRY(grow(&table->row_line, sizeof *table->row_line, table->rows, &capacity));
    table->row_capacity = capacity;
    table->row_begin[table->rows] = table->count;
    table->row_line[table->rows++] = line;
    return GF_OK;
}

static GfStatus read_line(Table *table, const char *text, size_t line)
{
    static const char blanks[] = " \t\r";
    for (bool first = true;; first = false) {
        text += strspn(text, blanks);
        /* One separator, so that a cell without a number is missed. */
        if (!first && (*text == ',' || *text == ';'))
            text += 1 + strspn(text + 1, blanks);
        if (!*text || *text == '#')
            return GF_OK;
        if (first)
            GF_TRY(begin_row(table, line));
        double value;
        if (!gf_read_number(&text, &value)) {
            char shown[SHOWN];
            return gf_fail(GF_EUSAGE, "line %zu: not a number: \"%s\"", line,
                           gf_escape(text, shown, sizeof shown));
        }
        GF_TRY(grow(&table->values, sizeof *table->values, table->count, &table->capacity));
        table->values[table->count++] = value;
    }
}

/* Files that hold kernels, too, and are given otherwise. */
static GfStatus check_kind(const char *text, size_t size)
{
    enum { LENGTH = 8 }; /* of the header of a .safetensors file, in front of it */
    if (size >= 6 && memcmp(text, "\x93NUMPY", 6) == 0)
        return gf_fail(GF_EUSAGE, "an .npy array, not a text file; it is written "
                                  "conv:weights=FILE.npy");
    if (size > LENGTH && text[LENGTH - 1] == '\0' && text[LENGTH] == '{')
        return gf_fail(GF_EUSAGE, "a .safetensors file, not a text file; it is written "
                                  "conv:weights=FILE.safetensors");
    if (text[strspn(text, " \t\r\n")] == '{')
        return gf_fail(GF_EUSAGE, "a filter file (JSON), not a kernel; it is written @FILE");
    return GF_OK;
}

static GfStatus read_table(char *text, size_t size, Table *table)
{
    const char *end = text + size;
    size_t number = 0;
    GF_TRY(check_kind(text, size));
    while (text < end) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = newline ? (size_t)(newline - text) : (size_t)(end - text);
        text[length] = '\0';
        number++;
        if (strlen(text) != length)
            return gf_fail(GF_EUSAGE, "line %zu: a NUL byte: this is no text file", number);
        GF_TRY(read_line(table, text, number));
        text += length + 1;
    }
    return GF_OK;
}

static size_t row_length(const Table *table, size_t row)
{
    size_t end = row + 1 < table->rows ? table->row_begin[row + 1] : table->count;
    return end - table->row_begin[row];
}

/* A first line "width height" or "width height scale offset" that describes the rows below it. */
static bool has_header(const Table *table)
{
    size_t length = row_length(table, 0);
    return (length == 2 || length == 4) && table->rows >= 2 &&
           table->values[0] == (double)row_length(table, 1) &&
           table->values[1] == (double)(table->rows - 1);
}

/* Refuses a first line that would be a header, were there as many rows as it says: it is no line of
 * a kernel, since the next has more or fewer numbers. */
static GfStatus check_header(const Table *table)
{
    size_t length = row_length(table, 0);
    if (has_header(table) || (length != 2 && length != 4) || table->rows < 2 ||
        row_length(table, 1) == length || row_length(table, 1) == 1 ||
        table->values[0] != (double)row_length(table, 1) || table->values[1] < 1.0 ||
        table->values[1] != floor(table->values[1]))
        return GF_OK;
    return gf_fail(GF_EUSAGE, "the first line says %g row%s of %g numbers, and %zu follow",
                   table->values[1], table->values[1] == 1.0 ? "" : "s", table->values[0],
                   table->rows - 1);
}

/* Of a row that is longer or shorter than the first. Where it is the second, the first may have
 * been meant as a header. */
static GfStatus uneven(const Table *table, size_t row, size_t width)
{
    size_t length = row_length(table, row);
    bool header = row == 1 && width >= 2 && width <= 4;
    return gf_fail(GF_EUSAGE, "line %zu has %zu number%s, the rows above it have %zu%s",
                   table->row_line[row], length, length == 1 ? "" : "s", width,
                   header ? "; a header is width and height, or width, height, scale and offset"
                          : "");
}

static GfStatus make_kernel(const Table *table, GfFilter *filter)
{
    if (table->rows == 0)
        return gf_fail(GF_EUSAGE, "no numbers in the file");
    size_t first = has_header(table) ? 1 : 0;
    size_t width = row_length(table, first);
    GF_TRY(check_header(table));
    for (size_t row = first; row < table->rows; row++)
        if (row_length(table, row) != width)
            return uneven(table, row, width);
    GfLinear *linear;
    GF_TRY(gf_filter_add_kernel(filter, 1, width, table->rows - first, &linear));
    memcpy(linear->weights, table->values + table->row_begin[first],
           width * (table->rows - first) * sizeof *table->values);
    if (!first || row_length(table, 0) == 2)
        return GF_OK;
    if (table->values[2] == 0.0)
        return gf_fail(GF_EUSAGE, "line %zu: the scale is 0", table->row_line[0]);
    linear->scale = 1.0 / table->values[2];
    linear->offset = table->values[3];
    return GF_OK;
}

/* For messages about the kernel once the file is read. */
static GfStatus label(GfStage *stage, const char *path)
{
    char shown[SHOWN];
    if (asprintf(&stage->label, "kernel file: %s", gf_escape(path, shown, sizeof shown)) >= 0)
        return GF_OK;
    stage->label = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

GfStatus gf_kernel_file_read(const char *path, GfFilter *filter)
{
    char shown[SHOWN], *text;
    size_t size = 0;
    Table table = {0};
    GfStatus status = gf_text_file_read(path, MAX_FILE_BYTES, &text, &size);
    if (status == GF_OK)
        status = read_table(text, size, &table);
    if (status == GF_OK)
        status = make_kernel(&table, filter);
    free(text);
    free(table.values);
    free(table.row_begin);
    free(table.row_line);
    if (status == GF_OK)
        return label(&filter->stages[filter->count - 1], path);
    gf_fail_at(status, gf_escape(path, shown, sizeof shown));
    return gf_fail_at(status, "kernel file");
}
