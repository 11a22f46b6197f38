/* SPDX-License-Identifier: MIT */
/* Bytes as they are: pieces of files side by side, streams in turn. */
#include "src/work/source_internal.h"

/* How many bytes of input a piece accounts for, of which `got` were read, or -1. Of characters
 * those of its own, as of a share it is told how many were valid. */
static size_t bytes_of_piece(const struct input *input, const struct chunk *chunk, ssize_t got)
{
    if (input->records.size == RECORD_CHARACTERS)
        return chunk->len - chunk->begin;
    return got > 0 ? (size_t)got : 0;
}

/* True if a file is one line with carriage returns in it, of which the first piece was read. */
static bool is_one_line(const struct input *input, const struct chunk *chunk, uint64_t offset)
{
    const size_t len = chunk->len - chunk->begin;
    return offset == 0 && input->records.size == RECORD_LINES &&
           (len == input->size || len > FIELD_RECORD_MAX) &&
           records_are_one_line(chunk->data + chunk->begin, len);
}

/* Reads a piece of a regular file that was taken by this reader. */
static int read_piece(struct source *source, struct open_input *open, struct chunk *chunk,
                      size_t len, uint64_t offset)
{
    struct reason why;
    ssize_t got = input_read_piece(&open->input, chunk, len, offset, &why);
    if (got < 0) {
        chunk->len = chunk->begin = 0;
        source_fail(source, &why);
    }
    if (is_one_line(&open->input, chunk, offset))
        source_note_one_line(source, open->input.name, chunk->origin.at.file);
    chunk->origin.bytes = bytes_of_piece(&open->input, chunk, got);
    source_leave(source, open);
    return got < 0 ? -1 : 1;
}

/* Reads the next bytes of a stream, or of a regular file past the size it had. */
static int read_serial(struct source *source, struct chunk *chunk)
{
    struct open_input *open = source->current;
    struct input *input = &open->input;
    struct reason why;
    ssize_t got;
    records_resume(&input->records, chunk);
    size_t waited = chunk->len, limit = source_fill_limit(input, chunk, waited);
    do {
        got = input_read(input, chunk->data + chunk->len, limit - chunk->len, &why);
        if (got < 0)
            return source_fail(source, &why);
        chunk->len += (size_t)got;
        atomic_fetch_add(&source->read, (size_t)got);
    } while (got > 0 && chunk->fill && chunk->len < limit);
    if (input_cut(input, chunk, waited, got == 0, &why) != 0)
        return source_fail(source, &why);
    if (got > 0)
        return 1;
    chunk->origin.end = ENDS_FILE;
    source_set_current(source, NULL);
    return source_retire(source, open) == 0 ? 1 : -1;
}

/* Takes the next piece of a regular file, and reads it without the turn. */
static int read_parallel(struct source *source, struct chunk *chunk)
{
    struct open_input *open = source->current;
    struct input *input = &open->input;
    uint64_t offset = input->taken, left = input->end - offset;
    size_t len = left < chunk->cap ? (size_t)left : chunk->cap;
    chunk->origin.has_header = input->has_header;
    input->has_header = false;
    input->taken += len;
    atomic_fetch_sub(&source->left, len);
    atomic_fetch_add(&source->read, len);
    source_use(source, open);
    pthread_mutex_unlock(&source->turn);
    return read_piece(source, open, chunk, len, offset);
}

int plain_read(struct source *source, const struct source_sink *sink, struct chunk **chunk,
               enum flow *flow)
{
    struct open_input *open = source->current;
    const struct input *input = &open->input;
    bool parallel = input_parallel(input);
    /* After a file's known end there is hardly ever anything: not worth waiting for a slot. */
    *flow = parallel || input->size > 0 ? FLOW_FILE : FLOW_PIPE;
    *chunk = sink->choose(sink->arg, *flow);
    if (*chunk)
        source_begin_chunk(open, &open->at, *chunk);
    if (*chunk && parallel)
        return read_parallel(source, *chunk);
    int more = *chunk ? read_serial(source, *chunk) : source_fail(source, &(struct reason){""});
    pthread_mutex_unlock(&source->turn);
    return more;
}
