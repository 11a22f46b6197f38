#include "count.h"

#include <string.h>

/* A table counts at most every fourth byte of a block, so 32 bits cannot overflow. */
#define BLOCK ((size_t)1 << 30)

static void count_block(const unsigned char *data, size_t len, uint32_t tables[4][256])
{
    size_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, data + i, sizeof word);
        tables[0][word & 0xff]++;
        tables[1][word >> 8 & 0xff]++;
        tables[2][word >> 16 & 0xff]++;
        tables[3][word >> 24 & 0xff]++;
        tables[0][word >> 32 & 0xff]++;
        tables[1][word >> 40 & 0xff]++;
        tables[2][word >> 48 & 0xff]++;
        tables[3][word >> 56]++;
    }
    for (; i < len; i++)
        tables[0][data[i]]++;
}

void count_bytes_table(const unsigned char *data, size_t len, uint64_t counts[256])
{
    while (len > 0) {
        size_t block = len < BLOCK ? len : BLOCK;
        uint32_t tables[4][256] = {{0}};
        count_block(data, block, tables);
        for (unsigned value = 0; value < 256; value++)
            counts[value] +=
                (uint64_t)tables[0][value] + tables[1][value] + tables[2][value] + tables[3][value];
        data += block;
        len -= block;
    }
}
