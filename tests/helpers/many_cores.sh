# SPDX-License-Identifier: MIT
# What the tests of help with decoding share: with several workers, counts, messages and status are as with
# one, who leaves it all to libzstd or ISA-L. A script that reads it has read lib.sh.

workers='2 3 16' # with nine and more, zstd's pieces have lists
[ "$SCALE" != small ] || workers='2 16'
[ "$SANITIZED" = no ] || workers=3 # each run takes several times as long

# with_threads COUNT ARGUMENT...: runs with as many threads, and reads what `$pipe` writes, if that is set.
with_threads()
{
    threads_=$1
    shift
    if [ -n "$pipe" ]; then
        $pipe | run_as "$GPUHISTO" --device=cpu --threads="$threads_" "$@"
    else
        run_as "$GPUHISTO" --device=cpu --threads="$threads_" "$@"
    fi
}
pipe=

# alike CASE ARGUMENT...: with several workers all is as with one. Where few cases are asked for, some cases have two
# workers and some have sixteen, of files and of pipes. With `$only`, so many have them.
turn=0
only=
alike()
{
    case_=$1
    shift
    some=$workers
    if [ "$SCALE" = small ] && [ "$SANITIZED" = no ]; then
        turn=$(((turn + 1) % 4))
        case $turn in 1 | 2) some=2 ;; *) some=16 ;; esac
    fi
    some=${only:-$some}
    with_threads 1 "$@"
    mv out out.due
    mv err err.due
    mv status status.due
    for threads in $some; do
        with_threads $threads "$@"
        same "$case_, $threads workers" out.due out
        same "$case_, $threads workers: messages" err.due err
        same "$case_, $threads workers: status" status.due status
    done
}

# in_pipe CASE FILE ARGUMENT...: the same of a pipe that has the file.
in_pipe()
{
    pipe="cat $2"
    case_=$1
    shift 2
    alike "$case_, in a pipe" "$@"
    pipe=
}

# in_stalls CASE FILE BYTES SIZE ARGUMENT...: the same of a pipe that is fast for so many bytes only.
in_stalls()
{
    pipe="stalling $2 $3 $4"
    case_=$1
    shift 4
    alike "$case_, in a pipe that stalls" "$@"
    pipe=
}

# gone_in_pipe CASE FILE ARGUMENT...: what is wrong comes after more than is kept of a pipe, so that several
# workers say where that is, and that the pipe is gone; or, if it was slow, what one says.
gone_in_pipe()
{
    pipe="cat $2"
    case_=$1
    shift 2
    with_threads 1 "$@"
    refuses "$case_" 1 "standard input: corrupt" ", at byte"
    mv err err.due
    due=$(sed 's/ data.*, at byte/ data, at byte/' err.due)
    for threads in $workers; do
        with_threads $threads "$@"
        cmp -s err.due err || refuses "$case_, $threads workers" 1 \
            "$due; the pipe cannot be read again to find out more, so use --threads=1"
    done
    pipe=
}

stalling()
{
    head -c "$2" "$1"
    tail -c "+$(($2 + 1))" "$1" | "$HELPERS/dribble" -n "$3" -u 12000
}

# otherwise_read FILE PLAIN: the table of PLAIN comes of a named pipe and with little memory, too.
otherwise_read()
{
    run_as "$GPUHISTO" --device=cpu --threads=1 -b "$2"
    mv out expected
    for threads in $workers; do
        mkfifo pipe.$threads
        cat "$1" >pipe.$threads &
        run --threads=$threads -b pipe.$threads
        counts "a pipe, $threads workers" expected
        [ "$SANITIZED" = no ] || continue
        for limit in 120000 150000; do # KiB: with some of these it is short for what is kept of a pipe
            (ulimit -v $limit && run --threads=$threads -b "$1")
            counts "little memory, $limit, $threads workers" expected
            # shellcheck disable=SC2002 # a pipe
            cat "$1" | (ulimit -v $limit && run --threads=$threads -b)
            counts "a pipe and little memory, $limit, $threads workers" expected
        done
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
        in_pipe "$1, another byte $at" altered -b
        head -c $at "$1" >cut
        alike "$1, cut at $at" -b cut
        in_pipe "$1, cut at $at" cut -b
        place=$((place + 1))
    done
}

few_places=3
[ "$SCALE" = small ] || few_places=40
[ "$SANITIZED" = no ] || few_places=1
