/* Inside images/: the rows of the codec table, and what the codecs share when they read. */
#pragma once

#include "images/codec.h"

extern const GfCodec gf_png, gf_jpeg, gf_npy;

/* The writing half of each codec; contracts as in GfCodec. */
GfStatus gf_png_create(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options);
GfStatus gf_png_write(GfWriter *writer, size_t picture, GfBand *band);
GfStatus gf_png_complete(GfWriter *writer);
void gf_png_abandon(GfWriter *writer);

GfStatus gf_jpeg_create(GfWriter *writer, const GfMetadata *metadata,
                        const GfWriteOptions *options);
GfStatus gf_jpeg_write(GfWriter *writer, size_t picture, GfBand *band);
GfStatus gf_jpeg_complete(GfWriter *writer);
void gf_jpeg_abandon(GfWriter *writer);

GfStatus gf_npy_create(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options);
GfStatus gf_npy_write(GfWriter *writer, size_t picture, GfBand *band);
GfStatus gf_npy_complete(GfWriter *writer);
void gf_npy_abandon(GfWriter *writer);

/* GF_ELIMIT when reader->format has more pixels than the options allow, or rows that are too long
 * for the memory allowed. To be called as soon as the header is known, before anything is
 * allocated. */
GfStatus gf_reader_limit(const GfReader *reader, const GfReadOptions *options);

/* Announces that reading will keep count * size more bytes in memory, adding them to reader->held;
 * GF_ELIMIT when all of them together are over options->max_memory. To be called before the
 * allocation. */
GfStatus gf_reader_hold(GfReader *reader, const GfReadOptions *options, size_t count, size_t size);

/* Adds a remark to reader->note, after "; " when there is one already; cut when too long. */
void gf_reader_note(GfReader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The XMP packet is carried as a text of this keyword, which is PNG's own for it. */
#define GF_XMP_KEYWORD "XML:com.adobe.xmp"

/* With its zero, what the APP13 segments of JPEG begin with that Photoshop's block is in. */
#define GF_PHOTOSHOP "Photoshop 3.0"
