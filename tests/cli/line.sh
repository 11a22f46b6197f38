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

printf 'GET /a 350ms\nGET /b 2 s\nGET /a 1m\n' >times
run --line='$method $path $time' --field=time --by=path -F csv --units times
printf '/a,0.35,1,0.351\n/a,60,1,60.1\n/a,invalid,0,\n/b,2,1,2.01\n/b,invalid,0,\n' >expected
counts "--units" expected
printf '350ms,3\n2 s,4\n' >units
run --line='$time,$count' --field=time --units units
printf '0.35\t1\t0.351\n2\t1\t2.01\ninvalid\t0\n' >expected
counts "a unit in the part alone" expected
printf 'GET /a 350 ms\n' >units
run --line='$method $path $time $unit' --field=time --units units
printf '350\t1\t351\ninvalid\t0\n' >expected
counts "a unit is not in the next part" expected

# Each histogram has a format of its own.
printf '1 2\n3 4\n3 2\n' >pairs
run --line='$a $b' --field=a --also --line='$c $d' --field=d --also -k 2 -F json pairs
sed 's/.*"options":\[\([^]]*\)\].*"bins":/\1/' out >found
cat >expected <<'END'
"--numbers","--field=a","--line=$a $b","--digits=3"[{"lo":1,"hi":1.01,"count":1},{"lo":3,"hi":3.01,"count":2}]}
"--numbers","--field=d","--line=$c $d","--digits=3"[{"lo":2,"hi":2.01,"count":2},{"lo":4,"hi":4.01,"count":1}]}
"--numbers","--field=2","--digits=3"[{"lo":2,"hi":2.01,"count":2},{"lo":4,"hi":4.01,"count":1}]}
END
same "--also" expected found

# A format may have as many names as it can, and texts longer than what is read at once.
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
names=$(seq 32)
# shellcheck disable=SC2086 # several words
run -n --line="$(printf '$n%d,' $names)" --field=n32 <<END
$(printf '%d,' $names)
END
printf '32\t1\t32.1\ninvalid\t0\n' >expected
counts "32 names" expected

# Keys of logfmt are decoded, those of other formats are not.
printf '%s\n' 'm="a \"b\" \\ \x \n" n=1' 'm=' 'x n="m=2" m="" m=3' >in
run -q --line=logfmt --by=m -F json in
check "escapes of logfmt" grep -qF '"key":"a \"b\" \\ \\x \u000a"' out

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

# --- hostile lines ---

long()
{
    head -c "$1" /dev/zero | tr '\0' "$2"
}

# A record of 1 MiB counts, one that is longer does not; whatever is in it, it takes no longer.
{
    long 1048570 a && echo ' "b" 7'
    long 1048571 a && echo ' "b" 7'
    printf 'a "' && long 1048570 '"' && echo
    printf 'a "' && long 1048570 '\\' && echo
    printf 'a ' && long 1048573 '"' && echo
    printf 'a "b\\" 7\n'
    printf 'a "b\\\\" 7\n'
    printf 'a "\0\377" 7'
} >in
run --line='$a "$b" $c' --field=c in
printf '7\t3\t7.01\ninvalid\t5\n' >expected
same "long lines" expected out
message "long lines" "in: line 2: longer than 1048576 bytes"
sed -n 3,8p in | run --line='$a "$b" $c' --by=b
message "quotes that never end" "line 1: does not match --line, as no '\" ' follows \$b"
{
    printf 'm="' && long 1048573 b && printf '\nm="' && long 1048572 '\\' && printf '"\nm="x\n'
} >in
run --line=logfmt --by=m --top=1 in
message "quotes of logfmt that never end" "in: line 1: no m="

# --- messages ---

printf '%s\n' 'a [b] "GET / HTTP/1.1" 5' 'x' >in
run --line='$a [$b] "$request" $n' --by=protocol in
message "a line that does not match" "in: line 2: does not match --line, as no ' [' follows \$a"
echo '>a [b] "" 5' >>in
run --line='>$a [$b] "$request" $n' --by=b in
message "a line that begins otherwise" "in: line 1: does not match --line, as it does not begin with '>'"
printf 'a "GET /"\n' >in
run --line='$a "$request"' --by=path in
message "a request that is not three words" "in: line 1: no path, as the request is 'GET /'"
run --line=syslog --by=tag in
message "no syslog" "in: line 1: not a line of syslog, as there is no time"
printf 'Nov 22 10:05:07 host x y\n' >in
run --line=syslog --by=tag in
message "no tag" "in: line 1: no tag"
run --line=logfmt --by=level in
message "no name" "in: line 1: no level="

# --- what is refused ---

# usage TEXT ARGUMENT...
usage()
{
    text=$1
    shift
    run "$@" </dev/null
    refuses "$*" 2 "$text"
}

usage "--by=x: --line has no such name; it has remote_addr, remote_user, time_local, request, method, path, protocol, status, body_bytes_sent" \
    --line=common --by=x
usage "--field=2: --line has no such name; it has time, host, tag, pid, message" --line=syslog --field=2
usage "--by=.a: --line has no such name; it has a, b" --line='$a ${b}c' --by=.a
usage "--by=a=: must be a name that stands before an = in logfmt, as in --by=level" --line=logfmt --by=a=
usage "--field=-1: must be a name that stands before an = in logfmt, as in --field=level" --line=logfmt --field=-1
usage "--line=combine: must be common, combined, syslog or logfmt, or text with the \$names of its parts, as in --line='\$time \$level \$message'" \
    --line=combine --by=a
usage "--line=: must be common" --line= --by=a
usage "no text between \$a and \$b ends the first" --line='$a$b' --by=a
usage "\$a stands twice; use another name" --line='$a $a' --by=a
for bad in '$' '$a $' '${a $b' '${}' '$1' 'a$$b'; do
    usage "--line=$bad: a name must follow each \$, as in \$status or \${status}" --line="$bad" --by=a
done
usage "there may be at most 32 names" --line="$(printf '$a%d ' $(seq 33))" --by=a1
usage "must be one line" --line="\$a
\$b" --by=a
usage "--line=/(a) b/: has no named group, such as (?<status>[0-9]+)" --line='/(a) b/' --by=a
usage "a format of Apache's; use --line=common, or write \$remote_addr for %h" --line='%h %l %u %t "%r" %>s %b' --by=a
usage "a format of Apache's; use --line=combined" --line='%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"' --by=a
usage "--line needs --field=N or --by=FIELD" --line=common
usage "--line needs --field=N or --by=FIELD" -n --line=common
usage "--line and --csv cannot be combined" --line=common --csv --by=path
usage "--line and --separator cannot be combined" --line=common --separator=, --by=path
usage "--line and -t cannot be combined" --line=common -t, --by=path
usage "--line and --header-line cannot be combined" --line=common --header-line --by=path
usage "--line and --after cannot be combined" --line=common --after=a --by=path
ENGINE='' usage "--device=gpu: the GPU cannot read --line; leave out --device" --device=gpu -n --line=common --field=status

if [ $has_regex = no ]; then
    skip_part "this build has no regular expressions"
else
    usage "--line=/(?<a>b/: missing closing parenthesis at byte 6 of the expression; see pcre2pattern(3)" --line='/(?<a>b/' --by=a
    usage "--line=/\(?<a>(?<b>c)(?J)(?<b>d)/: b must be the name of one group" --line='/\(?<a>(?<b>c)(?J)(?<b>d)/' --by=b
    usage "--by=a: --line has no such name; it has b" --line='/\(?<a>(?<b>c)/' --by=a
    usage "may have at most 32 names" --line="/$(printf '(?<a%d>.)' $(seq 33))/" --by=a1
    printf 'x=1\r\ny\nx=2\n' >in
    run --line='/x=(?<n>[12]$)|y/' --by=n in
    printf '1\t1\n2\t1\n(invalid)\t1\n' >expected
    check "groups that take no part" cmp -s out expected
    message "groups that take no part" "in: line 2: no n"
    { head -c 60 /dev/zero | tr '\0' a && echo '!'; } >in
    run --line='/^(?<x>(a+)+)$/' --by=x in
    message "backtracking" "in: line 1: takes more backtracking than PCRE2 is allowed"
fi

summary
