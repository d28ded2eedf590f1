/* Reading JPEG through libjpeg-turbo: gray as one channel, everything else as RGB.
 *
 * libjpeg calls most damage a warning and pads the picture with gray. Here each warning is judged:
 * those that say the pixels cannot be trusted are errors unless the reader is tolerant, those about
 * markers are not. While the scans of a progressive picture are taken in, damage is only
 * remembered, so that a file with thousands of empty scans is reported as what it is, over the
 * limit.
 *
 * Every call that may fail runs in guarded(), the only place of a setjmp: the steps called there
 * keep all they own in JpegReader, so that a longjmp loses nothing. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* After jpeglib.h, whose configuration decides which codes there are. */
#include <jerror.h>

#include "images/codecs.h"

enum {
    SOURCE_SIZE = 64 * 1024,
    MARKERS_MAX = 16 << 20, /* bytes before the first scan of which metadata are kept */
    COMMENTS_MAX = 100,
    COMMENT_BYTES_MAX = 1 << 20, /* of all comments together */
    LINES = 16                   /* rows asked for at once */
};

typedef struct JpegReader {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    GfReader *reader;
    GfInput *input;
    GfStatus status;               /* what kind of failure a longjmp reports */
    char message[JMSG_LENGTH_MAX]; /* and the words for it */
    unsigned max_scans;
    bool tolerant, header_done;
    bool started, gathering; /* decompression; the scans before the first row */
    bool damaged;            /* damage was met while gathering scans */
    bool noted;              /* the user has been told of damage accepted */
    bool cut;                /* the file ended too early */
    bool broken;             /* nothing more can be decoded (tolerant only) */
    size_t header_bytes;
    size_t row;          /* rows decoded */
    const GfBand *band;  /* what the present step is to fill */
    unsigned char *cmyk; /* one row of four channels; NULL for other pictures */
    JOCTET *icc;         /* libjpeg's copy of the profile, malloc()ed */
    unsigned icc_size;
    JOCTET bytes[SOURCE_SIZE];
} JpegReader;

static bool recognises(const unsigned char *head, size_t size)
{
    return size >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0;
}

/* Errors and warnings. */

static JpegReader *state_of(j_common_ptr info)
{
    return info->client_data;
}

static _Noreturn void fail(JpegReader *state, GfStatus status)
{
    state->status = status;
    longjmp(state->jump, 1);
}

static _Noreturn void on_error(j_common_ptr info)
{
    JpegReader *state = state_of(info);
    info->err->format_message(info, state->message);
    fail(state, info->err->msg_code == JERR_OUT_OF_MEMORY ? GF_EMEMORY : GF_EINPUT);
}

/* Whether a warning means that pixels are not what the encoder saw. Bytes that belong to no marker
 * are harmless among the headers, where they are a badly written segment, and not behind a scan. */
static bool harms_pixels(const JpegReader *state, int code)
{
    switch (code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_ICC:
    case JWRN_JFIF_MAJOR:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_TOO_MUCH_DATA:
        return false;
    case JWRN_EXTRANEOUS_DATA:
        return state->header_done;
    default:
        return true;
    }
}

static void on_message(j_common_ptr info, int level)
{
    JpegReader *state = state_of(info);
    if (level < 0 && info->err->msg_code == JWRN_BOGUS_ICC)
        gf_reader_note(state->reader, "its colour profile is left out: it is damaged");
    if (level >= 0 || !harms_pixels(state, info->err->msg_code))
        return;
    if (!state->damaged)
        info->err->format_message(info, state->message);
    state->damaged = true;
    if (state->tolerant) {
        if (!state->noted)
            gf_reader_note(state->reader, "damage accepted: %s", state->message);
        state->noted = true;
    } else if (!state->gathering || state->cut) {
        fail(state, GF_EINPUT);
    }
}

static void on_progress(j_common_ptr info)
{
    JpegReader *state = state_of(info);
    if (state->info.input_scan_number > 0 &&
        (unsigned)state->info.input_scan_number > state->max_scans) {
        snprintf(state->message, sizeof state->message, "more than %u scans", state->max_scans);
        fail(state, GF_ELIMIT);
    }
}

/* The source of bytes. */

static void init_source(j_decompress_ptr info)
{
    (void)info;
}

/* Markers are kept until the picture is closed. Beyond a bound libjpeg is told to pass over them,
 * which works at any point between two markers. */
static void bound_markers(JpegReader *state, size_t got)
{
    state->header_bytes += got;
    if (state->header_done || state->header_bytes <= MARKERS_MAX)
        return;
    jpeg_save_markers(&state->info, JPEG_APP0 + 1, 0);
    jpeg_save_markers(&state->info, JPEG_APP0 + 2, 0);
    jpeg_save_markers(&state->info, JPEG_APP0 + 13, 0);
    jpeg_save_markers(&state->info, JPEG_COM, 0);
}

static boolean fill_input(j_decompress_ptr info)
{
    JpegReader *state = state_of((j_common_ptr)info);
    size_t got = 0;
    GfStatus status =
        state->cut ? GF_OK : gf_input_read(state->input, state->bytes, SOURCE_SIZE, &got);
    if (status != GF_OK) {
        snprintf(state->message, sizeof state->message, "%s", gf_message());
        fail(state, status);
    }
    if (got == 0) {
        state->cut = true;
        WARNMS(info, JWRN_JPEG_EOF);
        state->bytes[0] = 0xff;
        state->bytes[1] = JPEG_EOI;
        got = 2;
    }
    bound_markers(state, got);
    info->src->next_input_byte = state->bytes;
    info->src->bytes_in_buffer = got;
    return TRUE;
}

static void skip_input(j_decompress_ptr info, long count)
{
    struct jpeg_source_mgr *source = info->src;
    size_t left = count > 0 ? (size_t)count : 0;
    while (left > source->bytes_in_buffer) {
        left -= source->bytes_in_buffer;
        fill_input(info);
        if (state_of((j_common_ptr)info)->cut)
            return; /* to the end marker that stands in for what is missing */
    }
    source->next_input_byte += left;
    source->bytes_in_buffer -= left;
}

static void end_source(j_decompress_ptr info)
{
    (void)info;
}

/* Steps: run in guarded(), left by longjmp on failure. */

static void read_header(JpegReader *state)
{
    struct jpeg_decompress_struct *info = &state->info;
    jpeg_create_decompress(info);
    info->client_data = state;
    info->src = &state->source;
    info->progress = &state->progress;
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(info, JPEG_APP0 + 2, 0xffff);
    jpeg_save_markers(info, JPEG_APP0 + 13, 0xffff);
    jpeg_save_markers(info, JPEG_COM, 0xffff);
    jpeg_read_header(info, TRUE);
    state->header_done = true;
    if (info->jpeg_color_space == JCS_CMYK || info->jpeg_color_space == JCS_YCCK)
        info->out_color_space = JCS_CMYK;
    else if (info->num_components == 3)
        info->out_color_space = JCS_RGB;
}

static void start_rows(JpegReader *state)
{
    state->started = state->gathering = true;
    jpeg_start_decompress(&state->info);
    state->gathering = false;
    if (state->damaged && !state->tolerant)
        fail(state, GF_EINPUT);
}

/* Ink to light: the product of what each ink and black let through. That is what the samples are,
 * and not how much ink there is: with Adobe's marker, and without it for Pillow, OpenCV and libvips
 * too. */
static void to_rgb(const JpegReader *state, unsigned char *rgb)
{
    const unsigned char *ink = state->cmyk;
    for (size_t x = 0; x < state->reader->format.width; x++, ink += 4, rgb += 3)
        for (size_t i = 0; i < 3; i++)
            rgb[i] = (unsigned char)((ink[i] * ink[3] + 127) / 255);
}

static void read_rows(JpegReader *state)
{
    const GfBand *band = state->band;
    if (!state->started)
        start_rows(state);
    while (state->row - band->y0 < band->rows) {
        size_t y = state->row - band->y0;
        unsigned char *to = (unsigned char *)band->samples + y * band->stride;
        JSAMPROW lines[LINES];
        size_t count = state->cmyk ? 1 : gf_min(LINES, band->rows - y);
        for (size_t i = 0; i < count; i++)
            lines[i] = state->cmyk ? state->cmyk : to + i * band->stride;
        count = jpeg_read_scanlines(&state->info, lines, (JDIMENSION)count);
        if (state->cmyk)
            to_rgb(state, to);
        state->row += count;
    }
}

static void read_icc(JpegReader *state)
{
    jpeg_read_icc_profile(&state->info, &state->icc, &state->icc_size);
}

static void read_end(JpegReader *state)
{
    jpeg_finish_decompress(&state->info);
}

static GfStatus guarded(JpegReader *state, void (*step)(JpegReader *))
{
    state->status = GF_OK;
    if (setjmp(state->jump) != 0)
        return state->status;
    step(state);
    return GF_OK;
}

/* Puts a failed step into words. */
static GfStatus explain(const JpegReader *state)
{
    size_t row = state->row, rows = state->info.image_height;
    if (state->status != GF_EINPUT)
        return gf_fail(state->status, "%s", state->message);
    if (!state->header_done)
        return state->cut
                   ? gf_fail(GF_EINPUT, "the JPEG file ends before its picture")
                   : gf_fail(GF_EINPUT, "the JPEG header cannot be read: %s", state->message);
    if (state->cut && row == rows)
        return gf_fail(GF_EINPUT, "the JPEG file ends without its end marker (EOI)");
    if (state->cut)
        return gf_fail(GF_EINPUT, "the JPEG data end early, after row %zu of %zu", row, rows);
    return gf_fail(GF_EINPUT, "the JPEG data are damaged, noticed after row %zu of %zu: %s", row,
                   rows, state->message);
}

/* A failure among the pixels: an error, or (tolerant) the end of what can be decoded. */
static GfStatus damaged(JpegReader *state)
{
    GfStatus status = explain(state);
    if (status != GF_EINPUT || !state->tolerant)
        return status;
    state->broken = true;
    if (!state->noted)
        gf_reader_note(state->reader, "damage accepted: %s", gf_message());
    state->noted = true;
    return GF_OK;
}

static GfStatus set_format(JpegReader *state)
{
    const struct jpeg_decompress_struct *info = &state->info;
    if (info->num_components == 2 || info->num_components > 4 ||
        (info->num_components == 4 && info->out_color_space != JCS_CMYK))
        return gf_fail(GF_EINPUT, "a JPEG of %d components is neither gray, colour nor CMYK",
                       info->num_components);
    state->reader->format = (GfFormat){
        .width = info->image_width,
        .height = info->image_height,
        .channels = info->num_components == 1 ? 1 : 3,
        .has_alpha = false,
        .sample = GF_U8,
    };
    return GF_OK;
}

/* The coefficients of a picture in several scans stay in memory until the last one is read. */
static GfStatus hold_coefficients(JpegReader *state, const GfReadOptions *options)
{
    struct jpeg_decompress_struct *info = &state->info;
    if (!jpeg_has_multiple_scans(info))
        return GF_OK;
    for (int i = 0; i < info->num_components; i++) {
        const jpeg_component_info *component = &info->comp_info[i];
        size_t across = component->width_in_blocks + (size_t)component->h_samp_factor;
        size_t down = component->height_in_blocks + (size_t)component->v_samp_factor;
        GF_TRY(gf_reader_hold(state->reader, options, across * down, sizeof(JBLOCK)));
    }
    return GF_OK;
}

/* JFIF 1.02: pixels an inch (1) or a centimetre (2), or only their ratio (0). */
static void set_density(const struct jpeg_decompress_struct *info, GfMetadata *metadata)
{
    double unit = info->density_unit == 1 ? 1 / 0.0254 : info->density_unit == 2 ? 100 : 1;
    if (!info->saw_JFIF_marker || info->X_density == 0 || info->Y_density == 0)
        return;
    metadata->density_x = info->X_density * unit;
    metadata->density_y = info->Y_density * unit;
    metadata->density_is_aspect = info->density_unit != 1 && info->density_unit != 2;
}

static bool begins(const struct jpeg_marker_struct *marker, const char *prefix, size_t size)
{
    return marker->data_length > size && memcmp(marker->data, prefix, size) == 0;
}

static GfStatus add_text(GfMetadata *metadata, const char *keyword,
                         const struct jpeg_marker_struct *marker, size_t from)
{
    char *text = strndup((const char *)marker->data + from, marker->data_length - from);
    if (!text)
        return gf_fail(GF_EMEMORY, "out of memory");
    GfStatus status = gf_metadata_add_text(metadata, keyword, text);
    free(text);
    return status;
}

/* EXIF 2.32, 4.5.4: an APP1 segment that begins with Exif and two zeros. XMP part 3, 1.1.3: one
 * that begins with its name space. */
static GfStatus set_markers(JpegReader *state, GfMetadata *metadata)
{
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/";
    size_t comments = 0, comment_bytes = 0;
    bool has_xmp = false;
    for (const struct jpeg_marker_struct *m = state->info.marker_list; m; m = m->next) {
        if (m->marker == JPEG_COM) {
            comment_bytes += m->data_length;
            if (++comments <= COMMENTS_MAX && comment_bytes <= COMMENT_BYTES_MAX)
                GF_TRY(add_text(metadata, "Comment", m, 0));
        } else if (!metadata->exif.data && begins(m, "Exif\0\0", 6)) {
            GF_TRY(gf_blob_set(&metadata->exif, m->data + 6, m->data_length - 6));
        } else if (!has_xmp && begins(m, xmp, sizeof xmp)) {
            GF_TRY(add_text(metadata, GF_XMP_KEYWORD, m, sizeof xmp));
            has_xmp = true;
        }
    }
    return GF_OK;
}

static bool is_photoshop(const struct jpeg_marker_struct *marker)
{
    return marker->marker == JPEG_APP0 + 13 && begins(marker, GF_PHOTOSHOP, sizeof GF_PHOTOSHOP);
}

/* Photoshop's block, in which IPTC stands, goes on from one APP13 segment to the next. */
static GfStatus set_photoshop(JpegReader *state, GfBlob *block)
{
    const size_t prefix = sizeof GF_PHOTOSHOP;
    size_t size = 0;
    for (const struct jpeg_marker_struct *m = state->info.marker_list; m; m = m->next)
        if (is_photoshop(m))
            size += m->data_length - prefix;
    if (size == 0)
        return GF_OK;
    GF_TRY(gf_allocate(size, 1, &block->data));
    for (const struct jpeg_marker_struct *m = state->info.marker_list; m; m = m->next)
        if (is_photoshop(m)) {
            memcpy(block->data + block->size, m->data + prefix, m->data_length - prefix);
            block->size += m->data_length - prefix;
        }
    return GF_OK;
}

static GfStatus set_metadata(JpegReader *state)
{
    GfMetadata *metadata = &state->reader->metadata;
    set_density(&state->info, metadata);
    GF_TRY(set_markers(state, metadata));
    GF_TRY(set_photoshop(state, &metadata->photoshop));
    if (guarded(state, read_icc) != GF_OK)
        return explain(state);
    if (state->info.out_color_space == JCS_CMYK)
        gf_reader_note(state->reader, "CMYK converted to RGB%s",
                       state->icc ? ", its colour profile dropped" : "");
    else if (state->icc)
        return gf_blob_set(&metadata->icc, state->icc, state->icc_size);
    return GF_OK;
}

static void set_callbacks(JpegReader *state)
{
    state->info.err = jpeg_std_error(&state->errors);
    state->info.client_data = state;
    state->errors.error_exit = on_error;
    state->errors.emit_message = on_message;
    state->progress.progress_monitor = on_progress;
    state->source.init_source = init_source;
    state->source.fill_input_buffer = fill_input;
    state->source.skip_input_data = skip_input;
    state->source.resync_to_restart = jpeg_resync_to_restart;
    state->source.term_source = end_source;
}

static GfStatus jpeg_open(GfReader *reader, GfInput *input, const GfReadOptions *options)
{
    JpegReader *state;
    GfStatus status = gf_allocate(1, sizeof *state, &state);
    if (status != GF_OK) {
        gf_input_close(input);
        return status;
    }
    memset(state, 0, offsetof(JpegReader, bytes));
    reader->state = state;
    state->reader = reader;
    state->input = input;
    state->tolerant = options->tolerant;
    state->max_scans = options->max_scans;
    set_callbacks(state);
    if (guarded(state, read_header) != GF_OK)
        return explain(state);
    GF_TRY(set_format(state));
    GF_TRY(gf_reader_limit(reader, options));
    GF_TRY(hold_coefficients(state, options));
    GF_TRY(set_metadata(state));
    if (state->info.out_color_space == JCS_CMYK)
        GF_TRY(gf_allocate(reader->format.width, 4, &state->cmyk));
    return GF_OK;
}

static GfStatus jpeg_rows(GfReader *reader, const GfBand *band)
{
    JpegReader *state = reader->state;
    size_t decoded = 0;
    if (!state->broken) {
        state->band = band;
        if (guarded(state, read_rows) != GF_OK)
            GF_TRY(damaged(state));
        decoded = state->row - band->y0;
    }
    for (size_t y = decoded; y < band->rows; y++)
        memset((unsigned char *)band->samples + y * band->stride, 0, gf_row_bytes(&reader->format));
    return GF_OK;
}

static GfStatus jpeg_finish(GfReader *reader)
{
    JpegReader *state = reader->state;
    if (!state->broken && guarded(state, read_end) != GF_OK)
        return damaged(state);
    return GF_OK;
}

static void jpeg_close(GfReader *reader)
{
    JpegReader *state = reader->state;
    jpeg_destroy_decompress(&state->info);
    gf_input_close(state->input);
    free(state->cmyk);
    free(state->icc);
    free(state);
    reader->state = NULL;
}

const GfCodec gf_jpeg = {
    .name = "jpeg",
    .extensions = ".jpg .jpeg .jpe .jfif",
    .many_pictures = false,
    .samples = 1u << GF_U8,
    .max_channels = 3,
    .alpha = false,
    .max_side = JPEG_MAX_DIMENSION,
    .colour = GF_COLOUR_PROFILE,
    .recognises = recognises,
    .open = jpeg_open,
    .rows = jpeg_rows,
    .finish = jpeg_finish,
    .close = jpeg_close,
    .create = gf_jpeg_create,
    .write = gf_jpeg_write,
    .complete = gf_jpeg_complete,
    .abandon = gf_jpeg_abandon,
};
