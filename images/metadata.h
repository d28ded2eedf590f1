/* What a file says about its picture, carried from input to output. Read here is only the
 * orientation; the profile and gamma are read in light.h and profile.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"

typedef struct GfBlob {
    unsigned char *data; /* owned; NULL when absent */
    size_t size;
} GfBlob;

typedef enum GfTextEncoding { GF_TEXT_UNKNOWN, GF_TEXT_LATIN1, GF_TEXT_UTF8 } GfTextEncoding;

typedef struct GfText {
    char *keyword; /* owned, Latin-1, 1 to 79 bytes, as PNG wants it; JPEG comments are "Comment" */
    char *text;    /* owned, the bytes that the file has */
    GfTextEncoding encoding; /* of `text`, where the format says it, as PNG does */
    char *language;          /* owned, the tag of PNG's iTXt; NULL when absent */
    char *translated;        /* owned, the keyword in that language, UTF-8; NULL when absent */
} GfText;

typedef struct GfMetadata {
    GfBlob icc;                  /* the profile, uncompressed */
    GfBlob exif;                 /* from the TIFF byte-order mark on, without "Exif\0\0" */
    GfBlob photoshop;            /* Photoshop's block, IPTC in it, of a JPEG's APP13 segments */
    double density_x, density_y; /* pixels a metre; 0 unknown */
    bool density_is_aspect;      /* only the ratio x : y means something */
    int srgb_intent;             /* PNG sRGB chunk's rendering intent 0..3, or -1 */
    double gamma;                /* PNG gAMA (0.45455 for sRGB-like), 0 absent */
    bool has_chromaticities;
    double chromaticities[8]; /* PNG cHRM: white x y, red x y, green x y, blue x y */
    size_t axes;              /* of a .npy array: 2 (H x W), 3 (C x H x W) or 4; else 0 */
    GfText *texts;            /* owned */
    size_t text_count;
} GfMetadata;

/* The state of a picture that says nothing about itself (srgb_intent = -1, the rest zero). */
GfMetadata gf_metadata_none(void);

/* Copies `size` bytes into an empty blob. */
GfStatus gf_blob_set(GfBlob *blob, const void *data, size_t size);

/* Appends a copy of a text entry, whose encoding is unknown. */
GfStatus gf_metadata_add_text(GfMetadata *metadata, const char *keyword, const char *text);

/* Gives the last text copies of a language and a translated keyword; NULL and "" mean none. */
GfStatus gf_metadata_set_language(GfMetadata *metadata, const char *language,
                                  const char *translated);

/* Frees what it owns and leaves gf_metadata_none(). */
void gf_metadata_free(GfMetadata *metadata);

/* Once the picture has been turned: sets the orientation to 1 where EXIF or XMP have one. */
void gf_metadata_reset_orientation(GfMetadata *metadata);

/* EXIF orientation 1..8 (EXIF 2.32, tag 0x0112) of IFD0; 1 when absent, out of range or when the
 * block is damaged. Never reads outside the blob, never follows a loop. */
unsigned gf_exif_orientation(const GfBlob *exif);

/* Sets the orientation tag of IFD0 to 1 where there is one. */
void gf_exif_reset_orientation(GfBlob *exif);

/* Sets ImageWidth and ImageLength of IFD0, PixelXDimension and PixelYDimension (EXIF 2.32, tags
 * 0x0100, 0x0101, 0xA002 and 0xA003) where they are, in pixels below 2^32. */
void gf_exif_set_size(GfBlob *exif, size_t width, size_t height);

/* Once width and height have changed places: so do XResolution and YResolution of IFD0, and
 * FocalPlaneXResolution and FocalPlaneYResolution (EXIF 2.32, tags 0x011A, 0x011B, 0xA20E and
 * 0xA20F), where there are both. */
void gf_exif_swap_resolutions(GfBlob *exif);

/* Takes the thumbnail out, which shows the picture before it was filtered: EXIF's link to its
 * directory, IFD1, and its bytes; the resources 1033 and 1036 of Photoshop's block. Nothing else
 * moves in EXIF. */
void gf_exif_drop_thumbnail(GfBlob *exif);
void gf_photoshop_drop_thumbnail(GfBlob *block);

/* sRGB's, in the order of GfMetadata. */
extern const double gf_srgb_chromaticities[8];
