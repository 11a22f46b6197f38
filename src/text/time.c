/* SPDX-License-Identifier: MIT */
#include "time.h"
#include "number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define YEAR_MAX 9999
#define LEAP_YEAR 1972      /* stands for the year that syslog leaves out */
#define FIRST_OF_1900S 69   /* of two digits, as POSIX has them */
#define EPOCH_DIGITS_MAX 21 /* of nanoseconds up to the end of YEAR_MAX */
#define SECOND 1000000000u  /* nanoseconds */

/* Seconds from 1970-01-01 to the beginning of the year 0001, and to the end of YEAR_MAX. */
#define YEARS_BEGIN (-62135596800)
#define YEARS_END 253402300800

/* Days from 0000-03-01 to 1970-01-01. Years that begin in March end with the leap day. */
#define DAYS_TO_1970 719468
#define DAYS_OF_400_YEARS 146097

static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* A text that is read, and whether all of it was as it should be so far. */
struct cursor {
    const unsigned char *at, *end;
    bool is_wrong;
};

struct date {
    int32_t year, month, day; /* months and days from 1 */
};

/* A part of a second, digit by digit. */
struct fraction {
    uint32_t nanoseconds; /* rounded down */
    uint32_t unit;        /* of the last digit, in nanoseconds; 0: below one */
    bool has_rest;        /* digits below a nanosecond that are not 0 */
};

/* --- the calendar: days_from_civil and civil_from_days of Howard Hinnant's "chrono-Compatible
 * Low-Level Date Algorithms" --- */

/* Returns the days from 1970-01-01 to a date of year 0 or later. */
static int64_t days_of(const struct date *date)
{
    const int32_t year = date->year - (date->month <= 2);
    const int32_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    const int32_t month = date->month + (date->month > 2 ? -3 : 9);
    const int32_t of_year = (153 * month + 2) / 5 + date->day - 1;
    const int32_t day = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    return (int64_t)era * DAYS_OF_400_YEARS + day - DAYS_TO_1970;
}

/* Reverses days_of. */
static struct date date_of(int64_t days)
{
    days += DAYS_TO_1970;
    const int64_t era = (days >= 0 ? days : days - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
    const int32_t day = (int32_t)(days - era * DAYS_OF_400_YEARS);
    const int32_t of_era = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const int32_t of_year = day - (365 * of_era + of_era / 4 - of_era / 100);
    const int32_t month = (5 * of_year + 2) / 153;
    struct date date = {.year = of_era + (int32_t)era * 400,
                        .month = month < 10 ? month + 3 : month - 9,
                        .day = of_year - (153 * month + 2) / 5 + 1};
    date.year += date.month <= 2;
    return date;
}

/* True if seconds since 1970-01-01 are of the years 0001 to 9999. */
static bool is_in_years(int64_t seconds)
{
    return seconds >= YEARS_BEGIN && seconds < YEARS_END;
}

/* --- parts of a text --- */

static bool is_next(const struct cursor *cursor, unsigned char byte)
{
    return cursor->at < cursor->end && *cursor->at == byte;
}

static bool pass(struct cursor *cursor, unsigned char byte)
{
    const bool is_there = is_next(cursor, byte);
    cursor->at += is_there;
    return is_there;
}

/* Passes a byte, which has to be there; '\0': passes nothing. */
static void need(struct cursor *cursor, unsigned char byte)
{
    cursor->is_wrong |= byte && !pass(cursor, byte);
}

/* Reads a number of so many digits, from min to max. */
static int32_t read_digits(struct cursor *cursor, int count, int32_t min, int32_t max)
{
    int32_t number = 0;
    for (; count > 0 && cursor->at < cursor->end && number_is_digit(*cursor->at); count--)
        number = number * 10 + (*cursor->at++ - '0');
    cursor->is_wrong |= count > 0 || number < min || number > max;
    return number;
}

static int32_t read_month(struct cursor *cursor)
{
    if (cursor->end - cursor->at >= 3)
        for (int32_t i = 0; i < 12; i++)
            if (memcmp(cursor->at, months[i], 3) == 0) {
                cursor->at += 3;
                return i + 1;
            }
    cursor->is_wrong = true;
    return 1;
}

static const struct fraction no_fraction = {.unit = SECOND};

static void add_digit(struct fraction *fraction, unsigned char digit)
{
    const uint32_t value = digit - '0';
    fraction->unit /= 10;
    fraction->nanoseconds += value * fraction->unit;
    fraction->has_rest |= fraction->unit == 0 && value > 0;
}

/* Adds the digits that are next, at least one. */
static void add_digits(struct cursor *cursor, struct fraction *fraction)
{
    cursor->is_wrong |= cursor->at == cursor->end || !number_is_digit(*cursor->at);
    for (; cursor->at < cursor->end && number_is_digit(*cursor->at); cursor->at++)
        add_digit(fraction, *cursor->at);
}

/* Reads hh:mm:ss, or what is between these instead of a colon, with or without a fraction. Returns
 * the seconds since midnight. */
static int32_t read_clock(struct cursor *cursor, const unsigned char *begin, unsigned char between,
                          struct time *time)
{
    const int32_t hour = read_digits(cursor, 2, 0, 23);
    need(cursor, between);
    const int32_t minute = read_digits(cursor, 2, 0, 59);
    need(cursor, between);
    time->is_clock = true;
    time->at = (uint32_t)(cursor->at - begin);
    const int32_t second = read_digits(cursor, 2, 0, 60);
    struct fraction fraction = no_fraction;
    if (pass(cursor, '.') || pass(cursor, ','))
        add_digits(cursor, &fraction);
    time->nanoseconds = fraction.nanoseconds;
    return hour * 3600 + minute * 60 + second;
}

static void read_zone(struct cursor *cursor, struct time *time)
{
    if (cursor->at == cursor->end)
        return;
    const bool is_apart = pass(cursor, ' ');
    if (pass(cursor, 'Z') || pass(cursor, 'z')) {
        time->zone = TIME_AT_UTC;
        return;
    }
    time->zone = TIME_OFFSET;
    time->is_west = pass(cursor, '-');
    if (!time->is_west)
        need(cursor, '+');
    time->offset = 60 * read_digits(cursor, 2, 0, 23);
    if (is_apart || cursor->at < cursor->end) { /* hours alone after a space may be a number */
        pass(cursor, ':');
        time->offset += read_digits(cursor, 2, 0, 59);
    }
}

/* --- the forms: true if all of the text is one --- */

/* Sets the time to seconds after a date. */
static bool set_time(const struct cursor *cursor, const struct date *date, int32_t seconds,
                     struct time *time)
{
    const int32_t year = date->year, month = date->month;
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int32_t days = month == 2 ? 28 + is_leap : 30 + ((month + (month > 7)) & 1);
    if (cursor->is_wrong || cursor->at < cursor->end || date->day > days)
        return false;
    time->local = days_of(date) * TIME_DAY + seconds;
    /* Only a second 60 can lead into another year. */
    return seconds < TIME_DAY || year < YEAR_MAX || month < 12 || date->day < 31;
}

/* Reads a date in digits and a clock. So many digits are the year, 0, 2 or 4; `between` the year,
 * month and day is a byte, or '\0': nothing, and nothing in the clock either. */
static bool read_numeric(struct cursor cursor, int digits, unsigned char between, struct time *time)
{
    const unsigned char *begin = cursor.at;
    struct date date = {.year = LEAP_YEAR};
    int32_t seconds = 0;
    if (digits > 0) {
        date.year = read_digits(&cursor, digits, digits == 4, YEAR_MAX);
        date.year += digits == 4 ? 0 : date.year < FIRST_OF_1900S ? 2000 : 1900;
        need(&cursor, between);
    }
    date.month = read_digits(&cursor, 2, 1, 12);
    need(&cursor, between);
    date.day = read_digits(&cursor, 2, 1, 31);
    if (cursor.at < cursor.end || digits < 4) {
        cursor.is_wrong |= !pass(&cursor, ' ') && !pass(&cursor, 'T') && !pass(&cursor, 't');
        seconds = read_clock(&cursor, begin, between ? ':' : '\0', time);
        if (digits > 0)
            read_zone(&cursor, time);
        else
            time->zone = TIME_OF_A_YEAR;
    }
    return set_time(&cursor, &date, seconds, time);
}

/* Reads yyyymmdd-h:m:s:ms, where only the date has leading zeros. */
static bool read_dashed(struct cursor cursor, struct time *time)
{
    static const int32_t max[] = {23, 59, 60, 999};
    struct date date;
    int32_t parts[4];
    date.year = read_digits(&cursor, 4, 1, YEAR_MAX);
    date.month = read_digits(&cursor, 2, 1, 12);
    date.day = read_digits(&cursor, 2, 1, 31);
    for (int i = 0; i < 4; i++) {
        int digits = 1;
        need(&cursor, i == 0 ? '-' : ':');
        while (digits < (i < 3 ? 2 : 3) && cursor.end - cursor.at > digits &&
               number_is_digit(cursor.at[digits]))
            digits++;
        parts[i] = read_digits(&cursor, digits, 0, max[i]);
    }
    time->is_clock = true;
    time->nanoseconds = (uint32_t)parts[3] * (SECOND / 1000);
    return set_time(&cursor, &date, parts[0] * 3600 + parts[1] * 60 + parts[2], time);
}

static bool read_common(struct cursor cursor, struct time *time)
{
    const unsigned char *begin = cursor.at;
    struct date date;
    date.day = read_digits(&cursor, 2, 1, 31);
    need(&cursor, '/');
    date.month = read_month(&cursor);
    need(&cursor, '/');
    date.year = read_digits(&cursor, 4, 1, YEAR_MAX);
    need(&cursor, ':');
    const int32_t seconds = read_clock(&cursor, begin, ':', time);
    read_zone(&cursor, time);
    return set_time(&cursor, &date, seconds, time);
}

static bool read_syslog(struct cursor cursor, struct time *time)
{
    const unsigned char *begin = cursor.at;
    struct date date = {.year = LEAP_YEAR};
    date.month = read_month(&cursor);
    need(&cursor, ' ');
    pass(&cursor, ' ');
    const bool has_two = cursor.end - cursor.at > 1 && cursor.at[1] != ' ';
    date.day = read_digits(&cursor, has_two ? 2 : 1, 1, 31);
    need(&cursor, ' ');
    const int32_t seconds = read_clock(&cursor, begin, ':', time);
    time->zone = TIME_OF_A_YEAR;
    return set_time(&cursor, &date, seconds, time);
}

/* As ctime writes it, and Apache's error log, with the name of any day. */
static bool read_ctime(struct cursor cursor, struct time *time)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    const unsigned char *begin = cursor.at;
    struct date date;
    bool is_day = false;
    for (size_t i = 0; i < sizeof days - 1; i += 3)
        is_day |= memcmp(begin, days + i, 3) == 0;
    cursor.is_wrong = !is_day;
    cursor.at += 3;
    need(&cursor, ' ');
    date.month = read_month(&cursor);
    need(&cursor, ' ');
    const bool has_two = !pass(&cursor, ' ');
    date.day = read_digits(&cursor, has_two ? 2 : 1, 1, 31);
    need(&cursor, ' ');
    const int32_t seconds = read_clock(&cursor, begin, ':', time);
    need(&cursor, ' ');
    date.year = read_digits(&cursor, 4, 1, YEAR_MAX);
    return set_time(&cursor, &date, seconds, time);
}

static bool read_number(struct cursor cursor, struct time *time)
{
    const bool is_negative = pass(&cursor, '-');
    struct fraction fraction = no_fraction;
    const unsigned char *digits = cursor.at;
    while (cursor.at < cursor.end && number_is_digit(*cursor.at))
        cursor.at++;
    if (cursor.at == digits)
        return false;
    while (*digits == '0' && digits + 1 < cursor.at)
        digits++;
    const size_t count = (size_t)(cursor.at - digits);
    const size_t digits_below = is_negative || count < 12 ? 0 : count < 15 ? 3 : count < 18 ? 6 : 9;
    const unsigned char *below = cursor.at - digits_below;
    if (count > (is_negative ? 12 : EPOCH_DIGITS_MAX))
        return false;
    time->local = 0;
    for (; digits < below; digits++)
        time->local = time->local * 10 + (*digits - '0');
    for (; digits < cursor.at; digits++)
        add_digit(&fraction, *digits);
    if (pass(&cursor, '.'))
        add_digits(&cursor, &fraction);
    time->nanoseconds = fraction.nanoseconds;
    if (is_negative) {
        const uint32_t down = fraction.nanoseconds + fraction.has_rest;
        time->local = -time->local - (down > 0);
        time->nanoseconds = down > 0 ? SECOND - down : 0;
    }
    time->zone = TIME_AT_UTC;
    return !cursor.is_wrong && cursor.at == cursor.end && is_in_years(time->local);
}

bool time_read(const unsigned char *begin, const unsigned char *end, struct time *time)
{
    struct cursor cursor = {begin, end, false};
    *time = (struct time){.zone = TIME_NO_ZONE};
    while (is_next(&cursor, ' ') || is_next(&cursor, '\t'))
        cursor.at++;
    while (cursor.at < cursor.end && (cursor.end[-1] == ' ' || cursor.end[-1] == '\t'))
        cursor.end--;
    pass(&cursor, '[');
    cursor.end -= cursor.at < cursor.end && cursor.end[-1] == ']';
    const size_t len = (size_t)(cursor.end - cursor.at);
    const unsigned char *at = cursor.at;
    bool is_time;
    if (len > 4 && (at[4] == '-' || at[4] == '/'))
        is_time = read_numeric(cursor, 4, at[4], time);
    else if (len > 5 && at[2] == '/')
        is_time = at[5] == '/' ? read_numeric(cursor, 2, '/', time) : read_common(cursor, time);
    else if (len > 5 && at[5] == ' ' && (at[2] == '-' || at[2] == '.'))
        is_time = read_numeric(cursor, 0, at[2], time);
    else if (len > 4 && at[3] == ' ' && at[4] >= 'A')
        is_time = read_ctime(cursor, time);
    else if (len > 3 && at[3] == ' ')
        is_time = read_syslog(cursor, time);
    else if (len > 6 && at[6] == ' ')
        is_time = read_numeric(cursor, 2, '\0', time);
    else if (len > 8 && at[8] == '-')
        is_time = read_dashed(cursor, time);
    else
        return read_number(cursor, time);
    time->at += time->at > 0 ? (uint32_t)(at - begin) : 0;
    return is_time;
}

/* --- numbers --- */

int64_t time_moment(const struct time *time)
{
    const int64_t offset = 60 * (int64_t)time->offset;
    return time->zone != TIME_OFFSET ? time->local
           : time->is_west           ? time->local + offset
                                     : time->local - offset;
}

size_t time_write_seconds(const struct time *time, unsigned char *text)
{
    const int64_t moment = time_moment(time);
    const bool is_negative = moment < 0, is_cut = is_negative && time->nanoseconds > 0;
    const int64_t seconds = is_negative ? -moment - is_cut : moment;
    const uint32_t below = is_cut ? SECOND - time->nanoseconds : time->nanoseconds;
    if (time->zone == TIME_OF_A_YEAR)
        return 0;
    size_t len = (size_t)sprintf((char *)text, "%s%" PRId64 ".%09" PRIu32, is_negative ? "-" : "",
                                 seconds, below);
    while (text[len - 1] == '0')
        len--;
    return len - (text[len - 1] == '.');
}

/* --- buckets --- */

bool time_is_bucket(uint64_t seconds)
{
    return seconds > 0 && (seconds <= TIME_DAY
                               ? TIME_DAY % seconds == 0
                               : seconds % TIME_DAY == 0 && seconds / TIME_DAY <= TIME_BUCKET_DAYS);
}

static int64_t floor_of(int64_t time, uint32_t seconds)
{
    const int64_t since = time % (int64_t)seconds;
    return time - since - (since < 0 ? (int64_t)seconds : 0);
}

bool time_floor(struct time *time, uint32_t seconds)
{
    if (time->zone == TIME_OF_A_YEAR ? seconds > TIME_DAY
                                     : time_is_date(time) && seconds < TIME_DAY)
        return false;
    time->local = floor_of(time->local, seconds);
    return true;
}

void time_floor_twice(struct time *time, uint32_t seconds)
{
    const int64_t local = time->local, moment = time_moment(time), ahead = local - moment;
    /* Whether there is such a year is not to change, neither here nor in UTC. */
    const int64_t begins[] = {floor_of(local, seconds), floor_of(moment, seconds) + ahead,
                              YEARS_BEGIN + ahead, YEARS_END + ahead};
    time->local = YEARS_BEGIN;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (begins[i] > time->local && begins[i] <= local)
            time->local = begins[i];
}

void time_to_utc(struct time *time)
{
    const int64_t moment = time_moment(time);
    if (!is_in_years(moment))
        return;
    time->local = moment;
    time->zone = TIME_AT_UTC;
    time->offset = 0;
}

/* Writes a number as so many digits, and then a byte. Returns the end. */
static unsigned char *write_digits(unsigned char *to, int32_t number, int count, char then)
{
    for (int i = count - 1; i >= 0; i--, number /= 10)
        to[i] = (unsigned char)('0' + number % 10);
    to[count] = (unsigned char)then;
    return to + count + 1;
}

size_t time_write(const struct time *time, unsigned char *text)
{
    const int64_t days = (time->local >= 0 ? time->local : time->local - (TIME_DAY - 1)) / TIME_DAY;
    const int32_t seconds = (int32_t)(time->local - days * TIME_DAY);
    const struct date date = date_of(days);
    unsigned char *to = text;
    if (time->zone == TIME_OF_A_YEAR) {
        memcpy(to, months[date.month - 1], 3);
        to[3] = ' ';
        to = write_digits(to + 4, date.day, 2, ' ');
        if (text[4] == '0')
            text[4] = ' ';
    } else {
        to = write_digits(to, date.year, 4, '-');
        to = write_digits(to, date.month, 2, '-');
        to = write_digits(to, date.day, 2, 'T');
    }
    to = write_digits(to, seconds / 3600, 2, ':');
    to = write_digits(to, seconds / 60 % 60, 2, ':');
    to = write_digits(to, seconds % 60, 2, '\0') - 1;
    if (time->zone == TIME_AT_UTC)
        *to++ = 'Z';
    if (time->zone == TIME_OFFSET) {
        *to++ = time->is_west ? '-' : '+';
        to = write_digits(to, time->offset / 60, 2, ':');
        to = write_digits(to, time->offset % 60, 2, '\0') - 1;
    }
    return (size_t)(to - text);
}
