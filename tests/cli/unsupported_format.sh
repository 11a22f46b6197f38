#!/bin/sh
# SPDX-License-Identifier: MIT
# Data of formats that are not decompressed here: counted as they are, and one warning says which
# program to pipe them through.
. "${srcdir:-.}/tests/helpers/lib.sh"

# warns CASE EXPECTED TEXT...: the last run printed the table in EXPECTED, and one line of warning
# with each TEXT in it.
warns()
{
    case_=$1
    check "$case_: status" [ "$(cat status)" -eq 0 ]
    same "$case_: table" "$2" out
    shift 2
    message "$case_" "warning: " "$@"
}

# foreign NAME MAGIC [COMMAND]: data that begin with MAGIC.
foreign()
{
    program=${3:-$1 -dc}
    what="looks like $1 data and was counted as it is; use '$program FILE | gpuhisto'"
    { printf "$2" && data text 100; } >"a.$1"
    oracle bytes <"a.$1"
    run "a.$1"
    warns "$1, FILE" expected "a.$1: $what"
    run <"a.$1"
    warns "$1, file" expected "standard input: $what"
    cat "a.$1" | run
    warns "$1, pipe" expected "standard input: $what"
    "$HELPERS/dribble" <"a.$1" | run --threads=3
    warns "$1, byte by byte" expected "standard input: $what"
    printf "$2" >short
    oracle bytes <short
    run short
    warns "$1, its magic alone" expected "short: $what"
    oracle bytes <"a.$1"
    run -q "a.$1"
    counts "$1, --quiet" expected
    run -d none "a.$1"
    counts "$1, -d none" expected
    cat "a.$1" | run -d none
    counts "$1, -d none, pipe" expected
    run -d zstd "a.$1"
    refuses "$1, -d zstd" 1 "a.$1: not zstd data"
    run -d "$1" "a.$1"
    refuses "-d $1" 2 "--decompress=$1: cannot be decompressed here; use '$program FILE | gpuhisto'"
    # All but the last byte, and with another last byte, it is something else.
    size=$(printf "$2" | wc -c)
    head -c $((size - 1)) "a.$1" >other
    oracle bytes <other
    run other
    counts "$1, cut" expected
    cat other | run
    counts "$1, cut, pipe" expected
    { head -c $((size - 1)) "a.$1" && echo x; } >other
    oracle bytes <other
    run other
    counts "$1, not quite" expected
    "$HELPERS/dribble" <other | run
    counts "$1, not quite, byte by byte" expected
}
foreign xz '\375\067\172\130\132\000'
foreign bzip2 'BZh9\061\101\131\046\123\131'
foreign bzip2 'BZh1\027\162\105\070\120\220'
foreign lz4 '\004\042\115\030'
foreign zip 'PK\003\004' 'unzip -p'
foreign 7z '7z\274\257\047\034' '7z e -so'
foreign .Z '\037\235\220' 'gzip -dc'
foreign lzma '\135\000\000\200\000\377\377\377\377\377\377\377\377\000' 'xz -dc'
for head in BZh0 BZh: BZi9; do
    printf "$head\\061\\101\\131\\046\\123\\131" >other
    oracle bytes <other
    run other
    counts "not bzip2: $head" expected
done

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    foreign gzip '\037\213\010'
else
    run -d gzip magic
    refuses "gzip is decompressed" 1 "magic: truncated gzip data, at byte 3"
fi

# What the programs themselves make.
data text 300 >in
for tool in xz bzip2 lz4 lzma zip; do
    if ! command -v $tool >/dev/null; then
        skip_part "what $tool makes: it is not installed"
        continue
    fi
    for file in in /dev/null; do
        [ "$tool$file" != zip/dev/null ] || continue # it makes no empty archive of that
        case $tool in
        zip) zip -q made.zip $file && mv made.zip made ;;
        *) $tool -c <$file >made ;;
        esac
        oracle bytes <made
        run made
        warns "$tool's own of $file" expected "made: looks like $tool data" "FILE | gpuhisto'"
    done
done

# Headers that are nearly those.
printf '\135\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >other # 93, 0, 0, 0 in 32 bits
oracle bytes <other
run other
counts "not .lzma: 32-bit numbers" expected
printf '\135\000\000\020\000\144\000\000\000\000\000\000\000\000\000\000' >other
oracle bytes <other
run other
warns ".lzma that states its size" expected "other: looks like lzma data"

# --- text that is not UTF-8 ---

# In -n and -c it matters; bytes are bytes.
for kind in 'UTF-16 \377\3761\0\n\0' 'UTF-16 \376\377\0001\000\n' 'UTF-16LE 1\0002\000\n\000' 'UTF-16BE \0001\0002\000\n'; do
    printf "${kind#* }" >wide
    for mode in -n -c; do
        run $mode -q wide
        mv out expected
        run $mode wide
        [ $mode = -c ] || sed -i '/is not a number/d' err
        warns "$kind, $mode" expected "wide: looks like UTF-16 text and was counted as it is; use 'iconv -f ${kind%% *} -t UTF-8 FILE | gpuhisto'"
    done
    oracle bytes <wide
    run wide
    counts "$kind, bytes" expected
    run --pairs wide
    check "$kind, pairs: no warning" [ ! -s err ]
done
run -n -d none wide
refute "-d none says nothing of UTF-16" grep -q UTF-16 err

# A byte order mark before a number is named, and its remedy works.
printf '\357\273\2771\n2\n' >marked
for options in '' '-k 1' '-t , -k 1'; do
    # shellcheck disable=SC2086 # words
    run -n $options --invalid=error marked
    refuses "a byte order mark, -n $options" 1 "marked: line 1: '\\xef\\xbb\\xbf1' is not a number; to skip the byte order mark of a file, use --skip=3"
done
run -n --skip=3 marked
check "--skip=3" [ "$(awk '{ print $1, $2 }' out | tr '\n' ' ')" = "1 1 2 1 invalid 0 " ]

# One warning names the first of many.
cat in a.xz in a.lz4 | oracle bytes
run in a.xz in a.lz4
warns "two" expected "a.xz: looks like xz data" "; 1 more file looks encoded, too"
cat a.lz4 a.xz in a.bzip2 | oracle bytes
cat a.bzip2 | run --threads=4 a.lz4 a.xz in -
warns "three" expected "a.lz4: looks like lz4 data" "; 2 more files look encoded, too"
run -q a.lz4 a.xz
check "two, --quiet" [ ! -s err ]
run a.xz missing
refuses "one, and a failure" 1 "missing: No such file or directory"

# The name is shown on one line, and shortened.
odd=$(printf 'a\nb\033[31m')
cp a.xz "$odd"
oracle bytes <a.xz
run "$odd"
warns "an odd name" expected 'a\x0ab\x1b[31m: looks like xz data'
long=$(printf '%0200d/' 1 2)$(printf '%0200d' 3)
mkdir -p "${long%/*}" && cp a.xz "$long"
run "$long"
warns "a long name" expected "looks like xz data" "'xz -dc FILE | gpuhisto'"

summary
