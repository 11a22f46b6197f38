/* SPDX-License-Identifier: MIT */
/* The parsers that test_number_parsers.c is linked with: the CPU's, or the GPU's compiled for the
 * host. */
#ifndef GPUHISTO_TESTS_TESTED_PARSERS_H
#define GPUHISTO_TESTS_TESTED_PARSERS_H

#include "src/text/field_parser.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ends with NULL. Their parse functions are called after number_prepare. */
extern const struct number_parser *const *const tested_parsers;

#ifdef __cplusplus
}
#endif

#endif
