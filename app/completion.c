/* The scripts are made from the tables that the program itself reads, so that they cannot be out of
 * date. Each is a map from keys to words, which the tables become, and a few lines of the shell's
 * own that find the key: "option", "border", "kernel", "kernel:gaussian" (parameters), or
 * "kernel:sobel:direction" (a parameter's words). What has no words is left to the shell's
 * completion of file names. */
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

static const char *shell_word(size_t i)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    return shells[i];
}

/* Words of tables. Those that are named as options are are the words of their values. */
static const struct {
    const char *key, *before; /* `before` stands before each word */
    WordAt words;
} tables[] = {
    {"kernel", "", filter_word}, {"bank", "", bank_word},       {"algorithm", "", algorithm_word},
    {"format", "", format_word}, {"option", "--", option_word}, {"call", "", gf_call_word},
    {"shell", "", shell_word},
};

enum { TABLES = sizeof tables / sizeof *tables };

/* How a shell writes the map: the text before a key, between key and words, and behind them. */
typedef struct Syntax {
    const char *key, *words, *end;
} Syntax;

static bool is_file(const GfParameter *parameter)
{
    return parameter->kind == GF_FILE || parameter->kind == GF_OPTIONAL_FILE;
}

static bool has_words(const GfParameter *parameter)
{
    return parameter->words && parameter->kind != GF_LIST; /* whose are its standard values */
}

/* The parameters of a filter or bank, and the words that each of them takes. */
static void print_row(const Syntax *syntax, const char *what, const GfNamedFilter *row)
{
    const GfParameter *parameters = row->parameters;
    if (!parameters[0].name)
        return;
    printf("%s%s:%s%s", syntax->key, what, row->name, syntax->words);
    for (size_t i = 0; i < GF_MAX_PARAMETERS && parameters[i].name; i++)
        printf(" %s=", parameters[i].name);
    for (size_t i = 0; i < GF_MAX_PARAMETERS && parameters[i].name; i++)
        if (has_words(&parameters[i])) /* may stand alone */
            printf(" %s", parameters[i].words);
    puts(syntax->end);
    for (size_t i = 0; i < GF_MAX_PARAMETERS && parameters[i].name; i++)
        if (has_words(&parameters[i]) || is_file(&parameters[i]))
            printf("%s%s:%s:%s%s %s%s\n", syntax->key, what, row->name, parameters[i].name,
                   syntax->words, is_file(&parameters[i]) ? "/" : parameters[i].words, syntax->end);
}

/* The whole map; "/" stands for the names of files. */
static void print_map(const Syntax *syntax)
{
    for (size_t t = 0; t < TABLES; t++) {
        printf("%s%s%s", syntax->key, tables[t].key, syntax->words);
        for (size_t i = 0; tables[t].words(i); i++)
            printf(" %s%s", tables[t].before, tables[t].words(i));
        puts(syntax->end);
    }
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (!option->words)
            continue;
        printf("%s%s%s", syntax->key, option->name, syntax->words);
        for (const GfWord *word = option->words; word->word; word++)
            printf(" %s", word->word);
        puts(syntax->end);
    }
    for (const GfNamedFilter *row = gf_catalog; row->name; row++)
        print_row(syntax, "kernel", row);
    for (const GfNamedBank *row = gf_named_banks; row->about.name; row++)
        print_row(syntax, "bank", &row->about);
}

typedef enum Takes { TAKES_NOTHING, TAKES_WORDS, TAKES_FILES, TAKES_TEXT } Takes;

/* What an option's value is; numbers and templates are text, of which a shell knows nothing. */
static Takes takes(const GfOption *option)
{
    if (!option->argument)
        return TAKES_NOTHING;
    if (option->words)
        return TAKES_WORDS;
    for (size_t t = 0; t < TABLES; t++)
        if (strcmp(tables[t].key, option->name) == 0)
            return TAKES_WORDS;
    return strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0
               ? TAKES_FILES
               : TAKES_TEXT;
}

/* The help's first line without what the shell takes for its own. */
static void print_summary(const GfOption *option, const char *special)
{
    for (const char *c = option->help; *c && *c != '\n'; c++)
        if (!strchr(special, *c))
            putchar(*c);
}

/* ---- bash, and what zsh reads as bash does ---- */

static const char words_begin[] = "_gpufilter_words() { # KEY: the words that may stand there\n"
                                  "    case $1 in";
static const char words_end[] = "    *) reply= ;;\n"
                                "    esac\n"
                                "}";
static const Syntax case_syntax = {"    ", ") reply='", "' ;;"};

static const char bash_begin[] =
    "_gpufilter() {\n"
    "    local i part glued='' key='' prefix='' stage reply typed=${COMP_WORDS[COMP_CWORD]}\n"
    "    local -a line=()\n"
    "    # The shell may have cut words at : = and @; they are put together again.\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        part=${COMP_WORDS[i]}\n"
    "        if [[ $i -gt 0 && -n $part && ( -n $glued || $part =~ ^[:=]+@?$ ||\n"
    "            ( $part = @ && ${line[${#line[@]}-1]} == *, ) ) ]]; then\n"
    "            line[${#line[@]}-1]+=$part\n"
    "        else\n"
    "            line+=(\"$part\")\n"
    "        fi\n"
    "        if [[ $part =~ ^[:=@]+$ ]]; then glued=1; else glued=; fi\n"
    "    done\n"
    "    local count=${#line[@]} current=${line[${#line[@]}-1]} before=''\n"
    "    if ((count > 1)); then before=${line[count-2]}; fi\n"
    "    case $current in\n"
    "    --*=*) before=${current%%=*} current=${current#*=} ;;\n"
    "    esac\n"
    "    if [[ $typed =~ ^[:=@]+$ ]]; then typed=; fi\n"
    "    local cut=${current%\"$typed\"} # stays as it is on the line; an @ does not\n"
    "    cut=${cut%@}\n"
    "    case $before in";
static const char bash_end[] =
    "    *)\n"
    "        case $count,${line[1]},$current in\n"
    "        *,-*) key=option ;;\n"
    "        2,*) key=call ;;\n"
    "        *,filters,*) key=kernel ;;\n"
    "        3,completion,*) key=shell ;;\n"
    "        esac ;;\n"
    "    esac\n"
    "    case $key in\n"
    "    kernel | bank)\n"
    "        stage=$current\n"
    "        if [ $key = kernel ]; then stage=${current##*,}; fi\n"
    "        case $stage in\n"
    "        @*) key=/ stage=${stage#@} ;;\n"
    "        *:*)\n"
    "            key=$key:${stage%%:*} stage=${stage##*:}\n"
    "            case $stage in\n"
    "            *=*) key=$key:${stage%%=*} stage=${stage#*=} ;;\n"
    "            esac ;;\n"
    "        esac\n"
    "        prefix=${current%\"$stage\"} ;;\n"
    "    esac\n"
    "    _gpufilter_words \"$key\"\n"
    "    COMPREPLY=()\n"
    "    if [[ $key = / || $reply == *' /' ]]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"${current#\"$prefix\"}\")\n"
    "        if [ \"$prefix\" = \"$cut\" ]; then\n"
    "            compopt -o filenames 2>/dev/null # quoted, and a / behind a folder\n"
    "            return\n"
    "        fi\n"
    "        # The same by hand where more stands before the name, as an @.\n"
    "        for i in \"${!COMPREPLY[@]}\"; do\n"
    "            printf -v part '%s%q' \"${prefix#\"$cut\"}\" \"${COMPREPLY[i]}\"\n"
    "            if [ -d \"${COMPREPLY[i]}\" ]; then\n"
    "                part+=/\n"
    "                compopt -o nospace 2>/dev/null\n"
    "            fi\n"
    "            COMPREPLY[i]=$part\n"
    "        done\n"
    "        return\n"
    "    fi\n"
    "    for part in $reply; do\n"
    "        part=$prefix$part\n"
    "        if [[ $part == \"$current\"* ]]; then COMPREPLY+=(\"${part#\"$cut\"}\"); fi\n"
    "    done\n"
    "    case ${COMPREPLY[*]-} in\n"
    "    *[=:]) compopt -o nospace 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "complete -o default -F _gpufilter gpufilter";

static void print_bash(void)
{
    puts(words_begin);
    print_map(&case_syntax);
    puts(words_end);
    puts(bash_begin);
    for (const GfOption *option = gf_option_table; option->name; option++) {
        if (takes(option) == TAKES_NOTHING)
            continue;
        printf("    --%s", option->name);
        if (option->letter)
            printf(" | -%c", option->letter);
        printf(") key=%s ;;\n", takes(option) == TAKES_WORDS ? option->name : "value");
    }
    puts(bash_end);
}

/* ---- zsh ---- */

static const char zsh_value[] =
    "_gpufilter_value() { # WHAT: completes a filter, a bank, or an option's word\n"
    "    local key=$1 reply word found=1\n"
    "    local -a open closed\n"
    "    case $1 in\n"
    "    kernel|bank)\n"
    "        if [[ $1 = kernel ]]; then\n"
    "            compset -P '*,'\n"
    "            if compset -P '@'; then _files; return; fi\n"
    "        fi\n"
    "        if [[ $PREFIX = *:* ]]; then\n"
    "            key=$1:${PREFIX%%:*}\n"
    "            compset -P '*:'\n"
    "            if [[ $PREFIX = *=* ]]; then\n"
    "                key=$key:${PREFIX%%=*}\n"
    "                compset -P '*='\n"
    "            fi\n"
    "        fi ;;\n"
    "    esac\n"
    "    _gpufilter_words $key\n"
    "    if [[ $reply = ' /' ]]; then _files; return; fi\n"
    "    for word in ${=reply}; do\n"
    "        if [[ $word = *[=:] ]]; then open+=($word); else closed+=($word); fi\n"
    "    done\n"
    "    (( $#open )) && compadd -S '' -a open && found=0\n"
    "    (( $#closed )) && compadd -a closed && found=0\n"
    "    if [[ $key = kernel ]]; then _files && found=0; fi\n"
    "    return found\n"
    "}\n"
    "_gpufilter_operand() {\n"
    "    local reply\n"
    "    case $words[2] in\n"
    "    filters) _gpufilter_value kernel ;;\n"
    "    completion) _gpufilter_value shell ;;\n"
    "    *)\n"
    "        if (( CURRENT == 2 )); then _gpufilter_words call; compadd ${=reply}; fi\n"
    "        _files ;;\n"
    "    esac\n"
    "}\n"
    "_gpufilter() {\n"
    "    _arguments -s \\";
static const char zsh_end[] = "    '*:picture:_gpufilter_operand'\n"
                              "}\n"
                              "# Read from a folder of $fpath, or by source.\n"
                              "if [ \"$funcstack[1]\" = _gpufilter ]; then _gpufilter \"$@\"; "
                              "else compdef _gpufilter gpufilter; fi";

static void print_zsh(void)
{
    puts("#compdef gpufilter");
    puts(words_begin);
    print_map(&case_syntax);
    puts(words_end);
    puts(zsh_value);
    for (const GfOption *option = gf_option_table; option->name; option++) {
        const char *equals = option->argument ? "=" : "";
        if (option->letter)
            printf("    '*'{-%c,--%s%s}'[", option->letter, option->name, equals);
        else
            printf("    '*--%s%s[", option->name, equals);
        print_summary(option, "'[]\\$`");
        printf("]");
        if (takes(option) == TAKES_WORDS)
            printf(":%s:{_gpufilter_value %s}", option->argument, option->name);
        else if (takes(option) == TAKES_FILES)
            printf(":%s:_files", option->argument);
        else if (takes(option) == TAKES_TEXT)
            printf(":%s: ", option->argument);
        puts("' \\");
    }
    puts(zsh_end);
}

/* ---- fish ---- */

static const char fish_value[] =
    "function _gpufilter_value # WHAT: completes a filter, a bank, or an option's word\n"
    "    set -l token (commandline -ct | string replace -r -- '^--[a-z0-9-]+=' '')\n"
    "    set -l key $argv[1]\n"
    "    set -l rest \"$token\"\n"
    "    if contains -- $key kernel bank\n"
    "        if test $key = kernel\n"
    "            set rest (string replace -r -- '^.*,' '' \"$token\")\n"
    "        end\n"
    "        if string match -q -- '@*' \"$rest\"\n"
    "            set -l before (math (string length -- \"$token\") - (string length -- "
    "\"$rest\"))\n"
    "            string replace -r -- '^' (string sub -l $before -- \"$token\")@ \\\n"
    "                (__fish_complete_path (string sub -s 2 -- \"$rest\"))\n"
    "            return\n"
    "        else if string match -q -- '*:*' \"$rest\"\n"
    "            set key $key:(string replace -r -- ':.*' '' \"$rest\")\n"
    "            set rest (string replace -r -- '^.*:' '' \"$rest\")\n"
    "            if string match -q -- '*=*' \"$rest\"\n"
    "                set key $key:(string replace -r -- '=.*' '' \"$rest\")\n"
    "                set rest (string replace -r -- '^.*=' '' \"$rest\")\n"
    "            end\n"
    "        end\n"
    "        set -l kept (math (string length -- \"$token\") - (string length -- \"$rest\"))\n"
    "        set rest (string sub -l $kept -- \"$token\")\n"
    "    else\n"
    "        set rest ''\n"
    "    end\n"
    "    for word in (_gpufilter_words $key)\n"
    "        echo -- \"$rest$word\"\n"
    "    end\n"
    "end\n"
    "complete -c gpufilter -n __fish_use_subcommand -a '(_gpufilter_words call)'\n"
    "complete -c gpufilter -n '__fish_seen_subcommand_from filters' -a '(_gpufilter_value "
    "kernel)'\n"
    "complete -c gpufilter -n '__fish_seen_subcommand_from completion' -f -a '(_gpufilter_words "
    "shell)'";

static void print_fish(void)
{
    static const Syntax syntax = {"        case ", "\n            printf '%s\\n'", ""};
    puts("function _gpufilter_words # KEY: the words that may stand there\n"
         "    switch $argv[1]");
    print_map(&syntax);
    puts("    end\nend");
    puts(fish_value);
    for (const GfOption *option = gf_option_table; option->name; option++) {
        bool open = takes(option) == TAKES_FILES || strcmp(option->name, "kernel") == 0;
        printf("complete -c gpufilter -l %s", option->name);
        if (option->letter)
            printf(" -s %c", option->letter);
        printf("%s -d '", !option->argument ? "" : open ? " -r" : " -x");
        print_summary(option, "'\\");
        printf("'");
        if (takes(option) == TAKES_WORDS)
            printf(" -a '(_gpufilter_value %s)'", option->name);
        putchar('\n');
    }
}

GfStatus gf_completion_print(const char *shell)
{
    static void (*const print[])(void) = {print_bash, print_zsh, print_fish}; /* as shell_word */
    for (size_t i = 0; shell_word(i); i++)
        if (strcmp(shell_word(i), shell) == 0) {
            print[i]();
            return GF_OK;
        }
    char shown[256];
    return gf_fail(GF_EUSAGE, "completion: nothing is known of the shell \"%s\"; bash, zsh or fish",
                   gf_escape(shell, shown, sizeof shown));
}
