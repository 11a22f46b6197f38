/* SPDX-License-Identifier: MIT */
#include "probability.h"

#include <stdbool.h>
#include <string.h>

uint64_t probability_rank(const struct probability *q, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;
    wide rank = 0;     /* what n times the digits so far is, rounded down */
    bool more = false; /* something was cut off */
    if (q->exponent > 0)
        return n;
    /* From the last digit on, each is added and all moved behind the point. Rounding down on the
     * way does not change how the end is rounded. */
    for (size_t i = strlen(q->digits); i-- > 0; rank /= 10) {
        rank += (wide)(q->digits[i] - '0') * n;
        more |= rank % 10 != 0;
    }
    for (int zeros = -q->exponent; zeros > 0 && rank > 0; zeros--, rank /= 10)
        more |= rank % 10 != 0;
    return rank == 0 && !more ? 1 : (uint64_t)rank + more;
}
