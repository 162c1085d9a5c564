#!/usr/bin/env bash
# The commands on the pages print what the pages say. Each block
#
#     ```console
#     $ tilec check examples/softmax.tile
#     $ tilec emit examples/softmax.tile softmax --as ptx --target sm_80 | head -n 2
#     //
#     ...
#     ```
#
# is run: the lines that begin with "$ " are commands, the lines after each are what it prints, on
# standard output and standard error together.
#
#   \           at the end of a command: it goes on in the next line
#   # status 3  at the end of a command: its status, where it is not 0
#   ...         a line of the output: stands for any lines, at least one
#   [..]        in a line of the output: stands for any text
#
# Blanks at the ends of lines do not count.
# A page has a folder of its own, in which examples/ and the folders of source are the repository's,
# and build/release is BUILD; its blocks run in order.
# A block with the tag "LANGUAGE file NAME" (```tile file k.tile) is a file of that folder. NVIDIA's
# tools are hidden, so output does not depend on them.
# A command with pkg-config or cc gets this build, installed into a folder.
# A picture NAME.svg that the commands write, and that the page shows, is the one next to the page.
#
#     bash tests/docs/console.sh BUILD [--bless] [PAGE…]     default: all pages
#
# --bless writes what comes out where it differs: read the diff, and shorten by "..." again. It
# copies a picture that differs.
set -eu
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
cd "$root"
bless=no
[ "${1-}" != --bless ] || { bless=yes && shift; }
[ $# -gt 0 ] || set -- README.md docs/*.md docs/*/*.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH="$build:$PATH" TILEC_CACHE_DIR="${TILEC_CACHE_DIR:-$build/cache}" HOME="$scratch"
export TILEC_LIBRARY="$build/libtilec.so" PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1
# The same output with and without NVIDIA's tools.
export TILEC_PTXAS=/none/ptxas TILEC_NVJITLINK=/none/lib.so
failed=0
commands=0

# Takes the page apart. Each step is STEP.line, its number, and STEP.file, a name, with STEP.text;
# or STEP.run, a command, with STEP.status and STEP.text, what it prints.
take_apart() { # PAGE FOLDER
    awk -v to="$2" '
        function step(kind) {
            n++
            out = sprintf("%s/%04d", to, n)
            print NR >(out ".line")
            printf "" >(out ".text")
            return out "." kind
        }
        function close_step() { close(out ".text"); close(out ".line"); out = "" }
        function command(text, part) {
            if (!more) run = step("run")
            more = text ~ /\\$/
            print text >run
            if (!more) {
                close(run)
                part = text
                if (!sub(/^.*# status /, "", part)) part = 0
                print part >(out ".status")
                close(out ".status")
            }
        }
        /^```/ {
            if (open) { open = ""; if (out) close_step(); next }
            open = "other"
            if ($0 == "```console") { open = "console"; more = 0; out = "" }
            if ($2 == "file" && NF == 3) {
                open = "file"
                name = step("file")
                print $3 >name
                close(name)
            }
            next
        }
        open == "console" && more { command($0); next }
        open == "console" && /^\$ / { if (out) close_step(); command(substr($0, 3)); next }
        open == "console" && !out { print NR ": output of no command" >(to "/problems"); next }
        open == "console" || open == "file" { print >(out ".text") }' "$1"
}

# Turns the text of a page into a pattern of bash: each character stands for itself, except for the
# two marks.
pattern_of() {
    sed -e 's/ *$//' -e 's/[^[:alnum:] ]/\\&/g' \
        -e 's/^\\\.\\\.\\\.$/*/' -e 's/\\\[\\\.\\\.\\\]/*/g' "$1"
}

# Installs the build where pages find it. Programs are compiled with the build's own sanitizers.
install_build() {
    local sanitizers package
    [ ! -e "$scratch/installed" ] || return 0
    cmake --install "$build" --prefix "$scratch/installed" >"$scratch/install.log" || {
        cat "$scratch/install.log"
        exit 1
    }
    package=$(find "$scratch/installed" -name tilec.pc)
    export PKG_CONFIG_PATH=${package%/*} LD_LIBRARY_PATH=${package%/pkgconfig/*}
    sanitizers=$(sed -n 's/^TILEC_SANITIZE:[A-Z]*=//p' "$build/CMakeCache.txt")
    [ -n "$sanitizers" ] || return 0
    mkdir "$scratch/bin"
    printf '#!/bin/sh\nexec "%s" -fsanitize=%s "$@"\n' "$(sed -n \
        's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")" "$sanitizers" >"$scratch/bin/cc"
    chmod +x "$scratch/bin/cc"
    export PATH="$scratch/bin:$PATH"
}

run_step() { # PAGE STEP FOLDER
    local status=0 wanted pattern found
    wanted=$(cat "$2.status")
    (cd "$3" && timeout 240 bash "$2.run") >"$2.raw" 2>&1 </dev/null || status=$?
    sed 's/ *$//' "$2.raw" >"$2.found"
    commands=$((commands + 1))
    if [ "$status" -ne "$wanted" ]; then
        echo "$1:$(cat "$2.line"): the status is $status, the page says $wanted:"
        cat "$2.run" "$2.found"
        failed=1
        return
    fi
    pattern=$(pattern_of "$2.text")
    found=$(cat "$2.found")
    # shellcheck disable=SC2053
    [[ $found == $pattern ]] && { rm "$2.found" && return; }
    [ "$bless" = no ] || return 0
    echo "$1:$(cat "$2.line"): this prints something else (--bless writes it): $(cat "$2.run")"
    diff -u --label page --label found "$2.text" "$2.found" | tail -n +3 || true
    failed=1
}

compare_pictures() { # PAGE FOLDER
    local made shown
    for made in "$2"/*.svg; do
        shown=$(dirname "$1")/$(basename "$made")
        grep -qF "](${shown##*/})" "$1" || continue
        ! cmp -s "$made" "$shown" || continue
        if [ "$bless" = yes ]; then
            cp "$made" "$shown"
            echo "blessed: $shown"
        else
            echo "$shown: the commands of $1 draw another picture (--bless copies it)"
            failed=1
        fi
    done
}

# Puts what was found into the page.
bless_page() { # PAGE STEPS
    local step line
    for step in "$2"/*.found; do
        [ -e "$step" ] || return 0
        line=$(cat "${step%.found}.line")
        echo "$line $(wc -l <"${step%.found}.run") $(wc -l <"${step%.found}.text") $step"
    done >"$2/blessed"
    awk -v blessed="$2/blessed" '
        BEGIN {
            while ((getline row <blessed) > 0) {
                split(row, part, " ")
                first = part[1] + part[2]
                file[first] = part[4]
                for (i = 0; i < part[3]; i++) skip[first + i] = 1
            }
        }
        FNR in file { while ((getline text <file[FNR]) > 0) print text }
        !(FNR in skip) { print }' "$1" >"$2/page"
    cp "$2/page" "$1"
    echo "blessed: $1"
}

for page in "$@"; do
    [ -e "$page" ] || continue
    steps="$scratch/$(tr '/' '_' <<<"$page")"
    folder="$steps/folder"
    mkdir -p "$folder"
    for room in examples base ir target frontend passes codegen compile runtime sim include \
        tests scripts; do
        ln -s "$root/$room" "$folder/$room"
    done
    mkdir "$folder/build"
    ln -s "$build" "$folder/build/release"
    take_apart "$page" "$steps"
    if [ -e "$steps/problems" ]; then
        sed "s|^|$page:|" "$steps/problems"
        failed=1
    fi
    ! grep -qsE '(^|[ (])(pkg-config|cc) ' "$steps"/*.run || install_build
    for line in "$steps"/*.line; do
        [ -e "$line" ] || continue
        step=${line%.line}
        if [ -e "$step.file" ]; then
            cp "$step.text" "$folder/$(cat "$step.file")"
        else
            run_step "$page" "$step" "$folder"
        fi
    done
    compare_pictures "$page" "$folder"
    [ "$bless" = no ] || bless_page "$page" "$steps"
done
[ "$failed" -eq 0 ] && echo "console: $commands commands"
exit "$failed"
