/* The scripts are made from the tables that the program itself reads, so that they cannot be out of
 * date. What is no word of a table is left to the shell's completion of file names. */
#include "app/completion.h"

#include <stdio.h>
#include <string.h>

#include "app/options.h"
#include "common/text.h"
#include "filters/banks.h"
#include "gpu/algorithms.h"

/* Word i of a list, or NULL behind the last. */
typedef const char *(*WordAt)(size_t i);

static const char *filter_word(size_t i)
{
    return gf_catalog[i].name;
}

static const char *bank_word(size_t i)
{
    return gf_named_banks[i].about.name;
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
} valued[] = {{"kernel", filter_word},
              {"bank", bank_word},
              {"algorithm", algorithm_word},
              {"format", format_word}};

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

static bool is_file(const GfParameter *parameter)
{
    return parameter->kind == GF_FILE || parameter->kind == GF_OPTIONAL_FILE;
}

/* Whether a row above has a file parameter of that name. */
static bool is_known_above(const GfNamedFilter *row, const char *name)
{
    for (const GfNamedFilter *above = gf_catalog; above < row; above++)
        for (size_t i = 0; i < GF_MAX_PARAMETERS && above->parameters[i].name; i++)
            if (is_file(&above->parameters[i]) && strcmp(above->parameters[i].name, name) == 0)
                return true;
    return false;
}

/* The names of all parameters that are files, each between the two texts, with | between them. */
static void print_file_parameters(const char *before, const char *after)
{
    bool first = true;
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        for (size_t i = 0; i < GF_MAX_PARAMETERS && row->parameters[i].name; i++) {
            const GfParameter *parameter = &row->parameters[i];
            if (!is_file(parameter) || is_known_above(row, parameter->name))
                continue;
            printf("%s%s%s%s", first ? "" : "|", before, parameter->name, after);
            first = false;
        }
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
    puts("' ;;\n        esac ;;\n    esac");
    /* Where "=" and ":" do not cut words for the shell; where they do, its own completion of files
     * serves. */
    printf("    case $current in\n    ");
    print_file_parameters("*", "=*");
    puts(")\n        mapfile -t COMPREPLY < <(compgen -f -P \"${current%\"${current##*=}\"}\" -- "
         "\"${current##*=}\")\n"
         "        return ;;\n    esac\n"
         "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "}\n"
         "complete -o default -F _gpufilter gpufilter");
}

static void print_zsh(void)
{
    printf("#compdef gpufilter\n"
           "_gpufilter_filter() {\n"
           "    if compset -P '*[:,](");
    print_file_parameters("", "");
    printf(")='; then\n        _files\n    else\n        compset -P '*,'\n        compadd ");
    print_words(filter_word, "");
    puts("\n        _files\n    fi\n}\n_gpufilter() {\n    _arguments -s \\");
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (option->letter)
            printf("    '*'{-%c,--%s}'[", option->letter, option->name);
        else
            printf("    '*--%s[", option->name);
        print_summary(option);
        printf("]");
        if (values_of(option) == filter_word) {
            printf(":%s:_gpufilter_filter", option->argument);
        } else if (values_of(option)) {
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
