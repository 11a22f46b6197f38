/* SPDX-License-Identifier: MIT */
/* Values in JSON. */
#ifndef GPUHISTO_JSON_H
#define GPUHISTO_JSON_H

#include "groups.h"
#include "rows.h"
#include "writer.h"

/* Writes a string. */
void json_string(struct writer *out, const char *text);

/* Writes the member "key" or "file", the name of a group. It is a string, in which U+FFFD replaces
 * invalid UTF-8, as in jq; or null, for records without a key. A name of several
 * parts is an array of strings. A name that is not UTF-8, or has a 0
 * in it, is followed by "key_bytes" or "file_bytes", its bytes in hexadecimal, of each part if
 * there are several. For `rest` writes "keys" instead, their number. */
void json_group(struct writer *out, const struct groups *groups, size_t group);

/* Each writes `key`, which ends with the colon, and a number. JSON knows no infinity and no NaN:
 * these are strings. */
void json_member(struct writer *out, const char *key, const char *number);
void json_count(struct writer *out, const char *key, uint64_t count);

/* Writes the members "total", "counted" and "other"; for a mode that is_binned also those of
 * json_outside: ,"below", "above" and "invalid". */
void json_totals(struct writer *out, const struct mode *mode, const struct totals *totals);
void json_outside(struct writer *out, const struct totals *totals);

#endif
