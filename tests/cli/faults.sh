#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes wrong outside of the program ends in a message and exit status 1, never in a wrong table
# or half a one.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

data text 5000 >in
oracle letters 4 0 <in
cp expected table
"$HELPERS/make_zstd" -c <in >in.zst
mkfifo fifo
mkdir dir
echo old >old

# Nothing in dir but its old file `new`, as it was.
untouched()
{
    same "$1: the old file" old dir/new
    check "$1: no other file" [ "$(ls -A dir)" = new ]
}

# --- descriptors that are not what they should be ---

run -l <.
refuses "standard input is a directory" 1 "standard input: Is a directory"
run -l -d none <.
refuses "standard input is a directory, none" 1 "standard input: Is a directory"
run -l .
refuses "a FILE is a directory" 1 ".: Is a directory"
run -l <&-
refuses "closed standard input" 1 "standard input: Bad file descriptor"
run -l in - <&-
refuses "closed standard input, named" 1 "standard input: Bad file descriptor"
run -l in <&-
counts "closed standard input, not needed" table
run -l 3>write-only <&3 in
counts "unreadable standard input, not needed" table
"$GPUHISTO" $ENGINE -l >out 2>err 0>write-only
echo $? >status
refuses "standard input for writing only" 1 "standard input: Bad file descriptor"

# nowhere CASE: the last run had no standard output.
nowhere()
{
    : >out
    refuses "$1" 1 "standard output: $2"
}
cp in copy
"$GPUHISTO" $ENGINE -l in >&- 2>err
echo $? >status
nowhere "closed standard output" "Bad file descriptor"
same "closed standard output: the FILE" copy in
"$GPUHISTO" $ENGINE -l - <in >&- 2>err
echo $? >status
nowhere "closed standard output, file on standard input" "Bad file descriptor"
"$GPUHISTO" $ENGINE -l <in 1<in 2>err
echo $? >status
nowhere "standard output for reading only" "Bad file descriptor"
"$GPUHISTO" $ENGINE -l -o dir/new in >&- 2>err
echo $? >status
cp dir/new out
counts "closed standard output, not needed" table
"$GPUHISTO" $ENGINE -l in >out 2>&-
echo $? >status
: >err
counts "closed standard error" table
"$GPUHISTO" $ENGINE -l missing >out 2>&-
check "closed standard error and a failure: status" [ $? -eq 1 ]
"$GPUHISTO" $ENGINE -l <&- >&- 2>&-
check "nothing open" [ $? -eq 1 ]
"$GPUHISTO" $ENGINE -l in <&- >out 2>&-
echo $? >status
: >err
counts "nothing open but standard output" table
same "nothing was written into the FILE" copy in

if [ -c /dev/full ]; then
    for options in -l "-l1 -f" -b "-b -F json" "-b --header -F csv"; do
        "$GPUHISTO" $ENGINE $options <in >/dev/full 2>err
        echo $? >status
        nowhere "/dev/full, $options" "No space left on device"
    done
else
    skip_part "a full disk: no /dev/full"
fi

# --- signals ---

default="$HELPERS/with_stdin default"

# A program that waits in the midst of its input, in pid.
start_waiting()
{
    "$@" "$GPUHISTO" $ENGINE -l -o dir/new fifo >out 2>err &
    pid=$!
    exec 3>fifo # it has opened it, too
    cat in >&3
}
for signal in HUP:129 INT:130 TERM:143 KILL:137; do
    cp old dir/new
    start_waiting $default
    kill -${signal%:*} $pid
    wait $pid 2>wait.err
    check "SIG${signal%:*} while reading: status" [ $? -eq ${signal#*:} ]
    exec 3>&-
    check "SIG${signal%:*} while reading: no table" [ ! -s out ]
    check "SIG${signal%:*} while reading: no message" [ ! -s err ]
    untouched "SIG${signal%:*} while reading"
done
for signal in HUP INT TERM; do
    cp old dir/new
    trap '' $signal
    start_waiting env
    trap - $signal
    kill -$signal $pid
    exec 3>&-
    wait $pid
    echo $? >status
    cp dir/new out
    counts "SIG$signal is ignored" table
done
trap 'exit 1' HUP INT TERM

# The reader is gone before the table is written.
rm -f gone
{ eventually [ -e gone ] && cat in; } | {
    $default "$GPUHISTO" $ENGINE -l 2>err
    echo $? >status
} | {
    exec </dev/null
    : >gone
}
check "SIGPIPE: status" [ "$(cat status)" -eq 141 ]
check "SIGPIPE: silent" [ ! -s err ]
rm -f gone
trap '' PIPE
{ eventually [ -e gone ] && cat in; } | {
    "$GPUHISTO" $ENGINE -l 2>err
    echo $? >status
} | {
    exec </dev/null
    : >gone
}
trap - PIPE
nowhere "SIGPIPE is ignored" "Broken pipe"

# --- calls that fail ---

# with FAULT=... -- ARGUMENT...: runs the program after the library that fails as told.
with()
{
    faults=
    while [ "$1" != -- ]; do
        faults="$faults $1"
        shift
    done
    shift
    rm -f mark
    run_as env $faults FAULT_MARK="$work/mark" LD_PRELOAD="$HELPERS/interpose.so" \
        "$GPUHISTO" $ENGINE "$@"
}

# refuses_after_output CASE TEXT: the table had been printed when something failed.
refuses_after_output()
{
    same "$1: table" table out
    : >out
    refuses "$1" 1 "$2"
}

# Signals that come at $call, in the $way to make a file that is given.
failing_by_signal()
{
    for signal in 1:129 2:130 15:143; do
        cp old dir/new
        run_as $default env $way FAULT_CALL=$call FAULT_AT=1 FAULT_SIGNAL=${signal%:*} \
            LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l -o dir/new in
        check "signal ${signal%:*} at $call, $way: status" [ "$(cat status)" -eq ${signal#*:} ]
        refute "signal ${signal%:*} at $call, $way: no message" grep -q gpuhisto: err
        check "signal ${signal%:*} at $call, $way: no other file" [ "$(ls -A dir)" = new ]
        # One that comes in the middle of renaming waits until that is done.
        [ $call = renameat ] || same "signal ${signal%:*} at $call, $way: old file" old dir/new
    done
    # Nothing can be removed then, but FILE is what it was.
    cp old dir/new
    run_as env $way FAULT_CALL=$call FAULT_AT=1 FAULT_SIGNAL=9 \
        LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l -o dir/new in 2>/dev/null
    check "SIGKILL at $call, $way: status" [ "$(cat status)" -eq 137 ]
    same "SIGKILL at $call, $way: the old file" old dir/new
    rm -f dir/.gpuhisto-*
    trap '' INT TERM HUP
    for signal in 1 2 15; do
        cp old dir/new
        with $way FAULT_CALL=$call FAULT_AT=1 FAULT_SIGNAL=$signal -- -l -o dir/new in
        cp dir/new out
        counts "signal $signal at $call, $way, ignored" table
    done
    trap 'exit 1' HUP INT TERM
}

failing_calls()
{
    small="--chunk-size=1000 --threads=1"

    # A read that fails: the name, and the byte's offset.
    for n in 1 2 5; do
        with FAULT_CALL=pread FAULT_AT=$n -- -l -d none $small in
        refuses "pread $n of a FILE" 1 "in: Input/output error, at byte $((1000 * n - 1000))"
        with FAULT_CALL=pread FAULT_AT=$n FAULT_ERRNO=116 -- -l -d none $small <in
        refuses "pread $n of standard input" 1 "standard input: Stale file handle, at byte"
        head -c 4000 in | with FAULT_CALL=read FAULT_AT=$n -- -l -d none $small
        case $n in
        5) at=4000 ;; # the end
        *) at=$((1000 * n - 1000)) ;;
        esac
        refuses "read $n of a pipe" 1 "standard input: Input/output error, at byte $at"
    done
    with FAULT_CALL=pread FAULT_AT=1 -- -l $small in
    refuses "looking for magic" 1 "in: Input/output error, at byte 0"
    cat in | with FAULT_CALL=read FAULT_AT=1 -- -l $small
    refuses "looking for magic in a pipe" 1 "standard input: Input/output error, at byte 0"
    with FAULT_CALL=pread FAULT_AT=2 -- -l $small in.zst
    refuses "zstd data" 1 "in.zst: Input/output error, at byte 0"
    with FAULT_CALL=pread FAULT_AT=3 -- -l $small in.zst
    refuses "zstd data, at its end" 1 "in.zst: Input/output error, at byte $(wc -c <in.zst)"
    # Of `in`: five whole chunks, and the look past its end. A device among the FILEs has them read
    # in this order.
    with FAULT_CALL=pread FAULT_AT=9 -- -l -d none $small in old in /dev/null
    refuses "the third FILE" 1 "in: Input/output error, at byte 0"
    with FAULT_CALL=pread FAULT_AT=7 -- -l -d none $small in old in /dev/null
    refuses "the second FILE" 1 "old: Input/output error, at byte 0"
    with FAULT_CALL=pread FAULT_AT=100 -- -l $small in
    counts "a fault that does not come" table

    # Every read that there is, several readers.
    n=1
    while [ $n -lt 60 ]; do
        with FAULT_CALL=pread FAULT_AT=$n -- -l --chunk-size=700 --threads=3 in
        [ -s mark ] || break
        refuses "pread $n, 3 threads" 1 "in: Input/output error, at byte "
        n=$((n + 1))
    done
    counts "no pread left to fail" table
    check "some preads failed" [ $n -gt 5 ]

    # Those that only look like failures.
    for most in 1 2 3 1000; do
        with FAULT_SHORT=$most FAULT_EINTR=1 -- -l in
        counts "short reads of 1 to $most, interrupted, FILE" table
        cat in | with FAULT_SHORT=$most FAULT_EINTR=1 -- -l
        counts "short reads of 1 to $most, interrupted, pipe" table
        with FAULT_SHORT=$most FAULT_EINTR=1 -- -l --threads=3 --chunk-size=600 <in.zst
        counts "short reads of 1 to $most, interrupted, zstd" table
        cat in.zst | with FAULT_SHORT=$most FAULT_EINTR=1 -- -l
        counts "short reads of 1 to $most, interrupted, zstd, pipe" table
    done

    with FAULT_CALL=open FAULT_AT=1 FAULT_FOR_GOOD=1 FAULT_ERRNO=13 -- -l in
    refuses "open" 1 "in: Permission denied"
    with FAULT_CALL=open FAULT_AT=2 FAULT_FOR_GOOD=1 FAULT_ERRNO=24 -- -l in old
    refuses "open the second" 1 "old: Too many open files"
    # FILEs are opened before their turn, and once more in their turn if that failed.
    with FAULT_CALL=open FAULT_AT=1 FAULT_ERRNO=24 -- -l in
    counts "open before its turn" table
    with FAULT_CALL=close FAULT_AT=1 -- -l in
    counts "closing what was only read" table

    # Writing: what fails late.
    with FAULT_CALL=close FAULT_AT=1 FAULT_FD=1 -- -l in
    check "a failed close: struck" [ -s mark ]
    refuses_after_output "a failed close" "standard output: Input/output error"
    for way in "" FAULT_NO_TMPFILE=1; do
        for call in write fsync renameat; do
            cp old dir/new
            with $way FAULT_CALL=$call FAULT_AT=1 FAULT_ERRNO=122 -- -l -o dir/new in
            check "$call of --output: struck" [ -s mark ]
            refuses "$call of --output" 1 "dir/new: Disk quota exceeded"
            untouched "$call of --output"
        done
        for call in write fsync fchmod renameat; do
            failing_by_signal
        done
        # No matter which file is closed: the table is there, or the old file.
        n=1
        struck=0
        while [ $n -lt 50 ]; do
            cp old dir/new
            with $way FAULT_CALL=close FAULT_AT=$n -- -l -o dir/new in
            [ -s mark ] || break
            if [ "$(cat status)" -eq 0 ]; then
                same "close $n, $way" table dir/new
            else
                refuses "close $n, $way" 1 "dir/new: Input/output error"
                untouched "close $n, $way"
                struck=$((struck + 1))
            fi
            n=$((n + 1))
        done
        # A file that had no name was already on disk when it got one.
        wanted=0
        [ -z "$way" ] || wanted=1
        check "close of --output, $way: fails $wanted times" [ $struck -eq $wanted ]
        check "close of --output, $way: all tried" [ $n -lt 50 ]
        # What cannot be done on an odd file system is not an error.
        for errno in 22 95; do
            cp old dir/new
            with $way FAULT_CALL=fsync FAULT_AT=1 FAULT_FOR_GOOD=1 FAULT_ERRNO=$errno -- -l -o dir/new in
            cp dir/new out
            counts "fsync fails by errno $errno, $way" table
        done
        # Nor is the table lost if its mode cannot be kept, or the directory not be put on disk.
        cp old dir/new
        with $way FAULT_CALL=fchmod FAULT_AT=1 FAULT_ERRNO=1 -- -l -o dir/new in
        chmod 644 dir/new
        check "fchmod, $way: struck" [ -s mark ]
        check "fchmod, $way: status" [ "$(cat status)" -eq 0 ]
        same "fchmod, $way: table" table dir/new
        message "fchmod, $way" "warning: dir/new: cannot keep its mode: Operation not permitted"
        cp old dir/new
        with $way FAULT_CALL=fsync FAULT_AT=2 -- -l -o dir/new in
        check "fsync of the directory, $way: status" [ "$(cat status)" -eq 0 ]
        same "fsync of the directory, $way: table" table dir/new
        message "fsync of the directory, $way" "warning: dir/new: was written, but"
    done

    # Threads that cannot be had.
    cat in | with FAULT_CALL=pthread_create FAULT_AT=1 FAULT_ERRNO=11 -- -l
    check "no thread for a pipe: struck" [ -s mark ]
    refuses "no thread for a pipe" 1 thread
    data text 6000000 >large
    oracle letters 4 0 <large
    with FAULT_CALL=pthread_create FAULT_AT=1 FAULT_FOR_GOOD=1 FAULT_ERRNO=11 -- -l large
    check "no thread for a file: struck" [ -s mark ]
    counts "no thread for a file" expected
    with FAULT_CALL=pthread_create FAULT_AT=2 FAULT_ERRNO=11 -- -l --threads=3 large
    check "no second thread: struck" [ -s mark ]
    counts "no second thread" expected
    rm -f mark
    with FAULT_CALL=pthread_create FAULT_AT=2 FAULT_FOR_GOOD=1 FAULT_ERRNO=11 -- \
        -l --threads=3 --chunk-size=10K large
    counts "never a second thread" expected
    check "never a second thread: tried once" [ "$(wc -c <mark)" -eq 1 ]

    # Memory that cannot be had, whoever asks for it: never a crash, nor a wrong table.
    cp expected large.table
    no_memory "a FILE" table -l --threads=2 in
    cat in in >twice
    oracle letters 4 0 <twice
    cp expected twice.table
    no_memory "two FILEs, one zstd" twice.table -l --chunk-size=1K in in.zst
    no_memory "a pipe" table -l -
    no_memory "zstd in a pipe" table -l -d zstd
    no_memory "several workers" large.table -l --threads=3 large
    cp old dir/new
    n=1
    while [ $n -lt 300 ]; do
        with FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 -- -l -o dir/new in
        [ -s mark ] || break
        if [ "$(cat status)" -eq 0 ]; then
            same "no memory at $n, --output" table dir/new
            cp old dir/new
        else
            refuses "no memory at $n, --output" 1
            untouched "no memory at $n, --output"
        fi
        n=$((n + 1))
    done
    check "no memory, --output: some tried" [ $n -gt 3 ]
    check "no memory, --output: all tried" [ $n -lt 300 ]
}

# no_memory CASE TABLE ARGUMENT...: with every allocation failing in turn.
no_memory()
{
    what=$1
    table=$2
    shift 2
    n=1
    while [ $n -lt 300 ]; do
        case $what in
        "a pipe") cat in ;;
        "zstd in a pipe") cat in.zst ;;
        esac | with FAULT_CALL=malloc FAULT_AT=$n FAULT_ERRNO=12 -- "$@"
        [ -s mark ] || break
        if [ "$(cat status)" -eq 0 ]; then
            counts "no memory at $n, $what" $table
        else
            refuses "no memory at $n, $what" 1
            check "no memory at $n, $what: it says so" grep -qE 'memory|thread' err
        fi
        n=$((n + 1))
    done
    counts "no memory, $what: none left to fail" $table
    check "no memory, $what: some tried" [ $n -gt 3 ]
    check "no memory, $what: all tried" [ $n -lt 300 ]
}

if can_interpose; then
    failing_calls
else
    skip_part "calls that fail: $why_not"
fi

# --- the same from the outside: the kernel says so ---

# traced INJECTION ARGUMENT...
traced()
{
    injection=$1
    shift
    run_as strace -f -o strace.out -e trace="${injection%%:*}" -e inject="$injection" \
        "$GPUHISTO" $ENGINE "$@"
}
if can_strace && traced pread64:error=EIO:when=999 --version && [ ! -s err ]; then
    traced pread64:error=EIO:when=3 -l -d none --chunk-size=1000 --threads=1 in
    # At which is not said: the dynamic loader may pread, too.
    refuses "strace: pread" 1 "in: $(error_text EIO), at byte "
    traced write:error=ENOSPC:when=1 -l in
    nowhere "strace: write" "No space left on device"
    cp old dir/new
    traced write:error=EDQUOT:when=1 -l -o dir/new in
    refuses "strace: write of --output" 1 "dir/new: $(error_text EDQUOT)"
    untouched "strace: write of --output"
    cp old dir/new
    traced renameat:error=EPERM -l -o dir/new in
    refuses "strace: renameat of --output" 1 "dir/new: Operation not permitted"
    untouched "strace: renameat of --output"
else
    skip_part "strace: ${why_not-it cannot inject}"
fi

summary
