/* A filter file is data: nothing in it is run, and what it may say stands in the tables below and
 * in network_stages.c. Each stage of the file becomes one stage of the filter, between an entry
 * ("input") and an exit ("output"), and carries a label that says where it came from: what does not
 * fit the picture shows only when that is there, and the message must still lead to the line in the
 * file. */
#include "filters/network_file.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/network_stages.h"
#include "filters/text_file.h"

enum {
    MAX_FILE_BYTES = 1 << 20,
    SHOWN = 160,
    WHERE = SHOWN + GF_STAGE_LABEL_SHOWN + 32,
    MAX_PLANES = 64,
    MAX_PARAMETERS = 8, /* by the format; no more than GF_MAX_PARAMETERS */
    COLOURS = 3
};

/* ---- the members of a file ---- */

enum { VERSION, NAME, SUMMARY, WEIGHTS, PARAMETERS, INPUT, STAGES, OUTPUT, NETWORKS, FILE_FIELDS };

static const GfField file_fields[] = {
    {"gpufilter", GF_FIELD_WHOLE, true, NULL, 1, 1, 0},
    {"name", GF_FIELD_NAME, false, NULL, 0, 0, 0},
    {"summary", GF_FIELD_TEXT, false, NULL, 0, 0, 0},
    {"weights", GF_FIELD_TEXT, false, NULL, 0, 0, 0},
    {"parameters", GF_FIELD_OBJECT, false, NULL, 0, 0, 0},
    {"input", GF_FIELD_OBJECT, false, NULL, 0, 0, 0},
    {"stages", GF_FIELD_LIST, false, NULL, 0, GF_NETWORK_MAX_STAGES, 0},
    {"output", GF_FIELD_OBJECT, false, NULL, 0, 0, 0},
    {"networks", GF_FIELD_LIST, false, NULL, 0, 0, 0},
    {0}};

enum { NETWORK_INPUT, NETWORK_STAGES, NETWORK_OUTPUT, NETWORK_FIELDS };

static const GfField network_fields[] = {
    {"input", GF_FIELD_OBJECT, true, NULL, 0, 0, 0},
    {"stages", GF_FIELD_LIST, true, NULL, 0, GF_NETWORK_MAX_STAGES, 0},
    {"output", GF_FIELD_OBJECT, false, NULL, 0, 0, 0},
    {0}};

enum { DEFAULT, MINIMUM, MAXIMUM, PARAMETER_SUMMARY, PARAMETER_FIELDS };

static const GfField parameter_fields[] = {
    {"default", GF_FIELD_NUMBER, true, NULL, -FLT_MAX, FLT_MAX, 0},
    {"minimum", GF_FIELD_NUMBER, true, NULL, -FLT_MAX, FLT_MAX, 0},
    {"maximum", GF_FIELD_NUMBER, true, NULL, -FLT_MAX, FLT_MAX, 0},
    {"summary", GF_FIELD_TEXT, false, NULL, 0, 0, 0},
    {0}};

enum { CHANNELS, RANGE, MEAN, STD, PLANES, INPUT_FIELDS };

static const GfField input_fields[] = {
    {"channels", GF_FIELD_WHOLE, true, NULL, 1, GF_LAYER_MAX_CHANNELS, 0},
    {"range", GF_FIELD_NUMBERS, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {"mean", GF_FIELD_NUMBERS, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {"std", GF_FIELD_NUMBERS, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {"planes", GF_FIELD_LIST, false, NULL, 0, MAX_PLANES, 0},
    {0}};

enum { PLANE_VALUE, PLANE_PARAMETER, PLANE_SCALE, PLANE_OFFSET, PLANE_FIELDS };

static const GfField plane_fields[] = {
    {"value", GF_FIELD_NUMBER, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {"parameter", GF_FIELD_NAME, false, NULL, 0, 0, 0},
    {"scale", GF_FIELD_NUMBER, false, NULL, -FLT_MAX, FLT_MAX, 1},
    {"offset", GF_FIELD_NUMBER, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {0}};

enum { AS, OUTPUT_RANGE, OUTPUT_FIELDS };
enum { AS_MAPS, AS_PICTURE, AS_RESIDUAL };

static const GfField output_fields[] = {
    {"as", GF_FIELD_WORD, false, "maps picture residual", 0, 2, 0},
    {"range", GF_FIELD_NUMBERS, false, NULL, -FLT_MAX, FLT_MAX, 0},
    {0}};

struct GfNetworkFile {
    json_t *json;
    char label[SHOWN]; /* "@" and the path, escaped */
    char *name;
    GfNamedFilter row;
    GfNetworkWeights weights;
    GfFieldValue values[FILE_FIELDS];
};

/* One network of the file. */
typedef struct Network {
    GfNetworkFile *file;
    const GfValue *parameters;
    size_t number; /* from 1 on; 0: it is the only one */
    GfAudience audience;
    json_t *input, *stages, *output; /* input and output may be NULL */
    double low, high;                /* of the input */
    GfNetworkPart part;
} Network;

/* ---- labels ---- */

/* "@net.json: network 2: stage 3 (conv)"; of no network "@net.json: what". */
static void write_label(const GfNetworkFile *file, size_t network, const char *what,
                        char label[WHERE])
{
    char number[40] = "";
    if (network)
        snprintf(number, sizeof number, ": network %zu", network);
    snprintf(label, WHERE, "%s%s%s%s", file->label, number, *what ? ": " : "", what);
}

static GfStatus fail_in(GfStatus status, const Network *network, const char *what)
{
    char label[WHERE];
    if (status == GF_OK)
        return GF_OK;
    write_label(network->file, network->number, what, label);
    return gf_fail_at(status, label);
}

/* Labels the filter's last stage. */
static GfStatus mark(const Network *network, const char *what)
{
    GfFilter *filter = network->part.filter;
    GfStage *stage = &filter->stages[filter->count - 1];
    char label[WHERE];
    write_label(network->file, network->number, what, label);
    stage->audience = network->audience;
    stage->label = strdup(label);
    return stage->label ? GF_OK : gf_fail(GF_EMEMORY, "out of memory");
}

/* ---- input ---- */

/* Black and white, which must differ. */
static GfStatus read_range(const GfField *field, const GfFieldValue *value, double *low,
                           double *high)
{
    double range[2];
    if (!value->given)
        return GF_OK;
    GF_TRY(gf_field_numbers(field, value, 2, range));
    if (range[0] == range[1])
        return gf_fail(GF_EUSAGE, "\"range\": black and white are both %g", range[0]);
    *low = range[0];
    *high = range[1];
    return GF_OK;
}

/* A number a channel, or NULL where the file has none. */
static GfStatus read_per_channel(const GfField *field, const GfFieldValue *value, size_t channels,
                                 double **numbers)
{
    if (!value->given)
        return GF_OK;
    GF_TRY(gf_allocate(channels, sizeof **numbers, numbers));
    return gf_field_numbers(field, value, channels, *numbers);
}

static GfStatus check_deviation(const GfEntry *entry)
{
    for (size_t i = 0; entry->deviation && i < entry->channels; i++)
        if (entry->deviation[i] == 0.0)
            return gf_fail(GF_EUSAGE, "\"std\": nothing is divided by 0, as that of channel %zu is",
                           i + 1);
    return GF_OK;
}

static GfStatus parameter_value(const Network *network, const char *name, double *value)
{
    const GfParameter *parameters = network->file->row.parameters;
    const char *names[GF_MAX_PARAMETERS + 1];
    size_t i = 0;
    for (; i < GF_MAX_PARAMETERS && parameters[i].name; i++) {
        names[i] = parameters[i].name;
        if (strcmp(names[i], name) != 0)
            continue;
        *value = network->parameters[i].number;
        return GF_OK;
    }
    names[i] = NULL;
    const char *nearest = gf_nearest(name, names);
    return gf_fail(GF_EUSAGE, "\"parameters\" has no \"%s\"%s%s%s", name,
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static GfStatus read_plane(const Network *network, json_t *object, double *value)
{
    GfFieldValue values[PLANE_FIELDS];
    double number;
    GF_TRY(gf_fields_read(object, plane_fields, values));
    if (values[PLANE_VALUE].given == values[PLANE_PARAMETER].given)
        return gf_fail(GF_EUSAGE, "a plane has either a \"value\" or a \"parameter\"");
    if (values[PLANE_VALUE].given) {
        *value = values[PLANE_VALUE].number;
        if (values[PLANE_SCALE].given || values[PLANE_OFFSET].given)
            return gf_fail(GF_EUSAGE, "\"scale\" and \"offset\" go with a \"parameter\"");
        return GF_OK;
    }
    GF_TRY(parameter_value(network, values[PLANE_PARAMETER].text, &number));
    *value = number * values[PLANE_SCALE].number + values[PLANE_OFFSET].number;
    return GF_OK;
}

static GfStatus read_planes(const Network *network, const json_t *planes, double *values)
{
    for (size_t i = 0; i < json_array_size(planes); i++) {
        char where[32];
        snprintf(where, sizeof where, "plane %zu", i + 1);
        GfStatus status = read_plane(network, json_array_get(planes, i), &values[i]);
        if (status != GF_OK)
            return gf_fail_at(status, where);
    }
    return GF_OK;
}

static GfStatus add_input(Network *network)
{
    GfNetworkPart *part = &network->part;
    GfFieldValue values[INPUT_FIELDS];
    GfEntry *entry;
    GF_TRY(gf_fields_read(network->input, input_fields, values));
    GF_TRY(read_range(&input_fields[RANGE], &values[RANGE], &network->low, &network->high));
    size_t channels = (size_t)values[CHANNELS].number;
    size_t planes = json_array_size(values[PLANES].value);
    GF_TRY(
        gf_filter_add_entry(part->filter, channels, network->low, network->high, planes, &entry));
    GF_TRY(read_per_channel(&input_fields[MEAN], &values[MEAN], channels, &entry->mean));
    GF_TRY(read_per_channel(&input_fields[STD], &values[STD], channels, &entry->deviation));
    GF_TRY(check_deviation(entry));
    GF_TRY(read_planes(network, values[PLANES].value, entry->planes));
    part->entered = true;
    part->channels[0] = channels + planes;
    return mark(network, "input");
}

/* ---- output ---- */

static GfStatus check_maps(const Network *network, bool residual)
{
    const GfNetworkPart *part = &network->part;
    size_t maps = part->channels[part->count];
    size_t channels = part->filter->stages[part->first - 1].entry.channels;
    if (maps == 1 || maps == COLOURS || maps == channels)
        return GF_OK;
    return gf_fail(GF_EUSAGE,
                   "the last stage makes %zu maps; a %s has 1, %d or as many as the "
                   "input, %zu",
                   maps, residual ? "residual" : "picture", COLOURS, channels);
}

static GfStatus add_output(Network *network)
{
    GfFieldValue values[OUTPUT_FIELDS];
    GF_TRY(gf_fields_read(network->output, output_fields, values));
    bool residual = values[AS].word == AS_RESIDUAL;
    GfExit exit = {.residual = residual, .low = network->low, .high = network->high};
    GF_TRY(read_range(&output_fields[OUTPUT_RANGE], &values[OUTPUT_RANGE], &exit.low, &exit.high));
    if (values[AS].word == AS_MAPS && values[OUTPUT_RANGE].given)
        return gf_fail(GF_EUSAGE, "\"range\" goes with \"as\": \"picture\" or \"residual\"");
    if (values[AS].word == AS_MAPS)
        return GF_OK;
    if (!network->part.entered)
        return gf_fail(GF_EUSAGE, "\"as\": \"%s\" needs an \"input\" object",
                       residual ? "residual" : "picture");
    GF_TRY(check_maps(network, residual));
    GF_TRY(gf_filter_add_exit(network->part.filter, exit));
    return mark(network, "output");
}

/* ---- networks ---- */

static GfStatus add_stages(Network *network)
{
    GfNetworkPart *part = &network->part;
    char label[GF_STAGE_LABEL_SHOWN];
    for (size_t i = 0; i < json_array_size(network->stages); i++) {
        json_t *object = json_array_get(network->stages, i);
        gf_network_stage_label(object, i + 1, label);
        GF_TRY(fail_in(gf_network_stage_read(part, object), network, label));
        GF_TRY(mark(network, label));
    }
    return GF_OK;
}

static GfStatus add_network(Network *network, GfFilter *filter)
{
    network->low = 0.0;
    network->high = 1.0;
    network->part = (GfNetworkPart){
        .filter = filter, .weights = &network->file->weights, .stages = network->stages};
    if (network->input)
        GF_TRY(fail_in(add_input(network), network, "input"));
    network->part.first = filter->count;
    GF_TRY(add_stages(network));
    return network->output ? fail_in(add_output(network), network, "output") : GF_OK;
}

/* Which pictures a network of a pair is for, by its input's channels. */
static GfStatus read_pair_member(Network *network, json_t *object)
{
    GfFieldValue values[NETWORK_FIELDS];
    GF_TRY(gf_fields_read(object, network_fields, values));
    double channels = json_number_value(json_object_get(values[NETWORK_INPUT].value, "channels"));
    network->input = values[NETWORK_INPUT].value;
    network->stages = values[NETWORK_STAGES].value;
    network->output = values[NETWORK_OUTPUT].value;
    network->audience = channels == 1.0 ? GF_FOR_GRAY : GF_FOR_COLOUR;
    if (channels == 1.0 || channels == COLOURS)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "of two networks the \"input\" of one has 1 channel, of the other %d",
                   COLOURS);
}

/* The one for gray pictures first: the choice is made where it begins. */
static GfStatus add_pair(GfNetworkFile *file, const json_t *list, const GfValue *parameters,
                         GfFilter *filter)
{
    Network networks[2];
    if (json_array_size(list) != 2)
        return gf_fail_at(gf_fail(GF_EUSAGE,
                                  "\"networks\" has %zu; two are one for gray and one "
                                  "for colour pictures",
                                  json_array_size(list)),
                          file->label);
    for (size_t i = 0; i < 2; i++) {
        networks[i] = (Network){.file = file, .parameters = parameters, .number = i + 1};
        GF_TRY(fail_in(read_pair_member(&networks[i], json_array_get(list, i)), &networks[i], ""));
    }
    if (networks[0].audience == networks[1].audience)
        return gf_fail_at(gf_fail(GF_EUSAGE, "both networks take %s pictures",
                                  networks[0].audience == GF_FOR_GRAY ? "gray" : "colour"),
                          file->label);
    size_t gray = networks[0].audience == GF_FOR_GRAY ? 0 : 1;
    GF_TRY(add_network(&networks[gray], filter));
    return add_network(&networks[1 - gray], filter);
}

GfStatus gf_network_file_add(GfNetworkFile *file, const GfValue *values, GfFilter *filter)
{
    const GfFieldValue *fields = file->values;
    if (fields[NETWORKS].given)
        return add_pair(file, fields[NETWORKS].value, values, filter);
    Network network = {.file = file,
                       .parameters = values,
                       .input = fields[INPUT].value,
                       .stages = fields[STAGES].value,
                       .output = fields[OUTPUT].value};
    return add_network(&network, filter);
}

/* ---- files ---- */

static GfStatus read_parameter(const char *name, json_t *object, GfParameter *parameter)
{
    GfFieldValue values[PARAMETER_FIELDS];
    if (!gf_is_field_name(name))
        return gf_fail(GF_EUSAGE, "a name has letters, digits, \"_\", and then \".\" and \"-\"");
    if (!json_is_object(object))
        return gf_fail(GF_EUSAGE, "an object says what it is");
    GF_TRY(gf_fields_read(object, parameter_fields, values));
    *parameter =
        (GfParameter){.name = name,
                      .summary = values[PARAMETER_SUMMARY].given ? values[PARAMETER_SUMMARY].text
                                                                 : "a number of the network",
                      .kind = GF_NUMBER,
                      .minimum = values[MINIMUM].number,
                      .maximum = values[MAXIMUM].number,
                      .standard = values[DEFAULT].number};
    if (parameter->standard >= parameter->minimum && parameter->standard <= parameter->maximum)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "the default, %g, is not from minimum, %g, to maximum, %g",
                   parameter->standard, parameter->minimum, parameter->maximum);
}

static GfStatus read_parameters(json_t *object, GfParameter *parameters)
{
    char shown[SHOWN], where[SHOWN + 16];
    size_t count = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *name = json_object_iter_key(at);
        if (count == MAX_PARAMETERS)
            return gf_fail(GF_EUSAGE, "more than %d parameters", MAX_PARAMETERS);
        GfStatus status = read_parameter(name, json_object_iter_value(at), &parameters[count++]);
        snprintf(where, sizeof where, "parameter \"%s\"", gf_escape(name, shown, sizeof shown));
        if (status != GF_OK)
            return gf_fail_at(status, where);
    }
    return GF_OK;
}

/* One network, or two; each file has one of these forms. */
static GfStatus check_form(const GfFieldValue *values)
{
    bool one = values[INPUT].given || values[STAGES].given || values[OUTPUT].given;
    if (values[NETWORKS].given && one)
        return gf_fail(GF_EUSAGE, "\"networks\" have their own \"input\", \"stages\" and "
                                  "\"output\", and there are others beside them");
    if (!values[NETWORKS].given && !values[STAGES].given)
        return gf_fail(GF_EUSAGE, "neither \"stages\" nor \"networks\"");
    return GF_OK;
}

static GfStatus parse(GfNetworkFile *file, const char *text, size_t size)
{
    json_error_t error;
    char shown[SHOWN];
    file->json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!file->json && json_error_code(&error) == json_error_out_of_memory)
        return gf_fail(GF_EMEMORY, "out of memory");
    if (!file->json)
        return gf_fail(GF_EUSAGE, "line %d, column %d: %s", error.line, error.column,
                       gf_escape(error.text, shown, sizeof shown));
    if (!json_is_object(file->json))
        return gf_fail(GF_EUSAGE, "a filter file is a JSON object");
    GF_TRY(gf_fields_read(file->json, file_fields, file->values));
    GF_TRY(check_form(file->values));
    return read_parameters(file->values[PARAMETERS].value, file->row.parameters);
}

/* The row is only read; what its stages are takes the file. */
static GfStatus not_by_itself(const GfValue *values, GfFilter *filter)
{
    (void)values;
    (void)filter;
    return gf_fail(GF_EUSAGE, "a filter file is written @FILE");
}

static GfStatus create(const char *prefix, const char *path, GfNetworkFile **file)
{
    char shown[SHOWN - 2];
    GF_TRY(gf_allocate_zero(1, sizeof **file, file));
    gf_escape(path, shown, sizeof shown);
    snprintf((*file)->label, sizeof(*file)->label, "%s%s", prefix, shown);
    (*file)->row = (GfNamedFilter){.name = (*file)->label, .stages = not_by_itself};
    return GF_OK;
}

/* The file's own name up to the first dot, or as the file says. */
static GfStatus set_name(GfNetworkFile *file, const char *path)
{
    const char *given = file->values[NAME].text, *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = *base == '.' ? strlen(base) : strcspn(base, ".");
    file->name = given ? strdup(given) : strndup(base, length);
    file->row.summary = file->values[SUMMARY].given ? file->values[SUMMARY].text : "a filter file";
    return file->name ? GF_OK : gf_fail(GF_EMEMORY, "out of memory");
}

/* Hands the file over, or closes it and names it in the message. */
static GfStatus finish(GfStatus status, GfNetworkFile *file, GfNetworkFile **out)
{
    *out = status == GF_OK ? file : NULL;
    if (status == GF_OK)
        return GF_OK;
    if (file)
        gf_fail_at(status, file->label);
    gf_network_file_close(file);
    return status;
}

GfStatus gf_network_file_open(const char *path, GfNetworkFile **out)
{
    GfNetworkFile *file = NULL;
    char *text = NULL;
    size_t size;
    GfStatus status;
    GF_GO(create("@", path, &file));
    GF_GO(gf_text_file_read(path, MAX_FILE_BYTES, &text, &size));
    GF_GO(parse(file, text, size));
    GF_GO(set_name(file, path));
    status = gf_network_weights_open(&file->weights, path, file->values[WEIGHTS].text);
    if (status != GF_OK && file->values[WEIGHTS].given)
        gf_fail_at(status, "\"weights\"");
done:
    free(text);
    return finish(status, file, out);
}

GfStatus gf_network_file_open_memory(const char *name, const char *json, size_t json_size,
                                     const void *weights, size_t weights_size, GfNetworkFile **out)
{
    GfNetworkFile *file = NULL;
    GfStatus status;
    GF_GO(create("", name, &file));
    GF_GO(parse(file, json, json_size));
    GF_GO(set_name(file, name));
    GF_GO(gf_network_weights_open_memory(&file->weights, weights, weights_size));
done:
    return finish(status, file, out);
}

const GfNamedFilter *gf_network_file_row(const GfNetworkFile *file)
{
    return &file->row;
}

const char *gf_network_file_name(const GfNetworkFile *file)
{
    return file->name;
}

void gf_network_file_close(GfNetworkFile *file)
{
    if (!file)
        return;
    gf_network_weights_close(&file->weights);
    json_decref(file->json);
    free(file->name);
    free(file);
}
