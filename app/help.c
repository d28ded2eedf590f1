/* --help: what people come for first, then every option of the table. */
#include <string.h>

#include "app/options.h"

enum { COLUMN = 27 };

static const char beginning[] =
    "Filters pictures (PNG, JPEG, .npy) with convolution kernels, on the GPU or the CPU.\n"
    "\n"
    "Examples:\n"
    "  gpufilter photo.png --kernel sobel                    writes photo.sobel.png beside it\n"
    "  gpufilter photo.jpg --kernel gaussian:sigma=2 -o soft.jpg\n"
    "  gpufilter photo.png --kernel gaussian:sigma=1.4,sobel     first one, then the other\n"
    "  gpufilter photo.png --kernel sobel --kernel log -o out/   one output a kernel\n"
    "  gpufilter photo.png --bank gabor:orientations=8 -o out/    a family of filters, each one "
    "output\n"
    "  gpufilter photo.png --bank gabor --montage maps.png       all of them on one contact sheet\n"
    "  gpufilter photo.png --kernel '3x3: 0 -1 0  -1 5 -1  0 -1 0'\n"
    "  gpufilter photo.png --kernel conv:weights=net.safetensors:tensor=conv1.weight,relu -o "
    "maps.npy\n"
    "  gpufilter photo.png --kernel @net.json -o clean.png   a network, its weights beside it\n"
    "  gpufilter photos/ -r --kernel unsharp:sigma=1.5:amount=0.8 -o out/   a whole directory\n"
    "  gpufilter photo.png --kernel sobel --compare          GPU and CPU, and how they differ\n"
    "  cat photo.png | gpufilter - --kernel box -o - > box.png\n"
    "\n"
    "Calls:\n"
    "  gpufilter PICTURE... --kernel FILTER... [OPTION...]\n"
    "  gpufilter filters [NAME...] [--bank BANK]   the filters there are; one of them in numbers\n"
    "  gpufilter filters [NAME...] [--bank BANK] --picture FILE    and what their kernels look "
    "like\n"
    "  gpufilter filters --table               all filters with parameters and formulas\n"
    "  gpufilter weights FILE...               the tensors in files of weights; -v with their "
    "ranges\n"
    "  gpufilter weights FILE --tensor NAME --picture FILE   what its kernels look like\n"
    "  gpufilter compare A B                   how far two pictures differ\n"
    "  gpufilter devices                       what this machine can compute on\n"
    "  gpufilter algorithms                    the methods that the GPU can use\n"
    "  gpufilter completion SHELL              a script that completes words in bash, zsh, fish\n";

static const char ending[] =
    "\n"
    "A file with the name of a call is written ./filters; -- ends the options.\n"
    "Exit status: 0 all done; 1 a picture failed, or differs by more than the tolerance; 2 the "
    "call\n"
    "is wrong, nothing was started; 3 stopped early (disk full, GPU lost); 128 + N on signal N.\n";

static void print_option(FILE *file, const GfOption *option)
{
    char left[64];
    const char *argument = option->argument ? option->argument : "";
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(left, sizeof left, "  %s--%s %s", letter, option->name, argument);
    for (const char *line = option->help; line;) {
        const char *end = strchr(line, '\n');
        int length = (int)(end ? (size_t)(end - line) : strlen(line));
        fprintf(file, "%-*s %.*s\n", COLUMN, left, length, line);
        left[0] = '\0';
        line = end ? end + 1 : NULL;
    }
}

void gf_options_help(FILE *file)
{
    fputs(beginning, file);
    for (GfSection section = 0; section < GF_SECTIONS; section++) {
        fprintf(file, "\n%s:\n", gf_section_titles[section]);
        for (const GfOption *option = gf_option_table; option->name; option++)
            if (option->section == section)
                print_option(file, option);
    }
    fputs(ending, file);
}
