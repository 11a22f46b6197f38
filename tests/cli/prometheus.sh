#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=prometheus is OpenMetrics, which prometheus_client reads (openmetrics.py), and its buckets, sum and
# count are those of fractions: of numbers and values, with every option for edges, of files and of keys.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 200
find_python || skip "python3 is not installed"
kept=0

# buckets NAME FILE EDGE...: adds what is expected of the numbers in FILE.
buckets()
{
    $python - "$@" >>expected <<'END'
import sys
from fractions import Fraction
name, file, edges = sys.argv[1], sys.argv[2], sys.argv[3:]
numbers = [Fraction(word) for word in open(file).read().split() if word != 'x']
for edge in edges:
    print('bucket', name, edge, sum(number <= Fraction(edge) for number in numbers), sep='\t')
print('bucket', name, '+Inf', len(numbers), sep='\t')
if Fraction(edges[0]) >= 0 and min(numbers, default=0) >= 0:
    total = sum(numbers)
    print('count', name, '', len(numbers), sep='\t')
    print('sum', name, '', total if total.denominator == 1 else float(total), sep='\t')
END
}

# shows CASE: the last run printed what was expected, in the grammar of OpenMetrics. Keeps it for the check of all.
shows()
{
    kept=$((kept + 1))
    cp out "kept.$kept"
    read -r status <status
    check "$1: status" [ "$status" -eq 0 ]
    $python "$srcdir/tests/helpers/openmetrics.py" <out >read 2>why || failed "$1: $(tail -n 1 why)"
    same "$1" expected read
    : >expected
}
: >expected

python3 -c '
import random
random.seed(3)
print("x", *(random.choice([0, 1, 5, 10, 0.5, 1000000, 12]) for _ in range(2000)), *(random.randrange(0, 12000) / 1000 for _ in range(2000)), sep="\n")' >numbers
tr -d x <numbers | awk 'NF { print -$1 }' >negative
seq 1 300 >seconds
: >empty
buckets "" numbers 0.0 1.0 5.0 10.0
run -nq -F prometheus --edges=0,1,5,10 numbers
shows "--edges"
buckets "" numbers 0.0 1.0 5.0 10.0
run -nq --right --format=prometheus --edges=0,1,5,10 --threads=3 --chunk-size=100 numbers
shows "--right, too"
# Edges are decimals, and numbers beside them are where they belong.
printf '%s\n' 0.1 0.3 0.30000000000000004 0.3000000000000001 0.6 0.6000000000000001 0.7000000000000001 0 1 0.9999 >beside
buckets "" beside 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0
run -n --bins=10 --min=0 --max=1 -F prometheus beside
shows "decimals"
sed 's/.*/&\n-&/' beside >mirrored
buckets "" mirrored -1.0 -0.9 -0.8 -0.7 -0.6 -0.5 -0.4 -0.3 -0.2 -0.1 0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0
run -n --bins=20 --min=-1 --max=1 -F prometheus mirrored
shows "decimals around zero"
buckets "" beside 0.0 0.3333333333333333 0.6666666666666666 1.0
run -n --bins=3 --min=0 --max=1 -F prometheus beside
shows "no decimals"
buckets "" beside 0.3 0.30000000000000004 0.3000000000000001
run -n --bins=2 --min=0.3 --max=0.3000000000000001 -F prometheus beside
shows "narrow bins"
buckets "" beside 1.00000000000001e-17 0.5 1.0
run -n --bins=2 --min=1.00000000000001e-17 --max=1 -F prometheus beside
shows "a minimum stays"
buckets "" seconds 1.0 1e+06 1.5e+06 1.23456e+08 1e+16 1.5e+17
run -n --edges=1,1000000,1500000,123456000,1e16,150000000000000000 -F prometheus seconds
shows "large edges"
buckets "" numbers 0.0 2.5 5.0 7.5 10.0
run -nq -F prometheus --bins=4 --min=0 --max=10 numbers
shows "--bins"
buckets "" numbers 1.0 10.0 100.0 1000.0 10000.0 100000.0 1e+06 1e+07
run -nq -F prometheus --log --min=1 --max=10000000 numbers
shows "--log"
buckets "" negative -5.0 0.5
run -nq -F prometheus --edges=-5,0.5 negative
shows "edges below 0"
buckets "" negative 1.0 2.0
run -nq -F prometheus --edges=1,2 negative
shows "numbers below 0"
buckets "" empty 1e-05 0.001 1.000001e+06
run -nq -F prometheus --edges=0.00001,0.001,1000001 empty
shows "nothing"
LC_ALL=C awk 'BEGIN { for (i = 1; i <= 300; i++) printf "%c", i % 100 + 20 }' >bytes
od -An -tu1 -v bytes >bytes.numbers
buckets "" bytes.numbers 50.0 100.0
run -F prometheus --values=u8 --edges=50,100 bytes
shows "values"
check "the name of values" grep -q '^# TYPE gpuhisto_values histogram$' out

# --- labels ---

for odd in 'a"b' 'back\slash' 'tab	é'; do
    cp seconds "$odd"
done
cp seconds "$(printf 'new\nline')"
cp seconds "$(printf 'not\377utf8')"
buckets 'a"b' seconds 100.0 200.0
buckets 'back\\\\slash' seconds 100.0 200.0
buckets 'tab\\x09\xe9' seconds 100.0 200.0
buckets 'new\\x0aline' seconds 100.0 200.0
buckets 'not\\xffutf8' seconds 100.0 200.0
buckets 'empty' empty 100.0 200.0
run -n -F prometheus --each --edges=100,200 'a"b' 'back\slash' 'tab	é' "$(printf 'new\nline')" "$(printf 'not\377utf8')" empty
shows "names of files"
check "--each" grep -qF '{file="a\"b",le="100.0"}' out

# By key: numbers of odd and of even lines, and a key that has to be escaped.
awk '{ print (NR % 2 ? "odd" : "\\\"even"), $1 }' seconds >keyed
awk 'NR % 2 == 0' seconds >even
awk 'NR % 2' seconds >odd
buckets '\\\\"even' even 100.0 200.0
buckets odd odd 100.0 200.0
run -n -k 2 --by=1 -F prometheus --edges=100,200 keyed
shows "keys"
check "--by" grep -qF '{key="\\\\\"even",le="100.0"}' out

# Keys that are called as rows are, and those without numbers or keys.
printf '%s\n' 'other 1' 'invalid 1' '(other) 1' '(invalid) 1' 'a 1' 'a 1' 'a 1' 'b 1' 'b 1' x >keyed
printf '%s\n' 1 1 1 >three
printf '1\n1\n' >two
printf '1\n' >one
buckets a three 1.0 2.0
buckets b two 1.0 2.0
buckets '\\x28invalid)' one 1.0 2.0
buckets '(other)' three 1.0 2.0
run -qn -k 2 --by=1 --top=3 -F prometheus --edges=1,2 keyed
shows "the first keys"
buckets '(invalid)' one 1.0 2.0
run -qn -k 1 --by=2 -F prometheus --edges=1,2 one
shows "no keys"
for arguments in "-k2 --by=1" "-k2 --by=1 --top=1"; do
    run $arguments --edges=1,2 -F prometheus empty
    shows "$arguments: nothing"
done
run --values=u8 --edges=1,2 --each=4 -F prometheus empty
shows "no blocks"
check "no blocks: an end" [ "$(cat out)" = "# EOF" ]

# --- every combination ---

# keep ARGUMENT...: keeps what a run prints for the check of all.
keep()
{
    kept=$((kept + 1))
    "$GPUHISTO" $ENGINE -q "$@" -F prometheus >"kept.$kept" 2>why || failed "$*: $(cat why)"
}

python3 -c '
import random
random.seed(4)
pieces = ["\\", "\"", "\\n", "\x01", "\x7f", "\u0085", "\u2028", "é", "{", "}", ",", "#", "=", "other", "(other)", " "]
for i in range(100):
    key = "".join(random.choices(pieces, k=random.randrange(4)))
    print(key, random.randrange(2000) / 100, sep=";")' >keys
sed 's/.*;//' keys >tokens
{ echo 'key,ms'; sed 's/"/""/g; s/\(.*\);/"\1",/' keys; } >keys.csv
python3 -c '
import json
for line in open("keys"):
    key, number = line.rstrip("\n").rsplit(";", 1)
    print(json.dumps({"key": key, "ms": float(number)}))' >keys.json
printf '\377;1\n\\xff;2\n\303;3\n' | cat - keys >bytes.keys
for edges in --edges=0.5,3,10 "--edges=-1,2.5 --right" "--bins=7 --min=0 --max=10" "--log --min=1 --max=100" "--log=2 --min=0.1 --max=9"; do
    [ "$SCALE" != small ] || [ -n "${edges##--log*}" ] || continue
    for each in "" --each; do
        keep -n $each $edges tokens empty
        keep --units $each $edges tokens
        keep -t ';' -k -1 --invalid=skip $each $edges keys bytes.keys
        keep --csv --header-line -k ms $each $edges keys.csv
        keep -k .ms $each $edges keys.json empty
        keep '--after=ms": ' --lines-with=e $each $edges keys.json
    done
    for top in "" --top=5 --invalid=skip; do
        keep -t ';' -k 2 --by=1 $top $edges bytes.keys
        keep -t ';' -k 1 --by=2 $top $edges keys
        keep --csv --header-line -k ms --by=key $top $edges keys.csv
        keep -k .ms --by=.key $top $edges keys.json
        keep '--after=ms": ' --by=2:1-3 $top $edges keys.json
    done
    keep -n --part=2/3 $edges tokens
    keep -n --skip=5 --length=100 --threads=3 $edges tokens
    for by in "" --by=1; do
        "$GPUHISTO" $ENGINE -q -t ';' -k 2 $by $edges --right -s -F json bytes.keys >bytes.json
        ENGINE= keep --merge bytes.json bytes.json
        [ -z "$by" ] || ENGINE= keep --merge --top=3 bytes.json
        ENGINE= keep --merge bytes.json
        [ -z "${edges##*bins*}" ] || {
            "$GPUHISTO" $ENGINE -q -t ';' -k 2 $by $edges -F prometheus bytes.keys >direct
            same "--merge $by $edges" direct "kept.$kept"
        }
    done
done
head -c 960 /dev/zero | tr '\0' '\101' >values
cat values values >more
for type in $(few 3 u8 u16 u24 u32 u64 i8 i16 i24 i32 i64 f32 f64 u32be f64be); do
    for edges in --edges=1,3,10 "--bins=3 --min=0 --max=10" "--log --min=1 --max=1000000000"; do
        case $type$edges in
        *8--log*) edges="--log --min=1 --max=100" ;;
        *16--log*) edges="--log --min=1 --max=1000" ;;
        esac
        keep --values=$type $edges values
        keep --values=$type --right $edges --each values empty
        keep --values=$type $edges --each=240 values
        keep --values=$type $edges --each=480 values more
    done
done
run -t ';' -k 2 --by=1 --edges=1,2 --right -s -F json empty
mv out none.json
ENGINE= keep --merge none.json
check "all combinations" [ "$kept" -gt 150 ]
if python3 -c 'import prometheus_client' 2>/dev/null; then
    python3 "$srcdir/tests/helpers/openmetrics.py" $(seq -f kept.%.0f $kept) 2>why || failed "prometheus_client: $(cat why)"
else
    skip_part "what prometheus_client reads: python3 does not have it"
fi

summary
