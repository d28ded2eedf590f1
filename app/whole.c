/* Written through the same outputs and writers as everything else, in one band. */
#include "app/whole.h"

#include "app/compare.h"
#include "app/message.h"
#include "common/text.h"

GfStatus gf_whole_read(GfReader *reader, const GfReadOptions *options, GfImage *image)
{
    GfFormat format = reader->format;
    size_t bytes, height = format.height;
    char limit[GF_SIZE_TEXT];
    *image = (GfImage){0};
    if (!gf_mul(height, reader->pictures, &format.height) || !gf_image_bytes(&format, &bytes) ||
        bytes > options->max_memory)
        return gf_fail(GF_ELIMIT,
                       "a comparison holds the picture in memory, and it is over the limit of %s",
                       gf_limit_text(options->max_memory, limit));
    GF_TRY(gf_image_allocate(&format, image));
    GfStatus status = GF_OK;
    for (size_t i = 0; status == GF_OK && i < reader->pictures; i++) {
        unsigned char *first = (unsigned char *)image->samples + i * height * image->stride;
        status = gf_reader_rows(reader, &(GfBand){0, height, image->stride, first});
    }
    if (status == GF_OK)
        status = gf_reader_finish(reader);
    if (status != GF_OK)
        gf_image_free(image);
    return status;
}

GfStatus gf_whole_write(const GfOptions *options, const char *path, const GfImage *image)
{
    GfOutput *output = NULL;
    GfWriter *writer = NULL;
    GfStatus status;
    const GfCodec *codec = gf_codec_for_path(path);
    const GfMetadata metadata = gf_metadata_none();
    GfBand band = gf_image_band(image);
    GF_GO(gf_output_open(path, options->overwrite, &output));
    GF_GO(gf_writer_create(output, codec ? codec : gf_codecs[0], &image->format, 1, &metadata,
                           &options->write, &writer));
    GF_GO(gf_writer_rows(writer, 0, &band));
    GF_GO(gf_writer_finish(writer));
    gf_writer_close(writer);
    writer = NULL;
    GF_GO(gf_output_commit(&output));
done:
    gf_writer_close(writer);
    gf_output_discard(&output);
    return gf_fail_output(status, path);
}

GfStatus gf_whole_write_difference(const GfOptions *options, const GfImage *a, const GfImage *b,
                                   double largest)
{
    const char *path = options->diff_image;
    GfImage picture;
    if (!path)
        return GF_OK;
    GF_TRY(gf_compare_picture(a, b, largest, &picture));
    GfStatus status = gf_whole_write(options, path, &picture);
    gf_image_free(&picture);
    if (status == GF_OK && largest > 0)
        gf_say_note(path, "white is a difference of %g", largest);
    return status;
}
