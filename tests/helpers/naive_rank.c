/* SPDX-License-Identifier: MIT */
#include "naive_rank.h"

#include <stdlib.h>
#include <string.h>

#define PLACES 160 /* decimal places of each number */

/* A whole number, the lowest decimal place first. */
struct places {
    int at[2 * PLACES];
};

static struct places positions_of(uint64_t number)
{
    struct places places = {{0}};
    for (int i = 0; number > 0; i++, number /= 10)
        places.at[i] = (int)(number % 10);
    return places;
}

/* Adds a * 10^shift to b. */
static void add_shifted(struct places *b, const struct places *a, int shift)
{
    int carry = 0;
    for (int i = 0; i + shift < 2 * PLACES; i++) {
        int sum = b->at[i + shift] + a->at[i] + carry;
        b->at[i + shift] = sum % 10;
        carry = sum / 10;
    }
}

/* Sets the fraction q to top / 10^(the value returned). */
static int read_fraction(const char *q, struct places *top)
{
    const size_t len = strcspn(q, ",eE");
    int places = 0, at = 0;
    *top = (struct places){{0}};
    for (size_t i = len; i-- > 0;) {
        if (q[i] == '.')
            places = at;
        else if (q[i] >= '0' && q[i] <= '9')
            top->at[at++] = q[i] - '0';
        if (at > PLACES)
            abort();
    }
    if (q[len] != 'e' && q[len] != 'E')
        return places;
    places -= atoi(q + len + 1);
    for (; places < 0; places++) { /* fractions have no negative exponents */
        memmove(top->at + 1, top->at, sizeof top->at - sizeof top->at[0]);
        top->at[0] = 0;
    }
    return places;
}

uint64_t naive_rank(const char *q, uint64_t n)
{
    struct places top, product = {{0}}, samples = positions_of(n);
    const int places = read_fraction(q, &top);
    for (int i = 0; i < PLACES; i++)
        for (int times = 0; times < top.at[i]; times++)
            add_shifted(&product, &samples, i);
    uint64_t rank = 0, more = 0;
    for (int i = 2 * PLACES - 1; i >= places; i--)
        rank = 10 * rank + (uint64_t)product.at[i];
    for (int i = 0; i < places && i < 2 * PLACES; i++)
        more |= product.at[i] != 0;
    rank += more;
    return rank > 0 ? rank : 1;
}
