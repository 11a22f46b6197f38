/* SPDX-License-Identifier: MIT */
/* The shared header of the files that read options: the table, and the draft of a histogram that
 * its rows fill in. doc/adding.md says how to add an option. */
#ifndef GPUHISTO_CLI_OPTION_H
#define GPUHISTO_CLI_OPTION_H

#include "src/bins/binning.h"
#include "src/text/lines.h"
#include "src/text/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct histogram_spec;
struct mode;
struct option_row;
struct option_table;
struct options;
struct probability;
struct value_type;

/* --- parse.c: numbers and words; text has one meaning wherever it stands: numbers are decimal, in
 * the C locale, and neither hexadecimal nor infinite --- */

/* Reads the number that *text begins with, [+-]? digits, from -2^64 to 2^64, and moves *text past
 * it. Returns false if there is none, or it is out of range. */
bool parse_whole(const char **text, int128 *value);

/* Reads a number as parse_whole does: [+-]? digits with an optional point and exponent. The value
 * is the nearest double, which must be finite. */
bool parse_double(const char **text, double *value);

/* Reads a number as parse_double does, but without a minus sign, and exactly. 10^DECIMAL_DIGITS or
 * more is out of range. */
bool parse_decimal(const char **text, struct decimal *value);

/* Reads a number as parse_double does, from 0 to 1 and exactly. Returns false if it is another one,
 * or has more than PROBABILITY_DIGITS digits, leading and trailing zeros left out. */
bool parse_probability(const char **text, struct probability *value);

/* Reads a number as parse_whole does, from 0 to max and of digits only. */
bool parse_digits(const char **text, uint64_t max, uint64_t *value);

#define DIGITS_SHORT 15 /* of a number among others, at most */

/* Reads the value of an option, a whole number from 1 to max. Returns 0; or -1 with an error that
 * says what is allowed. */
int parse_count(const char *text, unsigned max, unsigned *value, struct error *error);

struct size_range {
    uint64_t min, max;
    const char *text; /* "1 to 1G" */
};

/* Reads the value of an option, a size in bytes, with K, M or G. Returns as parse_count does. */
int parse_size(const char *text, const struct size_range *range, uint64_t *value,
               struct error *error);

/* Returns the index of text in a list of words that ends with NULL; or -1 with an error that lists
 * the words. */
int parse_word(const char *text, const char *const *words, struct error *error);

/* --- drafts: the options of one histogram, as far as they were read --- */

#define OPTIONS_MAX 80 /* rows of the table, at most */

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

/* The functions *_finish work out what depends on several options. */
struct draft {
    const struct option_table *table;
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
    char bounds[2][SHOW_NUMBER];         /* of --min and --max: the shortest that read the same */
    bool log_alone;                      /* --log without a base */
    bool has_base;                       /* --log has a single number, */
    struct decimal base;                 /* which is this */
    const char *field, *after;           /* as typed; NULL: not given */
    int32_t field_number;                /* of --field; 0: it is not a number */
    bool is_time;                        /* --field ends with :time, */
    enum list_kind list;                 /* or with this modifier */
    struct by by[KEY_PARTS_MAX];         /* of each --by */
    unsigned by_count;                   /* 0: not given */
    const char *weight;                  /* as typed; NULL: not given */
    const char *line;                    /* as typed; NULL: not given; options->line */
    unsigned char separator;             /* of --separator */
    unsigned has_comma;                  /* of --decimal: 1 or 0 */
    struct line_filter filter;           /* of --lines-with and --lines-without */
    const char *where[CONDITIONS_MAX];   /* of --where, as typed */
    size_t where_count;
    bool ends; /* --also: the options of another histogram follow */
};

/* --- terms.c: what drafts were given, and messages that name options as they were typed. A term is
 * NAME, NAME=VALUE, or NAME=, an option with any value, which messages then show. It knows the
 * table from the draft, as rows of the table refer to functions that ask here. --- */

/* Returns the option with a name of len bytes, or NULL. */
const struct option_row *option_find(const struct option_table *table, const char *name,
                                     size_t len);

/* Returns the mode that an option chooses, or NULL. */
const struct mode *option_mode(const struct option_row *row);

/* A term of a column. */
struct term {
    const struct option_row *row; /* NULL: there is no such option */
    const char *value;            /* what follows the '='; NULL: there is none */
    size_t value_len;
};

/* Reads the first term at *at and moves on to the next, beyond what separates them. False: there is
 * none. */
bool option_next_term(const struct option_table *table, const char **at, struct term *term);

/* Returns the option as it was typed the last time. */
const struct given *draft_given(const struct draft *draft, const struct option_row *row);

/* True if an option was given and not replaced by a later one. */
bool draft_gave(const struct draft *draft, const char *term);
bool draft_gave_term(const struct draft *draft, const struct term *term);

/* Refuses two options, and names them in the order in which they were typed. `hint` ends the
 * message. Returns OPTIONS_WRONG. */
int option_refuse_pair(const struct draft *draft, const struct term *one, const struct term *other,
                       const char *hint, struct error *error);

/* Refuses the first of `terms` that was given besides `term`, if that was given. 0, or
 * OPTIONS_WRONG with an error. */
int option_conflict(const struct draft *draft, const char *term, const char *terms,
                    const char *hint, struct error *error);

/* Sets the error to what an option that was given needs. Returns OPTIONS_WRONG. */
int option_needs(const struct draft *draft, const char *term, const char *needs,
                 struct error *error);

/* Shows an option as it was typed, or by its long name; `text` has TYPED_SHOWN bytes. */
#define TYPED_SHOWN 128
void option_show_typed(const struct draft *draft, const char *term, char *text);

/* Begins an error with "OPTION=VALUE: ". Returns OPTIONS_WRONG. */
int option_refuse_value(const char *option, const char *value, struct error *error);

/* Sets the error to a lack of memory. Returns OPTIONS_FAILED. */
int option_no_memory(struct error *error);

/* --- option_table.c --- */

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

/* Reads a value, which is NULL if there is none, into the draft or its options. 0; or OPTIONS_WRONG
 * with an error that says what is wrong with the value, which option_set names. */
typedef int option_setter(struct draft *draft, const char *value, struct error *error);

/* A member that an option sets. */
struct option_member {
    enum { SETS_NOTHING, SETS_DRAFT, SETS_OPTIONS } of;
    size_t offset;
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

    /* Terms, as option_table.c explains; or NULL. */
    const char *requires, *conflicts, *only_with, *replaces, *implies;
    struct option_instead instead[5]; /* until one without terms */

    /* What the option does: `set`, or how the value becomes the member. Otherwise a text is stored
     * as it is, and the bool of an option without a value becomes true. */
    option_setter *set;
    struct option_member to;
    unsigned max;            /* of a whole number from 1, an unsigned int */
    struct size_range sizes; /* of a uint64_t */
    const char *words[23];   /* of an enum, until NULL */
    unsigned becomes;        /* an enum without a value, not 0 */
    bool is_text;            /* tables have the value escaped, as JSON can have it */
};

/* All options, in the order of help. */
struct option_table {
    const struct option_row *rows;
    size_t count;
};
extern const struct option_table option_table;

/* Returns the option with a letter, or NULL. */
const struct option_row *option_of_letter(char letter);

/* Does what the row says with a value, which is NULL if there is none. 0, or OPTIONS_WRONG with an
 * error. */
int option_set(const struct option_row *row, struct draft *draft, const char *value,
               struct error *error);

/* What rows set by functions, by topic. */
option_setter set_letters, set_pairs, set_values, set_log;           /* options_bins.c */
option_setter set_field, set_by, set_separator, set_after, set_line; /* options_fields.c */
option_setter set_lines_with, set_lines_without, set_where;          /* options_fields.c */
option_setter set_decompress, set_length, set_part, set_quantiles, set_format; /* options_run.c */
option_setter set_each, set_sort, set_interval, set_device, set_kernel;

/* --- options.c --- */

/* Works out what depends on the whole command line, of `count` histograms. As options_parse. */
int drafts_finish(struct draft *drafts, unsigned count, struct error *error);

/* Makes all options defaults, and begins the draft of a histogram. */
void draft_begin(struct draft *draft, struct options *options);

/* --- what depends on several options. 0; OPTIONS_WRONG or OPTIONS_FAILED with an error --- */

/* options_fields.c: finds out which lines count, where in them numbers stand, and what they are
 * counted by: all of spec.lines but conditions, which where_finish adds to options->spec. */
int lines_finish(const struct draft *draft, struct line_spec *lines, struct error *error);
int where_finish(const struct draft *draft, struct error *error);

/* options_bins.c: makes options->spec, and shows the bounds in the draft. */
int mode_finish(struct draft *draft, struct error *error);

/* options_run.c: finish the options of --merge and --diff; what is printed; --part; and who
 * counts. */
int tables_finish(const struct draft *draft, struct error *error);
int report_finish(const struct draft *draft, struct error *error);
int part_finish(const struct draft *draft, struct error *error);
int devices_finish(const struct draft *draft, struct error *error);

/* options_words.c: lists the options that make the same samples and bins (options->words). */
int words_finish(const struct draft *draft, struct error *error);

/* --- messages.c: what was probably meant --- */

/* Refuses an option that does not exist, is ambiguous, or has an argument that it does not take.
 * `word` is what was typed; `letter` the option in it that is wrong, unless the word has two
 * dashes. Returns OPTIONS_WRONG. */
int hint_unknown(const char *word, char letter, struct error *error);

/* Replaces the error of a value that followed a letter in the same word, if the word is a long
 * option with one dash, or has letters in the wrong order. */
void hint_letters(const struct option_row *row, const char *word, const char *value,
                  struct error *error);

/* True if a word is a number, a size, a list of numbers, or a type, and so hardly the name of a
 * file. */
bool hint_is_value(const char *word);

#endif
