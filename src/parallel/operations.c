/* SPDX-License-Identifier: MIT */
#include "operations.h"

#include <stdlib.h>

int parsed_run_open(struct parsed_run *run, size_t literals_max, size_t operations_max)
{
    *run = (struct parsed_run){.literals_max = literals_max, .operations_max = operations_max};
    run->literals = malloc(literals_max + COPY_SLACK);
    run->operations = calloc(operations_max + OPERATIONS_SLACK, sizeof *run->operations);
    if (run->literals && run->operations)
        return 0;
    parsed_run_close(run);
    return -1;
}

void parsed_run_close(struct parsed_run *run)
{
    free(run->literals);
    free(run->operations);
    *run = (struct parsed_run){.literals = NULL};
}

/* Adds an operation whose source is `distance` bytes before the match, or a symbolic offset. */
static void add(struct operation_writer *writer, uint32_t literals, uint32_t match,
                uint32_t distance)
{
    const bool is_symbolic = distance >= SYMBOLIC_MIN;
    writer->content += literals;
    const uint32_t source = is_symbolic ? distance : writer->content - distance;
    if (!is_symbolic && (int32_t)source < writer->min)
        writer->min = (int32_t)source;
    *writer->next++ =
        operation_of(source, literals, match) | (is_symbolic ? OPERATION_SYMBOLIC : 0);
    writer->content += match;
}

void operations_add_long(struct operation_writer *writer, uint32_t literals, uint32_t match,
                         uint32_t offset)
{
    uint32_t distance = offset, copied = 0;
    for (; literals > COPY_MAX; literals -= COPY_MAX)
        add(writer, COPY_MAX, 0, 0);
    if (match == 0) {
        add(writer, literals, 0, 0);
        return;
    }
    if (offset == 0) {
        writer->offset_max = UINT32_MAX;
        distance = offset = 1;
    }
    if (offset >= SYMBOLIC_MIN) {
        const unsigned i = (offset - SYMBOLIC_MIN) / SYMBOLIC_STEP % 3;
        const uint32_t less = symbolic_offset(i) - offset;
        writer->less[i] = less > writer->less[i] ? less : writer->less[i];
    } else if (offset > writer->offset_max) {
        writer->offset_max = offset;
    }
    while (match > 0) {
        const uint32_t max = distance < COPY_MAX ? distance : COPY_MAX;
        const uint32_t some = match < max ? match : max;
        add(writer, literals, some, distance);
        literals = 0;
        match -= some;
        copied += some;
        /* The copied bytes repeat themselves: from farther back, more can be copied at once. */
        while (distance < COPY_MAX && 2 * distance <= offset + copied)
            distance *= 2;
    }
}
