#!/bin/sh
# SPDX-License-Identifier: MIT
# --field=FIELD:time: tables and statistics are those of the seconds since 1970 that datetime and Fraction find in drawn
# times, in every way of finding a field, by key, however the text comes and wherever it is cut. And buckets of times with
# several offsets from UTC are those of oracle_by.py, also if shares and tables are added up.
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


def seconds(found):
    """The number of a time, or b'x'."""
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
        numbers.write(b'%b;%b;%b\n' % (seconds(oracle_where.time(oracle_where.bare(time))), path, number))
        text = time + b' ' + number
        words.write(text + b'\n')
        word_numbers.write(seconds(oracle_where.time_of_words(text)) + b' ' + number + b'\n')
END

# same_as_numbers TIMES NUMBERS OPTION...: with the number's field last, which gets the modifier.
# shellcheck disable=SC2145
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

# of TEXT OUTPUT: seconds and what is no time, in a line of words.
of()
{
    printf "$1" | run -k1:time -s
    check "$1" [ "$(sed -n 's/^count\t//p; s/^invalid\t//p; s/^min\t//p' out | tr '\n' ' ')" = "$2 " ]
}
of '2026-11-22 10:05:07 -12 5\n' '1 0 1795341907'
of '2026-11-22 10:05:07 -1200 5\n' '1 0 1795385107'
of '2026-11-22 10:05:07 -12:00 5\n' '1 0 1795385107'
of '2026-11-22 10:05:07-12 5\n' '1 0 1795385107'
of '22/Nov/2026:10:05:07 +01\n' '1 0 1795341907'
of '081109 2036xx 1\n081309 203615 x\n[081109 x\n' '0 3 nan'
of '081109 203615 x\n081109 \r\n"081110" \n1081109 x\n' '4 0 81109'

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

# --- buckets of times with several offsets from UTC ---

oracle_by="$python $srcdir/tests/helpers/oracle_by.py"
cat >make_offsets.py <<'END'
import datetime, random, sys
random.seed(len(sys.argv))
zones = sys.argv[2:]
begin = datetime.datetime(2026, 3, 20)
for i in range(int(sys.argv[1])):
    zone = zones[i * len(zones) // int(sys.argv[1])] if random.randrange(10) else random.choice(zones)
    time = begin + datetime.timedelta(seconds=i * 700 + random.randrange(700))
    print('%s%s;%s;%d' % (time.isoformat(), zone, random.choice('ab'), random.randrange(1000)))
END

# as_one_run CASE OPTION...: three shares of `zones` and a table of all in JSON add up to what is expected.
as_one_run()
{
    case_=$1
    shift
    can_share || return 0
    for part in 1 2 3; do
        "$GPUHISTO" $ENGINE -q -t';' "$@" -F json --part=$part/3 zones >part.$part
    done
    "$GPUHISTO" -q --merge -F json part.2 part.3 --incomplete >part.23 2>/dev/null
    for tables in "part.1 part.2 part.3" "part.23 part.1"; do
        ENGINE='' run -q --merge $tables
        counts "$case_, --merge $tables" expected
    done
    "$GPUHISTO" $ENGINE -q -t';' "$@" -F json zones >all
    ENGINE='' run -q --merge all
    counts "$case_, --merge of a table" expected
}

for zones in +05:30 "+01:00 +02:00" "Z +05:45 -03:30" "'' +02:00" "+00:00 Z" "'' +00:07 -00:07 +23:59"; do
    eval "$python make_offsets.py 600 $zones" >zones
    for by in --by=1:5m --by=1:1h --by=1:1d --by=1:7d "--by=2 --by=1:1d" "--by=1:6h --by=1:1d:1-10"; do
        $oracle_by -t';' $by <zones >expected
        for how in --threads=1 "--threads=8 --chunk-size=100" "--chunk-size=1000 --max-keys=6000"; do
            run -q -t';' $by $how zones
            counts "$zones $by $how" expected
        done
        run -q -t';' $by <zones
        counts "$zones $by, a pipe" expected
        as_one_run "$zones $by" $by
    done
    $oracle_by -t';' -k3 --by=1:1d <zones >expected
    run -q -s -t';' -k3 --by=1:1d --chunk-size=100 zones
    tail -n +2 out | cut -f 1-6 >rows
    same "$zones, statistics" expected rows
done

# Any bucket and offset, at the ends of the calendar, too; and two keys a bucket at most, until they are joined.
cat >make_ends.py <<'END'
import random, sys
random.seed(int(sys.argv[1]))
buckets = ['%ds' % n for n in range(1, 86401) if 86400 % n == 0] + ['%dd' % n for n in range(2, 367)]
days = '0001-01-01 0001-01-02 0001-12-30 1969-12-31 1970-01-01 2026-11-22 2026-11-23 9999-12-30 9999-12-31'.split()
def offset():
    return '%s%02d:%02d' % (random.choice('+-'), random.randrange(24), random.randrange(60))
zone = offset()
with open('mixed', 'w') as mixed, open('alike', 'w') as alike:
    for _ in range(300):
        clock = '%sT%02d:%02d:%02d' % (random.choice(days), random.choice([0, 23, random.randrange(24)]), random.randrange(60), random.randrange(60))
        print(clock + zone, file=alike)
        print(clock + random.choice([zone, 'Z', offset()]), file=mixed)
print('1d 7d 366d', *random.sample(buckets, int(sys.argv[2])))
END
for seed in $seeds; do
    for bucket in $($python make_ends.py $seed $([ "$SCALE" = small ] && echo 6 || echo 50)); do
        for file in mixed alike; do
            $oracle_by --by=1:$bucket <$file >expected
            run -q --by=1:$bucket --threads=8 --chunk-size=100 $file
            counts "seed $seed: $file, $bucket" expected
        done
    done
done
$python -c "
import datetime
for hour in range(365 * 24):
    print((datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=hour)).isoformat() + '+01:00')" >year
for bucket in 1h 1d 7d 366d; do
    $oracle_by --by=1:$bucket <year >expected
    run --by=1:$bucket --max-keys=$((2 * $(wc -l <expected))) year
    counts "two keys a bucket of $bucket" expected
done

printf '2026-11-22T10:05:07+05:30\n2026-11-22T10:45:07+05:30\n' >one
printf '2026-11-22T10:00:00+05:30\t2\n' >expected
run --by=1:1h one
counts "one offset" expected
check "one offset: no message" [ ! -s err ]
printf '2026-11-22T05:01:00Z\n' >two
printf '2026-11-22T04:00:00Z\t1\n2026-11-22T05:00:00Z\t2\n' >expected
run --by=1:1h one two
same "two offsets" expected out
message "two offsets" "gpuhisto: times have several offsets from UTC, so their buckets are in UTC"
run -q --by=1:1h one two
check "two offsets, -q" [ ! -s err ]
printf '0001-01-01T00:30:00+00:20\n0001-01-01T00:10:00+00:20\n9999-12-31T23:59:00-00:20\n' >ends
printf '0001-01-01T00:00:00+00:20\t1\n0001-01-01T00:00:00Z\t1\n9999-12-31T23:00:00-00:20\t1\n' >expected
run -q --by=1:1h ends
counts "no year in UTC" expected
printf '2026-11-22T10:00:00Z\t1\n2026-11-22T10:45:00Z\t1\n' >expected
{ printf '2026-11-22T10:05:07Z\n'; sleep 1; printf '2026-11-22T11:45:07+01:00\n'; } | run --by=1:15m --interval=0.3
tail -n 2 out >rows
same "--interval" expected rows
check "--interval: said once" [ "$(wc -l <err)" -eq 1 ]
if can_share; then
    "$GPUHISTO" $ENGINE --by=1:1h -F json one >one.json
    "$GPUHISTO" $ENGINE --by=1:1h -F json two >two.json
    ENGINE='' run --merge one.json one.json
    printf '2026-11-22T10:00:00+05:30\t4\n' >expected
    counts "--merge of tables of one offset" expected
    ENGINE='' run --merge one.json two.json
    refuses "--merge of buckets that overlap" 1 "gpuhisto: the tables have times of several offsets from UTC, whose buckets \
overlap; count all files in one run, or as shares (--part)"
    for file in one two; do
        "$GPUHISTO" $ENGINE --by=1:30m -F json $file >$file.json
    done
    ENGINE='' run --merge one.json two.json
    printf '2026-11-22T04:30:00Z\t1\n2026-11-22T05:00:00Z\t2\n' >expected
    same "--merge to UTC" expected out
fi

# --- what is refused ---

printf 'Nov 22 10:05:07 x\n' >in
run -k1:time --invalid=error in
refuses "no year" 1 "line 1: 'Nov' has no year, so it is no number; count by it, as in -t '\\x1f' --by=1:1-15:1d"
run -t '\x1f' --by=1:1-15:1d in
echo "Nov 22 00:00:00${tab}1" >expected
counts "no year, as advised" expected
printf '{"a":"Nov 22 10:05:07"}\n' >json
run -k .a:time --invalid=error json
refuses "no year in JSON" 1 "'Nov 22 10:05:07' has no year, so it is no number; count by it, as in --by=.a:1d"
printf '[10.30 16:49:06] x\n' | run -k1:time --invalid=error
refuses "no year, after what might be a number" 1 "line 1: '[10.30' has no year"
printf '081109 2036xx\n' | run -k1:time --invalid=error
refuses "a damaged clock" 1 "line 1: '081109' is not a time"
run -t';' -k1:time --invalid=error in
refuses "no time" 1 "in: line 1: 'Nov 22 10:05:07 x' is not a time"
run -k1:time --units in
refuses "--units" 2 "gpuhisto: -k 1:time and --units cannot be combined, as times have neither"
run -k1:time --decimal=, in
refuses "--decimal" 2 "gpuhisto: -k 1:time and --decimal cannot be combined, as times have neither"
run -k:time in
refuses "no field" 2 "gpuhisto: --field=:time: must be a field of 1 to 255 bytes"
run -k "$(printf '%256s' '' | tr ' ' x):time" in
refuses "a long name" 2 "must be a field of 1 to 255 bytes"
run_as "$GPUHISTO" --device=gpu -nk1:time in
refuses "--device=gpu" 2 "gpuhisto: --device=gpu: the GPU cannot read times as numbers; leave out --device"
# --- tables: what is printed of shares, and compared, is joined as in one run ---

for hour in 00 03 07 10 12 15 18 21 23; do echo "2026-11-22T$hour:05:00+05:30"; done >east
for hour in 01 05 23; do echo "2026-11-22T$hour:05:00Z"; done >zulu
"$GPUHISTO" --device=cpu -q --by=1:1d -F json east >whole
"$GPUHISTO" --device=cpu -q --by=1:1d -F json --part=1/2 east >shares
"$GPUHISTO" --device=cpu -q --by=1:1d -F json --part=2/2 east >>shares
printf '2026-11-22T00:00:00+05:30\t9\t9\t0\t1\n' >expected
run_as "$GPUHISTO" --diff shares whole
same "--diff of shares and of one run" expected out
run_as "$GPUHISTO" --diff whole shares
same "--diff of one run and of shares" expected out
"$GPUHISTO" --device=cpu -q --by=1:1d --part=1/2 east >out
check "a share that is shown has whole buckets" [ "$(wc -l <out)" = 1 ]
"$GPUHISTO" --device=cpu -q --by=1:1h -F json zulu >zulu.json
sed 's/+05:30/+02:00/' east | "$GPUHISTO" --device=cpu -q --by=1:1h -F json >two.json
run_as "$GPUHISTO" --diff zulu.json two.json
sort out >got
{ printf '2026-11-22T01:00:00Z\t1\t1\t0\t1\n'
  printf '2026-11-22T05:00:00Z\t1\t1\t0\t1\n'
  printf '2026-11-22T23:00:00Z\t1\t0\t-1\t0\n'
  printf '2026-11-%s:00:00Z\t0\t1\t1\tinf\n' 21T22 22T08 22T10 22T13 22T16 22T19 22T21; } | sort >expected
same "--diff of two offsets" expected got
check "--diff says that times are in UTC" [ "$(grep -c 'buckets are in UTC' err)" = 1 ]
"$GPUHISTO" --device=cpu -q --by=1:1d -F json zulu >zulu.json
run_as "$GPUHISTO" --diff zulu.json whole
refuses "--diff of buckets that overlap" 1 "the tables have times of several offsets from UTC, whose buckets overlap"
printf '2026-11-22T00:30:00+01:00\n2026-11-22T12:00:00+01:00\n' >a
printf '2026-11-21T23:30:00Z\n2026-11-22T12:00:00Z\n' >b
for name in a b; do
    "$GPUHISTO" --device=cpu -q --by=1:1d -F json --part=1/1 $name >$name.one
    "$GPUHISTO" --device=cpu -q --by=1:1d -F json --part=1/2 $name >$name.1
    "$GPUHISTO" --device=cpu -q --by=1:1d -F json --part=2/2 $name >$name.2
    "$GPUHISTO" --merge -F json $name.1 $name.2 >$name.sum
    cat $name.1 $name.2 >$name.shares
done
for kind in one sum; do
    run_as "$GPUHISTO" --diff a.$kind b.$kind
    refuses "--diff of whole results ($kind), which have no finer keys" 1 "whose buckets overlap"
done
run_as "$GPUHISTO" -q --diff a.shares b.shares
sort out >got
printf '2026-11-2%s:00:00Z\t1\t1\t0\t1\n' 1T00:00 2T00:00 | sed 's/:00:00:00Z/:00:00Z/' >expected
same "--diff of shares of two offsets" expected got
printf '2026-11-22T10:00:00Z a 1\n2026-11-22T11:00:00Z a x\n2026-11-22T10:00:00+01:00 a 1\n' >skipped
"$GPUHISTO" --device=cpu -q -k3 --by=1:1h --invalid=skip -s skipped >expected
for part in 1/2 2/2; do
    "$GPUHISTO" --device=cpu -q -k3 --by=1:1h --invalid=skip -s -F json --part=$part skipped
done >parts
"$GPUHISTO" -q --merge -s parts >out
same "keys without a number, by --merge" expected out
run_as "$GPUHISTO" --diff zulu.json zulu.json -o zulu.json
refuses "--diff with an input as its output" 1 "zulu.json: is also an input, which --output would replace"

summary
