/* SPDX-License-Identifier: MIT */
/* What is read of a file: the columns that are named, the range of its content, the records of a
 * piece, those of what is read in order, and its part of a shard. */
#include "input.h"
#include "engine.h"
#include "src/base/error.h"
#include "src/hash/xxh64.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COLUMN_SHOWN 48   /* bytes of a column's name in a message */
#define COLUMNS_SHOWN 240 /* bytes of such names, after which no more are listed */

bool input_seeks_columns(const struct input *input)
{
    const struct line_spec *lines = input->options->lines;
    bool seeks = false;
    for (size_t i = 0; lines && i < LINE_FIELDS_MAX; i++)
        seeks |= line_spec_field(lines, i)->name && input->plan.columns.numbers[i] == 0;
    return seeks;
}

/* Appends the names of the columns that a header [begin, end) has, as many as fit on a screen. */
static void list_columns(const struct field *field, const unsigned char *begin,
                         const unsigned char *end, struct error *error)
{
    struct field column = *field;
    const unsigned char *from, *to;
    size_t used = strlen(error->text), max = used + COLUMNS_SHOWN;
    begin += field_bom_len(begin, (size_t)(end - begin));
    for (column.number = 1; field_find(&column, begin, end, &from, &to) == FIELD_FOUND;
         column.number++) {
        char name[COLUMN_SHOWN];
        field_strip(&from, &to);
        show_text((const char *)from, (size_t)(to - from), name, sizeof name);
        const bool fits = used < max && used + 2 * sizeof name < sizeof error->text;
        used += (size_t)snprintf(error->text + used, sizeof error->text - used,
                                 fits ? "%s'%s'" : "%s%s", column.number == 1 ? "; it has " : ", ",
                                 fits ? name : "...");
        if (!fits)
            return;
    }
}

/* Sets *column to the number of the column called field->name, if it has one; the first record of
 * text[0..len) has the names. 0, or -1 with the error set; `name` is the file. */
static int find_column(const struct field *field, const unsigned char *text, size_t len,
                       const char *name, int32_t *column, struct error *error)
{
    if (!field->name)
        return 0;
    const unsigned char *end = field_record_end(field, text, text + len);
    char hint[FIELD_HINT_SIZE];
    *column = field_column(field, text, end);
    if (*column > 0)
        return 0;
    if (records_are_one_line(text, (size_t)(end - text)))
        return error_of(error, name,
                        "no column is called '%s'; it has carriage returns instead of newlines; "
                        "use tr '\\r' '\\n' <FILE | gpuhisto",
                        field->name);
    field_hint(text, end, field->name, strlen(field->name), hint);
    if (*hint)
        return error_of(error, name, "no column is called '%s'; did you mean %s%s?", field->name,
                        hint, strncmp(hint, "--field", 7) == 0 ? " without --header-line" : "");
    error_of(error, name, "no column is called '%s'", field->name);
    list_columns(field, text, end, error);
    return -1;
}

int input_find_columns(struct input *input, const unsigned char *text, size_t len,
                       struct error *error)
{
    int rc = 0;
    for (size_t i = 0; i < LINE_FIELDS_MAX && rc == 0; i++)
        rc = find_column(line_spec_field(input->options->lines, i), text, len, input->bytes.name,
                         &input->plan.columns.numbers[i], error);
    return rc;
}

bool input_is_serial(const struct input *input)
{
    const bool is_sought = input->frames.codec && input_seeks_columns(input);
    return is_sought || input->records.kind.type == RECORD_CSV;
}

int input_cut_off(const struct input *input, size_t len, struct error *error)
{
    const char *name = input->bytes.name;
    const struct content_options *options = &input->options->content;
    const size_t size = input->records.kind.size;
    if (options->channels > 1)
        return error_of(error, name,
                        "ends inside a record of %u channels, after %zu of its %zu bytes",
                        options->channels, len, size);
    if (options->has_pairs)
        return error_of(error, name, "ends inside a pair: its number of bytes is odd");
    return error_of(error, name, "ends inside a value, after %zu of its %zu bytes", len, size);
}

/* --- the range of the content --- */

int content_check(const struct content_range *range, uint64_t position, bool at_end,
                  struct error *error)
{
    const bool is_short = at_end && position < range->end;
    const bool is_long = range->is_whole && position > range->end;
    if (!range->stated || (!is_short && !is_long))
        return 0;
    return error_set(error, "the %s header states %llu bytes of values, but %s follow",
                     range->stated, (unsigned long long)(range->end - range->begin),
                     is_short ? "fewer" : "more");
}

uint64_t content_before(const struct content_range *range, uint64_t position)
{
    uint64_t last = position < range->end ? position : range->end;
    return last > range->begin ? last - range->begin : 0;
}

size_t content_left(const struct content_range *range, uint64_t position, size_t max)
{
    const uint64_t end = range->end + range->is_whole;
    const uint64_t left = position < end ? end - position : 0;
    return left < max ? (size_t)left : max;
}

/* --- pieces --- */

/* Bytes after a piece of text that are read with it: all that a token needs. */
#define PIECE_MORE ((size_t)NUMBER_MAX)

/* True if no record of text goes on after this byte. */
static bool ends_record(const struct record_kind *kind, unsigned char byte)
{
    return kind->type == RECORD_CHARACTERS ? byte < 0x80 : kind->head(&byte, 1) == 0;
}

/* Cuts a piece of a text, data[1..1 + piece), to the records that begin in it. data[0] is the byte
 * before it, and data[1 + piece..len) follow it. Drops data[0] and the end of a record from before.
 * Sets chunk->len to the end of the last record, or to len if it goes on there.
 *
 * Both neighbours find the same boundary, from the byte before it and those after it. Of characters
 * it may be after the end of a piece that has few bytes. */
static void cut_piece(const struct record_kind *kind, struct chunk *chunk, size_t piece, size_t len)
{
    const bool are_characters = kind->type == RECORD_CHARACTERS;
    const unsigned char *data = chunk->data;
    size_t end = 1 + piece < len ? 1 + piece : len;
    size_t looked = are_characters ? len : end;
    size_t dropped = ends_record(kind, data[0]) ? 1 : 1 + kind->head(data + 1, looked - 1);
    chunk->begin = 0;
    records_drop(kind, chunk, dropped);
    chunk->len = end;
    if (!ends_record(kind, data[end - 1]) && (dropped < end || are_characters))
        chunk->len = end + kind->head(data + end, len - end);
}

/* Reads a piece of text, the byte before it, and what its last record needs. That of a line is read
 * in steps, as nearly all are short. */
static ssize_t read_text(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const size_t before = offset > input->bytes.begin, end = before + len;
    const uint64_t from = offset - before, left = input->plan.size - from;
    const size_t max = left < end + kind->max ? (size_t)left : end + kind->max;
    unsigned char *data = chunk->data + 1 - before;
    size_t have = 0, wanted = end + PIECE_MORE;
    bool ends = false;
    chunk->data[0] = record_is_line(kind) ? '\n' : ' '; /* stands before the first piece */
    for (; !ends; wanted = 2 * wanted - end) {
        wanted = wanted < max ? wanted : max;
        ssize_t got = bytes_read_at(&input->bytes, data + have, wanted - have, from + have, error);
        if (got < 0)
            return -1;
        const size_t begun = have > end ? have : end - 1;
        have += (size_t)got;
        ends = have < wanted || have == max || kind->type == RECORD_TOKENS ||
               memchr(data + begun, '\n', have - begun);
    }
    have -= have < before ? have : before;
    cut_piece(kind, chunk, len, 1 + have);
    return (ssize_t)(have < len ? have : len);
}

ssize_t input_read_piece(const struct input *input, struct chunk *chunk, size_t len,
                         uint64_t offset, struct error *error)
{
    const struct record_kind *kind = &input->records.kind;
    const bool is_pairs = kind->type == RECORD_PAIRS;
    chunk->repeated = 0;
    if (record_is_text(kind) && !is_pairs)
        return read_text(input, chunk, len, offset, error);
    /* A pair belongs to the piece that it begins in. */
    const size_t after = is_pairs && input->bytes.opened_size - offset > len;
    ssize_t got = bytes_read_at(&input->bytes, chunk->data, len + after, offset, error);
    chunk->len = got > 0 ? (size_t)got : 0;
    if (!is_pairs && chunk->len % kind->size != 0)
        return input_cut_off(input, chunk->len % kind->size, error);
    return got > (ssize_t)len ? (ssize_t)len : got;
}

/* Marks the chunk if its first record is the file's header, and finds the columns that are named.
 * 0, or -1 with the error set. */
static int skip_header(struct input *input, struct chunk *chunk, bool at_end, struct error *error)
{
    const size_t len = chunk->len - chunk->begin;
    if (!input->has_header || (len == 0 && !at_end))
        return 0;
    input->has_header = false;
    chunk->origin.has_header = true;
    if (input_seeks_columns(input) &&
        input_find_columns(input, chunk->data + chunk->begin, len, error) != 0)
        return -1;
    chunk->origin.columns = input->plan.columns;
    return 0;
}

/* Cuts the first chunk of a content, and leaves out the byte order mark that it may begin with. A
 * part of one waits for the rest. 0, or -1: out of memory. */
static int cut_after_bom(struct input *input, struct chunk *chunk, bool at_end)
{
    const size_t len = chunk->len;
    input->seeks_bom = !at_end && (len == 0 || (len < FIELD_BOM_SIZE && chunk->data[0] == 0xef));
    if (!input->seeks_bom) {
        chunk->begin = field_bom_len(chunk->data, len);
        return records_cut(&input->records, chunk, 0, at_end);
    }
    chunk->len = 0;
    return records_begin_with(&input->records, chunk->data, len);
}

int input_cut(struct input *input, struct chunk *chunk, size_t waited, bool at_end,
              struct error *error)
{
    struct records *records = &input->records;
    if ((input->seeks_bom ? cut_after_bom(input, chunk, at_end)
                          : records_cut(records, chunk, waited, at_end)) != 0)
        return error_of(error, input->bytes.name, "out of memory");
    chunk->origin.bytes = chunk->len - chunk->repeated;
    if (*records->missing) {
        /* A number before that may be invalid, too; but what cannot be told from the header is not.
         */
        if (skip_header(input, chunk, at_end, error) != 0)
            chunk->len = chunk->begin;
        return error_of(error, input->bytes.name,
                        "a quoted field opened %s; where quotes have no meaning, use --separator "
                        "instead of --csv",
                        records->missing);
    }
    if (!input->is_begun && record_is_line(&records->kind) && chunk->begin < chunk->len) {
        input->is_begun = true;
        input->is_one_line =
            records_are_one_line(chunk->data + chunk->begin, chunk->len - chunk->begin);
    }
    return skip_header(input, chunk, at_end, error);
}

/* --- shards: all files are cut by sizes alone. To a shard of one file belong the records and
 * frames that begin in its range; if the end of a frame cannot be found, so does all that follows.
 * --- */

__extension__ typedef unsigned __int128 wide_position;

bool shard_range_of(const struct shard_choice *choice, uint64_t bytes, uint64_t start,
                    uint64_t size, uint64_t *begin, uint64_t *end)
{
    const wide_position all = bytes;
    uint64_t first = (uint64_t)(all * (choice->part - 1) / choice->of);
    uint64_t last = (uint64_t)(all * choice->part / choice->of), stop = start + size;
    if (size == 0 || choice->is_whole) {
        /* An empty file at the end of the list begins in no shard. */
        bool is_last = start == bytes && choice->part == choice->of;
        *begin = 0;
        *end = size;
        return is_last || (start >= first && start < last);
    }
    first = first > start ? first : start;
    last = last < stop ? last : stop;
    *begin = first - start;
    *end = last - start;
    return first < last;
}

/* Sets *size to that of a file. 0, SHARD_REFUSED or SHARD_FAILED. */
static int measure(const char *name, uint64_t *size, struct error *error)
{
    struct stat status;
    if (strcmp(name, "-") == 0) {
        error_set(error, "--part: cannot divide standard input; name files instead");
        return SHARD_REFUSED;
    }
    if (stat(name, &status) != 0) {
        error_of(error, name, "%s", strerror(errno));
        return SHARD_FAILED;
    }
    if (!S_ISREG(status.st_mode)) {
        error_of(error, name, "%s cannot be divided; --part needs regular files",
                 S_ISDIR(status.st_mode)    ? "a directory"
                 : S_ISFIFO(status.st_mode) ? "a pipe"
                                            : "a device");
        return SHARD_REFUSED;
    }
    *size = (uint64_t)status.st_size;
    return 0;
}

/* --- XXH64 of files, and of lists of files: to see that shards are of the same ones --- */

/* Bytes at either end of a file that its fingerprint covers. */
#define FINGERPRINT_END ((size_t)64 << 10)

static void hash_size(struct xxh64 *hash, uint64_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(size >> 8 * i);
    xxh64_add(hash, bytes, sizeof bytes);
}

/* Sets *fingerprint to that of a regular file of `size` bytes: of the size (8 bytes, little-endian)
 * and of its first and last FINGERPRINT_END bytes, or of all of them twice. 0, or -1 with the
 * error set. */
static int fingerprint_file(const struct bytes *bytes, uint64_t size, uint64_t *fingerprint,
                            struct error *error)
{
    const size_t len = size < FINGERPRINT_END ? (size_t)size : FINGERPRINT_END;
    const uint64_t offsets[] = {0, size - len};
    unsigned char data[FINGERPRINT_END];
    struct xxh64 hash;
    xxh64_begin(&hash);
    hash_size(&hash, size);
    for (unsigned i = 0; i < 2; i++) {
        ssize_t got = bytes_read_at(bytes, data, len, offsets[i], error);
        if (got < 0)
            return -1;
        xxh64_add(&hash, data, (size_t)got);
    }
    *fingerprint = xxh64_value(&hash);
    return 0;
}

/* Lists and measures all files, and adds up their sizes and the digest: of each name with its NUL
 * and of each size, in order. 0, SHARD_REFUSED or SHARD_FAILED. */
static int list_all(struct shard *shard, char *const *names, struct error *error)
{
    struct xxh64 hash;
    xxh64_begin(&hash);
    for (size_t i = 0; i < shard->files; i++) {
        struct file_shard *file = &shard->list[i];
        *file = (struct file_shard){
            .index = i, .name = names[i], .wants_fingerprint = shard->choice.wants_fingerprints};
        int rc = measure(names[i], &file->size, error);
        if (rc != 0)
            return rc;
        if (file->size > UINT64_MAX - shard->bytes) {
            error_of(error, names[i], "the files are too large for --part");
            return SHARD_FAILED;
        }
        shard->bytes += file->size;
        xxh64_add(&hash, names[i], strlen(names[i]) + 1);
        hash_size(&hash, file->size);
    }
    shard->digest = xxh64_value(&hash);
    return 0;
}

int shard_open(struct shard *shard, const struct shard_choice *choice, char *const *names,
               size_t count, struct error *error)
{
    *shard = (struct shard){.choice = *choice, .files = count};
    if (count == 0)
        return measure("-", NULL, error);
    shard->list = calloc(count, sizeof shard->list[0]);
    if (!shard->list) {
        error_set(error, "out of memory");
        return SHARD_FAILED;
    }
    int rc = list_all(shard, names, error);
    uint64_t start = 0;
    for (size_t i = 0; i < count && rc == 0; i++) { /* keeps those of the shard */
        struct file_shard file = shard->list[i];
        if (shard_range_of(choice, shard->bytes, start, file.size, &file.begin, &file.end))
            shard->list[shard->count++] = file;
        start += file.size;
    }
    if (rc != 0)
        shard_close(shard);
    return rc;
}

void shard_close(struct shard *shard)
{
    free(shard->list);
    *shard = (struct shard){.list = NULL};
}

/* --- the shard of one file --- */

int file_shard_check(struct input *input, struct file_shard *shard, struct error *error)
{
    if (!input->bytes.regular)
        return error_of(error, input->bytes.name, "is no longer a regular file");
    if (input->bytes.opened_size < shard->size)
        return error_of(error, input->bytes.name, "was truncated after it was divided into shares");
    if (shard->size == 0) {
        struct stat status; /* of files in /proc it has no size either */
        char byte;
        ssize_t got = bytes_read_at(&input->bytes, &byte, 1, 0, error);
        if (got < 0)
            return -1;
        const bool was_added = fstat(input->bytes.fd, &status) == 0 && status.st_size > 0;
        if (got > 0 && !was_added)
            return error_of(error, input->bytes.name,
                            "has a size of 0 but is not empty, so it cannot be divided");
    }
    input->bytes.opened_size = shard->size;
    input->bytes.is_cut = true;
    input->bytes.may_be_short = false;
    if (!shard->wants_fingerprint)
        return 0;
    return fingerprint_file(&input->bytes, shard->size, &shard->fingerprint, error);
}

/* What is known of the frames before those of the shard. */
struct frames_before {
    uint64_t content_at; /* the last that may have content, */
    uint64_t sized_at;   /* and that says that it has; or the first frame of all */
};

/* Finds the frames that begin in the shard: bytes [first, next) of the file. 0 or -1. */
static int find_frames(struct input *input, const struct file_shard *shard,
                       struct frames_before *before, struct error *error)
{
    struct shard_edges *edges = &input->plan.edges;
    const uint64_t size = shard->size, none = size;
    const bool needs_sizes = input->frames.needs_sizes;
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
        /* No cut is made after a frame whose end is not known, or that does not say how much it
         * holds if the values after it depend on that. */
        const bool is_sized = walk.frame.content != FRAME_UNSIZED;
        if (step == WALK_BROKEN || (!is_sized && needs_sizes))
            break;
        if (edges->first != none || walk.frame.content == 0)
            continue;
        before->content_at = walk.offset;
        if (is_sized)
            before->sized_at = walk.offset;
        if (needs_sizes)
            edges->content = content_add(edges->content, walk.frame.content);
    }
    return step == WALK_FAILED ? -1 : 0;
}

static int take_last(void *arg, const unsigned char *data, size_t len)
{
    int *last = arg;
    if (len > 0)
        *last = data[len - 1];
    return 1;
}

/* Finds out whether a record goes on from before, and whether anything comes before at all. 0 or
 * -1. */
static int find_edge(struct input *input, const struct frames_before *before, struct error *error)
{
    struct shard_edges *edges = &input->plan.edges;
    const struct record_kind *kind = &input->records.kind;
    int last = -1; /* byte of content before; there may be none */
    edges->is_first = edges->first == 0;
    if (record_is_byte(kind) || kind->type == RECORD_PAIRS || edges->is_first ||
        edges->first == edges->next)
        return 0; /* no byte of the shard is to be dropped */
    if (!record_is_text(kind)) {
        edges->goes_on = edges->content % kind->size != 0;
        return 0;
    }
    /* Frames that do not say how much they hold may be empty: then all since the last one that says
     * so are decoded. */
    const uint64_t begins[] = {before->content_at, before->sized_at};
    for (unsigned i = 0; i < 2 && last < 0; i++)
        if (peek_content(&input->frames, begins[i], edges->first, take_last, &last, error) != 0)
            return -1;
    edges->is_first = last < 0;
    edges->goes_on = last >= 0 && !ends_record(kind, (unsigned char)last);
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
    struct frames_before before = {0, 0};
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

/* Of what is not compressed, pieces are those values that begin in the shard; the file may end
 * within one. Pieces of text are read up to the ends of their last records, wherever the shard
 * ends. */
int file_shard_select(struct input *input, const struct file_shard *shard, struct error *error)
{
    if (input->frames.codec)
        return enter_frames(input, shard, error);
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

/* Adds as many bytes to the record that a span completes as belong to it. */
static int take_end(void *arg, const unsigned char *data, size_t len)
{
    struct span *joined = arg;
    const struct record_kind *kind = joined->kind;
    if (record_is_text(kind)) {
        size_t end = kind->head(data, len);
        /* A pair is whole with its second byte. */
        bool is_open =
            kind->type != RECORD_PAIRS && end == len && joined->head.len + end < joined->max;
        return fragment_append(&joined->head, joined->max, data, end) == 0 ? is_open : -1;
    }
    size_t missing = kind->size - joined->head.len % kind->size;
    size_t taken = len < missing ? len : missing;
    joined->head.bytes += taken;
    return fragment_append(&joined->head, joined->max, data, taken) == 0 ? taken < missing : -1;
}

int file_shard_complete(const struct input *input, struct span *joined, struct error *error)
{
    const struct shard_edges *edges = &input->plan.edges;
    const struct record_kind *kind = joined->kind;
    bool is_whole = !record_is_text(kind) && joined->head.len % kind->size == 0;
    if (edges->next == edges->file_end || joined->head.len == 0 || joined->head.given || is_whole)
        return 0;
    return peek_content(&input->frames, edges->next, edges->file_end, take_end, joined, error);
}
