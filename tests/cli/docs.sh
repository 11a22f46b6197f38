#!/bin/sh
# SPDX-License-Identifier: MIT
# The documents agree with the program: every example of README.md, doc/recipes.md, doc/distributed.md and the man page's
# EXAMPLES prints what the document says, the sources keep to the rooms of doc/design.md, what the pages
# about the source name is there, and the man page is clean.
#
# A block that names a tool that is missing is skipped; no other block may use its files.
#
# "Before and after" in doc/recipes.md says how long the commands of sixteen tasks are; those of
# before are indented lines, and are run too.
. "${srcdir:-.}/tests/helpers/lib.sh"
. "$srcdir/tests/helpers/examples.sh"

page=$srcdir/doc/gpuhisto.1
mkdir bin
ln -s "$GPUHISTO" bin/gpuhisto
# Of several Pythons, that with what examples import.
if ! python3 -c 'import numpy, pandas' 2>/dev/null && /usr/bin/python3 -c 'import numpy, pandas' 2>/dev/null; then
    PATH=/usr/bin:$PATH
fi
PATH=$PWD/bin:$PATH

# man_examples: markdown_examples for the man page; what roff escapes is put back.
man_examples()
{
    awk '/^\.Sh / { examples = /EXAMPLES/ }
         /^\.Ed/ { on = 0 }
         on { gsub(/\\&/, ""); gsub(/\\-/, "-"); gsub(/\\\(aq/, "\047"); gsub(/\\e/, "\\"); print >file }
         examples && /^\.Bd -literal/ { on = 1; file = "example." ++n }' "$page"
}

# uses TOOL BLOCK: whether a command begins with it, or it is what another one runs.
uses()
{
    grep -qE "^[\$>] (.*([|;&(]|do|then|xargs|time|timeout [0-9.]+) *)?$1 " "$2"
}

# lacks BLOCK: whether something that its commands need is missing here; leaves it in `missing`.
lacks()
{
    for tool in gnuplot gzip jq mpirun parallel python3 zstd; do
        if uses "$tool" "$1" && ! command -v "$tool" >/dev/null; then
            missing="$tool is not installed"
            return
        fi
    done
    missing="this build has no --part, --merge or --diff"
    if grep -q '^[$>] .*\(--part\|--merge\|--diff\|share\.\)' "$1" && [ -z "$with_shares" ]; then return; fi
    missing="parallel is not GNU parallel" # moreutils has another one
    if uses parallel "$1" && ! parallel --version 2>/dev/null | grep -q '^GNU'; then return; fi
    missing="there is no /sys, by which parallel counts processors"
    if uses parallel "$1" && [ ! -e /sys/devices/system/cpu ]; then return; fi
    for module in numpy pandas; do
        if grep -q "^[\$>] .*\\<import $module" "$1" && ! python3 -c "import $module" 2>/dev/null; then
            missing="python3 has no $module"
            return
        fi
    done
    missing="there is no UTF-8 locale"
    if grep -q '█' "$1" && [ -z "$with_bars" ]; then return; fi
    missing="this build does not decompress gzip"
    if grep -q '\.gz\>' "$1" && [ -z "$with_gzip" ]; then return; fi
    missing="this build has no regular expressions"
    if grep -q "lines-with='/" "$1" && [ -z "$with_expressions" ]; then return; fi
    missing="this build has the GPU engine"
    grep -q 'built without CUDA' "$1" && [ -n "$with_cuda" ]
}

# tasks_of DOCUMENT: checks the lengths that "Before and after" states, and writes the commands of before
# to before.1, before.2, ...
tasks_of()
{
    awk '/^## / { on = /Before and after/ }
         !on { next }
         /^Together they/ { together = $4 " before and " $8 " now"; gsub(/,/, "", together) }
         /^\*\*.* Before, [0-9]+ characters:$/ { said = $(NF - 1); before = ""; next }
         /^    / && said && before == "" {
             before = substr($0, 5)
             print "$ " before >("before." ++tasks)
             was += length(before)
             if (length(before) != said) print "task " tasks ": before, " length(before)
         }
         /^Now, [0-9]+:$/ { said = $2 + 0; next }
         /^\$ / { now = substr($0, 3) }
         /^```$/ && said && now != "" {
             is += length(now)
             if (length(now) != said) print "task " tasks ": now, " length(now)
             said = 0; now = ""
         }
         END { print tasks " tasks, " was " before and " is " now; " together }' "$1"
}

with_cuda=yes
if gpuhisto --device=gpu /dev/null 2>&1 | grep -q 'built without CUDA'; then with_cuda=; fi

# Bars are as on a terminal of 80 columns.
COLUMNS=80 LC_ALL=C.UTF-8
export COLUMNS LC_ALL
with_bars=yes
if ! printf x | gpuhisto --device=cpu -p | grep -q '█'; then with_bars=; fi

with_gzip=yes # it finds that its magic alone is truncated
if printf '\037\213\010' | gpuhisto --device=cpu >/dev/null 2>&1; then with_gzip=; fi

with_expressions=yes
if ! gpuhisto --device=cpu -n --lines-with=/x/ </dev/null >/dev/null 2>&1; then with_expressions=; fi

# Open MPI otherwise refuses root, and to start more processes than there are processors; 5 has another name for that.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
export PRTE_MCA_rmaps_default_mapping_policy
HOME=$work # GNU parallel keeps files there
export HOME

with_shares=yes
if ! can_share; then with_shares=; fi

mkdir readme recipes distributed man
cd readme || exit 99
markdown_examples README.md
run_examples README.md 12
cd ../recipes || exit 99
markdown_examples doc/recipes.md
run_examples doc/recipes.md 20
tasks_of "$srcdir/doc/recipes.md" >lengths
check "sixteen tasks, and how long they are: $(cat lengths)" \
    grep -qE '^16 tasks, ([0-9]+ before and [0-9]+ now); \1$' lengths
check "lengths that are stated: $(cat lengths)" [ "$(wc -l <lengths)" = 1 ]
for before in before.*; do
    if lacks "$before"; then
        skip_part "doc/recipes.md, $before: $missing"
        continue
    fi
    sed 's/^. //' "$before" >block.sh
    sh block.sh </dev/null >printed 2>err
    check "$before: no failure and no message" [ "$?$(cat err)" = 0 ]
done
cd ../distributed || exit 99
markdown_examples doc/distributed.md
run_examples doc/distributed.md 9

# The manifest for Kubernetes: what it says, and its command with each index, in folders of this test.
awk '/^```yaml$/ { on = 1; next } /^```$/ { on = 0 } on' "$srcdir/doc/distributed.md" >job.yaml
python=python3
"$python" -c 'import yaml' 2>/dev/null || python=/usr/bin/python3
if [ -z "$with_shares" ]; then
    skip_part "the manifest's command: this build has no --part or no --merge"
elif "$python" -c 'import yaml' 2>/dev/null; then
    "$python" - >job.sh <<'EOF' || broken "the manifest cannot be read"
import shlex, yaml
job = yaml.safe_load(open("job.yaml"))
pod = job["spec"]["template"]["spec"]
container, = pod["containers"]
assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
assert job["spec"]["completionMode"] == "Indexed" and pod["restartPolicy"] == "Never"
assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in pod["volumes"]}
for i in range(job["spec"]["completions"]):
    print("JOB_COMPLETION_INDEX=%d %s" % (i, shlex.join(container["command"])
                                           .replace(" /data/", " data/").replace(" /tables/", " pods/")))
EOF
    mkdir data pods
    cp access.log data
    check "the manifest's command" sh job.sh
    gpuhisto -n -k-1 -B4 --min=0 --max=1 access.log >whole
    gpuhisto --merge pods/*.json >merged
    same "the manifest's tables, merged" whole merged
else
    skip_part "python3 has no yaml: the manifest for Kubernetes was not read"
fi

cd ../man || exit 99
man_examples
run_examples gpuhisto.1 6
cd .. || exit 99

# --- the rooms: no folder includes more than doc/design.md allows ---

# allowed: "FOLDER ALLOWED" for each pair in the table of rooms; included: for each that there is.
awk -F '|' '/^\| `(src\/[a-z]+|gpu)\/` \|/ {
    split($2, folder, "`")
    sub(/^src\//, "", folder[2])
    sub(/\/$/, "", folder[2])
    n = split($4, others, /[ ,]+/)
    for (i = 1; i <= n; i++)
        if (others[i] != "") print folder[2], others[i]
}' "$srcdir/doc/design.md" | sort >allowed
(cd "$srcdir" && grep -rE '^#include "' --include='*.[ch]' --include='*.cu' --include='*.cuh' src/*/ gpu) |
    sed -nE 's,^(src/)?([a-z]+)/.*:#include "(src/)?([a-z]+)/.*,\2 \4,p' |
    awk '$1 != $2' | sort -u >included
check "design.md has a table of rooms" [ "$(wc -l <allowed)" -ge 20 ]
check "folders include each other" [ "$(wc -l <included)" -ge 15 ]
comm -13 allowed included >not-allowed
: >nothing
same "includes that design.md does not allow" nothing not-allowed

# --- the functions that a byte passes: each calls the next ---

# body FILE FUNCTION: its lines.
body()
{
    awk -v name="$2" 'index($0, name "(") && /^[a-zA-Z]/ && !/;$/ { on = 1 } on { print } on && /^}/ { exit }' "$1"
}

# shellcheck disable=SC2016 # markdown has them
sed -nE '/^## What it passes/,/^## Interfaces/{
    s/^\| plain .*/plain/p; s/^\| compressed.*/compressed/p; s/^\| `([a-z_]+)` and what follows.*/\1/p
    s/^\| `([a-z_]+)` \| `([^`]+)` \| (`([^`]+)`)? ?\|$/\1 \2 \4/p
}' "$srcdir/doc/design.md" >ways
while read -r name file call; do
    case $name in plain | compressed) continue ;; esac
    [ -n "$file" ] || continue # the first way goes on with it
    body "$srcdir/$file" "$name" >lines
    grep -qF "${call:-$name(}" lines || echo "$name in $file: $call"
done <ways >missing
same "design.md: functions that do not call the next one" nothing missing
awk '/^plain$/ { way = 1; next } /^compressed$/ { way = 2; next } { n[way]++; at[way, $1] = n[way] }
     NF == 1 { n[way] += n[1] - at[1, $1] }
     END { if (n[1] > 8 || n[2] > 12 || n[1] < 4 || n[2] < 8) print n[1], n[2] }' ways >missing
same "design.md: how many functions a byte passes" nothing missing

# --- the tour: files that the pages name are there, and so are functions in the files beside them ---

for tour in design adding decoding kernels performance; do
    tr '\n\140' ' @' <"$srcdir/doc/$tour.md" >words # a backquote becomes @
    grep -oE '@(src|gpu)/[a-z0-9_/]+\.[a-z]+@' words | tr -d @ | sort -u | while read -r file; do
        [ -e "$srcdir/$file" ] || echo "$file"
    done >missing
    same "doc/$tour.md: files that are not there" nothing missing
    grep -oE '@[a-z0-9_]+@ +\(@(src|gpu)/[^@]+@' words | tr -d '@(' | while read -r name file; do
        grep -qw "$name" "$srcdir/$file" || echo "$name in $file"
    done >missing
    same "doc/$tour.md: functions that are not there" nothing missing
done

# --- links to headings ---

# headings DOCUMENT: the anchors of its headings, as GitHub makes them.
headings()
{
    sed -n 's/^##* //p' "$1" | tr 'A-Z ' 'a-z-' | sed 's/[^a-z0-9_-]//g'
}
for document in "$srcdir/README.md" "$srcdir"/doc/*.md; do
    grep -oE '\]\([^:()]*#[^()]+\)' "$document" | sed 's/^](//; s/)$//' | while IFS='#' read -r other heading; do
        other=${other:-${document##*/}}
        headings "${document%/*}/$other" | grep -qxe "$heading" || echo "${document#"$srcdir/"}: $other#$heading"
    done
done >missing
same "links to headings that are not there" nothing missing

if command -v mandoc >/dev/null; then
    check "the man page is clean" mandoc -T lint -W warning "$page"
else
    skip_part "mandoc is not installed: the man page was not checked"
fi
summary
