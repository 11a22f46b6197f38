/* SPDX-License-Identifier: MIT */
/* Integers wide enough for values of 64 bits, signed or not, and for sums and differences. */
#ifndef GPUHISTO_INT128_H
#define GPUHISTO_INT128_H

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

#endif
