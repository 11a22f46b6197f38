/* SPDX-License-Identifier: MIT */
/* The command line, read once: getopt finds options, rows of the table set what drafts have, and
 * the rules of the table are checked. Then the drafts are finished, in the order that drafts_finish
 * tells; one draft is one histogram, and --also begins the next. */
#include "cli.h"
#include "option.h"
#include "src/report/report.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)
#define CHUNK_DEFAULT (8 * MIB)
#define MAX_KEYS_DEFAULT 1000000
#define MEMLIMIT_DEFAULT (128 * MIB)
#define NEEDS_SHOWN 256
#define HISTOGRAMS_MAX 16 /* of one input */

#define LONG_CODE 256 /* what getopt gives for row i is LONG_CODE + i, or the letter */

/* --- what cannot be combined --- */

static bool is_listed(const char *terms, const struct option_row *row)
{
    struct term term;
    while (option_next_term(&option_table, &terms, &term))
        if (term.row == row)
            return true;
    return false;
}

/* Checks an option that was given against others: another mode of a row below, and the columns
 * `conflicts`, `instead` and `only_with`. */
static int check_conflicts(const struct draft *draft, const struct option_row *row,
                           struct error *error)
{
    const struct term one = {.row = row};
    const bool is_mode = option_mode(row) != NULL;
    for (struct term other = {.row = row + 1};
         is_mode && other.row < option_table.rows + option_table.count; other.row++)
        if (draft_gave_term(draft, &other) && option_mode(other.row))
            return option_refuse_pair(draft, &one, &other, "", error);
    if (option_conflict(draft, row->name, row->conflicts, "", error) != 0)
        return OPTIONS_WRONG;
    for (const struct option_instead *at = row->instead; at->terms; at++)
        if (option_conflict(draft, row->name, at->terms, at->hint, error) != 0)
            return OPTIONS_WRONG;
    for (size_t i = 0; row->only_with && i < option_table.count; i++) {
        const struct term other = {.row = &option_table.rows[i]};
        if (other.row != row && draft_gave_term(draft, &other) &&
            !is_listed(row->only_with, other.row))
            return option_refuse_pair(draft, &one, &other, "", error);
    }
    return 0;
}

/* --- what is needed --- */

/* Shows a term as the user would type it, "--field=N". Returns the number of characters. */
static int show_wanted(const struct term *term, char *text, size_t capacity)
{
    const struct option_row *row = term->row;
    if (term->value)
        return snprintf(text, capacity, "--%s=%.*s", row->name, (int)term->value_len, term->value);
    const bool has_value = row->takes == VALUE_REQUIRED;
    return snprintf(text, capacity, "--%s%s%s", row->name, has_value ? "=" : "",
                    has_value ? row->value : "");
}

/* Checks the column `requires` of an option that was given. */
static int check_needs(const struct draft *draft, const struct option_row *row, struct error *error)
{
    const char *at = row->requires;
    while (at && *at) {
        const char *const end = at + strcspn(at, " ");
        char needs[NEEDS_SHOWN] = "";
        size_t used = 0;
        bool is_met = false;
        struct term term;
        while (at < end && option_next_term(&option_table, &at, &term)) {
            const char *before = used == 0 ? "" : at < end ? ", " : " or ";
            used += (size_t)snprintf(needs + used, sizeof needs - used, "%s", before);
            used += (size_t)show_wanted(&term, needs + used, sizeof needs - used);
            is_met |= draft_gave_term(draft, &term);
        }
        if (!is_met)
            return option_needs(draft, row->name, needs, error);
    }
    return 0;
}

/* Checks the columns of the table: first what cannot be combined, then what is needed. 0, or
 * OPTIONS_WRONG with an error. */
static int check_rules(const struct draft *draft, struct error *error)
{
    const struct option_row *const end = option_table.rows + option_table.count;
    for (struct term term = {.row = option_table.rows}; term.row < end; term.row++)
        if (draft_gave_term(draft, &term) && check_conflicts(draft, term.row, error) != 0)
            return OPTIONS_WRONG;
    for (struct term term = {.row = option_table.rows}; term.row < end; term.row++)
        if (draft_gave_term(draft, &term) && check_needs(draft, term.row, error) != 0)
            return OPTIONS_WRONG;
    return 0;
}

/* --- several histograms of one input: --also --- */

/* True if a stream can be cut so that what both count is whole. Bytes may be cut anywhere, but a
 * token that is too long to be a number is handed out in part. */
static bool go_together(const struct histogram_spec *one, const struct histogram_spec *other)
{
    const struct record_kind kind = record_kind_of(one), other_kind = record_kind_of(other);
    const bool is_same = kind.type == other_kind.type && kind.size == other_kind.size;
    if (one->mode != other->mode && (one->mode->is_binned || other->mode->is_binned))
        return false;
    if (!one->mode->is_binned)
        return record_is_byte(&kind) || record_is_byte(&other_kind) || is_same;
    const struct field *field = &one->lines.field, *other_field = &other->lines.field;
    const bool is_csv = field->kind == FIELD_CSV || other_field->kind == FIELD_CSV;
    return is_same && strcmp(one->type.name, other->type.name) == 0 &&
           field->has_header == other_field->has_header &&
           (!is_csv ||
            (field->kind == other_field->kind && field->separator == other_field->separator)) &&
           !line_spec_has_names(&one->lines) && !line_spec_has_names(&other->lines);
}

/* Names two histograms by their modes, as they were typed. */
static int refuse_pass(const struct draft *one, const struct draft *other, struct error *error)
{
    const struct mode *mode = one->options->spec.mode;
    const struct mode *other_mode = other->options->spec.mode;
    const char *detail = mode != other_mode ? ""
                         : mode->is_text    ? ", as they read lines differently"
                                            : ", as their records differ";
    char name[32], first[TYPED_SHOWN], second[TYPED_SHOWN];
    snprintf(name, sizeof name, "%s=", mode->name);
    option_show_typed(one, name, first);
    snprintf(name, sizeof name, "%s=", other_mode->name);
    option_show_typed(other, name, second);
    return error_set(error, "%s and %s cannot be counted in one pass%s", first, second, detail);
}

/* Makes the options of the histograms after the first, each of which follows the one before and are
 * otherwise as in `common`. Checks that all can be counted in one pass. */
static int finish_also(struct draft *drafts, unsigned count, const struct options *common,
                       struct error *error)
{
    for (unsigned i = 1; i < count; i++) {
        struct options *before = drafts[i - 1].options, *options = malloc(sizeof *options);
        if (!options)
            return option_no_memory(error);
        *options = *common;
        drafts[i].options = options;
        int rc = mode_finish(&drafts[i], error);
        rc = rc == 0 ? words_finish(&drafts[i], error) : rc;
        if (rc != 0) {
            binning_free(&options->spec.binning);
            free(options);
            return rc;
        }
        before->also = options;
        before->spec.also = &options->spec;
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++)
            if (!go_together(&drafts[i].options->spec, &drafts[k].options->spec))
                return refuse_pass(&drafts[i], &drafts[k], error);
    return 0;
}

/* Copies the options that hold for all histograms to each draft. */
static void copy_common(struct draft *drafts, unsigned count)
{
    for (size_t row = 0; row < option_table.count && count > 1; row++) {
        struct given last = {.position = 0};
        if (option_table.rows[row].group <= GROUP_NUMBERS &&
            strcmp(option_table.rows[row].name, "also") != 0)
            continue;
        for (unsigned i = 0; i < count; i++)
            last = drafts[i].given[row].position > last.position ? drafts[i].given[row] : last;
        for (unsigned i = 0; i < count; i++)
            drafts[i].given[row] = last;
    }
}

/* --- what depends on the whole command line --- */

/* Sets the mode that an option implies, or bytes, unless one was given. With --by and nothing that
 * says where numbers are, lines are counted. Messages name that option instead. 0, or OPTIONS_WRONG
 * with an error. */
static int imply_mode(struct draft *draft, struct error *error)
{
    const bool has_number =
        draft_gave(draft, "field") || draft_gave(draft, "after") || draft_gave(draft, "units");
    if (!draft->mode && draft->by_count > 0 && !has_number)
        draft->mode = &mode_lines;
    for (size_t i = 0; i < option_table.count && !draft->mode; i++) {
        const struct option_row *row = &option_table.rows[i];
        if (!row->implies || !draft_gave(draft, row->name))
            continue;
        const struct option_row *mode =
            option_find(&option_table, row->implies, strlen(row->implies));
        draft->given[mode - option_table.rows] = draft->given[i];
        return option_set(mode, draft, NULL, error);
    }
    draft->mode = draft->mode ? draft->mode : &mode_bytes;
    return 0;
}

/* What waits for the type of values. */
struct pending {
    struct draft drafts[HISTOGRAMS_MAX];
    unsigned count;
};

static bool lacks_type(const struct draft *draft)
{
    return draft->mode == &mode_values && !draft->type;
}

/* Keeps the drafts until a header has said the type. */
static int put_off(const struct draft *drafts, unsigned count, struct error *error)
{
    struct options *options = drafts[0].options;
    if (draft_gave(drafts, "skip") || options->input.is_as_stored)
        return option_needs(drafts, "values",
                            "a TYPE, such as --values=i16, with --skip or --decompress=none, "
                            "because no header is read then",
                            error);
    if (options->part.of > 0)
        return option_needs(drafts, "values", "a TYPE, such as --values=i16, with --part", error);
    options->pending = malloc(sizeof *options->pending);
    if (!options->pending)
        return option_no_memory(error);
    options->pending->count = count;
    memcpy(options->pending->drafts, drafts, count * sizeof *drafts);
    return 0;
}

/* Says where values begin in the input. A header is searched for, unless an option says that, or
 * that bytes are read as they are. */
static void finish_content(const struct draft *draft)
{
    struct input_options *input = &draft->options->input;
    const bool is_raw = draft_gave(draft, "skip") || input->is_as_stored;
    input->content.header_type = draft->type && !is_raw ? draft->type->name : NULL;
    input->content.needs_header = draft->type_is_found;
    input->content.channels = histogram_spec_channels(&draft->options->spec);
    for (const struct histogram_spec *at = &draft->options->spec; at; at = at->also)
        input->content.has_pairs |= at->mode->has_pairs;
}

int drafts_finish(struct draft *drafts, unsigned count, struct error *error)
{
    struct draft *draft = drafts;
    struct options *options = draft->options;
    if (options->output && strcmp(options->output, "-") == 0)
        options->output = NULL;
    const struct options common = *options;
    copy_common(drafts, count);
    for (unsigned i = 0; i < count; i++) {
        int rc = imply_mode(&drafts[i], error);
        rc = rc == 0 ? check_rules(&drafts[i], error) : rc;
        if (rc != 0)
            return rc;
    }
    if (options->action != ACTION_COUNT)
        return tables_finish(draft, error);
    for (unsigned i = 0; i < count; i++)
        if (lacks_type(&drafts[i]))
            return put_off(drafts, count, error);
    int rc = mode_finish(draft, error);
    if (rc == 0)
        rc = finish_also(drafts, count, &common, error);
    if (rc == 0) {
        finish_content(draft);
        rc = devices_finish(draft, error);
    }
    if (rc == 0)
        rc = words_finish(draft, error);
    if (rc == 0)
        rc = part_finish(draft, error);
    if (rc != 0)
        options_free(options);
    return rc;
}

int options_finish_type(struct options *options, const char *type, struct error *error)
{
    struct pending *pending = options->pending;
    options->pending = NULL;
    for (unsigned i = 0; i < pending->count; i++)
        if (lacks_type(&pending->drafts[i])) {
            set_values(&pending->drafts[i], type, error);
            pending->drafts[0].type_is_found = true;
        }
    const int rc = drafts_finish(pending->drafts, pending->count, error);
    free(pending);
    return rc;
}

void options_free(struct options *options)
{
    free(options->pending);
    options->pending = NULL;
    if (options->also)
        options_free(options->also);
    free(options->also);
    options->also = NULL;
    binning_free(&options->spec.binning);
    words_free(&options->words);
}

/* --- argv --- */

/* The lists that getopt_long reads. */
struct getopt_lists {
    struct option long_options[OPTIONS_MAX + 1];
    char letters[3 * OPTIONS_MAX + 2];
};

static void make_lists(struct getopt_lists *lists)
{
    static const int arguments[] = {no_argument, required_argument, optional_argument};
    static const char *const colons[] = {"", ":", "::"};
    *lists = (struct getopt_lists){.letters = ":"}; /* a missing argument is told apart */
    char *letter = lists->letters + 1;
    for (size_t i = 0; i < option_table.count; i++) {
        const struct option_row *row = &option_table.rows[i];
        lists->long_options[i] =
            (struct option){row->name, arguments[row->takes], NULL, LONG_CODE + (int)i};
        if (!row->letter)
            continue;
        *letter++ = row->letter;
        letter = stpcpy(letter, colons[row->takes]);
    }
}

/* Returns the word that getopt has just read, after argv[at], as it names a long option only by its
 * number. optind may be beyond the end: musl also counts an argument that is missing. */
static const char *typed_word(int argc, char **argv, int at)
{
    const int end = optind < argc ? optind : argc;
    const char *word = argv[end > at ? end - 1 : at];
    return word == optarg ? argv[optind - 2] : word; /* the option is before its value */
}

/* Returns the row of a code that getopt gave. */
static const struct option_row *row_of(int code)
{
    return code < LONG_CODE ? option_of_letter((char)code) : &option_table.rows[code - LONG_CODE];
}

/* Records the word after an option without its optional value, if that would have been valid. */
static void record_misplaced(const struct draft *draft, const struct option_row *row,
                             const char *word)
{
    struct options options = *draft->options;
    struct draft copy = *draft;
    struct error unused;
    copy.options = &options;
    if (word && hint_is_value(word) && option_set(row, &copy, word, &unused) == 0)
        draft->options->misplaced = (struct misplaced){row->name, word};
}

/* Reads the option that getopt has just found; `position` counts those that were typed. */
static int read_option(int code, const char *word, unsigned position, const char *next,
                       struct draft *draft, struct error *error)
{
    const bool is_letter = code < LONG_CODE;
    if (code == '?')
        return hint_unknown(word, (char)optopt, error);
    const struct option_row *row = row_of(code == ':' ? optopt : code);
    if (code == ':' && strncmp(word, "--", 2) == 0)
        return error_set(error, "--%s: requires an argument, as in --%s=%s", row->name, row->name,
                         row->value);
    if (code == ':')
        return error_set(error, "-%c: requires an argument, as in -%c %s", row->letter, row->letter,
                         row->value);
    draft->given[row - option_table.rows] = (struct given){.position = position,
                                                           .letter = is_letter ? (char)code : '\0',
                                                           .word = word,
                                                           .value = optarg};
    if (optarg && !*optarg && strcmp(row->value, "FILE") == 0)
        return option_needs(draft, row->name, "the name of a file", error);
    const int rc = option_set(row, draft, optarg, error);
    if (rc != 0 && is_letter)
        hint_letters(row, word, optarg, error);
    if (rc == 0 && row->takes == VALUE_OPTIONAL && !optarg)
        record_misplaced(draft, row, next);
    return rc;
}

static int parse(int argc, char **argv, struct draft *drafts, struct error *error)
{
    struct options *options = drafts->options;
    unsigned count = 1;
    struct getopt_lists lists;
    make_lists(&lists);
    optind = 0; /* has glibc start over */
    opterr = 0;
    for (unsigned position = 1;; position++) {
        const int at = optind ? optind : 1;
        const int code = getopt_long(argc, argv, lists.letters, lists.long_options, NULL);
        if (code == -1)
            break;
        struct draft *draft = &drafts[count - 1];
        const int rc = read_option(code, typed_word(argc, argv, at), position,
                                   optind < argc ? argv[optind] : NULL, draft, error);
        if (rc != 0)
            return rc;
        if (options->action == ACTION_HELP || options->action == ACTION_BRIEF_HELP ||
            options->action == ACTION_VERSION)
            return 0; /* whatever follows, as with other programs */
        if (draft->ends && count == HISTOGRAMS_MAX)
            return error_set(error, "--also: at most %d histograms can be counted at once",
                             HISTOGRAMS_MAX);
        if (draft->ends)
            drafts[count++] = (struct draft){.table = &option_table, .options = options};
    }
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    return options->action == ACTION_LIST_KERNELS ? 0 : drafts_finish(drafts, count, error);
}

void draft_begin(struct draft *draft, struct options *options)
{
    *options = (struct options){
        .input = {.decoding.memlimit = MEMLIMIT_DEFAULT},
        .max_keys = MAX_KEYS_DEFAULT,
        .pool = {.device = DEVICE_AUTO,
                 .gpus = {.count = 1, .grows = true},
                 .chunk_size = CHUNK_DEFAULT,
                 .tuning = policy_defaults,
                 .deadline_ms = GPU_DEADLINE_MS},
        .report.format = formats[0],
        .verbosity = NORMAL,
    };
    draft->table = &option_table;
    draft->options = options;
}

int options_parse(int argc, char **argv, struct options *options, struct error *error)
{
    struct draft *drafts = calloc(HISTOGRAMS_MAX, sizeof *drafts);
    if (!drafts)
        return option_no_memory(error);
    draft_begin(drafts, options);
    const int rc = parse(argc, argv, drafts, error);
    free(drafts);
    return rc;
}

/* --- the options of a table, which options_words.c has written --- */

static const char not_written[] = "\"options\" are not what gpuhisto writes";

/* Returns the row of an option of a table, "--NAME" or "--NAME=VALUE", and sets *value to where the
 * value begins, or to NULL. NULL: no table has such an option. */
static const struct option_row *find_word(char *word, char **value)
{
    const size_t len = strcspn(word, "=");
    const struct option_row *row =
        strncmp(word, "--", 2) == 0 ? option_find(&option_table, word + 2, len - 2) : NULL;
    *value = word[len] ? word + len + 1 : NULL;
    return row && row->group <= GROUP_INPUT ? row : NULL;
}

int options_sort(const struct words *words, struct table_words *sorted, struct error *error)
{
    bool has_keys = false; /* which mean what all options say of them */
    *sorted = (struct table_words){.bins.list = NULL};
    for (size_t i = 0; i < words->count; i++)
        has_keys |= strncmp(words->list[i], "--by=", strlen("--by=")) == 0;
    for (size_t i = 0; i < words->count; i++) {
        char *word = words->list[i], *value;
        const struct option_row *row = find_word(word, &value);
        const bool is_of_bins = row && (has_keys || row->group <= GROUP_BINS);
        if (row &&
            words_add(is_of_bins ? &sorted->bins : &sorted->sources, word, strlen(word)) == 0)
            continue;
        error_set(error, "%s", row ? "out of memory" : not_written);
        table_words_free(sorted);
        return -1;
    }
    return 0;
}

/* Turns a value of add_text back, in place, into what was typed: \xNN are bytes. */
static void unescape(char *value)
{
    char *to = value;
    for (const char *at = value; *at; at++) {
        const bool is_escape = at[0] == '\\' && at[1] == 'x';
        const unsigned high = is_escape ? show_digit(at[2]) : 16;
        const unsigned low = high < 16 ? show_digit(at[3]) : 16;
        *to++ = low < 16 ? (char)(high << 4 | low) : *at;
        at += low < 16 ? 3 : 0;
    }
    *to = '\0';
}

/* Has each word set what its option sets. */
static int set_words(const struct words *typed, struct draft *draft, struct error *error)
{
    for (size_t i = 0; i < typed->count; i++) {
        char *value;
        const struct option_row *row = find_word(typed->list[i], &value);
        if (!row || (value ? row->takes == VALUE_NONE : row->takes == VALUE_REQUIRED))
            return error_set(error, not_written);
        if (row->is_text)
            unescape(value);
        draft->given[row - option_table.rows] =
            (struct given){.position = (unsigned)i + 1, .word = typed->list[i], .value = value};
        const int rc = option_set(row, draft, value, error);
        if (rc != 0)
            return rc;
    }
    return drafts_finish(draft, 1, error);
}

/* Takes the histogram from the options of a table, with the bins that tables show if these are not
 * the bins that are counted, and without what only reading lines needs: it refers to what is freed.
 * 0, or -1 with an error. */
static int take_spec(struct options *read, struct histogram_spec *spec, struct error *error)
{
    const unsigned log_parts = read->report.bins.log_parts;
    if (log_parts > 0) {
        const unsigned channels = histogram_spec_channels(&read->spec);
        binning_free(&read->spec.binning);
        if (binning_decades(&read->spec.binning, log_parts) != BINNING_OK)
            return error_set(error, "out of memory");
        read->spec.bins = ROWS(&read->spec.binning) * channels;
    }
    *spec = read->spec;
    read->spec.binning = (struct binning){0};
    spec->lines.field = (struct field){.kind = FIELD_NONE};
    for (unsigned i = 0; i < KEY_FIELDS_MAX; i++)
        spec->lines.keys[i].field =
            (struct field){.kind = FIELD_NONE, .number = spec->lines.keys[i].field.number};
    spec->lines.filter = (struct line_filter){.count = 0};
    return 0;
}

int options_build(const struct words *words, struct histogram_spec *spec, struct options *run,
                  struct error *error)
{
    struct words typed = {.list = NULL}; /* to which all that is read refers */
    struct options read;
    struct draft *draft = calloc(1, sizeof *draft);
    int rc = -1;
    if (!draft || words_copy(&typed, words) != 0) {
        error_set(error, "out of memory");
        goto end;
    }
    draft_begin(draft, &read);
    if (set_words(&typed, draft, error) != 0)
        goto end;
    if (!words_same(words, &read.words))
        error_set(error, not_written);
    else if (read.report.bins.max > 0)
        error_set(error, "was counted with --bins but without --min and --max, so its bins fit "
                         "only its own numbers; count without --bins, and give --bins to --merge");
    else
        rc = take_spec(&read, spec, error);
    if (rc == 0 && run)
        memcpy(run->by_fields, read.by_fields, sizeof run->by_fields);
    options_free(&read);
end:
    words_free(&typed);
    free(draft);
    return rc;
}
