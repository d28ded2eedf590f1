/* The table of formats, and what follows from a row without knowing any format: which one an
 * output's name asks for, whether it can hold a picture, and the way into its writer. */
#include "images/codec.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "images/codecs.h"

const GfCodec *const gf_codecs[] = {&gf_png, &gf_jpeg, &gf_npy, NULL};

GfReadOptions gf_read_options_default(void)
{
    return (GfReadOptions){
        .max_pixels = (size_t)1 << 30,
        .max_memory = (size_t)4 << 30,
        .max_scans = 100,
        .tolerant = false,
        .auto_orient = true,
    };
}

GfWriteOptions gf_write_options_default(void)
{
    return (GfWriteOptions){.quality = 90, .compression = 1};
}

/* Whether `extension` is one of the words of `list`. */
static bool among(const char *extension, const char *list)
{
    size_t length = strlen(extension);
    while (*list) {
        size_t word = strcspn(list, " ");
        if (word == length && strncasecmp(list, extension, word) == 0)
            return true;
        list += word;
        list += strspn(list, " ");
    }
    return false;
}

const GfCodec *gf_codec_for_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    if (!dot)
        return NULL;
    for (const GfCodec *const *codec = gf_codecs; *codec; codec++)
        if (among(dot, (*codec)->extensions))
            return *codec;
    return NULL;
}

/* Colours and opacity, where the format has a fixed meaning for its channels. */
static GfStatus accepts_channels(const GfCodec *codec, const GfFormat *format)
{
    if (codec->max_channels == 0)
        return GF_OK;
    if (format->has_alpha && !codec->alpha)
        return gf_fail(GF_EUSAGE,
                       "%s cannot hold opacity; write .png or .npy: by the name after -o, or else "
                       "by --format png",
                       codec->name);
    size_t colours = format->channels - (format->has_alpha ? 1 : 0);
    if (format->channels <= codec->max_channels && (colours == 1 || colours == 3))
        return GF_OK;
    return gf_fail(
        GF_EUSAGE,
        "%s holds gray or RGB%s, not %zu channels%s; write .npy, or one picture a channel",
        codec->name, codec->alpha ? ", with or without opacity" : "", format->channels,
        format->has_alpha || format->channels > codec->max_channels ? ""
                                                                    : " of which none is opacity");
}

size_t gf_codec_maps(const GfCodec *codec, const GfFormat *format)
{
    bool picture = format->has_alpha || format->channels == 1 || format->channels == 3;
    return picture || codec->max_channels == 0 ? 1 : format->channels;
}

GfStatus gf_codec_accepts(const GfCodec *codec, const GfFormat *format, size_t pictures)
{
    static const char *const names[] = {"8-bit", "16-bit", "float16", "float32", "float64"};
    if (!(codec->samples & 1u << format->sample))
        return gf_fail(
            GF_EUSAGE, "%s cannot hold %s samples; write %s", codec->name, names[format->sample],
            gf_sample_is_float(format->sample) ? ".npy, or change the depth to 8 or 16"
                                               : ".png or .npy, or change the depth to 8");
    GF_TRY(accepts_channels(codec, format));
    if (pictures > 1 && !codec->many_pictures)
        return gf_fail(GF_EUSAGE, "%s holds one picture, not %zu; write .npy, or one file each",
                       codec->name, pictures);
    if (format->width > codec->max_side || format->height > codec->max_side)
        return gf_fail(GF_EUSAGE, "%s holds at most %zu pixels a side, not %zu x %zu; write %s",
                       codec->name, codec->max_side, format->width, format->height,
                       codec == &gf_jpeg ? ".png or .npy" : ".npy");
    return GF_OK;
}

/* With what is true of the output: its profile, the size that EXIF tells, no thumbnail. */
static GfStatus create_with(GfWriter *writer, const GfMetadata *metadata,
                            const GfWriteOptions *options)
{
    const GfFormat *format = &writer->format;
    GfMetadata shown = *metadata;
    GfStatus status;
    shown.icc = shown.exif = shown.photoshop = (GfBlob){0};
    GF_GO(
        gf_profile_for(metadata, format->channels >= 3 ? 3 : 1, writer->codec->colour, &shown.icc));
    if (metadata->icc.data && !shown.icc.data && writer->codec->colour != GF_COLOUR_NOWHERE)
        writer->note = "its colour profile is left out: it is damaged, or not for such colours";
    GF_GO(gf_blob_set(&shown.exif, metadata->exif.data, metadata->exif.size));
    GF_GO(gf_blob_set(&shown.photoshop, metadata->photoshop.data, metadata->photoshop.size));
    gf_exif_drop_thumbnail(&shown.exif);
    gf_exif_set_size(&shown.exif, format->width, format->height);
    gf_photoshop_drop_thumbnail(&shown.photoshop);
    GF_GO(writer->codec->create(writer, &shown, options));
done:
    free(shown.icc.data);
    free(shown.exif.data);
    free(shown.photoshop.data);
    return status;
}

GfStatus gf_writer_create(GfOutput *output, const GfCodec *codec, const GfFormat *format,
                          size_t pictures, const GfMetadata *metadata,
                          const GfWriteOptions *options, GfWriter **writer)
{
    *writer = NULL;
    GF_TRY(gf_codec_accepts(codec, format, pictures));
    GfWriter *created;
    GF_TRY(gf_allocate(1, sizeof *created, &created));
    *created = (GfWriter){
        .codec = codec, .format = *format, .pictures = pictures, .output = output, .state = NULL};
    GfStatus status = create_with(created, metadata, options);
    if (status != GF_OK) {
        gf_writer_close(created);
        return status;
    }
    *writer = created;
    return GF_OK;
}

GfStatus gf_writer_rows(GfWriter *writer, size_t picture, GfBand *band)
{
    return writer->codec->write(writer, picture, band);
}

GfStatus gf_writer_finish(GfWriter *writer)
{
    return writer->codec->complete(writer);
}

void gf_writer_close(GfWriter *writer)
{
    if (!writer)
        return;
    if (writer->state)
        writer->codec->abandon(writer);
    free(writer);
}
