/* SPDX-License-Identifier: MIT */
#include "units.h"
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 3 /* bytes of a unit's symbol */

/* A symbol as a number, which is quick to compare. */
#define NAME(a, b, c) ((uint32_t)(c) << 16 | (uint32_t)(b) << 8 | (uint32_t)(a))

/* factor * 10^power, of seconds or bytes */
struct unit {
    uint32_t name;
    unsigned rank; /* of times: ascends with the unit; of sizes 0 */
    uint64_t factor;
    int power;
};

#define RANK_DAY 7

static const struct unit units[] = {
    {NAME('s', 0, 0), 4, 1, 0},
    {NAME('m', 's', 0), 3, 1, -3},
    {NAME('u', 's', 0), 2, 1, -6},
    {NAME(0xc2, 0xb5, 's'), 2, 1, -6}, /* with the micro sign */
    {NAME(0xce, 0xbc, 's'), 2, 1, -6}, /* with the Greek letter */
    {NAME('n', 's', 0), 1, 1, -9},
    {NAME('m', 0, 0), 5, 6, 1},
    {NAME('h', 0, 0), 6, 36, 2},
    {NAME('d', 0, 0), RANK_DAY, 864, 2},
    {NAME('w', 0, 0), 8, 6048, 2},
    {NAME('k', 0, 0), 0, 1, 3},
    {NAME('M', 0, 0), 0, 1, 6},
    {NAME('G', 0, 0), 0, 1, 9},
    {NAME('T', 0, 0), 0, 1, 12},
    {NAME('P', 0, 0), 0, 1, 15},
    {NAME('K', 'i', 0), 0, UINT64_C(1) << 10, 0},
    {NAME('M', 'i', 0), 0, UINT64_C(1) << 20, 0},
    {NAME('G', 'i', 0), 0, UINT64_C(1) << 30, 0},
    {NAME('T', 'i', 0), 0, UINT64_C(1) << 40, 0},
    {NAME('P', 'i', 0), 0, UINT64_C(1) << 50, 0},
    {NAME(0, 0, 0), 0, 1, 0}, /* before a B */
};

#define UNIT_COUNT (sizeof units / sizeof units[0])

/* Words for units, in any case and with or without an s at their end. */
static const struct {
    char word[12];
    uint32_t name;
} words[] = {
    {"sec", NAME('s', 0, 0)},    {"second", NAME('s', 0, 0)},
    {"msec", NAME('m', 's', 0)}, {"millisecond", NAME('m', 's', 0)},
    {"usec", NAME('u', 's', 0)}, {"microsecond", NAME('u', 's', 0)},
    {"nsec", NAME('n', 's', 0)}, {"nanosecond", NAME('n', 's', 0)},
    {"min", NAME('m', 0, 0)},    {"minute", NAME('m', 0, 0)},
    {"hr", NAME('h', 0, 0)},     {"hour", NAME('h', 0, 0)},
    {"day", NAME('d', 0, 0)},    {"week", NAME('w', 0, 0)},
    {"byte", NAME(0, 0, 0)},
};

#define WORD_COUNT (sizeof words / sizeof words[0])

/* Words that a number is not to be read without, in lower case, but which stand for different
 * amounts, or for none. */
static const char unclear[][12] = {
    "y",   "yr",   "year", "mo",   "month", "am",   "pm",   "ps",   "picosecond", "bit",
    "bps", "kbit", "kbps", "mbit", "mbps",  "gbit", "gbps", "tbit", "tbps",
};

#define UNCLEAR_COUNT (sizeof unclear / sizeof unclear[0])

#define TERMS_MAX 8 /* w d h m s ms us ns */

/* A decimal and its unit. */
struct term {
    const unsigned char *digits, *digits_end; /* with a point perhaps */
    size_t places;                            /* digits after the point */
    uint64_t mantissa;                        /* these digits, if there are few: */
    bool is_short;
    const struct unit *unit;
};

/* A token without its sign: the sum of its terms, times 10^exponent. */
struct quantity {
    struct term terms[TERMS_MAX];
    size_t count;
    int64_t exponent;
    bool is_negative;
    bool is_last; /* the last term has a point or an exponent, or is a clock's: none may follow */
};

static const struct unit *unit_of(uint32_t name)
{
    const struct unit *unit = units;
    while (unit->name != name)
        unit++;
    return unit;
}

static const struct unit *find_symbol(const unsigned char *name, size_t len)
{
    const bool has_byte = len > 0 && name[len - 1] == 'B';
    uint32_t wanted = 0;
    len -= has_byte;
    if (len > NAME_MAX || len + has_byte == 0)
        return NULL;
    for (size_t i = 0; i < len; i++)
        wanted |= (uint32_t)name[i] << 8 * i;
    if (len > 0 && name[len - 1] == '\0')
        return NULL;
    for (size_t i = 0; i < UNIT_COUNT; i++)
        if (units[i].name == wanted)
            return has_byte && units[i].rank > 0 ? NULL : &units[i];
    return NULL;
}

static unsigned char lower(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* True if a name is a word, which is in lower case, perhaps with an s at its end. */
static inline bool is_word(const unsigned char *name, size_t len, const char *word)
{
    size_t at = lower(*name) == (unsigned char)*word;
    if (at == 0)
        return false;
    while (at < len && word[at] && lower(name[at]) == (unsigned char)word[at])
        at++;
    return !word[at] && (at == len || (at + 1 == len && lower(name[at]) == 's'));
}

static const struct unit *find_unit(const unsigned char *name, size_t len)
{
    const struct unit *unit = find_symbol(name, len);
    for (size_t i = 0; !unit && len > 1 && i < WORD_COUNT; i++)
        if (is_word(name, len, words[i].word))
            unit = unit_of(words[i].name);
    return unit;
}

enum unit_kind number_unit_kind(const unsigned char *begin, const unsigned char *end)
{
    const size_t len = (size_t)(end - begin);
    if (len == 0)
        return UNIT_NONE;
    if (find_unit(begin, len))
        return UNIT_KNOWN;
    const unsigned char *slash = memchr(begin, '/', len);
    if (slash) /* a rate */
        return number_unit_kind(begin, slash) == UNIT_NONE ? UNIT_NONE : UNIT_UNCLEAR;
    /* A symbol but for its case. */
    const bool has_byte = lower(end[-1]) == 'b';
    const size_t symbol = len - has_byte;
    const unsigned char first = symbol > 0 ? lower(begin[0]) : 0;
    const unsigned char second = symbol > 1 ? lower(begin[1]) : 0;
    bool is_unclear = symbol == 0;
    if (symbol <= 2 && first != 0)
        is_unclear = second == 'i'   ? strchr("kmgtp", first) != NULL
                     : second == 's' ? strchr("mun", first) != NULL
                                     : symbol == 1 && strchr("smhdwkgtp", first);
    for (size_t i = 0; !is_unclear && i < UNCLEAR_COUNT; i++)
        is_unclear = is_word(begin, len, unclear[i]);
    for (size_t at = 4; !is_unclear && at <= 5 && at < len; at++)
        is_unclear = is_word(end - at, at, "byte"); /* of kilobytes and others */
    return is_unclear ? UNIT_UNCLEAR : UNIT_NONE;
}

#define SHORT 19 /* digits that fit in 64 bits, whatever they are */

/* Each of these reads what is at *at, and moves *at past it. */

/* Reads digits and a point. False if there are no digits. */
static bool read_digits(const unsigned char **at, const unsigned char *end, struct term *term,
                        bool *has_point)
{
    const unsigned char *here = *at, *point = NULL;
    uint64_t mantissa = 0;
    for (; here < end; here++) {
        if (number_is_digit(*here))
            mantissa = mantissa * 10 + (uint64_t)(*here - '0');
        else if (*here == '.' && !point)
            point = here;
        else
            break;
    }
    *has_point = point != NULL;
    term->digits = *at;
    term->digits_end = *at = here;
    term->places = point ? (size_t)(here - point - 1) : 0;
    term->mantissa = mantissa;
    term->is_short = here - term->digits <= SHORT + *has_point;
    return here - term->digits > *has_point;
}

/* Reads h:mm:ss or m:ss.f to its end, from the first colon on: the next term has the digits before
 * it. Days or weeks may come before h:mm:ss. False if it is none. */
static bool read_clock(const unsigned char **at, const unsigned char *end,
                       struct quantity *quantity)
{
    static const uint32_t names[] = {NAME('h', 0, 0), NAME('m', 0, 0), NAME('s', 0, 0)};
    const bool has_days = quantity->count > 0;
    struct term *terms = &quantity->terms[quantity->count];
    size_t count = 1;
    if (has_days && (quantity->is_negative || terms[-1].unit->rank < RANK_DAY))
        return false;
    for (; count < 3 && !quantity->is_last && *at < end && **at == ':'; count++) {
        ++*at;
        if (!read_digits(at, end, &terms[count], &quantity->is_last))
            return false;
        /* Two digits before the point, below 60. */
        const unsigned char *digits = terms[count].digits;
        const size_t len = (size_t)(terms[count].digits_end - digits);
        if (len < 2 || !number_is_digit(digits[0]) || digits[0] >= '6' ||
            !number_is_digit(digits[1]) || (len > 2 && digits[2] != '.'))
            return false;
    }
    if (*at < end || count < 2 || (count == 2 && (has_days || terms[1].places == 0)))
        return false;
    for (size_t i = 0; i < count; i++)
        terms[i].unit = unit_of(names[3 - count + i]);
    quantity->count += count;
    quantity->is_last = true;
    return true;
}

/* False if there is no term, or none that may follow those before it. */
static bool read_term(const unsigned char **at, const unsigned char *end, struct quantity *quantity)
{
    struct term *term = &quantity->terms[quantity->count];
    if (quantity->count == TERMS_MAX || quantity->is_last ||
        !read_digits(at, end, term, &quantity->is_last))
        return false;
    if (*at < end && **at == ':')
        return !quantity->is_last && read_clock(at, end, quantity);
    if (*at < end && **at == '-') { /* d-hh:mm:ss, to its end */
        if (quantity->is_last || quantity->count > 0)
            return false;
        term->unit = unit_of(NAME('d', 0, 0));
        quantity->count++;
        ++*at;
        return read_digits(at, end, &term[1], &quantity->is_last) && !quantity->is_last &&
               read_clock(at, end, quantity);
    }
    const unsigned char *after =
        quantity->count == 0 ? number_exponent_end(*at, end, &quantity->exponent) : NULL;
    quantity->is_last |= after != NULL;
    const unsigned char *name = *at = after ? after : *at;
    while (*at < end && !number_is_digit(**at) && **at != '.')
        ++*at;
    term->unit = find_unit(name, (size_t)(*at - name));
    return term->unit && (quantity->count++ == 0 ||
                          (term->unit->rank > 0 && term->unit->rank < term[-1].unit->rank));
}

/* --- few digits --- */

/* Adds a term to mantissa * 10^power, whose power is not less, as units descend. False if the sum
 * takes more than 64 bits. */
static bool add_term(const struct term *term, uint64_t *mantissa, int64_t *power)
{
    const int64_t own_power = term->unit->power - (int64_t)term->places;
    uint64_t own = 0;
    bool over = !term->is_short || __builtin_mul_overflow(term->mantissa, term->unit->factor, &own);
    if (*mantissa == 0)
        *power = own_power;
    for (; *power > own_power && !over; --*power)
        over = __builtin_mul_overflow(*mantissa, 10, mantissa);
    return !__builtin_add_overflow(*mantissa, own, mantissa) && !over;
}

/* --- many digits --- */

#define PLACES (NUMBER_MAX + 16)          /* after the point: digits of a token times 10^-9 */
#define DIGITS (PLACES + NUMBER_MAX + 32) /* and before it: times 2^50 */

/* Returns the value of a quantity that takes more than 64 bits. */
static __attribute__((noinline)) double by_digits(const struct quantity *quantity)
{
    unsigned char sum[DIGITS] = {0}; /* of decimal digits, the last one first */
    char text[DIGITS + 32];
    for (size_t i = 0; i < quantity->count; i++) {
        const struct term *term = &quantity->terms[i];
        size_t position = (size_t)(PLACES + term->unit->power) - term->places;
        uint64_t carry = 0;
        for (const unsigned char *at = term->digits_end; at-- > term->digits;) {
            if (*at == '.')
                continue;
            carry += sum[position] + (uint64_t)(*at - '0') * term->unit->factor;
            sum[position++] = (unsigned char)(carry % 10);
            carry /= 10;
        }
        for (; carry > 0; carry /= 10) {
            carry += sum[position];
            sum[position++] = (unsigned char)(carry % 10);
        }
    }
    for (size_t i = 0; i < DIGITS; i++)
        text[i] = (char)('0' + sum[DIGITS - 1 - i]);
    snprintf(text + DIGITS, sizeof text - DIGITS, "e%lld",
             (long long)(quantity->exponent - PLACES));
    return strtod(text, NULL);
}

/* --- tokens --- */

double number_with_units(const unsigned char *begin, const unsigned char *end)
{
    struct quantity quantity;
    if (end - begin > NUMBER_MAX)
        return NAN;
    const bool negative = *begin == '-';
    begin += negative || *begin == '+';
    quantity.count = 0;
    quantity.exponent = 0;
    quantity.is_negative = negative;
    quantity.is_last = false;
    do
        if (!read_term(&begin, end, &quantity))
            return NAN;
    while (begin < end);
    uint64_t mantissa = 0;
    int64_t power = 0;
    double value = 0;
    bool fits = true;
    for (size_t i = 0; i < quantity.count && fits; i++)
        fits = add_term(&quantity.terms[i], &mantissa, &power);
    if (!fits || !number_to_double(mantissa, power + quantity.exponent, &value))
        value = by_digits(&quantity);
    return negative ? -value : value;
}

void numbers_add_units(const unsigned char *text, const unsigned char *limit, double *values,
                       size_t count)
{
    const unsigned char *at = text;
    bool all = true;
    for (size_t i = 0; i < count; i++)
        all &= values[i] == values[i];
    for (size_t i = 0; i < count && !all; i++) {
        while (number_is_space(*at))
            at++;
        const unsigned char *end = number_token_end(at, limit);
        if (isnan(values[i]))
            values[i] = number_with_units(at, end);
        at = end;
    }
}

/* Numbers with units that are several words. */

/* Returns where something other than blanks and colours is. */
static const unsigned char *after_gap(const unsigned char *at, const unsigned char *limit)
{
    const unsigned char *before;
    do {
        before = at;
        while (at < limit && number_is_blank(*at))
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

/* Adds a term, with its unit, to a token that ends with a unit. As number_join_words; *at does not
 * move if there is none. */
static size_t join_term(unsigned char *token, size_t len, const unsigned char **at,
                        const unsigned char *limit)
{
    const unsigned char *from = *at, *end;
    from += from < limit && *from == ','; /* the gap between terms */
    from = number_colour_end(from, limit);
    if (limit - from < 2 || *from != ' ')
        return len;
    from = number_colour_end(from + 1, limit);
    from += limit - from > 4 && memcmp(from, "and ", 4) == 0 ? 4 : 0;
    if (from == limit || !number_is_digit(*from))
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
    const bool is_clock = memchr(token, ':', len) && !isnan(number_with_units(token, token + len));
    const size_t joined = is_clock ? 0 : number_join_unit(token, len, word, end);
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
