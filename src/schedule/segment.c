/* SPDX-License-Identifier: MIT */
#include "runner.h"

#include <string.h>

bool segment_is_stream(const struct extent *extent)
{
    return extent->segment.records == &extent->file->input.records;
}

int segment_begin(struct extent *extent)
{
    struct file *file = extent->file;
    if (!file->in_stream)
        return segment_begin_at(extent, file->at.segment++, file->content, file->skip);
    extent->segment =
        (struct segment){.records = &file->input.records, .at = file->at, .begin = file->content};
    return 0;
}

int segment_begin_at(struct extent *extent, uint64_t number, uint64_t content, uint64_t skip)
{
    struct file *file = extent->file;
    const struct input *input = &file->input;
    const struct record_kind *kind = &input->records.kind;
    const uint64_t before = content_before(&input->plan.range, content + skip);
    struct segment segment = {.records = &extent->worker->records,
                              .at = {file->at.file, number, 1}, /* 0: the seam's */
                              .begin = content};
    if (!record_is_byte(kind)) {
        segment.span = span_open(number, kind, before, false);
        if (!segment.span)
            return -1;
    }
    segment.records->kind = *kind;
    segment.records->field = input->records.field;
    segment.records->cut_len = 0;
    segment.records->too_long = false;
    extent->segment = segment;
    return 0;
}

void segment_close(struct extent *extent)
{
    span_close(extent->segment.span);
    extent->segment.span = NULL;
}

size_t segment_begin_chunk(struct extent *extent, struct chunk *chunk)
{
    source_locate_chunk(extent->file, &extent->segment.at, chunk);
    records_resume(extent->segment.records, chunk);
    return chunk->len;
}

/* States where a chunk that was cut begins: what was decoded ends with it, and with what was cut.
 */
static void state_position(const struct extent *extent, struct chunk *chunk)
{
    const struct content_range *range = &extent->file->input.plan.range;
    const struct segment *segment = &extent->segment;
    const uint64_t end = content_before(range, segment->begin + segment->content);
    chunk->origin.content = range->begin + end - segment->records->cut_len - chunk->len;
}

int segment_cut(struct extent *extent, struct chunk *chunk, size_t waited, bool at_end)
{
    struct records *records = extent->segment.records;
    struct span *span = extent->segment.span;
    struct error error;
    if (segment_is_stream(extent)) {
        if (input_cut(&extent->file->input, chunk, waited, at_end, &error) != 0)
            return source_fail(extent->worker, &error);
    } else {
        if ((span && span_keep_head(span, records, chunk) != 0) ||
            records_cut(records, chunk, waited, false) != 0)
            return source_fail_for_memory(extent->worker, extent->file);
        chunk->origin.bytes = chunk->len - records_repeated(records, waited);
    }
    state_position(extent, chunk);
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
static int push_joined(struct extent *extent, struct span *joined)
{
    struct source *source = extent->worker->source;
    struct input *input = &extent->file->input;
    const struct fragment *record = &joined->head;
    const struct record_kind *kind = &input->records.kind;
    struct error error;
    if (source->options.shard && joined->to_end && file_shard_complete(input, joined, &error) != 0)
        return source_fail_at_end(extent->worker, extent->file, &error);
    if (record_is_line(kind) && joined->is_first && joined->is_end &&
        records_are_one_line(record->data, record->len))
        source_add_one_line(source, extent->file);
    /* The lines of a text need even an empty one. */
    if (!record_is_text(kind) && record->len == 0)
        return 0;
    if (!record_is_text(kind) && record->len % kind->size != 0) {
        input_cut_off(input, record->len, &error);
        return source_fail_at_end(extent->worker, extent->file, &error);
    }
    struct chunk *chunk = runner_choose(extent->worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    fill_with_joined(chunk, extent->file, joined);
    return runner_push(extent->worker, chunk, FLOW_DECODED);
}

/* Adds a span (NULL: out of memory), and pushes the records that this completes. 0 or -1. */
static int add_span(struct extent *extent, struct span *span)
{
    struct span *completed = NULL;
    int rc = 0;
    if (!span || record_joiner_add(&extent->file->joiner, span, &completed) != 0)
        rc = source_fail_for_memory(extent->worker, extent->file);
    while (completed) {
        struct span *joined = completed;
        completed = joined->next;
        if (rc == 0)
            rc = push_joined(extent, joined);
        span_close(joined);
    }
    return rc;
}

int segment_end(struct extent *extent)
{
    struct span *span = extent->segment.span;
    if (!span)
        return 0;
    if (span_keep_tail(span, extent->segment.records) != 0)
        return source_fail_for_memory(extent->worker, extent->file);
    extent->segment.span = NULL;
    return add_span(extent, span);
}

int segment_end_file(struct extent *extent)
{
    const struct file *file = extent->file;
    if (record_is_byte(&file->input.records.kind) || file->in_stream)
        return 0;
    return add_span(extent, span_open(file->at.segment, &file->input.records.kind, 0, true));
}
