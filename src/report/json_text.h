/* SPDX-License-Identifier: MIT */
/* Text in JSON. */
#ifndef GPUHISTO_JSON_TEXT_H
#define GPUHISTO_JSON_TEXT_H

#include "writer.h"

/* Writes text in which there are no control characters, as a string. */
void json_string(struct writer *out, const char *text);

#endif
