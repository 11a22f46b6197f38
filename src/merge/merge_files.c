/* SPDX-License-Identifier: MIT */
/* Files of tables, added up side by side. */
#include "parsed_table.h"

#include "src/base/system.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROW_BYTES 100                  /* of memory, for each row of a thread's tables */
#define MEMORY_MAX ((size_t)256 << 20) /* of all threads, unless one alone needs more */

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
    return rc == 0 ? merge_end_file(merge, name, error) : rc;
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

/* Returns the next file, or SIZE_MAX: no more are needed. As they are given out in order, all
 * before one that failed are read to their ends. */
static size_t next_file(struct merging *all)
{
    pthread_mutex_lock(&all->lock);
    const size_t file = all->next < all->failed ? all->next++ : SIZE_MAX;
    pthread_mutex_unlock(&all->lock);
    return file;
}

static void fail(struct merging *all, size_t file, const struct error *error)
{
    pthread_mutex_lock(&all->lock);
    if (file < all->failed) {
        all->failed = file;
        all->error = *error;
    }
    pthread_mutex_unlock(&all->lock);
}

/* Adds files to a fork, until there are no more or one is refused. */
static void run_thread(void *arg, size_t thread)
{
    struct merging *all = arg;
    struct merge *fork = &all->forks[thread];
    struct table_reader reader = {.tables = 0};
    struct error error;
    int rc = 0;
    for (size_t file; rc == 0 && (file = next_file(all)) != SIZE_MAX;) {
        fork->total = 0;
        fork->file = file;
        fork->shards.order = (uint64_t)file << 32; /* before those of all later files */
        rc = add_file(&reader, &all->files->list[file], fork, &error);
        all->totals[file] = fork->total;
        if (rc != 0)
            fail(all, file, &error);
    }
    table_reader_free(&reader);
}

/* Finds the first file with which the total exceeds 2^64: threads only see that of each. */
static void check_total(struct merging *all, uint64_t total)
{
    for (size_t file = 1; file < all->next; file++)
        if (__builtin_add_overflow(total, all->totals[file], &total) && file <= all->failed) {
            all->failed = file;
            error_of(&all->error, all->files->list[file].name, MERGE_OVERFLOW);
            return;
        }
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
    while (all.forks && all.totals && forks < threads && merge_fork(merge, &all.forks[forks]) == 0)
        forks++;
    parallel_loop(forks, forks, run_thread, &all);
    check_total(&all, merge->total);
    int rc = forks > 0 && all.failed == files->count ? 0 : -1;
    for (unsigned i = 0; i < forks; i++)
        if (rc != 0)
            merge_free_fork(&all.forks[i]);
        else
            rc = merge_join(merge, &all.forks[i]);
    if (rc != 0)
        *error = all.error;
    free(all.forks);
    free(all.totals);
    return rc;
}

/* --- how many threads --- */

/* The input after the first file. */
struct rest {
    size_t files;
    uint64_t bytes, largest; /* of all, and of one file */
    bool are_regular;        /* none is a pipe, which might be written only after the one before it
                              * was read */
};

static struct rest rest_of(const struct preopened_list *files)
{
    struct rest rest = {.files = files->count - 1, .are_regular = true};
    for (size_t i = 1; i < files->count; i++) {
        const struct preopened *file = &files->list[i];
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
    const size_t bins = merge->spec.bins;
    const bool is_lines = merge->keys && !merge->spec.mode->is_binned;
    uint64_t max = is_lines ? MEMORY_MAX / 4 / (rest->largest + 1) : MEMORY_MAX / ROW_BYTES / bins;
    max = rest->files < max ? rest->files : max;
    return max < threads ? (unsigned)max : threads;
}

int merge_files(const struct preopened_list *files, unsigned threads, uint64_t thread_bytes,
                struct merge *merge, struct error *error)
{
    const size_t count = files->count;
    struct table_reader reader = {.tables = 0};
    /* The first table tells the bins. */
    int rc = add_file(&reader, &files->list[0], merge, error);
    if (rc == 0 && count > 1) {
        const struct rest rest = rest_of(files);
        threads = limit_threads(threads, &rest, merge);
        if (thread_bytes > 0 && rest.bytes / thread_bytes < threads)
            threads = (unsigned)(rest.bytes / thread_bytes);
        if (threads > 1 && rest.are_regular) {
            table_reader_free(&reader);
            return merge_rest(files, threads, merge, error);
        }
    }
    for (size_t i = 1; i < count && rc == 0; i++)
        rc = add_file(&reader, &files->list[i], merge, error);
    table_reader_free(&reader);
    return rc;
}
