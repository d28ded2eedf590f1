/* The command line. ONE table says which options there are; getopt_long's arrays, --help and
 * whatever lists options elsewhere are made from it. To add an option: a field, a row, and a setter
 * where the row's flag is not enough. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "app/values.h"
#include "filters/plan.h"
#include "images/codec.h"

/* What to do: a first word that is one of these, else filtering. Bits, so that an option can say
 * which commands it belongs to. */
typedef enum GfCommand {
    GF_COMMAND_FILTER = 1,
    GF_COMMAND_COMPARE = 2,
    GF_COMMAND_FILTERS = 4,
    GF_COMMAND_DEVICES = 8,
    GF_COMMAND_ALGORITHMS = 16,
    GF_COMMAND_COMPLETION = 32,
    GF_COMMAND_WEIGHTS = 64,
    GF_COMMAND_ALL = 127
} GfCommand;

typedef enum GfDeviceWish {
    GF_DEVICE_AUTO,
    GF_DEVICE_CPU,
    GF_DEVICE_CUDA,
    GF_DEVICE_REFERENCE
} GfDeviceWish;

/* What becomes black and white on a montage. */
typedef enum GfMontageScale {
    GF_MONTAGE_USUAL,  /* not given: as GF_MONTAGE_MAP */
    GF_MONTAGE_MAP,    /* the smallest and largest response of each tile */
    GF_MONTAGE_COMMON, /* of all tiles */
    GF_MONTAGE_NONE    /* what would without a montage: tiles are the outputs */
} GfMontageScale;

typedef struct GfOptions {
    GfCommand command;
    bool help, version;
    const char *
        *kernels; /* of --kernel and --bank; owned array of borrowed texts, in the order given */
    bool *banks;  /* which of them are banks; owned */
    size_t kernel_count;
    const char **operands; /* likewise; without the command's word */
    size_t operand_count;

    GfBorder border;
    double border_value;
    GfRange range;
    bool minmax; /* --range minmax: smallest response black, largest white; `range` is clamp */
    GfAlpha alpha;
    bool flip;
    bool gray, linear;
    GfGray luma;         /* GF_GRAY_NONE: not given */
    GfCombineOp combine; /* of each bank; GF_COMBINE_NONE: its members are outputs of their own */

    const char *output;  /* NULL: beside the input */
    const char *name;    /* template; NULL: not given */
    const char *montage; /* template of the sheet's name; NULL: outputs are files of their own */
    GfMontageScale montage_scale;
    size_t montage_columns; /* 0: chosen */
    const GfCodec *format;  /* NULL: by the output's name */
    bool recursive, overwrite, skip_existing, in_place;
    const char *files_from; /* list of inputs, "-": standard input; NULL: none */
    const char *failures;   /* where what was not done is listed; NULL: nowhere */
    const char *shard;      /* K/N, auto, auto/N; NULL: everything */
    bool depth_given;
    GfSample depth;
    GfWriteOptions write;
    bool quality_given, png_level_given;
    bool strip;

    GfReadOptions read;
    bool no_auto_orient; /* as typed; the reader's option is its negation */

    GfDeviceWish device;
    int device_number;     /* of GF_DEVICE_CUDA */
    bool all_devices;      /* likewise: instead of the number */
    const char *algorithm; /* NULL: chosen */
    size_t threads, jobs;  /* 0: chosen */
    size_t memory;         /* bytes; 0: no limit given */

    bool compare, tolerance_given;
    double tolerance;
    const char *diff_image, *report; /* NULL: not written */
    const char
        *picture;       /* of `filters`, `weights`: where kernels are drawn; NULL: listed as text */
    const char *tensor; /* of `weights`: whose; NULL: not named */

    bool table; /* of `filters`: all of the catalogue as gpufilter-filters(7) has it */

    bool stats, json, quiet, verbose;
} GfOptions;

/* The headings of --help, in its order. */
typedef enum GfSection {
    GF_SECTION_FILTER,
    GF_SECTION_OUTPUT,
    GF_SECTION_INPUT,
    GF_SECTION_DEVICE,
    GF_SECTION_COMPARE,
    GF_SECTION_REPORT,
    GF_SECTIONS
} GfSection;

extern const char *const gf_section_titles[GF_SECTIONS];

typedef struct GfOption {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* what the help calls it; NULL: takes none */
    const char *help;     /* lines separated by \n */
    GfSection section;
    unsigned commands; /* bits of GfCommand */
    size_t flag;       /* offset in GfOptions of the bool to set, where `set` is NULL */
    GfStatus (*set)(GfOptions *options, const char *value);
    const GfWord *words; /* that the value may be; NULL: not a choice of words, or one of a table */
} GfOption;

/* The last row has no name. */
extern const GfOption gf_option_table[];

/* The first word of call `i` ("compare", "filters", ...), or NULL behind the last. */
const char *gf_call_word(size_t i);

/* Reads the command line. The texts in `options` are borrowed from `arguments`, which is permuted.
 * GF_EUSAGE with the reason; GF_EMEMORY. Free with gf_options_free() in every case. */
GfStatus gf_options_parse(int count, char **arguments, GfOptions *options);

void gf_options_free(GfOptions *options);

/* The text of --help. */
void gf_options_help(FILE *file);

/* The plan's options for output samples of that type: what the user asked for, rows as the plan
 * likes. */
GfPlanOptions gf_options_plan(const GfOptions *options, GfSample sample);

/* The sample type to write for a picture of type `in`: --depth, else floats where the codec can
 * store them, else the input's type (of F16 F32), or 8 bits where the codec cannot store that
 * (floats are then taken as values from 0 to 255). Without a codec: the input's. */
GfSample gf_options_sample(const GfOptions *options, const GfCodec *codec, GfSample in);
