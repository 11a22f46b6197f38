/* SPDX-License-Identifier: MIT */
#include "reason.h"
#include "show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int reason_set(struct reason *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return -1;
}

/* Formats into what is left of the reason after its first `len` bytes. */
static void append(struct reason *why, size_t len, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void append(struct reason *why, size_t len, const char *format, va_list args)
{
    vsnprintf(why->text + len, sizeof why->text - len, format, args);
}

int reason_of(struct reason *why, const char *subject, const char *format, ...)
{
    char shown[REASON_SUBJECT_MAX];
    reason_show_subject(subject, shown);
    int len = snprintf(why->text, sizeof why->text, "%s: ", shown);
    va_list args;
    va_start(args, format);
    append(why, (size_t)len, format, args);
    va_end(args);
    return -1;
}

int reason_of_option(struct reason *why, const char *option, const char *value, const char *format,
                     ...)
{
    char shown[REASON_SUBJECT_MAX];
    reason_show_subject(value, shown);
    int len = snprintf(why->text, sizeof why->text, "%s=%s: ", option, shown);
    va_list args;
    va_start(args, format);
    append(why, (size_t)len, format, args);
    va_end(args);
    return -1;
}

void reason_begin(struct reason *why, const char *subject)
{
    const struct reason what = *why;
    reason_of(why, subject, "%s", what.text);
}

void reason_show_subject(const char *subject, char shown[REASON_SUBJECT_MAX])
{
    show_text(subject, strlen(subject), shown, REASON_SUBJECT_MAX);
}

void reason_make_printable(struct reason *why)
{
    const struct reason raw = *why;
    show_text(raw.text, strlen(raw.text), why->text, sizeof why->text);
}
