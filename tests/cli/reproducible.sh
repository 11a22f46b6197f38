#!/bin/sh
# SPDX-License-Identifier: MIT
# What is released is the same to the bit wherever and whenever it is made: the archive of `make dist`,
# and, with SCALE=all, the programs that two folders with copies of the sources build from it.
build=$(cd "${builddir:-.}" && pwd)
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "a build with a sanitizer is not released"
[ -e "$build/Makefile" ] || skip "there is no Makefile in the build directory"
grep -q '^am__tar = .*--sort=name' "$build/Makefile" || skip "tar has no --sort: it is not GNU's"
watch_over 1800
# Both builds compile all.
export CCACHE_DISABLE=1

# What this make was given is not for those that are started here; nor are the time zone and the like.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES SOURCE_DATE_EPOCH

# pack FOLDER ARCHIVE [VARIABLE=VALUE]...: `make dist` in a build directory.
pack()
{
    from=$1
    to=$2
    shift 2
    env "$@" make -C "$from" dist distdir=packed-by-test >log 2>&1 || broken "make dist: $(tail -n 5 log)"
    mv "$from/packed-by-test.tar.gz" "$to"
}

# --- the archive ---

pack "$build" one.tar.gz TZ=UTC0
(umask 077 && pack "$build" two.tar.gz TZ=XXX-9 LC_ALL=C.UTF-8)
same "two archives" one.tar.gz two.tar.gz
tar --numeric-owner -tvzf one.tar.gz >listed
check "names are sorted" env LC_ALL=C sort -c -k6 listed
check "many files" [ "$(wc -l <listed)" -gt 300 ]
check "owner and time are the same" [ "$(awk '{ print $2, $4, $5 }' listed | sort -u | wc -l)" = 1 ]
check "permissions are two" [ "$(awk '/^-/ { print $1 }' listed | sort -u | wc -l)" = 2 ]
# A clone has nothing that is not packed but what is for those who change it.
if [ "$(git -C "$srcdir" rev-parse --show-toplevel 2>/dev/null)" = "$(cd "$srcdir" && pwd -P)" ]; then
    sed 's|^.* packed-by-test/||' listed | sort >packed
    git -C "$srcdir" ls-files | grep -vE '^(\.|debian/|Dockerfile|release/spdx$)' | sort | comm -23 - packed >lost
    same "all files are packed" /dev/null lost
else
    skip_part "which files are packed: no git clone"
fi
pack "$build" three.tar.gz SOURCE_DATE_EPOCH=1000000000
TZ=UTC0 tar --numeric-owner -tvzf three.tar.gz | awk '{ print $2, $4, $5 }' | sort -u >given
echo "0/0 2001-09-09 01:46" >expected
same "SOURCE_DATE_EPOCH" expected given

# --- the program that was built says nothing of the folder it was built in ---

if grep -q '^PREFIX_MAP_FLAGS = .' "$build/Makefile"; then
    for folder in "$(cd "$build" && pwd)" "$(cd "$srcdir" && pwd)"; do
        refute "$folder in the program" grep -qF -e "$folder/" "$GPUHISTO"
    done
else
    skip_part "the compiler has no -ffile-prefix-map"
    summary
fi
# nvcc's temporary files have the number of a process, and its names of static functions a number that is
# made of the folder of the sources.
refute "names of temporary files in the program" grep -qaF tmpxft_ "$GPUHISTO"
refute "names of static functions of kernels" grep -qaE '_INTERNAL_[0-9a-f]{8}_' "$GPUHISTO"

# --- from what was packed, twice ---

if [ "$SCALE" != all ]; then
    skip_part "two builds of the whole program; SCALE=all does it"
    summary
fi

# With CUDA if this build has it, for one architecture, as each takes a minute.
cuda=--without-cuda
if grep -q '^#define HAVE_CUDA 1' "$build/config.h"; then
    cuda="--with-cuda --with-cuda-arch=90 NVCC=$(sed -n 's/^NVCC = //p' "$build/Makefile")"
else
    skip_part "two builds with CUDA: configure found none"
fi

# made FOLDER CONFIGURE [VARIABLE=VALUE]...: configures and builds what is in FOLDER.
made()
{
    folder=$1
    configure=$2
    shift 2
    mkdir "$folder/built"
    # shellcheck disable=SC2086 # several words
    (cd "$folder/built" && env "$@" "$configure" $cuda && env "$@" make gpuhisto gpuhisto.cdx.json) >log 2>&1 ||
        broken "it does not build: $(tail -n 5 log)"
}
second=$work/the/second/of/them
mkdir -p first "$second"
tar -xzf one.tar.gz -C first --strip-components=1
tar -xmzf one.tar.gz -C "$second" --strip-components=1
find "$second" -exec touch -d 2020-02-29 {} +
made first ../configure TZ=UTC0
epoch=SOURCE_DATE_EPOCH=$(date -r first/NEWS +%s)
(umask 077 && made "$second" "$second/configure" "$epoch" TZ=XXX-9 LC_ALL=C.UTF-8) || exit
check "a program" [ -x first/built/gpuhisto ]
same "two bills of materials" first/built/gpuhisto.cdx.json "$second/built/gpuhisto.cdx.json"
same "two programs" first/built/gpuhisto "$second/built/gpuhisto"
pack first/built again.tar.gz
same "an archive from the archive" one.tar.gz again.tar.gz
pack "$second/built" again.tar.gz "$epoch"
same "an archive from other files of the same content" one.tar.gz again.tar.gz

summary
