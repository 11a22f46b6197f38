#!/bin/sh
# SPDX-License-Identifier: MIT
# --where: the records that count are those for which oracle_where.py says that all conditions hold, by Fraction
# and datetime, however the text comes and wherever it is cut.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    cases_drawn=300 seeds=1
else
    cases_drawn=1500 seeds="1 2 3"
fi

# --- records and conditions that are drawn ---

# drawn NAME: runs the case and compares the table; arguments after it precede the case's options.
drawn()
{
    how=$1
    shift
    while read -r option_; do
        set -- "$@" "$option_"
    done <case.options
    case $how in
    file) run -q "$@" case.in ;;
    pipe) run -q "$@" <case.in ;;
    gzip) run -q "$@" case.in.gz ;;
    esac
    case_="$*"
    read -r status <status
    check "$case_: status" [ "$status" -eq 0 ]
    same "$case_" case.expected out
}

printf x | gzip >probe.gz
has_gzip=no
"$GPUHISTO" --device=cpu -d gzip probe.gz >/dev/null 2>&1 && has_gzip=yes
for seed in $seeds; do
    rm -f case.*
    $python "$srcdir/tests/helpers/oracle_where.py" "$seed" $cases_drawn || broken "oracle_where.py"
    for at in $(seq 0 $((cases_drawn - 1))); do
        # As its options are read a line at a time, none of them has a newline or a backslash.
        mv case.$at.in case.in
        mv case.$at.options case.options
        mv case.$at.expected case.expected
        drawn file
        for cpu in $([ $((at % 20)) -ne 1 ] || kernels_here); do
            GPUHISTO_CPU=$cpu
            export GPUHISTO_CPU
            drawn file --chunk-size=3000
            unset GPUHISTO_CPU
        done
        case $((at % 5)) in
        0) drawn file --threads=8 --chunk-size=100 ;;
        1) drawn pipe --chunk-size=13 ;;
        2) drawn file --threads=1 --chunk-size=1000 ;;
        3)
            if [ $has_gzip = yes ]; then
                gzip -c case.in >case.in.gz
                drawn gzip --threads=8
            fi
            ;;
        4) drawn pipe --threads=8 --lines-with=r ;;
        esac
    done
done

# --- a log, which several threads read ---

cat >make_log.py <<'END'
import random
random.seed(5)
for i in range(40000):
    second = i * 86400 // 40000
    print('10.0.0.%d - - [22/Nov/2026:%02d:%02d:%02d +0000] "GET /item/%d HTTP/1.1" %s %d "-" "a b" %.3f' % (
        i % 9, second // 3600, second // 60 % 60, second % 60, i, random.choice(['200', '404', '500', '503', '-']), random.randrange(10000), random.random()))
END
$python make_log.py >log
awk '$4 >= "[22/Nov/2026:10:05" && $4 < "[22/Nov/2026:10:47" && $9 >= 500' log >kept
check "some lines are kept" [ "$(wc -l <kept)" -gt 100 ]
for by in "-s -k-1" "-s -k10 --by=9" "--by=1" "-n -k-1 -B10 --min=0 --max=1"; do
    "$GPUHISTO" --device=cpu $by kept >expected
    for threads in 1 8; do
        for from in log - "--chunk-size=1000 log"; do
            run $by --threads=$threads --where='4>=10:05' --where='4<10:47' --where='9>=500' $from <log
            counts "$by, $from, $threads threads" expected
        done
    done
    run $by --where='4<10:47' --where='9>=500' --where='4>=10:05' --lines-with=GET --lines-without=POST log
    counts "$by, with strings" expected
done
"$HELPERS/make_zstd" -f 100000 <log >log.zst
run --by=1 --threads=8 --where='4>=22/Nov/2026:10:05' --where='4<22/Nov/2026:10:47' --where='9 >= 5e2' log.zst
"$GPUHISTO" --device=cpu --by=1 kept >expected
counts "zstd" expected

if can_share; then
    "$GPUHISTO" --device=cpu -sk-1 --where='9>=500' --where='4>=10:05' log >expected
    for k in 1 2 3; do
        "$GPUHISTO" $ENGINE -qsk-1 --where='9 >= 500' --where=' 4>=10:05' --part=$k/3 -F json log >part.$k
    done
    ENGINE='' run -s --merge part.3 part.1 part.2
    counts "shares" expected
fi

summary
