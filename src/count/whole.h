/* SPDX-License-Identifier: MIT */
/* Whole numbers wide enough for values of 64 bits, signed or not, and for sums and differences. */
#ifndef GPUHISTO_WHOLE_H
#define GPUHISTO_WHOLE_H

__extension__ typedef __int128 whole;
__extension__ typedef unsigned __int128 unsigned_whole;

#endif
