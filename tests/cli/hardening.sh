#!/bin/sh
# SPDX-License-Identifier: MIT
# The program was built as distributions build theirs: with each flag that configure found, what it
# does is in the program.
build=$(cd "${builddir:-.}" && pwd)
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "a build with a sanitizer is not hardened"
command -v readelf >/dev/null || skip "no readelf"
[ -e "$build/Makefile" ] || skip "there is no Makefile in the build directory"

flags=$(sed -n 's/^HARDENING_[A-Z]*FLAGS = //p' "$build/Makefile" | tr '\n' ' ')
[ -n "${flags% *}" ] || skip "configure was called with --disable-hardening"
readelf -Wh "$GPUHISTO" >head
readelf -Wl "$GPUHISTO" >segments
readelf -Wd "$GPUHISTO" >dynamic
readelf -Ws "$GPUHISTO" >symbols
check "readelf: libc" grep -q 'NEEDED.*libc\.' dynamic

# with FLAG CASE COMMAND...: check, if configure has found the flag.
with()
{
    flag=$1
    shift
    case " $flags " in
    *" $flag"*) check "$@" ;;
    *) skip_part "$flag was not found" ;;
    esac
}

# main begins where an indirect jump may go to. The note that says so of a whole program is there
# only if libc's start files have it.
first_of_main()
{
    objdump -d --no-show-raw-insn "$1" | awk '/<main>:$/ { getline; print $2; exit }'
}
marked_for_jumps()
{
    case $(first_of_main "$GPUHISTO") in
    endbr64 | bti | paciasp) ;;
    *) return 1 ;;
    esac
}

with -pie "PIE" grep -qE 'Type: +DYN' head
refute "PIE: text is not written to" grep -q TEXTREL dynamic
with -Wl,-z,relro "RELRO" grep -q GNU_RELRO segments
with -Wl,-z,now "all symbols are bound at the start" grep -qE 'BIND_NOW|Flags: .*NOW' dynamic
with -fstack-protector "stack protector" grep -q '__stack_chk_fail' symbols
with -D_FORTIFY_SOURCE "FORTIFY" grep -qE '__[a-z]+_chk(@|$)' symbols
check "the stack is not executable" grep -qE 'GNU_STACK .* RW +0x' segments
refute "no segment is writable and executable" grep -E ' RWE +0x' segments
if command -v objdump >/dev/null; then
    case $(uname -m) in
    x86_64) with -fcf-protection "indirect jumps" marked_for_jumps ;;
    aarch64) with -mbranch-protection "indirect jumps" marked_for_jumps ;;
    esac
else
    skip_part "indirect jumps: no objdump"
fi

# The emulated GPU switches stacks by itself, which a shadow stack would take for an attack.
if [ -x "$EMULATED" ]; then
    readelf -Wn "$EMULATED" >notes
    refute "no shadow stack for the emulated GPU" grep SHSTK notes
    printf abc | run_as "$EMULATED" --device=gpu --letters=26
    printf 'a-z\t3\n' >expected
    counts "the emulated GPU" expected
fi

summary
