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

# --- shares ---

if can_share; then
    "$GPUHISTO" $ENGINE -s -q -t';' -k1:time in >expected
    for part in 1 2 3; do
        "$GPUHISTO" $ENGINE -s -q -t';' -k01:time -F json --part=$part/3 in >part.$part
    done
    ENGINE='' run -s -q --merge part.1 part.2 part.3
    counts "shares" expected
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

printf '2026-11-22T10:00:00Z\t1\n2026-11-22T10:45:00Z\t1\n' >expected
{ printf '2026-11-22T10:05:07Z\n'; sleep 1; printf '2026-11-22T11:45:07+01:00\n'; } | run --by=1:15m --interval=0.3
tail -n 2 out >rows
same "--interval" expected rows
check "--interval: said once" [ "$(wc -l <err)" -eq 1 ]

summary
