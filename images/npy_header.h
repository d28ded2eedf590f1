/* The header of NumPy's .npy format, versions 1.0 to 3.0 (numpy.lib.format). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum {
    GF_NPY_PREAMBLE = 12,        /* magic, version, length: at most this many bytes */
    GF_NPY_TEXT_MAX = 64 * 1024, /* longest text accepted */
    GF_NPY_RANK_MAX = 8,         /* most dimensions accepted */
    GF_NPY_DESCR_SIZE = 16
};

typedef struct GfNpyHeader {
    char descr[GF_NPY_DESCR_SIZE]; /* dtype, e.g. "<f4"; printable ASCII */
    bool fortran_order;            /* the first index runs fastest */
    size_t rank;
    size_t shape[GF_NPY_RANK_MAX]; /* none is zero, and their product fits a size_t */
    size_t count;                  /* their product; 1 for rank 0 */
} GfNpyHeader;

/* From the first GF_NPY_PREAMBLE bytes (size: fewer at the end of a file): where the header's text
 * begins and how long it is. GF_EINPUT for another magic, an unknown version, or a length over
 * GF_NPY_TEXT_MAX. */
GfStatus gf_npy_preamble(const unsigned char *bytes, size_t size, size_t *text_offset,
                         size_t *text_size);

/* Parses the text: a Python dict of exactly descr, fortran_order and shape. Nothing is evaluated.
 * GF_EINPUT with the reason; a structured or object dtype is refused here. */
GfStatus gf_npy_parse(const char *text, size_t size, GfNpyHeader *header);
