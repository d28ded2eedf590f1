/* getopt_long with arrays made from the table. It prints nothing itself (opterr = 0, a leading
 * colon): its own messages do not escape what the user typed and know no nearest name. */
#include "app/options.h"

#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"
#include "filters/catalog.h"

enum { MAX_OPTIONS = 64, FIRST_VALUE = 256, SHOWN = 128, LISTED = 512 };

static const struct {
    const char *word;
    GfCommand command;
    size_t least, most; /* operands */
    const char *usage;
} commands[] = {
    {"compare", GF_COMMAND_COMPARE, 2, 2, "gpufilter compare A B"},
    {"filters", GF_COMMAND_FILTERS, 0, SIZE_MAX,
     "gpufilter filters [NAME[:PARAMETERS]...] [--bank BANK] [--picture FILE] | --table"},
    {"weights", GF_COMMAND_WEIGHTS, 1, SIZE_MAX,
     "gpufilter weights FILE... [--tensor NAME] [--picture FILE]"},
    {"devices", GF_COMMAND_DEVICES, 0, 0, "gpufilter devices"},
    {"algorithms", GF_COMMAND_ALGORITHMS, 0, 0, "gpufilter algorithms"},
    {"completion", GF_COMMAND_COMPLETION, 1, 1, "gpufilter completion bash|zsh|fish"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static const char example[] = "for example: gpufilter photo.png --kernel sobel";

/* The arrays that getopt_long wants. */
typedef struct Arrays {
    struct option longs[MAX_OPTIONS + 1];
    char shorts[2 * MAX_OPTIONS + 2];
} Arrays;

static void make_arrays(Arrays *arrays)
{
    char *letter = arrays->shorts;
    *letter++ = ':';
    for (int i = 0; i < MAX_OPTIONS && gf_option_table[i].name; i++) {
        const GfOption *option = &gf_option_table[i];
        arrays->longs[i] =
            (struct option){option->name, option->argument ? required_argument : no_argument, NULL,
                            FIRST_VALUE + i};
        if (option->letter) {
            *letter++ = option->letter;
            if (option->argument)
                *letter++ = ':';
        }
    }
    *letter = '\0';
}

static const GfOption *find_option(int value)
{
    if (value >= FIRST_VALUE)
        return &gf_option_table[value - FIRST_VALUE];
    for (const GfOption *option = gf_option_table; option->name; option++)
        if (option->letter && option->letter == value)
            return option;
    return NULL;
}

/* Of a name that is the beginning of `matches` options, which are several. */
static GfStatus ambiguous(const char *name, size_t matches)
{
    char list[LISTED] = "", shown[SHOWN];
    size_t used = 0, number = 0;
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (strncmp(option->name, name, strlen(name)) != 0)
            continue;
        const char *before = number == 0 ? "" : number + 1 < matches ? ", " : " and ";
        number++;
        int n = snprintf(list + used, sizeof list - used, "%s--%s", before, option->name);
        used = gf_min(used + (size_t)(n > 0 ? n : 0), sizeof list - 1);
    }
    return gf_fail(GF_EUSAGE, "--%s is the beginning of %s", gf_escape(name, shown, sizeof shown),
                   list);
}

/* A long option that getopt_long did not know, or knew several of. */
static GfStatus unknown_long(const char *typed)
{
    const char *names[MAX_OPTIONS + 1];
    char name[SHOWN], shown[SHOWN];
    size_t n = 0, matches = 0;
    typed += strspn(typed, "-");
    size_t length = gf_min(strcspn(typed, "="), sizeof name - 1);
    memcpy(name, typed, length);
    name[length] = '\0';
    for (const GfOption *option = gf_option_table; option->name && n < MAX_OPTIONS; option++) {
        names[n++] = option->name;
        matches += strncmp(option->name, name, length) == 0;
    }
    names[n] = NULL;
    if (matches > 1 && length > 0)
        return ambiguous(name, matches);
    gf_escape(name, shown, sizeof shown);
    const char *nearest = gf_nearest(name, names);
    if (nearest)
        return gf_fail(GF_EUSAGE, "unknown option --%s; did you mean --%s?", shown, nearest);
    return gf_fail(GF_EUSAGE, "unknown option --%s (gpufilter --help lists them)", shown);
}

/* `typed` is the argument that getopt_long has just refused. */
static GfStatus refuse(int result, const char *typed)
{
    char shown[SHOWN], letter[2] = {(char)optopt, '\0'};
    const GfOption *option = find_option(optopt);
    if (result == ':' && option)
        return gf_fail(GF_EUSAGE, "--%s needs a value: %s", option->name, option->argument);
    if (optopt >= FIRST_VALUE)
        return gf_fail(GF_EUSAGE, "--%s takes no value", option->name);
    if (optopt)
        return gf_fail(GF_EUSAGE, "unknown option -%s (gpufilter --help lists them)",
                       gf_escape(letter, shown, sizeof shown));
    return unknown_long(typed);
}

/* The dash of other programs: -kernel would be -k with the value "ernel", -output=a.png a file
 * called "utput=a.png". -help helps as it is. */
static GfStatus check_dashes(int count, char **arguments)
{
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++) {
        const char *word = arguments[i] + 1;
        size_t length = strcspn(word, "=");
        for (const GfOption *option = gf_option_table; option->name; option++)
            if (arguments[i][0] == '-' && strlen(option->name) == length &&
                strncmp(word, option->name, length) == 0 && strcmp(word, "help") != 0)
                return gf_fail(GF_EUSAGE, "-%s: long options begin with two dashes, --%s",
                               option->name, option->name);
    }
    return GF_OK;
}

/* The = of long options: -o=a.png would be a file called "=a.png", which -o ./=a.png still is. */
static GfStatus check_equals(const GfOption *option, const char *value, const char *typed)
{
    char shown[SHOWN];
    if (!value || *value != '=' || value == typed)
        return GF_OK;
    gf_escape(value + 1, shown, sizeof shown);
    return gf_fail(GF_EUSAGE, "-%c=%s: after one dash no = belongs; write -%c %s or --%s=%s",
                   option->letter, shown, option->letter, shown, option->name, shown);
}

/* An option of other calls than this one. */
static GfStatus refuse_option(const GfOptions *options, const GfOption *option)
{
    for (size_t i = 0; i < COMMANDS; i++) {
        if (commands[i].command == options->command)
            return gf_fail(GF_EUSAGE, "--%s does not go with \"%s\"", option->name,
                           commands[i].word);
        if (options->command == GF_COMMAND_FILTER && commands[i].command & option->commands)
            return gf_fail(GF_EUSAGE, "--%s goes with gpufilter %s", option->name,
                           commands[i].word);
    }
    return GF_OK;
}

static GfStatus set_option(GfOptions *options, const GfOption *option, const char *value)
{
    if (!(option->commands & options->command))
        GF_TRY(refuse_option(options, option));
    if (option->set)
        return option->set(options, value);
    memcpy((char *)options + option->flag, &(bool){true}, sizeof(bool));
    return GF_OK;
}

static GfStatus conflict(const char *one, const char *other)
{
    return gf_fail(GF_EUSAGE, "%s and %s exclude each other", one, other);
}

static bool any_bank(const GfOptions *options)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (options->banks[i])
            return true;
    return false;
}

static GfStatus check_luma(const GfOptions *options)
{
    if (options->luma && !options->gray)
        return gf_fail(GF_EUSAGE, "--luma goes with --gray");
    return GF_OK;
}

static GfStatus check_montage(const GfOptions *options)
{
    if (!options->montage && (options->montage_scale || options->montage_columns))
        return gf_fail(GF_EUSAGE, "--montage-%s goes with --montage",
                       options->montage_scale ? "scale" : "columns");
    if (!options->montage)
        return GF_OK;
    if (options->in_place)
        return conflict("--in-place", "--montage");
    if (options->name)
        return conflict("--name", "--montage, which is a name itself,");
    if (options->json && strcmp(options->montage, "-") == 0)
        return conflict("--json", "--montage -");
    if (options->minmax && options->montage_scale == GF_MONTAGE_NONE)
        return conflict("--range minmax", "--montage-scale none");
    if (options->depth_given && gf_sample_is_float(options->depth))
        return gf_fail(GF_EUSAGE, "--depth: a montage has 8 or 16 bits");
    return GF_OK;
}

static GfStatus check_in_place(const GfOptions *options)
{
    if (!options->in_place)
        return GF_OK;
    if (options->skip_existing)
        return conflict("--in-place", "--skip-existing");
    if (options->output)
        return conflict("--in-place", "--output");
    if (options->name)
        return conflict("--in-place", "--name");
    if (options->format)
        return conflict("--in-place", "--format");
    if (options->kernel_count > 1)
        return conflict("--in-place", "several kernels");
    return GF_OK;
}

/* Of the calls that draw kernels. */
static GfStatus check_picture(const GfOptions *options)
{
    bool draws = options->command == GF_COMMAND_FILTERS || options->command == GF_COMMAND_WEIGHTS;
    if (draws && options->overwrite && !options->picture)
        return gf_fail(GF_EUSAGE, "--overwrite goes with --picture");
    if (options->combine && options->picture)
        return conflict("--combine", "--picture");
    if (options->table && options->picture)
        return conflict("--table", "--picture");
    return GF_OK;
}

static GfStatus check_comparison(const GfOptions *options)
{
    if (options->command == GF_COMMAND_COMPARE && options->overwrite && !options->diff_image &&
        !options->report)
        return gf_fail(GF_EUSAGE, "--overwrite goes with --diff-image or --report");
    return GF_OK;
}

static bool counts_outputs(const GfOptions *options)
{
    const char *pattern = options->montage ? options->montage : options->name;
    return pattern && strstr(pattern, "{index}");
}

/* Options that are right one by one, but not together. */
static GfStatus check_together(const GfOptions *options)
{
    bool to_stdout = options->output && strcmp(options->output, "-") == 0;
    if (options->overwrite && options->skip_existing)
        return conflict("--overwrite", "--skip-existing");
    GF_TRY(check_in_place(options));
    GF_TRY(check_luma(options));
    GF_TRY(check_montage(options));
    GF_TRY(check_picture(options));
    GF_TRY(check_comparison(options));
    if (options->combine && !any_bank(options))
        return gf_fail(GF_EUSAGE, "--combine makes one output of a --bank, and none is given");
    if (options->table && options->operand_count + options->kernel_count > 0)
        return gf_fail(GF_EUSAGE, "--table shows the whole catalogue, and takes no names");
    if (options->json && to_stdout)
        return conflict("--json", "-o -");
    if (options->failures && counts_outputs(options))
        return gf_fail(GF_EUSAGE, "--failures goes with names that do not depend on {index}: a "
                                  "run over the list counts anew");
    if (options->compare && to_stdout)
        return conflict("--compare", "-o -");
    if (options->compare && options->failures)
        return conflict("--compare", "--failures");
    if (options->compare && options->stats)
        return conflict("--compare", "--stats");
    if (options->compare && options->in_place)
        return conflict("--compare", "--in-place");
    if (options->compare && options->skip_existing)
        return conflict("--compare", "--skip-existing");
    if (options->algorithm && options->device != GF_DEVICE_AUTO &&
        options->device != GF_DEVICE_CUDA)
        return gf_fail(GF_EUSAGE, "--algorithm names a GPU method; it needs --device cuda");
    if (options->command == GF_COMMAND_FILTER && !options->compare &&
        (options->tolerance_given || options->diff_image || options->report))
        return gf_fail(GF_EUSAGE, "--%s goes with --compare, or with gpufilter compare A B",
                       options->report       ? "report"
                       : options->diff_image ? "diff-image"
                                             : "tolerance");
    return GF_OK;
}

const char *gf_call_word(size_t i)
{
    return i < COMMANDS ? commands[i].word : NULL;
}

static const char *nearest_command(const char *word)
{
    const char *words[COMMANDS + 1];
    for (size_t i = 0; i <= COMMANDS; i++)
        words[i] = gf_call_word(i);
    return gf_nearest(word, words);
}

/* A picture's name that is none, but a word that belongs elsewhere. */
static GfStatus check_word(const char *word)
{
    char shown[SHOWN], name[SHOWN];
    if (access(word, F_OK) == 0)
        return GF_OK;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, ":,"), word);
    gf_escape(word, shown, sizeof shown);
    if (gf_catalog_find(name))
        return gf_fail(GF_EUSAGE, "\"%s\" is a filter; write --kernel %s", shown, shown);
    if (strcmp(word, "help") == 0 || strcmp(word, "version") == 0)
        return gf_fail(GF_EUSAGE, "\"%s\" is no call; did you mean \"--%s\"?", shown, shown);
    const char *command = nearest_command(word);
    if (command)
        return gf_fail(GF_EUSAGE, "\"%s\" is no call; did you mean \"%s\"?", shown, command);
    return GF_OK;
}

static GfStatus check_operands(const GfOptions *options)
{
    char shown[SHOWN];
    for (size_t i = 0; i < COMMANDS; i++) {
        size_t n = options->operand_count;
        if (commands[i].command == options->command &&
            (n < commands[i].least || n > commands[i].most))
            return gf_fail(GF_EUSAGE, "usage: %s", commands[i].usage);
        if (options->command == GF_COMMAND_FILTER && n && !options->kernel_count &&
            strcmp(options->operands[0], commands[i].word) == 0)
            return gf_fail(GF_EUSAGE, "\"%s\" comes first: %s", commands[i].word,
                           commands[i].usage);
    }
    bool pictures = options->command == GF_COMMAND_FILTER || options->command == GF_COMMAND_COMPARE;
    for (size_t i = 0; pictures && i < options->operand_count; i++)
        if (!*options->operands[i])
            return gf_fail(GF_EUSAGE, "the name of a picture is empty");
    bool weights = options->command == GF_COMMAND_WEIGHTS;
    for (size_t i = 0; weights && i < options->operand_count; i++)
        if (strcmp(options->operands[i], "-") == 0)
            return gf_fail(GF_EUSAGE, "weights are not read from standard input (-); name a file");
    if (options->command != GF_COMMAND_FILTER)
        return GF_OK;
    if (!options->operand_count && !options->kernel_count && !options->files_from)
        return gf_fail(GF_EUSAGE, "no picture and no filter; %s", example);
    if (!options->operand_count && !options->files_from)
        return gf_fail(GF_EUSAGE, "no picture; %s", example);
    if (options->kernel_count)
        return GF_OK;
    for (size_t i = 0; i < options->operand_count; i++)
        GF_TRY(check_word(options->operands[i]));
    const char *first = options->operand_count ? options->operands[0] : options->files_from;
    gf_escape(first, shown, sizeof shown);
    return gf_fail(GF_EUSAGE, "no filter for %s: --kernel or --bank is missing; %s", shown,
                   example);
}

GfStatus gf_options_parse(int count, char **arguments, GfOptions *options)
{
    Arrays arrays = {0};
    *options = (GfOptions){.command = GF_COMMAND_FILTER,
                           .read = gf_read_options_default(),
                           .write = gf_write_options_default()};
    for (size_t i = 0; count > 1 && i < COMMANDS; i++)
        if (strcmp(arguments[1], commands[i].word) == 0)
            options->command = commands[i].command;
    int skipped = options->command == GF_COMMAND_FILTER ? 0 : 1;
    count -= skipped;
    arguments += skipped;
    GF_TRY(check_dashes(count, arguments));
    make_arrays(&arrays);
    opterr = 0;
    (void)unsetenv("POSIXLY_CORRECT"); /* options behind a picture's name count everywhere */
    int result;
    while ((result = getopt_long(count, arguments, arrays.shorts, arrays.longs, NULL)) != -1) {
        if (result == '?' || result == ':')
            return refuse(result, arguments[optind - 1]);
        const GfOption *option = find_option(result);
        if (result < FIRST_VALUE)
            GF_TRY(check_equals(option, optarg, arguments[optind - 1]));
        GF_TRY(set_option(options, option, optarg));
        if (options->help || options->version)
            return GF_OK;
    }
    options->read.auto_orient = !options->no_auto_orient;
    options->operand_count = (size_t)(count - optind);
    options->operands = calloc(options->operand_count + 1, sizeof *options->operands);
    if (!options->operands)
        return gf_fail(GF_EMEMORY, "out of memory");
    for (size_t i = 0; i < options->operand_count; i++)
        options->operands[i] = arguments[optind + (int)i];
    GF_TRY(check_operands(options));
    return check_together(options);
}

void gf_options_free(GfOptions *options)
{
    free(options->kernels);
    free(options->banks);
    free(options->operands);
}

GfPlanOptions gf_options_plan(const GfOptions *options, GfSample sample)
{
    GfPlanOptions plan = gf_plan_options_default(sample);
    plan.border = options->border;
    plan.border_value = options->border_value;
    plan.range = options->range;
    plan.alpha = options->alpha;
    plan.flip = options->flip;
    if (options->gray)
        plan.gray = options->luma ? options->luma : GF_GRAY_BT601;
    plan.memory = options->memory;
    return plan;
}

GfSample gf_options_sample(const GfOptions *options, const GfCodec *codec, GfSample in)
{
    if (options->depth_given)
        return options->depth;
    if (in == GF_F16)
        in = GF_F32;
    if (!codec)
        return in;
    bool kept = codec->samples & 1u << in;
    /* Where floats can be stored a response is kept without loss, sign and all. */
    if (!gf_sample_is_float(in) && codec->samples & 1u << GF_F32)
        return GF_F32;
    return kept ? in : GF_U8;
}
