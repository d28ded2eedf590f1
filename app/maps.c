/* Two outputs of one name must be found before anything starts, so the number of maps has to be
 * known then. The layers of most filters say how many they make. What keeps the channels of its
 * input has too many only where that is an array, whose header is looked at; networks that differ
 * for gray and colour are planned for the picture's format. */
#include "app/maps.h"

#include <stdlib.h>
#include <string.h>

#include "app/naming.h"
#include "common/memory.h"

bool gf_maps_allowed(const GfOptions *options, const GfJob *job)
{
    return !options->montage && !options->in_place && job->bases_are_names;
}

/* What decides how many channels a filter makes. */
typedef enum Source {
    FROM_LAYERS,
    FROM_INPUT, /* as many as there */
    FROM_PLAN
} Source;

static Source source_of(const GfFilter *filter, size_t *channels)
{
    Source source = FROM_INPUT;
    *channels = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const GfStage *stage = &filter->stages[i];
        bool layer = stage->kind == GF_STAGE_LINEAR && stage->linear.depth > 0;
        bool plain = stage->kind == GF_STAGE_LINEAR || stage->kind == GF_STAGE_COMBINE ||
                     stage->kind == GF_STAGE_POINTWISE || stage->kind == GF_STAGE_POOL;
        if (!plain || stage->audience != GF_FOR_ALL)
            return FROM_PLAN;
        if (layer) {
            *channels = stage->linear.filters;
            source = FROM_LAYERS;
        }
    }
    return source;
}

/* What is known of the input without its pixels; 0 channels: nothing. */
typedef struct Glance {
    GfFormat format;
    const GfCodec *codec;
} Glance;

/* Whether the outputs' codec or number depend on what is in the input. */
static bool needs_glance(const GfBank *bank, const GfJob *job)
{
    const GfCodec *named = gf_codec_for_path(job->input->path);
    bool picture = named && named->max_channels > 0; /* which never has too many channels */
    bool needed = !job->codec;
    for (size_t i = 0; i < job->filters && !needed; i++) {
        size_t channels;
        Source source = source_of(bank->filters[i], &channels);
        needed = source == FROM_PLAN || (source == FROM_INPUT && !picture);
    }
    return needed && job->input->regular;
}

static Glance glance(const GfOptions *options, const GfJob *job)
{
    Glance seen = {.codec = job->codec};
    GfReader *reader = NULL;
    if (gf_reader_open(job->input->path, &options->read, &reader) != GF_OK)
        return seen;
    seen.format = reader->format;
    if (!seen.codec)
        seen.codec = reader->codec;
    gf_reader_close(reader);
    return seen;
}

/* What cannot be planned gives no maps: it fails when its turn comes. */
static size_t planned_maps(const GfOptions *options, const GfFilter *filter, const Glance *seen)
{
    const GfPlanOptions wishes = gf_options_plan(options, GF_F32);
    GfPlan *plan;
    if (gf_plan_create(&filter, 1, &seen->format, &wishes, &plan) != GF_OK)
        return 1;
    size_t maps = gf_codec_maps(seen->codec, &plan->pipelines[0].out);
    gf_plan_free(plan);
    return maps;
}

static size_t maps_of(const GfOptions *options, const GfFilter *filter, const Glance *seen)
{
    GfFormat format = seen->format;
    size_t channels;
    Source source = source_of(filter, &channels);
    if (!seen->codec || (source != FROM_LAYERS && format.channels == 0))
        return 1;
    if (source == FROM_PLAN)
        return planned_maps(options, filter, seen);
    if (source == FROM_LAYERS)
        format = (GfFormat){.channels = channels};
    return gf_codec_maps(seen->codec, &format);
}

GfStatus gf_maps_list(const GfOptions *options, const GfBank *bank, GfJob *job)
{
    bool limited = gf_maps_allowed(options, job) && job->filters > 0 &&
                   (!job->codec || job->codec->max_channels > 0);
    Glance seen = {.codec = job->codec};
    size_t all = 0;
    if (limited && needs_glance(bank, job))
        seen = glance(options, job);
    GF_TRY(gf_allocate(job->filters + 1, sizeof *job->maps, &job->maps));
    for (size_t i = 0; i < job->filters; i++) {
        job->maps[i] = limited ? maps_of(options, bank->filters[i], &seen) : 1;
        all += job->maps[i];
    }
    GF_TRY(gf_allocate_zero(all + 1, sizeof *job->paths, &job->paths));
    for (size_t i = 0; i < job->filters; i++)
        for (size_t map = 1; map <= job->maps[i]; map++)
            GF_TRY(gf_name_map(job->bases[i], map, job->maps[i], &job->paths[job->outputs++]));
    return GF_OK;
}
