# SPDX-License-Identifier: MIT
# What the tests of every codec share. A script that reads it has set `codec`, has a function `made`,
# which compresses standard input, and has read lib.sh.

[ "$SCALE" = small ] && big=--chunk-size=40K || big=--chunk-size=16K
data text 30000 >in
oracle bytes <in
cp expected table
oracle bytes </dev/null
cp expected zeros
oracle letters 2 1 <in
cp expected letters

# every_way CASE FILE: as a file, a FILE and a pipe, by its magic and by order, it gives the table
# of `in`.
every_way()
{
    run $big <"$2"
    counts "$1, file" table
    run $big -d "$codec" "$2"
    counts "$1, FILE" table
    cat "$2" | run $big
    counts "$1, pipe" table
    cat "$2" | run -l2 -f --chunk-size=15001 --decompress="$codec"
    counts "$1, letters" letters
}

# every_source FILE: the table of `few` comes of it, whatever it is read from; leaves that table in
# few.table, and a file that begins otherwise in `after`.
every_source()
{
    data text 50 >few
    made <few >"$1"
    oracle bytes <few
    cp expected few.table
    run $big "$1"
    counts "a small FILE" few.table
    "$HELPERS/dribble" <"$1" | run $big
    counts "a pipe, byte by byte" few.table
    "$HELPERS/dribble" -u 2000 <"$1" | run_as "$HELPERS/with_stdin" nonblock "$GPUHISTO" $ENGINE $big
    counts "a non-blocking pipe, byte by byte" few.table
    run_as "$HELPERS/with_stdin" socket "$GPUHISTO" $ENGINE $big <"$1"
    counts "a socket" few.table
    mkfifo fifo
    cat "$1" >fifo &
    run $big fifo
    wait $!
    counts "a fifo" few.table
    { printf 0123456789 && cat "$1"; } >after
    { dd bs=10 count=1 of=/dev/null 2>dd.err && run $big; } <after
    counts "from the offset of standard input on" few.table
}

# plain CASE FILE: it is counted as it is, unless that is forbidden.
plain()
{
    oracle bytes <"$2"
    run $big <"$2"
    counts "$1, file" expected
    cat "$2" | run $big
    counts "$1, pipe" expected
    "$HELPERS/dribble" <"$2" | run $big
    counts "$1, byte by byte" expected
    run $big -d none "$2"
    counts "$1, none" expected
    run $big --decompress="$codec" <"$2"
    refuses "$1, by order" 1 "standard input: " "$codec data"
}

# cut_everywhere LEAST STEP: `whole` is cut after each STEP-th byte. After so many bytes as N in
# whole.N, a table, it may end; otherwise it is truncated, which in a pipe shows from LEAST bytes on.
cut_everywhere()
{
    whole_size=$(wc -c <whole)
    cut=1
    while [ $cut -le "$whole_size" ]; do
        head -c $cut whole >cut
        run $big --decompress="$codec" <cut
        if [ -e whole.$cut ]; then
            counts "cut after $cut bytes" whole.$cut
            cat cut | run $big
            counts "cut after $cut bytes, pipe" whole.$cut
        else
            refuses "cut after $cut bytes" 1 "standard input: truncated $codec data, at byte $cut"
            if [ $cut -ge "$1" ]; then
                cat cut | run $big
                refuses "cut after $cut bytes, pipe" 1 "standard input: truncated $codec data"
            fi
        fi
        cut=$((cut + $2))
    done
}
