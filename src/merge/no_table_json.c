/* SPDX-License-Identifier: MIT */
/* Builds without yajl read no tables. */
#include "table_json.h"

int table_json_load(struct reason *why)
{
    return reason_set(why, "JSON cannot be read: this build has no yajl");
}

struct table_json *table_json_open(const struct table_reader *reader)
{
    (void)reader;
    return NULL;
}

int table_json_read(struct table_json *json, const unsigned char *text, size_t len,
                    struct reason *why)
{
    (void)json, (void)text, (void)len, (void)why;
    return -1;
}

int table_json_end(struct table_json *json, struct reason *why)
{
    (void)json, (void)why;
    return -1;
}

void table_json_close(struct table_json *json)
{
    (void)json;
}
