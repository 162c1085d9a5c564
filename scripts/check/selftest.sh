#!/usr/bin/env bash
# The checks themselves: each passes a clean tree, and fails on a planted violation, naming it.
set -eu
checks=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0
cases=0

plant() { # plant FILE: the text comes from standard input
    mkdir -p "$tree/$(dirname "$1")"
    cat >"$tree/$1"
}
reset() {
    rm -rf "${tree:?}"/*
    cp "$checks/../../.clang-format" "$tree/.clang-format"
    plant base/good.h <<<'#ifndef GOOD_H
#define GOOD_H
int good(int value);
#endif'
    plant base/good.c <<<'#include "base/good.h"

static const char *const names[] = {"a", "b"};

int good(int value) { return names[value & 1][0]; }'
    plant include/tilec/tilec.h <<<'#ifndef TILEC_H
#define TILEC_H
int tilec_one(int value);
#endif'
}
# expect CHECK pass|fail [TEXT]: runs it on the tree; its output must name TEXT.
expect() {
    cases=$((cases + 1))
    local status=0 output
    output=$(bash "$checks/$1.sh" "$tree" 2>&1) || status=$?
    if [ $status -eq 77 ]; then
        echo "selftest: $1: $output"
        return
    fi
    if [ "$2" = pass ] && [ $status -ne 0 ]; then
        echo "selftest: $1 fails on a clean tree: $output"
        failures=$((failures + 1))
    elif [ "$2" = fail ] && { [ $status -ne 1 ] || [[ $output != *"$3"* ]]; }; then
        echo "selftest: $1 does not report '$3' (status $status): $output"
        failures=$((failures + 1))
    fi
}

reset
for check in includes headers globals format warnings style; do
    expect $check pass
done

plant ir/bad.c <<<'#include "frontend/tile/ast.h"'
expect includes fail 'ir/bad.c:1: ir may not include frontend'
plant ir/bad.c <<<'#include "good.h"'
expect includes fail 'carries its folder'
plant ir/bad.c <<<'#include <tilec/tilec.h>'
expect includes fail 'ir may not include tilec'
plant ir/bad.c <<<'#include "../base/good.h"'
expect includes fail 'no ".."'
plant ir/bad.c <<<'#include "nowhere/x.h"'
expect includes fail 'no such room'
reset
plant passes/bad.c <<<'#include "codegen/x.h"'
plant codegen/bad.h <<<'#include "passes/x.h"'
expect includes fail 'passes/bad.c:1'
expect includes fail 'codegen/bad.h:1'

reset
plant base/bad.h <<<'size_t bad(void);'
expect headers fail 'base/bad.h alone'
plant base/bad.h <<<'enum { BAD_TWICE };'
expect headers fail 'base/bad.h alone'
reset
plant include/tilec/bad.h <<<'int tilec_bad(int class);'
if command -v g++ clang-22 clang >/dev/null; then
    expect headers fail 'tilec/bad.h alone'
fi
plant include/tilec/bad.h <<<'_Static_assert(1, "not in C99");'
expect headers fail 'tilec/bad.h alone'

reset
plant ir/bad.c <<<'int counter; int next(void) { static int calls; return ++calls + counter; }'
expect globals fail 'ir/bad.c: mutable global: counter'
expect globals fail 'ir/bad.c: mutable global: calls'
plant ir/bad.c <<<'const char *names[] = {"a"};'
expect globals fail 'ir/bad.c: mutable global: names'
plant scripts/check/globals.allow <<<'ir/bad.c names'
expect globals fail 'ir/bad.c: mutable global: names'
plant scripts/check/globals.allow <<<'ir/bad.c names because it is a test'
expect globals pass

reset
plant base/bad.c <<<'int bad( int a ){return a;}'
expect format fail 'base/bad.c:1: not formatted'

reset
plant base/bad.c <<<'int bad(int a, long b);
int bad(int a, long b) { return (int)b; }'
expect warnings fail 'gcc: base/bad.c:2'
if command -v clang-22 clang >/dev/null; then
    expect warnings fail 'clang: base/bad.c:2'
fi

reset
{ echo 'int a;'; yes '' | head -n 900; } | plant base/bad.c
expect style fail 'base/bad.c:901: more than 900 lines'
plant scripts/check/style.allow <<<'long-file base/bad.c it is a test'
expect style pass
reset
printf '// %098d\n' 0 | plant base/bad.c
expect style fail 'base/bad.c:1: a line of more than 100 columns'
printf '// %097d\n' 0 | plant base/bad.c
expect style pass
plant base/bad.c <<<'#include <unistd.h>'
expect style fail 'base/bad.c:1: <unistd.h> is POSIX'
plant base/bad.c <<<'#include <sys/stat.h>'
expect style fail 'base/bad.c:1: <sys/stat.h> is POSIX'
rm "$tree/base/bad.c"
plant base/os.c <<<'#include <unistd.h>'
expect style pass
plant docs/bad.md <<<"one TO""DO here"
expect style fail 'docs/bad.md:1: an open end'
plant docs/bad.md <<<"see /ho""me/somebody/notes"
expect style fail 'docs/bad.md:1: a path of one machine'

rm -rf "${tree:?}" && mkdir "$tree"
for check in includes headers globals format warnings style; do
    expect $check fail 'no files found'
done

if [ $failures -gt 0 ]; then
    echo "selftest: $failures of $cases cases failed"
    exit 1
fi
echo "selftest: $cases cases passed"
