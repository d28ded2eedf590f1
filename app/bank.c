/* Two kernels of one filter (gaussian:sigma=1 and gaussian:sigma=2) would give outputs of one name,
 * so such names are made from what the user typed instead: gaussian_sigma_1. */
#include "app/bank.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
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

static GfStatus parse_all(const char *const *texts, GfBank *bank)
{
    char shown[SHOWN];
    for (size_t i = 0; i < bank->count; i++) {
        GfStatus status = gf_filter_parse(texts[i], &bank->filters[i]);
        if (status != GF_OK) {
            gf_escape(texts[i], shown, sizeof shown);
            return gf_fail(status, "--kernel \"%s\": %s", shown, gf_message());
        }
    }
    return GF_OK;
}

GfStatus gf_bank_create(const char *const *texts, size_t count, GfBank *bank)
{
    GfStatus status;
    *bank = (GfBank){.count = count};
    GF_GO(gf_allocate_zero(count, sizeof *bank->filters, &bank->filters));
    GF_GO(gf_allocate_zero(count, sizeof *bank->names, &bank->names));
    GF_GO(parse_all(texts, bank));
    for (size_t i = 0; i < count; i++) {
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
