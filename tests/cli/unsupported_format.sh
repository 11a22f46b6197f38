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

printf '\037\213\010' >magic
if "$GPUHISTO" --device=cpu magic >/dev/null 2>&1; then
    oracle bytes <magic
    run magic
    warns "gzip" expected "magic: looks like gzip data and was counted as it is; use 'gzip -dc FILE | gpuhisto'"
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

summary
