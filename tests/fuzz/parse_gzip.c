/* SPDX-License-Identifier: MIT */
/* For libFuzzer: blocks of deflate, on any bytes, parsed to operations that are executed, against
 * zlib. The first byte says how they are parsed, and whether they are preceded by the beginning of
 * a dynamic block whose code lengths have four bits each. Beginnings of blocks that are found must
 * be those where a header can be read. `make fuzz` builds it if there is zlib. */
#include "src/parallel/block_loops.h"
#include "tests/fuzz/fuzz.h"
#include "tests/helpers/deflate_oracle.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_MAX_HERE ((size_t)1 << 16)

/* Not the last block, 286 and 30 codes, and the precode: 0 for repeats, 4 for others. */
static const unsigned char dynamic[] = {0xec, 0xfd, 0x01, 0x90, 0x24, 0x49, 0x92, 0x24, 0x49, 0x02};

static void compare_beginnings(const struct block_loops *loops, const unsigned char *in, size_t len)
{
    static struct deflate_header header;
    const struct deflate_input input = deflate_input_at_edge(in, len);
    uint64_t found = deflate_find(loops, &input, 0, input.bits, NULL);
    for (uint64_t bit = 0; bit < input.bits; bit++) {
        uint64_t end = bit;
        const bool is_beginning = deflate_read_header(&input, &end, &header) == DEFLATE_ENDED &&
                                  header.type == DEFLATE_DYNAMIC && !header.is_last;
        fuzz_require((found == bit) == is_beginning, "what is found is not what can be read");
        if (found == bit)
            found = deflate_find(loops, &input, bit + 1, input.bits, NULL);
    }
    fuzz_require(found == DEFLATE_NONE, "a beginning beyond the end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t capacities[] = {DEFLATE_CAPACITY, 5000, 1 << 18}, steps[] = {0, 1, 7, 100};
    static unsigned char in[SIZE_MAX_HERE + sizeof dynamic];
    if (size < 1 || size > SIZE_MAX_HERE)
        return 0;
    const struct deflate_course course = {.capacity = capacities[data[0] % 3],
                                          .by_blocks = data[0] & 4,
                                          .step = steps[data[0] >> 3 & 3],
                                          .portable = data[0] & 64};
    const size_t before = data[0] & 32 ? sizeof dynamic : 0, len = before + size - 1;
    memcpy(in, dynamic, before);
    memcpy(in + before, data + 1, size - 1);
    const char *fault = deflate_compare(in, len, &course);
    fuzz_require(!fault, fault);
    for (const struct block_loops *const *loops = block_loops; *loops; loops++)
        if ((*loops)->runs_here())
            compare_beginnings(*loops, in, len);
    return 0;
}
