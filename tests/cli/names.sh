#!/bin/sh
# SPDX-License-Identifier: MIT
# Names of keys, files and characters in tables: no two look alike, and escapes give their bytes back.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300
find_python || skip "python3 is not installed"
names="$srcdir/tests/helpers/names.py"

# tells CASE ARGUMENT...: `names.py ARGUMENT...` can tell the names apart that the last run printed.
tells()
{
    case_=$1
    shift
    read -r status <status
    check "$case_: status" [ "$status" -eq 0 ]
    if $python "$names" "$@" <out 2>why; then
        passed
    else
        failed "$case_: $(tail -n 1 why)"
    fi
}

# --- known names ---

# Characters that nobody sees, or that look like others. -c escapes the same ones.
python3 - >in <<'END'
import sys, unicodedata
hidden = [c for c in map(chr, range(0x80, 0x110000)) if unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp', 'Zs')]
sys.stdout.buffer.write('\n'.join(hidden + list('aé日😀\ue000\u0301\\"')).encode() + b'\n')
END
run -c in
sed -n '/^U+000A\|^invalid/d; s/.*\t//p' out | sort >expected
run -t ';' --by=1 in
cut -f 1 out | sort >found
same "characters as -c shows them" expected found
check "invisible ones" [ "$(grep -c '^\\xe2\\x80\\x8[cd]$\|^\\xd8\\x9c$\|^\\xef\\xbf\\xb9$\|^\\xf3\\xa0\\x81\\x81$' found)" -eq 5 ]

# --- drawn names ---

rounds=1
[ "$SCALE" = small ] || rounds=10
for seed in $(seq $rounds); do
    $python "$names" make "$seed" 200 keys
    for format in tsv csv json; do
        run -t '\x1f' --by=1 -F $format keys
        tells "$format, seed $seed" check $format keys
        mv out keys.$format
    done
    ENGINE='' run --merge keys.json
    same "merged, seed $seed" keys.tsv out
    for format in pgm prometheus; do
        run -t '\x1f' -k2 --by=1 -F $format $([ $format = pgm ] || echo --edges=1,9) keys
        tells "$format, seed $seed" check $format keys
    done
    for columns in 45 60 80 1000; do
        COLUMNS=$columns run -t '\x1f' --by=1 -p --all keys
        tells "plot of $columns columns, seed $seed" check plot keys
        COLUMNS=$columns run -t '\x1f' -k2 --by=1 -p --all --digits=3 keys
        tells "heat map of $columns columns, seed $seed" check heat keys
        COLUMNS=$columns run -t '\x1f' --by=1 -p --top=50 keys
        TOP=50 tells "plot of the first ones, $columns columns, seed $seed" check plot keys
    done
done

# --- files ---

mkdir files && cd files || exit 99
set --
for file in a 'a ' '(other)' '\xff' "$(printf '\377')" 'back\slash' "$(printf 'new\nline')" 'new\x0aline' "$(printf 'tab\t')" '"' \
    'a, offset 0' "$(printf 'x\342\200\215y')" xy; do
    printf 'abc' >"$file" && set -- "$@" "$file"
done
for format in tsv csv plot json; do
    run --each -l26 -F $format "$@"
    tells "files in $format" files $format "$@"
done
cp out ../files.json
cd .. || exit 99
ENGINE='' run --merge files.json
printf 'a-z\t39\n' >expected
counts "tables of files are added up" expected

summary
