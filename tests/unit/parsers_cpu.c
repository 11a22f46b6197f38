/* SPDX-License-Identifier: MIT */
#include "tests/unit/tested_parsers.h"

const struct number_parser *const *const tested_parsers = number_parsers;
