/* SPDX-License-Identifier: MIT */
/* What is read, what is printed, and who counts: the options about input, output, saved tables, CPU
 * and GPU. */
#include "cli.h"
#include "option.h"
#include "gpu/count/strategy.h"
#include "gpu/engine/gpu_engine.h"
#include "src/cpu/count.h"
#include "src/report/report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUANTILES_DEFAULT "0.5,0.9,0.99,0.999"
#define STATS_WITHOUT_ROWS "; --format=json and --plot have both"
#define INTERVAL_MIN 0.1 /* seconds between two calls of pool_options.tick */
#define INTERVAL_MAX 86400.0
#define KERNELS_MAX 8

/* --- what is read --- */

/* "auto", a codec's name, or "none". */
int set_decompress(struct draft *draft, const char *value, struct error *error)
{
    struct input_options *input = &draft->options->input;
    const char *choices[CODECS_MAX + 3] = {"auto"};
    int count = 0;
    for (; codecs[count]; count++)
        choices[1 + count] = codecs[count]->name;
    choices[1 + count] = "none";
    const struct unsupported_format *unsupported = unsupported_format_find(value);
    if (unsupported)
        return error_set(error, "cannot be decompressed here; use '%s FILE | gpuhisto'",
                         unsupported->command);
    int choice = parse_word(value, choices, error);
    input->is_as_stored = choice > count;
    input->codec = choice > 0 ? codecs[choice - 1] : NULL;
    return choice < 0 ? OPTIONS_WRONG : 0;
}

int set_length(struct draft *draft, const char *value, struct error *error)
{
    static const struct size_range range = {0, CONTENT_MAX, "0 to 9223372036854775807"};
    struct content_options *content = &draft->options->input.content;
    content->has_length = true;
    return parse_size(value, &range, &content->length, error);
}

int set_part(struct draft *draft, const char *value, struct error *error)
{
    struct shard_choice *choice = &draft->options->part;
    const char *at = value;
    if (parse_digits(&at, SHARDS_MAX, &choice->part) && *at++ == '/' &&
        parse_digits(&at, SHARDS_MAX, &choice->of) && !*at && choice->part > 0 &&
        choice->part <= choice->of)
        return 0;
    return error_set(error, "must be K/N, such as 1/4, with K from 1 to N, and N up to %d",
                     SHARDS_MAX);
}

int part_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    if (options->part.of == 0)
        return 0;
    if (options->report.bins.max > 0)
        return error_set(error, "--part: each share would get different bins; use --min and --max "
                                "with --bins, or --digits");
    options->part.wants_fingerprints = options->report.format == &format_json;
    options->part.is_whole = options->spec.lines.field.kind == FIELD_CSV;
    return 0;
}

/* --- what is printed --- */

/* Also for --plot, which has no value. */
int set_format(struct draft *draft, const char *value, struct error *error)
{
    const char *names[FORMATS_MAX] = {NULL};
    for (size_t i = 0; formats[i]; i++)
        names[i] = formats[i]->name;
    const int format = parse_word(value ? value : "plot", names, error);
    draft->options->report.format = formats[format < 0 ? 0 : format];
    return format < 0 ? OPTIONS_WRONG : 0;
}

/* Refuses a list of quantiles because of the text at `wrong`. A number between 1 and 100 was most
 * likely meant as a percentage. */
static int refuse_quantile(const char *wrong, struct error *error)
{
    char hint[80] = "";
    double number;
    if (parse_double(&wrong, &number) && number > 1 && number <= 100)
        snprintf(hint, sizeof hint, "; for %.15g %%, use %.15g", number, number / 100);
    return error_set(error,
                     "must be numbers from 0 to 1, at most %d, of at most %d digits, separated by "
                     "commas%s",
                     QUANTILES_MAX, PROBABILITY_DIGITS, hint);
}

/* Reads a list of quantiles; repeated ones once. Returns NULL, or where it is wrong. */
static const char *read_quantiles(const char *list, struct report_options *report)
{
    const char *at = list, *from = list;
    for (report->quantile_count = 0; report->quantile_count < QUANTILES_MAX; at++) {
        struct probability *const quantile = &report->quantiles[report->quantile_count];
        size_t same = 0;
        from = at;
        if (!parse_probability(&at, quantile) || (*at && *at != ','))
            break;
        while (report->quantiles[same].exponent != quantile->exponent ||
               strcmp(report->quantiles[same].digits, quantile->digits) != 0)
            same++;
        if (same == report->quantile_count) /* the first one is itself */
            report->quantile_count++;
        if (!*at)
            return NULL;
    }
    return from;
}

int set_quantiles(struct draft *draft, const char *value, struct error *error)
{
    struct report_options *report = &draft->options->report;
    const char *list = value ? value : QUANTILES_DEFAULT;
    const char *wrong = read_quantiles(list, report);
    report->stats = true;
    return wrong ? refuse_quantile(wrong, error) : 0;
}

int set_each(struct draft *draft, const char *value, struct error *error)
{
    static const struct size_range range = {1, CONTENT_MAX, "1 to 9223372036854775807"};
    draft->options->each = true;
    draft->options->each_size = 0;
    return value ? parse_size(value, &range, &draft->options->each_size, error) : 0;
}

int set_sort(struct draft *draft, const char *value, struct error *error)
{
    const bool is_reversed = *value == '-';
    (void)error;
    draft->options->report.order = (struct group_order){value + is_reversed, is_reversed};
    return 0;
}

int set_interval(struct draft *draft, const char *value, struct error *error)
{
    const char *end = value;
    double *seconds = &draft->options->interval;
    if (parse_double(&end, seconds) && !*end && *seconds >= INTERVAL_MIN &&
        *seconds <= INTERVAL_MAX)
        return 0;
    return error_set(error, "must be a number of seconds from %g to %g", INTERVAL_MIN,
                     INTERVAL_MAX);
}

static int compare_names(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Checks that no file is given twice, as both histograms would have the same labels. */
static int check_labels(const struct options *options, struct error *error)
{
    const size_t count = options->operand_count;
    char **names = calloc(count + 1, sizeof names[0]);
    size_t i = 1;
    if (!names)
        return option_no_memory(error);
    for (size_t k = 0; k < count; k++)
        names[k] = options->operands[k];
    qsort(names, count, sizeof names[0], compare_names);
    while (i < count && strcmp(names[i - 1], names[i]) != 0)
        i++;
    if (i < count)
        error_of(error, names[i], "is given twice; --format=%s --each needs different files",
                 options->report.format->name);
    free(names);
    return i < count ? OPTIONS_WRONG : 0;
}

/* Checks the column of --sort, unless tables say later which ones there are. Without --stats keys
 * can be in the order of the same quantiles. 0, or OPTIONS_WRONG with an error. */
static int order_finish(const struct draft *draft, struct error *error)
{
    struct report_options *report = &draft->options->report;
    if ((report->stats || report->order.column) && report->quantile_count == 0)
        read_quantiles(QUANTILES_DEFAULT, report);
    if (!report->order.column || draft->by_count == 0)
        return 0;
    if (!draft->mode->is_binned && report->format->separator &&
        option_conflict(draft, "sort", "stats", STATS_WITHOUT_ROWS, error) != 0)
        return OPTIONS_WRONG;
    return group_order_check(&report->order, draft->mode->is_binned, report->quantiles,
                             report->quantile_count, error);
}

int report_finish(const struct draft *draft, struct error *error)
{
    static const char *const of_rows[] = {"percent", "nonzero", "all"};
    struct report_options *report = &draft->options->report;
    const struct format *format = report->format;
    if (format->is_binary && !draft->options->output && isatty(STDOUT_FILENO))
        return error_set(error, "--format=%s: standard output is a terminal; use --output",
                         format->name);
    const bool has_heat = draft->by_count > 0 && draft->mode->is_binned && format->heat;
    if (has_heat && draft->by_count > 1)
        return error_set(error,
                         "--format=%s --by: a heat map is by one key; give --by once, or use "
                         "--format=tsv",
                         format->name);
    if (report->stats && has_heat)
        return error_set(error, "--plot --by: a heat map has no statistics; use --stats without "
                                "--plot");
    if (order_finish(draft, error) != 0)
        return OPTIONS_WRONG;
    if (format->is_cumulative && draft->options->each)
        return check_labels(draft->options, error);
    if (!report->stats || !format->separator)
        return 0;
    for (size_t i = 0; i < sizeof of_rows / sizeof of_rows[0]; i++)
        if (option_conflict(draft, of_rows[i], "stats quantiles", STATS_WITHOUT_ROWS, error) != 0)
            return OPTIONS_WRONG;
    report->bins.max = report->bins.log_parts = 0;
    return 0;
}

int tables_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    options->report.bins.max = draft->bins;
    if (options->action == ACTION_DIFF && options->operand_count == 1)
        return error_set(error, "--diff: the second file, AFTER, is missing");
    if (options->action == ACTION_DIFF && options->operand_count != 2)
        return error_set(error, "--diff needs two files, BEFORE and AFTER");
    if (options->action == ACTION_DIFF &&
        option_conflict(draft, "bins", "stats quantiles", "", error) != 0)
        return OPTIONS_WRONG;
    return report_finish(draft, error);
}

/* --- who counts --- */

/* Reads numbers of GPUs, separated by commas, each once. False if they are wrong. */
static bool parse_gpus(const char *text, struct gpu_list *gpus)
{
    for (*gpus = (struct gpu_list){0}; gpus->count < GPUS_MAX; text++) {
        const char *const begin = text;
        uint64_t value;
        if (!parse_digits(&text, INT_MAX, &value) || text - begin > DIGITS_SHORT)
            return false;
        const int number = (int)value;
        for (unsigned i = 0; i < gpus->count; i++)
            if (gpus->gpu[i].asked == number)
                return false;
        gpus->gpu[gpus->count++] = (struct cuda_device){.asked = number, .ordinal = number};
        if (*text != ',')
            return !*text;
    }
    return false;
}

int set_device(struct draft *draft, const char *value, struct error *error)
{
    static const struct {
        const char *name;
        enum device_choice choice;
        unsigned gpus; /* 0: all */
        bool grows;
    } choices[] = {{"auto", DEVICE_AUTO, 1, true},
                   {"cpu", DEVICE_CPU, 1, false},
                   {"gpu", DEVICE_GPU, 1, false},
                   {"all", DEVICE_AUTO, 0, false}};
    struct pool_options *pool = &draft->options->pool;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        if (strcmp(value, choices[i].name) == 0) {
            pool->device = choices[i].choice;
            pool->gpus = (struct gpu_list){.count = choices[i].gpus, .grows = choices[i].grows};
            return 0;
        }
    pool->device = DEVICE_GPU;
    if (strncmp(value, "gpu:", 4) == 0 && parse_gpus(value + 4, &pool->gpus))
        return 0;
    return error_set(error,
                     "must be auto, cpu, gpu, all, or numbers of GPUs, such as gpu:0 or gpu:0,2");
}

int set_kernel(struct draft *draft, const char *value, struct error *error)
{
    if (strcmp(value, "help") == 0)
        draft->options->action = ACTION_LIST_KERNELS;
    const struct strategy *strategy = strategy_find(value);
    draft->options->pool.strategy = strategy;
    if (strategy || strcmp(value, "auto") == 0 || strcmp(value, "help") == 0)
        return 0;
    return error_set(error, "no such strategy; --kernel=help lists them");
}

/* GPUHISTO_CPU names the kernels, for tests and measurements. */
static int finish_kernels(struct options *options, struct error *error)
{
    const char *name = getenv("GPUHISTO_CPU"), *here[KERNELS_MAX + 1] = {NULL};
    size_t count = 0;
    for (const struct cpu_kernels *const *kernels = all_kernels; *kernels; kernels++)
        if (count < KERNELS_MAX && (*kernels)->runs_here())
            here[count++] = (*kernels)->name;
    if (name && *name && parse_word(name, here, error) < 0)
        return option_refuse_value("GPUHISTO_CPU", name, error);
    options->pool.kernels = cpu_kernels_find(name && *name ? name : NULL);
    options->input.decoding.instructions = options->pool.kernels->name;
    return 0;
}

static int finish_strategy(const struct draft *draft, struct error *error)
{
    struct pool_options *pool = &draft->options->pool;
    const struct histogram_spec *spec = &draft->options->spec;
    const struct mode *mode = spec->mode;
    const char *cannot = strategy_cannot(spec);
    if (pool->device == DEVICE_GPU && cannot)
        return error_set(error, "--device=gpu: the GPU cannot %s; leave out --device", cannot);
    if (pool->device == DEVICE_GPU && !strategy_best(spec, 0))
        return error_set(error, "--device=gpu: the GPU cannot count %s%s; leave out --device",
                         mode->is_binned ? "values of " : mode->name,
                         mode->is_binned ? spec->type.name : "");
    if (!pool->strategy)
        return 0;
    int rc = option_conflict(draft, "kernel=", "device=cpu", "", error);
    if (rc == 0 && spec->has_moments)
        rc = option_conflict(draft, "kernel=", "stats quantiles", "", error);
    if (rc != 0)
        return rc;
    if (!strategy_counts(pool->strategy, spec))
        return error_of_option(error, "--kernel", pool->strategy->name,
                               "cannot count in this mode; see --kernel=help");
    pool->device = DEVICE_GPU;
    return 0;
}

/* Blocks of a file, which hold whole samples. Only the CPU counts them. */
static int finish_blocks(const struct draft *draft, const struct record_kind *kind,
                         struct error *error)
{
    struct options *options = draft->options;
    const uint64_t size = options->each_size;
    char typed[TYPED_SHOWN];
    if (size == 0)
        return 0;
    for (const struct histogram_spec *at = &options->spec; at; at = at->also) {
        const struct record_kind own = record_kind_of(at);
        if (record_is_text(&own)) /* which are cut by what they contain */
            return option_needs(
                draft, "each=",
                at->mode->has_pairs ? "--pairs=aligned, as other pairs are in two blocks"
                : at->mode->is_text ? "--bytes, --letters or --values, as blocks cut lines; use "
                                      "--each without a SIZE, or --by"
                                    : "--bytes, --letters or --values, as blocks cut characters; "
                                      "use --each without a SIZE",
                error);
    }
    option_show_typed(draft, "each=", typed);
    if (size % kind->size != 0)
        return error_set(error,
                         "%s: blocks must hold whole values of %zu bytes; use --each=%" PRIu64,
                         typed, kind->size, (size / kind->size + 1) * kind->size);
    if (options->pool.device == DEVICE_GPU)
        return error_set(error, "%s: the GPU cannot count blocks separately; use --device=cpu",
                         typed);
    options->pool.device = DEVICE_CPU;
    options->input.wants_positions = true;
    return 0;
}

/* Has the CPU count what a GPU cannot, or not as well. On a GPU each file needs a snapshot after
 * its last chunk, and tables before the end need one after each chunk. Without the latter, the CPU
 * would search text for what is not a number, which takes longer than counting it there. By key a
 * GPU would not count, and so have nothing to decompress for. */
static int finish_device(struct options *options, struct error *error)
{
    const struct histogram_spec *spec = &options->spec;
    struct pool_options *pool = &options->pool;
    const bool is_small = snapshot_is_small(spec);
    const bool is_each = options->each && !snapshot_is_of_chunk(spec);
    const bool is_interval = options->interval > 0 && !is_small;
    if (pool->device == DEVICE_GPU && is_each)
        return error_set(
            error, "--each: the GPU cannot count files separately with %zu bins; use --device=cpu",
            spec->bins);
    if (pool->device == DEVICE_GPU && is_interval)
        return error_set(error,
                         "--interval: with %zu bins the GPU reports counts only at the end of "
                         "input; use --device=cpu",
                         spec->bins);
    if (pool->device == DEVICE_AUTO &&
        (is_each || is_interval || spec->lines.key_count > 0 || (spec->mode->is_text && !is_small)))
        pool->device = DEVICE_CPU;
    return 0;
}

/* True if a byte order mark may stand before records with this field, and is left out. */
static bool may_have_bom(const struct field *field)
{
    return field->kind == FIELD_CSV || field->kind == FIELD_JSON;
}

int devices_finish(const struct draft *draft, struct error *error)
{
    struct options *options = draft->options;
    const struct record_kind kind = record_kind_of_all(&options->spec);
    size_t *chunk = &options->pool.chunk_size;
    options->pool.no_check = options->input.decoding.no_check;
    options->input.record = kind;
    options->input.lines = record_is_text(&kind) ? &options->spec.lines : NULL;
    for (const struct histogram_spec *at = &options->spec; at; at = at->also)
        options->input.skips_bom |=
            may_have_bom(&at->lines.field) || may_have_bom(&at->lines.keys[0].field);
    if (!record_is_text(&kind))
        *chunk = (*chunk + kind.size - 1) / kind.size * kind.size; /* whole samples */
    int rc = finish_strategy(draft, error);
    if (rc == 0)
        rc = finish_blocks(draft, &kind, error);
    if (rc == 0)
        rc = finish_device(options, error);
    return rc == 0 ? finish_kernels(options, error) : rc;
}
