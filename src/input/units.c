#include "units.h"
#include "input.h"

#include <stdlib.h>
#include <string.h>

#define FEED_SIZE ((size_t)512 << 10) /* bytes read at a time: libzstd copies cut blocks */
#define BATCH_SIZE ((size_t)1 << 20)  /* bytes of a batch of many units */

/* How long to wait for the rest of a unit before it is decoded as it comes: a stream that is so
 * slow does not need several decoders. */
#define PATIENCE_MS 50

int units_reserve(struct units *units, size_t cap)
{
    if (units->cap >= cap)
        return 0;
    unsigned char *data = realloc(units->data, cap);
    if (!data)
        return -1;
    units->data = data;
    units->cap = cap;
    return 0;
}

void units_free(struct units *units)
{
    free(units->data);
    *units = (struct units){0};
}

/* What a buffer of compressed bytes begins with. */
struct prefix {
    enum units_kind kind; /* how that must be decoded, */
    size_t whole;         /* UNITS_WHOLE: bytes of whole units */
    uint64_t memory;      /* UNITS_WHOLE: the most that one of them needs */
    bool part;            /* not known yet: more bytes may show a whole unit */
};

/* Whether the unit must be decoded in order: because it needs too much memory to be decoded beside
 * others, or may hold a part of a record. */
static bool is_serial(const struct codec_unit *unit, enum unit_extent extent, size_t record_size)
{
    if (unit->memory > UNITS_MEMORY_MAX)
        return true;
    if (extent != UNIT_WHOLE || record_size == 1)
        return false;
    return unit->content == UNIT_UNSIZED || unit->content % record_size != 0;
}

/* Looks at in[0..len), len > 0, where a unit begins. */
static struct prefix find_prefix(const struct input *input, const unsigned char *in, size_t len,
                                 bool in_record)
{
    struct prefix prefix = {.kind = UNITS_WHOLE};
    if (input->records.size == RECORD_TOKENS)
        return (struct prefix){.kind = UNITS_TO_END};
    if (in_record)
        return (struct prefix){.kind = UNITS_OPEN};
    while (prefix.whole < len) {
        struct codec_unit unit;
        enum unit_extent extent = input->codec->look(in + prefix.whole, len - prefix.whole, &unit);
        if (extent == UNIT_UNKNOWN)
            prefix.kind = UNITS_TO_END;
        else if (is_serial(&unit, extent, input->records.size))
            prefix.kind = UNITS_OPEN;
        prefix.part = extent == UNIT_PART && prefix.kind == UNITS_WHOLE;
        if (prefix.part || prefix.kind != UNITS_WHOLE)
            break;
        prefix.whole += unit.size;
        prefix.memory = unit.memory > prefix.memory ? unit.memory : prefix.memory;
    }
    if (prefix.whole > 0) /* what follows these units comes in the next batch */
        prefix = (struct prefix){UNITS_WHOLE, prefix.whole, prefix.memory, false};
    return prefix;
}

/* Reads until *units is full, or to the end. A stream gives what is there, and is waited for only
 * if there is nothing at all. 0 or -1. */
static int fill(struct input *input, struct units *units, struct reason *why)
{
    while (units->len < units->cap && !input->ended && (units->len == 0 || input_ready(input, 0))) {
        ssize_t got = input_take(input, units->data + units->len, units->cap - units->len, why);
        if (got < 0)
            return -1;
        units->len += (size_t)got;
    }
    return 0;
}

/* Whether there is more to be had that could make a unit whole: room for it is made, or a stream is
 * waited for. */
static bool can_gather_more(struct input *input, struct units *units)
{
    if (input->ended)
        return false;
    if (units->len < units->cap)
        return input_ready(input, PATIENCE_MS);
    return units->cap < UNITS_SIZE_MAX && units_reserve(units, 2 * units->cap) == 0;
}

/* Reads whole units into the input's own buffer, or the beginning of one that must be decoded in
 * order. */
static enum units_result gather(struct input *input, struct prefix *prefix, struct reason *why)
{
    struct units *units = &input->units;
    if (units_reserve(units, UNITS_SIZE_FIRST) != 0)
        return UNITS_NO_MEMORY;
    do {
        if (fill(input, units, why) != 0)
            return UNITS_FAILED;
        if (units->len == 0)
            return UNITS_END;
        *prefix = find_prefix(input, units->data, units->len, input->records.cut_len > 0);
    } while (prefix->part && can_gather_more(input, units));
    if (prefix->part)
        prefix->kind = UNITS_OPEN;
    return UNITS_TAKEN;
}

/* Has the two change places; the rest, what follows the first `given` bytes, moves over. */
static int hand_out(struct input *input, struct units *units, size_t given)
{
    struct units *own = &input->units;
    size_t rest = own->len - given, least = rest > UNITS_SIZE_FIRST ? rest : UNITS_SIZE_FIRST;
    size_t wanted = own->cap < BATCH_SIZE ? 2 * own->cap : own->cap;
    if (units_reserve(units, wanted) != 0 && units_reserve(units, least) != 0)
        return -1;
    struct units next = {
        .data = units->data, .len = rest, .cap = units->cap, .offset = own->offset + given};
    memcpy(next.data, own->data + given, rest);
    *units = *own;
    units->len = given;
    *own = next;
    return 0;
}

enum units_result units_take(struct input *input, struct units *units, struct reason *why)
{
    struct prefix prefix;
    enum units_result result = gather(input, &prefix, why);
    if (result == UNITS_END && input->taken == 0) {
        reason_of(why, input->name, "not %s data (it is empty)", input->codec->name);
        return UNITS_FAILED;
    }
    if (result != UNITS_TAKEN)
        return result;
    size_t given = prefix.kind == UNITS_WHOLE ? prefix.whole : input->units.len;
    if (hand_out(input, units, given) != 0)
        return UNITS_NO_MEMORY;
    units->kind = prefix.kind;
    units->memory = prefix.memory;
    return UNITS_TAKEN;
}

ssize_t units_feed(struct input *input, struct units *units, struct reason *why)
{
    size_t len = units->cap < FEED_SIZE ? units->cap : FEED_SIZE;
    ssize_t got = input_take(input, units->data, len, why);
    if (got > 0) {
        units->offset += units->len;
        units->pos = 0;
        units->len = (size_t)got;
    }
    return got;
}

bool units_go_on(const struct input *input, const struct units *units, bool in_record)
{
    if (units->pos == units->len)
        return false;
    struct prefix next =
        find_prefix(input, units->data + units->pos, units->len - units->pos, in_record);
    return !next.part && next.kind != UNITS_WHOLE;
}

void units_return(struct input *input, struct units *units)
{
    struct units spare = input->units;
    units->len -= units->pos;
    units->offset += units->pos;
    memmove(units->data, units->data + units->pos, units->len);
    units->pos = 0;
    input->units = *units;
    *units = spare;
}
