/* Messages for the user, on standard error. */
#ifndef GPUHISTO_DIAG_H
#define GPUHISTO_DIAG_H

/* Prints "gpuhisto: ", the formatted message and a newline in one write, so that lines of several
 * processes in a pipeline do not mix. Any thread may call it; errno is kept. */
void diag(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
