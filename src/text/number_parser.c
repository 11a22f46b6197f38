/* SPDX-License-Identifier: MIT */
/* The table of parsers. */
#include "field_parser.h"

const struct number_parser *const number_parsers[] = {
#if defined __x86_64__ && defined __GNUC__
    &number_parser_avx512,
    &number_parser_avx2,
#endif
    &number_parser_portable,
    NULL,
};

const struct number_parser *number_parser_find(const struct number_parser *first)
{
    const struct number_parser *const *parser = number_parsers;
    while (first && *parser != first)
        parser++;
    while (!(*parser)->runs_here())
        parser++;
    number_prepare();
    return *parser;
}
