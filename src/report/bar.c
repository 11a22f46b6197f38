/* SPDX-License-Identifier: MIT */
#include "bar.h"

__extension__ typedef unsigned __int128 wide_count;

uint64_t bar_length(uint64_t count, uint64_t largest, uint64_t most)
{
    if (count == 0 || most == 0)
        return 0;
    wide_count twice = (wide_count)count * most * 2 + largest;
    uint64_t length = (uint64_t)(twice / largest / 2);
    return length > 0 ? length : 1;
}

/* U+2588 is a full block, and each of the next seven an eighth narrower. */
static void write_block(struct writer *out, unsigned eighths)
{
    const char block[] = {'\xe2', '\x96', (char)(0x88 + BAR_EIGHTHS - eighths)};
    writer_bytes(out, block, sizeof block);
}

void bar_write(struct writer *out, uint64_t count, uint64_t largest, size_t room, bool utf8)
{
    uint64_t length = bar_length(count, largest, utf8 ? (uint64_t)room * BAR_EIGHTHS : room);
    if (!utf8) {
        for (; length > 0; length--)
            writer_char(out, '#');
        return;
    }
    for (; length >= BAR_EIGHTHS; length -= BAR_EIGHTHS)
        write_block(out, BAR_EIGHTHS);
    if (length > 0)
        write_block(out, (unsigned)length);
}
