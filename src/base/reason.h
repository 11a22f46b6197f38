/* Why something failed, as text for the user: filled where it is known, printed by main alone. */
#ifndef GPUHISTO_REASON_H
#define GPUHISTO_REASON_H

#ifdef __cplusplus
extern "C" {
#endif

struct reason {
    char text[512]; /* one line without a newline; empty: there is none */
};

/* Formats a reason as printf would; what does not fit is cut. */
void reason_set(struct reason *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif

#endif
