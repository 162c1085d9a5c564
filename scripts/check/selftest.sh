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

# What a search for `#include "` alone would miss; the header is there, so that all of it compiles.
# Each also where a condition hides it from the compiler.
reset
plant passes/pass.h <<<'#ifndef PASS_H
#define PASS_H
#endif'
while IFS= read -r line; do
    printf '%b\n' "$line" | plant ir/bad.c
    expect includes fail 'ir may not include passes (passes/pass.h)'
    printf '#if 0\n%b\n#endif\n' "$line" | plant ir/bad.c
    expect includes fail 'ir may not include passes (passes/pass.h)'
done <<'END'
# include /* c */ "passes/pass.h"
/**/ #include "passes/pass.h"
/* two\nlines */ #include "passes/pass.h"
#inc\\\nlude "passes/pass.h"
#include \\\n    "passes/pass.h"
%:include "passes/pass.h"
?\077=include "passes/pass.h"
#import "passes/pass.h"
END
plant ir/bad.c <<<'#define H "passes/pass.h"
#include H'
expect includes fail 'ir/bad.c:2: ir may not include passes'
expect includes fail 'ir/bad.c:2: an include through the macro H'
plant ir/bad.c <<<'#line 1 "passes/other.h"
#include "passes/pass.h"'
expect includes fail 'ir may not include passes'
expect includes fail 'ir/bad.c:1: a marker'
plant ir/bad.c <<<'# 1 "passes/other.h" 1
#include "passes/pass.h"'
expect includes fail 'ir/bad.c:1: a marker'
plant ir/bad.c <<<'#include <./passes/pass.h>'
expect includes fail 'a path of an include is plain'
plant ir/bad.c <<<"#include \"$tree/passes/pass.h\""
expect includes fail 'a path of an include is plain'
plant ir/bad.c <<<'#include <passes/pass.h>'
expect includes fail 'write "passes/pass.h"'
plant base/good.h <<<'#include <include/tilec/tilec.h>'
expect includes fail 'write <tilec/tilec.h>'
# A header that another one has already brought in, so that its guard skips it.
reset
plant frontend/top.h <<<'#ifndef TOP_H
#define TOP_H
#endif'
plant compile/all.h <<<'#include "frontend/top.h"'
plant tools/bad.c <<<'#include "compile/all.h"'
expect includes pass # what compile knows is its own affair
plant tools/bad.c <<<'#include "compile/all.h"
#define TOP "frontend/top.h"
#include TOP'
expect includes fail 'tools/bad.c:3: tools may not include frontend'
# A table belongs to those who include it.
reset
plant passes/pass.h </dev/null
plant base/names.def <<<'#define H "passes/pass.h"
#include H'
plant ir/bad.c <<<'#include "base/names.def"'
expect includes fail 'ir/bad.c:1: ir may not include passes'
reset
plant ir/bad.c <<<'#if 1
#error here'
expect includes fail 'ir/bad.c: does not preprocess'
for file in base/table.inc compile/notes.md tools/main.cc ir/README; do
    reset
    plant "$file" <<<'int x;'
    expect includes fail "$file: a room holds"
done
reset
ln -s good.h "$tree/base/other.h"
expect includes fail 'base/other.h: a symbolic link'
reset
for file in docs/notes.md scripts/run.sh tests/base/names.inc examples/one.tile ir/table.def; do
    plant "$file" </dev/null
done
expect includes pass

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
plant tools/bad.c <<<'int f(void); int f(void) { static int calls; return ++calls; }'
expect globals fail 'tools/bad.c: mutable global: calls'
rm "$tree/tools/bad.c"
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
for file in bad.c bad.h bad.def; do
    reset
    printf 'int a;\nint\tb;\n' | plant base/$file
    expect style fail "base/$file:2: a tab"
    printf 'int a;\nint b; \n' | plant base/$file
    expect style fail "base/$file:2: blanks at the end"
    printf 'int a;\r\n' | plant base/$file
    expect style fail "base/$file:1: blanks at the end"
done
reset
printf '// %0118d\n' 0 | plant base/bad.def
expect style fail 'base/bad.def:1: a line of more than 120 columns'
plant scripts/check/style.allow <<<'long-line base/bad.def it is a test'
expect style pass
printf '// %0117d\n' 0 | plant base/bad.def
rm "$tree/scripts/check/style.allow"
expect style pass
reset
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
