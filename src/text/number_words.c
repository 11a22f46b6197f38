/* SPDX-License-Identifier: MIT */
/* Numbers with units that are several words. */
#include "number.h"
#include "number_units.h"

#include <math.h>

static bool is_blank(unsigned char c)
{
    return c == ' ' || c == '\t';
}

/* Returns where something other than blanks and colours is. */
static const unsigned char *after_gap(const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *before;
    do {
        before = at;
        while (at < limit && is_blank(*at))
            at++;
        at = number_colour_end(at, limit);
    } while (at > before);
    return at;
}

/* True if microseconds are at `at` as JSON may have them in a string. */
static bool is_escaped(const unsigned char *at, const unsigned char *limit)
{
    return limit - at >= 7 && *at == '\\' &&
           (memcmp(at, "\\u00b5s", 7) == 0 || memcmp(at, "\\u00B5s", 7) == 0 ||
            memcmp(at, "\\u03bcs", 7) == 0 || memcmp(at, "\\u03BCs", 7) == 0);
}

/* Returns where the word at `at` ends that may be a unit: `at`, if there is none. */
static const unsigned char *unit_end(const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *end = is_escaped(at, limit) ? at + 7 : at;
    while (end < limit && (number_is_letter(*end) || *end >= 0x80 || (*end == '/' && end > at)))
        end++;
    if (end == limit)
        return end;
    const bool goes_on = limit - end > 1 && (number_is_letter(end[1]) || number_is_digit(end[1]));
    const bool is_name = number_is_digit(*end) || *end == '_' || *end == '=' ||
                         ((*end == '.' || *end == '-') && goes_on);
    return is_name ? at : end;
}

/* Returns where the digits, points, colons and letters of a term end. */
static const unsigned char *term_end(const unsigned char *at, const unsigned char *limit)
{
    while (at < limit && (number_is_digit(*at) || number_is_letter(*at) || *at >= 0x80 ||
                          *at == '.' || *at == ':'))
        at++;
    return at[-1] == '.' || at[-1] == ':' ? at - 1 : at;
}

/* Appends bytes to a token. Returns its length, or 0: that is too long. */
static size_t append(unsigned char *token, size_t len, const unsigned char *from,
                     const unsigned char *to)
{
    const size_t more = (size_t)(to - from);
    if (len + more > NUMBER_MAX)
        return 0;
    memcpy(token + len, from, more);
    return len + more;
}

static bool is_decimal(const unsigned char *token, size_t len)
{
    return (number_is_digit(token[len - 1]) || token[len - 1] == '.') &&
           !isnan(number_of_token(token, token + len, token + len));
}

static bool is_clock(const unsigned char *token, size_t len)
{
    return memchr(token, ':', len) && !isnan(number_with_units(token, token + len));
}

static enum unit_kind kind_of(const unsigned char *from, const unsigned char *to)
{
    if (unit_end(from, to) != to)
        return UNIT_NONE;
    return is_escaped(from, to) && to - from == 7 ? UNIT_KNOWN : number_unit_kind(from, to);
}

size_t number_join_unit(unsigned char *token, size_t len, const unsigned char *from,
                        const unsigned char *to)
{
    static const unsigned char micro[] = {'u', 's'};
    const enum unit_kind kind = kind_of(from, to);
    if (kind == UNIT_NONE || !is_decimal(token, len))
        return len;
    if (kind == UNIT_UNCLEAR)
        return 0;
    return *from == '\\' ? append(token, len, micro, micro + sizeof micro)
                         : append(token, len, from, to);
}

/* Returns where the term after a gap begins, `at`, or NULL if the gap is none between terms. */
static const unsigned char *after_term_gap(const unsigned char *at, const unsigned char *limit)
{
    at += at < limit && *at == ',';
    at = number_colour_end(at, limit);
    if (limit - at < 2 || *at != ' ')
        return NULL;
    at = number_colour_end(at + 1, limit);
    return limit - at > 4 && memcmp(at, "and ", 4) == 0 ? at + 4 : at;
}

/* Adds a term, with its unit, to a token that ends with a unit. As number_join_words; *at does not
 * move if there is none. */
static size_t join_term(unsigned char *token, size_t len, const unsigned char **at,
                        const unsigned char *limit)
{
    const unsigned char *from = after_term_gap(*at, limit), *end;
    if (!from || from == limit || !number_is_digit(*from))
        return len;
    end = term_end(from, limit);
    size_t joined = append(token, len, from, end);
    if (joined > 0 && number_is_digit(end[-1])) {
        const unsigned char *unit = after_gap(end, limit), *after = unit_end(unit, limit);
        if (unit > end && number_unit_kind(unit, after) == UNIT_KNOWN) {
            joined = append(token, joined, unit, after);
            end = after;
        }
    }
    if (joined == 0 || isnan(number_with_units(token, token + joined)))
        return len;
    *at = end;
    return joined;
}

/* True if a token ends with days or weeks, and a clock follows *at, which then moves past it. */
static bool is_before_clock(const unsigned char *token, size_t len, const unsigned char **at,
                            const unsigned char *limit)
{
    static const unsigned char midnight[] = "0:00:00";
    unsigned char longer[NUMBER_MAX];
    const bool has_sign = *token == '-' || *token == '+';
    const unsigned char *clock = after_gap(*at + (*at < limit && **at == ','), limit);
    clock += clock < limit && (*clock == '+' || *clock == '-');
    const unsigned char *colon = clock;
    while (colon < limit && number_is_digit(*colon))
        colon++;
    if (colon == clock || limit - colon < 2 || *colon != ':' || !number_is_digit(colon[1]))
        return false;
    memcpy(longer, token + has_sign, len - has_sign);
    len = append(longer, len - has_sign, midnight, midnight + sizeof midnight - 1);
    if (len == 0 || isnan(number_with_units(longer, longer + len)))
        return false;
    *at = term_end(clock, limit);
    return true;
}

bool number_goes_on(unsigned char last, const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *word = after_gap(at, limit);
    const bool is_decimal = number_is_digit(last) || last == '.';
    return !is_decimal || kind_of(word, unit_end(word, limit)) != UNIT_NONE;
}

/* Adds the unit of a number that may have none yet. As number_join_words; *at does not move if
 * there is none. */
static size_t join_first_unit(unsigned char *token, size_t len, const unsigned char **at,
                              const unsigned char *limit)
{
    const unsigned char *word = after_gap(*at, limit), *end = unit_end(word, limit);
    if ((word == *at && !is_escaped(word, limit)) || kind_of(word, end) == UNIT_NONE)
        return len;
    const size_t joined = is_clock(token, len) ? 0 : number_join_unit(token, len, word, end);
    *at = joined == len ? *at : end;
    return joined;
}

size_t number_join_words(unsigned char *token, size_t len, const unsigned char **at,
                         const unsigned char *limit)
{
    if (!number_may_go_on(token[len - 1], *at, limit))
        return len;
    if (number_is_digit(token[len - 1]) || token[len - 1] == '.') {
        const size_t joined = join_first_unit(token, len, at, limit);
        if (joined <= len || !number_may_go_on(token[joined - 1], *at, limit))
            return joined;
        len = joined;
    }
    for (size_t joined; (joined = join_term(token, len, at, limit)) > len; len = joined)
        continue;
    return is_before_clock(token, len, at, limit) ? 0 : len;
}

size_t number_copy_words(const unsigned char *from, const unsigned char *to, unsigned char *token)
{
    const unsigned char *at = number_token_end(from, to);
    size_t len = at > from ? append(token, 0, from, at) : 0;
    if (len > 0 && at < to)
        len = number_join_words(token, len, &at, to);
    while (at < to && number_is_space(*at))
        at++;
    return at == to ? len : 0;
}
