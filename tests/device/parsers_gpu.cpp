// SPDX-License-Identifier: MIT
// The device functions that parse numbers, as a parser of the host.
#include "tests/device/emulation.h"

#include "gpu/count/numbers.cuh"
#include "tests/unit/tested_parsers.h"

namespace
{

bool everywhere()
{
    return true;
}

double value_of(const unsigned char *begin, const unsigned char *end)
{
    // As a warp's lanes have it: columns of limbs side by side.
    constexpr unsigned stride = 3;
    static unsigned scratch[2 * natural_limbs * stride];
    double value;
    if (end - begin > NUMBER_MAX)
        return __builtin_nan("");
    if (number_of(number_powers(), begin, end, &value))
        return value;
    return number_exactly(begin, end, value, scratch + 1, stride);
}

size_t parse(const unsigned char *text, size_t len, double *values, size_t cap, size_t *used)
{
    const unsigned char *at = text, *const limit = text + len;
    size_t count = 0;
    while (count < cap) {
        while (at < limit && number_is_space(*at))
            at++;
        const unsigned char *const begin = at;
        while (at < limit && !number_is_space(*at))
            at++;
        if (begin == at)
            break;
        values[count++] = value_of(begin, at);
    }
    *used = static_cast<size_t>(at - text);
    return count;
}

const struct number_parser gpu = {"GPU", everywhere, parse, nullptr, nullptr};
const struct number_parser *const parsers[] = {&gpu, nullptr};

} // namespace

const struct number_parser *const *const tested_parsers = parsers;
