#!/usr/bin/env bash
# The filetest runner itself, on files that must pass and files that must fail, with a stand-in for
# tilec. Usage: selftest.sh FILETEST
set -eu
runner=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/t"
failures=0
cases=0

# The stand-in; `tilec json F` writes what the file holds after "// json ".
cat >"$work/bin/tilec" <<'TOOL'
#!/bin/sh
verb=$1
shift
case $verb in
cat) cat "$@" ;;
say) echo "$@" ;;
exit) exit "$1" ;;
json)
    sed -n 's|^// json ||p' "$1"
    grep -q 'severity": *"error' "$1" && exit 1
    exit 0
    ;;
both) echo out; echo err >&2 ;;
bare) printf 'no newline' ;;
crash) kill -SEGV $$ ;;
hang) sleep 100 ;;
where) pwd -P | sed 's|.*/||' ;;
esac
TOOL
chmod +x "$work/bin/tilec"

complain() {
    echo "filetest selftest: $1"
    failures=$((failures + 1))
}
# file: the only test file, from standard input.
file() {
    rm -rf "${work:?}/t"
    mkdir "$work/t"
    cat >"$work/t/a.tile"
}
# expect STATUS TEXT [OPTION…]: runs the runner on the folder.
expect() {
    local status=0 wanted=$1 text=$2
    shift 2
    cases=$((cases + 1))
    output=$("$runner" --tool "$work/bin/tilec" "$@" "$work/t" 2>&1) || status=$?
    [ $status -eq "$wanted" ] || complain "case $cases: status $status, expected $wanted: $output"
    [[ $output == *"$text"* ]] || complain "case $cases: '$text' not in: $output"
}

# --- output ---
file <<<'// RUN: tilec say hello
// OUT:
//| hello'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec say hello
// OUT:
//| goodbye'
expect 1 '-goodbye
+hello'
expect 1 '0 passed, 1 failed'
file <<<'// RUN: tilec say hello'
expect 1 'no blessed output yet'
file <<<'// RUN: tilec both
// OUT:
//| out
//| err'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec bare
// OUT:
//| no newline'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec say one && tilec say && tilec say three
// OUT:
//| one
//|
//| three'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec where; tilec say %s
// OUT:
//| t
//| a.tile'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec say x >%t; tilec cat %t; echo %t | sed "s/.*[.]//"
// OUT:
//| x
//| tmp'
expect 0 '1 passed, 0 failed'

# --- status ---
file <<<'// RUN: tilec exit 2
// OUT:
// EXIT: 2'
expect 0 '1 passed, 0 failed'
file <<<'// RUN: tilec exit 2
// OUT:
// EXIT: 1'
expect 1 'exit status 2, expected 1'
file <<<'// RUN: tilec exit 1
// OUT:'
expect 1 'exit status 1, expected 0'
file <<<'// RUN: tilec crash
// OUT:
// EXIT: 139'
expect 1 'ended with status 139'
expect 1 'ended with status 139' --bless
file <<<'// RUN: tilec exit 70
// OUT:
// EXIT: 70'
expect 1 'ended with status 70'
file <<<'// RUN: tilec hang
// OUT:'
expect 1 'still running after 1 s' --timeout 1

# --- the second of two runs counts, too ---
file <<<'// RUN: tilec say a
// OUT:
//| a
// RUN: tilec say b
// OUT:
//| c'
expect 1 '-c
+b'

# --- blessing ---
file <<<'kernel k
// RUN: tilec say new
// OUT:
//| old
// EXIT: 3
// between
// RUN: tilec cat %s | grep -c old; tilec exit 4'
expect 0 '1 passed, 0 failed' --bless
expect 0 '1 passed, 0 failed'
diff -u - "$work/t/a.tile" <<<'kernel k
// RUN: tilec say new
// OUT:
//| new
// between
// RUN: tilec cat %s | grep -c old; tilec exit 4
// OUT:
//| 1
// EXIT: 4' || complain 'blessing wrote something else'

# --- files that are not tests ---
file <<<'kernel k'
expect 1 'no RUN, RUN-ERRORS or RUN-PASSES line'
file <<<'// OUT:
// RUN: tilec say a'
expect 1 'a block that follows no RUN'
file <<<'x //! error: a [b] @1
// RUN: tilec say a
// OUT:
//| a'
expect 1 'without a RUN-ERRORS line'
rm "$work/t/a.tile"
expect 1 'nothing was tested'
"$runner" --tool "$work/bin/none" "$work/t" >/dev/null 2>&1 && complain 'a missing tool is accepted'
"$runner" --tool "$work/bin/tilec" "$work/none" >/dev/null 2>&1 && complain 'no folder, accepted'

# --- diagnostics ---
# diagnostics LINE COLUMN CODE COMMENT: one error there, and the comment on line 2.
diagnostics() {
    file <<<"// RUN-ERRORS: tilec json %s
code $4
// json {\"diagnostics\": [{\"severity\": \"error\", \"code\": \"$3\",
// json \"message\": \"unknown name 'y'\", \"file\": \"a.tile\", \"line\": $1,
// json \"column\": $2, \"notes\": []}]}"
}
diagnostics 2 5 unknown-name "//! error: unknown name 'y' [unknown-name] @5"
expect 0 '1 passed, 0 failed'
diagnostics 2 6 unknown-name "//! error: unknown name 'y' [unknown-name] @5"
expect 1 "line 2: not expected: //! error: unknown name 'y' [unknown-name] @6"
expect 1 "line 2: not reported: //! error: unknown name 'y' [unknown-name] @5"
diagnostics 3 5 unknown-name "//! error: unknown name 'y' [unknown-name] @5"
expect 1 'line 3: not expected'
diagnostics 2 5 other-code "//! error: unknown name 'y' [unknown-name] @5"
expect 1 'not reported'
diagnostics 2 5 unknown-name "//! error: unknown name 'z' [unknown-name] @5"
expect 1 'not reported'
diagnostics 2 5 unknown-name "//! warning: unknown name 'y' [unknown-name] @5"
expect 1 'not reported'
diagnostics 2 5 unknown-name ""
expect 1 'not expected'
diagnostics 2 5 unknown-name "//! error: name [unknown-name] @5 //! error: other [o] @9"
expect 1 'line 2: not reported: //! error: other [o] @9'
diagnostics 2 5 unknown-name "//! error: name [unknown-name]"
expect 1 "expected '//! error|warning|info: FRAGMENT [CODE] @COLUMN'"
diagnostics 0 0 unknown-name "//! error: name [unknown-name] @-"
expect 0 '1 passed, 0 failed'
diagnostics 2 5 unknown-name "//! error: unknown name 'y' [unknown-name] @5"
sed -i 's/a\.tile/b.tile/' "$work/t/a.tile"
expect 1 'in another file: b.tile'

file <<<'// RUN-ERRORS: tilec json %s
//! error: first [a] @1
//! error: second [b] @2
code //! error: third [c] @3
// json {"diagnostics": [
// json {"severity": "error", "code": "c", "message": "third", "file": "a.tile", "line": 4,
// json  "column": 3},
// json {"severity": "error", "code": "a", "message": "first", "file": "a.tile", "line": 4,
// json  "column": 1},
// json {"severity": "error", "code": "b", "message": "second", "file": "a.tile", "line": 4,
// json  "column": 2}]}'
expect 0 '1 passed, 0 failed'

file <<<'// RUN-ERRORS: tilec json %s
// json {"diagnostics": []}'
expect 0 '1 passed, 0 failed'
file <<<'// RUN-ERRORS: tilec say nothing'
expect 1 'the output is not a JSON object'
# An error twice at one place needs two comments.
file <<<'// RUN-ERRORS: tilec json %s
code //! error: a [a] @1
// json {"diagnostics": [
// json {"severity": "error", "code": "a", "message": "a", "file": "a.tile",
// json  "line": 2, "column": 1},
// json {"severity": "error", "code": "a", "message": "a", "file": "a.tile",
// json  "line": 2, "column": 1}
// json ]}'
expect 1 'line 2: not expected'

# --- passes ---
# passes LIST [OUT…]: a module of two functions, the passes, and the lines of the block.
passes() {
    file <<EOF
// adds nothing
func @plus_zero(%x: i32[4]) -> i32[4] {
  %0 = const {value = 0} : i32[4]
  %1 = add %0, %x : i32[4]
  return %1
}
func @twice(%x: i32) -> i32 {
  %0 = add %x, %x : i32
  return %0
}
// RUN-PASSES: $1
// OUT:
$(printf '//| %s\n' "${@:2}")
EOF
}
plus_zero=('func @plus_zero(%x: i32[4]) -> i32[4] {' '  return %x' '}' '')
twice=('func @twice(%x: i32) -> i32 {' '  %0 = add %x, %x : i32' '  return %0' '}')
# No blessing: it must fail as well, and leave the file as it is.
expect_unblessed() {
    cp "$work/t/a.tile" "$work/before"
    expect 1 "$1"
    expect 1 "$1" --bless
    cmp -s "$work/before" "$work/t/a.tile" || complain "case $cases: blessed in spite of '$1'"
}
passes simplify,dce "${plus_zero[@]}" "${twice[@]}"
expect 0 '1 passed, 0 failed'
passes simplify,dce "${plus_zero[@]}" "${twice[@]/add/sub}"
expect 1 '-  %0 = sub %x, %x : i32
+  %0 = add %x, %x : i32'
expect 0 '1 passed, 0 failed' --bless
expect 0 '1 passed, 0 failed'
file <<<'func @f(%x: i32) -> i32 {
  return %x
}
// RUN-PASSES: dce'
expect 1 'no blessed output yet'
# Simplifying leaves an unused constant, which another dce would remove.
passes dce,simplify 'func @plus_zero(%x: i32[4]) -> i32[4] {' '  %0 = const {value = 0} : i32[4]' \
    '  return %x' '}' '' "${twice[@]}"
expect_unblessed 'the passes, run again, change the module again'
# The result of the passes is right, and so is the block; the code that runs computes something
# else.
passes simplify,dce "${plus_zero[@]}" "${twice[@]}"
export FILETEST_PLANT=bits
expect_unblessed '@twice: other bits: buffer 1, element 0: i32'
export FILETEST_PLANT=verify
passes cse "${plus_zero[@]}" "${twice[@]}"
expect_unblessed 'the result does not verify'
passes simplify,dce "${plus_zero[@]}" "${twice[@]}"
export FILETEST_PLANT=change
expect_unblessed 'the passes, run again, report a change, but the text is the same'
export FILETEST_PLANT=silent
expect_unblessed 'the passes change the module, but report no change'
export FILETEST_PLANT=crash
expect_unblessed 't/a.tile: its 1 files count as failed'
unset FILETEST_PLANT
file <<<'func @f(%x: i32) -> i32 {
  %0 = add %x, %x : i64
  return %0
}
// RUN-PASSES: dce
// OUT:'
expect_unblessed 'the module does not verify'
file <<<'func @f( {
// RUN-PASSES: dce
// OUT:'
expect_unblessed 'the module does not parse'
passes simplfy
expect_unblessed "unknown pass 'simplfy'"
passes ''
expect 1 'RUN-PASSES wants a list of passes'
passes simplify,dce "${plus_zero[@]}" "${twice[@]}"
echo '// EXIT: 1' >>"$work/t/a.tile"
expect 1 'RUN-PASSES has no exit status'

# --- many files on two workers ---
file <<<'// RUN: tilec say a
// OUT:
//| a'
mkdir "$work/t/deep"
for i in 1 2 3 4 5 6; do cp "$work/t/a.tile" "$work/t/deep/$i.tir"; done
echo '// RUN: tilec say b' >"$work/t/deep/bad.tile"
expect 1 '7 passed, 1 failed'
expect 1 'deep/bad.tile' --jobs 5

# --- parts: each file is in one of them, and what changed is in all ---
rm "$work/t/deep/bad.tile"
in_parts() { # in_parts NUMBER: the files that three parts run together
    local sum=0 part
    cases=$((cases + 1))
    for part in 1 2 3; do
        output=$("$runner" --tool "$work/bin/tilec" --part $part/3 "$work/t" 2>&1) ||
            complain "case $cases: part $part fails: $output"
        sum=$((sum + ${output%% *}))
    done
    [ $sum -eq "$1" ] || complain "case $cases: parts run $sum files, expected $1"
}
in_parts 7
TILEC_TEST_CHANGED=$(printf '%s\n' other "$work/t/a.tile" "$work/t/deep/3.tir") in_parts 11
expect 2 '--part wants a part' --part 4/3

if [ $failures -gt 0 ]; then
    echo "filetest selftest: $failures failures in $cases cases"
    exit 1
fi
echo "filetest selftest: $cases cases passed"
