/* SPDX-License-Identifier: MIT */
/* The ASCII among characters, which kernels gather and count as bytes. */
#ifndef GPUHISTO_CHARACTERS_ASCII_H
#define GPUHISTO_CHARACTERS_ASCII_H

#include "count.h"
#include "src/tally/characters.h"

#define CHARACTERS_BATCH 1024     /* rows that are found before they are counted */
#define CHARACTERS_READ 72        /* bytes that are read to find the characters of 64 */
#define CHARACTERS_ASCII SIZE_MAX /* in place of a number of bytes: all are ASCII */
#define CHARACTERS_GATHERED 8192  /* bytes of ASCII that are counted at once, or a few more */
#define ASCII_VALUES 128

/* Some of the gathered bytes may not be ASCII; their counts are ignored. */
struct character_bytes {
    uint64_t counts[256];
    size_t len; /* bytes gathered; before a step at most CHARACTERS_GATHERED */
    unsigned char gathered[CHARACTERS_GATHERED + 128]; /* a step of 64, written by vectors */
};

/* True if 64 bytes are all ASCII. */
static inline bool characters_are_ascii(const unsigned char *data)
{
    uint64_t words[8];
    memcpy(words, data, sizeof words);
    return ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] |
             words[7]) &
            0x8080808080808080u) == 0;
}

/* Gathers 64 bytes, some of which are ASCII. */
static inline void characters_gather_all(const unsigned char *data, struct character_bytes *bytes)
{
    memcpy(bytes->gathered + bytes->len, data, 64);
    bytes->len += 64;
}

#endif
