/* SPDX-License-Identifier: MIT */
/* Times in text, and the beginnings of buckets of time. These forms are times, perhaps between
 * spaces and tabs, with a '[' before or a ']' after them:
 *
 *     2026-11-22T10:05:07.123+02:00     RFC 3339; t or a space for T, a comma for the point
 *     2026/11/22 10:05:07               the same with slashes, as nginx's error log has it
 *     2026-11-22, 2026/11/22            a date alone, midnight
 *     22/Nov/2026:10:05:07 +0200        the common log format
 *     Sun Nov 22 10:05:07.123 2026      as ctime and Apache's error log have it; Sun Nov  2, too
 *     26/11/22 10:05:07, 261122 100507  as Spark and HDFS have it; years 69 to 99 are of the 1900s
 *     20261122-10:5:7:123               milliseconds last; only the date has leading zeros
 *     Nov 22 10:05:07                   of syslog, without a year; Nov  2 and Nov 2 are the same
 *     11-22 10:05:07, 11.22 10:05:07    the same, month first, as Android and Proxifier have it
 *     1763806507.123                    since 1970: a number below 1e11 is seconds, below 1e14
 *                                       ms, below 1e17 us, and else ns; a negative one is seconds
 *
 * After seconds there may be a fraction; after these, in the forms up to that of HDFS except
 * ctime's, an offset: Z, z, +hh, +hhmm or +hh:mm, or with a minus, all but +hh perhaps after a
 * space. Years are 0001 to 9999 of the Gregorian calendar, however long ago. A second 60 is the
 * first one of the next minute. */
#ifndef GPUHISTO_TIME_H
#define GPUHISTO_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIME_TEXT_MAX 32      /* bytes that are written, at most */
#define TIME_DAY 86400        /* seconds */
#define TIME_BUCKET_DAYS 366u /* of a bucket, at most */

enum time_zone {
    TIME_NO_ZONE,   /* no offset was written */
    TIME_AT_UTC,    /* Z, or a number since 1970 */
    TIME_OFFSET,    /* an offset in minutes */
    TIME_OF_A_YEAR, /* there is no year, as in syslog */
};

/* A time, rounded down to nanoseconds. */
struct time {
    int64_t local; /* seconds since 1970-01-01 00:00:00 where the offset holds; without a year,
                    * those of 1972, which has a February 29 */
    uint32_t nanoseconds; /* after these seconds */
    enum time_zone zone;
    bool is_west;   /* of an offset: it has a minus, which -00:00 keeps */
    int32_t offset; /* minutes, without the sign */
    bool is_clock;  /* a clock was written */
    uint32_t at;    /* where the two digits of its seconds begin in the text; 0: they may be one */
};

/* Reads all of [begin, end) as a time. False if it is none. Any thread. */
bool time_read(const unsigned char *begin, const unsigned char *end, struct time *time);

/* Returns the seconds since 1970-01-01, of UTC if there is an offset. */
int64_t time_moment(const struct time *time);

/* Writes these seconds with their fraction as a number, in TIME_TEXT_MAX bytes at most. Returns the
 * length, or 0 if there is no year. */
size_t time_write_seconds(const struct time *time, unsigned char *text);

/* True if buckets of so many seconds begin at the same times each day, or are 1 to
 * TIME_BUCKET_DAYS whole days. */
bool time_is_bucket(uint64_t seconds);

/* True if a date alone was read. */
static inline bool time_is_date(const struct time *time)
{
    return time->zone == TIME_NO_ZONE && !time->is_clock;
}

/* Rounds a time down to the beginning of its bucket, by the clock where its offset holds. Buckets
 * of several days are counted from 1970-01-01. False if it has none: there is no year, and a bucket
 * has several days, or it is a date alone, and a bucket is shorter than a day. */
bool time_floor(struct time *time, uint32_t seconds);

/* Rounds a time down to where its bucket begins or, if that is later, to where the one in UTC
 * does. So both can still be found by time_floor, and a bucket has two such times at most. */
void time_floor_twice(struct time *time, uint32_t seconds);

/* Turns a time with an offset into one of UTC, unless that is not of the years 0001 to 9999. */
void time_to_utc(struct time *time);

/* Writes a time by RFC 3339, with the offset that was read, if any; one without a year as syslog
 * does. `text` has TIME_TEXT_MAX bytes. Returns the length. */
size_t time_write(const struct time *time, unsigned char *text);

#endif
