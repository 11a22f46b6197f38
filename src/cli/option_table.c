/* SPDX-License-Identifier: MIT */
/* The table of options, without their handlers: whoever checks options does not need them. */
#include "option.h"

/* What a row says after its help names its column. */
#define OPTION(of, short_name, long_name, takes_value, value_name, handler, ...)                   \
    {.group = (of),                                                                                \
     .letter = (short_name),                                                                       \
     .name = (long_name),                                                                          \
     .takes = (takes_value),                                                                       \
     .value = (value_name),                                                                        \
     .help = __VA_ARGS__},
const struct option_row option_rows[] = {
#include "options.def"
};
#undef OPTION

_Static_assert(sizeof option_rows / sizeof option_rows[0] <= OPTIONS_MAX, "too many options");

const size_t option_count = sizeof option_rows / sizeof option_rows[0];
