/* SPDX-License-Identifier: MIT */
/* The way of decoded content to the sink: whole records in chunks, and the records that segments
 * begin and end with. */
#include "worker.h"

#include <string.h>

/* The fewest bytes that are counted where they are, without a copy. */
#define BORROWED_MIN ((size_t)16 << 10)

bool segment_is_stream(const struct segment *segment)
{
    return segment->records == &segment->file->input.records;
}

int segment_begin(struct segment *segment, struct worker *worker, struct file *file,
                  uint64_t number, uint64_t content, uint64_t skip)
{
    const struct input *input = &file->input;
    const struct record_kind *kind = &input->records.kind;
    *segment = (struct segment){
        .worker = worker, .file = file, .records = &file->input.records, .begin = content};
    if (file->in_stream) {
        segment->at = file->at;
        return 0;
    }
    segment->records = &worker->records;
    segment->at = (struct position){file->at.file, number, 1}; /* 0: the joined record's */
    if (!record_is_byte(kind)) {
        const uint64_t before = content_before(&input->plan.range, content + skip);
        segment->span = span_open(number, kind, before, false);
        if (!segment->span)
            return -1;
    }
    segment->records->kind = *kind;
    segment->records->field = input->records.field;
    segment->records->cut_len = 0;
    segment->records->too_long = false;
    return 0;
}

void segment_close(struct segment *segment)
{
    span_close(segment->span);
    segment->span = NULL;
}

size_t segment_begin_chunk(struct segment *segment, struct chunk *chunk)
{
    source_locate_chunk(segment->file, &segment->at, chunk);
    records_resume(segment->records, chunk);
    return chunk->len;
}

int segment_cut(struct segment *segment, struct chunk *chunk, size_t waited, bool at_end)
{
    struct input *input = &segment->file->input;
    struct records *records = segment->records;
    struct span *span = segment->span;
    const struct content_range *range = &input->plan.range;
    struct error error;
    if (segment_is_stream(segment)) {
        if (input_cut(input, chunk, waited, at_end, &error) != 0)
            return source_fail(segment->worker, &error);
    } else {
        if ((span && span_keep_head(span, chunk) != 0) ||
            records_cut(records, chunk, waited, false) != 0)
            return source_fail_for_memory(segment->worker, segment->file);
        chunk->origin.bytes = chunk->len - chunk->repeated;
    }
    /* What was decoded ends with the chunk, and with what was cut. */
    const uint64_t end = content_before(range, segment->begin + segment->content);
    chunk->origin.content = range->begin + end - records->cut_len - chunk->len;
    return 0;
}

/* --- the records between segments --- */

/* Pushes a record that was put together; the last one of a shard is completed first. 0 or -1. */
static int push_joined(struct worker *worker, struct file *file, struct span *joined)
{
    struct source *source = worker->source;
    struct input *input = &file->input;
    const struct fragment *record = &joined->head;
    const struct record_kind *kind = &input->records.kind;
    const struct field *field = input->records.field;
    struct position at = {file->at.file, joined->begin, 0};
    struct error error;
    if (source->options.shard && joined->to_end && file_shard_complete(input, joined, &error) != 0)
        return source_fail_at_end(worker, file, &error);
    if (record_is_line(kind) && joined->is_first && joined->is_end &&
        records_are_one_line(record->data, record->len))
        source_add_one_line(source, file);
    /* The lines of a text need even an empty one. */
    if (!record_is_text(kind) && record->len == 0)
        return 0;
    if (!record_is_text(kind) && record->len % kind->size != 0) {
        input_cut_off(input, record->len, &error);
        return source_fail_at_end(worker, file, &error);
    }
    struct chunk *chunk = runner_choose(worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    source_locate_chunk(file, &at, chunk);
    if (record->len > 0)
        memcpy(chunk->data, record->data, record->len);
    chunk->len = record->len;
    chunk->begin = chunk->repeated = 0;
    if (joined->is_first && input->seeks_bom)
        chunk->begin = field_bom_len(chunk->data, chunk->len);
    chunk->give = false;
    chunk->origin.bytes = record->bytes;
    chunk->origin.end = joined->is_end ? ENDS_FILE : ENDS_NOTHING;
    chunk->origin.has_header = joined->is_first && field && field->has_header;
    chunk->origin.content = chunk->origin.content_first + joined->before;
    return worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED);
}

/* Adds a span (NULL: out of memory), and pushes the records that this completes. 0 or -1. */
static int add_span(struct worker *worker, struct file *file, struct span *span)
{
    struct span *completed = NULL;
    int rc = 0;
    if (!span || record_joiner_add(&file->joiner, span, &completed) != 0)
        rc = source_fail_for_memory(worker, file);
    while (completed) {
        struct span *joined = completed;
        completed = joined->next;
        if (rc == 0)
            rc = push_joined(worker, file, joined);
        span_close(joined);
    }
    return rc;
}

int segment_end(struct segment *segment)
{
    struct span *span = segment->span;
    if (segment_is_stream(segment))
        segment->file->at = segment->at;
    if (!span)
        return 0;
    if (span_keep_tail(span, segment->records) != 0)
        return source_fail_for_memory(segment->worker, segment->file);
    segment->span = NULL;
    return add_span(segment->worker, segment->file, span);
}

int segment_end_file(struct worker *worker, struct file *file)
{
    if (record_is_byte(&file->input.records.kind) || file->in_stream)
        return 0;
    return add_span(worker, file, span_open(file->at.segment, &file->input.records.kind, 0, true));
}

/* --- the content of a piece --- */

int piece_count_begin(struct segment *segment, struct worker *worker, struct file *file,
                      uint64_t number, uint64_t position)
{
    if (segment_begin(segment, worker, file, number, position, 0) == 0)
        return 0;
    return source_fail_for_memory(worker, file);
}

/* Pushes some of data[0..len) in one chunk, which ends the segment if `ends` and it has all of
 * that. Returns how much, or -1: the run has failed. */
static ssize_t push_content(struct segment *segment, const unsigned char *data, size_t len,
                            size_t before, bool ends)
{
    struct worker *worker = segment->worker;
    const bool is_stream = segment_is_stream(segment);
    struct chunk *chunk = runner_choose(worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    const size_t waited = segment_begin_chunk(segment, chunk),
                 space = source_fill_limit(&segment->file->input, chunk, waited) - waited,
                 some = len < space ? len : space;
    if (chunk->may_borrow && some >= BORROWED_MIN && !is_stream && !segment->records->too_long &&
        (!segment->span || segment->span->has_boundary) && waited <= before &&
        (waited == 0 || memcmp(data - waited, chunk->data, waited) == 0))
        chunk->data = (unsigned char *)data - waited; /* which nobody writes to */
    else if (some > 0)
        memcpy(chunk->data + waited, data, some);
    chunk->len = waited + some;
    segment->content += some;
    const int rc = segment_cut(segment, chunk, waited, false);
    if (rc != 0)
        chunk->len = chunk->begin = chunk->origin.bytes = 0;
    segment->is_ended = ends && some == len;
    chunk->origin.end = segment->is_ended ? ENDS_SEGMENT : ENDS_NOTHING;
    chunk->give &= is_stream; /* otherwise every worker has content to count */
    if (!(chunk->give && work_queue_hand_off(worker->source, chunk)) &&
        worker->sink->count(worker->sink->arg, chunk, FLOW_DECODED) != 0)
        return -1;
    return rc == 0 ? (ssize_t)some : -1;
}

int piece_count(struct segment *segment, const unsigned char *data, size_t len, size_t before,
                bool is_last)
{
    const struct content_range *range = &segment->file->input.plan.range;
    const uint64_t position = segment->begin + segment->content;
    const bool ends = is_last && !segment_is_stream(segment);
    struct error fault;
    len = content_left(range, position, len);
    if (content_check(range, position + len, false, &fault) != 0)
        return source_fail_of(segment->worker, segment->file, "%s", fault.text);
    const uint64_t left_out = position < range->begin ? range->begin - position : 0;
    size_t done = left_out < len ? (size_t)left_out : len;
    segment->content += done;
    while (done < len) {
        const ssize_t some = push_content(segment, data + done, len - done, before + done, ends);
        if (some < 0)
            return -1;
        done += (size_t)some;
    }
    return 0;
}

int piece_count_end(struct segment *segment)
{
    const bool is_ended = segment->is_ended || segment_is_stream(segment) ||
                          push_content(segment, NULL, 0, 0, true) == 0;
    const int rc = is_ended ? segment_end(segment) : -1;
    segment_close(segment);
    return rc;
}
