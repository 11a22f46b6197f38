#!/bin/sh
# SPDX-License-Identifier: MIT
# --field=FIELD:time: tables and statistics are those of the seconds since 1970 that datetime and Fraction find in drawn
# times, in every way of finding a field, by key, however the text comes and wherever it is cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 600
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=800 seeds="1 2"
else
    lines=4000 seeds="1 2 3 4 5 6"
fi

# Writes the times of records TIME;PATH;NUMBER as numbers: the whole field, and the words with which a line begins.
cat >to_numbers.py <<'END'
import re, sys
from fractions import Fraction
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import oracle_where


def seconds(text):
    found = oracle_where.time(oracle_where.bare(text))
    if not found or found[0] == 'none':
        return b'x'
    value = found[1] if found[2] is None else found[2]
    nanoseconds = value * 10 ** 9
    assert nanoseconds == int(nanoseconds)
    whole, below = divmod(abs(int(nanoseconds)), 10 ** 9)
    return b'%s%d.%09d' % (b'-' if value < 0 else b'', whole, below)


with open('words', 'wb') as words, open('word_numbers', 'wb') as word_numbers, open('numbers', 'wb') as numbers:
    for line in open('in', 'rb'):
        time, path, number = line[:-1].split(b';')
        numbers.write(b'%b;%b;%b\n' % (seconds(time), path, number))
        text = time + b' ' + number
        ends = [match.end() for match in re.finditer(rb'[^ \t]+', text)][:5]
        found = [seconds(text[:end]) for end in ends]
        words.write(text + b'\n')
        word_numbers.write(([each for each in found if each != b'x'] or [b'x'])[-1] + b' ' + number + b'\n')
END

# same_as_numbers TIMES NUMBERS OPTION...: with the number's field last.
same_as_numbers()
{
    times=$1
    seen=$2
    shift 2
    "$GPUHISTO" --device=cpu -n "$@" "$seen" >expected 2>/dev/null
    for how in --threads=1 "--threads=3 --chunk-size=1" "--threads=8 --chunk-size=100"; do
        "$GPUHISTO" --device=cpu -n "$@:time" $how "$times" >out 2>/dev/null
        same "seed $seed: $*:time $how $times" expected out
    done
    "$GPUHISTO" --device=cpu -n "$@:time" --chunk-size=64 <"$times" >out 2>/dev/null
    same "seed $seed: $*:time, a pipe" expected out
}

for seed in $seeds; do
    $python "$srcdir/tests/helpers/made_times.py" $lines $seed in.json >in || broken made_times.py
    $python to_numbers.py "$srcdir/tests/helpers" || broken to_numbers.py
    check "seed $seed: some are times" [ "$(grep -c '^-\{0,1\}[0-9]' numbers)" -gt $((lines / 4)) ]
    same_as_numbers in numbers -t';' -k1
    same_as_numbers in numbers -t';' --digits=5 -s -k1
    same_as_numbers in numbers -t';' -s --by=2:1-3 -k1
    same_as_numbers in numbers -t';' --by=3 --invalid=skip -k1
    same_as_numbers in numbers -t';' -s --where='3>50' --by=3 -k1
    same_as_numbers in numbers -s --line='$when;$path;$n' -k when
    same_as_numbers words word_numbers -s -k1
    same_as_numbers words word_numbers -s --by=-1 -k1
    sed 's/"/""/g; s/;/";"/g; s/^/"/; s/$/"/' in >in.csv
    same_as_numbers in.csv numbers --csv -t';' -s --by=3 -k1
    "$GPUHISTO" --device=cpu -n -t';' -k1 -s --by=3 numbers 2>/dev/null | sed 's/^key/.n/' >expected
    for how in --threads=1 "--threads=8 --chunk-size=100"; do
        "$GPUHISTO" --device=cpu -n --by=.n -s -k '.["a:b"].t:time' $how in.json >out 2>/dev/null
        same "seed $seed: JSON $how" expected out
    done
    sed -i 's/^.n/key/' expected
    for cpu in $(kernels_here); do
        GPUHISTO_CPU=$cpu "$GPUHISTO" --device=cpu -n -s -t';' --by=3 -k1:time in >out 2>/dev/null
        same "seed $seed: $cpu" expected out
    done
done
"$HELPERS/make_zstd" -f 100000 <in >in.zst
gzip -c in >in.gz
codecs=in.zst
"$GPUHISTO" --device=cpu -d gzip in.gz >/dev/null 2>&1 && codecs="in.zst in.gz"
for file in $codecs; do
    "$GPUHISTO" --device=cpu -n -t';' -k1:time -s --by=3 --threads=3 $file >out 2>/dev/null
    same "$file" expected out
done

# --- the ends of what can be read, names, shares and tables ---

# is TIME NUMBER: the number is the time, exactly.
is()
{
    printf '%s\n' "$1" | run -s -t'\x1f' -k1:time
    check "$1" [ "$(sed -n 's/^sum\t//p' out)" = "$2" ]
}
is 0001-01-01T00:00:00Z -62135596800
is 0001-01-01T00:00:00+23:59 -62135683140
is 9999-12-31T23:59:59-23:59 253402387139
is 1969-12-31T23:59:59.5Z -0.5
is 1969-12-31T23:59:59.999999999Z -1e-09
is 1970-01-01T00:00:00.0000000009Z 0
is 1970-01-01T00:00:00.25 0.25
is '[22/Nov/2026:10:05:07 +0200]' 1795334707
is 1763806507123 1763806507.123
is 1763806507123456789 1763806507.1234567
is 2016-12-31T23:59:60Z 1483228800
is 20171223-22:15:35:96 1514067335.096

printf 'a:time,a\n22/Nov/2026:10:05:07 +0100,5\n' >named.csv
run -s --csv --header-line -k a:time named.csv
check "a column whose name ends with :time" [ "$(sed -n 3p out)" = "min${tab}5" ]
printf 'at;n\n2026-11-22;5\n2026-11-23;6\nnow;7\n' >named
run -s -t';' --header-line -k at:time --invalid=error named
refuses "a word" 1 "named: line 4: 'now' is not a time"
if can_share; then
    "$GPUHISTO" $ENGINE -s -q -t';' -k1:time in >expected
    for part in 1 2 3; do
        "$GPUHISTO" $ENGINE -s -q -t';' -k01:time -F json --part=$part/3 in >part.$part
    done
    ENGINE='' run -s -q --merge part.1 part.2 part.3
    counts "shares" expected
    "$GPUHISTO" $ENGINE -q -t';' --header-line -k at:time -F json named >one
    ENGINE='' run -q --merge one one
    check "--merge by name" [ "$(cat status)" = 0 ]
    "$GPUHISTO" $ENGINE -q -t';' --header-line -k at -F json named >other
    ENGINE='' run --merge one other
    message "--merge of numbers and times" "other: was counted with --field=at, but"
fi

# --- what is refused ---

printf 'Nov 22 10:05:07 x\n' >in
run -k1:time --invalid=error in
refuses "no year" 1 "in: line 1: 'Nov' has no year, so it is no number; count by it, as in --by=1:1-15:1d"
run -t';' -k1:time --invalid=error in
refuses "no time" 1 "in: line 1: 'Nov 22 10:05:07 x' is not a time"
run -k1:time --units in
refuses "--units" 2 "gpuhisto: -k 1:time and --units cannot be combined, as times have neither"
run -k1:time --decimal=, in
refuses "--decimal" 2 "gpuhisto: -k 1:time and --decimal cannot be combined, as times have neither"
run -k:time in
refuses "no field" 2 "gpuhisto: --field=:time: must be 1 to 1048576"
run -k "$(printf '%256s' '' | tr ' ' x):time" in
refuses "a long name" 2 "must be a field of 1 to 255 bytes"
run_as "$GPUHISTO" --device=gpu -nk1:time in
refuses "--device=gpu" 2 "gpuhisto: --device=gpu: the GPU cannot read times as numbers; leave out --device"
summary
