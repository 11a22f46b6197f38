/* SPDX-License-Identifier: MIT */
#include "frame_by_blocks.h"

#include <stdlib.h>
#include <string.h>

/* The content that the runs are decoded to. */
struct decoded_content {
    unsigned char *bytes;
    size_t size;
    size_t frame; /* where the content of the frame begins */
    struct repeat_offsets repeat_offsets;
};

/* Eight blocks that are as large as they may be, or many that are tiny. */
static const struct zstd_run_limits limits = {
    .in = 8 * (ZSTD_BLOCK_HEADER_SIZE + BLOCK_CONTENT_MAX),
    .literals = 8 * BLOCK_CONTENT_MAX,
    .content = 64 * BLOCK_CONTENT_MAX,
    .content_usual = 8 * BLOCK_CONTENT_MAX,
    .operations = (size_t)512 << 10,
};

struct zstd_run *by_blocks_run(void)
{
    struct zstd_run *run = malloc(sizeof *run);
    if (!run || zstd_run_open(run, &limits) != 0)
        exit(1);
    return run;
}

size_t memory_reader_read(const struct zstd_reader *reader, unsigned char *to, size_t len,
                          size_t at)
{
    const struct memory_reader *memory = (const struct memory_reader *)reader;
    const size_t left = at < memory->len ? memory->len - at : 0, some = len < left ? len : left;
    if (some > 0)
        memcpy(to, memory->in + at, some);
    return some;
}

/* Fills a run from in[0..len), and adds its bytes to *used. */
static enum walked fill(const struct by_blocks *by, struct zstd_walk *walk, const unsigned char *in,
                        size_t len, size_t *used)
{
    enum walked walked = WALKED_ALL;
    if (by->piece == 0) {
        const struct memory_reader memory = {{memory_reader_read}, in + *used, len - *used};
        walked = zstd_walk_skim(walk, by->run, &memory.reader);
        if (walked != WALKED_RUN || by->run->len > memory.len)
            return WALKED_WRONG;
        memcpy(by->run->in, memory.in, by->run->len);
        *used += by->run->len;
    }
    while (walked == WALKED_ALL && *used < len) {
        const size_t left = len - *used, some = left < by->piece ? left : by->piece;
        walked = zstd_walk_fill(walk, by->run, in + *used, some, used);
    }
    return walked;
}

/* Appends the content of the run. */
static bool append(const struct by_blocks *by, struct decoded_content *content)
{
    const struct execution execution = {.repeat_offsets = content->repeat_offsets,
                                        .history = content->size - content->frame};
    struct parsed_run *parsed = &by->run->parsed;
    if (!zstd_parse(by->run, by->loops))
        return false;
    content->bytes = realloc(content->bytes, content->size + parsed->content + COPY_SLACK);
    if (!content->bytes)
        exit(1);
    if (!by->loops->execute(parsed, &execution, content->bytes + content->size))
        return false;
    content->size += parsed->content;
    for (int i = 0; i < 3; i++)
        content->repeat_offsets.offset[i] =
            offset_resolve(parsed->after.offset[i], &execution.repeat_offsets);
    return true;
}

/* Decodes the blocks at in[0..len) of a frame. Returns their bytes, or 0: doubtful. */
static size_t decode_blocks(const struct by_blocks *by, struct zstd_walk *walk,
                            const unsigned char *in, size_t len, struct decoded_content *content)
{
    size_t used = 0;
    do {
        zstd_walk_begin_run(walk, by->run);
        if (fill(by, walk, in, len, &used) != WALKED_RUN || !append(by, content))
            return 0;
    } while (!by->run->is_last);
    return used;
}

/* Decodes the frame at in[0..len). Returns its bytes, or 0: doubtful. */
static size_t decode_frame(const struct by_blocks *by, const unsigned char *in, size_t len,
                           struct decoded_content *content)
{
    struct zstd_frame_header header;
    struct zstd_walk walk;
    if (zstd_parse_frame(in, len, &header) != ZSTD_PARSED || header.skipped > len - header.size)
        return 0;
    if (header.is_skippable)
        return (size_t)(header.size + header.skipped);
    content->frame = content->size;
    if (!zstd_walk_begin(&walk, &header))
        return 0;
    size_t blocks = decode_blocks(by, &walk, in + header.size, len - header.size, content);
    size_t size = header.size + blocks + (header.has_checksum ? ZSTD_CHECKSUM_SIZE : 0);
    const bool is_sized =
        header.content == ZSTD_SIZE_UNKNOWN || header.content == content->size - content->frame;
    return blocks > 0 && size <= len && is_sized ? size : 0;
}

bool frame_by_blocks(const struct by_blocks *by, const unsigned char *in, size_t len,
                     unsigned char **bytes, size_t *size)
{
    struct decoded_content content = {.bytes = malloc(COPY_SLACK)};
    size_t at = 0, frame = 1;
    if (!content.bytes)
        exit(1);
    for (; frame > 0 && at < len; at += frame)
        frame = decode_frame(by, in + at, len - at, &content);
    *bytes = content.bytes;
    *size = content.size;
    return frame > 0;
}
