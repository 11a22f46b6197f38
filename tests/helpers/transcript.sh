# SPDX-License-Identifier: MIT
# For the shell of transcript.c, which runs the commands of a .test file: what they have besides lib.sh.
transcript=${1##*/} # for messages
. "${srcdir:-.}/tests/helpers/lib.sh"
PATH=$HELPERS:$PATH

# gpuhisto ARGUMENT...: the program with ENGINE, unless tables are read or another engine is asked for, and with what
# @each adds. What needs the GPU has it each time, whatever GPU_EVERY is.
gpuhisto()
{
    case " $* " in
    *" --merge "* | *" --diff "* | *" --device="* | *" --kernel="* | *" --version "*) engine_= ;;
    *)
        next_engine
        [ -z "$needs_gpu" ] || engine_=$ENGINE
        ;;
    esac
    "$GPUHISTO" $engine_ $added "$@" 6>&-
    status_=$?
    # One that is ended by what reads its output has not failed.
    [ $status_ -eq 0 ] || [ $status_ -eq 141 ] || echo $status_ >&6
    return $status_
}

# variants WORDS: prints a line for each of the variants between bars. CPU is one for each kernel of the CPU's.
variants()
{
    printf '%s\n' "$1" | tr '|' '\n' | while read -r variant_; do
        case $variant_ in
        CPU) kernels_here | tr ' ' '\n' | sed '/./s/^/GPUHISTO_CPU=/' ;;
        *) printf '%s \n' "$variant_" ;;
        esac
    done
}

# variant WORDS: gpuhisto has these options from now on, and these variables.
variant()
{
    added=
    for word_ in $variables; do
        unset "$word_"
    done
    variables=
    for word_ in $1; do
        case $word_ in
        *[A-Z]=*)
            export "${word_?}"
            variables="$variables ${word_%%=*}"
            ;;
        *) added="$added $word_" ;;
        esac
    done
}
added=
variables=
needs_gpu=

# needs WORD...: all of these are here. Fails with 2 if they are another engine's.
needs()
{
    needs_gpu=
    for word_; do
        case $word_ in
        nothing) ;;
        cpu) case $ENGINE in *gpu*) return 2 ;; esac ;; # what the GPU does not count
        gpu) case $ENGINE in *gpu*) needs_gpu=yes ;; *) return 2 ;; esac ;;
        gzip) printf '\037\213\010' | "$GPUHISTO" --device=cpu 2>&1 | grep -q truncated || return 1 ;;
        pcre2) "$GPUHISTO" --version | grep -q '^built with .*pcre2' || return 1 ;;
        share) can_share || return 1 ;;
        utf8) [ "$(LC_ALL=C.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ] || return 1 ;;
        *) broken "nothing is called $word_" ;;
        esac
    done
}
