#!/bin/sh
# SPDX-License-Identifier: MIT
# --units: times and sizes, in tokens, fields and after strings, however they come, give the table and
# the statistics of the same decimals in seconds and bytes.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

# A number with units and the decimal that it is; decimals are those of the text, not of doubles.
cat >both <<'END'
350ms 0.350
28m35.01s 1715.01
2h45m 9900
1d2h3m4s5ms6us7ns 93784.005006007
-1m30s -90
1.1us 0.0000011
1e-05s 0.00001
9007199254740993ns 9007199.254740993
1.5k 1500
0.1Mi 104857.6
4KiB 4096
10GB 10000000000
12.5 12.5
4K x
1h1h x
5es x
END
i=0
while [ $i -lt 60 ]; do
    cat both
    i=$((i + 1))
done >many
printf '3us 0.000003\n5minx x\n' >>many
cut -d ' ' -f 1 many >tokens
cut -d ' ' -f 2 many >decimals
awk '{ printf "a rt=%s, \"%s\" x,%s\r\n", $1, $1, $1 }' many >lines
awk '{ printf "\"a,\n\",\"%s\"\n", $1 }' many >many.csv
run -n -q decimals && cp out expected
run -ns -q decimals && cp out statistics
sed -i 's/^invalid.*/invalid\t181/' expected statistics

# --- the ways to find numbers, by every parser ---

for cpu in $(kernels_here); do
    for way in tokens "-k 3 lines" "-t , -k -1 lines" "--after=rt= lines" "--csv -k 2 many.csv"; do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n -q --units $way
        counts "$way, $cpu" expected
    done
done
run -sq --units tokens
counts "--stats" statistics

# --- the ways that they come ---

"$HELPERS/make_zstd" -f 1000 <tokens >tokens.zst
"$HELPERS/make_gzip" <lines >lines.gz
for way in "--threads=3 --chunk-size=5 tokens" "--threads=3 tokens.zst" "--csv -k 2 --chunk-size=7 many.csv"; do
    run -n -q --units $way
    counts "$way" expected
done
if "$GPUHISTO" --device=cpu --decompress=gzip lines.gz >/dev/null 2>&1; then
    run -n -q --units --after=rt= lines.gz
    counts "gzip" expected
fi
"$HELPERS/dribble" -n 1 <tokens | run -n -q --units
counts "byte by byte" expected
run -nq --units --each --threads=2 tokens tokens.zst
sed 's/^/tokens\t/' expected >each && sed 's/^/tokens.zst\t/' expected >>each
counts "--each" each
run -nq --units -k 3 --also -n -k 3 lines
{ cat expected && echo && printf '12.5\t60\t12.6\ninvalid\t902\n'; } >also
counts "--also" also

# --- several words ---

# reads OPTION...: lines of standard input, "TEXT => DECIMAL" in seconds or bytes, or x: by every parser, in chunks that
# cut anywhere, and by threads.
reads()
{
    cat >cases
    sed 's/ => .*//' cases | sed 's/\\e/\x1b/g; s/\\t/\t/g; s/\\r/\r/g' >texts
    sed 's/.* => //' cases >wanted
    "$GPUHISTO" --device=cpu -nsq --digits=5 wanted >expected
    for cpu in $(kernels_here); do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -nsq --digits=5 --units "$@" texts
        counts "$*, $cpu" expected
    done
    for size in 1 7 64; do
        run -nsq --digits=5 --units "$@" --threads=2 --chunk-size=$size texts
        counts "$*, chunks of $size" expected
        cat texts | run -nsq --digits=5 --units "$@" --threads=2 --chunk-size=$size
        counts "$*, chunks of $size, a pipe" expected
    done
    # Each alone: what is wrong in one is not made up for by another.
    paste texts wanted | sort -u | few_lines | while IFS= read -r line; do
        printf '%s\n' "${line##*$tab}" | "$GPUHISTO" --device=cpu -nsq --digits=5 >expected
        printf '%s\n' "${line%$tab*}" | run -nsq --digits=5 --units "$@"
        cmp -s expected out || echo "$line: $(sed -n 3p out)"
    done >differ
    check "$*, each alone: $(cat differ)" [ ! -s differ ]
}

# Where few cases are asked for, some lines.
few_lines()
{
    if [ "$SCALE" = small ]; then sed -n '1~5p'; else cat; fi
}

reads --after=d= <<'end'
d=3 min => 180
d=3 mins, ok => 180
a d=2 hours b => 7200
d=1 hr. => 3600
d=1 day => 86400
d=2 Days => 172800
d=1 week => 604800
d=30 sec; x => 30
d=30 SECONDS => 30
d=250 msec => 0.25
d=250 milliseconds) => 0.25
d=7 usec => 0.000007
d=7 µs => 0.000007
d=7 μs => 0.000007
d=7\u00b5s => 0.000007
d=7 \u03BCs => 0.000007
d=12   ms => 0.012
d=12\tms => 0.012
d="12 ms" => 0.012
d=12 ms(avg) => 0.012
d=4 kB => 4000
d=4 KiB => 4096
d=4 bytes => 4
d=4 KB => x
d=4 K => x
d=4KB => x
d=4 kb => x
d=4 kilobytes => x
d=4 MB/s => x
d=4 Mbit => x
d=3 months => x
d=1 year => x
d=3 H => x
d=3 MS => x
d=11 PM => x
d=01:02:03 => 3723
d=01:02:03, ok => 3723
d=1:02:03.5 => 3723.5
d=01:02:03,500 => x
d=01:02:03 PM => x
d=01:02:03 s => x
d=01:02:03 ok => 3723
d=2:03.25 => 123.25
d=2:03 => x
d=12:30: ok => x
d=10:ok => 10
d=1:02:60 => x
d=1:02:03:04 => x
d=1m 3s => 63
d=1m 3s ok => 63
d=1h 30 min => 5400
d=1h 2m 3s => 3723
d=1h2m3s => 3723
d=1 hour and 30 minutes => 5400
d=1 hour, 30 minutes and 5 seconds => 5405
d=1 day, 2:03:04 => 93784
d=2 days 02:03:04.5 => 180184.5
d=1-02:03:04 => 93784
d=-1 day, 2:03:04 => x
d=-1m 30s => -90
d=3 days, 2:15 => x
d=3 days,  2:15 => x
d=1 day +02:03:04 => x
d=1m  3s => 60
d=1m 3h => 60
d=1m 3 => 60
d=1.5m 3s => 90
d=1 s 5 => 1
d=3 items => 3
d=3 GET => 3
d=3 s=5 => 3
d=3 min_x => 3
d=3 min-max => 3
d=3 h.264 => 3
d=3 m2 => 3
d=3. ok => 3
d=\e[01;31m\e[K3\e[m\e[K ok => 3
d=\e[1m3 \e[0mms => 0.003
end

reads -k3 <<'end'
GET 200 260.403 ms => 0.260403
GET 200 260.403 ms 5 => 0.260403
GET 200 260.403\tms => 0.260403
GET 200 260.403  min, => 15624.18
GET 200 "260" ms => 0.26
GET 200 350ms => 0.35
GET 200 350ms 7us => 0.350007
GET 200 350ms  7us => 0.35
GET 200 1min 30.5s foo.service => 90.5
GET 200 1.20s 300.12ms => 1.2
GET 200 4 KB => x
GET 200 4, KB => x
GET 200 260.403 ok => 260.403
GET 200 260.403 => 260.403
GET 200 01:02:03 => 3723
GET 200 12:30 => x
GET 200 \e[32m260\e[0m \e[2mms\e[0m => 0.26
GET 200 inf s => inf
end

reads -t, -k2 <<'end'
a,12.3 ms,b => 0.0123
a,"1.5 GB",b => 1500000000
a, 7   s ,b => 7
a,1 hour 30 min,b => 5400
a,1:02:03,b => 3723
a,7 items,b => x
a,7 s b,c => x
a,4 KB,b => x
a,260,ms,b => 0.26
a,260, ms => 0.26
a,260,\r\tms,b => 0.26
a,"260","ms" => 0.26
a,260,KB => x
a,260,b => x
a,260,bb => 260
a,260,1 kilobyte => 260
a,260, => 260
a,260,,ms => 260
a,5ms,KB => 0.005
a,01:02:03,s => 3723
end

reads --csv -k2 <<'end'
a,"12.3 ms",b => 0.0123
"a",260,"ms" => 0.26
"a,b","260",ms => 0.26
a,260,"KB" => x
a,260,"b b" => 260
end

reads '-t\t' -k1 <<'end'
12.3 ms\tb => 0.0123
260\tms => 0.26
260\tKB => x
5m\t3s => 300
end

reads -k.t <<'end'
{"t":"480\u00b5s"} => 0.00048
{"t":"480 \u03bcs","a":[]} => 0.00048
{"t":"4\u0032"} => 42
{"t":" 1 hour\u002c 30 min\u0009"} => 5400
{"t":"01:02:03"} => 3723
{"t":"3 min"} => 180
{"t":"3 items"} => x
{"t":"4 KB"} => x
{"t":"12:30"} => x
{"t":"5\\ms"} => x
{"t":5,"u":"ms"} => 5
{"t":5e3} => 5000
end
# Random ones against an oracle.
if python3 -c '' 2>/dev/null; then
    lines=400 seeds=1
    [ "$SCALE" = small ] || lines=2000 seeds='1 2 3 4 5'
    for seed in $seeds; do
        for way in tokens blanks:1 blanks:-2 'separated:;:1' 'separated: :2' csv:1 csv:-1 after:d= json; do
            python3 "$srcdir/tests/helpers/oracle_units.py" random "$seed" $lines "$way" >texts
            python3 "$srcdir/tests/helpers/oracle_units.py" read "$way" <texts >wanted
            case $way in
            tokens) set -- -n ;;
            blanks:*) set -- "-k${way#*:}" ;;
            separated:*) set -- "-t$(printf %.1s "${way#*:}")" "-k${way##*:}" ;;
            csv:*) set -- --csv "-k${way#*:}" ;;
            after:*) set -- "--after=${way#*:}" ;;
            *) set -- -k.t ;;
            esac
            run -nsq --digits=5 wanted && cp out expected
            run -nsq --digits=5 --units "$@" texts
            counts "random, $seed, $way" expected
            run -nsq --digits=5 --units "$@" --threads=3 --chunk-size=50 texts
            counts "random, $seed, $way, small chunks" expected
        done
    done
else
    skip_part "random lines: no python3"
fi

# --- what the GPU does not read ---

if [ -x "$EMULATED" ]; then
    run_as env GPUHISTO_OFFLOAD=1 "$EMULATED" --device=auto -v -n --units tokens
    check "auto stays on the CPU" grep -q 'gpu: not used' err
fi

summary
