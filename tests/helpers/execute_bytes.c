/* SPDX-License-Identifier: MIT */
#include "execute_bytes.h"

#include <string.h>

/* A run that is executed: what was made and taken of it. */
struct execution {
    unsigned char *base; /* where its content begins */
    size_t made, literals, reach;
};

/* Executes one operation, whose match begins within the content. */
static const char *execute(const struct parsed_run *run, operation one, struct execution *state)
{
    const int32_t source = (int32_t)(uint32_t)one;
    const size_t literals = one >> 32 & 255, match = one >> 40 & 255;
    if (one >> 48 != 0 || literals > COPY_MAX || match > COPY_MAX)
        return "an operation that is too long";
    if (literals + match == 0 || literals > run->literals_len - state->literals ||
        literals + match > run->content - state->made)
        return "an operation of nothing, or of more than there is";
    memcpy(state->base + state->made, run->literals + state->literals, literals);
    state->literals += literals;
    state->made += literals;
    if (source > (int64_t)(state->made - match))
        return "a match that is longer than its distance";
    if (source < 0 && (size_t)-source > state->reach)
        state->reach = (size_t)-source;
    for (size_t i = 0; i < match; i++)
        state->base[state->made + i] = state->base[source + (int64_t)i];
    state->made += match;
    return NULL;
}

const char *execute_bytes(const struct parsed_run *run, struct made_content *content,
                          bool *is_too_far)
{
    struct execution state = {.base = content->bytes + content->len};
    const char *wrong = NULL;
    *is_too_far = run->reach > content->len;
    if (run->literals_len > run->literals_max || run->operations_len > run->operations_max)
        return "more than there is room for";
    if (*is_too_far || run->content > content->cap - content->len)
        return NULL;
    for (size_t i = 0; i < run->operations_len && !wrong; i++) {
        const int32_t source = (int32_t)(uint32_t)run->operations[i];
        wrong = source < 0 && (size_t) - (int64_t)source > run->reach
                    ? "a match that goes back farther than the run says"
                    : execute(run, run->operations[i], &state);
    }
    if (wrong)
        return wrong;
    if (state.made != run->content || state.literals != run->literals_len)
        return "other lengths than the run says";
    if (state.reach != run->reach)
        return "the run says that it reaches back farther than it does";
    content->len += state.made;
    return NULL;
}
