/* SPDX-License-Identifier: MIT */
#include "format.h"

const struct format *const format_table[] = {
#define FORMAT(name) &format_##name,
#include "src/report/formats.def"
#undef FORMAT
};

const char *const format_names[] = {
#define FORMAT(name) #name,
#include "src/report/formats.def"
#undef FORMAT
    NULL,
};
