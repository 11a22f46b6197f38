#!/bin/sh
# SPDX-License-Identifier: MIT
# What `make install` installs: a program that runs, completions where shells look for them, documents
# whose links work; and `make uninstall` leaves nothing of it.
build=$(cd "${builddir:-.}" && pwd)
. "${srcdir:-.}/tests/helpers/lib.sh"

[ -e "$build/Makefile" ] || skip "there is no Makefile in the build directory"
watch_over 120
: >nothing
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

at=$work/root/usr
installs()
{
    make -C "$build" "$1" DESTDIR="$work/root" prefix=/usr >log 2>&1 || broken "make $1: $(tail -n 5 log)"
}
installs install

check "the program runs" "$at/bin/gpuhisto" --version >out
for file in bash-completion/completions/gpuhisto.bash zsh/site-functions/_gpuhisto \
    fish/vendor_completions.d/gpuhisto.fish; do
    grep -q '^#nodist_bashcompletion_DATA' "$build/Makefile" && continue # a cross build
    same "$file" "$build/completions/${file##*/}" "$at/share/$file"
done
check "the man page" [ -s "$at/share/man/man1/gpuhisto.1" ]

# Documents are where --docdir of configure said; each Debian package has a folder of its own.
bill=$(find root -name gpuhisto.cdx.json)
check "the bill of materials" [ -s "$bill" ]
doc=${bill%/*}

# links DOCUMENT: what it links to in its own tree.
links()
{
    grep -oE '\]\([^)]*\)' "$1" | sed 's/^](//; s/)$//; s/#.*//' | grep -vE '^$|^[a-z]+:'
}
find "$doc" -name '*.md' | sort >documents
check "documents" [ "$(wc -l <documents)" -ge 8 ]
links "$doc/README.md" >all
check "links of README.md" [ "$(wc -l <all)" -ge 12 ]
while read -r document; do
    links "$document" >all
    while read -r link; do
        check "${document#"$doc/"}: $link" [ -s "${document%/*}/$link" ]
    done <all
done <documents
find root ! -perm -004 >unreadable
same "what not everybody may read" nothing unreadable

installs uninstall
find root ! -type d >left

same "what uninstall leaves" nothing left
refute "uninstall leaves the folder of documents" [ -e "$doc" ]

summary
