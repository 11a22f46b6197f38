/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include <string.h>

bool segment_is_stream(const struct segment *segment)
{
    return segment->records == &segment->file->input.records;
}

int segment_begin(struct segment *segment, struct worker *worker, struct file *file)
{
    if (!file->in_stream)
        return segment_begin_at(segment, worker, file, file->at.segment++, file->content,
                                file->skip);
    segment_begin_stream(segment, worker, file, file->content);
    return 0;
}

void segment_begin_stream(struct segment *segment, struct worker *worker, struct file *file,
                          uint64_t content)
{
    *segment = (struct segment){.worker = worker,
                                .file = file,
                                .records = &file->input.records,
                                .at = file->at,
                                .begin = content};
}

int segment_begin_at(struct segment *segment, struct worker *worker, struct file *file,
                     uint64_t number, uint64_t content, uint64_t skip)
{
    const struct input *input = &file->input;
    const struct record_kind *kind = &input->records.kind;
    const uint64_t before = content_before(&input->plan.range, content + skip);
    struct records *records = &worker->records;
    struct span *span = NULL;
    if (!record_is_byte(kind)) {
        span = span_open(number, kind, before, false);
        if (!span)
            return -1;
    }
    records->kind = *kind;
    records->field = input->records.field;
    records->cut_len = 0;
    records->too_long = false;
    *segment = (struct segment){.worker = worker,
                                .file = file,
                                .records = records,
                                .at = {file->at.file, number, 1}, /* 0: the joined record's */
                                .span = span,
                                .begin = content};
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
        if ((span && span_keep_head(span, records, chunk) != 0) ||
            records_cut(records, chunk, waited, false) != 0)
            return source_fail_for_memory(segment->worker, segment->file);
        chunk->origin.bytes = chunk->len - records_repeated(records, waited);
    }
    /* What was decoded ends with the chunk, and with what was cut. */
    const uint64_t end = content_before(range, segment->begin + segment->content);
    chunk->origin.content = range->begin + end - records->cut_len - chunk->len;
    return 0;
}

/* --- the records between segments --- */

/* Fills a chunk with a record that was put together. */
static void fill_with_joined(struct chunk *chunk, const struct file *file,
                             const struct span *joined)
{
    const struct fragment *record = &joined->head;
    const struct field *field = file->input.records.field;
    struct position at = {file->at.file, joined->begin, 0};
    if (record->len > 0)
        memcpy(chunk->data, record->data, record->len);
    chunk->len = record->len;
    chunk->begin = chunk->repeated = 0;
    if (joined->is_first && file->input.seeks_bom)
        chunk->begin = field_bom_len(chunk->data, chunk->len);
    chunk->give = false;
    source_locate_chunk(file, &at, chunk);
    chunk->origin.bytes = record->bytes;
    chunk->origin.end = joined->is_end ? ENDS_FILE : ENDS_NOTHING;
    chunk->origin.has_header = joined->is_first && field && field->has_header;
    chunk->origin.content = chunk->origin.content_first + joined->before;
}

/* Pushes a record that was put together; the last one of a shard is completed first. 0 or -1. */
static int push_joined(struct worker *worker, struct file *file, struct span *joined)
{
    struct source *source = worker->source;
    struct input *input = &file->input;
    const struct fragment *record = &joined->head;
    const struct record_kind *kind = &input->records.kind;
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
    fill_with_joined(chunk, file, joined);
    return runner_push(worker, chunk, FLOW_DECODED);
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
