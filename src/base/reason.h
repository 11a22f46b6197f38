/* SPDX-License-Identifier: MIT */
/* Why something failed, as text for the user: set where it is known, printed only by src/main.c and
 * src/main_*.c. */
#ifndef GPUHISTO_REASON_H
#define GPUHISTO_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

#define REASON_SUBJECT_MAX 256 /* bytes of a subject as shown, with the end */

struct reason {
    char text[1024]; /* one line without a newline; empty: there is none */
};

/* Formats a reason as printf would; what does not fit is cut. It takes text of our own only; the
 * functions below take text of the user's. Returns -1. */
int reason_set(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Formats a reason after "SUBJECT: ", such as the name of a file. The subject is shown on one line,
 * and shortened if it is long, so that there is room for what failed. Returns -1. */
int reason_of(struct reason *why, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats a reason after "OPTION=VALUE: ". Returns -1. */
int reason_of_option(struct reason *why, const char *option, const char *value, const char *format,
                     ...) __attribute__((format(printf, 4, 5)));

/* Begins a reason with "SUBJECT: ". */
void reason_begin(struct reason *why, const char *subject);

/* Writes a subject as reason_of shows it. */
void reason_show_subject(const char *subject, char shown[REASON_SUBJECT_MAX]);

/* Makes a reason printable that contains raw text of the user's. */
void reason_make_printable(struct reason *why);

#ifdef __cplusplus
}
#endif

#endif
