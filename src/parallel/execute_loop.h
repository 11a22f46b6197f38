/* SPDX-License-Identifier: MIT */
/* The loops that execute operations to content, and that list what must be executed in order, for
 * the file of each instruction set. That defines TARGET, INLINE, and
 *
 *     widen(to, from, len)     copies a multiple of 8 bytes to symbols */
#include "block_loops.h"
#include "src/base/byte_word.h"

#include <string.h>

/* Copies COPY_MAX bytes, which may overlap, by the widest registers of the instruction set. */
TARGET INLINE void copy_max(unsigned char *to, const unsigned char *from)
{
    unsigned char bytes __attribute__((vector_size(COPY_MAX)));
    memcpy(&bytes, from, sizeof bytes);
    memcpy(to, &bytes, sizeof bytes);
}

/* Returns the lowest `count` bits, at most 64. */
TARGET INLINE uint64_t low_bits(uint64_t word, unsigned count)
{
    return count < 64 ? word & (((uint64_t)1 << count) - 1) : word;
}

/* --- executing --- */

/* Operations ahead whose sources are prefetched. Most are in the window, far behind. */
#define PREFETCH_AHEAD 24

/* Returns where the match of an operation begins whose content goes to `at`; NULL: before the
 * history. */
static const unsigned char *symbolic_source(operation op, const struct execution *execution,
                                            const unsigned char *begin, const unsigned char *at)
{
    const uint32_t offset = offset_resolve((uint32_t)op, &execution->repeat_offsets);
    const uint64_t before = (uint64_t)(at - begin) + execution->history;
    return offset == 0 || offset > before ? NULL : at - offset;
}

/* Executes a run, as struct block_loops says. */
TARGET static bool execute(const struct parsed_run *run, const struct execution *execution,
                           unsigned char *out)
{
    const operation *next = run->operations, *end = next + run->operations_len;
    const unsigned char *literals = run->literals;
    unsigned char *at = out + execution->skipped;
    if (run->reach > execution->history)
        return false;
    for (; next < end; next++) {
        const operation op = *next;
        __builtin_prefetch(out + (ptrdiff_t)(int32_t)next[PREFETCH_AHEAD]);
        copy_max(at, literals);
        literals += operation_literals(op);
        at += operation_literals(op);
        if (__builtin_expect((op & OPERATION_SYMBOLIC) == 0, 1)) {
            copy_max(at, out + (ptrdiff_t)(int32_t)op);
        } else {
            const unsigned char *source = symbolic_source(op, execution, out, at);
            if (!source)
                return false;
            for (unsigned i = 0; i < operation_match(op); i++)
                at[i] = source[i];
        }
        at += operation_match(op);
    }
    return true;
}

/* Executes a part of a run of deflate, as struct block_loops says. Most of its operations have a
 * few literals or none, so that a short copy saves more than the branch costs; those of zstd have
 * more.
 */
TARGET static unsigned char *execute_some(struct run_cursor *cursor, unsigned char *at,
                                          const unsigned char *limit)
{
    const operation *next = cursor->next, *end = cursor->end;
    const unsigned char *literals = cursor->literals;
    const ptrdiff_t done = (ptrdiff_t)cursor->done;
    unsigned char *const begin = at;
    for (; next < end && at < limit; next++) {
        const operation op = *next;
        if (__builtin_expect(operation_literals(op) > sizeof(uint64_t), 0))
            copy_max(at, literals);
        else
            memcpy(at, literals, sizeof(uint64_t));
        literals += operation_literals(op);
        at += operation_literals(op);
        copy_max(at, begin + ((ptrdiff_t)(int32_t)op - done));
        at += operation_match(op);
    }
    cursor->next = next;
    cursor->literals = literals;
    cursor->done += (size_t)(at - begin);
    return at;
}

/* The same on symbols. */
TARGET static uint16_t *execute_symbols(struct run_cursor *cursor, uint16_t *at,
                                        const uint16_t *limit)
{
    const operation *next = cursor->next, *end = cursor->end;
    const unsigned char *literals = cursor->literals;
    const ptrdiff_t done = (ptrdiff_t)cursor->done;
    uint16_t *const begin = at;
    for (; next < end && at < limit; next++) {
        const operation op = *next;
        widen(at, literals, 8);
        if (__builtin_expect(operation_literals(op) > 8, 0))
            widen(at + 8, literals + 8, COPY_MAX - 8);
        literals += operation_literals(op);
        at += operation_literals(op);
        const unsigned char *source =
            (const unsigned char *)(begin + ((ptrdiff_t)(int32_t)op - done));
        copy_max((unsigned char *)at, source);
        copy_max((unsigned char *)at + COPY_MAX, source + COPY_MAX);
        at += operation_match(op);
    }
    cursor->next = next;
    cursor->literals = literals;
    cursor->done += (size_t)(at - begin);
    return at;
}

/* --- lists ---
 *
 * What must be executed in order of a parsed run of zstd's blocks, and nothing else. Later runs
 * reach back no farther than the run's tail. The tail copies from the head before it, which copies
 * from itself: going backwards with a bit for each byte, one finds the few bytes of the head that
 * the tail needs, directly or through others. They become a list of operations.
 *
 * The list is dense: it makes the needed bytes without gaps, at the beginning of the head's place.
 * So it is executed like any run, and byte b of the head stands at the number of needed bytes
 * before b. The tail's sources are changed accordingly. The last COPY_MAX bytes of the head are all
 * needed, and are moved to where they belong before the tail is executed: a match that begins in
 * the head and ends in the tail is no special case then, nor is one that begins before the run, as
 * the first bytes stand where they belong. */

/* A head is not worth a list if it is short, or if so many of four of its bytes are needed. */
#define HEAD_MIN 256
#define NEEDED_QUARTERS 3

/* Bit BIT_0 is the first byte of the run. The bits before are for matches that begin before the
 * run: they may be set, and are never looked at. */
#define BIT_0 64

TARGET INLINE void set_bits(uint64_t *bits, uint32_t at, uint64_t mask)
{
    uint64_t *word = bits + (at >> 6);
    const unsigned shift = at & 63;
    word[0] |= mask << shift;
    __asm__("" : "+m"(word[0])); /* or compilers store both at once, for which later loads wait */
    word[1] |= mask >> 1 >> (63 - shift);
}

TARGET INLINE uint64_t get_bits(const uint64_t *bits, uint32_t at, unsigned count)
{
    const uint64_t *word = bits + (at >> 6);
    const unsigned shift = at & 63;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (__builtin_expect(count <= 57, 1))
        return low_bits(byte_word((const unsigned char *)bits + (at >> 3)) >> (at & 7), count);
#endif
    return low_bits(word[0] >> shift | word[1] << 1 << (63 - shift), count);
}

/* Sets the bits of a match, or of a part of it. */
TARGET INLINE void need_source(uint64_t *bits, int32_t source, uint64_t mask)
{
    int32_t at = source > -BIT_0 ? source : -BIT_0;
    __asm__("" : "+r"(at)); /* hidden from compilers, which would make a branch of it */
    set_bits(bits, (uint32_t)(at + BIT_0), mask);
}

/* Returns how many needed bytes are before byte `at` of the head. */
TARGET INLINE uint32_t rank_of(const struct zstd_list_scratch *scratch, uint32_t at)
{
    const uint32_t word = (at + BIT_0) >> 6;
    return scratch->ranks[word] +
           (uint32_t)__builtin_popcountll(low_bits(scratch->bits[word], at & 63));
}

/* Sets the bits that the tail needs, and finds where it begins. False: there is no head, or the
 * tail has an offset that is symbolic, for which all of the head would be needed. */
TARGET INLINE bool need_tail(struct zstd_listing *listing)
{
    const struct parsed_run *run = listing->run;
    uint64_t *bits = listing->scratch->bits;
    size_t left = run->operations_len, literals = run->literals_len;
    uint32_t content = run->content;
    if (content < listing->tail + HEAD_MIN)
        return false;
    const uint32_t head_max = content - listing->tail;
    memset(bits, 0, ((content + BIT_0) / 64 + 2) * sizeof *bits);
    while (left > 0 && content > head_max) {
        const operation op = run->operations[--left];
        const unsigned of_match = operation_match(op);
        if (op & OPERATION_SYMBOLIC)
            return false;
        need_source(bits, (int32_t)(uint32_t)op, low_bits(UINT64_MAX, of_match));
        literals -= operation_literals(op);
        content -= operation_literals(op) + of_match;
    }
    if (content < HEAD_MIN)
        return false;
    listing->head = (struct run_position){left, literals, content};
    set_bits(bits, content - COPY_MAX + BIT_0, UINT32_MAX);
    const uint32_t last = (content + BIT_0) >> 6;
    bits[last] = low_bits(bits[last], content & 63);
    bits[last + 1] = 0;
    return true;
}

/* Finds the operations that make needed bytes, backwards. Returns the first record, of which the
 * last one is the scratch's last; NULL: there are too many. */
TARGET INLINE struct zstd_needed *find_needed(struct zstd_listing *listing)
{
    const struct zstd_list_scratch *scratch = listing->scratch;
    const operation *begin = listing->run->operations, *next = begin + listing->head.operations;
    struct zstd_needed *first = scratch->needed + scratch->needed_max;
    uint64_t *bits = scratch->bits;
    uint32_t at = listing->head.content, literals = (uint32_t)listing->head.literals;
    bool is_all = false; /* all bytes before are needed */
    while (next > begin && first > scratch->needed) {
        const operation op = *--next;
        const unsigned of_literals = operation_literals(op),
                       len = of_literals + operation_match(op);
        at -= len;
        literals -= of_literals;
        const uint64_t needed = get_bits(bits, at + BIT_0, len);
        if (needed == 0)
            continue;
        *--first = (struct zstd_needed){.op = op, .at = at, .literals = literals};
        const uint64_t match = needed >> of_literals;
        if (__builtin_expect((op & OPERATION_SYMBOLIC) == 0, 1)) {
            need_source(bits, (int32_t)(uint32_t)op, match);
        } else if (match != 0 && !is_all) {
            memset(bits, 255, (at + BIT_0) / 64 * sizeof *bits);
            set_bits(bits, (at & ~63u) + BIT_0, low_bits(UINT64_MAX, at & 63));
            set_bits(bits, at + BIT_0, low_bits(UINT64_MAX, len));
            is_all = true;
        }
    }
    return next == begin ? first : NULL;
}

/* Numbers the needed bytes. Returns how many there are. */
TARGET INLINE uint32_t set_ranks(const struct zstd_list_scratch *scratch, uint32_t content)
{
    uint32_t rank = 0;
    for (uint32_t i = BIT_0 / 64; i <= (content + BIT_0) / 64; i++) {
        scratch->ranks[i] = rank;
        rank += (uint32_t)__builtin_popcountll(scratch->bits[i]);
    }
    return rank;
}

/* The list as far as it was written. */
struct list_writer {
    operation *next;
    unsigned char *literals;
    uint32_t pending; /* literals that no operation has yet */
};

TARGET INLINE void write_match(struct list_writer *writer, uint32_t source, uint32_t len)
{
    *writer->next++ = operation_of(source, writer->pending, len);
    writer->pending = 0;
}

/* Writes the needed ones of an operation's literals. */
TARGET INLINE void write_literals(struct list_writer *writer, const unsigned char *literals,
                                  uint64_t needed)
{
    while (needed != 0) {
        const unsigned from = (unsigned)__builtin_ctzll(needed),
                       len = (unsigned)__builtin_ctzll(~(needed >> from));
        if (writer->pending + len > COPY_MAX)
            write_match(writer, 0, 0);
        copy_max(writer->literals, literals + from);
        writer->literals += len;
        writer->pending += len;
        needed &= UINT64_MAX << (from + len);
    }
}

/* Writes the needed parts of a match. */
TARGET INLINE void write_parts(struct list_writer *writer, const struct zstd_list_scratch *scratch,
                               int32_t source, uint64_t needed)
{
    while (needed != 0) {
        const unsigned from = (unsigned)__builtin_ctzll(needed),
                       len = (unsigned)__builtin_ctzll(~(needed >> from));
        const int32_t part = source + (int32_t)from;
        write_match(writer, part < 0 ? (uint32_t)part : rank_of(scratch, (uint32_t)part), len);
        needed &= UINT64_MAX << (from + len);
    }
}

/* Writes the list. False: there is no room for it. */
TARGET INLINE bool write_list(struct zstd_listing *listing, const struct zstd_needed *needed)
{
    const struct zstd_list_scratch *scratch = listing->scratch;
    const struct zstd_needed *end = scratch->needed + scratch->needed_max;
    struct parsed_run *list = &listing->list;
    const operation *last = list->operations + list->operations_max - 2 * COPY_MAX;
    struct list_writer writer = {list->operations, list->literals, 0};
    for (; needed < end; needed++) {
        const operation op = needed->op;
        const unsigned of_literals = operation_literals(op), of_match = operation_match(op);
        const uint64_t bits = get_bits(scratch->bits, needed->at + BIT_0, of_literals + of_match);
        if (writer.next > last)
            return false;
        write_literals(&writer, listing->run->literals + needed->literals,
                       low_bits(bits, of_literals));
        const uint64_t match = bits >> of_literals;
        if (__builtin_expect((op & OPERATION_SYMBOLIC) != 0 && match != 0, 0)) {
            write_match(&writer, (uint32_t)op, of_match);
            writer.next[-1] |= OPERATION_SYMBOLIC;
        } else {
            write_parts(&writer, scratch, (int32_t)(uint32_t)op, match);
        }
    }
    if (writer.pending > 0)
        write_match(&writer, 0, 0);
    list->operations_len = (size_t)(writer.next - list->operations);
    list->literals_len = (size_t)(writer.literals - list->literals);
    return true;
}

/* Has the tail copy from where the list puts what it needs. */
TARGET INLINE void change_tail(const struct zstd_listing *listing)
{
    const struct parsed_run *run = listing->run;
    operation *end = run->operations + run->operations_len;
    for (operation *op = run->operations + listing->head.operations; op < end; op++) {
        const uint32_t source = (uint32_t)*op;
        if (source < listing->head.content - COPY_MAX)
            *op += (operation)rank_of(listing->scratch, source) - source;
    }
}

TARGET static bool make_list(struct zstd_listing *listing)
{
    if (!need_tail(listing))
        return false;
    const struct zstd_needed *needed = find_needed(listing);
    const uint32_t content = listing->head.content,
                   total = needed ? set_ranks(listing->scratch, content) : content;
    if (total > content / 4 * NEEDED_QUARTERS || !write_list(listing, needed))
        return false;
    listing->list.content = total;
    change_tail(listing);
    return true;
}
