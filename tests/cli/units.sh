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
printf '3us 0.000003\n5min x\n' >>many
cut -d ' ' -f 1 many >tokens
cut -d ' ' -f 2 many >decimals
awk '{ printf "a rt=%s, \"%s\" x,%s\r\n", $1, $1, $1 }' many >lines
awk '{ printf "\"a,\n\",\"%s\"\n", $1 }' many >many.csv
run -n -q decimals && cp out expected
run -ns -q decimals && cp out statistics
sed -i 's/^invalid.*/invalid\t181/' expected statistics

# --- the ways to find numbers, by every parser ---

for cpu in $(counters_here); do
    for way in tokens "-k 3 lines" "-t , -k -1 lines" "--after=rt= lines" "--csv -k 2 many.csv"; do
        run_as env GPUHISTO_CPU="$cpu" "$GPUHISTO" $ENGINE -n -q --units $way
        counts "$way, $cpu" expected
    done
done
run -sq --units tokens
counts "--stats" statistics

# A space before a unit, in a field and after a string; a word is no unit.
printf '%s\n' 0.0123 1500000000 7 7 x | "$GPUHISTO" --device=cpu -n -q >spaced
printf 'time=%s\n' '12.3 ms' '1.5 GB, 5 s' '7 seconds' '7s s' 'x s' | run -q --units --after=time=
counts "a space after a string" spaced
printf '%s,1\n' '12.3 ms' '"1.5 GB"' '7 s' 7s '7  s' | run -q --units -t, -k1
counts "a space in a field" spaced

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

# --- what is invalid, and what to do ---

printf '5ms\n4K\n28m35.01s\n' >some
run -n -k 1 --invalid=error some
refuses "without --units" 1 "gpuhisto: some: line 1: '5ms' is not a number; to read units, use --units"
printf 'rt=28m35.01s' | run -n --after=rt= --invalid=error
refuses "after a string" 1 "standard input: line 1: '28m35.01s' is not a number; to read units, use --units"
printf 'a,5 ms' | run -t, -k2 --invalid=error
refuses "a space" 1 "standard input: line 1: '5 ms' is not a number; to read units, use --units"
printf '5 5x' | run -n --invalid=error
refuses "no unit" 1 "gpuhisto: standard input: line 1: '5x' is not a number"
refute "no advice" grep -q units err
run -n --units --invalid=error some
refuses "K" 1 "gpuhisto: some: line 2: '4K' is not a number; write k for 1000 or Ki for 1024"

# --- tables of them, and what does not go together ---

printf 5s | "$GPUHISTO" --device=cpu -n --units -F json >with
printf 5 | "$GPUHISTO" --device=cpu -n -F json >without
ENGINE='' run --merge with with
printf '5\t2\t5.01\ninvalid\t0\n' >expected
counts "--merge" expected
ENGINE='' run --merge with without
message "--merge of a table without" "gpuhisto: warning: without: was counted without --units, but with with --units"
if [ -x "$EMULATED" ]; then
    run_as env GPUHISTO_OFFLOAD=1 "$EMULATED" --device=auto -v -n --units tokens
    check "auto stays on the CPU" grep -q 'gpu: not used' err
fi
ENGINE='' run -n --units --device=gpu some
refuses "the GPU" 2 "gpuhisto: --device=gpu: the GPU cannot read --units; leave out --device"
ENGINE='' run --values=f64 --units some
refuses "binary values" 2 "gpuhisto: --units needs --numbers"

summary
