/* SPDX-License-Identifier: MIT */
/* Operations to content, for the file of each instruction set, which defines TARGET, INLINE and
 * copy_most, which copies COPY_MAX bytes that may overlap. */

/* Operations ahead whose sources are prefetched. Most are in the window, far behind. */
#define PREFETCH_AHEAD 24

TARGET INLINE unsigned operation_literals(operation op)
{
    return (unsigned)(op >> 32) & 255;
}

TARGET INLINE unsigned operation_match(operation op)
{
    return (unsigned)(op >> 40) & 255;
}

/* Where the match of an operation begins whose content goes to `at`; NULL: before the history. */
static const unsigned char *symbolic_source(operation op, const struct execution *execution,
                                            const unsigned char *begin, const unsigned char *at)
{
    const uint32_t offset = offset_resolve((uint32_t)op, &execution->repeats);
    const uint64_t before = (uint64_t)(at - begin) + execution->history;
    return offset == 0 || offset > before ? NULL : at - offset;
}

TARGET static bool execute(const struct parsed_run *run, const struct execution *execution,
                           unsigned char *out)
{
    const operation *next = run->operations, *end = next + run->operations_len;
    const unsigned char *literals = run->literals;
    unsigned char *at = out;
    if (run->reach > execution->history)
        return false;
    for (; next < end; next++) {
        const operation op = *next;
        __builtin_prefetch(out + (ptrdiff_t)(int32_t)next[PREFETCH_AHEAD]);
        copy_most(at, literals);
        literals += operation_literals(op);
        at += operation_literals(op);
        if (__builtin_expect((op & OPERATION_SYMBOLIC) == 0, 1)) {
            copy_most(at, out + (ptrdiff_t)(int32_t)op);
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
