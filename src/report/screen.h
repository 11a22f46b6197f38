/* SPDX-License-Identifier: MIT */
/* The terminal that a picture is made for. */
#ifndef GPUHISTO_SCREEN_H
#define GPUHISTO_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct screen {
    unsigned columns; /* characters of a line, 1 to 65535 */
    unsigned rows;    /* lines; 0: not a terminal */
    bool utf8;        /* the user's locale has UTF-8 */
};

/* Returns the screen of a descriptor. Other descriptors are as wide as COLUMNS in the environment
 * says, or 80. The process's own locale does not change, so numbers keep the decimal point of C.
 * One thread. */
struct screen screen_of(int fd);

/* Returns the columns of text[0..len) in UTF-8: two for East Asian characters, none for combining
 * marks; one for each character if the user's locale does not have UTF-8. One thread. */
size_t screen_width(const char *text, size_t len);

/* Loads the user's locale, before the sandbox forbids opening its files. */
void screen_prepare(void);

#endif
