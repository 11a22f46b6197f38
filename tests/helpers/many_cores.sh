# SPDX-License-Identifier: MIT
# What the tests of help with decoding share: with several workers, counts, messages and status are as with
# one, who leaves it all to libzstd or ISA-L. A script that reads it has read lib.sh.

workers='2 3 8'
[ "$SCALE" != small ] || workers='2 8'
[ "$SANITIZED" = no ] || workers=3 # each run takes several times as long

# alike CASE ARGUMENT...: with several workers all is as with one.
alike()
{
    case_=$1
    shift
    run_as "$GPUHISTO" --device=cpu --threads=1 "$@"
    mv out out.due
    mv err err.due
    mv status status.due
    for threads in $workers; do
        run_as "$GPUHISTO" --device=cpu --threads=$threads "$@"
        same "$case_, $threads workers" out.due out
        same "$case_, $threads workers: messages" err.due err
        same "$case_, $threads workers: status" status.due status
    done
}

# otherwise_read FILE PLAIN: the table of PLAIN comes of a pipe and with little memory, too.
otherwise_read()
{
    run_as "$GPUHISTO" --device=cpu --threads=1 -b "$2"
    mv out expected
    for threads in $workers; do
        mkfifo pipe.$threads
        cat "$1" >pipe.$threads &
        run --threads=$threads -b pipe.$threads
        counts "a pipe, $threads workers" expected
        (ulimit -v 150000 && run --threads=$threads -b "$1")
        [ "$SANITIZED" = yes ] || counts "little memory, $threads workers" expected
    done
}

# alter FILE BYTE TO: a byte of a copy, `altered`, is another one.
alter()
{
    cp "$1" altered
    # shellcheck disable=SC2059 # it is a format
    printf "$3" | dd of=altered bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# wrong_places FILE COUNT: at so many places, a byte is another one, and the file is cut.
wrong_places()
{
    size=$(wc -c <"$1")
    place=0
    while [ $place -lt "$2" ]; do
        at=$((size * place / $2 + place * 7919 % 5000 + 30))
        [ $at -lt "$size" ] || at=$((size - 1))
        alter "$1" $at '\125'
        alike "$1, another byte $at" -b altered
        head -c $at "$1" >cut
        alike "$1, cut at $at" -b cut
        place=$((place + 1))
    done
}

few_places=3
[ "$SCALE" = small ] || few_places=40
[ "$SANITIZED" = no ] || few_places=1
