#!/bin/sh
# The documents keep up with the program: every option that --help lists is in the man page, the man
# page is clean, and the README's first example gives what it says.
set -eu
status=0
page=$srcdir/doc/gpuhisto.1
"$GPUHISTO" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' >options.$$
trap 'rm -f options.$$' EXIT
[ "$(wc -l <options.$$)" -ge 16 ] || { echo "--help lists only $(cat options.$$)"; status=1; }
while read -r option; do
    grep -q -- "Fl Fl ${option#--}" "$page" || { echo "$option is not in the man page"; status=1; }
done <options.$$
example="printf 'programming massively parallel processors' | gpuhisto --letters"
grep -A7 -F "$ $example" "$srcdir/README.md" | sed 1d | head -n 7 >said.$$
printf 'programming massively parallel processors' | "$GPUHISTO" --letters >printed.$$
cmp said.$$ printed.$$ || status=1
rm -f said.$$ printed.$$
if command -v mandoc >/dev/null; then
    mandoc -T lint -W warning "$page" || status=1
else
    echo "docs.sh: left out: linting the man page: no mandoc"
fi
exit $status
