/* The scripts are made from the tables that the program itself reads, so that they cannot be out of
 * date. What is no word of a table is left to the shell's completion of file names. */
#include "app/completion.h"

#include <stdio.h>
#include <string.h>

#include "app/options.h"
#include "common/text.h"
#include "filters/catalog.h"
#include "gpu/algorithms.h"

/* Word i of a list, or NULL behind the last. */
typedef const char *(*WordAt)(size_t i);

static const char *filter_word(size_t i)
{
    return gf_catalog[i].name;
}

static const char *algorithm_word(size_t i)
{
    return gf_algorithms[i].name;
}

static const char *format_word(size_t i)
{
    return gf_codecs[i] ? gf_codecs[i]->name : NULL;
}

static const char *option_word(size_t i)
{
    return gf_option_table[i].name;
}

/* Options whose values are words of a table. */
static const struct {
    const char *option;
    WordAt words;
} valued[] = {{"kernel", filter_word}, {"algorithm", algorithm_word}, {"format", format_word}};

/* The words that may follow the option, or NULL where it takes others or none. */
static WordAt values_of(const GfOption *option)
{
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++)
        if (strcmp(valued[i].option, option->name) == 0)
            return valued[i].words;
    return NULL;
}

/* All words of a list, each after `before` and separated by spaces. */
static void print_words(WordAt words, const char *before)
{
    for (size_t i = 0; words(i); i++)
        printf("%s%s%s", i ? " " : "", before, words(i));
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
        if (!values_of(option))
            continue;
        printf("    --%s", option->name);
        if (option->letter)
            printf("|-%c", option->letter);
        printf(") words='");
        print_words(values_of(option), "");
        puts("' ;;");
    }
    printf("    *)\n        case $current in\n        -*) words='");
    print_words(option_word, "--");
    printf("' ;;\n        *) [ \"$COMP_CWORD\" -gt 1 ] || words='");
    print_words(gf_call_word, "");
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
        if (values_of(option)) {
            printf(":%s:(", option->argument);
            print_words(values_of(option), "");
            printf(")");
        } else if (option->argument) {
            printf(":%s:_files", option->argument);
        }
        puts("' \\");
    }
    printf("    '1: :{_alternative \"calls:call:(");
    print_words(gf_call_word, "");
    puts(")\" \"files:picture:_files\"}' \\\n    '*:picture:_files'\n}\n"
         "# Read from a folder of $fpath, or by source.\n"
         "if [ \"$funcstack[1]\" = _gpufilter ]; then _gpufilter \"$@\"; "
         "else compdef _gpufilter gpufilter; fi");
}

static void print_fish(void)
{
    printf("complete -c gpufilter -n __fish_use_subcommand -a '");
    print_words(gf_call_word, "");
    puts("'");
    for (const GfOption *option = gf_option_table; option->name; option++) {
        printf("complete -c gpufilter -l %s", option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf("%s -d '", option->argument ? " -r" : "");
        print_summary(option);
        printf("'");
        if (values_of(option)) {
            printf(" -a '");
            print_words(values_of(option), "");
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
