#include "tests/gpu/array.h"

#include <stdlib.h>
#include <string.h>

enum { VECTOR = 16 }; /* samples that are aligned whatever their size */

Array make_array(const GfFormat *format, size_t count, Lay lay, size_t gap, size_t shift,
                 unsigned char poison)
{
    size_t size = gf_sample_size(format->sample), channels = format->channels;
    size_t row = (lay == LAY_INTERLEAVED ? gf_row_samples(format) : format->width) + gap;
    size_t plane = lay == LAY_INTERLEAVED ? 1 : lay == LAY_ROWS ? row : row * format->height + gap;
    size_t stride = lay == LAY_ROWS ? row * channels + gap : row;
    size_t apart = row % VECTOR == 0 ? gap * VECTOR : gap;
    size_t picture = (lay == LAY_NCHW ? plane * channels : stride * format->height) + apart;
    Array array = {.format = *format,
                   .count = count,
                   .stride = stride * size,
                   .batch = picture * size,
                   .pixel = lay == LAY_INTERLEAVED ? channels : 1,
                   .plane = plane,
                   .first = GUARD + shift * size,
                   .poison = poison};
    array.bytes = array.first + count * array.batch + GUARD;
    array.memory = malloc(array.bytes);
    if (!array.memory)
        exit(1);
    memset(array.memory, poison, array.bytes);
    return array;
}

/* The byte of sample i of row y of picture n, counted as in an interleaved picture. */
static size_t place(const Array *array, size_t n, size_t y, size_t i)
{
    size_t x = i / array->format.channels, c = i % array->format.channels;
    return array->first + n * array->batch + y * array->stride +
           (x * array->pixel + c * array->plane) * gf_sample_size(array->format.sample);
}

void fill_row(Array *array, size_t n, size_t y, const Block *picture, size_t from)
{
    size_t size = gf_sample_size(array->format.sample);
    for (size_t i = 0; i < gf_row_samples(&array->format); i++)
        memcpy(array->memory + place(array, n, y, i),
               picture->rows + from * picture->stride + i * size, size);
}

void read_array(const Array *array, size_t n, Block *picture)
{
    size_t size = gf_sample_size(array->format.sample);
    for (size_t y = 0; y < array->format.height; y++)
        for (size_t i = 0; i < gf_row_samples(&array->format); i++)
            memcpy(picture->rows + y * picture->stride + i * size,
                   array->memory + place(array, n, y, i), size);
}

bool array_guards_whole(const Array *array)
{
    size_t size = gf_sample_size(array->format.sample);
    bool whole = true;
    bool *sample = calloc(array->bytes, sizeof *sample);
    if (!sample)
        exit(1);
    for (size_t n = 0; n < array->count; n++)
        for (size_t y = 0; y < array->format.height; y++)
            for (size_t i = 0; i < gf_row_samples(&array->format); i++)
                memset(sample + place(array, n, y, i), 1, size);
    for (size_t i = 0; i < array->bytes; i++)
        whole = whole && (sample[i] || array->memory[i] == array->poison);
    free(sample);
    return whole;
}
