/* SPDX-License-Identifier: MIT */
/* The shared header of the command line's files: the table of options, and the draft that their
 * handlers fill in. doc/adding.md says how to add an option. */
#ifndef GPUHISTO_OPTION_H
#define GPUHISTO_OPTION_H

#include "cli.h"

#include <stdbool.h>
#include <stddef.h>

#define OPTIONS_MAX 80 /* rows of options.def, at most */

/* An option as it was typed the last time. */
struct given {
    unsigned position; /* among all options that were typed, from 1; 0: not given */
    char letter;       /* that was typed; '\0': it was the long name */
    const char *word;  /* "--format=pgm", or "--form"; for a letter the word it stands in */
    const char *value; /* or NULL */
};

/* A field with modifiers, as --by and --where have it. */
struct by {
    const char *text; /* as typed */
    bool is_name;     /* that of a column, even if it looks like a number */
    struct key key;   /* without its field */
};

#define FIELD_TIME ":time" /* after a field that is a time and is counted as a number */

/* The options of one histogram, as far as they were read. The functions *_finish work out what
 * depends on several of them. */
struct draft {
    struct options *options;
    struct given given[OPTIONS_MAX];     /* by the row of the option */
    const struct mode *mode;             /* whose option was given; NULL: none so far */
    char which[16];                      /* the value of that option as tables have it; or empty */
    unsigned width;                      /* of --letters */
    unsigned channels;                   /* 0: not given */
    const struct value_type *type;       /* of --values; NULL: not given */
    bool type_is_found;                  /* it was not typed: a header says it */
    unsigned bins, digits;               /* 0: not given */
    const char *min, *max, *edges, *log; /* as typed; NULL: not given */
    bool log_alone;                      /* --log without a base */
    const char *field, *after;           /* as typed; NULL: not given */
    int32_t field_number;                /* of --field; 0: it is not a number */
    bool is_time;                        /* --field ends with :time, */
    enum list_kind list;                 /* or with this modifier */
    struct by by[KEY_PARTS_MAX];         /* of each --by */
    unsigned by_count;                   /* 0: not given */
    const char *weight;                  /* as typed; NULL: not given */
    const char *line;                    /* as typed; NULL: not given; options->line */
    unsigned char separator;             /* of --separator */
    bool has_comma;                      /* of --decimal */
    struct line_filter filter;           /* of --lines-with and --lines-without */
    const char *where[CONDITIONS_MAX];   /* of --where, as typed */
    size_t where_count;
    bool ends; /* --also: the options of another histogram follow */
};

/* Stores one option and its value, which is NULL if there is none. 0; OPTIONS_WRONG or
 * OPTIONS_FAILED with an error. */
typedef int option_handler(struct draft *draft, const char *value, struct error *error);

/* Defines the handler of an option without a value. */
#define OPTION_FLAG(handler, statement)                                                            \
    int handler(struct draft *draft, const char *value, struct error *error)                       \
    {                                                                                              \
        (void)value;                                                                               \
        (void)error;                                                                               \
        statement;                                                                                 \
        return 0;                                                                                  \
    }

/* Defines the handler of an option whose value is read at the end: a member of the draft. */
#define OPTION_TEXT(handler, member)                                                               \
    int handler(struct draft *draft, const char *value, struct error *error)                       \
    {                                                                                              \
        (void)error;                                                                               \
        draft->member = value;                                                                     \
        return 0;                                                                                  \
    }

enum option_group {
    GROUP_MODE,
    GROUP_BINS,
    GROUP_NUMBERS,
    GROUP_INPUT,
    GROUP_OUTPUT,
    GROUP_TABLES,
    GROUP_ENGINE,
    GROUP_MESSAGES,
};

enum option_value {
    VALUE_NONE,
    VALUE_REQUIRED,
    VALUE_OPTIONAL,
};

/* Options that another one cannot be combined with, and what ends the message that says so. */
struct option_instead {
    const char *terms, *hint;
};

struct option_row {
    enum option_group group; /* under whose heading help shows it */
    char letter;             /* '\0': it has none */
    const char *name;
    enum option_value takes;
    const char *value; /* its name in help and the man page; "" where there is none */
    const char *help;  /* lines, separated by newlines, of 53 characters at most */
    const char *brief; /* one such line for -h; NULL: only --help has this option */

    const char *const *words; /* that the value may be, and NULL; or NULL */

    /* Terms, as options.def explains; or NULL. */
    const char *requires;
    const char *conflicts;
    const char *only_with;
    const char *replaces;
    const char *implies;

    const struct option_instead *instead; /* until one without terms; or NULL */
};

#define WORDS(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

#define INSTEAD(...)                                                                               \
    (const struct option_instead[])                                                                \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL                                                                             \
        }                                                                                          \
    }

/* All options, in the order of help. */
extern const struct option_row option_rows[];
extern const size_t option_count;

/* Returns the mode that an option chooses, or NULL. */
const struct mode *option_mode(const struct option_row *row);

/* Every handler is called option_NAME, and lives in the file of its topic. But option_given stores
 * nothing: draft->mode and draft_gave say all about the option. */
#define OPTION(group, letter, name, takes, value, handler, ...) option_handler handler;
#include "options.def"
#undef OPTION

/* option_rules.c: checks the columns of options.def. 0, or OPTIONS_WRONG with an error. */
int rules_check(const struct draft *draft, struct error *error);

/* The following functions check what the columns cannot say. A term NAME= is an option with any
 * value. Messages show options as they were typed, with their values if the term has one. */

/* Sets the error to a lack of memory. Returns OPTIONS_FAILED. */
int option_no_memory(struct error *error);

/* True if an option was given and not replaced by a later one. */
bool draft_gave(const struct draft *draft, const char *term);

/* Refuses the first of `terms` that was given besides `term`, if that was given. `hint` ends the
 * message. 0, or OPTIONS_WRONG with an error. */
int option_conflict(const struct draft *draft, const char *term, const char *terms,
                    const char *hint, struct error *error);

/* Returns the index of a value among the words of an option; or -1 with an error. */
int option_word(const char *term, const char *value, struct error *error);

/* True if an option was given by its letter, as in -h. */
bool option_by_letter(const struct draft *draft, const char *term);

/* Sets the error to what an option that was given needs. Returns OPTIONS_WRONG. */
int option_needs(const struct draft *draft, const char *term, const char *needs,
                 struct error *error);

/* Shows an option as it was typed, or by its long name; `text` has TYPED_SHOWN bytes. */
#define TYPED_SHOWN 128
void option_show_typed(const struct draft *draft, const char *term, char *text);

/* options_bins.c: builds the bins of numbers or of values with a type; free them. 0; OPTIONS_WRONG
 * or OPTIONS_FAILED with an error. */
int bins_finish(const struct draft *draft, struct binning *binning, struct error *error);

/* options_fields.c: reads --line. 0, or OPTIONS_WRONG with an error. */
int line_finish(const struct draft *draft, struct error *error);

/* options_fields.c: finds out where in a line numbers stand. 0, or OPTIONS_WRONG with an error. */
int fields_finish(const struct draft *draft, struct field *field, struct error *error);

/* options_fields.c: finds out what records are counted by: sets a key for each --by, and behind
 * them the weight. 0, or OPTIONS_WRONG with an error. */
int keys_finish(const struct draft *draft, struct key keys[KEY_FIELDS_MAX], struct error *error);

/* A field as it was typed for an option. */
struct typed_field {
    const char *option, *text;
    int32_t number;    /* 0: it is none */
    const char *value; /* of the option, which begins with the field */
    bool is_name;      /* that of a column, whatever it looks like */
};

/* options_by.c: returns the number that a field was typed as; 0: it is none. */
int32_t field_number(const char *field);

/* options_by.c: copies the field, or the name of a column in quotes, that `text` begins with, a
 * part of the value of an option. Returns where its modifiers begin; or NULL with an error. */
const char *field_split(const char *option, const char *value, const char *text,
                        char field[FIELD_SIZE], struct error *error);

/* options_fields.c: sets a field that was typed. 0, or OPTIONS_WRONG with an error. */
int field_finish(const struct draft *draft, const struct typed_field *typed, struct field *field,
                 struct error *error);

/* options_by.c: reads a field with modifiers, as field_split does, to *by. 0, or OPTIONS_WRONG with
 * an error. */
int by_parse(const char *option, const char *value, const char *text, char field[FIELD_SIZE],
             struct by *by, struct error *error);

/* options_where.c: adds the conditions of --where to options->spec.lines.filter. 0, or
 * OPTIONS_WRONG with an error. */
int where_finish(const struct draft *draft, struct error *error);

/* options_mode.c: makes options->spec. 0; OPTIONS_WRONG or OPTIONS_FAILED with an error. */
int mode_finish(const struct draft *draft, struct error *error);

/* Shows a number that bins_finish has read, of the mode's kind, with the fewest digits that read
 * back the same; text has SHOW_NUMBER bytes. */
void option_show_number(const struct draft *draft, const char *number, char *text);

/* options_tables.c: finishes the options of --merge and --diff. 0, or OPTIONS_WRONG with an
 * error. */
int tables_finish(const struct draft *draft, struct error *error);

/* options_output.c: refuses options about rows if only statistics are printed, and an image on a
 * terminal. 0, or OPTIONS_WRONG with an error. */
int report_finish(const struct draft *draft, struct error *error);

/* options_also.c. also_add: makes the options of another histogram, which follow `before` and are
 * otherwise as in `common`. also_finish: checks that all histograms can be counted in one pass. 0;
 * OPTIONS_WRONG or OPTIONS_FAILED with an error. */
int also_add(struct draft *draft, struct options *common, struct options *before,
             struct error *error);
int also_finish(const struct draft *drafts, unsigned count, struct error *error);

/* options_words.c: lists the options that make the same samples and bins (options->words). 0, or
 * OPTIONS_FAILED with an error. */
int words_finish(const struct draft *draft, struct error *error);

/* Turns a word of words_finish back, in place, into what was typed: \xNN are bytes. */
void words_unescape(char *word);

/* options_input.c: sets where values begin in the input. */
void content_finish(const struct draft *draft);

/* options_input.c: checks --part. 0, or OPTIONS_WRONG with an error. */
int part_finish(const struct draft *draft, struct error *error);

/* options_engine.c: checks the strategy against mode and device, makes chunks of whole samples and
 * chooses the CPU's kernels. 0, or OPTIONS_WRONG with an error. */
int devices_finish(const struct draft *draft, struct error *error);

#endif
