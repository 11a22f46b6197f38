/* SPDX-License-Identifier: MIT */
#include "format.h"

const struct format *const formats[] = {
#define FORMAT(name) &format_##name,
#include "src/report/formats.def"
#undef FORMAT
    NULL,
};

_Static_assert(sizeof formats / sizeof formats[0] <= FORMATS_MAX, "too many formats");
