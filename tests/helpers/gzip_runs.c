/* SPDX-License-Identifier: MIT */
#include "gzip_runs.h"
#include "src/blocks/gzip_chain.h"

#include <stdlib.h>

#define OPEN_MAX 16 /* runs that are kept */

static uint32_t crc_of(const unsigned char *data, size_t len)
{
    static uint32_t table[256];
    uint32_t crc = UINT32_MAX;
    for (uint32_t byte = 0; table[255] == 0 && byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? 0xedb88320 : 0);
        table[byte] = value;
    }
    for (; len > 0; data++, len--)
        crc = crc >> 8 ^ table[(crc ^ *data) & 255];
    return ~crc;
}

/* Executes what was parsed, and tells the chain. False: stop. */
static bool add_parsed(struct gzip_chain *chain, const struct parsed_run *parsed,
                       struct gunzipped *to)
{
    const size_t before = to->made.len;
    bool is_too_far;
    to->fault = execute_bytes(parsed, &to->made, &is_too_far);
    if (is_too_far)
        to->fault = "a match before the content";
    gzip_chain_add(chain, crc_of(to->made.bytes + before, parsed->content), parsed->content);
    return !to->fault && to->made.len - before == parsed->content;
}

/* False: stop. */
static bool chain_run(struct gzip_chain *chain, const struct gzip_run *run, struct gunzipped *to)
{
    const struct parsed_run *parsed;
    enum gzip_chained chained;
    while ((chained = gzip_chain_next(chain, run, &parsed, &to->why)) == GZIP_CHAINED) {
        to->used += parsed == &run->parsed;
        if (parsed->content > to->made.cap - to->made.len || !add_parsed(chain, parsed, to))
            return false;
    }
    to->passed++;
    return chained == GZIP_PASSED;
}

void gunzip_by_runs(const unsigned char *in, size_t len, size_t piece, struct gunzipped *gunzipped)
{
    static struct gzip_run runs[OPEN_MAX];
    static struct gzip_chain chain;
    struct gzip_cutter cutter = {.piece = piece};
    bool more = true;
    size_t at = 0;
    if (gzip_chain_open(&chain) != 0)
        exit(99);
    while (more) {
        size_t count = 0;
        for (; count < OPEN_MAX && more; count++) {
            if (!runs[count].in && gzip_run_open(&runs[count]) != 0)
                exit(99);
            gzip_cutter_begin(&cutter, &runs[count]);
            at += gzip_run_fill(&runs[count], in + at, len - at);
            more = gzip_cutter_end(&cutter, &runs[count]);
        }
        for (size_t i = count; i-- > 0;)
            gzip_run_parse(&runs[i]);
        for (size_t i = 0; i < count; i++)
            if (!chain_run(&chain, &runs[i], gunzipped))
                more = false, count = 0;
    }
    gunzipped->is_whole = !gunzipped->why && gzip_chain_is_complete(&chain);
    gzip_chain_close(&chain);
}
