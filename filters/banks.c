/* The banks: a row a bank, and beside it the function that turns parameters into members. Formulas
 * and sources: gpufilter-filters(7).
 *
 * Kernels that are products are given by their factors, those of tables by integer taps and a
 * scale, as in the catalogue. What belongs to a derivative sums to zero exactly as far as doubles
 * can, because a flat picture must give zero. */
#include "filters/banks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/oriented.h"
#include "filters/parameter.h"

enum { SHOWN = 160, NAME_LENGTH = 63, MOST_MEMBERS = 1024 };

static const double pi = 3.14159265358979323846;

/* ---- building blocks ---- */

/* Appends an empty member of that name. */
__attribute__((format(printf, 3, 4))) static GfStatus
add_member(GfMembers *members, GfFilter **filter, const char *format, ...)
{
    va_list arguments;
    if (members->count == MOST_MEMBERS)
        return gf_fail(GF_EUSAGE, "the bank has more than %d members", MOST_MEMBERS);
    if (members->count == members->room) {
        size_t room = 2 * members->room + 8;
        GfFilter **longer = realloc(members->filters, room * sizeof *longer);
        if (!longer)
            return gf_fail(GF_EMEMORY, "out of memory");
        members->filters = longer;
        members->room = room;
    }
    GF_TRY(gf_allocate_zero(1, sizeof **filter, filter));
    members->filters[members->count++] = *filter;
    va_start(arguments, format);
    int length = vasprintf(&(*filter)->name, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return GF_OK;
    (*filter)->name = NULL;
    return gf_fail(GF_EMEMORY, "out of memory");
}

/* Taps on each side of the middle, where SciPy cuts a gaussian; at least `least`. */
static size_t gaussian_radius(double sigma, size_t least)
{
    return gf_max((size_t)(4.0 * sigma + 0.5), least);
}

/* taps[radius + x] = exp(-x^2 / (2 sigma^2)), divided by their sum. */
static void gaussian_taps(double *taps, size_t radius, double sigma)
{
    double sum = 0.0;
    for (size_t i = 0; i <= 2 * radius; i++) {
        double x = (double)i - (double)radius;
        taps[i] = exp(-x * x / (2.0 * sigma * sigma));
        sum += taps[i];
    }
    for (size_t i = 0; i <= 2 * radius; i++)
        taps[i] /= sum;
}

/* ---- gabor ---- */

enum { GABOR_ORIENTATIONS, GABOR_WAVELENGTHS, GABOR_SHAPE };

static GfStatus gabor_members(const GfValue *values, GfMembers *members)
{
    const GfValue *wavelengths = &values[GABOR_WAVELENGTHS];
    size_t orientations = (size_t)values[GABOR_ORIENTATIONS].number;
    for (size_t i = 0; i < wavelengths->count; i++)
        for (size_t j = 0; j < orientations; j++) {
            GfFilter *filter;
            double wavelength = wavelengths->list[i];
            double theta = pi * (double)j / (double)orientations;
            GF_TRY(add_member(members, &filter, "gabor-%g-%03.0f", wavelength, theta * 180.0 / pi));
            GF_TRY(gf_gabor_add(wavelength, theta, values + GABOR_SHAPE, filter));
        }
    return GF_OK;
}

/* ---- derivatives ---- */

enum { MOST_ORDER = 3 };

/* Derivative `order` of a gaussian, times sigma^order, as taps for correlation. Sampled formulas
 * are off for small sigma, so the taps are the gaussian times the polynomial that makes them exact:
 * they give the derivative of every polynomial up to that order, and 0 for those of lower order. */
static void derivative_taps(double *taps, size_t radius, double sigma, size_t order)
{
    double m2 = 0.0, m4 = 0.0, m6 = 0.0;
    gaussian_taps(taps, radius, sigma);
    for (size_t i = 0; i <= 2 * radius; i++) {
        double x = (double)i - (double)radius, xx = x * x;
        m2 += taps[i] * xx;
        m4 += taps[i] * xx * xx;
        m6 += taps[i] * xx * xx * xx;
    }
    for (size_t i = 0; order > 0 && i <= 2 * radius; i++) {
        double x = (double)i - (double)radius;
        const double factors[MOST_ORDER + 1] = {1.0, x / m2, 2.0 * (x * x - m2) / (m4 - m2 * m2),
                                                6.0 * x * (x * x - m4 / m2) / (m6 - m4 * m4 / m2)};
        taps[i] *= factors[order] * pow(sigma, (double)order);
    }
}

static GfStatus add_derivative(double sigma, size_t order_x, size_t order_y, GfMembers *members)
{
    GfFilter *filter;
    GfLinear *linear;
    static const char axes[] = "xxxyyy";
    size_t radius = gaussian_radius(sigma, gf_max(order_x, order_y) > 2 ? 2 : 1);
    GF_TRY(add_member(members, &filter, "derivatives-%g-%.*s", sigma, (int)(order_x + order_y),
                      axes + MOST_ORDER - order_x));
    GF_TRY(gf_filter_add_factors(filter, 1, 2 * radius + 1, 2 * radius + 1, &linear));
    derivative_taps(linear->rows, radius, sigma, order_x);
    derivative_taps(linear->columns, radius, sigma, order_y);
    return GF_OK;
}

static GfStatus derivatives_members(const GfValue *values, GfMembers *members)
{
    size_t most = (size_t)values[0].number;
    for (size_t i = 0; i < values[1].count; i++)
        for (size_t order = 1; order <= most; order++)
            for (size_t y = 0; y <= order; y++)
                GF_TRY(add_derivative(values[1].list[i], order - y, y, members));
    return GF_OK;
}

/* ---- compass masks ---- */

/* Eight masks: the first has its light in the north, each of the next is turned by 45 degrees
 * against the clock. */
static GfStatus compass_members(const char *name, GfCompass mask, double scale, GfMembers *members)
{
    static const char *const directions[GF_COMPASS_DIRECTIONS] = {"n", "nw", "w", "sw",
                                                                  "s", "se", "e", "ne"};
    for (size_t turn = 0; turn < GF_COMPASS_DIRECTIONS; turn++) {
        GfFilter *filter;
        GfLinear *linear;
        GF_TRY(add_member(members, &filter, "%s-%s", name, directions[turn]));
        GF_TRY(gf_filter_add_kernel(filter, 1, 3, 3, &linear));
        gf_compass_turn(mask, turn, linear->weights);
        linear->scale = scale;
    }
    return GF_OK;
}

static GfStatus robinson_members(const GfValue *values, GfMembers *members)
{
    return compass_members("robinson", GF_COMPASS_ROBINSON, values[0].number, members);
}

static GfStatus kirsch_members(const GfValue *values, GfMembers *members)
{
    return compass_members("kirsch", GF_COMPASS_KIRSCH, values[0].number, members);
}

/* ---- laplacian pyramid without decimation ---- */

/* One of the two gaussians of a level as factors of kernel f; sigma 0 is the picture itself. */
static void level_factors(const GfLinear *linear, size_t f, double sigma, double sign)
{
    size_t side = linear->width, radius = sigma > 0.0 ? gaussian_radius(sigma, 1) : 0;
    double *row = linear->rows + f * side + side / 2 - radius;
    double *column = linear->columns + f * side + side / 2 - radius;
    gaussian_taps(row, radius, sigma > 0.0 ? sigma : 1.0);
    gaussian_taps(column, radius, sigma > 0.0 ? sigma : 1.0);
    for (size_t i = 0; i <= 2 * radius; i++)
        column[i] *= sign;
}

/* Two kernels and their sum, because two separable passes are less work than one that is not. */
static GfStatus add_level(size_t number, double fine, double coarse, GfMembers *members)
{
    GfFilter *filter;
    GfLinear *linear;
    size_t side = 2 * gaussian_radius(coarse, 1) + 1;
    GF_TRY(add_member(members, &filter, "laplacian-%zu", number));
    GF_TRY(gf_filter_add_factors(filter, 2, side, side, &linear));
    level_factors(linear, 0, fine, 1.0);
    level_factors(linear, 1, coarse, -1.0);
    return gf_filter_add_combine(filter, (GfCombine){.op = GF_COMBINE_SUM});
}

static GfStatus laplacian_members(const GfValue *values, GfMembers *members)
{
    size_t levels = (size_t)values[0].number;
    double fine = 0.0, coarse = values[1].number;
    GfFilter *filter;
    GfLinear *linear;
    for (size_t i = 1; i <= levels; i++, fine = coarse, coarse *= 2.0)
        GF_TRY(add_level(i, fine, coarse, members));
    size_t side = 2 * gaussian_radius(fine, 1) + 1;
    GF_TRY(add_member(members, &filter, "laplacian-low"));
    GF_TRY(gf_filter_add_factors(filter, 1, side, side, &linear));
    level_factors(linear, 0, fine, 1.0);
    return GF_OK;
}

/* ---- laws ---- */

static GfStatus laws_members(const GfValue *values, GfMembers *members)
{
    static const struct {
        char letter;
        double taps[5];
    } vectors[2][5] = {{{'l', {1, 2, 1}}, {'e', {-1, 0, 1}}, {'s', {-1, 2, -1}}},
                       {{'l', {1, 4, 6, 4, 1}},
                        {'e', {-1, -2, 0, 2, 1}},
                        {'s', {-1, 0, 2, 0, -1}},
                        {'w', {-1, 2, 0, -2, 1}},
                        {'r', {1, -4, 6, -4, 1}}}};
    size_t size = (size_t)values[0].number, set = size == 5;
    for (size_t i = 0; i < size * size; i++) {
        size_t column = i / size, row = i % size;
        GfFilter *filter;
        GfLinear *linear;
        GF_TRY(add_member(members, &filter, "laws-%c%zu%c%zu", vectors[set][column].letter, size,
                          vectors[set][row].letter, size));
        GF_TRY(gf_filter_add_factors(filter, 1, size, size, &linear));
        memcpy(linear->columns, vectors[set][column].taps, size * sizeof(double));
        memcpy(linear->rows, vectors[set][row].taps, size * sizeof(double));
        linear->scale = values[1].number;
    }
    return GF_OK;
}

/* ---- the table ---- */

#define SCALE_PARAMETER                                                                            \
    {                                                                                              \
        "scale", "factor on the responses", GF_NUMBER, NULL, -1e6, 1e6, 1                          \
    }

const GfNamedBank gf_named_banks[] = {
    {{"gabor",
      "waves under a gaussian: how strong a wavelength is in a direction",
      "exp(-(u^2 / sigma^2 + (aspect v)^2 / sigma^2) / 2) (cos(2 pi u / wavelength + phase) - "
      "mean), "
      "u = x cos a + y sin a, v = y cos a - x sin a; positive taps sum to 1, all to 0",
      {{"orientations", "angles a from 0 to 180 degrees", GF_WHOLE, NULL, 1, 90, 8},
       {"wavelengths", "in pixels, separated by commas", GF_LIST, "4,8", 2, 256, 0},
       GF_GABOR_PARAMETERS},
      NULL},
     gabor_members},
    {{"derivatives",
      "derivatives of a gaussian in x and y: x, y, xx, xy, yy, ...",
      "sigma^(m + n) d^m/dx^m d^n/dy^n of a gaussian, for all 1 <= m + n <= order",
      {{"order", "highest order: 1, 2 or 3", GF_WHOLE, NULL, 1, MOST_ORDER, 2},
       {"sigmas", "standard deviations in pixels, separated by commas", GF_LIST, "1,2", 0.3, 60,
        0}},
      NULL},
     derivatives_members},
    {{"robinson",
      "gradient in the eight directions of the compass",
      "1 2 1 / 0 0 0 / -1 -2 -1 (n), its rim turned on for nw, w, sw, s, se, e, ne",
      {SCALE_PARAMETER},
      NULL},
     robinson_members},
    {{"kirsch",
      "edges in the eight directions of the compass",
      "5 5 5 / -3 0 -3 / -3 -3 -3 (n), its rim turned on for nw, w, sw, s, se, e, ne",
      {SCALE_PARAMETER},
      NULL},
     kirsch_members},
    {{"laplacian",
      "levels of a laplacian pyramid, all of full size; they sum to the picture",
      "x - G(sigma), G(sigma) - G(2 sigma), G(2 sigma) - G(4 sigma), ...; and low, the last G",
      {{"levels", "differences, beside the last gaussian", GF_WHOLE, NULL, 1, 8, 4},
       {"sigma", "of the first gaussian, in pixels", GF_NUMBER, NULL, 0.3, 4, 1}},
      NULL},
     laplacian_members},
    {{"laws",
      "texture masks: level, edge, spot, wave and ripple, along columns and rows",
      "l5 1 4 6 4 1, e5 -1 -2 0 2 1, s5 -1 0 2 0 -1, w5 -1 2 0 -2 1, r5 1 -4 6 -4 1; "
      "l3 1 2 1, e3 -1 0 1, s3 -1 2 -1; l5e5: l5 down the column, e5 along the row",
      {{"size", "taps a side: 5 (25 masks) or 3 (9)", GF_ODD, NULL, 3, 5, 5}, SCALE_PARAMETER},
      NULL},
     laws_members},
    {{NULL, NULL, NULL, {{0}}, NULL}, NULL},
};

const GfNamedBank *gf_named_bank_find(const char *name)
{
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++)
        if (strcmp(row->about.name, name) == 0)
            return row;
    return NULL;
}

/* ---- from text to filters ---- */

static GfStatus unknown_bank(const char *name)
{
    const char *names[sizeof gf_named_banks / sizeof *gf_named_banks];
    char shown[SHOWN];
    size_t n = 0;
    for (; gf_named_banks[n].about.name; n++)
        names[n] = gf_named_banks[n].about.name;
    names[n] = NULL;
    const char *nearest = gf_nearest(name, names);
    gf_escape(name, shown, sizeof shown);
    if (nearest)
        return gf_fail(GF_EUSAGE, "unknown bank \"%s\"; did you mean \"%s\"?", shown, nearest);
    if (gf_catalog_find(name))
        return gf_fail(GF_EUSAGE, "\"%s\" is a filter, not a bank; write --kernel %s", shown,
                       shown);
    return gf_fail(GF_EUSAGE, "unknown bank \"%s\" (gpufilter filters lists them)", shown);
}

/* The texts, for messages and for names where others would be the same. */
static GfStatus set_texts(const char *text, GfMembers *members)
{
    for (size_t i = 0; i < members->count; i++) {
        GfFilter *filter = members->filters[i];
        if (asprintf(&filter->text, "%s %s", text, filter->name) < 0) {
            filter->text = NULL;
            return gf_fail(GF_EMEMORY, "out of memory");
        }
        GF_TRY(gf_filter_check(filter));
    }
    return GF_OK;
}

GfStatus gf_members_parse(const char *text, GfMembers *members)
{
    GfValue values[GF_MAX_PARAMETERS];
    GfStatus status = GF_OK;
    char *copy = strdup(text);
    *members = (GfMembers){0};
    GF_GO(copy ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    char *parameters = strchr(copy, ':');
    if (parameters)
        *parameters++ = '\0';
    const GfNamedBank *row = gf_named_bank_find(copy);
    GF_GO(row ? GF_OK : unknown_bank(copy));
    GF_GO(gf_parameters_read(&row->about, parameters, values));
    GF_GO(row->members(values, members));
    GF_GO(set_texts(text, members));
done:
    free(copy);
    return status;
}

/* Adds a member's kernel, which is a sum where it is given by several factors, into the middle of
 * kernel f. */
static void centre_kernel(const GfLinear *from, const GfLinear *to, size_t f)
{
    size_t left = to->anchor_x - from->anchor_x, top = to->anchor_y - from->anchor_y;
    double *taps = to->weights + f * to->width * to->height;
    for (size_t k = 0; k < from->filters; k++)
        for (size_t y = 0; y < from->height; y++)
            for (size_t x = 0; x < from->width; x++)
                taps[(top + y) * to->width + left + x] += gf_linear_tap(from, k, y, x);
}

GfStatus gf_members_combine(const char *text, const GfMembers *members, GfCombineOp op,
                            GfFilter **out)
{
    static const char *const ops[] = {
        [GF_COMBINE_NONE] = "",          [GF_COMBINE_L2] = "l2",   [GF_COMBINE_L1] = "l1",
        [GF_COMBINE_MAX] = "max",        [GF_COMBINE_MIN] = "min", [GF_COMBINE_SUM] = "sum",
        [GF_COMBINE_UNSHARP] = "unsharp"};
    GfFilter *filter = NULL;
    GfLinear *linear;
    GfStatus status;
    size_t width = 1, height = 1;
    *out = NULL;
    for (size_t i = 0; i < members->count; i++) {
        width = gf_max(width, members->filters[i]->stages[0].linear.width);
        height = gf_max(height, members->filters[i]->stages[0].linear.height);
    }
    GF_GO(gf_allocate_zero(1, sizeof *filter, &filter));
    filter->name = strndup(text, strcspn(text, ":"));
    if (asprintf(&filter->text, "%s %s", text, ops[op]) < 0)
        filter->text = NULL;
    GF_GO(filter->text && filter->name ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    GF_GO(gf_filter_add_kernel(filter, members->count, width, height, &linear));
    linear->scale = members->filters[0]->stages[0].linear.scale;
    for (size_t i = 0; i < members->count; i++)
        centre_kernel(&members->filters[i]->stages[0].linear, linear, i);
    GF_GO(gf_filter_add_combine(filter, (GfCombine){.op = op}));
    *out = filter;
    filter = NULL;
done:
    gf_filter_free(filter);
    return status;
}

void gf_members_free(GfMembers *members)
{
    for (size_t i = 0; i < members->count; i++)
        gf_filter_free(members->filters[i]);
    free(members->filters);
    *members = (GfMembers){0};
}
