#!/bin/sh
# SPDX-License-Identifier: MIT
# More than 2^32 of one value, through a pipe: a sparse file would be read more slowly.
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "takes too long with sanitizers and emulators"
[ -c /dev/zero ] || skip "no /dev/zero"

# One thread: on the CPU all of it is then counted in one place.
head -c 4400000000 /dev/zero | run --threads=1
oracle bytes </dev/null
sed "1s/${tab}0/${tab}4400000000/" expected >table
counts "4.4 GB of one value" table

summary
