# SPDX-License-Identifier: MIT
# What the tests share. A script begins with
#     . "${srcdir:-.}/tests/helpers/lib.sh"
# and ends with `summary`. It runs in an empty directory of its own, and has
#     srcdir, GPUHISTO, HELPERS, EMULATED   absolute
#     ENGINE                      options before all others; --device=cpu by default
#     ANY_MODE                    ENGINE without --kernel
#     THREADS                     workers, where a test does not set them; the program's default otherwise
#     script                      the script itself, absolute
#     SCALE                       full, or small: fewer cases, but every boundary
#     GPU_EVERY                   of so many runs by `run` one has ENGINE, and the others --device=cpu
#     ASKED                       on the emulated GPU, where SCALE is small: what the caller asked for
# and the functions below.

set -u
LC_ALL=C
export LC_ALL
unset POSIXLY_CORRECT

absolute()
{
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s/%s\n' "$PWD" "$1" ;;
    esac
}

srcdir=$(absolute "${srcdir:-.}")
GPUHISTO=$(absolute "${GPUHISTO:-./gpuhisto}")
script=$(absolute "$0")
HELPERS=$(absolute "${HELPERS:-./tests/helpers}")
EMULATED=$(absolute "${EMULATED:-./tests/device/gpuhisto-emulated}")
ENGINE="${ENGINE---device=cpu}${THREADS:+ --threads=$THREADS}"
# The same with the kernel left to the program: the one that is named need not count every mode.
ANY_MODE=$(printf '%s\n' "$ENGINE" | sed 's/ *--kernel=[a-z]*//')
SANITIZED=${SANITIZED:-no}
SCALE=${SCALE:-full}

# Otherwise ThreadSanitizer sleeps for a second before it exits whenever other threads still run.
TSAN_OPTIONS=atexit_sleep_ms=0${TSAN_OPTIONS:+:$TSAN_OPTIONS}
export TSAN_OPTIONS

name=${transcript:-${0##*/}}
cases=0
failures=0
tab=$(printf '\t')

work=$(mktemp -d "${TMPDIR:-/tmp}/gpuhisto-test-XXXXXX") || exit 99
watchdog=
end()
{
    [ -z "$watchdog" ] || kill "$watchdog" 2>/dev/null
    cd / && chmod -R u+rwx "$work" && rm -rf "$work"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
cd "$work" || exit 99

# The rest of the script cannot be run here.
skip()
{
    echo "$name: skipped: $*"
    exit 77
}

# A part of the script cannot be run here.
skip_part()
{
    echo "$name: left out: $*"
}

# A failure of the test itself.
broken()
{
    echo "$name: broken test: $*"
    exit 99
}

for program_ in "$GPUHISTO" "$HELPERS/oracle" "$HELPERS/make_data" "$HELPERS/make_zstd"; do
    [ -x "$program_" ] || broken "there is no $program_"
done
case $ENGINE in
*--device=gpu*)
    # A run that needs nothing but a device, to see whether there is one.
    "$GPUHISTO" $ENGINE --chunk-size=4K </dev/null >/dev/null 2>no-gpu ||
        skip "$(cat no-gpu)"
    ;;
esac

# few N WORD...: prints the words; where few cases are asked for, every Nth of them, from the first on.
few()
{
    nth_=$1
    shift
    [ "${ASKED:-$SCALE}" = small ] || nth_=1
    at_=0
    for word_; do
        [ $((at_ % nth_)) -ne 0 ] || printf '%s ' "$word_"
        at_=$((at_ + 1))
    done
}

passed()
{
    cases=$((cases + 1))
}

failed()
{
    cases=$((cases + 1))
    failures=$((failures + 1))
    echo "FAILED: $*"
    # More failures most likely have the same reason.
    [ "$failures" -lt 30 ] || summary
}

# check CASE COMMAND...: the command succeeds.
check()
{
    case_=$1
    shift
    if "$@"; then
        passed
    else
        failed "$case_: $*"
    fi
}

# refute CASE COMMAND...: it fails.
refute()
{
    case_=$1
    shift
    if "$@"; then
        failed "$case_: succeeded: $*"
    else
        passed
    fi
}

# same CASE EXPECTED ACTUAL: two files are the same.
same()
{
    if cmp -s "$2" "$3"; then
        passed
    else
        failed "$1: expected (-), actual (+)"
        diff -u "$2" "$3" | sed -n '1,20p'
    fi
}

# next_engine: sets engine_ to the options of the next run.
next_engine()
{
    engine_=$ENGINE
    if [ "${GPU_EVERY:-1}" -gt 1 ] && [ -n "$ENGINE" ]; then # which takes a third of a second to start
        echo >>gpu.runs
        [ $(($(wc -l <gpu.runs) % GPU_EVERY)) -eq 0 ] || engine_=--device=cpu
    fi
}

# run ARGUMENT...: runs the program; leaves the files out, err and status, and no variables, so that it
# may be the end of a pipeline, which is a subshell.
run()
{
    next_engine
    run_as "$GPUHISTO" $engine_ "$@"
}

# run_as COMMAND...: the same by a whole command, as with `env` or `strace` before the program.
run_as()
{
    "$@" >out 2>err
    echo $? >status
    # AddressSanitizer warns so of the emulated GPU, although that announces each switch of stacks.
    if [ "$SANITIZED" = yes ] && [ -s err ] && grep -q 'ASan doesn.t fully support makecontext' err; then
        sed -i '/ASan doesn.t fully support makecontext/d' err
    fi
}

# counts CASE EXPECTED: the last run printed the table in the file EXPECTED, and nothing else.
counts()
{
    read -r status <status
    if [ "$status" -eq 0 ] && [ ! -s err ] && cmp -s "$2" out; then
        passed
        return
    fi
    failed "$1: status $status, expected 0; table expected (-), actual (+)"
    diff -u "$2" out | sed -n '1,12p'
    sed 's/^/  standard error: /' err
}

# refuses CASE STATUS [TEXT]...: the last run ended with STATUS, no table, and one line of message
# that has each TEXT in it.
refuses()
{
    case_=$1
    read -r status <status
    if [ "$status" -ne "$2" ]; then
        failed "$case_: status $status, expected $2"
    elif [ -s out ]; then
        failed "$case_: printed a table"
    else
        shift 2
        message "$case_" "$@"
        return
    fi
    sed -n '1,5s/^/  standard output: /p' out
    sed 's/^/  standard error: /' err
}

# message CASE [TEXT]...: standard error of the last run is one line with each TEXT in it. By the
# shell alone, as some scripts do this a thousand times.
message()
{
    case_=$1
    shift
    if ! one_line; then
        failed "$case_: expected one line of message"
        sed 's/^/  standard error: /' err
        return
    fi
    for text_ in "$@"; do
        case $line_ in
        *"$text_"*) ;;
        *)
            failed "$case_: expected '$text_' in the message"
            sed 's/^/  standard error: /' err
            return
            ;;
        esac
    done
    passed
}

# Whether err is one whole line of ours; leaves it in line_.
one_line()
{
    {
        IFS= read -r line_ || return 1
        if IFS= read -r more_ || [ -n "$more_" ]; then
            return 1
        fi
    } <err
    case $line_ in
    "gpuhisto: "?*) return 0 ;;
    esac
    return 1
}

# kernels_here: prints the names of the CPU's kernels that run here, as the program lists them when it
# is given another.
kernels_here()
{
    GPUHISTO_CPU=/// "$GPUHISTO" </dev/null 2>&1 | sed -n 's/,//g; s/^gpuhisto: GPUHISTO_CPU=.* one of //p'
}

# error_text NAME: what the program's C library calls this error, as in `error_text EIO`.
error_text()
{
    "$HELPERS/error_text" "$1" || broken "no text of $1"
}

# oracle ARGUMENT...: writes the table that is expected of standard input to the file expected.
oracle()
{
    "$HELPERS/oracle" "$@" >expected
}

data()
{
    "$HELPERS/make_data" "$@"
}

# Whether interpose.so may be preloaded: a sanitizer's own library would have to come first, and other
# programs than the tested one must be of the same machine and C library.
can_interpose()
{
    if [ "$SANITIZED" = yes ]; then
        why_not="LD_PRELOAD does not go with sanitizers and emulators"
        return 1
    fi
    if [ ! -r "$HELPERS/interpose.so" ]; then
        why_not="interpose.so was not built"
        return 1
    fi
    if LD_PRELOAD="$HELPERS/interpose.so" env true 2>&1 | grep -q .; then
        why_not="interpose.so is for another C library than this system's programs have"
        return 1
    fi
}

# Whether there is a Python; leaves in `python` the interpreter itself without its site, whose hooks and wrappers take
# longer than most oracles. For scripts that start it often and import nothing but its own library.
find_python()
{
    python=$(python3 -S -c 'import sys; print(sys.executable, "-S")' 2>/dev/null)
}

# Whether there is a Python with numpy; leaves its name in python. The system's own may have numpy where the first one in
# PATH has not.
find_numpy()
{
    for python in python3 /usr/bin/python3; do
        if "$python" -c 'import numpy' 2>/dev/null; then
            return
        fi
    done
    why_not="no python3 with numpy"
    return 1
}

# Whether this build has --part and --merge, which need libraries.
can_share()
{
    printf x >probe
    if "$GPUHISTO" $ENGINE --part=1/1 -F json -o probe.json probe 2>probe.err &&
        "$GPUHISTO" --merge probe.json >/dev/null 2>probe.err; then
        return
    fi
    why_not=$(sed -n 1p probe.err)
    return 1
}

can_strace()
{
    if [ "$SANITIZED" = yes ]; then
        why_not="strace does not go with sanitizers and emulators"
        return 1
    fi
    if ! strace -f -o strace.out true 2>/dev/null; then
        why_not="no strace, or it may not trace"
        return 1
    fi
}

# eventually COMMAND...: it succeeds within some 20 seconds.
eventually()
{
    tries_=0
    until "$@" 2>/dev/null; do
        tries_=$((tries_ + 1))
        [ "$tries_" -lt 1000 ] || return 1
        sleep 0.02
    done
}

# watch_over SECONDS: ends the script if it takes longer, as it would after opening a fifo whose reader
# has died; with a sanitizer, three times as long. The watchdog is a background process: wait for a
# process by its id, not for all.
watch_over()
{
    limit_=$1
    [ "$SANITIZED" = no ] || limit_=$((3 * limit_))
    (
        trap 'kill $!; exit' TERM
        trap - EXIT
        sleep "$limit_" &
        wait $!
        echo "$name: too slow: more than $limit_ s"
        kill -TERM $$
        # The shell takes that only when what it waits for has ended.
        sleep 10 &
        wait $!
        kill -KILL $$
    ) &
    watchdog=$!
}

summary()
{
    echo "$name: $cases cases, $failures failed"
    [ "$cases" -gt 0 ] || exit 99
    [ "$failures" -eq 0 ] || exit 1
    exit 0
}
