#!/bin/sh
# SPDX-License-Identifier: MIT
# What a key is, however it is written: names that oracle_keys.py draws, CSV as Python's csv reads it, byte order
# marks, and lines that end with carriage returns. By hand: KEY_RUNS=100000 KEY_SEED=2 tests/cli/keys.sh
. "${srcdir:-.}/tests/helpers/lib.sh"

command -v python3 >/dev/null || skip "python3 is not installed"
watch_over $((900 + ${KEY_RUNS:-0} / 10))
counters=$(kernels_here)
gzip=
printf 'a\n' | gzip -c >a.gz
! "$GPUHISTO" --device=cpu -d gzip a.gz >/dev/null 2>&1 || gzip=--gzip
merge=--merge
can_share || { merge= && skip_part "shards: $why_not"; }

# --- names that are written in several ways ---

case $SANITIZED,$SCALE in
yes,*) runs=60 ;;
*,small) runs=600 ;;
*) runs=5000 ;;
esac
check "names that are drawn" \
    python3 "$srcdir/tests/helpers/oracle_keys.py" --runs="${KEY_RUNS:-$runs}" --seed="${KEY_SEED:-1}" $gzip $merge \
    --cpus="$(echo $counters | tr ' ' ,)" "$GPUHISTO" $ENGINE

# --- CSV as Python's csv reads it ---

# by_csv.py N WHAT LONGEST: writes every line of up to so many bytes that matter, but for those whose quotes are not
# closed, to the file lines. Prints what is expected of field N: the keys in it and their counts, or of numbers
# how many there are, how many are none, and their sum.
cat >by_csv.py <<'END'
import csv, itertools, sys
which, what, longest = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
lines, keys, numbers = [], {}, []
for length in range(1, longest + 1):
    for drawn in itertools.product('1x", ', repeat=length):
        line = ''.join(drawn)
        fields = next(csv.reader([line + ',end']))
        if fields.pop() != 'end':
            continue
        key = fields[which - 1] if which <= len(fields) else None
        number = (key or '').strip()
        # Unlike csv, quotes around a number are left out after blanks, too.
        if what == 'numbers' and number[:1] == '"' and key[0] == ' ':
            continue
        lines.append(line)
        keys[key] = keys.get(key, 0) + 1
        numbers.append(int(number) if number.isdigit() else None)
with open('lines', 'w') as file:
    file.write('\n'.join(lines))
if what == 'keys':
    for key in keys:
        print('(invalid)' if key is None else key.replace('"', '\\x22'), keys[key], sep='\t')
else:
    found = [number for number in numbers if number is not None]
    print(len(found), len(numbers) - len(found), sum(found))
END
longest=6
[ "$SCALE" = full ] && [ "$SANITIZED" = no ] || longest=5
for which in 1 2; do
    python3 by_csv.py $which keys $longest | sort >expected
    for cpu in $counters; do
        for chunk in 10 1M; do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q --csv --by=$which --chunk-size=$chunk lines
            sort out >sorted
            same "field $which as a key, $cpu, chunks of $chunk" expected sorted
        done
    done
    python3 by_csv.py $which numbers $longest >expected
    for cpu in $counters; do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -q -s --csv -k $which lines
        awk '{ value[$1] = $2 } END { print value["count"], value["invalid"], value["sum"] }' out >sums
        same "field $which as a number, $cpu" expected sums
    done
done

# --- byte order marks ---

bom='\357\273\277'
chunks="1 2 3 8"
[ "$SCALE" = full ] || chunks="1 3"

# with_bom TEXT: makes the file plain, and in, which begins with a mark.
with_bom()
{
    printf "$1" >plain
    { printf "$bom" && cat plain; } >in
}

# marked CASE OPTION...: the file in counts as the file plain, however it comes.
marked()
{
    case_=$1
    shift
    "$GPUHISTO" --device=cpu -q "$@" plain >expected || broken "$*"
    "$HELPERS/make_zstd" -f 1 <in >in.zst
    "$HELPERS/make_zstd" -f 7 <in >in7.zst
    gzip -c <in >in.gz
    for file in in in.zst in7.zst ${gzip:+in.gz}; do
        run -q "$@" $file
        counts "$case_, $file" expected
        cat $file | run -q "$@"
        counts "$case_, $file in a pipe" expected
        for chunk in $chunks; do
            run -q "$@" --chunk-size=$chunk --threads=3 $file
            counts "$case_, $file, chunks of $chunk" expected
        done
    done
    for chunk in $chunks; do
        cat in | run -q "$@" --chunk-size=$chunk
        counts "$case_, a pipe, chunks of $chunk" expected
    done
    "$HELPERS/dribble" -n 1 <in | run -q "$@"
    counts "$case_, byte by byte" expected
    [ -z "$merge" ] || marked_shards "$case_" "$@"
    "$GPUHISTO" --device=cpu -q "$@" plain plain >expected
    run -q "$@" in in
    counts "$case_, two files" expected
}

# marked_shards CASE OPTION...: its shards add up to the table expected.
marked_shards()
{
    case_=$1
    shift
    case $* in *-s*) statistics=-s ;; *) statistics= ;; esac
    for file in in in.zst; do
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE -q -F json "$@" --part=$part/3 -o part$part $file
        done
        run_as "$GPUHISTO" -q --merge $statistics part1 part2 part3
        counts "$case_, shards of $file" expected
    done
}

for text in 'a,1\nb,2\n' '"a\nb",1\r\nb,2' '"a","1"' '\n\nx,1\n' 'a' ''; do
    with_bom "$text"
    marked "CSV, $text" --csv --by=1
done
with_bom '"who",n\na,1\nb,2\na,3\n'
marked "a column by name" --csv --header-line --by=who
marked "a header" --csv --header-line --by=1 -k 2 -s
with_bom '1,a\n"2",b\n'
marked "a number of CSV" --csv -k 1 -B 5 --min=0 --max=5
for text in '{"s":"a"}\n{"s":"b"}\n' '{"s":1}' '\n{"s":1}\r\n\n{"s":2}'; do
    with_bom "$text"
    marked "JSON, $text" --by=.s
done
with_bom '{"s":5}\n{"s":7}\n'
marked "a number of JSON" -k .s -B 10 --min=0 --max=10
marked "a path and a field" -k .s -B 10 --min=0 --max=10 --by=1

# A record of as many bytes as it may have, one fewer, and one more.
for size in 1048575 1048576 1048577; do
    with_bom "$(printf '{"s":1,"x":"%*s"}' $((size - 14)) '')\n{\"s\":2}\n"
    check "a record of $size bytes" [ "$(head -n 1 plain | wc -c)" -eq $((size + 1)) ]
    "$GPUHISTO" --device=cpu -q --by=.s plain >expected
    "$HELPERS/make_zstd" -f 100000 <in >in.zst
    for more in "" --chunk-size=1000 "--threads=3 --chunk-size=100K"; do
        for file in in in.zst; do
            run -q --by=.s $more $file
            counts "$file, a record of $size bytes after a mark $more" expected
        done
        cat in | run -q --by=.s $more
        counts "a pipe, a record of $size bytes after a mark $more" expected
    done
done
# Records of 8 bytes, as many as shards.
printf "{\"s\":1}\n${bom}1234\n${bom}5678\n" >in
run --by=. in
message "a mark in the second record" "in: line 2: not valid JSON at byte 1"
cp out expected
"$HELPERS/make_zstd" -f 8 <in >in.zst
[ -z "$merge" ] || marked_shards "a mark in the second record" --by=.

# --- many rows ---

# More rows than a thread has pages for: 500 keys with 40 pages each.
awk 'BEGIN { for (i = 0; i < 2; i++) for (j = 0; j < 40; j++) for (k = 0; k < 500; k++)
    print "k" k, (100 + 64 * (j % 14)) * 10 ^ int(j / 14) }' >pages
for threads in 1 3; do
    "$GPUHISTO" --device=cpu -q -nk2 --by=1 --nonzero --threads=$threads pages >out
    check "more rows than pages, $threads threads" [ "$(awk '$3 == 2' out | wc -l) $(wc -l <out)" = "20000 20000" ]
done

summary
