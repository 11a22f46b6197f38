/* SPDX-License-Identifier: MIT */
/* The loop that executes operations to content, for the file of each instruction set. That defines
 * TARGET, INLINE and copy_max, which copies COPY_MAX bytes that may overlap, and widen, which
 * copies a multiple of 8 bytes to symbols. */
#include <string.h>

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

/* Copies literals and the bytes that follow them. Most operations of deflate have a few literals or
 * none, so that a short copy saves more than the branch costs; those of zstd have more. */
TARGET INLINE void copy_literals(unsigned char *to, const unsigned char *from, unsigned len,
                                 bool are_few)
{
    if (!are_few || __builtin_expect(len > sizeof(uint64_t), 0))
        copy_max(to, from);
    else
        memcpy(to, from, sizeof(uint64_t));
}

/* Executes a run; `is_near` is the run's member, as a constant. */
TARGET INLINE bool execute_as(bool is_near, const struct parsed_run *run,
                              const struct execution *execution, unsigned char *out)
{
    const operation *next = run->operations, *end = next + run->operations_len;
    const unsigned char *literals = run->literals;
    unsigned char *at = out + execution->skipped;
    for (; next < end; next++) {
        const operation op = *next;
        if (!is_near)
            __builtin_prefetch(out + (ptrdiff_t)(int32_t)next[PREFETCH_AHEAD]);
        copy_literals(at, literals, operation_literals(op), is_near);
        literals += operation_literals(op);
        at += operation_literals(op);
        if (is_near || __builtin_expect((op & OPERATION_SYMBOLIC) == 0, 1)) {
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

TARGET static bool execute(const struct parsed_run *run, const struct execution *execution,
                           unsigned char *out)
{
    if (run->reach > execution->history)
        return false;
    return run->is_near ? execute_as(true, run, execution, out)
                        : execute_as(false, run, execution, out);
}

/* Executes a part of a run of deflate, as struct block_loops says. */
TARGET static unsigned char *execute_some(struct run_cursor *cursor, unsigned char *at,
                                          const unsigned char *limit)
{
    const operation *next = cursor->next, *end = cursor->end;
    const unsigned char *literals = cursor->literals;
    const ptrdiff_t done = (ptrdiff_t)cursor->done;
    unsigned char *const begin = at;
    for (; next < end && at < limit; next++) {
        const operation op = *next;
        copy_literals(at, literals, operation_literals(op), true);
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
