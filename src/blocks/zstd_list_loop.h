/* SPDX-License-Identifier: MIT */
/* The loops that make a list, for the file of each instruction set. That defines TARGET, INLINE,
 * copy_max and low_bits. */

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

/* What going backwards through the head has come to. */
struct needing {
    uint64_t *bits;
    struct zstd_needed *next; /* the record after it is the last one made */
    uint32_t at, literals;    /* where content and literals of the operation behind begin */
    bool is_all;              /* all bytes before are needed */
};

/* Takes an operation. */
TARGET INLINE void need_operation(struct needing *needing, operation op)
{
    const unsigned of_literals = operation_literals(op), of_match = operation_match(op),
                   len = of_literals + of_match;
    needing->at -= len;
    needing->literals -= of_literals;
    const uint64_t needed = get_bits(needing->bits, needing->at + BIT_0, len);
    if (needed == 0)
        return;
    needing->next--;
    needing->next->op = op;
    needing->next->at = needing->at;
    needing->next->literals = needing->literals;
    const uint64_t match = needed >> of_literals;
    if (__builtin_expect((op & OPERATION_SYMBOLIC) == 0, 1)) {
        need_source(needing->bits, (int32_t)(uint32_t)op, match);
    } else if (match != 0 && !needing->is_all) {
        memset(needing->bits, 255, (needing->at + BIT_0) / 64 * sizeof *needing->bits);
        set_bits(needing->bits, (needing->at & ~63u) + BIT_0,
                 low_bits(UINT64_MAX, needing->at & 63));
        set_bits(needing->bits, needing->at + BIT_0, low_bits(UINT64_MAX, len));
        needing->is_all = true;
    }
}

/* Finds the operations that make needed bytes. Returns the first record, of which the last one is
 * the scratch's last; NULL: there are too many. */
TARGET INLINE struct zstd_needed *find_needed(struct zstd_listing *listing)
{
    const struct zstd_list_scratch *scratch = listing->scratch;
    const operation *begin = listing->run->operations, *next = begin + listing->head.operations;
    struct needing needing = {.bits = scratch->bits,
                              .next = scratch->needed + scratch->needed_max,
                              .at = listing->head.content,
                              .literals = (uint32_t)listing->head.literals};
    while (next > begin && needing.next > scratch->needed)
        need_operation(&needing, *--next);
    return next == begin ? needing.next : NULL;
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
