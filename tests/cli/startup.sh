#!/bin/sh
# SPDX-License-Identifier: MIT
# A short input makes no CUDA call: neither the driver's library nor its devices are opened.
. "${srcdir:-.}/tests/helpers/lib.sh"

ENGINE=--device=auto

# untouched_driver CASE LOG: nothing of CUDA in a log of what was opened. That the log is one shows
# in libc, which every program opens but with musl, or in its start.
untouched_driver()
{
    check "$1: there is a log" grep -qE 'libc\.so|execve\(' "$2"
    if grep -E 'libcuda|libnvidia|/dev/nvidia' "$2" >touched; then
        failed "$1: opened"
        sed -n '1,5p' touched
    else
        passed
    fi
}

# The log of one run, by the dynamic loader: LD_DEBUG_OUTPUT gets a suffix of its own.
printf x >in
file_log()
{
    rm -f log log.*
    run_as env LD_DEBUG=files LD_DEBUG_OUTPUT="$work/log" "$GPUHISTO" $ENGINE "$@"
    cat log.* >log 2>/dev/null
}
file_log --version
if grep -q 'libc\.so' log; then
    oracle letters 4 0 <in
    for options in "" "--timing" "--verbose" "--chunk-size=1" "--threads=1"; do
        file_log -l $options <in
        untouched_driver "loader, a byte $options" log
        case $options in
        --timing | --verbose) : >err ;;
        esac
        counts "loader, a byte $options" expected
    done
    printf x | file_log -l
    untouched_driver "loader, a byte in a pipe" log
    counts "loader, a byte in a pipe" expected
    data text 300000 >more
    file_log more
    untouched_driver "loader, 300 kB" log
    file_log -l missing
    untouched_driver "loader, a missing FILE" log
    file_log --kernel=help
    untouched_driver "loader, --kernel=help" log
    file_log -l --device=cpu in
    untouched_driver "loader, --device=cpu" log
    # loads CASE LIBRARIES ARGUMENT...: of the libraries that only some runs need, a run loads these.
    loads()
    {
        case_=$1
        printf '%s' "$2" >expected
        shift 2
        file_log "$@"
        grep 'calling init' log | grep -oE 'lib(zstd|isal|pcre2)' | sort -u | tr '\n' ' ' >libraries
        same "$case_: libraries" expected libraries
    }
    if [ -z "$(readelf -d "$GPUHISTO" 2>/dev/null | grep -E 'NEEDED.*lib(zstd|isal|pcre2)')" ]; then
        "$HELPERS/make_zstd" <in >in.zst
        cp expected one
        ENGINE=--device=cpu
        loads "a plain file" "" -l in
        loads "a plain file, --help" "" --help
        loads "zstd" "libzstd " -l in in.zst
        loads "a file that is not there" "" -l missing
        loads "lines with a string" "" -n --lines-with=x in
        ! "$GPUHISTO" --version | grep -q '^built with .*pcre2' ||
            loads "lines with an expression" "libpcre2 " -n --lines-with=/x/ in
        if can_interpose; then
            run_as env FAULT_SHORT=3 LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l in.zst
            counts "reads of a byte each" one
        fi
        loads "no decompression" "" -l --decompress=none in.zst
        if can_share; then
            run -l -F json -o table.json in
            ENGINE=
            loads "a table" "" --merge table.json
        fi
        ENGINE=--device=auto
    else
        skip_part "libraries that only some runs need: the program is linked with them"
    fi
else
    skip_part "what the dynamic loader loads: it has no LD_DEBUG, or the program is static"
fi

if can_strace; then
    traced()
    {
        run_as strace -f -o strace.out -e trace=execve,open,openat,connect,ioctl "$GPUHISTO" $ENGINE "$@"
    }
    printf x | traced -l
    oracle letters 4 0 <in
    counts "strace, a byte in a pipe" expected
    untouched_driver "strace, a byte in a pipe" strace.out
    traced -l in
    untouched_driver "strace, a FILE" strace.out
else
    skip_part "strace: $why_not"
fi

# A small stack is an error, not a crash; it may be raised up to the hard limit. Of 128 KiB the
# loader leaves enough on every machine: it takes 20 KiB, with wide registers to save 20 more, and
# what the environment has.
if [ "$SANITIZED" = yes ]; then
    skip_part "a small stack: a sanitizer needs more"
else
    (ulimit -s 128 && run -l in)
    refuses "a small stack" 1 \
        "the stack is limited to 128 KiB, and 320 KiB are needed; use 'ulimit -s 320'"
    (ulimit -S -s 128 && run -l in)
    oracle letters 4 0 <in
    counts "a small stack that may be larger" expected
fi

# The program must start where there is no driver at all.
if command -v readelf >/dev/null; then
    readelf -d "$GPUHISTO" >dynamic
    check "readelf: there are libraries" grep -q 'NEEDED.*libc\.so' dynamic
    refute "readelf: none of CUDA's" grep -iE 'NEEDED.*(cuda|nvidia|nvrtc|stdc\+\+)' dynamic
else
    skip_part "NEEDED: no readelf"
fi

summary
