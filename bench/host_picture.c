#include "bench/host_picture.h"

#include <math.h>

#include "bench/samples.h"
#include "images/codec.h"

static uint8_t sample_at(size_t x, size_t y, size_t c)
{
    double at = (double)x, down = (double)y, turn = (double)c;
    double v = 128.0 + 55.0 * sin(at / 61.0 + turn) + 45.0 * sin(down / 37.0 + at / 151.0 - turn);
    if ((x / 128 + y / 128) % 7 == 0)
        v = 255.0 - v;
    v += samples_uniform(-3.0, 3.0);
    return (uint8_t)fmin(fmax(v, 0.0), 255.0);
}

static void draw(GfImage *image)
{
    const GfFormat *format = &image->format;
    for (size_t y = 0; y < format->height; y++) {
        uint8_t *row = (uint8_t *)image->samples + y * image->stride;
        for (size_t i = 0; i < gf_row_samples(format); i++)
            row[i] = sample_at(i / format->channels, y, i % format->channels);
    }
}

static GfStatus write_image(const char *path, GfImage *image)
{
    GfStatus status = GF_OK;
    GfOutput *output = NULL;
    GfWriter *writer = NULL;
    const GfMetadata metadata = {0};
    const GfWriteOptions options = gf_write_options_default();
    GfBand band = gf_image_band(image);
    GF_GO(gf_output_open(path, true, &output));
    GF_GO(gf_writer_create(output, gf_codec_for_path(path), &image->format, 1, &metadata, &options,
                           &writer));
    GF_GO(gf_writer_rows(writer, 0, &band));
    GF_GO(gf_writer_finish(writer));
    GF_GO(gf_output_commit(&output));
done:
    gf_writer_close(writer);
    if (output)
        gf_output_discard(&output);
    return status;
}

GfStatus host_picture(const char *path, size_t width, size_t height, size_t channels)
{
    const GfFormat format = {width, height, channels, false, GF_U8};
    GfImage image;
    GF_TRY(gf_image_allocate(&format, &image));
    draw(&image);
    GfStatus status = write_image(path, &image);
    gf_image_free(&image);
    return status;
}
