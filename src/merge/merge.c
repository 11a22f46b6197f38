/* SPDX-License-Identifier: MIT */
/* Tables, and files of tables side by side, added up. */
#include "parsed_table.h"
#include "src/base/preopened.h"
#include "src/tally/key_tallies.h"

#include "src/base/system.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MERGE_OVERFLOW "the total exceeds 2^64"
#define ROW_BYTES 100                  /* of memory, for each row of a thread's tables */
#define MEMORY_MAX ((size_t)256 << 20) /* of all threads, unless one alone needs more */

/* Returns the first word that the other list has not, or NULL. */
static const char *word_of_one(const struct words *words, const struct words *other)
{
    for (size_t i = 0; i < words->count; i++) {
        size_t k = 0;
        while (k < other->count && strcmp(words->list[i], other->list[k]) != 0)
            k++;
        if (k == other->count)
            return words->list[i];
    }
    return NULL;
}

void merge_show_difference(struct error *error, const struct words *options, const char *first,
                           const struct words *first_options)
{
    const char *here = word_of_one(options, first_options);
    const char *there = word_of_one(first_options, options);
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(first, shown);
    if (here || there)
        error_set(error, "was counted with%s %.200s, but %s with%s %.200s", here ? "" : "out",
                  here ? here : there, shown, there ? "" : "out", there ? there : here);
    else
        error_set(error, "was counted with the options of %s in another order", shown);
    error_make_printable(error);
}

struct words *merge_options(struct merge *merge)
{
    return merge->others.tables > 0 ? &merge->first.sorted.bins : &merge->first.options;
}

/* Gives the tally blocks, for numbers by key: each key has few of their rows. */
static void begin_blocks(struct merge *merge)
{
    if (!merge->keys || !merge->spec.mode->is_binned)
        return;
    row_blocks_clear(&merge->blocks, merge->tally.bins);
    merge->tally.blocks = &merge->blocks;
}

/* Makes the sum one of the first table's bins. 0, or -1 with an error. */
static int begin(struct merge *merge, const struct parsed_table *table, const char *name,
                 struct error *error)
{
    const struct words *options = &table->options;
    if (words_copy(&merge->first.options, options) != 0)
        goto no_memory;
    if (merge->form.build(options, &merge->spec, merge->form.run, error) != 0 ||
        merge->form.sort(options, &merge->first.sorted, error) != 0)
        return -1;
    if (merge->spec.mode->has_characters && merge->form.has_moments)
        return error_set(
            error, "--stats of characters needs the number of bytes, which tables do not hold");
    if (merge->form.is_cumulative && !merge->spec.binning.is_right)
        return error_set(
            error, "was counted without --right; --format=prometheus needs --right and --stats");
    if (merge->form.is_cumulative && histogram_spec_channels(&merge->spec) > 1)
        return error_set(error, "has several channels, which --format=prometheus cannot show");
    const bool has_order = merge->form.has_order && merge->spec.lines.key_count > 0;
    merge->spec.has_moments =
        ((merge->form.has_moments || has_order) && merge->spec.mode->is_binned) ||
        merge->form.is_cumulative;
    merge->first.name = name;
    if (tally_open(&merge->tally, &merge->spec) != 0)
        goto no_memory;
    if (merge->spec.lines.key_count > 0)
        merge->keys =
            key_tallies_open(&merge->spec, merge->form.max_keys, merge->form.max_key_bytes);
    begin_blocks(merge);
    if (merge->keys || merge->spec.lines.key_count == 0)
        return 0;
no_memory:
    error_set(error, "out of memory");
    return -1;
}

/* Accepts a table whose options are not those of the first one, if its bins are the same. Shards
 * are of one job, which has one command line. 0, or -1 with an error. */
static int accept_other(struct merge *merge, const struct parsed_table *table, const char *name,
                        struct error *error)
{
    const struct table_words *first = &merge->first.sorted;
    const bool is_shard = table->has & HAS_SHARE;
    struct merge_others *others = &merge->others;
    struct table_words sorted;
    if (merge->form.sort(&table->options, &sorted, error) != 0)
        return -1;
    const bool are_same = words_same(&first->bins, &sorted.bins);
    if (!are_same || is_shard) {
        merge_show_difference(error, are_same ? &sorted.sources : &sorted.bins, merge->first.name,
                              are_same ? &first->sources : &first->bins);
    } else if (others->tables++ == 0) {
        others->file = merge->file;
        merge_show_difference(&others->how, &sorted.sources, merge->first.name, &first->sources);
        error_begin(&others->how, name);
    }
    table_words_free(&sorted);
    return are_same && !is_shard ? 0 : -1;
}

/* Checks a table's options: those that say where samples came from may differ from file to file.
 * Tables in one file, which may be of one input, have the same. 0, or -1 with an error. */
static int check_options(struct merge *merge, const struct parsed_table *table, const char *name,
                         struct error *error)
{
    const struct words *options = &table->options;
    if (merge->last.name == name && !words_same(&merge->last.options, options)) {
        struct error how;
        merge_show_difference(&how, options, name, &merge->last.options);
        return error_set(error, "%s; merge the tables of one histogram at a time", how.text);
    }
    return words_same(&merge->first.options, options) ? 0 : accept_other(merge, table, name, error);
}

/* Checks that mode and type are those of the options. 0, or -1 with an error. */
static int check_mode(const struct merge *merge, const struct parsed_table *table,
                      struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    const char *type = spec->mode->has_types ? spec->type.name : "";
    if (strcmp(table_text(table, table->mode), spec->mode->name) == 0 &&
        strcmp(table_text(table, table->type), type) == 0)
        return 0;
    return error_set(error, "\"mode\" and \"type\" do not match \"options\"");
}

static int add_shard(struct merge *merge, struct parsed_table *table, const char *name,
                     struct error *error)
{
    const bool is_shard = table->has & HAS_SHARE;
    if (merge->keys && table->table > 1) /* which the first one of a result tells */
        return is_shard ? error_set(error, "has \"share\", as only the first table has") : 0;
    char first[ERROR_SUBJECT_MAX];
    const bool is_first = merge->tables == 0 && !merge->is_fork;
    if (!is_first && is_shard != (merge->shards.first != NULL)) {
        error_show_subject(merge->first.name, first);
        return error_set(error, "is %s share (--part), but %s is %s", is_shard ? "a" : "not a",
                         first, is_shard ? "not" : "one");
    }
    return is_shard ? shard_join_add(&merge->shards, &table->shard, name, error) : 0;
}

/* Adds a table that was checked. */
static void add_checked(struct merge *merge, const struct parsed_table *table,
                        const struct moments *moments)
{
    struct tally *tally = &merge->tally;
    const uint64_t samples = tally->samples + table->totals.total;
    if (!merge->keys || tally->blocks)
        table_rows_add(table, &merge->spec, moments, tally);
    if (merge->keys) {
        tally->samples = table->totals.total;
        table_keys_add(table, tally, merge->keys);
    }
    if (tally->blocks)
        tally_clear_blocks(tally);
    tally->samples = samples;
}

/* Checks rows and moments, and adds them. 0, or -1 with an error. */
static int add_rows(struct merge *merge, struct parsed_table *table, struct error *error)
{
    const struct histogram_spec *spec = &merge->spec;
    const bool is_lines = merge->keys && !spec->mode->is_binned;
    struct moments *moments = calloc(histogram_spec_channels(spec), sizeof *moments);
    int rc = -1;
    if (!moments) {
        error_set(error, "out of memory");
    } else if (is_lines || table_rows_check(table, spec, &merge->seen, moments, error) == 0) {
        if (__builtin_add_overflow(merge->total, table->totals.total, &merge->total)) {
            error_set(error, MERGE_OVERFLOW);
        } else {
            add_checked(merge, table, moments);
            rc = 0;
        }
    }
    free(moments);
    return rc;
}

/* Ends a file. 0; or -1 with an error, without the name, if it ends between two tables of a
 * result. */
static int end_file(struct merge *merge, const char *name, struct error *error)
{
    const struct merge_last *last = &merge->last;
    if (!merge->tally.blocks || last->name != name || last->table == last->tables)
        return 0;
    return error_set(error,
                     "ends after table %" PRIu64 " of %" PRIu64 " of a result: it is truncated",
                     last->table, last->tables);
}

/* Checks that a table of numbers by key follows the one before it in its file. 0, or -1 with an
 * error. */
static int check_position(const struct merge *merge, const struct parsed_table *table,
                          const char *name, struct error *error)
{
    const bool is_open = merge->last.name == name && merge->last.table < merge->last.tables;
    const uint64_t next = is_open ? merge->last.table + 1 : 1;
    if (!merge->tally.blocks ||
        (table->table == next && (!is_open || table->tables == merge->last.tables)))
        return 0;
    return error_set(error,
                     "is table %" PRIu64 " of %" PRIu64 " of a result, and does not follow the "
                     "one before it; give --merge all tables of a result, in their order",
                     table->table, table->tables);
}

int merge_add(struct merge *merge, struct parsed_table *table, const char *name,
              struct error *error)
{
    if (!(table->has & HAS_OPTIONS))
        return error_set(error, "has no \"options\", which say how it was counted");
    if ((!merge->first.name && begin(merge, table, name, error) != 0) ||
        check_options(merge, table, name, error) != 0 || check_mode(merge, table, error) != 0 ||
        table_keys_check(table, &merge->spec, error) != 0 ||
        check_position(merge, table, name, error) != 0 || add_rows(merge, table, error) != 0 ||
        add_shard(merge, table, name, error) != 0)
        return -1;
    merge->tables++;
    merge->last.name = name;
    merge->last.table = table->table;
    merge->last.tables = table->tables;
    const struct words last = merge->last.options;
    merge->last.options = table->options;
    table->options = last; /* freed with the table */
    return 0;
}

/* Begins *fork, the part of the sum that one thread adds up. `merge` has the first table, and stays
 * as it is until join_fork. 0; or -1 if memory is short, and nothing to free. */
static int begin_fork(const struct merge *merge, struct merge *fork)
{
    *fork = *merge;
    fork->is_fork = true;
    fork->total = fork->tables = 0;
    fork->last = (struct merge_last){.name = NULL};
    fork->others = (struct merge_others){.tables = 0};
    fork->seen = (struct seen_rows){.base = &merge->seen};
    fork->shards = (struct shard_join){.first = merge->shards.first, .job = merge->shards.job};
    const int rc = tally_open(&fork->tally, &fork->spec);
    if (rc == 0)
        begin_blocks(fork);
    return rc;
}

/* Frees a fork without adding it. */
static void free_fork(struct merge *fork)
{
    tally_close(&fork->tally);
    words_free(&fork->last.options);
    seen_rows_free(&fork->seen);
    shard_join_free(&fork->shards);
}

/* Adds *fork, whose total and that of *merge together are below 2^64, and frees it. 0; or -1 if
 * memory is short. */
static int join_fork(struct merge *merge, struct merge *fork)
{
    const int rc = shard_join_move(&merge->shards, &fork->shards);
    tally_add(&merge->tally, &fork->tally);
    merge->total = merge->tally.samples;
    merge->tables += fork->tables;
    const uint64_t others = merge->others.tables + fork->others.tables;
    if (fork->others.tables > 0 &&
        (merge->others.tables == 0 || fork->others.file < merge->others.file))
        merge->others = fork->others;
    merge->others.tables = others;
    free_fork(fork);
    return rc;
}

void merge_free(struct merge *merge)
{
    free_fork(merge);
    key_tallies_close(merge->keys);
    merge->keys = NULL;
    binning_free(&merge->spec.binning);
    words_free(&merge->first.options);
    table_words_free(&merge->first.sorted);
    merge->first.name = NULL;
}

/* --- a file --- */

/* Reads a file, as a struct json_input does. */
static ssize_t read_piece(void *arg, unsigned char *to, size_t size)
{
    const int *fd = arg;
    for (;;) {
        const ssize_t len = read(*fd, to, size);
        struct pollfd ready = {.fd = *fd, .events = POLLIN};
        if (len >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return len;
        if (errno != EINTR)
            poll(&ready, 1, -1);
    }
}

static int add_tables(struct table_reader *reader, const char *name, struct merge *merge,
                      struct error *error)
{
    int rc;
    while ((rc = table_reader_next(reader, merge, error)) > 0)
        if (merge_add(merge, &reader->table, name, error) != 0)
            return -1;
    return rc == 0 ? end_file(merge, name, error) : rc;
}

/* Adds the tables of a file as merge_file, by a reader that may have read other files. */
static int add_file(struct table_reader *reader, struct preopened *preopened, struct merge *merge,
                    struct error *error)
{
    const bool is_standard = strcmp(preopened->name, "-") == 0;
    const char *name = is_standard ? "standard input" : preopened->name;
    int fd = is_standard ? STDIN_FILENO : preopened_open(preopened), rc = -1;
    reader->input.read = read_piece;
    reader->input.arg = &fd;
    if (fd < 0)
        error_set(error, "%s", strerror(errno));
    else if (table_reader_begin(reader) != 0)
        error_set(error, "out of memory");
    else
        rc = add_tables(reader, name, merge, error);
    if (rc != 0) {
        error_begin(error, name);
        error_make_printable(error);
    }
    if (!is_standard && fd >= 0)
        close(fd);
    return rc;
}

int merge_file(struct preopened *file, struct merge *merge, struct error *error)
{
    struct table_reader reader = {.tables = 0};
    const int rc = add_file(&reader, file, merge, error);
    table_reader_free(&reader);
    return rc;
}

/* --- a thread --- */

/* The state that threads share. */
struct merging {
    const struct preopened_list *files;
    struct merge *forks; /* one for each thread */
    uint64_t *totals;    /* of each file, up to its first table that is refused */

    pthread_mutex_t lock; /* guards what follows */
    size_t next;          /* the file that is read next */
    size_t failed;        /* the first one that was refused; files->count: none */
    struct error error;   /* why it was */
};

/* Adds files to a fork, until there are no more or one is refused. As files are given out in order,
 * all before one that failed are read to their ends. */
static void run_thread(void *arg, size_t thread)
{
    struct merging *all = arg;
    struct merge *fork = &all->forks[thread];
    struct table_reader reader = {.tables = 0};
    struct error error;
    int rc = 0;
    while (rc == 0) {
        pthread_mutex_lock(&all->lock);
        const size_t file = all->next < all->failed ? all->next++ : SIZE_MAX;
        pthread_mutex_unlock(&all->lock);
        if (file == SIZE_MAX)
            break;
        fork->total = 0;
        fork->file = file;
        fork->shards.order = (uint64_t)file << 32; /* before those of all later files */
        rc = add_file(&reader, &all->files->list[file], fork, &error);
        all->totals[file] = fork->total;
        pthread_mutex_lock(&all->lock);
        if (rc != 0 && file < all->failed) {
            all->failed = file;
            all->error = error;
        }
        pthread_mutex_unlock(&all->lock);
    }
    table_reader_free(&reader);
}

/* Reads all files but the first, on several threads. 0, or -1 with an error. */
static int merge_rest(const struct preopened_list *files, unsigned threads, struct merge *merge,
                      struct error *error)
{
    struct merging all = {.files = files,
                          .forks = calloc(threads, sizeof *all.forks),
                          .totals = calloc(files->count, sizeof *all.totals),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .next = 1,
                          .failed = files->count,
                          .error = {"out of memory"}};
    unsigned forks = 0;
    while (all.forks && all.totals && forks < threads && begin_fork(merge, &all.forks[forks]) == 0)
        forks++;
    parallel_loop(forks, forks, run_thread, &all);
    /* The first file with which the total exceeds 2^64: threads only see that of each. */
    uint64_t total = merge->total;
    for (size_t file = 1; file < all.next && file <= all.failed; file++)
        if (__builtin_add_overflow(total, all.totals[file], &total)) {
            all.failed = file;
            error_of(&all.error, files->list[file].name, MERGE_OVERFLOW);
            break;
        }
    int rc = forks > 0 && all.failed == files->count ? 0 : -1;
    for (unsigned i = 0; i < forks; i++)
        if (rc != 0)
            free_fork(&all.forks[i]);
        else
            rc = join_fork(merge, &all.forks[i]);
    if (rc != 0)
        *error = all.error;
    free(all.forks);
    free(all.totals);
    return rc;
}

/* --- all files --- */

int merge_files(const struct preopened_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct error *error)
{
    const size_t count = files->count;
    struct table_reader reader = {.tables = 0};
    /* The first table tells the bins. */
    int rc = add_file(&reader, &files->list[0], merge, error);
    if (rc == 0 && count > 1) {
        bool are_regular = true; /* none is a pipe, which might be written only after the one before
                                  * it was read */
        uint64_t bytes = 0, largest = 0;
        for (size_t i = 1; i < count; i++) {
            const struct preopened *file = &files->list[i];
            are_regular &= file->is_regular && strcmp(file->name, "-") != 0;
            bytes += file->size;
            largest = file->size > largest ? file->size : largest;
        }
        /* As many as have memory for their tables, and files to read. A table of lines by key takes
         * up to four times its text. */
        const bool is_lines = merge->keys && !merge->spec.mode->is_binned;
        uint64_t max =
            is_lines ? MEMORY_MAX / 4 / (largest + 1) : MEMORY_MAX / ROW_BYTES / merge->spec.bins;
        max = count - 1 < max ? count - 1 : max;
        if (thread_bytes > 0 && bytes / thread_bytes < max)
            max = bytes / thread_bytes;
        threads = max < threads ? (unsigned)max : threads;
        if (threads > 1 && are_regular) {
            table_reader_free(&reader);
            return merge_rest(files, threads, merge, error);
        }
    }
    for (size_t i = 1; i < count && rc == 0; i++)
        rc = add_file(&reader, &files->list[i], merge, error);
    table_reader_free(&reader);
    return rc;
}
