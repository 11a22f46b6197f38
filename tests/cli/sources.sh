#!/bin/sh
# SPDX-License-Identifier: MIT
# Where bytes come from: files, pipes, sockets, devices; whole, in part, growing, many.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

data text 40000 >in
[ "$SCALE" = small ] && big=--chunk-size=20K || big=--chunk-size=4K

# --- standard input is a file ---

for skip in 1 3 4 4096 39999 40000 50000; do
    tail -c +$((skip + 1)) in | oracle bytes
    { dd bs=$skip count=1 of=/dev/null 2>dd.err && run $big; } <in
    counts "offset $skip" expected
done
# An offset after the end of the file.
head -c 100 in >short
oracle bytes </dev/null
{ dd bs=100 count=1 of=/dev/null 2>dd.err && : >short && run $big; } <short
counts "offset after the end" expected

# It is left where reading ended, so that who reads on finds what is new.
{ run $big && wc -c >left; } <in
check "offset left at the end" [ "$(cat left)" -eq 0 ]
for options in "--threads=1" "--threads=3" "--decompress=none"; do
    cp in grown
    { run $big $options && printf more >>grown && cat >left; } <grown
    check "offset left where what is new begins, $options" [ "$(cat left)" = more ]
done
"$HELPERS/make_zstd" <in >in.zst
cp in.zst grown
{ run $big && printf more >>grown && cat >left; } <grown
check "offset left after zstd data" [ "$(cat left)" = more ]
oracle bytes </dev/null
{ run $big && run $big; } <in
counts "read twice: the second time nothing is left" expected
oracle bytes <in
run $big - - <in
counts "standard input twice: the second time nothing is left" expected
run $big - in - <in
cat in in | oracle bytes
counts "standard input, a FILE, standard input" expected

# --- files of every kind ---

oracle bytes </dev/null
run </dev/null
counts "/dev/null as standard input" expected
run /dev/null
counts "/dev/null as a FILE" expected
run /dev/null /dev/null - </dev/null
counts "/dev/null thrice" expected

truncate -s 200000 sparse
printf end >>sparse
oracle bytes <sparse
run --chunk-size=64K sparse
counts "a sparse file" expected

# Files that claim to be empty.
if [ -r /proc/self/limits ] && [ "$(wc -c </proc/version)" -gt 0 ]; then
    oracle bytes </proc/version
    run /proc/version
    counts "/proc/version as a FILE" expected
    run </proc/version
    counts "/proc/version as standard input" expected
    cat /proc/version in /proc/version | oracle bytes
    run $big /proc/version in /proc/version
    counts "/proc/version among FILEs" expected
else
    skip_part "files that claim size 0: no /proc"
fi

oracle bytes <in
ln -s in link
run $big link
counts "a link" expected

mkfifo fifo
cat in >fifo &
run $big fifo
wait $!
counts "a fifo" expected
cat in in in | oracle bytes
cat in >fifo &
run $big in fifo in
wait $!
counts "a fifo among FILEs" expected

oracle bytes <in
run_as "$HELPERS/with_stdin" socket "$GPUHISTO" $ENGINE $big <in
counts "a socket" expected
"$HELPERS/dribble" -n 9000 -u 3000 <in |
    run_as "$HELPERS/with_stdin" nonblock "$GPUHISTO" $ENGINE $big
counts "a non-blocking pipe" expected
data text 40 >few
oracle bytes <few
"$HELPERS/dribble" -u 1000 <few |
    run_as "$HELPERS/with_stdin" nonblock "$GPUHISTO" $ENGINE $big
counts "a non-blocking pipe, byte by byte" expected
# While there is no writer's end, there is no end of file: a pause is not the end.
(cat few && sleep 0.3 && cat few) |
    run_as "$HELPERS/with_stdin" nonblock "$GPUHISTO" $ENGINE $big
cat few few | oracle bytes
counts "a non-blocking pipe with a pause" expected
(cat few && sleep 0.3 && cat few) | run $big
counts "a pipe with a pause" expected

# --- a file that changes while it is read ---

# The fifo after it holds the program up: it has read `in` when it opens the fifo, and then reads
# what has come since only if it looks again. What is read is what was there at some moment.
cp in grow
(
    exec 3>fifo
    head -c 7 in >>grow
    echo x >&3
) &
run $big fifo grow
wait $!
{ echo x && cat in && head -c 7 in; } | oracle bytes
counts "a FILE that grew before its turn" expected

# Growing all the while: an end is found, and all that it had before is counted, in order.
cp in grow
tail_bytes()
{
    count=0
    while [ $count -lt 60 ]; do
        printf zzzzzzzzzz
        count=$((count + 1))
    done
}
tail_bytes >>grow &
run --letters=1 $big grow
wait $!
read -r status <status
check "a FILE that grows: status" [ "$status" -eq 0 ]
before=$("$HELPERS/oracle" letters 1 0 <in | awk '$1 == "z" { print $2 }')
now=$(awk '$1 == "z" { print $2 }' out)
check "a FILE that grows: at least what it had" [ "$now" -ge "$before" ]
check "a FILE that grows: at most what it has" [ "$now" -le $((before + 600)) ]
"$HELPERS/oracle" letters 1 0 <in | grep -v '^z' >expected
grep -v '^z' out >rest
same "a FILE that grows: the rest" expected rest

# --- a FILE that has less than it states, as those in /sys ---

if can_interpose; then
    seq 1000 | head -c 3880 >less
    printf ' 1234567890' >>less
    for options in -n "-n --chunk-size=100" "-n --chunk-size=1" -b "--values=u8"; do
        run_as "$GPUHISTO" --device=cpu $options less
        cp out expected
        for size in 3892 3895 3900 4096 10000; do
            run_as env FAULT_SIZE=$size LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" \
                --device=cpu $options less
            counts "$options, states $size bytes" expected
        done
    done
else
    skip_part "FILEs that have less than they state: $why_not"
fi

# --- a FILE that becomes shorter ---

# truncated CASE FILE ARGUMENT...: FILE, much too long to be read to its end, is truncated once some
# of it was read.
truncated()
{
    what=$1
    file=$2
    shift 2
    if [ -r /proc/self/io ]; then
        run $big "$@" "$file" &
        pid=$!
        eventually has_read $pid
        check "$what: read a part of it" [ $? -eq 0 ]
        truncate -s 100000 "$file"
        wait $pid
        refuses "$what" 1 "$file: was truncated while it was read"
    else
        skip_part "$what: no /proc/self/io"
    fi
}
# The program is a child of the subshell that `run` is in.
has_read()
{
    for child_ in $(cat /proc/$1/task/$1/children); do
        [ "$(sed -n 's/^rchar: //p' /proc/$child_/io)" -gt 1000000 ] && return
    done
    return 1
}
engine=$ENGINE
ENGINE=$ANY_MODE
for options in -b "-l --threads=3" -n "--values=u32 --min=0 --max=9 --bins=3" "-b -d none"; do
    truncate -s 200G long
    truncated "truncated, $options" long $options
done
# One skippable frame.
{ printf '\120\052\115\030\360\377\377\377' && truncate -s 4G /dev/stdout; } >long
truncated "truncated, zstd" long
ENGINE=$engine
truncate -s 200G long

# A file of /sys claims a page, and gives what it has.
huge=/sys/kernel/mm/transparent_hugepage/enabled
if [ -r $huge ]; then
    oracle bytes <$huge
    run $huge
    counts "a FILE that claims more than it has" expected
    run <$huge
    counts "standard input that claims more than it has" expected
else
    skip_part "a FILE that claims more than it has: no $huge"
fi
# It has fewer bytes than are looked at, and less of it is counted.
tiny=/sys/kernel/mm/transparent_hugepage/hpage_pmd_size
if [ -r $tiny ]; then
    head -c 3 $tiny | oracle bytes
    run --length=3 $tiny
    counts "a FILE that claims more than it has, --length" expected
else
    skip_part "a FILE that claims more than it has, --length: no $tiny"
fi

# --- many, and the same ---

mkdir many
count=0
set --
while [ $count -lt 3000 ]; do
    set -- "$@" few
    count=$((count + 1))
done
[ "$SCALE" = full ] || shift 2920
count=0
while [ $count -lt $# ]; do
    cat few
    count=$((count + 1))
done >expected.in
oracle bytes <expected.in
(ulimit -n 64 && run $big --threads=3 "$@")
counts "$# FILEs, 64 descriptors" expected
"$HELPERS/make_zstd" <few >few.zst
oracle bytes <few
run few.zst
counts "one zstd FILE" expected
set --
count=0
[ "$SCALE" = full ] || count=90
while [ $count -lt 100 ]; do
    set -- "$@" few.zst few
    count=$((count + 1))
done
for file in "$@"; do
    cat few
done >expected.in
oracle bytes <expected.in
(ulimit -n 64 && run $big "$@")
counts "$# FILEs, every other one zstd" expected

cat in in in | oracle bytes
run $big in in ./in
counts "the same FILE thrice" expected
: >empty
cat in few | oracle bytes
run $big empty in empty empty few empty
counts "empty FILEs between" expected
oracle bytes </dev/null
run empty empty
counts "empty FILEs alone" expected
cp few 'a name with
a newline'
oracle bytes <few
run 'a name with
a newline'
counts "a name with a newline" expected

# --- those that cannot be read ---

for files in "missing" "in missing" "missing in" "in missing in" "in in few empty missing"; do
    run $big $files
    refuses "$files" 1 "missing: No such file or directory"
done
run $big missing missing-too
refuses "two missing" 1 "missing: No such file or directory"
run in/in
refuses "a FILE in a file" 1 "in/in: Not a directory"
run ''
refuses "a FILE without a name" 1 "No such file"
ln -s loop loop
run loop
refuses "a loop of links" 1 "loop: $(error_text ELOOP)"
run $(printf '%0300d' 0)
refuses "a name too long" 1 "too long"
run $big --threads=3 many in
refuses "a directory" 1 "many: Is a directory"
check "a directory: nothing else" [ "$(cat err)" = "gpuhisto: many: Is a directory" ]
run $big 'no
such'
refuses "a name of two lines" 1 'no\x0asuch: No such file or directory'
run $big "$(printf '\033[31mred')"
refuses "a name that would colour the terminal" 1 '\x1b[31mred: No such file'
cp few 'in two
lines'
printf 12345 >>'in two
lines'
run --values=u16 --min=0 --max=9 --bins=3 'in two
lines'
refuses "a name of two lines, a value cut off" 1 'in two\x0alines: ends inside a value'
run $(printf '%04000d' 0)
refuses "a name of 4000 bytes" 1 "..." ": $(error_text ENAMETOOLONG)"
run "$(printf '%01000d/' 0 0 0 0)"
refuses "a name of 4000 bytes, in folders" 1 "..." ": $(error_text ENAMETOOLONG)"

summary
