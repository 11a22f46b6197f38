/* SPDX-License-Identifier: MIT */
#include "enter.h"
#include "src/open/header.h"

#define HEAD_SIZE ((size_t)512) /* bytes of a regular file that are read to look for a header */

static int enter_failed(const struct input *input, const char *fault, struct reason *why)
{
    reason_of(why, input->name, "%s", fault);
    return -1;
}

/* Leaves out the beginning of a regular file, which is not read, and what is after the range. */
static void enter_file(struct input *input)
{
    const struct content_range *range = &input->range;
    uint64_t end = input->opened_size < range->end ? input->opened_size : range->end;
    if (range->begin > CONTENT_MAX - (uint64_t)input->base) {
        input->opened_size = 0; /* no file has an offset like that */
        input->ended = true;
        return;
    }
    input->base += (off_t)range->begin;
    input->skipped = range->begin;
    input->opened_size = end > range->begin ? end - range->begin : 0;
    if (range->end != CONTENT_TO_END)
        input->limit = range->end - range->begin;
}

/* Takes the beginning of a stream, and drops it. 0 or -1. */
static int drop_beginning(struct input *input, struct reason *why)
{
    struct units *first = &input->units;
    uint64_t left = input->range.begin;
    if (left > 0 && units_reserve(first, UNITS_SIZE_FIRST) != 0)
        return enter_failed(input, "out of memory", why);
    for (;;) {
        size_t waiting = first->len - first->pos, dropped = left < waiting ? (size_t)left : waiting;
        first->pos += dropped;
        left -= dropped;
        if (left == 0 || input->ended)
            return 0;
        size_t len = left < first->cap ? (size_t)left : first->cap;
        ssize_t got = input_take(input, first->data, len, why);
        if (got < 0)
            return -1;
        first->pos = 0;
        first->len = (size_t)got;
    }
}

/* The same, and limits what is taken after that. 0 or -1. */
static int enter_stream(struct input *input, struct reason *why)
{
    const struct content_range *range = &input->range;
    struct units *first = &input->units;
    struct reason fault;
    input->limit = range->end;
    if (input->taken > range->end && range->is_whole) {
        content_goes_on(range, &fault);
        return enter_failed(input, fault.text, why);
    }
    if (first->len > range->end)
        first->len = (size_t)range->end;
    bool is_all = input->taken >= range->end && !range->is_whole;
    input->ended |= is_all || (range->begin == range->end && !range->is_whole);
    return drop_beginning(input, why);
}

/* --- the header --- */

/* Reads the first bytes of the FILE into `units`, as many as are wanted, unless it has less. Of a
 * regular file some more may be read, which takes nothing. 0 or -1. */
static int see_head(struct input *input, size_t wanted, struct reason *why)
{
    struct units *first = &input->units;
    size_t least = input->regular ? HEAD_SIZE : UNITS_SIZE_FIRST;
    if (units_reserve(first, wanted > least ? wanted : least) != 0)
        return enter_failed(input, "out of memory", why);
    while (first->len < wanted && !input->ended) {
        unsigned char *room = first->data + first->len;
        ssize_t got = input->regular
                          ? input_read_at(input, room, first->cap - first->len, first->len, why)
                          : input_take(input, room, wanted - first->len, why);
        if (got < 0)
            return -1;
        first->len += (size_t)got;
        if (input->regular)
            break;
    }
    return 0;
}

enum header_status enter_read_header(struct input *input, struct header *header, struct reason *why)
{
    struct units *first = &input->units;
    enum header_status status = HEADER_PART;
    size_t wanted = 1;
    struct reason fault;
    while (status == HEADER_PART) {
        if (see_head(input, wanted, why) != 0)
            return HEADER_WRONG;
        status = first->len < wanted
                     ? header_look_at_all(first->data, first->len, header, &fault)
                     : header_look(first->data, first->len, &wanted, header, &fault);
    }
    if (status == HEADER_WRONG)
        enter_failed(input, fault.text, why);
    return status;
}

/* Compares the size of a regular file with its range, which a header states. 0; or -1 and the
 * fault. */
static int check_size(const struct input *input, struct reason *fault)
{
    const struct content_range *range = &input->range;
    if (!range->stated || !input->regular || input->may_be_short)
        return 0; /* reading shows it */
    if (input->opened_size < range->end)
        return content_ends_before(range, fault);
    if (input->opened_size > range->end && range->is_whole)
        return content_goes_on(range, fault);
    return 0;
}

/* Sets the range to what follows a header. 0 or -1. */
static int follow_header(struct input *input, const struct content_options *options,
                         struct reason *why)
{
    struct header header;
    struct reason fault;
    enum header_status status = enter_read_header(input, &header, why);
    if (input->regular)
        units_free(&input->units);
    if (status == HEADER_WRONG)
        return -1;
    if (status == HEADER_NONE)
        return content_without_header(options, &fault) == 0 ? 0
                                                            : enter_failed(input, fault.text, why);
    if (content_follow(&input->range, &header, options, &fault) == 0 &&
        check_size(input, &fault) == 0)
        return 0;
    return enter_failed(input, fault.text, why);
}

int enter_range(struct input *input, const struct content_options *options, struct reason *why)
{
    const struct content_range *range = &input->range;
    bool may_have_header = options->header_type && range->begin < range->end;
    if (input->codec) {
        if (may_have_header)
            heading_seek(&input->heading);
        return 0;
    }
    if (may_have_header && follow_header(input, options, why) != 0)
        return -1;
    if (!input->regular)
        return enter_stream(input, why);
    enter_file(input);
    return 0;
}
