/* SPDX-License-Identifier: MIT */
/* Masks of 64 bytes against a byte at a time: as this processor finds them or, if compiled with
 * BYTE_MASKS_BY_WORDS, as those without such vectors do. */
#include "src/base/byte_masks.h"
#include "tests/helpers/random.h"

#include <stdio.h>

#define WINDOW 64

/* Bytes around those that the functions tell apart. */
static void make_window(unsigned char *window, unsigned char byte)
{
    for (unsigned i = 0; i < WINDOW; i++)
        window[i] =
            (unsigned char)(random_below(2) ? random_below(256) : byte + random_below(3) - 1);
}

int main(void)
{
    unsigned long cases = 0, wrong = 0;
    unsigned char window[WINDOW + 1];
    for (unsigned byte = 0; byte < 256; byte++)
        for (unsigned round = 0; round < 200; round++) {
            unsigned char *at = window + round % 2;
            uint64_t equal = 0, up_to = 0, has_bit = 0, parity = 0, highest = 1;
            unsigned count = 0;
            make_window(at, (unsigned char)byte);
            for (unsigned i = 0; i < WINDOW; i++) {
                equal |= (uint64_t)(at[i] == byte) << i;
                up_to |= (uint64_t)(at[i] <= byte) << i;
                has_bit |= (uint64_t)(at[i] >> byte % 8 & 1) << i;
                count += at[i] == byte;
                if (at[i] == byte)
                    highest = UINT64_C(1) << i;
            }
            for (unsigned i = 0, odd = 0; i < WINDOW; i++) {
                odd ^= (unsigned)(equal >> i & 1);
                parity |= (uint64_t)odd << i;
            }
            cases += 5;
            wrong += byte_mask_equal(at, (unsigned char)byte) != equal;
            wrong += byte < 0x80 && byte_mask_up_to(at, (unsigned char)byte) != up_to;
            wrong += byte_mask_bit(at, (int)(byte % 8)) != has_bit;
            wrong += mask_count(equal) != count || mask_highest(equal) != highest;
            wrong += mask_parity(equal) != parity;
        }
    printf("%lu cases, %lu wrong\n", cases, wrong);
    return wrong ? 1 : 0;
}
