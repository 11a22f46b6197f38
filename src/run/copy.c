/* SPDX-License-Identifier: MIT */
/* Bytes as they are: pieces of regular files side by side, streams in turn. */
#include "runner.h"

/* A piece of a regular file. */
struct piece {
    uint64_t offset;
    size_t len; /* 0: what is read in turn is none */
};

/* Returns how many bytes of input a piece accounts for, of which `got` were read, or -1. Of
 * characters those of its own, as of a shard it is told how many were valid. */
static size_t bytes_of_piece(const struct input *input, const struct chunk *chunk, ssize_t got)
{
    if (input->records.kind.type == RECORD_CHARACTERS)
        return chunk->len - chunk->begin;
    return got > 0 ? (size_t)got : 0;
}

/* True if a file is one line with carriage returns in it, of which the first piece was read. */
static bool is_one_line(const struct input *input, const struct chunk *chunk, uint64_t offset)
{
    const size_t len = chunk->len - chunk->begin;
    return offset == 0 && record_is_line(&input->records.kind) &&
           (len == input->plan.size || len > FIELD_RECORD_MAX) &&
           records_are_one_line(chunk->data + chunk->begin, len);
}

/* Claims the next piece of a regular file, in turn. */
static struct piece claim_piece(struct source *source, struct file *file, struct chunk *chunk)
{
    struct input *input = &file->input;
    const uint64_t left = input->plan.end - input->bytes.taken;
    const struct piece piece = {.offset = input->bytes.taken,
                                .len = left < chunk->cap ? (size_t)left : chunk->cap};
    chunk->origin.has_header = input->has_header;
    input->has_header = false;
    input->bytes.taken += piece.len;
    atomic_fetch_sub(&source->left.plain, piece.len);
    atomic_fetch_add(&source->left.read, piece.len);
    source_use(source, file);
    return piece;
}

/* Reads a piece that was claimed, without the turn. 0 or -1. */
static int read_piece(struct source *source, struct file *file, struct chunk *chunk,
                      const struct piece *piece)
{
    struct reason why;
    ssize_t got = input_read_piece(&file->input, chunk, piece->len, piece->offset, &why);
    if (got < 0) {
        chunk->len = chunk->begin = 0;
        source_fail(source, &why);
    }
    if (is_one_line(&file->input, chunk, piece->offset))
        source_add_one_line(source, file->input.bytes.name, chunk->origin.at.file);
    chunk->origin.bytes = bytes_of_piece(&file->input, chunk, got);
    source_leave(source, file);
    return got < 0 ? -1 : 0;
}

/* Reads the next bytes of a stream, or of a regular file past the size it had; in turn. 0 or -1. */
static int read_next(struct source *source, struct file *file, struct chunk *chunk)
{
    struct input *input = &file->input;
    struct reason why;
    ssize_t got;
    records_resume(&input->records, chunk);
    size_t waited = chunk->len, limit = source_fill_limit(input, chunk, waited);
    do {
        got = input_read(input, chunk->data + chunk->len, limit - chunk->len, &why);
        if (got < 0)
            return source_fail(source, &why);
        chunk->len += (size_t)got;
        atomic_fetch_add(&source->left.read, (size_t)got);
    } while (got > 0 && chunk->fill && chunk->len < limit);
    if (input_cut(input, chunk, waited, got == 0, &why) != 0)
        return source_fail(source, &why);
    if (got > 0)
        return 0;
    chunk->origin.end = ENDS_FILE;
    source_set_current(source, NULL);
    return source_retire(source, file);
}

/* Chooses the memory for a chunk, and reads into it, or claims a piece for it; in turn. NULL: the
 * run has failed. */
static struct chunk *begin_chunk(struct worker *worker, struct file *file, enum flow *flow,
                                 struct piece *piece, int *rc)
{
    const bool is_parallel = input_parallel(&file->input);
    /* After a file's known end there is hardly ever anything: not worth waiting for a slot. */
    *flow = is_parallel || file->input.plan.size > 0 ? FLOW_FILE : FLOW_PIPE;
    struct chunk *chunk = runner_choose(worker, *flow);
    if (!chunk)
        return NULL;
    source_place_chunk(file, &file->at, chunk);
    if (is_parallel)
        *piece = claim_piece(worker->source, file, chunk);
    else
        *rc = read_next(worker->source, file, chunk);
    return chunk;
}

/* Copies a chunk. 1; 0: the file is not the current one any more; or -1. */
static int copy_chunk(struct worker *worker, const struct extent *extent)
{
    struct source *source = worker->source;
    struct piece piece = {.len = 0};
    struct chunk *chunk = NULL;
    enum flow flow;
    int rc = 0;
    pthread_mutex_lock(&source->turn);
    const bool has_failed = source_has_failed(source);
    const bool is_current = source->changes == extent->changes;
    if (!has_failed && is_current)
        chunk = begin_chunk(worker, extent->file, &flow, &piece, &rc);
    pthread_mutex_unlock(&source->turn);
    if (!chunk)
        return has_failed || is_current ? -1 : 0;
    if (piece.len > 0)
        rc = read_piece(source, extent->file, chunk, &piece);
    if (runner_push(worker, chunk, flow) != 0)
        rc = -1;
    return rc == 0 ? 1 : -1;
}

int copy_run(struct worker *worker, struct extent *extent)
{
    int more = 1;
    idle_leave(&worker->source->idle, &worker->idle);
    budget_release(worker, DECODER_KEPT);
    while (more > 0)
        more = copy_chunk(worker, extent);
    return more < 0 ? -1 : 1;
}
