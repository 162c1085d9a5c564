#!/usr/bin/env bash
# console.sh and links.sh find what is wrong on a page, and --bless puts it right: on pages of their
# own, with a stand-in for tilec.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
mkdir -p "$scratch/build" "$scratch/docs"
cat >"$scratch/build/tilec" <<'END'
#!/bin/sh
echo "first $1"
echo "second [x] *"
echo "took $$ ms"
test "$1" != bad
END
chmod +x "$scratch/build/tilec"

page() { # LINE… of a block, each an argument
    {
        printf '%s\n' 'A page.' '' '```text file k.txt' 'kept' '```' '' '```console'
        printf '%s\n' "$@"
        printf '%s\n' '```' '' 'Its end.'
    } >"$scratch/page.md"
}
expect() { # pass|fail NAME TEXT
    local found=pass
    bash "$root/tests/docs/console.sh" "$scratch/build" "$scratch/page.md" \
        >"$scratch/log" 2>&1 || found=fail
    if [ "$found" != "$1" ] || ! grep -qF -- "$3" "$scratch/log"; then
        echo "selftest: $2: $found, expected $1 and '$3':"
        cat "$scratch/log"
        failed=1
    fi
}

page '$ tilec good' 'first good' 'second [x] *' 'took [..] ms' '$ cat k.txt' 'kept'
expect pass 'what comes out' 'console: 2 commands'
page '$ tilec \' '    bad  # status 1' 'first bad' '...'
expect pass 'a status and lines left out' 'console: 1 commands'
page '$ tilec good' 'first good' 'second [y] *' 'took [..] ms'
expect fail 'another line' 'page.md:8: this prints something else'
page '$ tilec good' 'first good' '...' 'took [..] ms' 'more'
expect fail 'a line too many' 'page.md:8: this prints something else'
page '$ tilec good'
expect fail 'no output' 'page.md:8: this prints something else'
page '$ tilec bad' '...'
expect fail 'another status' 'page.md:8: the status is 1, the page says 0'
page '$ tilec good  # status 3' '...'
expect fail 'a status that does not come' 'the status is 0, the page says 3'
page 'output of nothing' '$ true'
expect fail 'output first' 'page.md:8: output of no command'

page '$ echo one >p.svg' '```' '' '![A picture](p.svg)' '' '```console' '$ true'
echo one >"$scratch/p.svg"
expect pass 'the picture' 'console: 2 commands'
echo two >"$scratch/p.svg"
expect fail 'another picture' 'draw another picture'
rm "$scratch/p.svg"
expect fail 'no picture' 'draw another picture'

page '$ cat k.txt' 'other' 'lines' '$ echo two' 'two'
bash "$root/tests/docs/console.sh" "$scratch/build" --bless "$scratch/page.md" >"$scratch/log" 2>&1
cp "$scratch/page.md" "$scratch/blessed.md"
page '$ cat k.txt' 'kept' '$ echo two' 'two'
cmp -s "$scratch/page.md" "$scratch/blessed.md" || {
    echo "selftest: --bless made another page:"
    diff "$scratch/page.md" "$scratch/blessed.md" || true
    failed=1
}

links() { # pass|fail NAME TEXT
    local found=pass
    (cd "$scratch" && bash "$root/tests/docs/links.sh") >"$scratch/log" 2>&1 || found=fail
    if [ "$found" != "$1" ] || ! grep -qF -- "$3" "$scratch/log"; then
        echo "selftest: $2: $found, expected $1 and '$3':"
        cat "$scratch/log"
        failed=1
    fi
}
{
    echo '# A page'
    for n in $(seq 60); do echo "[$n](docs/a.md#the-kernel-k-1) and \`[x](none.md)\`"; done
} >"$scratch/README.md"
printf '%s\n' '# One' '## The kernel `k`' '## The kernel `k`' >"$scratch/docs/a.md"
links pass 'links' 'links: 60'
echo '[lost](docs/b.md)' >>"$scratch/README.md"
links fail 'a page that is not there' 'README.md:62: there is no docs/b.md'
sed -i '$d' "$scratch/README.md"
echo '[up](../README.md#other)' >>"$scratch/docs/a.md"
links fail 'a heading that is not there' 'docs/a.md:4: README.md has no heading #other'

# Blocks: each tag that has a test, a reason that the table has, and what is neither.
blocks() { # pass|fail NAME TEXT
    local found=pass
    (cd "$scratch" && bash "$root/tests/docs/blocks.sh") >"$scratch/log" 2>&1 || found=fail
    if [ "$found" != "$1" ] || ! grep -qF -- "$3" "$scratch/log"; then
        echo "selftest: $2: $found, expected $1 and '$3':"
        cat "$scratch/log"
        failed=1
    fi
}
for n in $(seq 20); do
    printf '%s\n' '```console' "$ echo $n" "$n" '```' '```c' 'int x;' '```' '```text' 'x' '```'
done >"$scratch/README.md"
printf '%s\n' '- a list' '' '    its second paragraph' '' 'Text.' >"$scratch/docs/a.md"
printf '%s\n' '```sh unrun gpu' 'run' '```' >>"$scratch/docs/a.md"
printf '%s\n' '| reason | why | pages |' '|---|---|---|' '| `gpu` | a GPU | `docs/a.md` |' \
    >"$scratch/docs/testing.md"
blocks pass 'blocks' 'blocks: 61, 1 of them are not executed'
bad_block() { # TEXT LINE…: the lines added to a page, and the problem
    local text=$1
    shift
    cp "$scratch/docs/a.md" "$scratch/kept.md"
    printf '%s\n' "$@" >>"$scratch/docs/a.md"
    blocks fail "$text" "$text"
    cp "$scratch/kept.md" "$scratch/docs/a.md"
}
bad_block 'docs/a.md:9: the tag "" of a block' '```' 'echo' '```'
bad_block 'docs/a.md:9: the tag "sh" of a block' '```sh' 'echo' '```'
bad_block 'docs/a.md:9: the tag "tile run" of a block' '```tile run' 'x' '```'
bad_block 'docs/a.md:10: a command in a block that is not executed' '```text' '$ echo' '```'
bad_block 'docs/a.md:10: a block without ```' '' '    echo'
bad_block 'docs/a.md:9: docs/testing.md has no row for the reason "root"' '```sh unrun root' '```'
echo '| `root` | root | `docs/a.md` |' >>"$scratch/docs/testing.md"
blocks fail 'a row without a block' 'docs/testing.md:4: docs/a.md has no block "unrun root"'

[ "$failed" -eq 0 ] && echo "selftest: ok"
exit "$failed"
