/* The table of options and the setters of those that are more than a flag. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/options.h"
#include "app/values.h"
#include "gpu/algorithms.h"

enum { MAX_THREADS = 1024, MAX_JOBS = 256, MAX_WORDS = 31, MAX_COLUMNS = 65535 };

const char *const gf_section_titles[GF_SECTIONS] = {
    [GF_SECTION_FILTER] = "What to compute", [GF_SECTION_OUTPUT] = "What to write, and where",
    [GF_SECTION_INPUT] = "What to read",     [GF_SECTION_DEVICE] = "Where to compute",
    [GF_SECTION_COMPARE] = "Comparison",     [GF_SECTION_REPORT] = "Reports",
};

static GfStatus add_kernel(GfOptions *options, const char *value, bool bank)
{
    size_t count = options->kernel_count + 1;
    const char **kernels = realloc(options->kernels, count * sizeof *kernels);
    options->kernels = kernels ? kernels : options->kernels;
    bool *banks = realloc(options->banks, count * sizeof *banks);
    options->banks = banks ? banks : options->banks;
    if (!kernels || !banks)
        return gf_fail(GF_EMEMORY, "out of memory");
    kernels[count - 1] = value;
    banks[count - 1] = bank;
    options->kernel_count = count;
    return GF_OK;
}

static GfStatus set_kernel(GfOptions *options, const char *value)
{
    return add_kernel(options, value, false);
}

static GfStatus set_bank(GfOptions *options, const char *value)
{
    return add_kernel(options, value, true);
}

static const GfWord combine_words[] = {{"max", GF_COMBINE_MAX}, {"l2", GF_COMBINE_L2},
                                       {"l1", GF_COMBINE_L1},   {"sum", GF_COMBINE_SUM},
                                       {"min", GF_COMBINE_MIN}, {NULL, 0}};

static GfStatus set_combine(GfOptions *options, const char *value)
{
    int op;
    GF_TRY(gf_value_word("combine", value, combine_words, &op));
    options->combine = (GfCombineOp)op;
    return GF_OK;
}

static const GfWord border_words[] = {
    {"replicate", GF_BORDER_REPLICATE}, {"reflect101", GF_BORDER_REFLECT101},
    {"reflect", GF_BORDER_REFLECT},     {"wrap", GF_BORDER_WRAP},
    {"constant", GF_BORDER_CONSTANT},   {"zero", GF_BORDER_CONSTANT},
    {"valid", GF_BORDER_VALID},         {"edge", GF_BORDER_REPLICATE},
    {"nearest", GF_BORDER_REPLICATE},   {"copy", GF_BORDER_REPLICATE},
    {"circular", GF_BORDER_WRAP},       {NULL, 0}};

static GfStatus set_border(GfOptions *options, const char *value)
{
    static const char constant[] = "constant:";
    int border = GF_BORDER_CONSTANT;
    if (strcmp(value, "mirror") == 0)
        return gf_fail(GF_EUSAGE, "--border: \"mirror\" means reflect101 (cb|abcd|cb) in SciPy and "
                                  "reflect (ba|abcd|dc) elsewhere; please name one of these");
    options->border_value = 0.0;
    if (strncmp(value, constant, strlen(constant)) == 0)
        GF_TRY(gf_value_number("border", value + strlen(constant), -FLT_MAX, FLT_MAX,
                               &options->border_value));
    else
        GF_TRY(gf_value_word("border", value, border_words, &border));
    options->border = (GfBorder)border;
    return GF_OK;
}

enum { RANGE_MINMAX = GF_RANGE_OFFSET + 1 }; /* not of the plan: it sees no whole picture */
static const GfWord range_words[] = {{"auto", GF_RANGE_AUTO},  {"clamp", GF_RANGE_CLAMP},
                                     {"abs", GF_RANGE_ABS},    {"offset", GF_RANGE_OFFSET},
                                     {"minmax", RANGE_MINMAX}, {NULL, 0}};

static GfStatus set_range(GfOptions *options, const char *value)
{
    int range;
    GF_TRY(gf_value_word("range", value, range_words, &range));
    options->minmax = range == RANGE_MINMAX;
    options->range = options->minmax ? GF_RANGE_CLAMP : (GfRange)range;
    return GF_OK;
}

static const GfWord alpha_words[] = {{"auto", GF_ALPHA_AUTO},
                                     {"premul", GF_ALPHA_PREMUL},
                                     {"copy", GF_ALPHA_COPY},
                                     {"filter", GF_ALPHA_FILTER},
                                     {NULL, 0}};

static GfStatus set_alpha(GfOptions *options, const char *value)
{
    int alpha;
    GF_TRY(gf_value_word("alpha", value, alpha_words, &alpha));
    options->alpha = (GfAlpha)alpha;
    return GF_OK;
}

static const GfWord luma_words[] = {{"bt601", GF_GRAY_BT601}, {"bt709", GF_GRAY_BT709}, {NULL, 0}};

static GfStatus set_luma(GfOptions *options, const char *value)
{
    int luma;
    GF_TRY(gf_value_word("luma", value, luma_words, &luma));
    options->luma = (GfGray)luma;
    return GF_OK;
}

static const GfWord depth_words[] = {
    {"8", GF_U8}, {"16", GF_U16}, {"f32", GF_F32}, {"f64", GF_F64}, {NULL, 0}};

static GfStatus set_depth(GfOptions *options, const char *value)
{
    int depth;
    GF_TRY(gf_value_word("depth", value, depth_words, &depth));
    options->depth = (GfSample)depth;
    options->depth_given = true;
    return GF_OK;
}

static GfStatus set_output(GfOptions *options, const char *value)
{
    if (options->output)
        return gf_fail(GF_EUSAGE,
                       "--output is given twice; it names one file, or the folder of all "
                       "outputs");
    bool standard = strcmp(value, "/dev/stdout") == 0 || strcmp(value, "/dev/fd/1") == 0;
    return gf_value_text("output", standard ? "-" : value, &options->output);
}

static GfStatus set_name(GfOptions *options, const char *value)
{
    return gf_value_text("name", value, &options->name);
}

static GfStatus set_diff_image(GfOptions *options, const char *value)
{
    return gf_value_picture("diff-image", value, &options->diff_image);
}

static GfStatus set_report(GfOptions *options, const char *value)
{
    return gf_value_text("report", value, &options->report);
}

static GfStatus set_format(GfOptions *options, const char *value)
{
    GfWord words[MAX_WORDS + 1] = {{NULL, 0}};
    int number;
    for (int i = 0; i < MAX_WORDS && gf_codecs[i]; i++)
        words[i] = (GfWord){gf_codecs[i]->name, i};
    GF_TRY(gf_value_word("format", strcmp(value, "jpg") == 0 ? "jpeg" : value, words, &number));
    options->format = gf_codecs[number];
    return GF_OK;
}

static GfStatus set_montage(GfOptions *options, const char *value)
{
    return gf_value_text("montage", value, &options->montage);
}

static const GfWord montage_scale_words[] = {
    {"map", GF_MONTAGE_MAP}, {"common", GF_MONTAGE_COMMON}, {"none", GF_MONTAGE_NONE}, {NULL, 0}};

static GfStatus set_montage_scale(GfOptions *options, const char *value)
{
    int scale;
    GF_TRY(gf_value_word("montage-scale", value, montage_scale_words, &scale));
    options->montage_scale = (GfMontageScale)scale;
    return GF_OK;
}

static GfStatus set_montage_columns(GfOptions *options, const char *value)
{
    return gf_value_count("montage-columns", value, 1, MAX_COLUMNS, &options->montage_columns);
}

static GfStatus set_picture(GfOptions *options, const char *value)
{
    return gf_value_picture("picture", value, &options->picture);
}

static GfStatus set_tensor(GfOptions *options, const char *value)
{
    return gf_value_text("tensor", value, &options->tensor);
}

static GfStatus set_files_from(GfOptions *options, const char *value)
{
    if (options->files_from)
        return gf_fail(GF_EUSAGE, "--files-from is given twice; put the lists into one (- reads "
                                  "standard input)");
    return gf_value_text("files-from", value, &options->files_from);
}

static GfStatus set_failures(GfOptions *options, const char *value)
{
    return gf_value_text("failures", value, &options->failures);
}

static const GfWord shard_words[] = {{"auto", 0}, {NULL, 0}}; /* or K/N */

static GfStatus set_shard(GfOptions *options, const char *value)
{
    return gf_value_text("shard", value, &options->shard);
}

static GfStatus set_quality(GfOptions *options, const char *value)
{
    size_t quality;
    GF_TRY(gf_value_count("quality", value, 1, 100, &quality));
    options->write.quality = (int)quality;
    options->quality_given = true;
    return GF_OK;
}

static GfStatus set_png_level(GfOptions *options, const char *value)
{
    size_t level;
    GF_TRY(gf_value_count("png-level", value, 0, 9, &level));
    options->write.compression = (int)level;
    options->png_level_given = true;
    return GF_OK;
}

static GfStatus set_max_pixels(GfOptions *options, const char *value)
{
    return gf_value_size("max-pixels", value, 1000, &options->read.max_pixels);
}

static GfStatus set_memory(GfOptions *options, const char *value)
{
    GF_TRY(gf_value_size("memory", value, 1024, &options->memory));
    options->read.max_memory = options->memory;
    return GF_OK;
}

static const GfWord device_words[] = {
    {"auto", GF_DEVICE_AUTO},           {"cpu", GF_DEVICE_CPU},
    {"cuda", GF_DEVICE_CUDA},           {"cuda:all", GF_DEVICE_CUDA},
    {"reference", GF_DEVICE_REFERENCE}, {NULL, 0}};

static GfStatus set_device(GfOptions *options, const char *value)
{
    static const char numbered[] = "cuda:", all[] = "cuda:all";
    int device = GF_DEVICE_CUDA;
    size_t number = 0;
    if (strcmp(value, "gpu") == 0) /* a letter away from cpu */
        return gf_fail(GF_EUSAGE, "--device: unknown \"gpu\"; did you mean \"cuda\"?");
    options->all_devices = strcmp(value, all) == 0;
    if (!options->all_devices && strncmp(value, numbered, strlen(numbered)) == 0)
        GF_TRY(gf_value_count("device", value + strlen(numbered), 0, 255, &number));
    else
        GF_TRY(gf_value_word("device", value, device_words, &device));
    options->device = (GfDeviceWish)device;
    options->device_number = (int)number;
    return GF_OK;
}

static GfStatus set_algorithm(GfOptions *options, const char *value)
{
    GfWord words[MAX_WORDS + 1] = {{NULL, 0}};
    int number;
    for (int i = 0; i < MAX_WORDS && gf_algorithms[i].name; i++)
        words[i] = (GfWord){gf_algorithms[i].name, i};
    GF_TRY(gf_value_word("algorithm", value, words, &number));
    options->algorithm = gf_algorithms[number].name;
    return GF_OK;
}

static GfStatus set_threads(GfOptions *options, const char *value)
{
    return gf_value_count("threads", value, 1, MAX_THREADS, &options->threads);
}

static GfStatus set_jobs(GfOptions *options, const char *value)
{
    return gf_value_count("jobs", value, 1, MAX_JOBS, &options->jobs);
}

static GfStatus set_tolerance(GfOptions *options, const char *value)
{
    options->tolerance_given = true;
    return gf_value_number("tolerance", value, 0.0, INFINITY, &options->tolerance);
}

enum {
    FILTER = GF_COMMAND_FILTER,
    EITHER = GF_COMMAND_FILTER | GF_COMMAND_COMPARE,
    REPORTING = EITHER | GF_COMMAND_WEIGHTS,
    ALL = GF_COMMAND_ALL
};

#define FLAG(field)  offsetof(GfOptions, field), NULL, NULL
#define SET(name)    0, set_##name, NULL
#define CHOOSE(name) 0, set_##name, name##_words

const GfOption gf_option_table[] = {
    {"kernel", 'k', "FILTER",
     "a filter, several separated by commas (one after the other),\n"
     "a kernel '3x3: 0 -1 0  -1 5 -1  0 -1 0', the path of a kernel\n"
     "file, or @ and that of a network's filter file; given again:\n"
     "one more output, decoded once",
     GF_SECTION_FILTER, FILTER, SET(kernel)},
    {"bank", 0, "BANK",
     "a family of filters, as gabor:orientations=8:wavelengths=4,8;\n"
     "one output for each of them",
     GF_SECTION_FILTER, FILTER | GF_COMMAND_FILTERS, SET(bank)},
    {"combine", 0, "HOW",
     "one output of each bank: the max, min, sum, l1 (sum of\n"
     "absolute values) or l2 (root of the sum of squares)",
     GF_SECTION_FILTER, FILTER | GF_COMMAND_FILTERS, CHOOSE(combine)},
    {"border", 0, "MODE",
     "what lies outside the picture: replicate (default),\n"
     "reflect101, reflect, wrap, constant[:V], zero, or valid\n"
     "(nothing: the output is smaller)",
     GF_SECTION_FILTER, FILTER, CHOOSE(border)},
    {"range", 0, "HOW",
     "how a response becomes a picture: clamp, abs, offset (zero\n"
     "is mid-grey), minmax (smallest is black, largest white), or\n"
     "auto (abs for derivatives, else clamp)",
     GF_SECTION_FILTER, FILTER, CHOOSE(range)},
    {"alpha", 0, "HOW",
     "opacity: premul (colour weighted by it), copy, filter (as\n"
     "a channel like any other), or auto (by the filter's kind)",
     GF_SECTION_FILTER, FILTER, CHOOSE(alpha)},
    {"gray", 0, NULL, "filter the luma of pictures in colour; outputs are gray", GF_SECTION_FILTER,
     FILTER, FLAG(gray)},
    {"luma", 0, "WHICH", "of --gray: bt601 (default) or bt709", GF_SECTION_FILTER, FILTER,
     CHOOSE(luma)},
    {"linear", 0, NULL, "filter light instead of stored numbers", GF_SECTION_FILTER, FILTER,
     FLAG(linear)},
    {"flip", 0, NULL, "true convolution: kernels turned by 180 degrees", GF_SECTION_FILTER, FILTER,
     FLAG(flip)},

    {"output", 'o', "PATH",
     "the output's file, or for several outputs their folder, or\n"
     "one .npy for all filters of a picture; - is standard output;\n"
     "default: beside the input",
     GF_SECTION_OUTPUT, FILTER, SET(output)},
    {"name", 0, "TEMPLATE",
     "names of outputs; default '{stem}.{filter}{ext}', and\n"
     "{dir} and {index} are known too",
     GF_SECTION_OUTPUT, FILTER, SET(name)},
    {"montage", 0, "FILE",
     "instead of single outputs one contact sheet a picture; for\n"
     "several pictures a template as '{stem}.maps.png'",
     GF_SECTION_OUTPUT, FILTER, SET(montage)},
    {"montage-scale", 0, "HOW",
     "black and white of a montage are the extremes of each map\n"
     "(default), of all (common), or as --range says (none)",
     GF_SECTION_OUTPUT, FILTER, CHOOSE(montage_scale)},
    {"montage-columns", 0, "N", "tiles in a row of a montage; default: near-square",
     GF_SECTION_OUTPUT, FILTER, SET(montage_columns)},
    {"picture", 0, "FILE",
     "with gpufilter filters: draw the kernels of the filters or\n"
     "of a --bank, of all filters where none is named; with\n"
     "gpufilter weights: draw the kernels of a tensor",
     GF_SECTION_OUTPUT, GF_COMMAND_FILTERS | GF_COMMAND_WEIGHTS, SET(picture)},
    {"tensor", 0, "NAME", "with gpufilter weights --picture: the tensor to draw", GF_SECTION_OUTPUT,
     GF_COMMAND_WEIGHTS, SET(tensor)},
    {"overwrite", 0, NULL, "replace outputs that exist", GF_SECTION_OUTPUT,
     EITHER | GF_COMMAND_FILTERS | GF_COMMAND_WEIGHTS, FLAG(overwrite)},
    {"skip-existing", 0, NULL, "pass over outputs that exist", GF_SECTION_OUTPUT, FILTER,
     FLAG(skip_existing)},
    {"in-place", 0, NULL, "write the output over its input", GF_SECTION_OUTPUT, FILTER,
     FLAG(in_place)},
    {"format", 0, "NAME",
     "png, jpeg or npy, where the output's name does not say;\n"
     "default: the input's",
     GF_SECTION_OUTPUT, FILTER, SET(format)},
    {"depth", 0, "BITS",
     "8 or 16 bits a sample, or f32 or f64 for .npy; default: the\n"
     "input's, and floats for .npy",
     GF_SECTION_OUTPUT, FILTER, CHOOSE(depth)},
    {"quality", 0, "N", "of JPEG, 1 to 100; default 90", GF_SECTION_OUTPUT, FILTER, SET(quality)},
    {"png-level", 0, "N",
     "of PNG compression: 0 none, 1 fast and small (default),\n"
     "2 to 9 as zlib's levels",
     GF_SECTION_OUTPUT, FILTER, SET(png_level)},
    {"strip", 0, NULL, "drop all metadata but the colour profile", GF_SECTION_OUTPUT, FILTER,
     FLAG(strip)},

    {"recursive", 'r', NULL, "go down into the folders of a directory", GF_SECTION_INPUT, FILTER,
     FLAG(recursive)},
    {"files-from", 'T', "FILE",
     "inputs that a file lists, one a line or each ended by a zero\n"
     "byte; - is standard input; dir/./sub/a.png keeps sub/ in the\n"
     "outputs' tree",
     GF_SECTION_INPUT, FILTER, SET(files_from)},
    {"shard", 0, "K/N",
     "only the K-th of N parts of the inputs, for several machines;\n"
     "auto takes both from Slurm, Open MPI or PMI, auto/N also\n"
     "from the index of a Kubernetes job",
     GF_SECTION_INPUT, FILTER, CHOOSE(shard)},
    {"tolerant", 0, NULL, "accept what could be decoded of a damaged PNG or JPEG", GF_SECTION_INPUT,
     EITHER, FLAG(read.tolerant)},
    {"no-auto-orient", 0, NULL, "leave the EXIF orientation as it is", GF_SECTION_INPUT, EITHER,
     FLAG(no_auto_orient)},
    {"max-pixels", 0, "N", "refuse larger pictures; k, M, G, T: powers of 1000; default 2^30",
     GF_SECTION_INPUT, EITHER, SET(max_pixels)},

    {"device", 0, "WHICH",
     "cpu, cuda, cuda:N, cuda:all, reference (float64, slow), or\n"
     "auto: what is expected to be faster",
     GF_SECTION_DEVICE, FILTER, CHOOSE(device)},
    {"algorithm", 0, "NAME", "GPU method; gpufilter algorithms lists them", GF_SECTION_DEVICE,
     FILTER, SET(algorithm)},
    {"threads", 0, "N", "of the CPU; default: one a processor", GF_SECTION_DEVICE, FILTER,
     SET(threads)},
    {"jobs", 'j', "N", "pictures in flight; default: one a processor, at most 32",
     GF_SECTION_DEVICE, FILTER, SET(jobs)},
    {"memory", 0, "SIZE", "most memory for rows in flight, as 512M or 2G", GF_SECTION_DEVICE,
     EITHER, SET(memory)},

    {"compare", 0, NULL,
     "compute on the GPU and on the CPU (without a GPU: on the\n"
     "CPU and by the float64 reference) and report the difference",
     GF_SECTION_COMPARE, FILTER, FLAG(compare)},
    {"tolerance", 0, "X",
     "largest difference of a sample that passes; default 0, and\n"
     "1 with --compare (for floats 1e-5 of the largest value)",
     GF_SECTION_COMPARE, EITHER, SET(tolerance)},
    {"diff-image", 0, "PATH", "write the differences, the largest as white", GF_SECTION_COMPARE,
     EITHER, SET(diff_image)},
    {"report", 0, "FILE",
     "write a page of HTML: pictures, differences, figures and\n"
     "histograms of all that is compared",
     GF_SECTION_COMPARE, EITHER, SET(report)},

    {"stats", 0, NULL, "time and throughput of each picture", GF_SECTION_REPORT, FILTER,
     FLAG(stats)},
    {"failures", 0, "FILE",
     "a list of what failed or was not done, for --files-from;\n"
     "{shard} stands for the number of the --shard",
     GF_SECTION_REPORT, FILTER, SET(failures)},
    {"table", 0, NULL,
     "with gpufilter filters: all of them with their parameters\n"
     "and formulas, as gpufilter-filters(7) has them",
     GF_SECTION_REPORT, GF_COMMAND_FILTERS, FLAG(table)},
    {"json", 0, NULL, "one line of JSON a picture on standard output", GF_SECTION_REPORT, REPORTING,
     FLAG(json)},
    {"quiet", 'q', NULL, "errors only", GF_SECTION_REPORT, EITHER, FLAG(quiet)},
    {"verbose", 'v', NULL, "what was chosen, and why", GF_SECTION_REPORT,
     FILTER | GF_COMMAND_WEIGHTS, FLAG(verbose)},
    {"help", 'h', NULL, "this text", GF_SECTION_REPORT, ALL, FLAG(help)},
    {"version", 0, NULL, "the version, and those of the libraries", GF_SECTION_REPORT, ALL,
     FLAG(version)},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL, NULL},
};
