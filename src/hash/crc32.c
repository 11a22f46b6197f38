/* SPDX-License-Identifier: MIT */
/* Bytes are coefficients of a polynomial over two elements, of which the CRC is the remainder by
 * POLYNOMIAL. Bytes that follow multiply it by x to the power of 8 for each, and add their own
 * remainder. A remainder is stored with its highest power, x^31, in the lowest bit. */
#include "crc32.h"

#define POLYNOMIAL UINT32_C(0xedb88320) /* without x^32 */
#define POWER_0 (UINT32_C(1) << 31)     /* x^0 */
#define POWER_8 (UINT32_C(1) << 23)     /* x^8 */

static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (; a != 0; a <<= 1) {
        product ^= a >> 31 ? b : 0;
        b = b >> 1 ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

uint32_t crc32_join(uint32_t first, uint32_t second, uint64_t second_len)
{
    uint32_t shift = POWER_0;
    for (uint32_t power = POWER_8; second_len > 0; second_len >>= 1) {
        if (second_len & 1)
            shift = multiply(shift, power);
        power = multiply(power, power);
    }
    return multiply(shift, first) ^ second;
}
