/* Two kernels of one filter (gaussian:sigma=1 and gaussian:sigma=2) would give outputs of one name,
 * so such names are made from what the user typed instead: gaussian_sigma_1. */
#include "app/bank.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/banks.h"
#include "filters/grammar.h"

enum { NAME_LENGTH = 100, SHOWN = 200 };

/* The text with everything but letters, digits, "." and "-" as single underscores. */
static GfStatus name_from_text(const char *text, char **name)
{
    char made[NAME_LENGTH + 1];
    size_t n = 0;
    for (; *text && n < NAME_LENGTH; text++) {
        bool plain = isalnum((unsigned char)*text) || *text == '.' || *text == '-';
        if (plain)
            made[n++] = *text;
        else if (n > 0 && made[n - 1] != '_')
            made[n++] = '_';
    }
    while (n > 0 && made[n - 1] == '_')
        n--;
    made[n] = '\0';
    *name = strdup(made);
    return *name ? GF_OK : gf_fail(GF_EMEMORY, "out of memory");
}

static bool shares_name(const GfBank *bank, size_t i)
{
    for (size_t j = 0; j < bank->count; j++)
        if (j != i && strcmp(bank->filters[i]->name, bank->filters[j]->name) == 0)
            return true;
    return false;
}

/* Appends a filter, which the bank then owns, also where it fails. */
static GfStatus append(GfBank *bank, GfFilter *filter)
{
    GfFilter **longer = realloc(bank->filters, (bank->count + 1) * sizeof *longer);
    if (!longer) {
        gf_filter_free(filter);
        return gf_fail(GF_EMEMORY, "out of memory");
    }
    bank->filters = longer;
    bank->filters[bank->count++] = filter;
    return GF_OK;
}

static GfStatus parse_kernel(const char *text, GfBank *bank)
{
    GfFilter *filter;
    GF_TRY(gf_filter_parse(text, &filter));
    return append(bank, filter);
}

/* The members, or one filter of all of them. */
static GfStatus parse_bank(const char *text, GfCombineOp combine, GfBank *bank)
{
    GfMembers members;
    GfFilter *combined;
    GfStatus status;
    GF_GO(gf_members_parse(text, &members));
    if (combine != GF_COMBINE_NONE) {
        GF_GO(gf_members_combine(text, &members, combine, &combined));
        GF_GO(append(bank, combined));
    }
    for (size_t i = 0; combine == GF_COMBINE_NONE && i < members.count; i++) {
        GfFilter *member = members.filters[i];
        members.filters[i] = NULL;
        GF_GO(append(bank, member));
    }
done:
    gf_members_free(&members);
    return status;
}

static GfStatus parse_all(const GfOptions *options, GfBank *bank)
{
    char shown[SHOWN];
    for (size_t i = 0; i < options->kernel_count; i++) {
        const char *text = options->kernels[i];
        GfStatus status =
            options->banks[i] ? parse_bank(text, options->combine, bank) : parse_kernel(text, bank);
        if (status != GF_OK)
            return gf_fail(status, "--%s \"%s\": %s", options->banks[i] ? "bank" : "kernel",
                           gf_escape(text, shown, sizeof shown), gf_message());
    }
    return GF_OK;
}

GfStatus gf_bank_create(const GfOptions *options, GfBank *bank)
{
    GfStatus status;
    *bank = (GfBank){0};
    GF_GO(parse_all(options, bank));
    GF_GO(gf_allocate_zero(bank->count, sizeof *bank->names, &bank->names));
    for (size_t i = 0; i < bank->count; i++) {
        if (shares_name(bank, i)) {
            GF_GO(name_from_text(bank->filters[i]->text, &bank->names[i]));
            continue;
        }
        bank->names[i] = strdup(bank->filters[i]->name);
        GF_GO(bank->names[i] ? GF_OK : gf_fail(GF_EMEMORY, "out of memory"));
    }
done:
    if (status != GF_OK)
        gf_bank_free(bank);
    return status;
}

void gf_bank_free(GfBank *bank)
{
    for (size_t i = 0; i < bank->count; i++) {
        if (bank->filters)
            gf_filter_free(bank->filters[i]);
        if (bank->names)
            free(bank->names[i]);
    }
    free(bank->filters);
    free(bank->names);
    *bank = (GfBank){0};
}
