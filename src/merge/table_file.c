/* SPDX-License-Identifier: MIT */
#include "table_file.h"
#include "table_json.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

struct table_file {
    const char *name;
    int fd;
    unsigned char *piece;
    uint64_t bytes; /* that were read */
    struct merge *merge;
};

/* Reads the next piece: bytes, 0 at the end, or -1 with a reason. */
static ssize_t read_piece(struct table_file *file, struct reason *why)
{
    for (;;) {
        const ssize_t len = read(file->fd, file->piece, PIECE);
        if (len >= 0) {
            file->bytes += (uint64_t)len;
            return len;
        }
        struct pollfd ready = {.fd = file->fd, .events = POLLIN};
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return reason_set(why, "%s", strerror(errno));
        }
    }
}

static int add_table(void *arg, struct read_table *table, struct reason *why)
{
    struct table_file *file = arg;
    if (merge_add(file->merge, table, file->name, why) != 0)
        return -1;
    /* As much may follow as there was. */
    merge_know_rows(file->merge, file->bytes);
    return 0;
}

/* Returns what is wrong if no table can begin with these bytes; otherwise NULL. */
static const char *foreign_bytes(const unsigned char *bytes, size_t len)
{
    size_t at = 0;
    if (len >= 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
        return "is compressed; decompress it first, with 'zstd -d'";
    if (len >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        return "is compressed; decompress it first, with 'gzip -d'";
    while (at < len && memchr(" \t\r\n", bytes[at], 4))
        at++;
    return at < len && bytes[at] != '{' ? NOT_A_TABLE : NULL;
}

/* Reads all of the file, of which the first `len` bytes are in the piece. */
static int read_json(struct table_file *file, struct table_json *json, ssize_t len,
                     struct reason *why)
{
    for (; len > 0; len = read_piece(file, why))
        if (table_json_read(json, file->piece, (size_t)len, why) != 0)
            return -1;
    return len < 0 ? -1 : table_json_end(json, why);
}

static int read_file(struct table_file *file, struct read_table *table, struct reason *why)
{
    const struct merge *merge = file->merge;
    const struct table_reader reader = {.table = table,
                                        .histogram = &merge->histogram,
                                        .known = &merge->known,
                                        .max_keys = merge->form.max_keys,
                                        .add = add_table,
                                        .arg = file};
    const ssize_t len = read_piece(file, why);
    if (len < 0)
        return -1;
    const char *foreign = foreign_bytes(file->piece, (size_t)len);
    if (foreign)
        return reason_set(why, "%s", foreign);
    if (table_json_load(why) != 0)
        return -1;
    struct table_json *json = table_json_open(&reader);
    if (!json)
        return reason_set(why, "out of memory");
    const int rc = read_json(file, json, len, why);
    table_json_close(json);
    return rc == 0 ? merge_end_file(file->merge, file->name, why) : rc;
}

int table_file_add(struct held *held, struct read_table *table, struct merge *merge,
                   struct reason *why)
{
    const bool is_standard = strcmp(held->name, "-") == 0;
    struct table_file file = {
        .name = is_standard ? "standard input" : held->name,
        .fd = is_standard ? STDIN_FILENO : held_open(held),
        .merge = merge,
    };
    int rc = -1;
    if (file.fd < 0)
        reason_set(why, "%s", strerror(errno));
    else if (!(file.piece = malloc(PIECE)))
        reason_set(why, "out of memory");
    else
        rc = read_file(&file, table, why);
    if (rc != 0) {
        reason_begin(why, file.name);
        reason_make_printable(why);
    }
    free(file.piece);
    if (!is_standard && file.fd >= 0)
        close(file.fd);
    return rc;
}
