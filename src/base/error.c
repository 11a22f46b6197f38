/* SPDX-License-Identifier: MIT */
#include "error.h"
#include "show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    return -1;
}

/* Formats into what is left of the error after its first `len` bytes. */
static void append(struct error *error, size_t len, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void append(struct error *error, size_t len, const char *format, va_list args)
{
    vsnprintf(error->text + len, sizeof error->text - len, format, args);
}

int error_of(struct error *error, const char *subject, const char *format, ...)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(subject, shown);
    int len = snprintf(error->text, sizeof error->text, "%s: ", shown);
    va_list args;
    va_start(args, format);
    append(error, (size_t)len, format, args);
    va_end(args);
    return -1;
}

int error_of_option(struct error *error, const char *option, const char *value, const char *format,
                    ...)
{
    char shown[ERROR_SUBJECT_MAX];
    error_show_subject(value, shown);
    int len = snprintf(error->text, sizeof error->text, "%s=%s: ", option, shown);
    va_list args;
    va_start(args, format);
    append(error, (size_t)len, format, args);
    va_end(args);
    return -1;
}

void error_begin(struct error *error, const char *subject)
{
    const struct error what = *error;
    error_of(error, subject, "%s", what.text);
}

void error_show_subject(const char *subject, char shown[ERROR_SUBJECT_MAX])
{
    show_text(subject, strlen(subject), shown, ERROR_SUBJECT_MAX);
}

void error_make_printable(struct error *error)
{
    const struct error raw = *error;
    show_text(raw.text, strlen(raw.text), error->text, sizeof error->text);
}
