/* SPDX-License-Identifier: MIT */
#include "beginning.h"
#include "src/frames/peek.h"
#include "src/records/records.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)512) /* bytes that are looked at first */

/* The first bytes of the content. */
struct beginning {
    struct peek *peek;
    unsigned char *data; /* owned */
    size_t len;
    bool is_all; /* the content has no more */
};

/* Sees `wanted` bytes, or all. 0, or -1 with the reason set. */
static int see(struct beginning *beginning, size_t wanted, struct reason *why)
{
    size_t cap = FIRST_SIZE;
    while (cap < wanted)
        cap *= 2;
    unsigned char *data = realloc(beginning->data, cap);
    if (!data)
        return reason_of(why, beginning->peek->bytes->name, "out of memory");
    beginning->data = data;
    while (beginning->len < wanted && !beginning->is_all) {
        ssize_t got = peek_read(beginning->peek, data + beginning->len, cap - beginning->len, why);
        if (got < 0)
            return -1;
        beginning->len += (size_t)got;
        beginning->is_all = got == 0;
    }
    return 0;
}

enum header_status beginning_header(struct peek *peek, struct header *header, struct reason *why)
{
    struct beginning beginning = {.peek = peek};
    enum header_status status = HEADER_PART;
    struct reason fault;
    size_t wanted = 1;
    while (status == HEADER_PART) {
        if (see(&beginning, wanted, why) != 0) {
            free(beginning.data);
            return HEADER_WRONG;
        }
        status = beginning.len < wanted
                     ? header_look_at_all(beginning.data, beginning.len, header, &fault)
                     : header_look(beginning.data, beginning.len, &wanted, header, &fault);
    }
    if (status == HEADER_WRONG)
        reason_of(why, peek->bytes->name, "%s", fault.text);
    free(beginning.data);
    return status;
}

int beginning_column(struct peek *peek, const struct field *field, int32_t *column,
                     struct reason *why)
{
    struct beginning beginning = {.peek = peek};
    int rc = see(&beginning, 1, why);
    while (rc == 0 && !beginning.is_all && beginning.len <= FIELD_RECORD_MAX &&
           !memchr(beginning.data, '\n', beginning.len))
        rc = see(&beginning, beginning.len + 1, why);
    if (rc == 0)
        rc = records_find_column(field, beginning.data, beginning.len, peek->bytes->name, column,
                                 why);
    free(beginning.data);
    return rc;
}
