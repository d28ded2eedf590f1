/* A PNG file that is being read: what is known to png.c, which has libpng decode it, to
 * png_chunks.c, which hands libpng the file's bytes, and to png_pixels.c, which makes the chunks of
 * pixels. */
#pragma once

#include <png.h>

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images/codecs.h"
#include "images/png_late.h"
#include "images/png_lines.h"

/* Bytes. */
enum {
    GF_PNG_CHUNK_MAX = 8 << 20, /* of one ancillary chunk, also uncompressed; and of all texts */
    GF_PNG_HEADER = 8,          /* length and name of a chunk */
    GF_PNG_CHECKSUM = 4,
    GF_PNG_STORED_MAX = 32 << 10, /* of pixels in a chunk that libpng is shown */
    GF_PNG_PART_MAX = 24          /* and in front of them, and behind */
};

/* What libpng says of the block that it is shown where a stream is broken. */
#define GF_PNG_BROKEN "IDAT: invalid block type"

typedef struct GfPngPart {
    size_t size;
    unsigned char own[GF_PNG_PART_MAX];
} GfPngPart;

/* The file's chunks of pixels, and that which libpng is shown: a head, pixels, a tail. */
typedef struct GfPngPixels {
    GfPngLines *lines;  /* owned; NULL before the first row is read */
    bool inside;        /* between the header of a chunk of pixels and what follows the last one */
    bool shown, closed; /* libpng has got the stream's first bytes, its last ones */
    bool ended, broken; /* all of the stream is inflated, or no more of it can be */
    bool cut;           /* the file ends inside of a chunk */
    char reason[64];    /* why it is broken */
    uint32_t checksum;  /* of the file's chunk, as far as it was read */
    const unsigned char *at;
    size_t waiting; /* bytes at `at` that were read and not inflated yet */
    unsigned char in[GF_PNG_STORED_MAX];
    GfPngPart head, tail;
    const unsigned char *body;
    size_t size, served; /* of the body; of all three */
} GfPngPixels;

typedef struct GfPngReader {
    GfReader *reader;
    GfInput *input;
    png_structp png;
    png_infop info;
    png_infop trial; /* what libpng makes of primaries */
    jmp_buf jump;
    GfStatus status;                     /* what kind of failure a longjmp reports */
    char message[256];                   /* and libpng's words for it */
    unsigned char header[GF_PNG_HEADER]; /* of the chunk that is being read */
    uint64_t left;                       /* bytes of it not read yet, checksum included */
    bool signature_read, pixels_began, animated, profiled, coded, cut;
    unsigned char *exif; /* an eXIf chunk while it is looked at; owned */
    GfPngLate late;      /* metadata behind the pixels, which libpng is shown before them */
    size_t late_served;
    bool serving_late;
    uint64_t late_place;                  /* where reading from a late chunk goes on */
    unsigned char waiting[GF_PNG_HEADER]; /* header of the first IDAT meanwhile */
    int texts_counted;                    /* entries of libpng's list that text_bytes includes */
    size_t text_bytes;
    size_t line,
        pixel; /* bytes of a row in the file with its filter's, and of a pixel, at least 1 */
    GfPngPixels pixels;
    bool tolerant, interlaced;
    bool noted;         /* the user has been told of damage accepted */
    bool broken;        /* nothing more can be decoded; the rest is zero (tolerant only) */
    size_t row;         /* rows decoded */
    GfImage whole;      /* an interlaced picture; its samples are NULL until the first read */
    const GfBand *band; /* what the present step is to fill */
} GfPngReader;

/* libpng's read function. As all below it leaves by png_error(). */
void gf_png_read_bytes(png_structp png, png_bytep bytes, size_t size);

/* Reads the next bytes of the file, or of a late chunk. */
void gf_png_take(GfPngReader *state, void *bytes, size_t size);

/* Goes on to the file's next chunk that libpng is to see, at the end of one. */
void gf_png_next_chunk(GfPngReader *state);

/* Is state->header that of a chunk of this name? */
bool gf_png_is(const GfPngReader *state, const char *name);

/* Goes on to the next chunk for libpng, at the end of one: true where it is one of pixels, which
 * gf_png_serve_pixels() hands out, false where it is the file's own, whose header is in
 * state->header. */
bool gf_png_next_shown(GfPngReader *state);
void gf_png_serve_pixels(GfPngReader *state, unsigned char *to, size_t size);

/* Is all of a chunk of pixels handed out? */
bool gf_png_pixels_served(const GfPngReader *state);

/* Tells the user, once, of damage that a tolerant reader accepts. */
void gf_png_note_damage(GfPngReader *state, const char *text);
