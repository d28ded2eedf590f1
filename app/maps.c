/* Two outputs of one name must be found before anything starts, so the number of maps has to be known
 * then: a layer says how many it makes, and what keeps the channels of its input has more than a
 * picture's only where that is an array, whose header is looked at. */
#include "app/maps.h"

#include <stdlib.h>
#include <string.h>

#include "app/naming.h"
#include "common/memory.h"

bool gf_maps_allowed(const GfOptions *options, const GfJob *job)
{
    return !options->montage && !options->in_place && job->bases_are_names;
}

/* Channels that a stage makes of `channels` (0: as many as the input has) of any input. */
static size_t channels_after(const GfStage *stage, size_t channels)
{
    const GfUpsample *upsample = &stage->upsample;
    switch (stage->kind) {
    case GF_STAGE_LINEAR:
        return stage->linear.depth > 0 ? stage->linear.filters : channels;
    case GF_STAGE_ENTRY:
        return stage->entry.channels + stage->entry.plane_count;
    case GF_STAGE_EXIT: /* a picture: as the input, or with as many colours as there are maps */
        return stage->exit.residual ? 0 : channels;
    case GF_STAGE_UPSAMPLE:
        return upsample->shuffle ? channels / (upsample->factor_x * upsample->factor_y) : channels;
    case GF_STAGE_COMBINE:
    case GF_STAGE_POINTWISE:
    case GF_STAGE_POOL:
    case GF_STAGE_ADD:
        break;
    }
    return channels;
}

static size_t channels_of(const GfFilter *filter)
{
    size_t channels = 0;
    for (size_t i = 0; i < filter->count; i++)
        channels = channels_after(&filter->stages[i], channels);
    return channels;
}

/* What is known of the input without its pixels; channels 0: nothing. */
typedef struct Glance {
    size_t channels;
    const GfCodec *codec;
} Glance;

static Glance glance(const GfOptions *options, const GfJob *job)
{
    const GfCodec *named = gf_codec_for_path(job->input->path);
    Glance seen = {.codec = job->codec};
    GfReader *reader = NULL;
    bool picture = named && named->max_channels > 0; /* which never has too many channels */
    if ((picture && job->codec) || !job->input->regular ||
        gf_reader_open(job->input->path, &options->read, &reader) != GF_OK)
        return seen;
    seen.channels = reader->format.has_alpha ? 0 : reader->format.channels;
    if (!seen.codec)
        seen.codec = reader->codec;
    gf_reader_close(reader);
    return seen;
}

static size_t maps_of(const GfFilter *filter, const Glance *seen)
{
    GfFormat format = {.channels = channels_of(filter)};
    if (format.channels == 0)
        format.channels = seen->channels;
    return seen->codec && format.channels > 0 ? gf_codec_maps(seen->codec, &format) : 1;
}

GfStatus gf_maps_list(const GfOptions *options, const GfBank *bank, GfJob *job)
{
    bool allowed = gf_maps_allowed(options, job);
    bool limited = allowed && job->filters > 0 && (!job->codec || job->codec->max_channels > 0);
    Glance seen = {.codec = job->codec};
    size_t *maps, all = 0;
    GfStatus status;
    if (limited)
        seen = glance(options, job);
    GF_TRY(gf_allocate(job->filters + 1, sizeof *maps, &maps));
    for (size_t i = 0; i < job->filters; i++) {
        maps[i] = limited ? maps_of(bank->filters[i], &seen) : 1;
        all += maps[i];
    }
    GF_GO(gf_allocate_zero(all + 1, sizeof *job->paths, &job->paths));
    for (size_t i = 0; i < job->filters; i++)
        for (size_t map = 1; map <= maps[i]; map++)
            GF_GO(gf_name_map(job->bases[i], map, maps[i], &job->paths[job->outputs++]));
done:
    free(maps);
    return status;
}
