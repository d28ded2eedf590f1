/* Pictures in host memory, with a guard before, after and between their rows, and how two of them
 * compare. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "images/image.h"

enum { POISON = 0xA5, GUARD = 64 };

/* Random numbers, the same in every run after the same name. */
void seed(const char *name);
uint32_t next(void);
size_t below(size_t limit); /* 0 to limit - 1 */
double uniform(double low, double high);

/* Rows of `stride` bytes, with a guard before and after them. */
typedef struct Block {
    unsigned char *memory, *rows;
    size_t stride, bytes;
} Block;

/* Poisoned rows; the caller frees block.memory. */
Block make_block(size_t rows, size_t stride);

/* The same for a picture, with some samples too many in each row. */
Block make_picture(const GfFormat *format);

/* A picture of noise: floats from 0 to 1.25, opacities often 0 or full, as in pictures. While rows
 * are uneven, each of floats is multiplied by a power of two, and a part of it by 16, or by 2^12
 * where they glare. */
Block random_picture(const GfFormat *format);

typedef enum Rows { EVEN_ROWS, UNEVEN_ROWS, GLARING_ROWS } Rows;
void make_rows(Rows rows);

void free_blocks(Block *blocks, size_t count);

/* Has nothing been written beside the samples? */
bool guards_whole(const Block *block, const GfFormat *format);

/* The exactness rule of filters/backend.h, `exact` being of f64; `detail` (160 bytes) says what
 * broke it. */
bool exact_enough(const GfFormat *format, const Block *out, const Block *exact, char *detail);

bool same_bits(const GfFormat *format, const Block *a, const Block *b);

/* With opacity where there are 2 or 4 channels. */
GfFormat format_of(size_t width, size_t height, size_t channels, GfSample sample);
