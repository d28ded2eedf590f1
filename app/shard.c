/* Inputs are dealt out one by one rather than in runs: neighbours are often alike in size, and so
 * every shard gets its part of the large ones. Nothing is agreed on between the shards; each of
 * them makes the same list and takes its own. */
#include "app/shard.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/message.h"
#include "app/shard_auto.h"
#include "app/values.h"
#include "common/memory.h"
#include "common/text.h"

enum { SHOWN = 128, DIGITS = 24 };
static const char automatic[] = "auto";

static GfStatus refuse(const char *value)
{
    char shown[SHOWN];
    return gf_fail(GF_EUSAGE, "--shard %s: K/N is wanted, K from 1 to N, or auto, or auto/N",
                   gf_escape(value, shown, sizeof shown));
}

static GfStatus read_pair(const char *value, GfShard *shard)
{
    char part[DIGITS];
    size_t length = strcspn(value, "/"), number;
    if (value[length] != '/' || length >= sizeof part)
        return refuse(value);
    memcpy(part, value, length);
    part[length] = '\0';
    if (gf_value_count("shard", part, 1, SIZE_MAX, &number) != GF_OK ||
        gf_value_count("shard", value + length + 1, number, SIZE_MAX, &shard->count) != GF_OK)
        return refuse(value);
    shard->index = number - 1;
    return GF_OK;
}

GfStatus gf_shard_find(const char *value, GfShard *shard)
{
    size_t length = strlen(automatic), wanted = 0;
    *shard = (GfShard){.count = 1};
    if (!value)
        return GF_OK;
    snprintf(shard->source, sizeof shard->source, "--shard");
    if (strncmp(value, automatic, length) != 0)
        return read_pair(value, shard);
    if (value[length] == '/' &&
        gf_value_count("shard", value + length + 1, 1, SIZE_MAX, &wanted) != GF_OK)
        return refuse(value);
    if (value[length] && value[length] != '/')
        return refuse(value);
    return gf_shard_auto(wanted, shard);
}

static int by_path(const void *a, const void *b)
{
    const GfJob *one = *(GfJob *const *)a, *other = *(GfJob *const *)b;
    int order = strcmp(gf_input_relative(one->input), gf_input_relative(other->input));
    if (order == 0)
        order = strcmp(one->input->path, other->input->path);
    /* One file given twice: any order will do that is always the same. */
    return order ? order : (one > other) - (one < other);
}

GfStatus gf_shard_take(const GfShard *shard, GfJobs *jobs)
{
    GfJob **ranked;
    bool *mine;
    size_t all = jobs->count, kept = 0;
    if (!shard->source[0])
        return GF_OK;
    GF_TRY(gf_allocate_zero(all + 1, sizeof(GfJob *), &ranked));
    if (gf_allocate_zero(all + 1, sizeof(bool), &mine) != GF_OK) {
        free(ranked);
        return GF_EMEMORY;
    }
    for (size_t i = 0; i < all; i++)
        ranked[i] = &jobs->jobs[i];
    qsort(ranked, all, sizeof *ranked, by_path);
    for (size_t rank = shard->index; rank < all; rank += gf_min(shard->count, all - rank))
        mine[ranked[rank] - jobs->jobs] = true;
    for (size_t i = 0; i < all; i++) {
        if (mine[i])
            jobs->jobs[kept++] = jobs->jobs[i];
        else
            gf_job_free(&jobs->jobs[i]);
    }
    jobs->count = kept;
    free(ranked);
    free(mine);
    gf_say_detail(NULL, "shard %zu of %zu (%s): %zu of %zu inputs", shard->index + 1, shard->count,
                  shard->source, kept, all);
    return GF_OK;
}
