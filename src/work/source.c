/* SPDX-License-Identifier: MIT */
/* All files of a run: which are open, which is read, and what went wrong. */
#include "worker.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* --- what went wrong --- */

static bool is_before(const struct source_offset *a, const struct source_offset *b)
{
    return a->file != b->file ? a->file < b->file : a->byte < b->byte;
}

void source_add_worker(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->next = source->workers;
    source->workers = worker;
    pthread_mutex_unlock(&source->lock);
}

void source_remove_worker(struct worker *worker)
{
    struct source *source = worker->source;
    struct worker **link = &source->workers;
    pthread_mutex_lock(&source->lock);
    while (*link != worker)
        link = &(*link)->next;
    *link = worker->next;
    pthread_mutex_unlock(&source->lock);
}

/* Returns where that begins which is to be read next. Under the read lock. */
static struct source_offset next_offset(const struct source *source)
{
    const struct file *file = source->current;
    if (!file)
        return (struct source_offset){source->opened, 0};
    const struct input *input = &file->input;
    return (struct source_offset){file->order, input->frames.codec ? input->frames.pending.offset
                                                                   : input->bytes.taken};
}

/* The worker is at work on what begins there. False: the run has failed before that. */
static bool begin_work(struct worker *worker, const struct source_offset *begin)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->begin = *begin;
    worker->is_at_work = !source->failed || is_before(begin, &source->failure);
    const bool is_at_work = worker->is_at_work;
    pthread_mutex_unlock(&source->lock);
    return is_at_work;
}

bool source_begin_work(struct worker *worker)
{
    const struct source_offset next = next_offset(worker->source);
    return begin_work(worker, &next);
}

bool source_begin_work_at(struct worker *worker, const struct file *file, uint64_t byte)
{
    const struct source_offset begin = {file->order, byte};
    return begin_work(worker, &begin);
}

static int fail_at(struct source *source, const struct source_offset *at, const struct error *error)
{
    pthread_mutex_lock(&source->lock);
    if (!source->failed || is_before(at, &source->failure)) {
        source->failure = *at;
        source->error = *error;
    }
    source->failed = true;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
    return -1;
}

int source_fail(struct worker *worker, const struct error *error)
{
    return fail_at(worker->source, &worker->begin, error);
}

int source_fail_of(struct worker *worker, const struct file *file, const char *fault)
{
    struct error error;
    error_of(&error, file->input.bytes.name, "%s", fault);
    return source_fail(worker, &error);
}

int source_fail_for_memory(struct worker *worker, const struct file *file)
{
    return source_fail_of(worker, file, "out of memory");
}

int source_fail_truncated(struct worker *worker, const struct file *file, uint64_t end)
{
    struct error error;
    error_of(&error, file->input.bytes.name, "truncated %s data, at byte %" PRIu64,
             file->input.frames.codec->name, end);
    return source_fail(worker, &error);
}

int source_fail_at_end(struct worker *worker, const struct file *file, const struct error *error)
{
    return fail_at(worker->source, &(struct source_offset){file->order, UINT64_MAX}, error);
}

bool source_has_failed(struct worker *worker)
{
    struct source *source = worker->source;
    if (!atomic_load(&source->failed))
        return false;
    pthread_mutex_lock(&source->lock);
    const bool is_before_failure = is_before(&worker->begin, &source->failure);
    pthread_mutex_unlock(&source->lock);
    return !is_before_failure;
}

/* Returns the link to the first of the files that are parked. Under the lock. */
static struct file **first_parked(struct source *source)
{
    struct file **first = &source->parked;
    for (struct file **link = first; *link; link = &(*link)->next)
        if ((*link)->order < (*first)->order)
            first = link;
    return first;
}

/* True if files are to be read on that come before the failure. Under the lock. */
static bool has_more_before(struct source *source)
{
    const size_t failed = source->failure.file;
    const struct file *current = source->current, *parked = *first_parked(source);
    for (const struct file *file = source->in_pieces; file; file = file->next)
        if (file->order < failed)
            return true;
    return (current && current->order < failed) || (parked && parked->order < failed);
}

bool source_end_work(struct worker *worker)
{
    struct source *source = worker->source;
    pthread_mutex_lock(&source->lock);
    worker->is_at_work = false;
    const bool goes_on = !source->failed || has_more_before(source);
    pthread_mutex_unlock(&source->lock);
    return goes_on;
}

const char *source_error(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    const bool has_failed = source->failed, is_last = !source->workers;
    bool is_first = !has_more_before(source);
    for (const struct worker *worker = source->workers; worker; worker = worker->next)
        is_first &= !worker->is_at_work || is_before(&source->failure, &worker->begin);
    pthread_mutex_unlock(&source->lock);
    if (!has_failed)
        return NULL;
    return is_last || (is_first && !work_queue_has_handed_off(&source->queue)) ? source->error.text
                                                                               : NULL;
}

/* --- opening it --- */

struct source *source_open(char *const *operands, size_t count, const struct input_options *options)
{
    struct source *source = calloc(1, sizeof *source);
    struct operand *all = calloc(count ? count : 1, sizeof *all);
    if (!source || !all) {
        free(source);
        free(all);
        return NULL;
    }
    source->operands = all;
    source->options = *options;
    operands_peek(source, operands, count);
    source->memory.limit = DECODE_MEMORY;
    pthread_mutex_init(&source->read_lock, NULL);
    pthread_mutex_init(&source->lock, NULL);
    work_queue_open(&source->queue);
    return source;
}

/* --- files --- */

void source_set_current(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    source->current = file;
    source->changes++;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

void source_use(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    file->users++;
    pthread_mutex_unlock(&source->lock);
}

void source_leave(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    bool last = --file->users == 0;
    pthread_mutex_unlock(&source->lock);
    if (!last)
        return;
    input_close(&file->input);
    record_joiner_close(&file->joiner);
    free(file);
    decode_memory_close_file(source);
}

void source_add_one_line(struct source *source, const struct file *file)
{
    struct one_line *seen = &source->one_line;
    pthread_mutex_lock(&source->lock);
    if (seen->count++ == 0 || file->at.file < seen->number) {
        seen->name = file->input.bytes.name;
        seen->number = file->at.file;
    }
    pthread_mutex_unlock(&source->lock);
}

int source_retire(struct worker *worker, struct file *file)
{
    struct source *source = worker->source;
    struct error error;
    if (file->input.is_one_line)
        source_add_one_line(source, file);
    int rc = input_check_end(&file->input, &error);
    if (rc != 0)
        source_fail_at_end(worker, file, &error);
    else
        bytes_finish(&file->input.bytes);
    source_leave(source, file);
    return rc;
}

void source_park(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    file->next = source->parked;
    source->parked = file;
    pthread_mutex_unlock(&source->lock);
    work_queue_wake_all(&source->queue);
}

/* Makes the first file that is parked the current one if there is none; or, after a failure, if it
 * comes before that one. */
static void acquire_parked(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    struct file **first = first_parked(source), *parked = *first, *current = source->current;
    const bool takes = parked && (!current || (source->failed && parked->order < current->order));
    if (takes)
        *first = parked->next;
    pthread_mutex_unlock(&source->lock);
    if (!takes)
        return;
    source_set_current(source, parked);
    if (current)
        source_park(source, current);
}

/* --- opening files --- */

bool source_is_offloadable(const struct input *input)
{
    return input->frames.codec && input->frames.codec->gpu_rate > 0 && !input->bytes.may_be_short &&
           !input_is_serial(input) && !content_is_partial(&input->plan.range) && !input->has_header;
}

/* Opens the seams of a compressed file whose records can be cut. 0, or -1: out of memory. */
static int open_joiner(struct file *file, bool is_shard)
{
    const struct shard_edges *edges = &file->input.plan.edges;
    if (!file->input.frames.codec || record_is_byte(&file->input.records.kind))
        return 0;
    return record_joiner_open(&file->joiner, edges->is_first || !is_shard, edges->goes_on);
}

/* Makes a file that was opened the current one. */
static void begin_file(struct source *source, const struct operand *operand, struct file *file)
{
    const struct input *input = &file->input;
    file->at.file = operand->number;
    file->order = source->opened;
    file->content = input->plan.edges.content;
    file->is_offloadable = input->bytes.regular && source_is_offloadable(input);
    source_use(source, file);
    source_set_current(source, file);
    source->has_decoded |= input->frames.codec != NULL;
    unsupported_format_record(&source->unsupported, input->plan.unsupported, input->bytes.name,
                              operand->number);
    pthread_mutex_lock(&source->lock);
    source->opened++;
    pthread_mutex_unlock(&source->lock);
    atomic_fetch_sub(&source->remaining.plain, operand->size);
    atomic_fetch_sub(&source->remaining.compressed.unopened, operand->size);
    remaining_add_file(source, file);
}

/* Opens the next operand, which decode memory allows. 1, 0 or -1, as source_find. */
static int open_operand(struct worker *worker)
{
    struct source *source = worker->source;
    struct operand *operand = &source->operands[source->opened];
    struct file *file = calloc(1, sizeof *file);
    struct error error;
    error_of(&error, operand->file.name, "out of memory");
    if (file &&
        input_open(&file->input, &operand->file, &source->options, operand->shard, &error) == 0) {
        if (open_joiner(file, operand->shard != NULL) == 0) {
            begin_file(source, operand, file);
            return 1;
        }
        input_close(&file->input);
        error_of(&error, operand->file.name, "out of memory");
    }
    bool is_short =
        file && (file->input.bytes.error == EMFILE || file->input.bytes.error == ENFILE);
    free(file);
    return is_short && decode_memory_refuse_file(worker) ? 0 : source_fail(worker, &error);
}

int source_find(struct worker *worker)
{
    struct source *source = worker->source;
    acquire_parked(source);
    if (!source_begin_work(worker))
        return -1;
    if (source->current || source->opened == source->count)
        return 1;
    return decode_memory_open_file(worker) ? open_operand(worker) : 0;
}

void source_add_pieces(struct source *source, struct file *file)
{
    pthread_mutex_lock(&source->lock);
    file->next = source->in_pieces;
    source->in_pieces = file;
    pthread_mutex_unlock(&source->lock);
    source_add_parallel(source, 1);
}

void source_remove_pieces(struct source *source, struct file *file, bool parks)
{
    struct file **link = &source->in_pieces;
    pthread_mutex_lock(&source->lock);
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    if (parks) {
        file->next = source->parked;
        source->parked = file;
    }
    pthread_mutex_unlock(&source->lock);
    source_add_parallel(source, -1);
}

uint64_t source_rest(const struct source *source)
{
    const uint64_t read = atomic_load(&source->remaining.read);
    return source->remaining.size > read ? source->remaining.size - read : 0;
}

unsigned source_taken(struct source *source, const struct file *but)
{
    pthread_mutex_lock(&source->lock);
    size_t taken = source->memory.busy - source->memory.waiting + source->count - source->opened;
    taken += source->current && source->current != but;
    for (const struct file *parked = source->parked; parked; parked = parked->next)
        taken++;
    pthread_mutex_unlock(&source->lock);
    return taken < UINT_MAX ? (unsigned)taken : UINT_MAX;
}

void source_add_parallel(struct source *source, int workers)
{
    pthread_mutex_lock(&source->lock);
    source->memory.parallel += (unsigned)workers;
    pthread_mutex_unlock(&source->lock);
}

void source_add_waiting(struct source *source, int workers)
{
    pthread_mutex_lock(&source->lock);
    source->memory.waiting += (unsigned)workers;
    pthread_mutex_unlock(&source->lock);
}

void source_locate_chunk(const struct file *file, struct position *at, struct chunk *chunk)
{
    chunk->origin = (struct origin){.at = *at,
                                    .name = file->input.bytes.name,
                                    .counted_from = file->input.plan.counted_from,
                                    .column = file->input.plan.column,
                                    .key_column = file->input.plan.key_column,
                                    .content_first = file->input.plan.range.begin};
    at->index++;
}

size_t source_fill_limit(const struct input *input, const struct chunk *chunk, size_t waited)
{
    return chunk->cap + (record_is_text(&input->records.kind) ? waited : 0);
}

/* --- what is told of it --- */

bool source_has_work(struct source *source)
{
    pthread_mutex_lock(&source->lock);
    bool has = source->current || source->parked || source->opened < source->count ||
               source->memory.parallel > 0;
    pthread_mutex_unlock(&source->lock);
    return has;
}

void source_unsupported(struct source *source, struct error *warning)
{
    unsupported_format_warn(&source->unsupported, warning);
}

void source_one_line(const struct source *source, struct error *warning)
{
    const struct one_line *seen = &source->one_line;
    char more[64] = "";
    warning->text[0] = '\0';
    if (seen->count == 0)
        return;
    if (seen->count > 1)
        snprintf(more, sizeof more, "; so %s %zu more file%s", seen->count == 2 ? "is" : "are",
                 seen->count - 1, seen->count == 2 ? "" : "s");
    error_of(warning, seen->name,
             "has carriage returns instead of newlines, so all of it is one line; use "
             "tr '\\r' '\\n' <FILE | gpuhisto%s",
             more);
}

bool source_has_decoded(const struct source *source)
{
    return source->has_decoded;
}

void source_close(struct source *source)
{
    struct file *file;
    while ((file = source->parked)) {
        source->parked = file->next;
        source_leave(source, file);
    }
    if (source->current)
        source_leave(source, source->current);
    for (size_t i = 0; i < source->count; i++)
        preopened_release(&source->operands[i].file);
    work_queue_close(&source->queue);
    pthread_mutex_destroy(&source->read_lock);
    pthread_mutex_destroy(&source->lock);
    free(source->operands);
    free(source);
}
