/* SPDX-License-Identifier: MIT */
/* What runs have in common: they open an output, enter a sandbox, show results by key, and end. */
#include "cli.h"
#include "src/report/output.h"

#include "gpu/count/strategy.h"
#include "gpu/engine/gpu_engine.h"
#include "src/base/signals.h"
#include "src/base/system.h"
#include "src/report/report.h"
#include "src/sandbox/sandbox.h"
#include "src/tally/key_tallies.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- how a run ends --- */

/* A thread that is stuck in the GPU's driver may hold up the end of the process, so the descriptors
 * are closed first: whoever reads the output learns that there is no more. */
_Noreturn void run_leave(int status)
{
    signals_remove_now();
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    if (signals_interrupted())
        signals_end_interrupted();
    _exit(status);
}

_Noreturn void run_refuse(int status, const struct error *error)
{
    diag("%s", error->text);
    run_leave(status);
}

_Noreturn void run_fail(const char *format, ...)
{
    struct error error;
    va_list args;
    va_start(args, format);
    vsnprintf(error.text, sizeof error.text, format, args);
    va_end(args);
    run_refuse(STATUS_FAILED, &error);
}

_Noreturn void run_fail_of(const char *file, const char *what)
{
    struct error error;
    error_set(&error, "%s", what);
    if (file)
        error_begin(&error, file);
    run_refuse(STATUS_FAILED, &error);
}

void run_check(int rc, const struct error *error)
{
    if (rc != 0)
        run_refuse(STATUS_FAILED, error);
}

struct writer *run_begin_output(struct output *output)
{
    struct error error;
    struct writer *out = output_open(output, &error);
    run_check(out ? 0 : -1, &error);
    return out;
}

int run_close_output(struct output *output, enum verbosity verbosity)
{
    struct error warning, error;
    if (output_close(output, &warning, &error) != 0) {
        diag("%s", error.text);
        return STATUS_FAILED;
    }
    if (warning.text[0] && verbosity >= NORMAL)
        diag("warning: %s", warning.text);
    return STATUS_COUNTED;
}

void run_end_output(struct output *output, enum verbosity verbosity)
{
    if (run_close_output(output, verbosity) != STATUS_COUNTED)
        run_leave(STATUS_FAILED);
}

/* --- a run that prints a text --- */

void run_print(const struct options *options, struct output *output)
{
    struct error unused; /* standard output is always there */
    output_prepare(output, NULL, &unused);
    struct writer *out = output_open(output, &unused);
    if (options->action == ACTION_HELP || options->action == ACTION_BRIEF_HELP) {
        options_write_help(out, options->action == ACTION_BRIEF_HELP);
    } else if (options->action == ACTION_VERSION) {
        writer_format(out, "%s %s\nbuilt with %s\n", PACKAGE_NAME, PACKAGE_VERSION, BUILT_WITH);
        if (*BUILT_WITHOUT)
            writer_format(out, "built without %s\n", BUILT_WITHOUT);
    } else {
        writer_format(out, "%-12s the fastest for the mode (the default)\n", "auto");
        for (unsigned i = 0; i < strategy_count; i++)
            writer_format(out, "%-12s %s\n", strategies[i].name, strategies[i].about);
    }
    run_end_output(output, options->verbosity);
}

/* --- opening --- */

/* Refuses an output that is one of the inputs: the table would replace what was counted. */
static void check_inputs_stay(const struct options *options, const struct output *output)
{
    struct stat file;
    if (options->operand_count == 0 && fstat(STDIN_FILENO, &file) == 0 &&
        output_is_file(output, &file))
        run_fail_of(options->output, "is also the input, which --output would replace");
    for (size_t i = 0; i < options->operand_count; i++) {
        const char *name = options->operands[i];
        const int rc = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(name, &file);
        if (rc == 0 && output_is_file(output, &file))
            run_fail_of(name, "is also an input, which --output would replace");
    }
}

void run_open_output(const struct options *options, struct output *output)
{
    struct error error;
    run_check(output_prepare(output, options->output, &error), &error);
    if (options->action != ACTION_MERGE) /* a sum may replace one of its tables */
        check_inputs_stay(options, output);
}

void run_on_tables(struct options *options, struct output *output, run_show *show)
{
    static char standard_input[] = "-";
    static char *const only[] = {standard_input};
    const bool has_operands = options->operand_count > 0;
    struct preopened_list files;
    run_open_output(options, output);
    if (preopened_list_open(&files, has_operands ? options->operands : only,
                            has_operands ? options->operand_count : 1) != 0)
        run_fail("out of memory");
    run_enter_sandbox(options, output, NULL, &files);
    show(options, output, &files);
    preopened_list_close(&files);
}

/* --- the sandbox --- */

/* Bytes of input, as stored, that are counted faster than quotas are read. */
#define SMALL ((uint64_t)64 << 10)

/* Returns why there is to be no sandbox; or NULL. */
static const char *error_against(const struct options *options)
{
    if (options->sandbox == SANDBOX_NONE)
        return "--no-sandbox";
    if (options->action != ACTION_COUNT || options->pool.device == DEVICE_CPU)
        return NULL;
    if (options->pool.device == DEVICE_GPU)
        return "a GPU is used, and CUDA needs what a sandbox forbids";
    bool may_use = !device_missing();
#ifdef HAVE_CUDA
    /* The devices of a driver CUDA may create only when it is called. */
    may_use = may_use || access("/proc/driver/nvidia", F_OK) == 0;
#endif
    return may_use ? "a GPU may be used, and CUDA needs what a sandbox forbids; see --device=cpu"
                   : NULL;
}

/* Allows what the run reads and writes, how much memory there is, and how many threads there should
 * be: for small files one is enough, unless they decompress to much more than they are. */
static void allow_run(struct sandbox *sandbox, const struct options *options,
                      const struct output *output, struct source *source,
                      const struct preopened_list *tables)
{
    const struct target *target = &output->target;
    const bool memory = options->action == ACTION_COUNT &&
                        (options->pending || pool_looks_for_memory(&options->spec));
    const struct preopened *file;
    uint64_t size = 0;
    for (size_t i = 0; (file = source              ? source_file(source, i)
                               : i < tables->count ? &tables->list[i]
                                                   : NULL);
         i++) {
        const bool is_opened = strcmp(file->name, "-") != 0 && file->error == 0; /* in its turn */
        if (is_opened && file->fd < 0) {
            sandbox_allow_path(sandbox, file->name);
            sandbox->named++;
        } else if (is_opened && !file->is_regular) {
            sandbox_allow(sandbox, file->fd, SANDBOX_READ);
        }
        if (size <= SMALL)
            size += file->is_regular ? file->size : SMALL + 1;
    }
    if (memory)
        sandbox_allow_path(sandbox, "/proc/meminfo");
    if (memory || (options->pool.threads == 0 && size > SMALL)) {
        sandbox_allow_path(sandbox, "/proc/self/cgroup");
        sandbox_allow_path(sandbox, "/sys/fs/cgroup");
    }
    if (output->name && target->kind == TARGET_REPLACED)
        sandbox_allow(sandbox, target->directory, SANDBOX_REPLACE);
    else if (output->name && target->kind == TARGET_DIRECT)
        sandbox_allow(sandbox, target->file, SANDBOX_WRITE);
}

void run_enter_sandbox(const struct options *options, const struct output *output,
                       struct source *source, const struct preopened_list *tables)
{
    const char *against = error_against(options);
    struct sandbox sandbox = {.rules = -1, .seccomp_error = ENOSYS};
    struct error text;
    if (against) {
        error_set(&text, "none: %s", against);
    } else {
        if (options->report.format->is_picture)
            (void)screen_of(STDOUT_FILENO); /* while the user's locale can be loaded */
        if (source)                         /* while libraries can be opened */
            source_load_codecs(source);
        sandbox_begin(&sandbox);
        allow_run(&sandbox, options, output, source, tables);
        sandbox_enter(&sandbox);
        sandbox_describe(&sandbox, &text);
    }
    if (options->sandbox == SANDBOX_REQUIRED && !sandbox_is_whole(&sandbox))
        run_fail("--sandbox=require: %s", text.text);
    if (options->verbosity >= VERBOSE)
        diag("sandbox: %s", text.text);
}

/* --- keys --- */

uint64_t run_max_key_bytes(unsigned max_keys)
{
    const uint64_t min = UINT64_C(1) << 30, max = (uint64_t)max_keys << 10;
    return max > min ? max : min;
}

unsigned run_threads_of(const struct options *options)
{
    return options->pool.threads > 0 ? options->pool.threads
                                     : system_limits_processors(sched_getaffinity);
}

size_t run_shown_keys(const struct options *options, bool is_sequence)
{
    const struct report_options *report = &options->report;
    const bool is_cut = report->format->is_picture && report->empty != EMPTY_SHOWN;
    return options->top > 0 ? options->top : is_cut && !is_sequence ? PICTURE_ROWS : SIZE_MAX;
}

/* Puts keys in the order of --sort. */
static void sort_as_asked(const struct options *options, struct key_tallies *keys)
{
    const struct report_options *report = &options->report;
    const bool skip_invalid = options->pool.invalid == INVALID_SKIP;
    const struct group_columns columns = {.spec = &options->spec,
                                          .has_numbers = options->spec.mode->is_binned &&
                                                         (report->stats || skip_invalid),
                                          .quantile_count = report->quantile_count,
                                          .quantiles = report->quantiles};
    const unsigned threads = run_threads_of(options);
    const bool is_reversed = report->order.is_reversed;
    const bool is_by_name = strcmp(report->order.column, GROUP_ORDER_KEY) == 0;
    const bool is_by_count = strcmp(report->order.column, GROUP_ORDER_COUNT) == 0;
    const enum key_order by_count = columns.has_numbers ? KEYS_BY_VALID : KEYS_BY_COUNT;
    size_t *list = NULL;
    int rc = key_tallies_sort(keys, is_by_count && !is_reversed ? by_count : KEYS_BY_NAME, threads);
    if (rc == 0 && (is_reversed || !(is_by_name || is_by_count))) {
        struct groups groups = groups_of_keys(keys, SIZE_MAX, NULL, skip_invalid);
        groups.threads = threads;
        rc = group_order_list(&report->order, &columns, &groups, &list);
        rc = rc == 0 ? key_tallies_reorder(keys, list) : rc;
        free(list);
    }
    if (rc != 0)
        run_fail("out of memory");
}

/* Sorts keys: as --sort says, or by name, or if not all are shown by their samples. Numbers and
 * times in a heat map are all shown, unless --top picks some, and in their order unless --sort says
 * another. Returns how many are shown. */
static size_t sort_keys(const struct options *options, struct key_tallies *keys)
{
    const struct report_options *report = &options->report;
    const bool is_heat = report->format->heat && options->spec.mode->is_binned;
    const bool is_by_name =
        !report->order.column || strcmp(report->order.column, GROUP_ORDER_KEY) == 0;
    const enum key_order by_count =
        options->pool.invalid == INVALID_SKIP ? KEYS_BY_VALID : KEYS_BY_COUNT;
    const unsigned threads = run_threads_of(options);
    if (report->order.column)
        sort_as_asked(options, keys);
    else if ((options->top == 0 || is_heat) && key_tallies_sort(keys, KEYS_BY_NAME, threads) != 0)
        run_fail("out of memory");
    const bool is_sequence = is_heat && is_by_name && key_tallies_are_sequence(keys);
    const size_t top = run_shown_keys(options, is_sequence);
    if (report->order.column || (options->top == 0 && key_tallies_count(keys) <= top))
        return top;
    if (key_tallies_sort(keys, by_count, threads) != 0)
        run_fail("out of memory");
    if (is_sequence)
        key_tallies_sort_top(keys, top);
    return top;
}

void run_name_columns(const struct options *options, char text[RUN_COLUMNS_SIZE])
{
    const struct histogram_spec *spec = &options->spec;
    for (unsigned i = 0; i < spec->lines.key_count; i++) {
        const char *by = options->by_fields[i];
        if (i > 0)
            *text++ = GROUP_SEPARATOR;
        if (spec->lines.keys[i].field.number == 0)
            text += name_text((const unsigned char *)by, strlen(by), false, text);
        else if (spec->lines.key_count > 1)
            text += sprintf(text, "key%u", i + 1);
        else
            text = stpcpy(text, "key");
    }
}

struct key_tallies *run_join_times(const struct options *options, struct key_tallies *keys,
                                   const char *file, bool are_fine, struct tally *tally,
                                   bool *said_utc)
{
    struct key_tallies *joined = NULL;
    enum key_times times = KEY_TIMES_NO_MEMORY;
    if (key_tallies_sort(keys, KEYS_BY_NAME, run_threads_of(options)) == 0)
        times = key_times_join(keys, &options->spec, are_fine, tally, &joined);
    if (times == KEY_TIMES_NO_MEMORY)
        run_fail_of(file, "out of memory");
    if (times == KEY_TIMES_COARSE)
        run_fail_of(file, "the tables have times of several offsets from UTC, whose buckets "
                          "overlap; count all files in one run, or as shares (--part)");
    if (times == KEY_TIMES_IN_UTC && !*said_utc && options->verbosity >= NORMAL)
        diag("times have several offsets from UTC, so their buckets are in UTC");
    *said_utc |= times == KEY_TIMES_IN_UTC;
    return joined;
}

void run_write_keys(struct writer *out, const struct options *options, bool follow,
                    struct tally *tally, bool *said_utc)
{
    const struct shard_record *shard = options->report.shard;
    struct key_tallies *counted = options->pool.keys, *joined = NULL;
    const bool is_part =
        shard && !shard_record_is_complete(shard) && options->report.format->is_read_back;
    char columns[RUN_COLUMNS_SIZE];
    if (key_times_are_used(&options->spec) && !is_part)
        joined = run_join_times(options, counted, NULL, options->action == ACTION_COUNT || shard,
                                tally, said_utc);
    if (joined)
        key_tallies_thaw(counted);
    struct key_tallies *keys = joined ? joined : counted;
    run_name_columns(options, columns);
    const size_t top = sort_keys(options, keys);
    struct groups groups =
        groups_of_keys(keys, top, columns, options->pool.invalid == INVALID_SKIP);
    groups.threads = run_threads_of(options);
    groups.is_ordered = options->report.order.column != NULL;
    report_write_gap(out, &options->report, follow);
    report_write_groups(out, &options->report, &options->spec, &groups, tally);
    key_tallies_thaw(keys);
    key_tallies_close(joined);
}
