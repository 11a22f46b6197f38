#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds the fuzzers as OSS-Fuzz asks for it: with CC, CXX, CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE,
# from SRC/gpuhisto, in WORK, to OUT, each with its dictionary, options and seeds.
set -eu
source=$SRC/gpuhisto build=$WORK/gpuhisto fuzzers=${OUT:?}
(cd "$source" && autoreconf -fi)
mkdir -p "$build" "$fuzzers/lib"
cd "$build"
# The program only makes seeds here, so it is compiled as usual.
env -u CFLAGS -u CXXFLAGS "$source/configure" --without-cuda
# Where fuzzers run there are no other libraries than those in OUT. The linker takes this for a path.
# shellcheck disable=SC2016 # the loader expands it
export LD_RUN_PATH='$ORIGIN/lib'
make -j"$(nproc)" fuzz FUZZ_CC="$CC" FUZZ_CXX="$CXX" FUZZ_CFLAGS="$CFLAGS" FUZZ_CXXFLAGS="$CXXFLAGS" \
    FUZZ_ENGINE="$LIB_FUZZING_ENGINE"
env -u CFLAGS -u CXXFLAGS make -j"$(nproc)" fuzz-seeds
for seeds in tests/fuzz/seeds/*; do
    name=${seeds##*/}
    cp "tests/fuzz/$name" "$fuzzers/"
    ldd "tests/fuzz/$name" | sed -n 's/.*=> \(.*lib\(isal\|pcre2-8\|z\|zstd\)\.so[^ ]*\).*/\1/p' |
        xargs -r cp -L -t "$fuzzers/lib"
    zip -jqr "$fuzzers/${name}_seed_corpus.zip" "$seeds"
    for given in "$source/tests/fuzz/$name".{dict,options}; do
        if [ -e "$given" ]; then cp "$given" "$fuzzers/"; fi
    done
done
