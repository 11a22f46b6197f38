/* SPDX-License-Identifier: MIT */
#include "replay_window.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE ((size_t)256 << 10) /* bytes: what is dropped goes back to the system, */
#define SPARES_MAX 4 /* but for so many pieces: memory that was not touched yet is slow */

struct window_piece {
    struct window_piece *next;
    uint64_t begin, end; /* of the stream: begin is that of data[0] */
    unsigned char data[PIECE_SIZE];
};

static struct window_piece *append_piece(struct replay_window *kept)
{
    struct window_piece *piece = kept->spare ? kept->spare : malloc(sizeof *piece);
    if (!piece)
        return NULL;
    if (piece == kept->spare) {
        kept->spare = piece->next;
        kept->spares--;
    }
    piece->next = NULL;
    piece->begin = piece->end = kept->end;
    if (kept->last)
        kept->last->next = piece;
    else
        kept->first = piece;
    kept->last = piece;
    return piece;
}

int window_add(struct replay_window *kept, const unsigned char *data, size_t len)
{
    while (len > 0) {
        struct window_piece *piece = kept->last;
        if ((!piece || piece->end - piece->begin == PIECE_SIZE) && !(piece = append_piece(kept)))
            return -1;
        size_t used = (size_t)(piece->end - piece->begin), space = PIECE_SIZE - used;
        size_t part = len < space ? len : space;
        memcpy(piece->data + used, data, part);
        piece->end = kept->end += part;
        data += part;
        len -= part;
    }
    return 0;
}

size_t window_copy(const struct replay_window *kept, uint64_t at, unsigned char *out, size_t cap)
{
    size_t done = 0;
    for (const struct window_piece *piece = kept->first; piece && done < cap; piece = piece->next) {
        if (piece->end <= at)
            continue;
        size_t left = (size_t)(piece->end - at), part = left < cap - done ? left : cap - done;
        memcpy(out + done, piece->data + (at - piece->begin), part);
        done += part;
        at += part;
    }
    return done;
}

void window_drop(struct replay_window *kept, uint64_t at)
{
    if (at > kept->begin)
        kept->begin = at < kept->end ? at : kept->end;
    while (kept->first && kept->first->end <= kept->begin) {
        struct window_piece *dropped = kept->first;
        kept->first = dropped->next;
        if (kept->spares == SPARES_MAX) {
            free(dropped);
            continue;
        }
        dropped->next = kept->spare;
        kept->spare = dropped;
        kept->spares++;
    }
    if (!kept->first)
        kept->last = NULL;
}

int window_prepend(struct replay_window *kept, const unsigned char *data, size_t len)
{
    struct replay_window before = {0};
    if (len == 0)
        return 0;
    before.begin = before.end = kept->begin - len;
    if (window_add(&before, data, len) != 0) {
        window_restart(&before, 0);
        return -1;
    }
    /* The next piece may have bytes before begin, which were dropped. */
    before.last->next = kept->first;
    kept->first = before.first;
    kept->last = kept->last ? kept->last : before.last;
    kept->begin = before.begin;
    return 0;
}

void window_restart(struct replay_window *kept, uint64_t at)
{
    window_drop(kept, UINT64_MAX);
    for (struct window_piece *next; kept->spare; kept->spare = next) {
        next = kept->spare->next;
        free(kept->spare);
    }
    kept->spares = 0;
    kept->begin = kept->end = at;
}
