/* SPDX-License-Identifier: MIT */
/* Why something failed, as text for the user: set where it is known, printed only by src/cli/. */
#ifndef GPUHISTO_ERROR_H
#define GPUHISTO_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define ERROR_SUBJECT_MAX 256 /* bytes of a subject as shown, with the end */

struct error {
    char text[1024]; /* one line without a newline; empty: there is none */
};

/* Formats an error as printf would; what does not fit is cut. It takes text of our own only; the
 * functions below take text of the user's. Returns -1. */
int error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Formats an error after "SUBJECT: ", such as the name of a file. The subject is shown on one line,
 * and shortened if it is long, so that there is room for what failed. Returns -1. */
int error_of(struct error *error, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats an error after "OPTION=VALUE: ". Returns -1. */
int error_of_option(struct error *error, const char *option, const char *value, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

/* Begins an error with "SUBJECT: ". */
void error_begin(struct error *error, const char *subject);

/* Writes a subject as error_of shows it. */
void error_show_subject(const char *subject, char shown[ERROR_SUBJECT_MAX]);

/* Makes an error printable that contains raw text of the user's. */
void error_make_printable(struct error *error);

#ifdef __cplusplus
}
#endif

#endif
