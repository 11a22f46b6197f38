/* SPDX-License-Identifier: MIT */
#include "merge_files.h"
#include "table_file.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES 100                  /* of memory, for each row of a thread's tables */
#define MEMORY_MAX ((size_t)256 << 20) /* of all threads, unless one alone needs more */

/* What threads share. */
struct merging {
    const struct held_list *files;
    uint64_t *totals; /* of each file, up to its first table that is refused */

    pthread_mutex_t lock; /* guards what follows */
    size_t next;          /* the file that is read next */
    size_t failed;        /* the first one that was refused; files->count: none */
    struct reason why;    /* why it was */
};

struct merging_thread {
    pthread_t id;
    struct merging *all;
    struct merge fork;
};

/* --- a thread --- */

/* Returns the next file, or SIZE_MAX: no more are needed. As they are given out in order, all
 * before one that failed are read to their ends. */
static size_t next_file(struct merging *all)
{
    pthread_mutex_lock(&all->lock);
    const size_t file = all->next < all->failed ? all->next++ : SIZE_MAX;
    pthread_mutex_unlock(&all->lock);
    return file;
}

static void fail(struct merging *all, size_t file, const struct reason *why)
{
    pthread_mutex_lock(&all->lock);
    if (file < all->failed) {
        all->failed = file;
        all->why = *why;
    }
    pthread_mutex_unlock(&all->lock);
}

/* Adds files to the thread's fork, until there are no more or one is refused. */
static void *run_thread(void *arg)
{
    struct merging_thread *thread = arg;
    struct merging *all = thread->all;
    struct merge *fork = &thread->fork;
    struct read_table table = {.text = NULL};
    struct reason why;
    int rc = 0;
    for (size_t file; rc == 0 && (file = next_file(all)) != SIZE_MAX;) {
        fork->total = 0;
        fork->file = file;
        fork->shards.order = (uint64_t)file << 32; /* before those of all later files */
        rc = table_file_add(&all->files->list[file], &table, fork, &why);
        all->totals[file] = fork->total;
        if (rc != 0)
            fail(all, file, &why);
    }
    read_table_free(&table);
    return NULL;
}

/* --- all threads --- */

/* Starts as many threads as can be started, and is one of them. Returns how many there were. */
static unsigned run_threads(struct merging *all, const struct merge *merge,
                            struct merging_thread *threads, unsigned count)
{
    unsigned ready = 0, started = 0;
    for (; ready < count && merge_fork(merge, &threads[ready].fork) == 0; ready++)
        threads[ready].all = all;
    for (unsigned i = 1; i < ready; i++, started++)
        if (pthread_create(&threads[i].id, NULL, run_thread, &threads[i]) != 0)
            break;
    if (ready > 0)
        run_thread(&threads[0]);
    for (unsigned i = 1; i <= started; i++)
        pthread_join(threads[i].id, NULL);
    return ready;
}

/* Finds the first file with which the total exceeds 2^64: threads only see that of each. */
static void check_total(struct merging *all, uint64_t total)
{
    for (size_t file = 1; file < all->next; file++)
        if (__builtin_add_overflow(total, all->totals[file], &total) && file <= all->failed) {
            all->failed = file;
            reason_of(&all->why, all->files->list[file].name, MERGE_OVERFLOW);
            return;
        }
}

/* Adds up what threads have, or frees it. 0, or -1 with a reason. */
static int join_threads(struct merging *all, struct merge *merge, struct merging_thread *threads,
                        unsigned count, struct reason *why)
{
    int rc = 0;
    check_total(all, merge->total);
    const bool is_good = count > 0 && all->failed == all->files->count;
    for (unsigned i = 0; i < count; i++) {
        if (is_good && rc == 0)
            rc = merge_join(merge, &threads[i].fork);
        else
            merge_free_fork(&threads[i].fork);
    }
    if (is_good && rc == 0)
        return 0;
    if (all->failed < all->files->count)
        *why = all->why;
    else
        reason_set(why, "out of memory");
    return -1;
}

/* Reads all files but the first, on several threads. */
static int merge_rest(const struct held_list *files, unsigned thread_count, struct merge *merge,
                      struct reason *why)
{
    struct merging all = {.files = files,
                          .totals = calloc(files->count, sizeof *all.totals),
                          .lock = PTHREAD_MUTEX_INITIALIZER,
                          .next = 1,
                          .failed = files->count};
    struct merging_thread *threads = calloc(thread_count, sizeof *threads);
    unsigned ready = 0;
    if (all.totals && threads)
        ready = run_threads(&all, merge, threads, thread_count);
    const int rc = join_threads(&all, merge, threads, ready, why);
    free(threads);
    free(all.totals);
    return rc;
}

/* --- how many threads --- */

/* What there is to read after the first file. */
struct rest {
    size_t files;
    uint64_t bytes, largest; /* of all, and of one file */
    bool are_regular;        /* none is a pipe, which might be written only after the one before it
                              * was read */
};

static struct rest rest_of(const struct held_list *files)
{
    struct rest rest = {.files = files->count - 1, .are_regular = true};
    for (size_t i = 1; i < files->count; i++) {
        const struct held *file = &files->list[i];
        rest.are_regular &= file->is_regular && strcmp(file->name, "-") != 0;
        rest.bytes += file->size;
        rest.largest = file->size > rest.largest ? file->size : rest.largest;
    }
    return rest;
}

/* Returns how many threads have memory for their tables, and files to read. A table of lines by key
 * takes up to four times its text. */
static unsigned limit_threads(unsigned threads, const struct rest *rest, const struct merge *merge)
{
    const size_t bins = merge->histogram.bins;
    const bool is_lines = merge->keys && !merge->histogram.mode->is_binned;
    uint64_t most = is_lines ? MEMORY_MAX / 4 / (rest->largest + 1) : MEMORY_MAX / ROW_BYTES / bins;
    most = rest->files < most ? rest->files : most;
    return most < threads ? (unsigned)most : threads;
}

int merge_files(const struct held_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct reason *why)
{
    const size_t count = files->count;
    struct read_table table = {.text = NULL};
    /* The first table tells the bins. */
    int rc = table_file_add(&files->list[0], &table, merge, why);
    if (rc == 0 && count > 1) {
        const struct rest rest = rest_of(files);
        merge_know_rows(merge, rest.bytes);
        threads = limit_threads(threads, &rest, merge);
        if (thread_bytes > 0 && rest.bytes / thread_bytes < threads)
            threads = (unsigned)(rest.bytes / thread_bytes);
        if (threads > 1 && rest.are_regular) {
            read_table_free(&table);
            return merge_rest(files, threads, merge, why);
        }
    }
    for (size_t i = 1; i < count && rc == 0; i++)
        rc = table_file_add(&files->list[i], &table, merge, why);
    read_table_free(&table);
    return rc;
}
