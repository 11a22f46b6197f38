/* SPDX-License-Identifier: MIT */
#include "field_hint.h"
#include "field.h"
#include "field_token.h"

#include <stdbool.h>
#include <string.h>

/* True if a number begins at `at`, which is no more looked at than needed for a hint. */
static bool begins_number(const unsigned char *at, const unsigned char *end)
{
    at += at < end && (*at == '-' || *at == '+');
    at += at < end && *at == '.';
    return at < end && number_is_digit(*at);
}

/* Sets the hint to [from, to), if the shell would take that in single quotes as it is. */
static void set_hint(const unsigned char *from, const unsigned char *to, char hint[FIELD_HINT_SIZE])
{
    const size_t len = (size_t)(to - from);
    if (len >= FIELD_HINT_SIZE)
        return;
    for (size_t i = 0; i < len; i++)
        if (from[i] < ' ' || from[i] > '~' || from[i] == '\'')
            return;
    memcpy(hint, from, len);
    hint[len] = '\0';
}

void field_hint_after(const unsigned char *begin, const unsigned char *end, const char *name,
                      size_t len, char hint[FIELD_HINT_SIZE])
{
    hint[0] = '\0';
    for (const unsigned char *at = begin, *to; !*hint; at = to) {
        at = memmem(at, (size_t)(end - at), name, len);
        if (!at)
            return;
        to = at + len;
        const bool is_quoted = to < end && *to == '"' && at > begin && at[-1] == '"';
        const unsigned char *between = to + is_quoted;
        while (between < end && (*between == ' ' || *between == '\t'))
            between++;
        if (between < end && (*between == ':' || *between == '=') &&
            begins_number(field_after_gap(between + 1, end), end))
            set_hint(at - is_quoted, between + 1, hint);
    }
}
