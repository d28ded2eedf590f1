/* The scripts are made from the tables that the program itself reads, so that they cannot be out of
 * date. What is no word of a table is left to the shell's completion of file names. */
#include "app/completion.h"

#include <stdio.h>
#include <string.h>

#include "app/options.h"
#include "common/text.h"
#include "filters/catalog.h"
#include "gpu/algorithms.h"

/* The words that may follow an option, separated by spaces; nothing where it takes others. */
static void print_values(const GfOption *option)
{
    const char *space = "";
    if (strcmp(option->name, "kernel") == 0)
        for (const GfNamedFilter *row = gf_catalog; row->name; row++, space = " ")
            printf("%s%s", space, row->name);
    if (strcmp(option->name, "algorithm") == 0)
        for (const GfAlgorithm *row = gf_algorithms; row->name; row++, space = " ")
            printf("%s%s", space, row->name);
    if (strcmp(option->name, "format") == 0)
        for (const GfCodec *const *codec = gf_codecs; *codec; codec++, space = " ")
            printf("%s%s", space, (*codec)->name);
}

static bool has_values(const GfOption *option)
{
    return strcmp(option->name, "kernel") == 0 || strcmp(option->name, "algorithm") == 0 ||
           strcmp(option->name, "format") == 0;
}

/* The help's first line without what shells take for their own. */
static void print_summary(const GfOption *option)
{
    for (const char *c = option->help; *c && *c != '\n'; c++)
        if (!strchr("'\"[]:\\$`", *c))
            putchar(*c);
}

static void print_bash(void)
{
    puts("_gpufilter() {\n"
         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "    case $before in");
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (!has_values(option))
            continue;
        printf("    --%s", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        printf(") words='");
        print_values(option);
        puts("' ;;");
    }
    printf("    *)\n        case $current in\n        -*) words='");
    for (const GfOption *option = gf_option_table; option->name; option++)
        printf("--%s ", option->name);
    puts("' ;;");
    printf("        *) [ \"$COMP_CWORD\" -gt 1 ] || words='");
    for (size_t i = 0; gf_call_word(i); i++)
        printf("%s ", gf_call_word(i));
    puts("' ;;\n        esac ;;\n    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _gpufilter gpufilter");
}

static void print_zsh(void)
{
    puts("#compdef gpufilter\n_gpufilter() {\n    _arguments -s \\");
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (option->letter)
            printf("    '*'{-%c,--%s}'[", option->letter, option->name);
        else
            printf("    '*--%s[", option->name);
        print_summary(option);
        printf("]");
        if (option->argument) {
            printf(":%s:", option->argument);
            printf(has_values(option) ? "(" : "_files");
            print_values(option);
            printf(has_values(option) ? ")" : "");
        }
        puts("' \\");
    }
    printf("    '1: :{_alternative \"calls:call:(");
    for (size_t i = 0; gf_call_word(i); i++)
        printf("%s ", gf_call_word(i));
    puts(")\" \"files:picture:_files\"}' \\\n    '*:picture:_files'\n}\n"
         "# Read from a folder of $fpath, or by source.\n"
         "if [ \"$funcstack[1]\" = _gpufilter ]; then _gpufilter \"$@\"; "
         "else compdef _gpufilter gpufilter; fi");
}

static void print_fish(void)
{
    for (size_t i = 0; gf_call_word(i); i++)
        printf("complete -c gpufilter -n __fish_use_subcommand -a %s\n", gf_call_word(i));
    for (const GfOption *option = gf_option_table; option->name; option++) {
        printf("complete -c gpufilter -l %s", option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf("%s -d '", option->argument ? " -r" : "");
        print_summary(option);
        printf("'");
        if (has_values(option)) {
            printf(" -a '");
            print_values(option);
            printf("'");
        }
        putchar('\n');
    }
}

GfStatus gf_completion_print(const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, shell) == 0) {
            shells[i].print();
            return GF_OK;
        }
    char shown[256];
    return gf_fail(GF_EUSAGE, "completion: nothing is known of the shell \"%s\"; bash, zsh or fish",
                   gf_escape(shell, shown, sizeof shown));
}
