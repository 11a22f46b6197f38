/* SPDX-License-Identifier: MIT */
#include "option.h"

#define OPTION(group, letter, name, takes, value, handler, help)                                   \
    {group, letter, name, takes, value, handler, help},
const struct option_row option_rows[] = {
#include "options.def"
};
#undef OPTION

const size_t option_count = sizeof option_rows / sizeof option_rows[0];
