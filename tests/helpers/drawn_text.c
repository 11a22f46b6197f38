/* SPDX-License-Identifier: MIT */
#include "tests/helpers/drawn_text.h"
#include "tests/helpers/random.h"

#include <string.h>

void put(struct drawn_text *text, const char *string)
{
    size_t len = strlen(string);
    if (len > text->size - text->len)
        len = text->size - text->len;
    memcpy(text->bytes + text->len, string, len);
    text->len += len;
}

void put_one_of(struct drawn_text *text, const char *const *strings, unsigned count)
{
    put(text, strings[random_below(count)]);
}
