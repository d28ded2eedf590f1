/* The stages that a filter file may have: a row a kind, with its members and what appends it. The
 * reader, the manual's schema and the tests walk the table; to add a kind is to add a row. */
#pragma once

#include "filters/json_fields.h"
#include "filters/network_weights.h"
#include "filters/stage.h"

enum { GF_NETWORK_MAX_STAGES = 200, GF_STAGE_MAX_FIELDS = 8, GF_STAGE_LABEL_SHOWN = 160 };

/* A network as far as it has been read. */
typedef struct GfNetworkPart {
    GfFilter *filter;
    GfNetworkWeights *weights;
    const json_t *stages; /* all of the network's, as the file has them */
    size_t first;         /* the network's first stage is this one of the filter's */
    bool entered;         /* the stage before that is its entry */
    size_t count;         /* stages read */
    size_t
        channels[GF_NETWORK_MAX_STAGES + 1]; /* what stage i reads; 0: as many as the picture has */
} GfNetworkPart;

typedef struct GfNetworkStage {
    const char *name, *summary;
    GfField
        fields[GF_STAGE_MAX_FIELDS]; /* besides those of every stage; to the first without a name */
    /* Appends one stage to part->filter, and sets the channels of what it makes; `values` in the
     * order of the fields. */
    GfStatus (*append)(GfNetworkPart *part, const GfFieldValue *values);
} GfNetworkStage;

/* The last row has no name. */
extern const GfNetworkStage gf_network_stages[];

/* The members of every stage: "stage" and "name". */
extern const GfField gf_network_stage_common[];

/* Appends the network's next stage, `object`. Errors: GF_EUSAGE with the reason, GF_EMEMORY. */
GfStatus gf_network_stage_read(GfNetworkPart *part, json_t *object);

/* 'stage 3 (conv "body.2")' of `object`, the network's stage of that number, counted from 1: as
 * much as can be told even of a stage that is wrong. Returns `text`, GF_STAGE_LABEL_SHOWN bytes. */
const char *gf_network_stage_label(const json_t *object, size_t number, char *text);
