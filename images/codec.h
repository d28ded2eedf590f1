/* Picture files. One table of codecs; a file's content decides which one reads it, an output's
 * extension which one writes it. Readers and writers speak in bands of rows.
 *
 * To add a format: images/NAME.c with a GfCodec and its reading half, images/NAME_write.c with the
 * writing half, their names in codecs.h, and a row in gf_codecs (codec.c). */
#pragma once

#include "common/workers.h"
#include "images/image.h"
#include "images/input.h"
#include "images/metadata.h"
#include "images/output.h"
#include "images/profile.h"

typedef struct GfCodec GfCodec;

typedef struct GfReadOptions {
    size_t max_pixels;  /* width x height above this is GF_ELIMIT, before anything is allocated */
    size_t max_memory;  /* bytes that a picture which cannot stream may take; above: GF_ELIMIT */
    unsigned max_scans; /* progressive JPEG */
    bool tolerant;      /* accept what could be decoded of a damaged picture, and note it */
    bool auto_orient;   /* apply the EXIF orientation */
} GfReadOptions;

/* 1 gigapixel, 4 GiB, 100 scans, strict, oriented. */
GfReadOptions gf_read_options_default(void);

enum { GF_NOTE_SIZE = 256 };

typedef struct GfReader {
    const GfCodec *codec;
    GfFormat format; /* as the rows will come: palette expanded, orientation applied */
    size_t pictures; /* 1; N for an N x C x H x W array, whose rows follow one another */
    bool streams;    /* false: the first read decodes the whole picture into memory */
    size_t held;     /* bytes that reading keeps beyond a few rows: a picture that does not stream,
                        a progressive JPEG's coefficients; 0 else */
    size_t ahead;    /* bytes of rows that were decoded ahead and are not handed out yet */
    double ahead_seconds;    /* what decoding them took */
    GfMetadata metadata;     /* complete once gf_reader_open() has returned, but for PNG chunks that
                                follow the pixels, which are not read into it */
    char note[GF_NOTE_SIZE]; /* something to tell the user, e.g. damage accepted; "" when none */
    void *state;             /* the codec's own */
} GfReader;

/* Opens `path` ("-" is standard input), finds its codec, reads the header and all metadata. Errors:
 * GF_EREAD, GF_EINPUT (no picture, damaged), GF_ELIMIT, GF_EMEMORY. Messages do not name the path:
 * the caller does. */
GfStatus gf_reader_open(const char *path, const GfReadOptions *options, GfReader **reader);

/* Starts a thread that decodes rows of the first picture before they are asked for: at most 256 MiB
 * and half of what options->max_memory leaves. gf_reader_rows() hands them out later, and reports
 * what failed. To be called once, before any row is read; until gf_reader_stop_ahead() the reader
 * is the thread's, and may only be closed. Where threads or memory are short, less or nothing is
 * decoded ahead. */
void gf_reader_start_ahead(GfReader *reader);

/* Ends the thread, if there is one, which is soon but for a picture that does not stream. NULL is
 * allowed. */
void gf_reader_stop_ahead(GfReader *reader);

/* Fills the band with the next band->rows rows. The caller goes through each picture once, in
 * order: band->y0 is the row after the last one read, 0 again for the next of several pictures.
 * Damage is GF_EINPUT unless tolerant. */
GfStatus gf_reader_rows(GfReader *reader, const GfBand *band);

/* After the last row: reads the file to its end and reports damage there (checksums, a missing end
 * marker). Output is to be committed only after this. */
GfStatus gf_reader_finish(GfReader *reader);

/* NULL is allowed. */
void gf_reader_close(GfReader *reader);

typedef struct GfWriteOptions {
    int quality;        /* JPEG 1..100; chroma 4:4:4 from 90 on, else 4:2:0 */
    int compression;    /* PNG: 0 none, 1 our own, 2..9 zlib's: slower, not always smaller than 1 */
    GfWorkers *workers; /* to compress with, beside the calling thread; borrowed; NULL: none */
    size_t outputs;     /* that are written at once and share memory, this one among them; or 0 */
    size_t taken;       /* bytes that the picture takes elsewhere, if all are to be few; or 0 */
} GfWriteOptions;

/* quality 90, compression 1, no workers, an output alone */
GfWriteOptions gf_write_options_default(void);

typedef struct GfWriter {
    const GfCodec *codec;
    GfFormat format;
    size_t pictures;
    GfOutput *output; /* borrowed */
    const char *note; /* something to tell the user, a constant; NULL when there is nothing */
    void *state;
} GfWriter;

/* Begins a picture (or `pictures` of one format) on `output`. `format` must be one that
 * gf_codec_accepts() takes. The metadata that the format can hold is written, the profile being
 * that of gf_profile_for(). */
GfStatus gf_writer_create(GfOutput *output, const GfCodec *codec, const GfFormat *format,
                          size_t pictures, const GfMetadata *metadata,
                          const GfWriteOptions *options, GfWriter **writer);

/* Writes rows [band->y0, band->y0 + band->rows) of picture `picture`. Rows of one picture come in
 * order; several pictures (only where the codec says so) may take turns. The band's samples may be
 * changed by this call. */
GfStatus gf_writer_rows(GfWriter *writer, size_t picture, GfBand *band);

/* After the last row: completes the file's bytes. The output is not yet committed. */
GfStatus gf_writer_finish(GfWriter *writer);

/* Frees the writer, finished or not. NULL is allowed. */
void gf_writer_close(GfWriter *writer);

/* A row of the table. The functions have the contracts of their gf_reader_ and gf_writer_
 * namesakes; `open` finds format, metadata and input set up to nothing, and owns the input from
 * then on, also when it fails. */
struct GfCodec {
    const char *name;       /* "png" */
    const char *extensions; /* ".png", space between several; the first is the usual one */
    bool many_pictures;     /* one file can hold several pictures */
    unsigned samples;       /* bit (1 << GfSample): what can be written */
    size_t max_channels;    /* 0: any */
    bool alpha;             /* can hold opacity */
    size_t max_side;        /* largest width and height that can be written */
    GfColourRoom colour;
    bool (*recognises)(const unsigned char *head, size_t size);
    GfStatus (*open)(GfReader *reader, GfInput *input, const GfReadOptions *options);
    GfStatus (*rows)(GfReader *reader, const GfBand *band);
    GfStatus (*finish)(GfReader *reader);
    void (*close)(GfReader *reader);
    GfStatus (*create)(GfWriter *writer, const GfMetadata *metadata, const GfWriteOptions *options);
    GfStatus (*write)(GfWriter *writer, size_t picture, GfBand *band);
    GfStatus (*complete)(GfWriter *writer);
    void (*abandon)(GfWriter *writer);
};

/* All codecs, NULL at the end. */
extern const GfCodec *const gf_codecs[];

/* The codec for an output name, by extension (letter case ignored); NULL when none fits. */
const GfCodec *gf_codec_for_path(const char *path);

/* How many gray pictures the codec needs for one of `format`: its channels, where they are neither
 * gray nor RGB and the codec can hold nothing else, or 1. */
size_t gf_codec_maps(const GfCodec *codec, const GfFormat *format);

/* GF_OK when pictures of `format` can be written, or GF_EUSAGE with the reason and what to do. */
GfStatus gf_codec_accepts(const GfCodec *codec, const GfFormat *format, size_t pictures);
