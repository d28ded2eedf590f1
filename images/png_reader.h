/* A PNG file that is being read: what png.c, which has libpng decode it, and png_chunks.c, which hands libpng
 * its bytes, both know. */
#pragma once

#include <png.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images/codecs.h"
#include "images/inflate.h"
#include "images/png_late.h"

enum {
    GF_PNG_CHUNK_MAX =
        8 << 20,       /* bytes of one ancillary chunk, also uncompressed; and of all texts */
    GF_PNG_HEADER = 8, /* length and name of a chunk */
    GF_PNG_CHECKSUM = 4,
    GF_PNG_STORED_MAX = 32 << 10, /* bytes of pixels in a chunk that libpng is shown */
    GF_PNG_STORED_EXTRA = 32      /* what else may be in it */
};

/* What libpng says of the block that it is shown where a stream is broken. */
#define GF_PNG_BROKEN "IDAT: invalid block type"

/* The picture's IDAT chunks, inflated, and a chunk for libpng that is made of them. */
typedef struct GfPngPixels {
    GfInflater *inflater; /* owned; NULL before the first chunk */
    bool inside;          /* between the header of an IDAT chunk and what follows its last one */
    bool shown;           /* libpng has got the stream's first bytes */
    bool ended, broken;   /* there is no more of the stream, or it cannot be inflated any further */
    bool cut;             /* the file has ended inside of a chunk */
    char reason[64];      /* why it is broken */
    uint32_t checksum;    /* of the file's chunk, as far as it was read */
    const unsigned char *at;
    size_t waiting; /* bytes at `at` that were read and not inflated yet */
    unsigned char in[GF_PNG_STORED_MAX];
    size_t size, served; /* of the chunk for libpng */
    unsigned char chunk[GF_PNG_STORED_MAX + GF_PNG_STORED_EXTRA];
} GfPngPixels;

typedef struct GfPngReader {
    GfReader *reader;
    GfInput *input;
    png_structp png;
    png_infop info;
    jmp_buf jump;
    GfStatus status;                     /* what kind of failure a longjmp reports */
    char message[256];                   /* and libpng's words for it */
    unsigned char header[GF_PNG_HEADER]; /* of the chunk that is being read */
    uint64_t left;                       /* bytes of it not read yet, checksum included */
    bool signature_read, pixels_began, animated, cut;
    unsigned char *exif; /* an eXIf chunk while it is looked at; owned */
    GfPngLate late;      /* metadata behind the pixels, which libpng is shown before them */
    size_t late_served;
    bool serving_late;
    uint64_t late_place;                  /* where reading from a late chunk goes on */
    unsigned char waiting[GF_PNG_HEADER]; /* header of the first IDAT meanwhile */
    int texts_counted;                    /* entries of libpng's list that text_bytes includes */
    size_t text_bytes;
    GfPngPixels pixels;
    bool tolerant, interlaced;
    bool noted;         /* the user has been told of damage accepted */
    bool broken;        /* nothing more can be decoded; the rest is zero (tolerant only) */
    size_t row;         /* rows decoded */
    GfImage whole;      /* an interlaced picture; its samples are NULL until the first read */
    const GfBand *band; /* what the present step is to fill */
} GfPngReader;

/* libpng's read function. Leaves by png_error(). */
void gf_png_read_bytes(png_structp png, png_bytep bytes, size_t size);

/* Tells the user, once, of damage that a tolerant reader accepts. */
void gf_png_note_damage(GfPngReader *state, const char *text);
