/* SPDX-License-Identifier: MIT */
/* What of one file belongs to a shard: the records and frames that begin in its range (shard.h). If
 * the end of a frame cannot be found, all that follows belongs to the shard that it begins in. */
#include "input.h"
#include "shard.h"
#include "src/records/record_joiner.h"

#include <sys/stat.h>

/* Refuses a file that states a size of 0 and has bytes, as those in /proc do. 0, or -1 with the
 * error set. */
static int check_sized(const struct input *input, struct error *error)
{
    struct stat status;
    char byte;
    ssize_t got = bytes_read_at(&input->bytes, &byte, 1, 0, error);
    if (got <= 0)
        return (int)got;
    if (fstat(input->bytes.fd, &status) == 0 && status.st_size > 0)
        return 0; /* what was added since it was measured */
    return error_of(error, input->bytes.name,
                    "has a size of 0 but is not empty, so it cannot be divided");
}

int file_shard_check(struct input *input, struct file_shard *shard, struct error *error)
{
    if (!input->bytes.regular)
        return error_of(error, input->bytes.name, "is no longer a regular file");
    if (input->bytes.opened_size < shard->size)
        return error_of(error, input->bytes.name, "was truncated after it was divided into shares");
    if (shard->size == 0 && check_sized(input, error) != 0)
        return -1;
    input->bytes.opened_size = shard->size;
    input->bytes.is_cut = true;
    input->bytes.may_be_short = false;
    if (!shard->wants_fingerprint)
        return 0;
    return fingerprint_file(&input->bytes, shard->size, &shard->fingerprint, error);
}

/* --- bytes as they are --- */

/* Returns the offset in the range of the content that is counted which is nearest to this one. */
static uint64_t nearest_in_range(const struct bytes *bytes, uint64_t offset)
{
    offset = offset > bytes->begin ? offset : bytes->begin;
    return offset < bytes->opened_size ? offset : bytes->opened_size;
}

/* Returns where the first value begins that does not begin before `offset`; at most `end`. */
static uint64_t value_from(const struct bytes *bytes, uint64_t offset, size_t size, uint64_t end)
{
    const uint64_t before = offset - bytes->begin + size - 1;
    offset = bytes->begin + before / size * size;
    return offset < end ? offset : end;
}

/* Pieces are those values that begin in the shard; the file may end within one. Pieces of text are
 * read up to the ends of their last records, wherever the shard ends. 0, or -1 with the error set.
 */
static int enter_plain(struct input *input, const struct file_shard *shard, struct error *error)
{
    struct bytes *bytes = &input->bytes;
    const struct record_kind *kind = &input->records.kind;
    const size_t size = record_is_text(kind) ? 1 : kind->size;
    const size_t left = (size_t)((bytes->opened_size - bytes->begin) % size);
    const uint64_t begin = nearest_in_range(bytes, shard->begin);
    const uint64_t end = nearest_in_range(bytes, shard->end), whole = bytes->opened_size - left;
    bytes->limit = bytes->opened_size;
    if (input_is_serial(input))
        return 0;
    if (left > 0 && begin <= whole && whole < end)
        return input_cut_off(input, left, error);
    bytes->taken = value_from(bytes, begin, size, whole);
    bytes->ended = true; /* nothing is read in order */
    input->plan.end = value_from(bytes, end, size, whole);
    input->plan.size = whole;
    input->has_header &= bytes->taken == bytes->begin;
    input->seeks_bom &= bytes->taken == bytes->begin;
    input->plan.counted_from = bytes->taken > bytes->begin ? bytes->taken : 0;
    return 0;
}

/* --- compressed: which frames --- */

/* What is known of the frames before those of the shard. */
struct frames_before {
    bool has_content;    /* one of them may have content: */
    uint64_t content_at; /* the last such, and */
    uint64_t sized_at;   /* the last that says that it has; or the first frame of all */
};

static void add_frame_before(struct frames_before *before, const struct frame_walk *walk)
{
    if (walk->frame.content == 0)
        return;
    before->has_content = true;
    before->content_at = walk->offset;
    if (walk->frame.content != FRAME_UNSIZED)
        before->sized_at = walk->offset;
}

/* True if a frame, and all that follows it, cannot be cut off from what comes before: its end is
 * not known, or it does not say how much it holds, and the values after it depend on that. */
static bool ends_cuts(const struct input *input, const struct frame_walk *walk, enum walk_step step)
{
    return step == WALK_BROKEN ||
           (walk->frame.content == FRAME_UNSIZED && input->frames.needs_sizes);
}

/* Finds the frames that begin in the shard: bytes [first, next) of the file. 0 or -1. */
static int find_frames(struct input *input, const struct file_shard *shard,
                       struct frames_before *before, struct error *error)
{
    struct shard_edges *edges = &input->plan.edges;
    const uint64_t size = shard->size, none = size;
    struct frame_walk walk;
    enum walk_step step = WALK_FRAME;
    frame_walk_begin(&walk, &input->bytes, input->frames.codec, 0, size);
    while (edges->next == none && (edges->first == none || shard->end < size)) {
        step = frame_walk_next(&walk, error);
        if (step == WALK_END || step == WALK_FAILED)
            break;
        if (edges->first == none && walk.offset >= shard->begin)
            edges->first = walk.offset;
        if (walk.offset >= shard->end)
            edges->next = walk.offset;
        if (ends_cuts(input, &walk, step))
            break;
        if (edges->first == none)
            add_frame_before(before, &walk);
        if (edges->first == none && input->frames.needs_sizes)
            edges->content = content_add(edges->content, walk.frame.content);
    }
    return step == WALK_FAILED ? -1 : 0;
}

/* --- what comes before them --- */

/* The last byte of content, if there is any. */
struct last_byte {
    unsigned char byte;
    bool is_there;
};

static int take_last(void *arg, const unsigned char *data, size_t len)
{
    if (len > 0)
        *(struct last_byte *)arg = (struct last_byte){data[len - 1], true};
    return 1;
}

/* Finds the last byte of content before the shard. Frames that do not say how much they hold may be
 * empty: then all since the last one that says so are decoded. 0, or -1 with the error set. */
static int find_last_before(const struct input *input, const struct frames_before *before,
                            struct last_byte *last, struct error *error)
{
    struct peek peek = {&input->frames, before->content_at, input->plan.edges.first};
    if (!before->has_content)
        return 0;
    int rc = peek_content(&peek, take_last, last, error);
    peek.begin = before->sized_at;
    if (rc == 0 && !last->is_there && before->sized_at < before->content_at)
        rc = peek_content(&peek, take_last, last, error);
    return rc;
}

/* Finds out whether a record goes on from before, and whether anything comes before at all. 0 or
 * -1. */
static int find_edge(struct input *input, const struct frames_before *before, struct error *error)
{
    struct shard_edges *edges = &input->plan.edges;
    const struct record_kind *kind = &input->records.kind;
    struct last_byte last = {.is_there = false};
    edges->is_first = edges->first == 0;
    if (record_is_byte(kind) || kind->type == RECORD_PAIRS || edges->is_first ||
        edges->first == edges->next)
        return 0; /* no byte of the shard is to be dropped */
    if (!record_is_text(kind)) {
        edges->goes_on = edges->content % kind->size != 0;
        return 0;
    }
    if (find_last_before(input, before, &last, error) != 0)
        return -1;
    edges->is_first = !last.is_there;
    edges->goes_on = last.is_there && kind->head(&last.byte, 1) != 0; /* it does not end a record */
    return 0;
}

/* As file_shard_select, of a compressed file. */
static int enter_frames(struct input *input, const struct file_shard *shard, struct error *error)
{
    struct shard_edges *edges = &input->plan.edges;
    const struct record_kind *kind = &input->records.kind;
    /* What a character needs of the frames before is more than the last byte. */
    bool is_whole = kind->type == RECORD_CSV || kind->type == RECORD_CHARACTERS ||
                    content_is_partial(&input->plan.range);
    struct frames_before before = {false, 0, 0};
    edges->file_end = edges->next = shard->size;
    edges->first = shard->begin == 0 ? 0 : shard->size;
    edges->is_first = true;
    if (is_whole && shard->begin > 0)
        input->plan.range.stated = NULL; /* nothing is read here, so nothing is missing */
    if (!is_whole &&
        (find_frames(input, shard, &before, error) != 0 || find_edge(input, &before, error) != 0))
        return -1;
    frames_seek(&input->frames, edges->first);
    input->plan.counted_from = edges->is_first ? 0 : edges->first;
    input->bytes.opened_size = input->bytes.limit = edges->next;
    return 0;
}

int file_shard_select(struct input *input, const struct file_shard *shard, struct error *error)
{
    return input->frames.codec ? enter_frames(input, shard, error)
                               : enter_plain(input, shard, error);
}

/* --- what comes after them --- */

/* A record that is completed. */
struct completion {
    struct span *joined;
    const struct record_kind *kind;
};

/* Adds as many bytes to the record as belong to it. */
static int take_end(void *arg, const unsigned char *data, size_t len)
{
    const struct completion *completion = arg;
    const struct record_kind *kind = completion->kind;
    struct span *joined = completion->joined;
    if (record_is_text(kind)) {
        size_t end = kind->head(data, len);
        /* A pair is whole with its second byte. */
        bool is_open =
            kind->type != RECORD_PAIRS && end == len && joined->head.len + end < joined->max;
        return span_extend(joined, data, end) == 0 ? is_open : -1;
    }
    size_t missing = kind->size - joined->head.len % kind->size;
    size_t taken = len < missing ? len : missing;
    joined->head.bytes += taken;
    return span_extend(joined, data, taken) == 0 ? taken < missing : -1;
}

int file_shard_complete(const struct input *input, struct span *joined, struct error *error)
{
    const struct shard_edges *edges = &input->plan.edges;
    struct completion completion = {joined, &input->records.kind};
    const struct peek peek = {&input->frames, edges->next, edges->file_end};
    bool is_whole =
        !record_is_text(completion.kind) && joined->head.len % completion.kind->size == 0;
    if (edges->next == edges->file_end || joined->head.len == 0 || joined->head.given || is_whole)
        return 0;
    return peek_content(&peek, take_end, &completion, error);
}
