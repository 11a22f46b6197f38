#!/bin/sh
# SPDX-License-Identifier: MIT
# What bash, zsh and fish offer on the command line: all options, and the choices that the program's own
# messages name. A shell that is not installed is left out.
build=$(cd "${builddir:-.}" && pwd)
. "${srcdir:-.}/tests/helpers/lib.sh"

[ -e "$build/completions/gpuhisto.bash" ] || skip "there are no completions in the build directory"
cp "$build"/completions/* . || exit 99
watch_over 120
HOME=$work
export HOME

# Every option as help has it.
run --help </dev/null
sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/--\2/p' out | sort >options
sed -n 's/^  \(-.\), --.*/\1/p' out | sort >letters
check "options of help" [ "$(wc -l <options)" -ge 50 ]

# choices OPTION: those that the program names when it is given another.
choices()
{
    run "--$1=///" </dev/null
    sed 's/.*must be \(one of \)\?//; s/; .*//; s/ or / /; s/, such.*//; s/,//g' err | tr ' ' '\n' |
        grep -E '^[a-z0-9]+$' | grep -vx -e or -e numbers -e of | sort
}
for option in format invalid decompress progress device; do
    choices $option >choices.$option
    check "$option has choices" [ "$(wc -l <choices.$option)" -ge 3 ]
done
choices values >types
sed '/8$/d; s/$/be/' types | cat - types | sort >choices.values
run --kernel=help
(echo help && cut -d ' ' -f 1 out) | sort >choices.kernel

# offers CASE SHELL OPTION: what is offered for it, in `offered`, is what the program takes.
offers()
{
    # A build without ISA-L does not name gzip.
    if [ "$3" = decompress ] && ! grep -qx gzip choices.decompress; then
        sed -i '/^gzip$/d' offered
    fi
    same "$2: --$3" choices.$3 offered
}

# --- bash: as readline calls it, with the words that it has made ---

if bash -c 'mapfile -t a <<<x' 2>/dev/null; then
    cat >ask.bash <<'END'
. ./gpuhisto.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_gpuhisto
printf '%s\n' "${COMPREPLY[@]}"
END
    by_bash()
    {
        bash ask.bash gpuhisto "$@" | sort >offered
    }
    check "bash registers it" bash -c '. ./gpuhisto.bash; complete -p gpuhisto >/dev/null'
    by_bash --
    sed -i 's/=$//' offered
    sort -o offered offered # now that no = comes after a word
    same "bash: options" options offered
    by_bash --fo
    printf '%s\n' --fold-case --format= >expected
    same "bash: --fo" expected offered
    for option in format invalid decompress values device kernel progress; do
        by_bash --$option =
        offers "" bash $option
        by_bash --$option = ''
        offers "" bash $option
        by_bash --$option=
        sed -i "s/^--$option=//" offered
        offers "" "bash, one word" $option
    done
    by_bash -F ''
    same "bash: -F" choices.format offered
    by_bash -F j
    echo json >expected
    same "bash: -F j" expected offered
    mkdir files
    : >'files/two words' && : >files/--odd
    by_bash -b files/
    printf '%s\n' files/--odd 'files/two words' >expected
    same "bash: FILEs" expected offered
    by_bash -o files/t
    echo 'files/two words' >expected
    same "bash: --output" expected offered
    by_bash -- --
    echo >expected
    same "bash: only FILEs after --" expected offered
    by_bash --bins ''
    same "bash: nothing for a number" expected offered
    # As it is installed, by the loader of bash-completion where that is there.
    loader=/usr/share/bash-completion/bash_completion
    if [ -r $loader ]; then
        mkdir -p share/bash-completion/completions
        cp gpuhisto.bash share/bash-completion/completions
        XDG_DATA_DIRS=$work/share bash --norc -c ". $loader
            _completion_loader gpuhisto; complete -p gpuhisto" >loaded 2>&1
        check "bash-completion loads it" grep -q -e '-F _gpuhisto gpuhisto' loaded
    else
        skip_part "bash-completion is not installed"
    fi
else
    skip_part "no bash with mapfile"
fi

# --- zsh: the specifications that _arguments gets ---

if command -v zsh >/dev/null; then
    check "zsh: syntax" zsh -n _gpuhisto
    # The first word says how words are read, -s -S :, the last one is for FILEs.
    zsh -f -c '_arguments() { shift 3; print -rl -- "$@" }; . ./_gpuhisto' >specs
    sed -n 's/^\*\(--[a-z-]*\).*/\1/p' specs | sort >offered
    same "zsh: options" options offered
    sed -n 's/^\*\(-[a-zA-Z]\)[-+]\{0,1\}\[.*/\1/p' specs | sort >offered
    same "zsh: letters" letters offered
    for option in format invalid decompress values device kernel progress; do
        sed -n "s/^\\*--$option=.*:(\\(.*\\))\$/\\1/p" specs | tr ' ' '\n' | sort >offered
        offers "" zsh $option
    done
    check "zsh: --output" grep -q '^\*--output=.*:_files$' specs
    check "zsh: FILEs" grep -qx '\*:FILE:_files' specs
    # Whole, in a terminal of its own: the keys --forma and Tab.
    cat >ask.zsh <<'END'
zmodload zsh/zpty || exit 77
zpty -b asked 'zsh -f -i'
zpty -w asked "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; gpuhisto() { print got: \$* }; echo rea''dy"
zpty -r -m asked out '*ready*' || exit 1
zpty -w asked $'gpuhisto --forma\tjso\t'
repeat 200; do
    zpty -r -t asked part && seen+=$part
    [[ $seen == *'got: --format=json'* ]] && exit 0
    sleep 0.05
done
print -r -- "$seen"
exit 1
END
    timeout 60 zsh -f ask.zsh >seen 2>&1
    case $? in
    0) passed ;;
    77) skip_part "zsh has no zpty" ;;
    *) failed "zsh: --forma, Tab, jso, Tab: $(cat seen)" ;;
    esac
else
    skip_part "zsh is not installed"
fi

# --- fish: it says itself what it would offer ---

if command -v fish >/dev/null; then
    check "fish: syntax" fish -n gpuhisto.fish
    by_fish()
    {
        fish -N -c 'source gpuhisto.fish; complete -C $argv[1]' "$1" 2>fish.err | cut -f 1 | sort >offered
    }
    by_fish 'gpuhisto --'
    sed -i 's/=$//' offered
    sort -u offered >once
    same "fish: options" options once
    for option in format invalid decompress values device kernel progress; do
        by_fish "gpuhisto --$option="
        sed -i "s/^--$option=//" offered
        offers "" fish $option
    done
    by_fish 'gpuhisto -F '
    same "fish: -F" choices.format offered
else
    skip_part "fish is not installed"
fi

summary
