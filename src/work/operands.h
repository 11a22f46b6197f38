/* SPDX-License-Identifier: MIT */
/* The operands of a source; for source.c. */
#ifndef GPUHISTO_OPERANDS_H
#define GPUHISTO_OPERANDS_H

#include "worker.h"

/* Looks at the operands that were named, or of a shard at those that it has something of; puts them
 * into the order in which they are read, and holds the first ones. source->operands has room for
 * all of them. */
void operands_look(struct source *source, char *const *names, size_t count);

#endif
