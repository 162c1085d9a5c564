#!/usr/bin/env bash
# The checks themselves: each passes a clean tree, and fails on a planted violation, naming it. If
# nothing in scripts/check changed since the base commit (lib/common.sh), they are not tried.
set -eu
checks=$(cd "$(dirname "$0")" && pwd)
unchanged() { # whether the checks are those of the base commit, with which this test passed
    local base
    [ "${CHECK_ALL:-0}" = 0 ] && [ -f "$checks/base" ] || return 1
    base=$(cat "$checks/base")
    git -C "$checks" cat-file -e "$base^{commit}" 2>/dev/null &&
        git -C "$checks" diff --quiet "$base" -- . ':!base' ../../.clang-format 2>/dev/null &&
        [ -z "$(git -C "$checks" ls-files -o --exclude-standard .)" ]
}
if unchanged; then
    echo "selftest: the checks have not changed since $(cut -c 1-12 "$checks/base"); not tried"
    exit 0
fi
unset CHECK_ALL
# Asked once, not by each of the hundreds of checks below.
CHECK_LLVM_INCLUDE=$(llvm-config-22 --includedir 2>/dev/null || true)
export CHECK_LLVM_INCLUDE
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
# The build folder that is passed to the checks, if any.
folder=''
# expect CHECK pass|fail [TEXT]: runs it on the tree; its output must name TEXT.
expect() {
    cases=$((cases + 1))
    local status=0 output
    output=$(bash "$checks/$1.sh" "$tree" ${folder:+"$folder"} 2>&1) || status=$?
    if [ $status -eq 77 ]; then
        echo "selftest: $1: $output"
        return
    fi
    if [ "$2" = pass ] && [ $status -ne 0 ]; then
        echo "selftest: $1 fails on a clean tree: $output"
        failures=$((failures + 1))
    elif [ "$2" = pass ] && [[ $output != *"${3:-}"* ]]; then
        echo "selftest: $1 passes without saying '$3': $output"
        failures=$((failures + 1))
    elif [ "$2" = fail ] && { [ $status -ne 1 ] || [[ $output != *"$3"* ]]; }; then
        echo "selftest: $1 does not report '$3' (status $status): $output"
        failures=$((failures + 1))
    fi
}

reset
for check in includes headers globals format warnings style structure words; do
    expect $check pass
done

# Sentences that stood in pages and comments once: words finds each, as a page and as a comment.
number=0
while IFS= read -r sentence; do
    number=$((number + 1))
    plant "docs/page$number.md" <<<"$sentence"
done <"$checks/lib/old-sentences.txt"
said=$(bash "$checks/words.sh" "$tree" 2>&1) || true
for ((i = 1; i <= number; i++)); do
    cases=$((cases + 1))
    [[ $said == *"docs/page$i.md:1: \""* || $said == 'skipped: '* ]] || {
        echo "selftest: words accepts line $i of old-sentences.txt"
        failures=$((failures + 1))
    }
done
rm "$tree"/docs/page*.md
plant base/said.h <<<'// Says which value that is.
// Of each register the place.'
expect words fail 'base/said.h:1: "Of": begin with the subject'
plant base/said.h <<<'int said; // and nobody asks'
expect words fail 'base/said.h:1: "nobody"'
plant base/said.h <<<'static const char *const said = "a tile says where each lies";'
expect words fail 'base/said.h:1: "lies"'
plant base/said.h <<<'// `What` is a name, and "where" one. What is it? It begins so, of course.'
expect words pass
rm "$tree/base/said.h"
plant docs/page.md <<<"$(printf 'long %.0s' {1..21})"
expect words fail 'docs/page.md:1: a line of more than 100 columns'
plant docs/page.md <<<"| $(printf 'long %.0s' {1..21}) |"
expect words pass
rm "$tree/docs/page.md"

plant 0 <<<'|82'
expect structure fail '0: no such file or folder belongs at the root'
rm "$tree/0"
for i in {1..21}; do plant "ir/part$i.c" <<<'int part;'; done
expect structure fail 'files of sources, expected at most 20'
rm "$tree"/ir/part*.c
for i in {1..41}; do plant "sim/machine/part$i.c" <<<'int part;'; done
expect structure fail 'sim/machine: 41 files of sources, expected at most 40'
rm "$tree"/sim/machine/part*.c
plant passes/one.c <<<'typedef struct Walk { int at; } Walk;'
expect structure pass
plant runtime/two.c <<<'struct Walk {
    int at;
};'
expect structure fail 'Walk: a type of this name in each of passes/one.c runtime/two.c'
plant scripts/check/structure.allow <<<'Walk 2 for the test'
expect structure pass
rm "$tree/passes/one.c" "$tree/runtime/two.c" "$tree/scripts/check/structure.allow"
plant base/three.h <<<'typedef struct {
    int at;
} Walk;'
plant base/four.h <<<'typedef enum Walk { SLOW } Walk;'
expect structure fail 'Walk: a type of this name'
rm "$tree/base/three.h" "$tree/base/four.h"
# Files a, b and c call each other in a circle; d is only called.
circle() {
    printf '%s\t%s\n' a b b c c a c d d e | awk -v most="$1" -f "$checks/lib/components.awk"
}
cases=$((cases + 2))
[[ $(circle 2) == '3 files call each other:'* ]] && [ -z "$(circle 3)" ] || {
    echo "selftest: components.awk finds: $(circle 2), $(circle 3)"
    failures=$((failures + 1))
}
# message TEXT [SAYS]: the message is accepted, or is refused with these words.
message() {
    local said
    cases=$((cases + 1))
    printf '%s' "$1" >"$tree/message"
    said=$(bash "$checks/messages.sh" --file "$tree/message" 2>&1) || true
    if [ -z "${2:-}" ] && [ -n "$said" ] || [[ $said != *"${2:-}"* ]]; then
        echo "selftest: messages says '$said' of: $1"
        failures=$((failures + 1))
    fi
    rm "$tree/message"
}
message $'passes/licm: stop at aliasing stores\n\nThey were moved.\n'
message $'docs: name the limits\n'
message $'passes: stop at stores\n' 'the body is to say why'
message $'stop at stores\n\nWhy.\n' 'expected `room: what changes`'
message $'passes: wip\n\nWhy.\n' 'no "wip"'
message $'passes: loops again\n\nWhy.\n' 'no "wip"'
message "passes: $(printf 'x%.0s' {1..70})"$'\n\nWhy.\n' 'expected at most 72'
message $'passes: stop\nat once\n\nWhy.\n' 'the second line is not empty'

plant ir/bad.c <<<'#include "frontend/tile/ast.h"'
expect includes fail 'ir/bad.c:1: ir may not include frontend/tile'
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

# Includes that a search for `#include "` would miss; the header exists, so that all of it compiles.
# Each is also tested inside a condition that hides it from the compiler.
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
/*\n*/ #include "passes/pass.h" // */
/*\n/* a */ #include "passes/pass.h"
/* a */ /* b\n*/ /**/ #include "passes/pass.h"
END
for line in '# /* a\n*/ include "passes/pass.h"' '#include /* a\n*/ "passes/pass.h"'; do
    printf '#if 0\n%b\n#endif\n' "$line" | plant ir/bad.c
    expect includes fail 'ir/bad.c:2: a comment of several lines splits'
done
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
# A header that another one has already included, so that its guard skips it.
reset
plant sim/top.h <<<'#ifndef TOP_H
#define TOP_H
#endif'
plant compile/all.h <<<'#include "sim/top.h"'
plant tools/bad.c <<<'#include "compile/all.h"'
expect includes pass # what compile knows is its own affair
plant tools/bad.c <<<'#include "compile/all.h"
#define TOP "sim/top.h"
#include TOP'
expect includes fail 'tools/bad.c:3: tools may not include sim'
# Front ends: rooms above them may include only the entry header, and no front end includes another.
reset
plant frontend/tile/tile.h </dev/null
plant frontend/other/other.h </dev/null
plant frontend/common/value.h </dev/null
for file in compile/bad.c tools/bad.c passes/bad.c; do
    plant "$file" <<<'#include "frontend/tile/tile.h"'
    expect includes fail "$file:1: ${file%/*} may not include frontend/tile"
    rm "$tree/$file"
done
plant frontend/bad.c <<<'#include "frontend/tile/tile.h"'
expect includes pass
plant frontend/common/bad.c <<<'#include "frontend/tile/tile.h"'
expect includes fail 'frontend/common/bad.c:1: frontend/common may not include frontend/tile'
plant frontend/common/bad.c <<<'#include "ir/ir.h"'
plant frontend/tile/bad.c <<<'#include "frontend/other/other.h"'
expect includes fail 'frontend/tile/bad.c:1: "frontend/other/other.h": no such room'
# A table's includes belong to the files that include it.
reset
plant passes/pass.h </dev/null
plant base/names.def <<<'#define H "passes/pass.h"
#include H'
plant ir/bad.c <<<'#include "base/names.def"'
expect includes fail 'ir/bad.c:1: ir may not include passes'
plant base/names.def <<<'#if 0
#include "passes/pass.h"
#endif'
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
plant base/os/os.c <<<'#include <unistd.h>'
expect style pass
plant base/bad.c <<<'void f(int x) { switch ((unsigned)x) { case 1: break; } }'
expect style fail 'base/bad.c:1: a cast in a switch'
plant base/bad.c <<<'void f(int x) { switch (x) { default: break; } }'
expect style pass
rm "$tree/base/bad.c"
plant docs/bad.md <<<"one TO""DO here"
expect style fail 'docs/bad.md:1: an open end'
plant docs/bad.md <<<"see /ho""me/somebody/notes"
expect style fail 'docs/bad.md:1: a path of one machine'


# Files that a build has compiled. make_build FLAGS…: compiles base/*.c and ir/*.c in build/test.
warnings=$(bash -c 'source "$0"; echo "${warnings[*]}"' "$checks/lib/common.sh" "$checks/../..")
make_build() {
    local file
    folder="$tree/build/test"
    mkdir -p "$folder"
    {
        echo "rule cc"
        echo "  command = $(command -v gcc) -I../.. -I../../include -std=c17 $*" \
            '-MD -MF $out.d -o $out -c $in'
        echo '  depfile = $out.d'
        echo '  deps = gcc'
        for file in "$tree"/base/*.c "$tree"/ir/*.c; do
            file=${file#"$tree/"}
            [ ! -f "$tree/$file" ] ||
                echo "build CMakeFiles/tilec_objects.dir/$file.o: cc ../../$file"
        done
    } >"$folder/build.ninja"
    ninja -C "$folder" --quiet
    (cd "$folder" && ninja -t compdb >compile_commands.json)
}
later() { touch -d '+1 minute' "$tree/$1"; } # later than its object
if command -v gcc >/dev/null && command -v ninja >/dev/null; then
    reset
    make_build -fPIC "$warnings"
    expect includes pass 'includes: 1 of 3 files'
    expect warnings pass 'gcc: 0 of 1 files'
    expect globals pass
    for flags in '-fsanitize=address,undefined' '--coverage -fprofile-update=atomic'; do
        plant base/good.c <<<'#include "base/good.h"
int good(int value) { return value + 1; }
extern const int one;
const int one = 1;'
        make_build -g -O1 -fPIC "$flags"
        expect globals pass
    done
    reset
    make_build "$warnings"
    # A file that is not part of the build.
    plant ir/bad.c <<<'extern int counter;
int counter = 1L << 40;'
    expect warnings fail 'gcc: ir/bad.c:2'
    expect globals fail 'ir/bad.c: mutable global: counter'
    plant ir/bad.c <<<'#error here'
    expect includes fail 'ir/bad.c: does not preprocess'
    # Globals that can be seen only in the objects.
    reset
    plant ir/bad.c <<<'int use(void);
#ifdef BUILT
extern int outer;
static int value;
static int *volatile ro = &outer;
_Thread_local int each;
static const int *const fine[] = {&value};
int use(void) { static int calls; return (*ro = ++calls) + *fine[calls & 0] + each + value++; }
#else
int use(void) { return 0; }
#endif'
    make_build -O2 -fPIC -fdata-sections -DBUILT
    for name in value ro each calls; do
        expect globals fail "ir/bad.c: mutable global: $name"
    done
    expect globals fail 'globals: 4 violations'
    folder=''
    expect globals pass
    missing='base/good.c: CMakeFiles/tilec_objects.dir/base/good.c.o is missing or older'
    # Objects that are out of date: older than the source, older than a header, missing, or without
    # a source.
    reset
    make_build "$warnings"
    later base/good.c
    expect globals fail "$missing"
    expect warnings pass 'gcc: 1 of 1 files'
    expect includes pass 'includes: 3 of 3 files'
    reset
    make_build "$warnings"
    later base/good.h
    expect globals fail "$missing"
    expect warnings pass 'gcc: 1 of 1 files'
    reset
    make_build "$warnings"
    rm "$folder"/CMakeFiles/*/base/good.c.o
    expect globals fail "$missing"
    expect warnings pass 'gcc: 1 of 1 files'
    reset
    plant ir/bad.c <<<'int counter;'
    make_build
    expect globals fail 'ir/bad.c: mutable global: counter'
    rm "$tree/ir/bad.c"
    expect globals pass
    # An object that nm cannot read.
    reset
    make_build
    echo text >"$folder/CMakeFiles/tilec_objects.dir/base/good.c.o"
    touch -d '-1 hour' "$folder/CMakeFiles/tilec_objects.dir/base/good.c.o"
    expect globals fail 'nm read 0 of 1 objects'
    # A build without these warnings, or that turns one off, proves nothing about them.
    plant ir/bad.c <<<'int bad(int a, long b);
int bad(int a, long b) { return (int)b; }'
    make_build
    expect warnings fail 'gcc: ir/bad.c:2'
    make_build "$warnings -Wno-unused-parameter"
    expect warnings fail 'gcc: ir/bad.c:2'
    # An include that is not visible in any text.
    reset
    plant ir/hidden.h <<<'enum { HIDDEN };'
    make_build -include ../../ir/hidden.h
    expect includes fail 'base/good.c: the compiler read ir/hidden.h'
    # A header generated by the build may include anything; its includers are checked here.
    reset
    plant ir/uses.c <<<'#include <made.h>'
    mkdir -p "$tree/build/test"
    plant build/test/made.h <<<'#include "base/good.h"'
    make_build -I.
    expect includes pass 'includes: 2 of 4 files'
    folder=''
else
    echo "selftest: no gcc or no ninja; what a build knows is not tried"
fi

# Files that changed since the base commit.
in_git() { git -C "$tree" -c user.name=a -c user.email=a@b.c -c commit.gpgsign=false "$@"; }
commit() { # all there is; it becomes the base
    in_git add -A
    in_git commit -q --allow-empty -m test
    in_git rev-parse HEAD | plant scripts/check/base
}
if command -v git >/dev/null; then
    reset
    mkdir -p "$tree/scripts/check/lib"
    cp "$checks/lib/common.sh" "$tree/scripts/check/lib/"
    plant base/ugly.c <<<'int ugly( int a, long b );
int ugly( int a, long b ) { return (int)b; }'
    plant base/bad.h <<<'size_t bad(void);'
    plant base/uses.h <<<'#include "base/good.h"
#define WIDE int'
    plant base/uses.c <<<'#include "base/uses.h"

int uses(WIDE value);

int uses(WIDE value) { return value; }'
    in_git init -q
    commit
    export CHECK_ALL=1
    expect format fail 'base/ugly.c:1'
    expect headers fail 'base/bad.h alone'
    export CHECK_ALL=0
    expect format pass 'format: 0 of'
    expect headers pass 'headers: not public: 0 of'
    echo '// changed' >>"$tree/base/ugly.c"
    expect format fail 'base/ugly.c:1'
    in_git checkout -q base/ugly.c
    plant base/new.c <<<'int bad( int a ){return a;}'
    expect format fail 'base/new.c:1' # not yet committed
    rm "$tree/base/new.c"
    echo '// changed' >>"$tree/base/bad.h"
    expect headers fail 'base/bad.h alone'
    in_git checkout -q base/bad.h
    plant include/tilec/bad.h <<<'_Static_assert(1, "not in C99");'
    commit
    expect headers fail 'tilec/bad.h alone' # a public one, always
    rm "$tree/include/tilec/bad.h"
    echo 'ColumnLimit: 99' >>"$tree/.clang-format"
    expect format fail 'base/ugly.c:1'
    in_git checkout -q .clang-format
    if command -v clang-22 clang >/dev/null; then
        plant base/ugly.c <<<'int ugly(int a);
int ugly(int a) { a == 1; return a; }'
        commit
        expect warnings fail 'gcc: base/ugly.c:2'
        expect warnings fail 'warnings: clang: 0 of'
        sed -i 's/int$/long/' "$tree/base/uses.h"
        expect warnings fail 'clang: base/uses.c:5' # what it includes changed
        expect warnings fail 'warnings: clang: 1 of'
        in_git checkout -q base/uses.h
        plant base/far.h <<<'#include "base/uses.h"'
        plant base/far.c <<<'#include "base/far.h"'
        commit
        echo >>"$tree/base/uses.h"
        expect warnings fail 'warnings: clang: 1 of'
        expect headers pass 'headers: not public: 2 of'
        in_git checkout -q base/uses.h
        sed -i 's/^warnings=(-Wall/warnings=(-Wall -Wunused/' "$tree/scripts/check/lib/common.sh"
        expect warnings fail 'clang: base/ugly.c:2'
        in_git checkout -q scripts/check/lib/common.sh
    fi
    echo 0123456789012345678901234567890123456789 | plant scripts/check/base
    expect format fail 'base/ugly.c:' # a commit that is not in the history
    rm "$tree/scripts/check/base"
    expect format fail 'base/ugly.c:'
    unset CHECK_ALL
# Asked once, not by each of the hundreds of checks below.
CHECK_LLVM_INCLUDE=$(llvm-config-22 --includedir 2>/dev/null || true)
export CHECK_LLVM_INCLUDE
    rm -rf "$tree/.git"
else
    echo "selftest: no git; what changed since the base commit is not tried"
fi

rm -rf "${tree:?}" && mkdir "$tree"
for check in includes headers globals format warnings style structure words; do
    expect $check fail 'no files found'
done

if [ $failures -gt 0 ]; then
    echo "selftest: $failures of $cases cases failed"
    exit 1
fi
echo "selftest: $cases cases passed"
