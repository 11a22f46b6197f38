#include "tests/helpers/random.h"

static uint64_t state = 1;

void random_seed(uint64_t seed)
{
    state = seed;
}

uint64_t random_word(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned random_below(unsigned end)
{
    return (unsigned)(random_word() >> 32) % end;
}

double random_fraction(void)
{
    return (double)(random_word() >> 11) * 0x1p-53;
}
