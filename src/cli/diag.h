/* SPDX-License-Identifier: MIT */
/* Messages for the user, on standard error. */
#ifndef GPUHISTO_DIAG_H
#define GPUHISTO_DIAG_H

/* Prints "gpuhisto: ", the formatted message and a newline in one write, so that lines of several
 * processes in a pipeline do not mix. Bytes that could end the line or control a terminal are
 * escaped. Any thread; errno does not change. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
