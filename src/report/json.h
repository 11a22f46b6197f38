/* SPDX-License-Identifier: MIT */
/* Values in JSON. */
#ifndef GPUHISTO_JSON_H
#define GPUHISTO_JSON_H

#include "rows.h"
#include "writer.h"

/* Writes a string. */
void json_string(struct writer *out, const char *text);

/* Each writes `key`, which ends with the colon, and a number. JSON knows no infinity and no NaN:
 * these are strings. */
void json_member(struct writer *out, const char *key, const char *number);
void json_count(struct writer *out, const char *key, uint64_t count);

/* Writes the members "total", "counted" and "other"; for a mode that is_binned also those of
 * json_outside: ,"below", "above" and "invalid". */
void json_totals(struct writer *out, const struct mode *mode, const struct totals *totals);
void json_outside(struct writer *out, const struct totals *totals);

#endif
