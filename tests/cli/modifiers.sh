#!/bin/sh
# SPDX-License-Identifier: MIT
# --by=FIELD:MODIFIER...: keys are those of modifiers.py (re, datetime), which oracle_by.py counts, on times and paths as
# logs have them and with faults, however the text comes and wherever it is cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=400 step=97 seeds="1"
else
    lines=4000 step=1 seeds="1 2 3 4 5"
fi
oracle_by="$python $srcdir/tests/helpers/oracle_by.py"

ways()
{
    cat <<'END'
1:1s
1:10s
1:1m
1:5m
1:6h
1:1d
1:7d
1:366d
1:5m:1-16
1:1h:12-13
1:1d:-2-
1:1-19:5m
1:1d:1h
1:-9--1
1:-4-22
1:2--2
1:3-:1m
2:route
2:route:1-5
2:2-:route
2:-3-:route
2:route:route
2:route:-1
END
}

# shows CASE: the last run printed what is expected.
shows()
{
    read -r status <status
    check "$way, $1: status" [ "$status" -eq 0 ]
    case $options in
    -s*) tail -n +2 out | cut -f1-6 >rows ;;
    *) cp out rows ;;
    esac
    same "$way, $1" expected rows
}

ways >all_ways
for seed in $seeds; do
    $python "$srcdir/tests/helpers/made_times.py" "$lines" "$seed" in.json >in || broken made_times.py
    # In CSV every field is quoted, or none that need not be.
    sed 's/"/""/g; s/;/";"/g; s/^/"/; s/$/"/' in >in.csv
    "$HELPERS/make_zstd" -f 1000 <in >in.zst
    gzip -c in >in.gz
    codecs="in.zst"
    "$GPUHISTO" --device=cpu -d gzip in.gz >/dev/null 2>&1 && codecs="in.zst in.gz"
    while read -r way; do
        options="-q -t ; --by=$way"
        $oracle_by -t ';' --by="$way" <in >expected || broken "oracle_by.py --by=$way"
        check "$way: some keys" [ "$(wc -l <expected)" -gt 1 ]
        for threads in 1 8; do
            for chunk in $(few 2 100 1 1000) 8M; do
                run $options --threads=$threads --chunk-size=$chunk in
                shows "$threads threads, chunks of $chunk"
            done
        done
        cat in | run $options --chunk-size=64
        shows pipe
        for file in $codecs; do
            run $options --threads=3 $file
            shows $file
        done
        for cpu in $(kernels_here); do
            run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE $options in
            shows "$cpu"
        done
        options="-q --csv -t ; --by=$way"
        run $options --threads=2 --chunk-size=1000 in.csv
        shows CSV
        case $way in
        1*) options="-q --by=.[\"a:b\"].t${way#?}" ;;
        2*) options="-q --by=.path${way#?}" ;;
        esac
        for chunk in 100 8M; do
            run $options --threads=2 --chunk-size=$chunk in.json
            shows "JSON, chunks of $chunk"
        done
    done <all_ways
done

# Statistics of numbers by key, and what is left out.
for way in 1:5m 2:route 1:1h:12-13; do
    $oracle_by -t ';' -k 3 --by=$way <in >expected
    options="-s -q -t ; -k 3 --by=$way"
    for chunk in 100 8M; do
        run $options --chunk-size=$chunk --threads=2 in
        shows "numbers, chunks of $chunk"
    done
    $oracle_by -t ';' --by=$way <in | grep -v '^(invalid)' >expected
    options="-t ; --by=$way"
    run $options --invalid=skip in
    shows "--invalid=skip"
done

# Shards add up; other modifiers are another result.
if can_share; then
    for way in 1:5m 2:route:1-5; do
        options="-q -t ; --by=$way"
        $oracle_by -t ';' --by=$way <in >expected
        for part in 1 2 3; do
            "$GPUHISTO" $ENGINE $options -F json --part=$part/3 in >part.$part || broken "--part=$part/3"
        done
        run_as "$GPUHISTO" -q --merge part.1 part.2 part.3
        shows --merge
    done
    "$GPUHISTO" $ENGINE -q -t ';' --by=2:route -F json in >other
    run_as "$GPUHISTO" -q --merge part.1 part.2 part.3 other
    refuses "--merge of other modifiers" 1
else
    skip_part "--merge: $why_not"
fi

# --- every day of the years 0001 to 9999, and every offset ---

$python - "$step" <<'END' >days
import datetime, sys
for day in range(1, datetime.date(9999, 12, 31).toordinal() + 1, int(sys.argv[1])):
    print('%sT12:34:56Z' % datetime.date.fromordinal(day).isoformat())
END
sed 's/T.*/T00:00:00Z	1/' days >expected
run -q --by=1:1d --max-keys=4000000 days
counts "every day" expected
$python - <<'END' >offsets
for sign in '+-':
    for minutes in range(24 * 60):
        print('2026-02-28T23:%02d:07.5%s%02d:%02d' % (minutes % 60, sign, minutes // 60, minutes % 60))
END
for way in 1:10m 1:1d; do
    options="-q --by=$way"
    $oracle_by --by=$way <offsets >expected
    run $options offsets
    shows "every offset"
done

# --- fields that are longer than keys may be, and keys that are longer than fields ---

$python - <<'END' >long
import sys
for i in range(6):
    for size in 400000, 700000, 1048570 - i, 3:
        sys.stdout.buffer.write(b'/%s/%d?x\n' % (b'k' * (size - i), i % 2))
        sys.stdout.buffer.write(b'%d\n' % (i * 100))
END
for way in 1:route 1:route:-8-:2- 1:5m; do
    options="-q -t ; --by=$way"
    $oracle_by -t ';' --by=$way <long >expected
    for chunk in 100000 8M; do
        run $options --chunk-size=$chunk long
        shows "long paths, chunks of $chunk"
    done
done

summary
