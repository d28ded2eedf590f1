/* Every tap of every output row is a plain "row += tap * shifted row" over contiguous memory. A
 * kernel that is a product takes the columns first, over the width that the row's taps need, and
 * the row after it. */
#include "cpu/bank.h"

#include <stdlib.h>

/* ---- preparation ---- */

/* Lists the taps of kernel f; one group a row of the kernel when there are many. */
static GfStatus list_taps(GfTapList *list, const GfLinear *linear, size_t f, size_t real)
{
    size_t taps = linear->width * linear->height;
    bool by_rows = taps > GF_FLAT_TAPS && linear->width > 1;
    GF_TRY(gf_allocate(taps, real, &list->taps));
    GF_TRY(gf_allocate(taps, sizeof *list->y, &list->y));
    GF_TRY(gf_allocate(taps, sizeof *list->x, &list->x));
    GF_TRY(gf_allocate(linear->height + 1, sizeof *list->group, &list->group));
    for (size_t y = 0; y < linear->height; y++) {
        size_t before = list->count;
        for (size_t x = 0; x < linear->width; x++) {
            double tap = gf_linear_tap(linear, f, y, x);
            if (tap == 0.0)
                continue;
            gf_set_real(list->taps, real, list->count, tap);
            list->y[list->count] = y;
            list->x[list->count++] = x;
        }
        if (list->count > before && (list->groups == 0 || by_rows))
            list->group[list->groups++] = before;
    }
    list->group[list->groups] = list->count;
    return GF_OK;
}

GfStatus gf_row_bank_create(GfRowBank *bank, const GfStep *step, const GfRowFunctions *functions,
                            size_t real)
{
    const GfLinear *linear = &step->linear;
    GfLinear column = {.width = 1, .height = linear->height, .weights = linear->columns};
    GfLinear row = {.width = linear->width, .height = 1, .weights = linear->rows};
    *bank = (GfRowBank){.step = step, .functions = functions, .real = real};
    bank->list_count = linear->filters * (step->separable ? 2 : 1);
    GF_TRY(gf_allocate_zero(bank->list_count, sizeof *bank->lists, &bank->lists));
    for (size_t f = 0; f < linear->filters; f++) {
        GfTapList *lists = bank->lists + f * (step->separable ? 2 : 1);
        GF_TRY(list_taps(&lists[0], step->separable ? &column : linear, f, real));
        if (step->separable)
            GF_TRY(list_taps(&lists[1], &row, f, real));
    }
    for (size_t i = 0; i < bank->list_count; i++)
        bank->longest = gf_max(bank->longest, bank->lists[i].count);
    return GF_OK;
}

void gf_row_bank_free(GfRowBank *bank)
{
    for (size_t i = 0; bank->lists && i < bank->list_count; i++) {
        free(bank->lists[i].taps);
        free(bank->lists[i].y);
        free(bank->lists[i].x);
        free(bank->lists[i].group);
    }
    free(bank->lists);
}

/* ---- one thread's work ---- */

static void sum_list(const GfRowBank *bank, const GfTapList *list, const void **sources, void *to,
                     size_t n)
{
    if (list->count == 0)
        bank->functions->fill(to, 0.0, n);
    for (size_t g = 0; g < list->groups; g++) {
        size_t first = list->group[g], count = list->group[g + 1] - first;
        bank->functions->sum(to, sources + first,
                             (const unsigned char *)list->taps + first * bank->real, count, n,
                             g > 0);
    }
}

static void sum_columns(const GfRowBank *bank, const GfTapList *list, const GfView *view,
                        const GfRowBankMemory *memory)
{
    for (size_t s = 0; s < view->slots; s++) {
        for (size_t i = 0; i < list->count; i++)
            memory->sources[i] = view->base + view->y[list->y[i]] + s * view->slot;
        sum_list(bank, list, memory->sources, (unsigned char *)memory->columns + s * view->column,
                 view->column_count);
    }
}

static void respond(const GfRowBank *bank, const GfView *view, const GfRowBankMemory *memory,
                    size_t f)
{
    bool separable = bank->step->separable;
    const GfTapList *list = &bank->lists[separable ? 2 * f : f];
    void *to = memory->responses[f];
    if (separable) {
        const unsigned char *columns = memory->ready ? memory->ready[f] : memory->columns;
        if (!memory->ready)
            sum_columns(bank, list, view, memory);
        list++;
        for (size_t i = 0; i < list->count; i++)
            memory->sources[i] = columns + view->column_x[list->x[i]];
    } else {
        for (size_t i = 0; i < list->count; i++)
            memory->sources[i] = view->base + view->y[list->y[i]] + view->x[list->x[i]];
    }
    sum_list(bank, list, memory->sources, to, view->count);
}

void gf_row_bank_join(const GfStep *step, const GfRowFunctions *functions, void *const *responses,
                      size_t count)
{
    GfCombine combine = step->combine;
    combine.threshold *= step->white / 255.0;
    if (combine.op)
        functions->combine(responses, step->linear.filters, &combine, count);
}

void gf_row_bank_combine(const GfStep *step, const GfRowFunctions *functions,
                         void *const *responses, size_t count)
{
    const GfLinear *linear = &step->linear;
    for (size_t f = 0; f < linear->filters; f++)
        if (linear->scale != 1.0 || linear->offset != 0.0)
            functions->affine(responses[f], linear->scale, linear->offset, count);
    gf_row_bank_join(step, functions, responses, count);
}

void gf_row_bank_run(const GfRowBank *bank, const GfView *view, const GfRowBankMemory *memory)
{
    for (size_t f = 0; f < bank->step->linear.filters; f++)
        respond(bank, view, memory, f);
    gf_row_bank_combine(bank->step, bank->functions, memory->responses, view->count);
}
