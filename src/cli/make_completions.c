/* SPDX-License-Identifier: MIT */
/* make_completions SHELL: prints the completions of the command line for bash, zsh or fish. It runs
 * when the program is built, and so refuses a table of options that has wrong terms. */
#include "cli.h"
#include "option.h"
#include "gpu/count/strategy.h"
#include "src/report/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_SIZE 512

/* Ends with 1 if a term is not the name of an option. */
static void check_terms(const struct option_row *row, const char *terms)
{
    struct term term;
    while (option_next_term(&option_table, &terms, &term))
        if (!term.row) {
            fprintf(stderr, "make_completions: a term of --%s is no option\n", row->name);
            exit(1);
        }
}

static void check_table(void)
{
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++) {
        const char *const columns[] = {row->requires, row->conflicts, row->only_with, row->replaces,
                                       row->implies};
        for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
            check_terms(row, columns[i]);
        for (const struct option_instead *at = row->instead; at->terms; at++)
            check_terms(row, at->terms);
    }
}

static void add_word(char words[WORDS_SIZE], const char *word)
{
    const size_t len = strlen(words);
    snprintf(words + len, WORDS_SIZE - len, "%s%s", len > 0 ? " " : "", word);
}

/* Lists what the value may be; empty if that is not known. */
static const char *words_of(const struct option_row *row)
{
    static char words[WORDS_SIZE];
    words[0] = '\0';
    for (size_t i = 0; row->words[i]; i++)
        add_word(words, row->words[i]);
    for (size_t i = 0; strcmp(row->name, "format") == 0 && formats[i]; i++)
        add_word(words, formats[i]->name);
    if (strcmp(row->name, "kernel") == 0) {
        add_word(words, "auto help");
        for (unsigned i = 0; i < strategy_count; i++)
            add_word(words, strategies[i].name);
    }
    return words;
}

/* Prints text as one line, with a backslash before each of the special characters, and `quote` for
 * a single quote. */
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            putchar('\\');
        if (*text == '\'')
            fputs(quote, stdout);
        else
            putchar(*text == '\n' ? ' ' : *text);
    }
}

static bool is_file(const struct option_row *row)
{
    return strcmp(row->value, "FILE") == 0;
}

/* Prints "-F | --format". */
static void print_names(const struct option_row *row)
{
    if (row->letter)
        printf("-%c | ", row->letter);
    printf("--%s", row->name);
}

/* Prints the names of all options that take a value, or a file, as a pattern of bash. */
static void print_pattern(bool only_files)
{
    const char *between = "";
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++)
        if (row->takes == VALUE_REQUIRED && (!only_files || is_file(row))) {
            fputs(between, stdout);
            print_names(row);
            between = " | ";
        }
}

static void print_bash(void)
{
    puts("# Completions of gpuhisto for bash, made from its table of options.\n"
         "_gpuhisto()\n"
         "{\n"
         "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} i\n"
         "    local option=\"\" prefix=\"\" words=\"\"\n"
         "    # The value of an option is a word of its own where bash splits words at \"=\".\n"
         "    if [[ $word == \"=\" ]]; then\n"
         "        option=$before word=\n"
         "    elif [[ $before == \"=\" ]]; then\n"
         "        option=${COMP_WORDS[COMP_CWORD - 2]}\n"
         "    elif [[ $word == --*=* ]]; then\n"
         "        option=${word%%=*} prefix=${word%%=*}= word=${word#*=}\n"
         "    else\n"
         "        case $before in");
    fputs("        ", stdout);
    print_pattern(false);
    puts(") option=$before ;;\n"
         "        esac\n"
         "    fi\n"
         "    # After -- there are only FILEs.\n"
         "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "        if [[ ${COMP_WORDS[i]} == -- ]]; then option=--; fi\n"
         "    done\n"
         "    COMPREPLY=()\n"
         "    case $option in");
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++)
        if (*words_of(row)) {
            fputs("    ", stdout);
            print_names(row);
            printf(") words=\"%s\" ;;\n", words_of(row));
        }
    fputs("    \"\") if [[ $word == -* ]]; then words=\"", stdout);
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++)
        printf("%s--%s%s", row == option_table.rows ? "" : " ", row->name,
               row->takes == VALUE_REQUIRED ? "=" : "");
    fputs("\"; fi ;;\n"
          "    esac\n"
          "    case $option in\n"
          "    \"\" | -- | ",
          stdout);
    print_pattern(true);
    puts(")\n"
         "        if [[ -z $words ]]; then\n"
         "            mapfile -t COMPREPLY < <(compgen -P \"$prefix\" -f -- \"$word\")\n"
         "            compopt -o filenames 2>/dev/null\n"
         "            return\n"
         "        fi\n"
         "        ;;\n"
         "    esac\n"
         "    if [[ -n $words ]]; then mapfile -t COMPREPLY < "
         "<(compgen -P \"$prefix\" -W \"$words\" -- \"$word\"); fi\n"
         "    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then "
         "compopt -o nospace 2>/dev/null; fi\n"
         "}\n"
         "complete -F _gpuhisto gpuhisto");
}

static void print_zsh(void)
{
    static const char *const shorts[] = {"", "+", "-"}, *const longs[] = {"", "=", "=-"};
    puts("#compdef gpuhisto\n"
         "# Completions of gpuhisto for zsh, made from its table of options.\n"
         "\n"
         "_arguments -s -S : \\");
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++) {
        const char *words = words_of(row);
        fputs("    '*'", stdout);
        if (row->letter)
            printf("{-%c%s,--%s%s}", row->letter, shorts[row->takes], row->name, longs[row->takes]);
        else
            printf("--%s%s", row->name, longs[row->takes]);
        fputs("'[", stdout);
        print_quoted(row->help, "[]\\:", "'\\''");
        putchar(']');
        if (row->takes != VALUE_NONE) {
            fputs(row->takes == VALUE_OPTIONAL ? "::" : ":", stdout);
            print_quoted(row->value, "[]\\:", "'\\''");
            printf(":%s%s%s", *words ? "(" : "",
                   *words         ? words
                   : is_file(row) ? "_files"
                                  : " ",
                   *words ? ")" : "");
        }
        puts("' \\");
    }
    puts("    '*:FILE:_files'");
}

static void print_fish(void)
{
    puts("# Completions of gpuhisto for fish, made from its table of options.");
    for (const struct option_row *row = option_table.rows;
         row < option_table.rows + option_table.count; row++) {
        fputs("complete -c gpuhisto", stdout);
        if (row->letter)
            printf(" -s %c", row->letter);
        printf(" -l %s", row->name);
        if (row->takes == VALUE_REQUIRED)
            fputs(is_file(row) ? " -r -F" : " -x", stdout);
        if (*words_of(row))
            printf("%s -a '%s'", row->takes == VALUE_OPTIONAL ? " -f" : "", words_of(row));
        fputs(" -d '", stdout);
        print_quoted(row->help, "\\", "\\'");
        puts("'");
    }
}

int main(int argc, char **argv)
{
    const char *shell = argc == 2 ? argv[1] : "";
    check_table();
    if (strcmp(shell, "bash") == 0) {
        print_bash();
    } else if (strcmp(shell, "zsh") == 0) {
        print_zsh();
    } else if (strcmp(shell, "fish") == 0) {
        print_fish();
    } else {
        fputs("make_completions: which shell: bash, zsh or fish?\n", stderr);
        return 2;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
