/* SPDX-License-Identifier: MIT */
/* Why something failed, as text for the user: filled where it is known, printed by main alone. */
#ifndef GPUHISTO_REASON_H
#define GPUHISTO_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

#define REASON_SUBJECT_MAX 256 /* bytes of a subject that are shown, at most */

struct reason {
    char text[1024]; /* one line without a newline; empty: there is none */
};

/* Formats a reason as printf would; what does not fit is cut. For text of our own: anything of the
 * user's goes through one of the two below. */
void reason_set(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same after "SUBJECT: ", where the subject is a FILE's name or the like. It is shown on one
 * line, and a long one is shortened, so that it never takes the place of what failed. */
void reason_of(struct reason *why, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same after "OPTION=VALUE: ". */
void reason_of_option(struct reason *why, const char *option, const char *value, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Begins a reason with "SUBJECT: ". */
void reason_begin(struct reason *why, const char *subject);

/* Writes a subject as reason_of shows it. */
void reason_show_subject(const char *subject, char shown[REASON_SUBJECT_MAX]);

/* Makes a reason printable that text of the user's was put into as it is: shown as show_text does.
 */
void reason_make_printable(struct reason *why);

#ifdef __cplusplus
}
#endif

#endif
