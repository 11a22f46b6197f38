#!/bin/sh
# SPDX-License-Identifier: MIT
# --line: parts of lines are those that the regular expressions of oracle_line.py find, in number and key, by
# every kernel, wherever chunks are cut and however the text comes; what cannot match is refused or reported.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 900
find_python || skip "python3 is not installed"
$python -c 'import re; re.compile("a*+")' 2>/dev/null || skip "python3 is older than 3.11"

if [ "$SANITIZED" = yes ] || [ "$SCALE" = small ]; then
    lines=300 seeds=1 chunks="1 64 1000"
else
    lines=1500 seeds="1 2 3 4 5" chunks="1 2 3 7 63 64 65 100 1000"
fi

has_regex=yes
"$GPUHISTO" --by=1 --lines-with=/x/ </dev/null >/dev/null 2>&1 || has_regex=no

oracle_line()
{
    $python "$srcdir/tests/helpers/oracle_line.py" "$@"
}

# expect FILE FORMAT [-k NAME] [--by=NAME]: makes the table that is expected, and the number of the first invalid line.
expect()
{
    file_=$1
    shift
    oracle_line csv "$@" <"$file_" >parts.csv || broken "oracle_line.py"
    first=$(oracle_line first "$@" <"$file_")
    shift
    columns=
    while [ $# -gt 0 ]; do
        case $1 in
        -k) columns="-n -k number" && shift ;;
        *) columns="$columns${columns:+ -s} $1" ;;
        esac
        shift
    done
    # shellcheck disable=SC2086 # several words
    "$GPUHISTO" --device=cpu -q --csv --header-line $columns parts.csv >expected
}

# shows CASE: the last run gave the table, and reported the line.
shows()
{
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    same "$1" expected out
    reported=$(sed -n 's/^gpuhisto: .*: line \([0-9]*\): .*/\1/p' err)
    check "$1: the first invalid line is '$reported', expected '$first'" [ "$reported" = "$first" ]
}

formats()
{
    cat <<'END'
combined|-k status|--by=path
combined|-k body_bytes_sent|--by=remote_addr
combined||--by=http_user_agent
combined|-k time_local|
common|-k body_bytes_sent|--by=method
common|-k status|
syslog||--by=tag
syslog|-k pid|--by=host
syslog||--by=message
logfmt|-k dur|--by=level
logfmt||--by=msg
logfmt|-k d|
$a "$b" ${c}x$d|-k a|--by=b
[$a] $b|-k b|--by=a
"$a" "$b"|-k b|--by=a
$a - - $request|-k a|--by=protocol
$a" "$b"|-k a|--by=b
<$all>|-k all|
$line||--by=line
END
    [ "$has_regex" = no ] || cat <<'END'
/^(?<a>\S*) - (?<b>.*?) \[/|-k a|--by=b
/"(?<request>[^"]*)" (?<status>\d+)/|-k status|--by=path
/(?<d>\d+)?(?'e'[a-z]+)$/|-k d|--by=e
/(?P<n>-?\d+(\.\d+)?)(?<!7)"/|-k n|
END
}

formats >all_formats
for seed in $seeds; do
    while IFS='|' read -r format number key; do
        oracle_line draw "$format" "$seed" $lines >in
        # shellcheck disable=SC2086 # one or two words
        expect in "$format" $number $key
        stats=${key:+${number:+-s}}
        for kernel in $(kernels_here); do
            GPUHISTO_CPU=$kernel "$GPUHISTO" --device=cpu ${stats:+"$stats"} --line="$format" $number $key in >out 2>err
            echo $? >status
            shows "$kernel: $format $number $key"
        done
        for threads in 1 8; do
            for chunk in $chunks; do
                run $stats --line="$format" $number $key --threads=$threads --chunk-size="$chunk" in
                shows "$format $number $key in $chunk bytes, $threads threads"
            done
        done
        head -c -1 in | run $stats --line="$format" $number $key
        shows "$format $number $key in a pipe, without a newline"
        gzip -c in >in.gz
        run $stats --line="$format" $number $key in.gz
        shows "$format $number $key in gzip"
    done <all_formats
done

# --- other options ---

oracle_line draw combined 9 200 >in
expect in combined --by=path
"$GPUHISTO" --device=cpu -q --csv --header-line --by=path:2-4 parts.csv >expected
run --line=combined --by=path:2-4 in
shows "characters of a part"
"$GPUHISTO" --device=cpu -q --csv --header-line --by=path --top=2 --invalid=skip parts.csv >expected
run -q --line=combined --by=path --top=2 --invalid=skip in
counts "--top" expected
grep -a GET in >kept
"$GPUHISTO" --device=cpu -q --line=combined --by=path kept >expected
run -q --line=combined --by=path --lines-with=GET in
counts "--lines-with" expected

# Texts may be longer than what is read at once.
long_text=$(head -c 200 /dev/zero | tr '\0' =)
$python -c "print('\n'.join('=' * n + '%d' % n + '$long_text' + '7' for n in (0, 1, 199, 200, 201)))" >in
for kernel in $(kernels_here); do
    GPUHISTO_CPU=$kernel "$GPUHISTO" --device=cpu --line="\$a$long_text\$b" --by=b in >out 2>err
    $python -c "
import collections
found = collections.Counter(line.split('$long_text', 1)[1] for line in open('in').read().split())
print('\n'.join('%s\t%d' % each for each in sorted(found.items())))" >expected
    same "$kernel: a long text" expected out
done

# --- tables ---

if can_share; then
    oracle_line draw combined 5 400 >in
    for format in combined '$remote_addr $rest "$request" $status $size'; do
        run -n -q --line="$format" -k status --by=path -F json in
        cp out whole.json
        for part in 1 2 3; do
            run -n -q --line="$format" -k status --by=path -F json --part=$part/3 in
            cp out part$part.json
        done
        run_as "$GPUHISTO" --merge part1.json part2.json part3.json
        "$GPUHISTO" --merge whole.json >expected
        counts "$format: --merge of parts" expected
        check "$format: the options" grep -qF -- '"--line=' whole.json
    done
    "$GPUHISTO" --line=logfmt --by=path -F json -q in >other.json
    "$GPUHISTO" --line=common --by=path -F json -q in >one.json
    run_as "$GPUHISTO" --merge one.json other.json
    message "tables of other formats" "other.json: was counted with --line=logfmt, but one.json with --line=common"
else
    skip_part "--part: $why_not"
fi

summary
