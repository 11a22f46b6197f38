/* SPDX-License-Identifier: MIT */
#include "segment.h"
#include "runner.h"

#include <string.h>

bool segment_is_stream(const struct segment *segment)
{
    return segment->records == &segment->file->input.records;
}

int segment_begin(struct segment *segment, struct worker *worker, struct file *file)
{
    struct input *input = &file->input;
    const struct record_kind *kind = &input->records.kind;
    *segment = (struct segment){
        .file = file, .records = &input->records, .at = file->at, .begin = file->content};
    if (file->in_stream)
        return 0;
    if (!record_is_byte(kind)) {
        uint64_t before = content_before(&input->plan.range, file->content);
        segment->span = span_open(file->at.segment, kind, before, false);
        if (!segment->span)
            return -1;
    }
    segment->at = (struct position){file->at.file, file->at.segment++, 1}; /* 0 is the seam's */
    segment->records = &worker->records;
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
    source_place_chunk(segment->file, &segment->at, chunk);
    records_resume(segment->records, chunk);
    return chunk->len;
}

int segment_cut(struct segment *segment, struct source *source, struct chunk *chunk, size_t waited,
                bool at_end)
{
    struct input *input = &segment->file->input;
    struct records *records = segment->records;
    struct reason why;
    if (segment_is_stream(segment))
        return input_cut(input, chunk, waited, at_end, &why) == 0 ? 0 : source_fail(source, &why);
    if ((segment->span && span_take_head(segment->span, records, chunk) != 0) ||
        records_cut(records, chunk, waited, false) != 0)
        return source_fail_for_memory(source, input->bytes.name);
    chunk->origin.bytes = chunk->len - records_repeated(records, waited);
    return 0;
}

/* --- the records between segments --- */

/* Completes the last record of a shard, which goes on after its last segment. 0 or -1. */
static int complete_last(struct source *source, struct file *file, struct span *seams)
{
    struct reason why;
    for (struct span *seam = seams; seam && source->options.shard; seam = seam->next)
        if (seam->to_end &&
            file_shard_complete(&file->input, &source->options.decoding, seam, &why) != 0)
            return source_fail(source, &why);
    return 0;
}

/* Fills a chunk with a record that was put together. */
static void fill_with_seam(struct chunk *chunk, const struct file *file, const struct span *seam,
                           const struct field *field)
{
    const struct fragment *record = &seam->head;
    if (record->len > 0)
        memcpy(chunk->data, record->data, record->len);
    chunk->len = record->len;
    chunk->begin = chunk->repeated = 0;
    chunk->give = false;
    chunk->origin = (struct origin){.bytes = record->bytes,
                                    .at = {file->at.file, seam->begin, 0},
                                    .end = seam->is_end ? ENDS_FILE : ENDS_NOTHING,
                                    .name = file->input.bytes.name,
                                    .counted_from = file->input.plan.counted_from,
                                    .column = file->input.plan.column,
                                    .has_header = seam->is_first && field && field->has_header};
}

/* Pushes a record that was put together. 0 or -1. */
static int push_seam(struct worker *worker, const struct file *file, const struct span *seam)
{
    struct source *source = worker->source;
    const struct fragment *record = &seam->head;
    const struct record_kind *kind = &source->options.record;
    if (record_is_line(kind) && seam->is_first && seam->is_end &&
        records_are_one_line(record->data, record->len))
        source_add_one_line(source, file->input.bytes.name, file->at.file);
    /* The lines of a text need even an empty one. */
    if (!record_is_text(kind) && record->len == 0)
        return 0;
    if (!record_is_text(kind) && record->len % kind->size != 0) {
        struct reason why;
        input_cut_off(file->input.bytes.name, &source->options.content, record->len, kind->size,
                      &why);
        return source_fail(source, &why);
    }
    struct chunk *chunk = runner_choose(worker, FLOW_DECODED);
    if (!chunk)
        return -1;
    fill_with_seam(chunk, file, seam, source->options.field);
    return runner_push(worker, chunk, FLOW_DECODED);
}

/* Adds a span to those of the file, and pushes the records that this completes. 0 or -1. */
static int add_span(struct worker *worker, struct file *file, struct span *span)
{
    struct span *seams;
    int rc = seams_add(&file->seams, span, &seams);
    rc = rc == 0 ? complete_last(worker->source, file, seams)
                 : source_fail_for_memory(worker->source, file->input.bytes.name);
    while (seams) {
        struct span *seam = seams;
        seams = seam->next;
        if (rc == 0)
            rc = push_seam(worker, file, seam);
        span_close(seam);
    }
    return rc;
}

int segment_end(struct segment *segment, struct worker *worker)
{
    struct span *span = segment->span;
    if (!span)
        return 0;
    segment->span = NULL;
    int rc = span_take_tail(span, segment->records);
    if (add_span(worker, segment->file, span) != 0)
        return -1;
    return rc == 0 ? 0 : source_fail_for_memory(worker->source, segment->file->input.bytes.name);
}

int segment_end_file(struct worker *worker, struct file *file)
{
    const struct record_kind *kind = &file->input.records.kind;
    if (record_is_byte(kind) || file->in_stream)
        return 0;
    struct span *span = span_open(file->at.segment, kind, 0, true);
    return span ? add_span(worker, file, span)
                : source_fail_for_memory(worker->source, file->input.bytes.name);
}
