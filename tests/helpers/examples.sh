# SPDX-License-Identifier: MIT
# Examples in documents: blocks of commands and what they print, which tests run and compare.
#
# An example is a block ```console of a .md file, or a .Bd -literal block of the man page. Its lines
# are "$ command", "> " and the rest of a long command, and what the commands print, errors too. The
# blocks of a document run one after the other in one directory, so that one may use what an earlier
# one made. A block ```console WORD needs more than a shell, and is run by a test of its own.

# markdown_examples FILE [WORD]: writes its blocks to example.1, example.2, ...
markdown_examples()
{
    awk -v begin="\`\`\`console${2:+ $2}" '
         $0 == begin { on = 1; file = "example." ++n; next }
         /^```$/ { on = 0 }
         on { print >file }' "$srcdir/$1"
}

# transcript_of BLOCK: runs its commands in one shell, and prints each of them before what it prints.
# The prompt keeps the exit status, so that "echo $?" shows that of the command before it.
transcript_of()
{
    {
        # shellcheck disable=SC2016 # for the shell that runs the block
        printf '%s\n' 'prompt() { status_=$?; printf "%s\n" "$1"; return $status_; }'
        awk 'function finish() {
                 if (!command) return
                 gsub(/\047/, "\047\\\047\047", said)
                 printf "prompt \047%s\047\n%s\n", said, command
                 command = ""
             }
             /^\$ / { finish(); said = $0; command = substr($0, 3); typing = 1; next }
             /^> / && typing { said = said "\n" $0; command = command "\n" substr($0, 3); next }
             { typing = 0 }
             END { finish() }' "$1"
    } >block.sh
    sh block.sh </dev/null 2>&1
}

# lacks BLOCK: whether something that its commands need is missing here; leaves it in `missing`. A
# document's own test may define it anew.
lacks()
{
    return 1
}

# run_examples DOCUMENT LEAST: runs the blocks that were written, of which there are LEAST or more.
run_examples()
{
    blocks=0
    while [ -e "example.$((blocks + 1))" ]; do
        blocks=$((blocks + 1))
        block=example.$blocks
        title="$1, example $blocks"
        check "$title: begins with a command" grep -q -m 1 '^\$ ' "$block"
        if lacks "$block"; then
            skip_part "$title: $missing"
            continue
        fi
        transcript_of "$block" >printed
        same "$title" "$block" printed
    done
    check "$1: has $2 examples or more, not $blocks" [ "$blocks" -ge "$2" ]
    rm -f example.*
}
