/* SPDX-License-Identifier: MIT */
/* Records that are put together from the ends of two segments of a compressed FILE. */
#include "src/work/source_internal.h"

#include <string.h>

/* Of a share, the last record goes on after its last segment. 0 or -1. */
static int complete_last(struct source *source, const struct open_input *open, struct span *done)
{
    struct reason why;
    for (struct span *seam = done; seam && source->options.share; seam = seam->next)
        if (seam->to_end && part_complete(&open->input, &source->options.decoding, seam, &why) != 0)
            return source_fail(source, &why);
    return 0;
}

int decoding_keep_seams(struct reader *reader, struct open_input *open, struct span *span)
{
    struct span **end = &reader->seams;
    while (*end)
        end = &(*end)->next;
    reader->seams_origin = (struct origin){
        .at.file = open->at.file,
        .name = open->input.name,
        .counted_from = open->input.counted_from,
        .column = open->input.column,
    };
    if (seams_add(&open->seams, span, end) != 0)
        return source_fail_for_memory(reader->source, open->input.name);
    return complete_last(reader->source, open, *end);
}

static int fail_within_value(struct reader *reader, size_t len, size_t size)
{
    struct reason why;
    input_cut_off(reader->seams_origin.name, &reader->source->options.content, len, size, &why);
    return source_fail(reader->source, &why);
}

int decoding_give_seam(struct reader *reader, const struct source_sink *sink, struct chunk **chunk)
{
    struct source *source = reader->source;
    struct span *seam = reader->seams;
    const struct fragment *record = &seam->head;
    const struct field *field = source->options.field;
    size_t size = source->options.record_size;
    /* The lines of a text need even an empty one. */
    bool is_needed = records_are_text(size) || record->len > 0;
    if (!records_are_text(size) && record->len % size != 0)
        return fail_within_value(reader, record->len, size);
    if (is_needed && !(*chunk = sink->choose(sink->arg, FLOW_DECODED)))
        return source_fail(source, &(struct reason){""});
    if (is_needed) {
        if (record->len > 0)
            memcpy((*chunk)->data, record->data, record->len);
        (*chunk)->len = record->len;
        (*chunk)->begin = 0;
        (*chunk)->repeated = 0;
        (*chunk)->give = false;
        (*chunk)->origin = reader->seams_origin;
        (*chunk)->origin.bytes = record->bytes;
        (*chunk)->origin.at.segment = seam->begin;
        (*chunk)->origin.end = seam->is_end ? ENDS_FILE : ENDS_NOTHING;
        (*chunk)->origin.has_header = seam->is_first && field && field->has_header;
    }
    if (size == RECORD_LINES && seam->is_first && seam->is_end &&
        records_are_one_line(record->data, record->len))
        source_note_one_line(source, reader->seams_origin.name, reader->seams_origin.at.file);
    reader->seams = seam->next;
    span_close(seam);
    return 1;
}
