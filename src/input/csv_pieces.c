/* SPDX-License-Identifier: MIT */
/* CSV that several workers read side by side. Whether a newline is in quotes depends on all text
 * before it, but scanning needs little of that: the state in which a piece begins. So each worker
 * scans its piece from the state that it probably begins in, and in the order of the file it is
 * told the true one, and tells the next. Where the guess was wrong it scans again, while others
 * wait.
 *
 * What is out of the ordinary is left to the reader that reads in order, from the record on in
 * which it is found: text after a closing quote, records as long as a piece, and the end of the
 * file. */
#include "input.h"
#include "engine.h"
#include "src/base/byte_masks.h"

#include <string.h>

/* Bytes after a piece that are read with it: its last record nearly always ends there. */
#define CSV_MORE ((size_t)4 << 10)

void csv_pieces_begin(struct input *input, size_t chunk_size)
{
    const struct records *records = &input->records;
    const struct bytes *bytes = &input->bytes;
    struct csv_pieces *pieces = &input->csv;
    const uint64_t begin = bytes->taken - records->cut_len, least = 2 * (uint64_t)chunk_size;
    if (pieces->is_open || records->kind.type != RECORD_CSV || !bytes->regular ||
        bytes->may_be_short || input->frames.codec || input->options->shard ||
        content_is_partial(&input->plan.range) || input->has_header || input->seeks_bom ||
        records->too_long || begin <= bytes->begin || bytes->opened_size < begin + least ||
        pthread_mutex_init(&pieces->lock, NULL) != 0)
        return;
    if (pthread_cond_init(&pieces->moved, NULL) != 0) {
        pthread_mutex_destroy(&pieces->lock);
        return;
    }
    pieces->is_open = true;
    pieces->begin = pieces->next = begin;
    pieces->newlines = records->csv.newlines - byte_count(records->cut, records->cut_len, '\n');
    input->records.cut_len = 0;
    input->bytes.taken = begin;
    input->plan.size = input->plan.end = bytes->opened_size;
}

uint64_t csv_pieces_end(struct input *input)
{
    struct csv_pieces *pieces = &input->csv;
    const uint64_t claimed = input->bytes.taken;
    if (!pieces->is_open || pieces->is_over)
        return 0;
    pthread_mutex_lock(&pieces->lock);
    while (claimed == input->plan.end && !pieces->is_stopped && pieces->next < claimed)
        pthread_cond_wait(&pieces->moved, &pieces->lock);
    pieces->is_over = claimed == input->plan.end || pieces->is_stopped;
    pthread_mutex_unlock(&pieces->lock);
    if (!pieces->is_over)
        return 0;
    input->bytes.taken = input->plan.end = pieces->begin;
    input->records.csv = (struct csv_scan){.newlines = pieces->newlines};
    return claimed - pieces->begin;
}

void csv_pieces_close(struct csv_pieces *pieces)
{
    if (!pieces->is_open)
        return;
    pthread_mutex_destroy(&pieces->lock);
    pthread_cond_destroy(&pieces->moved);
}

/* A piece that was read: data[0..len), behind a byte more, followed by data[len..have). */
struct csv_piece {
    const unsigned char *data;
    size_t len, have;
    enum csv_state began; /* the state that it was scanned from */
    struct csv_scan scan; /* up to its end */
    size_t records_end;   /* after the last newline in it that ends a record; 0: there is none */
    size_t newlines;      /* in it */
};

/* Returns the state in which a piece probably begins: in quotes if its first quote looks like one
 * that closes. */
static enum csv_state probable_state(const struct csv_piece *piece, unsigned char separator)
{
    const unsigned char before = piece->data[-1], *limit = piece->data + piece->len;
    const unsigned char *quote = memchr(piece->data, '"', piece->len);
    if (quote && limit - quote > 1 && quote[-1] != separator && quote[-1] != '\n' &&
        (quote[1] == separator || quote[1] == '\n' || quote[1] == '\r'))
        return CSV_QUOTED;
    return before == '"'                           ? CSV_QUOTE
           : before == '\n' || before == separator ? CSV_FIELD_START
                                                   : CSV_PLAIN;
}

static void scan_from(struct csv_piece *piece, unsigned char separator, enum csv_state state)
{
    piece->began = state;
    piece->scan = (struct csv_scan){.state = state};
    piece->records_end = field_scan_csv(separator, piece->data, 0, piece->len, &piece->scan);
}

/* Returns where the piece's last record ends, behind the piece if it goes on there; 0 if that is
 * not known, or the record is not an ordinary one. */
static size_t last_record_end(const struct csv_piece *piece, unsigned char separator)
{
    struct csv_scan scan = piece->scan;
    const size_t end = piece->records_end, len = piece->len;
    if (end == len || end == 0 || scan.is_odd)
        return scan.is_odd ? 0 : end;
    const size_t more = field_end_csv(separator, piece->data + len, piece->have - len, &scan);
    const bool is_known = len + more < piece->have && scan.matched == 0;
    return is_known && len + more - end <= FIELD_RECORD_MAX ? len + more + 1 : 0;
}

/* Returns the newlines in data[begin..end): those of the piece, which were counted before its turn,
 * but for its ends. */
static size_t newlines_between(const struct csv_piece *piece, size_t begin, size_t end)
{
    const unsigned char *data = piece->data;
    const size_t len = piece->len, inside = end < len ? end : len;
    return piece->newlines - byte_count(data, begin, '\n') -
           byte_count(data + inside, len - inside, '\n') +
           byte_count(data + inside, end - inside, '\n');
}

/* Takes over from the piece before and hands on to the next one. Sets [*from, *to) to the piece's
 * records; an empty range if they are left to who reads in order. */
static void take_turn(struct csv_pieces *pieces, struct csv_piece *piece, uint64_t offset,
                      unsigned char separator, size_t *from, size_t *to)
{
    *from = *to = 0;
    pthread_mutex_lock(&pieces->lock);
    while (!pieces->is_stopped && pieces->next != offset)
        pthread_cond_wait(&pieces->moved, &pieces->lock);
    if (!pieces->is_stopped) {
        if (pieces->quotes != piece->began)
            scan_from(piece, separator, pieces->quotes);
        const size_t begin = (size_t)(pieces->begin - offset);
        const size_t end = begin < piece->len ? last_record_end(piece, separator) : 0;
        if (end > begin) {
            *from = begin;
            *to = end;
            pieces->newlines += newlines_between(piece, begin, end);
            pieces->begin = offset + end;
            pieces->next = offset + piece->len;
            pieces->quotes = piece->scan.state;
        } else {
            pieces->is_stopped = true;
        }
        pthread_cond_broadcast(&pieces->moved);
    }
    pthread_mutex_unlock(&pieces->lock);
}

ssize_t csv_pieces_read(struct input *input, struct chunk *chunk, size_t len, uint64_t offset,
                        struct error *error)
{
    const unsigned char separator = input->records.field->separator;
    const uint64_t from = offset - 1, left = input->plan.size - from;
    const size_t wanted = left < 1 + len + CSV_MORE ? (size_t)left : 1 + len + CSV_MORE;
    const ssize_t got = bytes_read_at(&input->bytes, chunk->data, wanted, from, error);
    struct csv_piece piece = {.data = chunk->data + 1, .len = len};
    size_t begin = 0, end = 0;
    chunk->begin = chunk->len = chunk->repeated = 0;
    if (got > 0 && (size_t)got > len) {
        piece.have = (size_t)got - 1;
        piece.newlines = byte_count(piece.data, len, '\n');
        scan_from(&piece, separator, probable_state(&piece, separator));
    } else {
        piece.len = 0;
    }
    take_turn(&input->csv, &piece, offset, separator, &begin, &end);
    if (end > begin) {
        chunk->begin = 1 + begin;
        chunk->len = 1 + end;
        chunk->origin.content = offset + begin;
    }
    return got < 0 ? -1 : (ssize_t)(end - begin);
}
