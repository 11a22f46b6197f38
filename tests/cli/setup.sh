#!/bin/sh
# SPDX-License-Identifier: MIT
# Setting up: what bootstrap says is missing; what configure refuses, and with which words; that it finds a
# compiler which suits nvcc. With a make-believe nvcc, apt-get and so on, so it needs neither CUDA
# nor the network.
. "${srcdir:-.}/tests/helpers/lib.sh"

[ "$SANITIZED" = no ] || skip "nothing of it is built with a sanitizer"
if [ ! -x "$srcdir/configure" ] || [ ! -x "$srcdir/bootstrap" ]; then
    skip "no configure or bootstrap in the source directory"
fi

watch_over 300

# --- bootstrap ---

# bootstrapped ARGUMENT...: as an ordinary user of a bare machine without sudo.
mkdir bare
for tool in sh dirname cat sed grep env nproc tr sort find rm mkdir mv; do
    ln -s "$(command -v $tool)" bare/$tool
done
printf '#!/bin/sh\necho 1000\n' >bare/id
printf '#!/bin/sh\nexit 1\n' >bare/apt-get
chmod +x bare/id bare/apt-get
bootstrapped()
{
    run_as env -i PATH="$work/bare" "$(command -v sh)" "$srcdir/bootstrap" "$@"
}
one_line_says()
{
    check "$1: status" [ "$(cat status)" -eq "$2" ]
    check "$1: one line" [ "$(wc -l <err)" -eq 1 ]
    check "$1: '$3'" grep -qF -e "$3" err
}
bootstrapped
one_line_says "bare" 1 "as root: apt-get update && apt-get install --no-install-recommends autoconf automake make gcc libc6-dev g++ libzstd-dev libisal-dev libpcre2-dev"
if [ -x /usr/local/cuda/bin/nvcc ]; then
    skip_part "what --cuda lacks on a bare machine: there is an nvcc in /usr/local/cuda"
else
    bootstrapped --cuda
    one_line_says "bare, --cuda" 1 "libzstd-dev python3 python3-pip libisal-dev libpcre2-dev"
fi
printf '#!/bin/sh\necho "sudo: you are not in the sudoers file" >&2\nexit 1\n' >bare/sudo
chmod +x bare/sudo
bootstrapped
check "sudo refuses: status" [ "$(cat status)" -eq 1 ]
check "sudo refuses: what root types" grep -q '; as root: apt-get update && apt-get install .* libisal-dev libpcre2-dev$' err
run_as env -i PATH="$work/bare" "$(command -v sh)" "$srcdir/release/make_deb" "$srcdir" archive folder
one_line_says "no dpkg-dev" 1 "make_deb: dpkg-parsechangelog is missing; as root: apt-get install dpkg-dev && apt-get build-dep ./"
rm bare/apt-get bare/sudo
bootstrapped check
one_line_says "no apt-get" 1 "missing (by their Debian names): autoconf"
bootstrapped install format foo
one_line_says "a step that there is not" 2 "bootstrap: foo: there is no such step of .ci/run"
bootstrapped foo
one_line_says "foo" 2 "bootstrap: foo: unknown argument"
bootstrapped --cuda chek
one_line_says "chek" 2 "bootstrap: chek: unknown argument"

# made [STATUS] [ARGUMENT]...: in a tree whose configure and make are make-believe; it ends with STATUS or 0. The
# libraries that are installed are those in `installed`, the packages those in `packages`; configure finds the libraries,
# and what it was called with is in configured.log.
mkdir -p tree/doc believed
cp "$srcdir/bootstrap" tree
: >tree/README.md && : >tree/doc/some.md && : >tree/Makefile.in && : >installed && : >tree/configured.log
cat >tree/configure <<'END'
#!/bin/sh
echo "configure $*" >>../configured.log
sed -n 's/isal/#define HAVE_ISAL 1/p; s/pcre2/#define HAVE_PCRE2 1/p' "$INSTALLED" >config.h
: >Makefile
printf '%s\n' '#!/bin/sh' 'case $* in *recheck) exec ../configure again ;; esac; exit' 'S["HAVE_CUDA_TRUE"]="#"' >config.status
chmod +x config.status
END
cat >believed/make <<'END'
#!/bin/sh
mkdir -p gpu
printf '#!/bin/sh\n' >gpuhisto && chmod +x gpuhisto
case $* in
*check*) [ ! -e "$TESTED" ] || cp "$TESTED" test-suite.log; echo "tests ran"; exit "$ENDED" ;;
esac
END
printf '#!/bin/sh\nexit 1\n' >believed/apt-get
printf '#!/bin/sh\ngrep -qx "$4" "$PACKAGES" && echo installed\n' >believed/dpkg-query
: >packages
cat >believed/cc <<'END'
#!/bin/sh
case $(cat) in *isa-l*) grep -q isal "$INSTALLED" ;; *pcre2*) grep -q pcre2 "$INSTALLED" ;; esac
END
printf '#!/bin/sh\nexit 1\n' >believed/sudo
cp believed/make believed/autoconf && cp believed/make believed/automake
printf '#!/bin/sh\necho 1000\n' >believed/id
chmod +x tree/configure believed/*
made()
{
    due_=0
    case ${1-} in [0-9]) due_=$1 && shift ;; esac
    run_as env INSTALLED="$work/installed" PACKAGES="$work/packages" TESTED="$work/tested" ENDED="$due_" \
        PATH="$work/believed:$PATH" CC="$work/believed/cc" CXX="$work/believed/cc" sh tree/bootstrap "$@"
    check "bootstrap $*: status" [ "$(cat status)" -eq "$due_" ]
}
made
check "what is lacking is said at the end" [ "$(tail -n 2 err | head -n 1 | cut -d : -f 2)" = " built without regular expressions" ]
check "and what root types" sh -c "tail -n 1 err | grep -q 'apt-get install .* libisal-dev libpcre2-dev; then run this again'"
printf 'isal\npcre2\n' >installed
made
check "a library has appeared" [ "$(grep -c 'configure again' tree/configured.log)" = 1 ]
refute "no library is lacking" grep -q 'built without [gr]' err
made
check "nothing has appeared" [ "$(grep -c 'configure again' tree/configured.log)" = 1 ]
: >installed
made -- --without-isal --without-pcre2
printf 'isal\npcre2\n' >installed
made -- --without-isal --without-pcre2
check "what was not wanted does not appear" [ "$(grep -c 'configure again' tree/configured.log)" = 1 ]
refute "nothing is lacking" grep -q 'built without [gr]' err

# --- bootstrap check ---

# totals STATUS TEXT: "bootstrap check" ends with both, where make ends with STATUS.
totals()
{
    made "$1" check
    check "bootstrap check: '$2'" [ "$(tail -n 1 out)" = "$2" ]
}
printf '# %s: %s\n' TOTAL 12 PASS 5 SKIP 1 XFAIL 3 FAIL 0 XPASS 0 ERROR 0 >tested
totals 0 "8 passed, 0 failed, 1 skipped"
check "tests run without what they use" grep -q "tests ran" out
check "what they use is one line for root" sh -c "tail -n 1 err |
    grep -q 'as root: apt-get update && apt-get install .* acl .* jq .* python3-numpy .* zstd; then run this again'"
refute "daemons are of no use to other users" grep -q openssh-server err
printf '# %s: %s\n' TOTAL 12 PASS 5 SKIP 0 XFAIL 0 FAIL 4 XPASS 2 ERROR 1 >tested
totals 2 "5 passed, 7 failed, 0 skipped"
rm tested
totals 2 "0 passed, 1 failed, 0 skipped"
printf '#!/bin/sh\necho "$*" >>%s/asked.log\n' "$work" >believed/sudo
totals 2 "0 passed, 1 failed, 0 skipped"
check "all that is missing is installed at once" \
    [ "$(grep -c 'apt-get -qq -y' asked.log) $(grep -c '^ *sh acl .* zstd$' asked.log)" = "1 1" ]
sed -n 's/.*: apt-get update && apt-get install --no-install-recommends \(.*\); then .*/\1/p' err | tr ' ' '\n' >packages
: >asked.log
totals 2 "0 passed, 1 failed, 0 skipped"
refute "nothing is missing" [ -s asked.log ]

# --- what a step needs ---

made 0 install spdx
refute "a step whose packages are there" [ -s asked.log ]
: >packages
made 0 install format spdx
check "a step has packages of its own" [ "$(sed -n 's/^ *sh //p' asked.log)" = "clang-format-14 git" ]

: >tree/config.status
run_as sh tree/bootstrap
check "configured in place: status" [ "$(cat status)" -eq 1 ]
check "configured in place: what to do" grep -q "'make distclean', then run this again" err

[ "$SCALE" = full ] || {
    skip_part "what configure refuses, which runs it ten times; SCALE=full does it"
    summary
}

mkdir bin
# configured ARGUMENT...: leaves out, err and status.
configured()
{
    rm -rf 'built here' && mkdir 'built here'
    (cd 'built here' && run_as "$srcdir/configure" "$@")
    cp 'built here/out' 'built here/err' 'built here/status' .
}
# refused CASE TEXT ARGUMENT...
refused()
{
    case_=$1
    text_=$2
    shift 2
    configured "$@"
    check "$case_: status" [ "$(cat status)" -ne 0 ]
    check "$case_: '$text_'" grep -qF -e "$text_" err
}

# --- what would give wrong counts ---

for flag in -ffast-math -Ofast -ffinite-math-only -fassociative-math -ffp-contract=fast; do
    refused "CFLAGS=$flag" "CFLAGS=\"-O2 $flag\": -ffast-math, -Ofast and the like give wrong counts" \
        --without-cuda CFLAGS="-O2 $flag"
done
refused "CXXFLAGS=-ffast-math" 'CXXFLAGS="-ffast-math":' --without-cuda CXXFLAGS=-ffast-math
printf '#!/bin/sh\nfor a; do case $a in -ffp-contract=*) echo "no such flag" >&2; exit 1 ;; esac; done\nexec cc "$@"\n' >bin/plain-cc
chmod +x bin/plain-cc
refused "no -ffp-contract=off" "does not take -ffp-contract=off" --without-cuda CC="$work/bin/plain-cc"
refused "no __int128" "has no __int128" --without-cuda CC="cc -D__int128=int128_is_missing"

# --- without a C++ compiler, only the tests of kernels are left out ---

configured --without-cuda CXX="$work/bin/no-c++"
check "no C++ compiler: status" [ "$(cat status)" -eq 0 ]
check "no C++ compiler: said so" grep -q 'C++ tests: *no$' out

# --- a build directory of its own, with a space in its name, and what make is given ---

configured --without-cuda
check "--without-cuda: status" [ "$(cat status)" -eq 0 ]
refute "CFLAGS of make" make -s -C 'built here' src/base/error.o CFLAGS="-O2 -ffast-math" AUTOCONF=: ACLOCAL=: \
    >out 2>err
check "CFLAGS of make: reason" grep -q 'ffast-math, -Ofast and the like give wrong counts' err

# --- a sanitizer in CFLAGS, whose library has functions of libm ---

configured --without-cuda CFLAGS=-fsanitize=address
check "-fsanitize=address: status" [ "$(cat status)" -eq 0 ]
check "-fsanitize=address: libm" grep -q '^LIBS = .*-lm' 'built here/Makefile'

# --- where bugs are to be reported ---

configured --without-cuda --with-bugurl=https://example.org/bugs
check "--with-bugurl: compiles" make -s -C 'built here' src/cli/option_table.o AUTOCONF=: ACLOCAL=: >out 2>err
check "--with-bugurl" grep -qF "Report bugs to https://example.org/bugs." 'built here/src/cli/option_table.o'

# --- options that are refused ---

refused "--with-isal=DIR" "--with-isal=/usr: takes no folder" --with-isal=/usr
refused "--with-pcre2=DIR" "--with-pcre2=/usr: takes no folder" --with-pcre2=/usr
refused "--with-cuda-arch without CUDA" "--with-cuda-arch needs CUDA: --without-cuda was given" \
    --without-cuda --with-cuda-arch=90

# --- nvcc that takes only older compilers ---

# A toolkit whose nvcc accepts no host compiler but that of $HOST, and compiles a stub instead of a kernel.
mkdir -p toolkit/bin toolkit/lib64
ar cr toolkit/lib64/libcudart_static.a
cat >toolkit/bin/nvcc <<'EOF'
#!/bin/sh
case " $* " in
*" --version "*) echo "Cuda compilation tools, release 13.0, V13.0.48"; exit ;;
*" --list-gpu-code "*) printf 'sm_75\nsm_80\nsm_90\n'; exit ;;
*" --dryrun "*) echo "#\$ LIBRARIES=  \"-L$(dirname "$0")/../lib64\"" >&2; exit ;;
*" -ccbin=$HOST "*) ;;
*) echo "crt/host_config.h:139:2: error: #error -- unsupported GNU version! gcc versions later than 15 are not supported!" >&2; exit 1 ;;
esac
while [ "$1" != -o ]; do shift; done
echo 'int launch(void); int launch(void) { return 0; }' | cc -x c -c -o "$2" -
EOF
printf '#!/bin/sh\nexec c++ "$@"\n' >bin/g++-12
chmod +x toolkit/bin/nvcc bin/g++-12
HOST=g++-12
export HOST
PATH=$work/bin:$PATH configured --with-cuda="$work/toolkit"
check "an older g++: status" [ "$(cat status)" -eq 0 ]
[ "$(cat status)" -eq 0 ] || tail -n 60 'built here/config.log' err # the log of the test then says why
check "an older g++: used" grep -q 'yes, with -ccbin=g++-12' out
HOST=g++-nonesuch
refused "no older g++" "cannot use this C++ compiler (unsupported GNU version" --with-cuda="$work/toolkit"
refused "fast math in NVCCFLAGS" "fast math gives wrong counts" --with-cuda="$work/toolkit" \
    NVCCFLAGS=--use_fast_math

summary
