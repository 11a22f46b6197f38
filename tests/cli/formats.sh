#!/bin/sh
# SPDX-License-Identifier: MIT
# What the output is read by, and where it goes: whole or not at all.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600

# --- what reads them ---

data all 517 >in
if python3 -c 'import json, csv' 2>/dev/null; then
    run --format=json <in
    check "json can be read" python3 -m json.tool out /dev/null
    run -F csv <in
    python3 -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
assert len(rows) == 256 and all(len(row) == 3 for row in rows)
assert rows[0x2c][2] == "," and rows[0x22][2] == "\""
' out
    check "csv can be read" [ $? -eq 0 ]
    # As pandas and R read it: tabs between fields, and a double quote begins a quoted one.
    run --header <in
    python3 -c '
import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline=""), delimiter="\t"))
assert len(rows) == 257 and all(len(row) == 3 for row in rows), len(rows)
assert rows[0x23] == ["0x22", "2", "\\x22"], rows[0x23]
' out
    check "tsv can be read" [ $? -eq 0 ]
else
    skip_part "reading json and csv: no python3"
fi

# --- columns that can be added up, and rows that can be told apart ---

printf '1 2 x 3 1\n' >numbers
# Every row of a csv table has as many fields as its heading.
for options in -b -l "--values=u8 --bins=3" "-n --min=0 --max=3 --bins=3" -n; do
    run $options -q -F csv --header numbers
    check "csv, $options: fields" awk -F , '
        NR == 1 { fields = NF }
        /^0x2c,/ { next } # "," is quoted
        NF != fields { exit 1 }' out
done
# The same to a terminal as to a file, or nearly: what is not a terminal must not differ.
run -l <in
cp out expected
"$GPUHISTO" $ENGINE -l <in 2>err | cat >out
same "to a pipe" expected out

# --- --timing and --verbose go to standard error alone ---

run -l <in
cp out expected
run -l --timing <in
same "--timing leaves the table" expected out
check "--timing says bytes" grep -q '^gpuhisto: 517 bytes in .* s, .* GB/s$' err
check "--timing says engines" [ "$(grep -cE '^gpuhisto: (cpu|gpu): ' err)" -ge 2 ]
run -l --verbose <in
same "--verbose leaves the table" expected out
check "--verbose says something" grep -q '^gpuhisto: cpu: ' err

# --- --output ---

# Nothing beside the files that are meant to be there.
only()
{
    what=$1
    shift
    printf '%s\n' "$@" | sort >wanted
    ls -A dir >there
    same "$what: only" wanted there
}

# writes CASE FILE OPERAND...: the last run printed nothing, and FILE has the table.
writes()
{
    what=$1
    file=$2
    read -r status <status
    check "$what: status" [ "$status" -eq 0 ]
    check "$what: nothing on standard output" [ ! -s out ]
    check "$what: nothing on standard error" [ ! -s err ]
    same "$what: table" expected "$file"
}

mode_of()
{
    ls -ld "$1" | cut -c 1-10
}

# device NAME MINOR: sets device to one that --output may be given. Never the machine's own where
# this user may write to /dev: a program that is wrong would put a regular file in its place, for all.
device()
{
    device=/dev/$1
    if [ -w /dev ]; then
        device=devices/$1
        mkdir -p devices
        mknod "$device" c 1 "$2" 2>/dev/null || return 1
    fi
    # A file system may not let devices be opened.
    [ -c "$device" ] && [ -w "$device" ] && : 2>/dev/null <"$device"
}

mkdir dir
umask 022
run -l -o dir/new <in
writes "a new file" dir/new
only "a new file" new
check "a new file: mode" [ "$(mode_of dir/new)" = -rw-r--r-- ]
(umask 077 && run -l --output=dir/private <in)
check "umask 077: mode" [ "$(mode_of dir/private)" = -rw------- ]
(umask 0 && run -l --output=dir/public <in)
check "umask 0: mode" [ "$(mode_of dir/public)" = -rw-rw-rw- ]
(cd dir && run -l -o here <../in && mv out err status ..)
writes "in this directory" dir/here
rm dir/private dir/public dir/here

echo old >dir/new
chmod 666 dir/new
run -l -o dir/new <in
writes "an old file" dir/new
check "an old file: mode" [ "$(mode_of dir/new)" = -rw-rw-rw- ]
only "an old file" new
chmod 400 dir/new
run -l -o dir/new <in
writes "an old file that may only be read" dir/new
check "an old file that may only be read: mode" [ "$(mode_of dir/new)" = -r-------- ]
chmod 644 dir/new
data same 100000 >dir/new
run -l -o dir/new <in
writes "a longer old file" dir/new

ln -s new dir/link
echo old >dir/new
run -l -o dir/link <in
writes "a link" dir/link
check "a link stays one" [ -h dir/link ]
same "a link: what it names" expected dir/new
mkdir elsewhere
echo old >elsewhere/file
ln -s ../elsewhere/file dir/far
run -l -o dir/far <in
writes "a link to elsewhere" elsewhere/file
check "a link to elsewhere stays one" [ -h dir/far ]
only "a link to elsewhere" new link far
rm dir/link dir/far elsewhere/file
ln -s ../elsewhere/file dir/far
ln -s far dir/farther
run -l -o dir/farther <in
writes "a link to a link to nothing" elsewhere/file
check "a link to a link to nothing stays one" [ -h dir/farther ]
only "a link to a link to nothing" new far farther
ln -s loop dir/loop
run -l -o dir/loop <in
refuses "a loop of links" 1 dir/loop "$(error_text ELOOP)"
rm dir/loop dir/far dir/farther

# What is not a regular file is written itself.
if device null 3; then
    run -l -o "$device" <in
    read -r status <status
    check "null: status" [ "$status" -eq 0 ]
    check "null stays a device" [ -c "$device" ]
else
    skip_part "a device: none may be made here"
fi
mkfifo dir/fifo
cat dir/fifo >through &
run -l -o dir/fifo <in
wait $!
same "a fifo" expected through
check "a fifo stays one" [ -p dir/fifo ]
rm dir/fifo
only "not regular" new

# What cannot be written is said before a byte is read, and nothing is left.
echo old >dir/new
mkdir dir/sub
run -l -o dir/sub <in
refuses "a directory" 1 dir/sub directory
run -l -o dir/none/new <in
refuses "no such directory" 1 dir/none/new 'No such file'
run -l -o dir/new/new <in
refuses "a file as a directory" 1 dir/new/new 'Not a directory'
long=$(printf '%0300d' 0)
run -l -o dir/$long <in
refuses "a name too long" 1 dir/000 'too long'
only "what cannot be written" new sub

# Root may write anywhere; setpriv (of util-linux) runs it as another user.
somebody=
if [ "$(id -u)" -eq 0 ]; then
    somebody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    chmod 711 .
fi
if $somebody "$GPUHISTO" --version >/dev/null 2>&1; then
    chmod 555 dir
    run_as $somebody "$GPUHISTO" $ENGINE -l -o dir/other <in
    refuses "a directory without permission" 1 dir/other denied
    run_as $somebody "$GPUHISTO" $ENGINE -l -o dir/new <in
    refuses "an old file there" 1 dir/new denied
    chmod 755 dir
    only "no permission" new sub
else
    skip_part "a directory without permission: root may write it"
fi

# Failure leaves the old file, and no other.
echo old >old
cp old dir/new
run -l -o dir/new missing <in
refuses "a missing FILE" 1 missing 'No such file'
same "a missing FILE: the old file" old dir/new
data text 5000 | "$HELPERS/make_zstd" -c >cut.zst
head -c 2000 cut.zst | run -l -o dir/new
refuses "cut data" 1 'standard input' truncated
same "cut data: the old file" old dir/new
run -l -o dir/other missing <in
refuses "a missing FILE, new output" 1 missing
only "failure" new sub
run -l -o dir/new --letters=0 <in
refuses "usage" 2 --letters
same "usage: the old file" old dir/new
only "usage" new sub
if device full 7; then
    run -l -o "$device" <in
    refuses "full" 1 "$device: No space left"
    check "full stays a device" [ -c "$device" ]
else
    skip_part "a full device: none may be made here"
fi
# A limit of a block: the table of bytes does not fit. SIGXFSZ is ignored, so that write says so.
(trap '' XFSZ && ulimit -f 1 && run -b -o dir/new <in)
refuses "a file too large" 1 dir/new 'File too large'
same "a file too large: the old file" old dir/new
only "a file too large" new sub

# A name for an open descriptor is that descriptor: what that file has already stays, and
# what is written later comes after the table.
printf 'abc' >letters
echo head >log
{ echo first; "$GPUHISTO" $ENGINE -l26 -o /dev/stdout letters; echo last; } >>log
printf 'head\nfirst\na-z\t3\nlast\n' >expected
same "--output=/dev/stdout, appending to a file" expected log
echo head >log
"$GPUHISTO" $ENGINE -l26 -o /dev/fd/5 letters 5>>log
printf 'head\na-z\t3\n' >expected
same "--output=/dev/fd/5" expected log
"$GPUHISTO" $ENGINE -l26 -o /dev/stdout letters | cat >log
printf 'a-z\t3\n' >expected
same "--output=/dev/stdout, a pipe" expected log

# --- every format has the functions that are called: it prints a result, or refuses the options ---

run --format=/// </dev/null
formats=$(sed 's/.* one of //; s/,//g' err)
check "formats" [ "$(echo "$formats" | wc -w)" -ge 5 ]
printf 'abcd' >in
for format in $formats; do
    for options in --pairs "--pairs --stats" "--pairs --each" "--pairs --stats --each" \
        "--values=u8 --channels=2" "--values=u8 --channels=2 --stats" "--values=u8 --channels=2 --stats --each"; do
        run -F "$format" $options in in
        case $(cat status) in
        0) check "$format $options: a result" [ -s out ] ;;
        *) refuses "$format $options" 2 ;;
        esac
    done
done

summary
