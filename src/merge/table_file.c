/* SPDX-License-Identifier: MIT */
#include "table_file.h"
#include "table_json.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

/* What a FILE is read with. */
struct table_file {
    const char *name;
    int fd;
    unsigned char *piece;
    struct merge *merge;
    uint64_t bytes; /* that were read */
};

/* Reads on, as long as there is anything: bytes, 0 at the end, or -1 with a reason. */
static ssize_t file_read(struct table_file *file, struct reason *why)
{
    for (;;) {
        ssize_t len = read(file->fd, file->piece, PIECE);
        if (len >= 0) {
            file->bytes += (uint64_t)len;
            return len;
        }
        struct pollfd ready = {.fd = file->fd, .events = POLLIN};
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            reason_set(why, "%s", strerror(errno));
            return -1;
        }
    }
}

static int file_take(void *arg, struct read_table *table, struct reason *why)
{
    struct table_file *file = arg;
    if (merge_add(file->merge, table, file->name, why) != 0)
        return -1;
    /* As much may follow as there was. */
    merge_know_rows(file->merge, file->bytes);
    return 0;
}

/* Says what is wrong if no table can begin with these bytes; otherwise NULL. */
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

/* Reads JSON, of which the first `len` bytes are in the piece. */
static int file_add_json(struct table_file *file, struct read_table *table, ssize_t len,
                         struct reason *why)
{
    int rc = 0;
    if (table_json_load(why) != 0)
        return -1;
    struct table_json *json =
        table_json_open(table, &file->merge->histogram, &file->merge->known, file_take, file);
    if (!json) {
        reason_set(why, "out of memory");
        return -1;
    }
    while (rc == 0 && len > 0) {
        rc = table_json_read(json, file->piece, (size_t)len, why);
        if (rc != 0)
            break;
        len = file_read(file, why);
        rc = len < 0 ? -1 : 0;
    }
    if (rc == 0)
        rc = table_json_end(json, why);
    table_json_close(json);
    return rc;
}

static int file_add(struct table_file *file, struct read_table *table, struct reason *why)
{
    const ssize_t len = file_read(file, why);
    if (len < 0)
        return -1;
    const char *foreign = foreign_bytes(file->piece, (size_t)len);
    if (foreign) {
        reason_set(why, "%s", foreign);
        return -1;
    }
    return file_add_json(file, table, len, why);
}

int table_file_add(struct held *held, struct read_table *table, struct merge *merge,
                   struct reason *why)
{
    const bool is_standard = strcmp(held->name, "-") == 0;
    struct table_file file = {
        .name = is_standard ? "standard input" : held->name,
        .fd = is_standard ? STDIN_FILENO : held_open(held),
        .piece = malloc(PIECE),
        .merge = merge,
    };
    int rc = -1;
    if (file.fd < 0)
        reason_set(why, "%s", strerror(errno));
    else if (!file.piece)
        reason_set(why, "out of memory");
    else
        rc = file_add(&file, table, why);
    if (rc != 0) {
        reason_begin(why, file.name);
        reason_make_printable(why);
    }
    free(file.piece);
    if (!is_standard && file.fd >= 0)
        close(file.fd);
    return rc;
}
