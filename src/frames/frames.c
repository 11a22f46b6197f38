/* SPDX-License-Identifier: MIT */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#define FEED_SIZE ((size_t)512 << 10) /* bytes read at a time: libzstd copies cut blocks */
#define SMALL_SIZE ((size_t)4 << 10)  /* bytes of the smallest buffer */
#define BATCH_SIZE ((size_t)1 << 20)  /* bytes of a batch of many units */

/* Bytes of whole units that are worth a batch of their own between units that are decoded in order:
 * every batch takes a buffer, and what is left in that is moved to another one. */
#define BATCH_LEAST ((size_t)16 << 10)

/* What a batch of UNITS_OPEN may need at least, bytes, so that it need not end at every unit that
 * is a little larger than the one that it began with. */
#define MEMORY_LEAST ((uint64_t)256 << 10)

/* Links of a unit that are followed to its end: where it takes more, they stand so close together
 * that reading all that lies between is as fast. */
#define LINKS_MAX 1024

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

/* Whether the unit must be decoded in order: because it needs too much memory to be decoded beside
 * others, or because it does not tell at which byte of the content the next unit begins, which
 * values and ranges depend on. */
static bool is_serial(const struct frames *frames, const struct codec_unit *unit,
                      enum unit_extent extent)
{
    if (unit->memory > frames->unit_memory)
        return true;
    return extent == UNIT_WHOLE && unit->content == UNIT_UNSIZED && frames->needs_sizes;
}

/* Looks at in[0..len), len > 0, where a unit begins. */
static struct units_ahead look_ahead(const struct frames *frames, const unsigned char *in,
                                     size_t len)
{
    struct units_ahead ahead = {.kind = UNITS_WHOLE};
    size_t most = frames->batch_size > 0 && frames->batch_size < len ? frames->batch_size : len;
    while (ahead.whole < most) {
        struct codec_unit unit;
        enum unit_extent extent = frames->codec->look(in + ahead.whole, len - ahead.whole, &unit);
        if (extent == UNIT_UNKNOWN)
            ahead.kind = UNITS_TO_END;
        else if (is_serial(frames, &unit, extent))
            ahead.kind = UNITS_OPEN;
        ahead.part = extent == UNIT_PART && ahead.kind == UNITS_WHOLE;
        bool comes_later = ahead.part || ahead.kind != UNITS_WHOLE;
        if (comes_later && ahead.whole > 0)
            break;
        if (unit.memory > ahead.memory) {
            ahead.memory = unit.memory;
            ahead.largest = ahead.whole;
        }
        if (comes_later)
            break;
        ahead.whole += (size_t)unit.size;
        ahead.content = content_add(ahead.content, unit.content);
    }
    if (ahead.whole > 0) { /* what follows these units comes in the next batch */
        ahead.kind = UNITS_WHOLE;
        ahead.part = false;
    }
    if (ahead.kind == UNITS_OPEN && ahead.memory < MEMORY_LEAST)
        ahead.memory = MEMORY_LEAST;
    return ahead;
}

/* Reads until *units is full, or to the end. A stream gives what is there, and is waited for only
 * if there is nothing at all. 0 or -1. */
static int fill(struct frames *frames, struct units *units, struct reason *why)
{
    while (units->len < units->cap && !bytes_are_over(frames->bytes) &&
           (units->len == 0 || bytes_ready(frames->bytes, 0))) {
        ssize_t got =
            bytes_take(frames->bytes, units->data + units->len, units->cap - units->len, why);
        if (got < 0)
            return -1;
        units->len += (size_t)got;
    }
    return 0;
}

/* Measures the unit of which the buffer holds a part by reading its links alone. Its bytes, or at
 * least so many; 0: that cannot be told, or not soon. */
static uint64_t measure_unit(const struct frames *frames, const struct units *units)
{
    const struct codec *codec = frames->codec;
    unsigned char link[CODEC_LINK_MAX];
    struct codec_unit unit;
    enum unit_extent extent = codec->look(units->data, units->len, &unit);
    if (extent != UNIT_PART || unit.size == 0 || !codec->follow)
        return 0;
    if (unit.is_stated)
        return unit.size;
    for (int links = 0; links < LINKS_MAX; links++) {
        bool is_there = unit.size <= units->len && codec->link_size <= units->len - unit.size;
        if (!is_there &&
            !bytes_has(frames->bytes, link, codec->link_size, units->offset + unit.size))
            return 0;
        extent = codec->follow(is_there ? units->data + unit.size : link, &unit);
        if (extent == UNIT_UNKNOWN)
            return 0;
        if (extent == UNIT_WHOLE || unit.size > UNITS_SIZE_MAX)
            return unit.size;
    }
    return 0;
}

/* Makes room for the rest of a unit that fills the buffer. Whether there is. One that proves too
 * large to be handed out whole is not read for that, as others wait for their turn. */
static bool make_room(const struct frames *frames, struct units *units)
{
    size_t wanted = 2 * units->cap;
    uint64_t size = frames->bytes->regular ? measure_unit(frames, units) : 0;
    if (size > UNITS_SIZE_MAX) {
        (void)units_reserve(units, FEED_SIZE); /* only faster: may fail */
        return false;
    }
    if (size > wanted)
        wanted = (size_t)size;
    return units->cap < UNITS_SIZE_MAX && units_reserve(units, wanted) == 0;
}

/* Whether there is more to be had that could make a unit whole: room for it is made, or a stream is
 * waited for. */
static bool can_gather_more(struct frames *frames, struct units *units)
{
    if (bytes_are_over(frames->bytes))
        return false;
    if (units->len < units->cap)
        return bytes_ready(frames->bytes, PATIENCE_MS);
    return make_room(frames, units);
}

/* Bytes of a buffer to begin with: for a small file no more than it has, and the look past its end,
 * as most of the time with many such files goes into memory that is mapped for each. */
static size_t first_size(const struct frames *frames)
{
    uint64_t size = frames->bytes->opened_size + 1;
    if (!frames->bytes->regular || frames->bytes->opened_size == 0 || size >= UNITS_SIZE_FIRST)
        return UNITS_SIZE_FIRST;
    return size < SMALL_SIZE ? SMALL_SIZE : (size_t)size;
}

enum units_result frames_look(struct frames *frames, struct units_ahead *ahead, struct reason *why)
{
    struct units *units = &frames->units;
    if (units_reserve(units, first_size(frames)) != 0)
        return UNITS_NO_MEMORY;
    do {
        if (fill(frames, units, why) != 0)
            return UNITS_FAILED;
        if (units->len == 0 && frames->bytes->taken > 0)
            return UNITS_END;
        if (units->len == 0) {
            reason_of(why, frames->bytes->name, "not %s data (it is empty)", frames->codec->name);
            return UNITS_FAILED;
        }
        *ahead = look_ahead(frames, units->data, units->len);
    } while (ahead->part && can_gather_more(frames, units));
    if (ahead->part)
        ahead->kind = UNITS_OPEN;
    return UNITS_AHEAD;
}

/* Has the two change places; the rest, what follows the first `given` bytes, moves over. Without a
 * rest the input needs no buffer yet, and if its reader takes it along, hardly ever. */
static int hand_out(struct frames *frames, struct units *units, size_t given)
{
    struct units *own = &frames->units;
    size_t rest = own->len - given, least = rest > UNITS_SIZE_FIRST ? rest : UNITS_SIZE_FIRST;
    size_t wanted = own->cap < BATCH_SIZE ? 2 * own->cap : own->cap;
    if (rest > 0 && units_reserve(units, wanted) != 0 && units_reserve(units, least) != 0)
        return -1;
    struct units next = {
        .data = units->data, .len = rest, .cap = units->cap, .offset = own->offset + given};
    if (rest > 0)
        memcpy(next.data, own->data + given, rest);
    *units = *own;
    units->len = given;
    *own = next;
    return 0;
}

int frames_take(struct frames *frames, const struct units_ahead *ahead, struct units *units)
{
    size_t given = ahead->kind == UNITS_WHOLE ? ahead->whole : frames->units.len;
    if (hand_out(frames, units, given) != 0)
        return -1;
    units->kind = ahead->kind;
    units->memory = ahead->memory;
    units->content = ahead->content;
    return 0;
}

void frames_drop(struct frames *frames, const struct units_ahead *ahead)
{
    struct units *own = &frames->units;
    own->offset += ahead->whole;
    own->len -= ahead->whole;
    memmove(own->data, own->data + ahead->whole, own->len);
}

void frames_seek(struct frames *frames, uint64_t offset)
{
    frames->units.pos = frames->units.len = 0;
    frames->units.offset = frames->bytes->taken = offset;
    frames->bytes->ended = false;
}

ssize_t frames_feed(struct frames *frames, struct units *units, struct reason *why)
{
    if (units->cap > BATCH_SIZE) { /* what it took to see that the unit is a large one */
        unsigned char *smaller = realloc(units->data, BATCH_SIZE);
        units->data = smaller ? smaller : units->data;
        units->cap = smaller ? BATCH_SIZE : units->cap;
    }
    size_t len = units->cap < FEED_SIZE ? units->cap : FEED_SIZE;
    ssize_t got = bytes_take(frames->bytes, units->data, len, why);
    if (got > 0) {
        units->offset += units->len;
        units->pos = units->in_order = 0;
        units->len = (size_t)got;
    }
    return got;
}

/* What data[at..len) begins with, at < len. */
static struct units_ahead look_on(const struct frames *frames, const struct units *units, size_t at)
{
    return look_ahead(frames, units->data + at, units->len - at);
}

bool frames_go_on(const struct frames *frames, struct units *units)
{
    size_t at = units->pos;
    if (at < units->in_order)
        return true;
    if (at == units->len)
        return false;
    struct units_ahead next = look_on(frames, units, at);
    bool is_little = next.whole > 0 && next.whole < BATCH_LEAST && next.memory <= units->memory;
    if (is_little && next.whole < units->len - at) {
        at += next.whole;
        next = look_on(frames, units, at);
    }
    bool goes_on = !next.part && next.kind != UNITS_WHOLE && next.memory <= units->memory;
    units->in_order = goes_on ? at : 0;
    return goes_on;
}

void frames_return(struct frames *frames, struct units *units)
{
    struct units spare = frames->units;
    units->len -= units->pos;
    units->offset += units->pos;
    memmove(units->data, units->data + units->pos, units->len);
    units->pos = units->in_order = 0;
    frames->units = *units;
    *units = spare;
}
