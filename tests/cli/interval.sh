#!/bin/sh
# SPDX-License-Identifier: MIT
# --interval: tables of what was counted so far, each of them whole, and the last one exact.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# slowly FILE...: writes them with a pause after each that is longer than the interval.
slowly()
{
    for part_ in "$@"; do
        cat "$part_"
        sleep 0.35
    done
}

# tables ROWS: the last run printed tables of so many rows, separated by empty lines; leaves them in
# table.1, table.2 and so on, and how many there are in `tables`.
tables()
{
    rm -f table.*
    awk -v rows="$1" '
        BEGIN { n = 1 }
        $0 == "" { if (seen != rows) bad = 1; n++; seen = 0; next }
        { seen++; print >("table." n) }
        END { print n; exit bad || seen != rows }' out >tables
}

# grows CASE ROWS: those tables, none of whose counts go down, and the last of which is as expected.
grows()
{
    check "$1: status" [ "$(cat status)" -eq 0 ]
    check "$1: nothing else" [ ! -s err ]
    check "$1: whole tables" tables "$2"
    # A sanitizer's program may have started only when most was written.
    [ "$SANITIZED" = yes ] || check "$1: tables before the last one" [ "$(cat tables)" -ge 3 ]
    same "$1: the last table" expected "table.$(cat tables)"
    table=1
    while [ $table -lt "$(cat tables)" ]; do
        cut -f 2 table.$table >before
        cut -f 2 table.$((table + 1)) | paste before - >pairs
        check "$1: table $table" awk '$1 > $2 { exit 1 }' pairs
        table=$((table + 1))
    done
}

data text 30000 >text
head -c 10000 text >a
head -c 20000 text | tail -c 10000 >b
tail -c 10000 text >c
oracle bytes <text
slowly a b c | run --interval=0.1
grows "a pipe" 256
sum=$(awk -F "\t" '{ sum += $2 } END { print sum }' table.2)
case $ENGINE in
*gpu*) ;; # has what fills a chunk
*) check "a pipe: bytes of the second table" [ "$sum" -ge 10000 ] ;;
esac
for part in a b c; do
    "$HELPERS/make_zstd" -f 3000 <$part >$part.zst
done
slowly a.zst b.zst c.zst | run --interval=0.1 --threads=3
grows "frames" 256
"$HELPERS/oracle" letters 13 0 <text >expected
slowly a b c | run -l13 --interval=0.2
grows "letters" 2

# Numbers, of which a part is not.
i=0
while [ $i -lt 300 ]; do
    echo "$((i * 37 % 101)) x"
    i=$((i + 1))
done >numbers
run -nq --min=0 --max=100 --bins=4 numbers
mv out expected
slowly numbers numbers | run -nq --min=0 --max=100 --bins=4 --interval=0.1
awk -F "\t" -v OFS="\t" '{ $2 *= 2 } 1' expected >twice
mv twice expected
grows "numbers" 7
run -nq --min=0 --max=100 --bins=4 --invalid=skip numbers numbers
mv out expected
slowly numbers numbers | run -nq --min=0 --max=100 --bins=4 --invalid=skip --interval=0.1
grows "numbers, others skipped" 7
check "numbers, others skipped in all tables" [ "$(grep -c "^invalid${tab}0$" out)" -eq "$(cat tables)" ]

# --- formats ---

slowly a b c | run -F json --interval=0.1
check "json: an object a line" [ "$(grep -c '^{"schema":.*}$' out)" -eq "$(wc -l <out)" ]
check "json: several" [ "$(wc -l <out)" -ge 3 ]
tail -n 1 out >last
run -F json text
same "json: the last one" out last
slowly a b c | run -F csv --header -l26 --interval=0.1
check "csv" [ "$(grep -c '^bin,count$' out)" -ge 3 ]

# --- on a terminal ---

clear=$(printf '\033[H\033[J')
if "$HELPERS/terminal" 80 true 2>/dev/null; then
    run_as "$HELPERS/terminal" 80 "$GPUHISTO" $ENGINE -p -l2 text
    mv out expected
    slowly a b c | run_as "$HELPERS/terminal" 80 "$GPUHISTO" $ENGINE -p -l2 --interval=0.1
    check "a terminal: pictures take each other's place" [ "$(grep -c -F "$clear" out)" -ge 3 ]
    check "a terminal: nothing else" [ "$(head -c 6 out)" = "$clear" ]
    tail -n "$(wc -l <expected)" out | sed "s/^.*\[J//" >last
    same "a terminal: the last picture" expected last
    refute "a terminal: no empty lines" grep -q '^$' out
    # They fit on its 24 lines, where the cursor needs one: bins are built for that, or rows left out, but for those
    # of the last one.
    seq 100 299 >some
    slowly some some some | run_as "$HELPERS/terminal" 80 "$GPUHISTO" --device=cpu -nsp --interval=0.1
    sed "s/^.*\[J/=/" out | awk '/^=/ { if (lines > most) most = lines; lines = 0 } { lines++ } END { print most, lines }' >lines
    check "a terminal: it is high enough" [ "$(cat lines)" = "22 22" ]
    slowly some some some |
        run_as "$HELPERS/terminal" 80 "$GPUHISTO" --device=cpu -np --digits=3 --also -n --header --interval=0.1
    sed "s/^.*\[J/=/" out | awk '/^=/ { if (lines > most) most = lines; lines = 0; tables++ } { lines++ }
        /^.191 more rows.$/ { left++ } END { print most, lines, tables - left }' >lines
    check "a terminal: rows are left out" [ "$(cat lines)" = "$((11 + 1 + 11)) $((201 + 1 + 11)) 1" ]
    slowly a b c | run_as "$HELPERS/terminal" 80 "$GPUHISTO" $ENGINE -l13 --interval=0.1
    refute "a terminal: tables are not pictures" grep -q -F "$clear" out
else
    skip_part "terminals: none can be opened here"
fi
slowly a b c | run -p -l2 --interval=0.1
refute "a pipe: pictures follow each other" grep -q -F "$clear" out
check "a pipe: empty lines between" [ "$(grep -c '^$' out)" -ge 2 ]

# So many threads that their counts are in pages.
run --values=u16 text
mv out expected
slowly a b c | run --values=u16 --threads=100 --interval=0.1
grows "counts in pages" 65539

# --- the first SIGINT ends the input ---

default="$HELPERS/with_stdin default"
# interrupted CASE ROWS: the last run ended by SIGINT, and its last table is as expected.
interrupted()
{
    check "$1: status" [ "$(cat status)" -eq 130 ]
    check "$1: nothing else: $(cat err)" [ ! -s err ]
    check "$1: whole tables" tables "$2"
    same "$1: the last table" expected "table.$(cat tables)"
}
# at_terminal FIRST LAST: these files come through a pipe; LAST, with which the pipe ends, after the
# Ctrl-C that follows the first table.
at_terminal()
{
    run_as $default "$HELPERS/terminal" -c 80 sh -c '
        { cat "$1"; trap "cat $2; exit" INT; sleep 100; } |
        { trap : INT; shift 2; "$@"; echo $? >ended; }' sh "$@" "$GPUHISTO" $ENGINE -l13 --interval=0.2
    mv ended status
}
"$HELPERS/oracle" letters 13 0 <text >expected
if "$HELPERS/terminal" -c 80 true 2>/dev/null; then
    cat b c >rest
    at_terminal a rest
    interrupted "Ctrl-C" 2
else
    skip_part "Ctrl-C: no terminal can be opened here"
fi
mkfifo fifo
# A writer that goes on is not waited for; so only what was counted by then is shown.
case $ENGINE in
*gpu*) ;; # has what fills a chunk
*)
    $default "$GPUHISTO" $ENGINE -l13 --interval=0.2 fifo >out 2>err &
    pid=$!
    exec 3>fifo
    cat a b >&3
    check "a writer that goes on: a table" eventually [ -s out ]
    cat c >&3
    kill -INT $pid
    wait $pid
    echo $? >status
    exec 3>&-
    interrupted "a writer that goes on" 2
    # The same Ctrl-C ends who writes a frame, whose end is missing then.
    if "$HELPERS/terminal" -c 80 true 2>/dev/null; then
        "$HELPERS/make_zstd" <a >first.zst
        { "$HELPERS/make_zstd" <rest && "$HELPERS/make_zstd" <text | head -c 100; } >cut.zst
        at_terminal first.zst cut.zst
        interrupted "Ctrl-C within a frame" 2
    fi
    ;;
esac
# A shell has commands in the background ignore it.
"$GPUHISTO" $ENGINE -l13 --interval=0.2 fifo >out 2>err &
pid=$!
exec 3>fifo
cat text >&3
check "SIGINT is ignored: a table" eventually [ -s out ]
kill -INT $pid
exec 3>&-
wait $pid
check "SIGINT is ignored: status" [ $? -eq 0 ]
check "SIGINT is ignored: whole tables" tables 2
same "SIGINT is ignored: the last table" expected "table.$(cat tables)"
$default "$GPUHISTO" $ENGINE -l13 fifo >out 2>err &
pid=$!
exec 3>fifo
cat text >&3
kill -INT $pid
wait $pid
check "without --interval SIGINT ends the run" [ $? -eq 130 ]
check "without --interval there is no table then" [ ! -s out ]
exec 3>&-

# --- a short input has one table ---

oracle bytes <text
run --interval=60 text
counts "a short input" expected

# --- who reads the tables ---

slowly a b c | "$GPUHISTO" $ENGINE --interval=0.1 2>err | { sleep 1.5 && cat; } >out
oracle bytes <text
tail -n 256 out >last
same "a reader that is late" expected last
if [ -w /dev/full ]; then
    slowly a b c | run_as sh -c '"$@" >/dev/full' sh "$GPUHISTO" $ENGINE --interval=0.1
    refuses "a full disk" 1 "standard output: No space left on device"
fi

head -c 4000 text >part
ENGINE= run --interval=1 --values=u32 --bins=100000 part
check "many bins without a GPU" [ "$(cat status)" -eq 0 ]

summary
