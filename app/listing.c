/* Lists are the tables themselves, walked. A filter's numbers come from its stages, so that they
 * show what is computed, with the parameters that were asked for. */
#include "app/listing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/stage_text.h"
#include "cpu/backend.h"
#include "filters/banks.h"
#include "filters/grammar.h"
#include "filters/network_file.h"
#include "filters/parameter.h"
#include "gpu/algorithms.h"
#include "gpu/backend.h"

enum { NAME_LENGTH = 63 };

/* ---- filters ---- */

static void print_choices(const GfParameter *parameter)
{
    const char *words = parameter->words;
    for (int i = 0; *words; i++) {
        int length = (int)strcspn(words, " ");
        printf("%s%.*s%s", i ? ", " : "", length, words,
               i == (int)parameter->standard ? " (default)" : "");
        words += length;
        words += strspn(words, " ");
    }
}

/* What may stand behind the parameter's "=". */
static void print_values(const GfParameter *parameter)
{
    switch (parameter->kind) {
    case GF_WORD:
        print_choices(parameter);
        return;
    case GF_LIST:
        printf("each %g to %g, default %s", parameter->minimum, parameter->maximum,
               parameter->words);
        return;
    case GF_FILE:
    case GF_OPTIONAL_FILE:
        printf("a file%s", parameter->kind == GF_FILE ? ", must be given" : ", default none");
        return;
    case GF_OPTIONAL_NAME:
        printf("a name, default none");
        return;
    case GF_SIZE:
        printf("N or HEIGHTxWIDTH, ");
        break;
    case GF_PADDING:
        printf("N, HEIGHTxWIDTH, TOPxLEFTxBOTTOMxRIGHT or one of: %s; ", parameter->words);
        break;
    case GF_NUMBER:
    case GF_WHOLE:
    case GF_ODD:
        break;
    }
    printf("%g to %g, default %g", parameter->minimum, parameter->maximum, parameter->standard);
}

static void print_parameters(const GfNamedFilter *row)
{
    printf("\nParameters:%s\n", row->parameters[0].name ? "" : " none");
    for (int i = 0; i < GF_MAX_PARAMETERS && row->parameters[i].name; i++) {
        const GfParameter *parameter = &row->parameters[i];
        printf("  %-12s %s: ", parameter->name, parameter->summary);
        print_values(parameter);
        putchar('\n');
    }
}

static void list_catalog(void)
{
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        printf("%-12s %s\n", row->name, row->summary);
    printf("\nOne in numbers: gpufilter filters sobel, or with parameters gaussian:sigma=2.\n"
           "A kernel of your own: --kernel '3x3: 0 -1 0  -1 5 -1  0 -1 0', or a text file's path;\n"
           "learned ones from NumPy or PyTorch: conv:weights=FILE, .npy or .safetensors;\n"
           "whole networks: @FILE.json, which gpufilter-filters(7) describes.\n"
           "\nBanks, families of filters:\n\n");
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++)
        printf("--bank %-12s %s\n", row->about.name, row->about.summary);
    printf("\nOne in numbers: gpufilter filters --bank gabor:orientations=4.\n");
}

/* Words up to column `width`, each line after `indent` spaces; behind a semicolon a new line, so
 * that kernels begin one. */
static void print_wrapped(const char *text, int indent, int width)
{
    int column = 0;
    bool ended = false;
    for (int length; *(text += strspn(text, " ")); text += length) {
        length = (int)strcspn(text, " ");
        bool begins = column == 0 || column + 1 + length > width || ended;
        int gap = begins ? indent : 1;
        if (begins && column > 0)
            putchar('\n');
        column = begins ? 0 : column;
        printf("%*s%.*s", gap, "", length, text);
        column += gap + length;
        ended = text[length - 1] == ';';
    }
    putchar('\n');
}

/* What tests/manual.sh finds again in gpufilter-filters(7). */
static void print_table(void)
{
    for (const GfNamedFilter *row = gf_catalog; row->name; row++) {
        puts(row->name);
        print_wrapped(row->formula, 4, 80);
        for (int i = 0; i < GF_MAX_PARAMETERS && row->parameters[i].name; i++) {
            const GfParameter *parameter = &row->parameters[i];
            printf("      %-11s %s", parameter->name,
                   parameter->kind == GF_ODD     ? "odd, "
                   : parameter->kind == GF_WHOLE ? "whole, "
                                                 : "");
            print_values(parameter);
            putchar('\n');
        }
    }
}

/* The row that `text` is about, where it is one filter of the catalogue; *bare: without
 * parameters. */
static const GfNamedFilter *find_row(const char *text, bool *bare)
{
    char name[NAME_LENGTH + 1];
    size_t length = strcspn(text, ":,");
    snprintf(name, sizeof name, "%.*s", (int)gf_min(length, NAME_LENGTH), text);
    *bare = !text[length];
    return text[length] == ',' ? NULL : gf_catalog_find(name);
}

static void print_about(const GfNamedFilter *row)
{
    printf("%s: %s\n", row->name, row->summary);
    if (row->formula)
        printf("\nFormula: %s\n", row->formula);
    print_parameters(row);
}

/* What a filter file, "PATH[:PARAMETERS]" and no chain, says about itself. */
static GfStatus print_file(const char *text)
{
    GfNetworkFile *file = NULL;
    GfStatus status = GF_OK;
    char *path = strdup(text);
    if (!path)
        return gf_fail(GF_EMEMORY, "out of memory");
    if (!gf_cut(path, ',')) {
        gf_cut(path, ':');
        gf_unescape(path);
        status = gf_network_file_open(path, &file);
    }
    if (file)
        print_about(gf_network_file_row(file));
    gf_network_file_close(file);
    free(path);
    return status;
}

static GfStatus list_filter(const char *text, bool shown)
{
    GfFilter *filter = NULL;
    GfStatus status = GF_OK;
    bool bare;
    const GfNamedFilter *row = find_row(text, &bare);
    /* Without its file such a filter has no stages yet. */
    if (!row || !bare || !gf_catalog_required(row))
        GF_TRY(gf_filter_parse(text, &filter));
    if (shown && row)
        print_about(row);
    if (shown && text[0] == '@')
        status = print_file(text + 1);
    if (shown && status == GF_OK && filter)
        gf_stages_print(filter);
    gf_filter_free(filter);
    return status;
}

static void print_members(const char *text, const GfMembers *members)
{
    char name[NAME_LENGTH + 1];
    snprintf(name, sizeof name, "%.*s", (int)gf_min(strcspn(text, ":"), NAME_LENGTH), text);
    print_about(&gf_named_bank_find(name)->about);
    for (size_t i = 0; i < members->count; i++) {
        printf("\n%s", members->filters[i]->name);
        gf_stages_print(members->filters[i]);
    }
}

static GfStatus list_bank(const char *text, GfCombineOp combine, bool shown)
{
    GfMembers members;
    GfFilter *combined = NULL;
    GfStatus status;
    GF_GO(gf_members_parse(text, &members));
    if (combine != GF_COMBINE_NONE)
        GF_GO(gf_members_combine(text, &members, combine, &combined));
    if (shown)
        print_members(text, &members);
    if (shown && combined)
        gf_stage_print(&combined->stages[1]);
done:
    gf_filter_free(combined);
    gf_members_free(&members);
    return status;
}

static GfStatus list_wanted(const GfOptions *options, bool shown)
{
    for (size_t i = 0; i < options->operand_count; i++) {
        if (shown && i)
            putchar('\n');
        GF_TRY(list_filter(options->operands[i], shown));
    }
    for (size_t i = 0; i < options->kernel_count; i++) {
        if (shown && i + options->operand_count)
            putchar('\n');
        GF_TRY(list_bank(options->kernels[i], options->combine, shown));
    }
    return GF_OK;
}

/* All is read before anything is shown. */
GfStatus gf_list_filters(const GfOptions *options)
{
    if (options->table)
        print_table();
    else if (options->operand_count + options->kernel_count == 0)
        list_catalog();
    GF_TRY(list_wanted(options, false));
    return list_wanted(options, true);
}

/* ---- devices ---- */

static void print_cuda_device(const GfDevice *device)
{
    printf("%s, compute capability %d.%d, %d multiprocessors, %.1f GiB (%.1f GiB free)",
           device->name, device->major, device->minor, device->multiprocessors,
           ldexp((double)device->memory, -30), ldexp((double)device->free_memory, -30));
    printf(", L2 %.1f MiB", ldexp((double)device->l2, -20));
    if (device->bandwidth > 0)
        printf(", %.0f GB/s", device->bandwidth * 1e-9);
    putchar('\n');
}

/* One that cannot be used hides none of the others. */
static void print_cuda_devices(void)
{
    size_t count = 0;
    if (gf_cuda_count(&count) != GF_OK)
        printf("cuda       none: %s\n", gf_message());
    for (size_t i = 0; i < count; i++) {
        GfDevice device;
        char label[32];
        snprintf(label, sizeof label, "cuda:%zu", i);
        printf("%-10s ", label);
        if (gf_cuda_describe((int)i, &device) == GF_OK)
            print_cuda_device(&device);
        else
            printf("cannot be used: %s\n", gf_message());
    }
}

GfStatus gf_list_devices(void)
{
    GfBackend *cpu;
    GF_TRY(gf_cpu_open(0, &cpu));
    printf("%-10s %s\n", cpu->name, cpu->device);
    cpu->close(cpu);
    print_cuda_devices();
    return GF_OK;
}

/* ---- algorithms ---- */

void gf_list_algorithms(void)
{
    for (const GfAlgorithm *row = gf_algorithms; row->name; row++)
        printf("%-12s %s\n%-12s source: %s\n", row->name, row->summary, "", row->source);
}
