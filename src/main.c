/* SPDX-License-Identifier: MIT */
/* The program: options, open, count, report, exit status. */

#include "src/base/signals.h"
#include "src/cli/diag.h"
#include "src/tally/file_tallies.h"
#include "src/main.h"
#include "src/main_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define STACK_MIN (320 << 10) /* bytes */

/* Static, as a GPU that is still starting may read the histogram until the process ends. */
static struct options options;
static struct output output;
static struct shard shard;
static struct shard_record record; /* of the shard */

/* --- a run that counts --- */

struct counting {
    struct source *source;
    struct tally tally;
    struct main_tables tables;
    struct pool_outcome outcome;
    struct main_remarks remarks;
};

/* Refuses an output that is one of the inputs: the table would replace what was counted. 0, or -1
 * with the error set. */
static int check_inputs_stay(struct error *error)
{
    struct stat file;
    if (options.operand_count == 0 && fstat(STDIN_FILENO, &file) == 0 &&
        output_is_file(&output, &file))
        return error_of(error, options.output, "is also the input, which --output would replace");
    for (size_t i = 0; i < options.operand_count; i++) {
        const char *name = options.operands[i];
        const int rc = strcmp(name, "-") == 0 ? fstat(STDIN_FILENO, &file) : stat(name, &file);
        if (rc == 0 && output_is_file(&output, &file))
            return error_of(error, name, "is also an input, which --output would replace");
    }
    return 0;
}

/* Divides the input, if one shard of it is counted. The exit status. */
static int open_shard(void)
{
    struct error error;
    if (options.part.of == 0)
        return STATUS_COUNTED;
    options.input.shard = &shard;
    for (struct options *at = &options; at; at = at->also)
        at->report.shard = &record;
    const int rc =
        shard_open(&shard, &options.part, options.operands, options.operand_count, &error);
    if (rc == 0)
        return STATUS_COUNTED;
    diag("%s", error.text);
    return rc == SHARD_REFUSED ? STATUS_USAGE : STATUS_FAILED;
}

/* Compiles the regular expressions that choose lines, and that name their parts. The exit status.
 */
static int open_filters(void)
{
    struct error error;
    int rc = 0;
    for (struct options *at = &options; at && rc == 0; at = at->also)
        if ((rc = line_filter_open(&at->spec.lines.filter, &error)) == 0)
            rc = line_format_open(&at->line, &error);
    if (rc == 0)
        return STATUS_COUNTED;
    diag("%s", error.text);
    return rc == REGEX_WRONG ? STATUS_USAGE : STATUS_FAILED;
}

/* Completes the options that need the type of values, which the first file's header says. The exit
 * status. */
static int read_type(struct source *source)
{
    struct header header;
    struct error error;
    if (!options.pending)
        return STATUS_COUNTED;
    if (source_find_header(source, &header, &error) != 0)
        return main_failed(&error);
    const int rc = options_finish_type(&options, header.type, &error);
    if (rc != 0) {
        diag("%s", error.text);
        return rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE;
    }
    source_set_options(source, &options.input);
    return STATUS_COUNTED;
}

/* Opens the output and the input, and enters the sandbox. The exit status. */
static int open_run(struct counting *run)
{
    struct error error;
    if (main_is_misplaced(&options.misplaced))
        return STATUS_FAILED;
    int status = open_filters();
    if (status != STATUS_COUNTED)
        return status;
    if (output_prepare(&output, options.output, &error) != 0 || check_inputs_stay(&error) != 0)
        return main_failed(&error);
    status = open_shard();
    if (status != STATUS_COUNTED)
        return status;
    run->source = source_open(options.operands, options.operand_count, &options.input);
    if (!run->source)
        return main_no_memory();
    if (pool_choose_gpus(&options.pool, run->source, &error) != 0) {
        source_close(run->source);
        return main_failed(&error);
    }
    main_tables_begin(&run->tables, &options, &output, run->source);
    if (main_enter_sandbox(&options, &output, run->source, NULL) != 0)
        return STATUS_FAILED;
    status = read_type(run->source);
    if (status != STATUS_COUNTED)
        source_close(run->source);
    else if (main_tables_open(&run->tables, run->source, &run->tally) != 0)
        status = main_no_memory();
    return status;
}

/* Counts all input. Ends the process if that fails, as threads may still be at work. */
static void count_input(struct counting *run)
{
    struct error error;
    options.pool.tick = main_tables_tick;
    options.pool.tick_arg = &run->tables;
    const struct pool_task task = {&options.spec, run->source, &run->tally};
    const int rc = pool_run(&options.pool, &task, &run->outcome, &error);
    progress_end(&run->tables.progress);
    if (rc != 0)
        main_leave(main_failed(&error));
    main_remark(&options, run->source, &run->tally, &run->remarks);
    source_close(run->source);
    if (options.part.of > 0 && main_record_shard(&shard, &record) != 0)
        main_leave(main_no_memory());
}

/* Prints tables and messages. The exit status. */
static int report(struct counting *run)
{
    const int status = main_tables_print(&run->tables, &run->tally);
    main_print_engines(&run->outcome, options.verbosity);
    main_print_remarks(&options, &run->remarks);
    if (options.pool.timing)
        main_print_timing(&run->outcome);
    return status;
}

static int count(void)
{
    struct counting run = {.source = NULL};
    int status = open_run(&run);
    if (status != STATUS_COUNTED)
        return status;
    count_input(&run);
    status = report(&run);
    /* Without CUDA's tear-down, which takes 100 ms, and longer while CUDA is still starting. */
    if (run.outcome.gpu_opened || signals_interrupted())
        main_leave(status);
    main_tables_close(&run.tables, &run.tally);
    shard_close(&shard);
    shard_record_free(&record);
    for (struct options *at = &options; at; at = at->also) {
        line_filter_close(&at->spec.lines.filter);
        line_format_close(&at->line);
    }
    return status;
}

/* --- a run on tables --- */

/* Opens output and files, and enters the sandbox. The exit status. */
static int show_tables(main_show *show)
{
    static char standard_input[] = "-";
    static char *const only[] = {standard_input};
    const bool has_operands = options.operand_count > 0;
    struct preopened_list files;
    struct error error;
    if (output_prepare(&output, options.output, &error) != 0 ||
        (options.action == ACTION_DIFF && check_inputs_stay(&error) != 0)) /* no sum of them */
        return main_failed(&error);
    if (preopened_list_open(&files, has_operands ? options.operands : only,
                            has_operands ? options.operand_count : 1) != 0)
        return main_no_memory();
    const int status = main_enter_sandbox(&options, &output, NULL, &files) != 0
                           ? STATUS_FAILED
                           : show(&options, &output, &files);
    preopened_list_close(&files);
    return status;
}

/* --- the process --- */

/* Gives closed standard descriptors a file. The next file that is opened would get their number,
 * and the table could be written there. Opened for the wrong direction, their use stays an error
 * (EBADF). */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Sets up malloc. Large buffers, such as zstd's windows, go back to the system when they are freed,
 * whichever thread had them: otherwise glibc raises the threshold with each one and keeps them for
 * each thread. Threads share one arena: each of their own would take 64 MiB of address space, and
 * nothing here allocates often enough for them to wait for each other. */
static void set_up_malloc(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

/* Raises the limit on the stack if it is too low. 0, or -1 with the error set. */
static int check_stack(struct error *error)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_MIN)
        return 0;
    const unsigned long kib = (unsigned long)(limit.rlim_cur >> 10);
    limit.rlim_cur = STACK_MIN;
    if (limit.rlim_max >= STACK_MIN && setrlimit(RLIMIT_STACK, &limit) == 0)
        return 0;
    return error_set(error,
                     "the stack is limited to %lu KiB, and %d KiB are needed; use 'ulimit -s %d'",
                     kib, STACK_MIN >> 10, STACK_MIN >> 10);
}

/* Does what the options ask for. The exit status. */
static int act(void)
{
    switch (options.action) {
    case ACTION_COUNT:
        return count();
    case ACTION_DIFF:
        return show_tables(main_diff);
    case ACTION_MERGE:
        return show_tables(main_merge);
    default:
        return main_print_text(&options, &output);
    }
}

int main(int argc, char **argv)
{
    struct error error;
    progress_catch_signals();
    if (check_stack(&error) != 0)
        return main_failed(&error);
    set_up_malloc();
    hold_standard_descriptors();
    const int rc = options_parse(argc, argv, &options, &error);
    if (rc != 0) {
        diag("%s", error.text);
        return rc == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE;
    }
    const int status = act();
    signals_remove_now(); /* the output of a run that failed */
    return status;
}
