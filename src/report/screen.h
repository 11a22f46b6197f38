/* SPDX-License-Identifier: MIT */
/* Where a table is read that was made for people. */
#ifndef GPUHISTO_SCREEN_H
#define GPUHISTO_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen {
    unsigned columns; /* characters of a line, 1 to 65535 */
    unsigned rows;    /* lines; 0: any number, as it is no terminal */
    bool utf8;        /* the user's locale has UTF-8 */
};

/* The screen of what is written to a descriptor: as wide as the terminal that it is; otherwise as
 * wide as COLUMNS in the environment says, or 80. The process's own locale stays as it is, so that
 * numbers keep the decimal point of C. One thread. */
struct screen screen_of(int fd);

/* The columns that a text in UTF-8 takes: East Asian characters two, combining marks none; if the
 * user's locale does not have UTF-8, a column for each character. One thread. */
size_t screen_width(const char *text);

/* Looks up the user's locale, for when its files cannot be opened any more. */
void screen_prepare(void);

#endif
