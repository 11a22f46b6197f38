#!/bin/sh
# SPDX-License-Identifier: MIT
# Signals that end the program leave no file that was not there before, whichever thread takes them.
. "${srcdir:-.}/tests/helpers/lib.sh"

watch_over 300

default="$HELPERS/with_stdin default"
data text 5000 >in
oracle letters 4 0 <in
cp expected table
mkdir dir
echo old >old

# Nothing in dir but its old file `new`, as it was.
untouched()
{
    same "$1: the old file" old dir/new
    check "$1: no other file" [ "$(ls -A dir)" = new ]
}

# --- a file that becomes too large is an error like others ---

cp old dir/new
(ulimit -f 1 && run_as $default "$GPUHISTO" $ENGINE -b -F json -o dir/new in)
refuses "a limit on the size of files" 1 "dir/new: File too large"
untouched "a limit on the size of files"
(ulimit -f 1 && $default "$GPUHISTO" $ENGINE -b -F json in >cut 2>err)
echo $? >status
: >out
refuses "a limit on the size of files, standard output" 1 "standard output: File too large"

# --- every signal that ends a process, while the table is written ---

# written_when SIGNAL [FAULT=...]: the program is sent SIGNAL as it writes to dir/new.
written_when()
{
    number=$1
    shift
    cp old dir/new
    run_as $default env "$@" FAULT_CALL=write FAULT_AT=1 FAULT_SIGNAL=$number \
        LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l -o dir/new in 2>shell.err
}

# number_of NAME: not every shell tells it, and not every machine has a kill beside the shell's.
number_of()
{
    of=1
    while [ $of -lt 64 ] && [ "$(kill -l $of 2>/dev/null)" != "$1" ]; do
        of=$((of + 1))
    done
    echo $of
}

while_writing()
{
    for way in "" FAULT_NO_TMPFILE=1; do
        signal=0
        tried=0
        while [ $signal -lt 64 ]; do
            signal=$((signal + 1))
            # Those that do not end a process by default, SIGUSR1, which is answered, SIGXFSZ, which is
            # ignored, SIGKILL and those of the C library.
            case $(kill -l $signal 2>/dev/null) in
            CHLD | CONT | URG | WINCH | TSTP | TTIN | TTOU | STOP | USR1 | XFSZ | KILL) continue ;;
            esac
            case $signal in 32 | 33) continue ;; esac
            written_when $signal $way
            check "signal $signal, $way: status" [ "$(cat status)" -eq $((128 + signal)) ]
            refute "signal $signal, $way: no message" grep -q gpuhisto: err
            untouched "signal $signal, $way"
            tried=$((tried + 1))
        done
        check "signals tried" [ $tried -ge 50 ]
    done
    written_when 9
    check "SIGKILL: status" [ "$(cat status)" -eq 137 ]
    # Where the file system has files without a name, even that leaves nothing.
    case $(find dir -name '.gpuhisto-*') in
    "") untouched SIGKILL ;;
    *) skip_part "SIGKILL: this file system has no files without a name" ;;
    esac
    rm -f dir/.gpuhisto-*
    for signal_name in HUP INT TERM QUIT PIPE ALRM USR2 XCPU VTALRM; do
        number=$(number_of $signal_name)
        for way in "" FAULT_NO_TMPFILE=1; do
            cp old dir/new
            (
                trap '' $signal_name
                run_as env $way FAULT_CALL=write FAULT_AT=1 FAULT_SIGNAL=$number \
                    LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l -o dir/new in
            )
            cp dir/new out
            counts "SIG$signal_name is ignored, $way" table
        done
    done
}

# --- a signal between the creation of the file and what is known of it ---

# The program sleeps after the openat that creates the file, and has more threads than its own.
has_temporary()
{
    [ -n "$(find dir -name '.gpuhisto-*')" ]
}

after_creation()
{
    try=0
    while [ $try -lt 5 ]; do
        try=$((try + 1))
        cp old dir/new
        $default env FAULT_NO_TMPFILE=1 FAULT_CALL=openat FAULT_AT=1 FAULT_FOR_GOOD=1 FAULT_SLEEP=1500 \
            LD_PRELOAD="$HELPERS/interpose.so" "$@" -l -o dir/new in >out 2>err &
        pid=$!
        check "after creation: it comes" eventually has_temporary
        kill -TERM $pid 2>shell.err
        wait $pid 2>shell.err
        check "after creation, $1: status" [ $? -eq 143 ]
        untouched "after creation, $1"
    done
}

if can_interpose; then
    while_writing
    # The file that is to become the output exists from the beginning.
    cp old dir/new
    run_as env FAULT_NO_TMPFILE=1 LD_PRELOAD="$HELPERS/interpose.so" "$GPUHISTO" $ENGINE -l -o dir/new in missing
    refuses "a run that fails" 1 "missing: No such file or directory"
    untouched "a run that fails"
    after_creation "$GPUHISTO" $ENGINE
    if [ -x "$EMULATED" ]; then
        after_creation "$EMULATED" --device=gpu --kernel=vectorized --chunk-size=64K
    else
        skip_part "threads of a device: $EMULATED was not built"
    fi
else
    skip_part "signals while writing: $why_not"
fi

# --- at any moment ---

# A table of half a million rows: most signals come while it is written.
try=0
died=0
while [ $try -lt 20 ]; do
    try=$((try + 1))
    cp old dir/new
    $default "$GPUHISTO" $ENGINE -q --values=u32 --bins=500000 -o dir/new in >out 2>err &
    pid=$!
    sleep 0.$(printf %02d $((try * 3)))
    for signal_name in ALRM USR2 TERM; do
        kill -$signal_name $pid 2>shell.err
    done
    wait $pid 2>shell.err
    status=$?
    case $status in
    0) ;;
    142 | 140 | 143)
        died=$((died + 1))
        check "at any moment: whole or not at all" [ "$(wc -l <dir/new)" -ne 0 ]
        ;;
    *) failed "at any moment: status $status" ;;
    esac
    check "at any moment: no other file" [ "$(ls -A dir)" = new ]
    check "at any moment: silent" [ ! -s err ]
done
echo "signals.sh: $died of $try programs died by a signal"

summary
