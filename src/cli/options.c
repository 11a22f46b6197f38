/* SPDX-License-Identifier: MIT */
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

#define LONG_CODE 256 /* what getopt gives for row i is LONG_CODE + i, or the letter */

#define HISTOGRAMS_MAX 16 /* of one input */

#define NAME_COMPARED 32 /* bytes: longer names are no option's */

#define TRY_HELP "try 'gpuhisto --help'"

/* By the row of the option. */
#define OPTION(group, letter, name, takes, value, handler, ...) handler,
static option_handler *const handlers[] = {
#include "options.def"
};
#undef OPTION

OPTION_FLAG(option_given, (void)draft)

static int handle(const struct option_row *row, struct draft *draft, const char *value,
                  struct error *error)
{
    const struct mode *mode = option_mode(row);
    draft->mode = mode ? mode : draft->mode;
    return handlers[row - option_rows](draft, value, error);
}

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
    for (size_t i = 0; i < option_count; i++) {
        const struct option_row *row = &option_rows[i];
        lists->long_options[i] =
            (struct option){row->name, arguments[row->takes], NULL, LONG_CODE + (int)i};
        if (!row->letter)
            continue;
        *letter++ = row->letter;
        letter = stpcpy(letter, colons[row->takes]);
    }
}

/* The row of a code that getopt gave, or NULL. */
static const struct option_row *find_row(int code)
{
    if (code >= LONG_CODE)
        return &option_rows[code - LONG_CODE];
    for (size_t i = 0; code && i < option_count; i++)
        if (option_rows[i].letter == code)
            return &option_rows[i];
    return NULL;
}

/* --- what getopt cannot make sense of --- */

/* True if the len bytes at name begin an option's name; if `exact`, if they are all of it. */
static bool is_named(const struct option_row *row, const char *name, size_t len, bool exact)
{
    return strncmp(row->name, name, len) == 0 && (!exact || row->name[len] == '\0');
}

/* Lists the options that begin with the len bytes at name, or the one with just that name, as in
 * "--decompress or --device". Returns how many there are. */
static unsigned list_matches(const char *name, size_t len, char *list, size_t capacity)
{
    unsigned matches = 0, listed = 0;
    size_t used = 0;
    bool exact = false;
    list[0] = '\0';
    for (size_t i = 0; i < option_count; i++) {
        matches += is_named(&option_rows[i], name, len, false);
        exact |= is_named(&option_rows[i], name, len, true);
    }
    if (exact)
        matches = 1;
    for (size_t i = 0; i < option_count && used < capacity; i++) {
        if (!is_named(&option_rows[i], name, len, exact))
            continue;
        const char *before = listed == 0 ? "" : listed + 1 == matches ? " or " : ", ";
        used +=
            (size_t)snprintf(list + used, capacity - used, "%s--%s", before, option_rows[i].name);
        listed++;
    }
    return matches;
}

/* Returns how many letters have to be inserted, deleted, exchanged or swapped with the next one to
 * make name[0..len) of other: the optimal string alignment distance. Names are short. */
static unsigned name_distance(const char *name, size_t len, const char *other)
{
    unsigned rows[3][NAME_COMPARED + 1];
    const size_t other_len = strlen(other);
    if (len > NAME_COMPARED || other_len > NAME_COMPARED)
        return NAME_COMPARED;
    for (size_t i = 0; i <= len; i++) {
        unsigned *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= other_len; j++) {
            if (i == 0) {
                row[j] = (unsigned)j;
                continue;
            }
            const unsigned exchanged = last[j - 1] + (name[i - 1] != other[j - 1]);
            const unsigned moved = (last[j] < row[j - 1] ? last[j] : row[j - 1]) + 1;
            row[j] = exchanged < moved ? exchanged : moved;
            if (i > 1 && j > 1 && name[i - 1] == other[j - 2] && name[i - 2] == other[j - 1] &&
                before[j - 2] + 1 < row[j])
                row[j] = before[j - 2] + 1;
        }
    }
    return rows[len % 3][other_len];
}

/* Returns the option that name[0..len) was probably meant to be, or NULL: its name differs in one
 * letter, or of a longer name in two. */
static const struct option_row *find_nearest(const char *name, size_t len)
{
    const struct option_row *nearest = NULL;
    unsigned min = len < 5 ? 2 : 3;
    for (size_t i = 0; i < option_count; i++) {
        const unsigned distance = name_distance(name, len, option_rows[i].name);
        if (distance < min && distance < len) {
            nearest = &option_rows[i];
            min = distance;
        }
    }
    return nearest;
}

/* Says that there is no such option, and which one was probably meant by name, which may end with
 * '=' and a value. */
static void refuse_unknown(const char *typed, const char *name, const struct option_row *meant,
                           struct error *error)
{
    char value[ERROR_SUBJECT_MAX];
    error_show_subject(name + strcspn(name, "="), value);
    if (meant)
        error_of(error, typed, "no such option; did you mean --%s%s?", meant->name, value);
    else
        error_of(error, typed, "no such option; " TRY_HELP);
}

/* A long option that does not exist, is ambiguous, or has an argument that it does not take. */
static void refuse_long(const char *word, struct error *error)
{
    char list[512];
    const char *name = word + 2;
    unsigned matches = list_matches(name, strcspn(name, "="), list, sizeof list);
    if (matches == 0)
        refuse_unknown(word, name, find_nearest(name, strcspn(name, "=")), error);
    else if (matches == 1)
        error_of(error, word, "%s takes no argument", list);
    else
        error_of(error, word, "ambiguous; could be %s", list);
}

static void refuse_missing(bool is_long, struct error *error)
{
    const struct option_row *row = find_row(optopt);
    if (is_long)
        error_set(error, "--%s: requires an argument, as in --%s=%s", row->name, row->name,
                  row->value);
    else
        error_set(error, "-%c: requires an argument, as in -%c %s", row->letter, row->letter,
                  row->value);
}

/* Returns the long option that a word of letters is when it gets another dash, as in -by=1, or
 * NULL. */
static const struct option_row *find_dashless(const char *word)
{
    const size_t len = *word == '-' ? strcspn(word + 1, "=") : 0;
    for (size_t i = 0; i < option_count && len > 1; i++)
        if (is_named(&option_rows[i], word + 1, len, true))
            return &option_rows[i];
    return NULL;
}

/* `word` is what was typed. */
static int refuse(int code, const char *word, struct error *error)
{
    bool is_long = strncmp(word, "--", 2) == 0;
    const char letter[] = {'-', (char)optopt, '\0'};
    if (code == ':')
        refuse_missing(is_long, error);
    else if (is_long)
        refuse_long(word, error);
    else
        refuse_unknown(find_dashless(word) ? word : letter, word + 1, find_dashless(word), error);
    return OPTIONS_WRONG;
}

/* --- a value that was typed as a file --- */

/* True if a word is a number, a size, a list of numbers, or a type, and so hardly the name of a
 * file. */
static bool is_value(const char *word)
{
    const char *end = word + strspn(word, "0123456789.,");
    const bool is_size = end > word && end[0] != '\0' && strchr("KMG", end[0]) && end[1] == '\0';
    return *end == '\0' || is_size || value_type_find(word);
}

/* Records the word after an option without its optional value, if that would have been valid. The
 * handler tries it on copies. */
static void record_misplaced(const struct draft *draft, const struct option_row *row,
                             const char *word)
{
    struct options options = *draft->options;
    struct draft copy = *draft;
    struct error unused;
    copy.options = &options;
    if (word && is_value(word) && handle(row, &copy, word, &unused) == 0)
        draft->options->misplaced = (struct misplaced){row->name, word};
}

/* --- all of it --- */

/* Finishes the histograms after the first; `common` is what all have. */
static int finish_also(struct draft *drafts, unsigned count, struct options *common,
                       struct error *error)
{
    struct options *before = drafts->options;
    int rc = 0;
    for (unsigned i = 1; i < count && rc == 0; i++) {
        rc = also_add(&drafts[i], common, before, error);
        before = rc == 0 ? before->also : before;
    }
    return rc == 0 ? also_finish(drafts, count, error) : rc;
}

/* True for an option of one histogram, false for one that holds for all histograms of --also. */
static bool is_of_one(const struct option_row *row)
{
    return row->group <= GROUP_NUMBERS && strcmp(row->name, "also") != 0;
}

/* Copies the options that hold for all histograms to each draft. */
static void copy_common(struct draft *drafts, unsigned count)
{
    for (size_t row = 0; row < option_count && count > 1; row++) {
        struct given last = {.position = 0};
        for (unsigned i = 0; i < count; i++)
            last = drafts[i].given[row].position > last.position ? drafts[i].given[row] : last;
        for (unsigned i = 0; i < count && !is_of_one(&option_rows[row]); i++)
            drafts[i].given[row] = last;
    }
}

/* Sets the mode that an option implies, or bytes, unless one was given. With --by and nothing that
 * says where numbers are, lines are counted. Messages name that option
 * instead. 0, or OPTIONS_WRONG with an error. */
static int imply_mode(struct draft *draft, struct error *error)
{
    const bool has_number =
        draft_gave(draft, "field") || draft_gave(draft, "after") || draft_gave(draft, "units");
    if (!draft->mode && draft->by_count > 0 && !has_number)
        draft->mode = &mode_lines;
    for (size_t i = 0; i < option_count && !draft->mode; i++) {
        const struct option_row *row = &option_rows[i];
        if (!row->implies || !draft_gave(draft, row->name))
            continue;
        for (size_t mode = 0; mode < option_count; mode++)
            if (strcmp(option_rows[mode].name, row->implies) == 0) {
                draft->given[mode] = draft->given[i];
                return handle(&option_rows[mode], draft, NULL, error);
            }
    }
    draft->mode = draft->mode ? draft->mode : &mode_bytes;
    return 0;
}

/* --- what waits for the type of values --- */

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

/* Works out what depends on the whole command line. */
static int finish(struct draft *drafts, unsigned count, struct error *error)
{
    struct draft *draft = drafts;
    struct options *options = draft->options, common = *options;
    int rc = 0;
    copy_common(drafts, count);
    for (unsigned i = 0; i < count && rc == 0; i++) {
        rc = imply_mode(&drafts[i], error);
        rc = rc == 0 ? rules_check(&drafts[i], error) : rc;
    }
    if (rc != 0)
        return rc;
    if (options->action != ACTION_COUNT)
        return tables_finish(draft, error);
    for (unsigned i = 0; i < count; i++)
        if (lacks_type(&drafts[i]))
            return put_off(drafts, count, error);
    rc = mode_finish(draft, error);
    if (rc == 0)
        rc = finish_also(drafts, count, &common, error);
    if (rc == 0) {
        content_finish(draft);
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
            option_values(&pending->drafts[i], type, error);
            pending->drafts[0].type_is_found = true;
        }
    int rc = finish(pending->drafts, pending->count, error);
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

/* Begins the draft of another histogram. NULL: there are too many. */
static struct draft *next_draft(struct draft *drafts, unsigned *count, struct error *error)
{
    const struct draft *last = &drafts[*count - 1];
    if (*count == HISTOGRAMS_MAX) {
        error_set(error, "--also: at most %d histograms can be counted at once", HISTOGRAMS_MAX);
        return NULL;
    }
    drafts[*count] = (struct draft){.options = last->options};
    return &drafts[(*count)++];
}

/* Returns the word that getopt has just read, after argv[at]. optind may be beyond the end: musl
 * also counts an argument that is missing. */
static const char *typed_word(int argc, char **argv, int at)
{
    const int end = optind < argc ? optind : argc;
    return argv[end > at ? end - 1 : at];
}

/* True if a value in the same word as its option, as in "-lf", consists of letters of other
 * options, which were meant to come first. */
static bool is_misordered(const char *value)
{
    for (; *value; value++) {
        const struct option_row *row = find_row(*value);
        if (!row || row->takes != VALUE_NONE)
            return false;
    }
    return true;
}

/* Says how the word was meant. */
static int refuse_order(const struct option_row *row, const char *word, const char *value,
                        struct error *error)
{
    const int before = (int)(strlen(word) - strlen(value)) - 1;
    return error_of(error, word, "'%s' is not a %s of -%c; did you mean %.*s%s%c?", value,
                    row->value, row->letter, before, word, value, row->letter);
}

/* Reads the option that getopt has just found; `position` counts those that were typed. */
static int read_option(int code, const char *word, unsigned position, struct draft *draft,
                       struct error *error)
{
    const struct option_row *row = code == ':' || code == '?' ? NULL : find_row(code);
    if (!row)
        return refuse(code, word, error);
    draft->given[row - option_rows] = (struct given){.position = position,
                                                     .letter = code < LONG_CODE ? (char)code : '\0',
                                                     .word = word,
                                                     .value = optarg};
    const int rc = handle(row, draft, optarg, error);
    const bool is_optional = row->takes == VALUE_OPTIONAL && optarg;
    if (rc != 0 && is_optional && code < LONG_CODE && is_misordered(optarg))
        return refuse_order(row, word, optarg, error);
    if (rc != 0 && code < LONG_CODE && find_dashless(word))
        refuse_unknown(word, word + 1, find_dashless(word), error);
    return rc;
}

static int parse(int argc, char **argv, struct draft *drafts, struct error *error)
{
    struct draft *draft = drafts;
    struct options *options = draft->options;
    unsigned count = 1;
    struct getopt_lists lists;
    make_lists(&lists);
    optind = 0; /* has glibc start over */
    opterr = 0;
    for (unsigned position = 1;; position++) {
        /* getopt names a long option only by its number; messages show what was typed. */
        int at = optind ? optind : 1;
        int code = getopt_long(argc, argv, lists.letters, lists.long_options, NULL);
        if (code == -1)
            break;
        const char *word = typed_word(argc, argv, at);
        if (word == optarg) /* the option is the word before its value */
            word = argv[optind - 2];
        int rc = read_option(code, word, position, draft, error);
        if (rc != 0)
            return rc;
        if (find_row(code)->takes == VALUE_OPTIONAL && !optarg)
            record_misplaced(draft, find_row(code), argv[optind]);
        if (draft->ends && !(draft = next_draft(drafts, &count, error)))
            return OPTIONS_WRONG;
        if (options->action == ACTION_HELP || options->action == ACTION_BRIEF_HELP ||
            options->action == ACTION_VERSION)
            return 0; /* whatever follows, as with other programs */
    }
    options->operands = argv + optind;
    options->operand_count = (size_t)(argc - optind);
    return options->action == ACTION_LIST_KERNELS ? 0 : finish(drafts, count, error);
}

int options_parse(int argc, char **argv, struct options *options, struct error *error)
{
    struct draft *drafts = calloc(HISTOGRAMS_MAX, sizeof *drafts);
    if (!drafts)
        return option_no_memory(error);
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
    drafts->options = options;
    const int rc = parse(argc, argv, drafts, error);
    free(drafts);
    return rc;
}
