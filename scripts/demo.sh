#!/usr/bin/env bash
# The first command to type: sets up, builds tilec, and runs every example kernel on this machine's
# processor (no GPU needed), or on the reference interpreter if LLVM is missing. The results are
# stored as .npy files in out/. Each example is run by the command in its first comment; the arrays
# that its kernel writes are stored.
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
scripts/setup.sh
scripts/build.sh release
tilec=$PWD/build/release/tilec
if [ ! -x "$tilec" ]; then
    echo "demo: error: the build made no $tilec" >&2
    exit 1
fi
mkdir -p out
out=$PWD/out
where="this machine's processor"
if [ ! -e build/release/libtilec_llvm.so ]; then
    where="the interpreter (LLVM is missing, which device cpu needs)"
fi

# title_of FILE: the first sentence of its first comment.
title_of() {
    awk '!/^\/\/ ?[^ ]/ { exit }
         { sub(/^\/\/ ?/, ""); text = text (text ? " " : "") $0 }
         END { sub(/\. .*/, ".", text); print text }' "$1"
}
# command_of FILE: the `tilec run` line of the file's first comment, continued lines joined.
command_of() {
    awk '/^\/\/ +tilec run / || more {
             sub(/^\/\/ +/, ""); more = sub(/ *\\$/, " "); printf "%s", $0
             if (!more) exit }' "$1"
}
# writes_of FILE KERNEL: the views the kernel writes (the first kernel when none is named).
writes_of() {
    awk -v wanted="$2" '
        /^kernel / {
            split($2, name, "(")
            inside = wanted == "" ? !seen : name[1] == wanted
            seen = 1 }
        /^}/ { inside = 0 }
        inside && match($0, /^ +[a-zA-Z_][a-zA-Z_0-9]*\[/) && /\][^=<>!]*=[^=]/ {
            written(substr($0, RSTART, RLENGTH - 1)) }
        inside && match($0, /atomic_[a-z_]+\([a-zA-Z_][a-zA-Z_0-9]*\[/) {
            view = substr($0, RSTART, RLENGTH - 1); sub(/.*\(/, "", view); written(view) }
        function written(view) {
            gsub(/ /, "", view)
            if (!(view in done)) print view
            done[view] = 1 }' "$1"
}

failed=0
count=0
echo
for file in examples/*.tile; do
    name=$(basename "$file" .tile)
    command=$(command_of "$file")
    [ -e build/release/libtilec_llvm.so ] || command=${command/--device cpu/--device interp}
    read -r -a words <<<"$command"
    [ ${#words[@]} -ge 3 ] || continue # it shows no command
    kernel=${words[3]:-}
    [[ $kernel != -* ]] || kernel=
    outs=()
    for view in $(writes_of "$file" "$kernel"); do
        outs+=(--out "$view=$out/$name-$view.npy")
    done
    count=$((count + 1))
    printf '%-18s %s\n' "$name" "$(title_of "$file")"
    if ! report=$(cd examples && "$tilec" "${words[@]:1}" "${outs[@]}" 2>&1); then
        failed=$((failed + 1))
        printf '%s\n' "$report" | sed 's/^/    /'
        echo "    FAILED: tilec ${words[*]:1}"
        continue
    fi
    for ((i = 1; i < ${#outs[@]}; i += 2)); do
        path=${outs[i]#*=}
        header=$(head -c 128 "$path" | tr -d '\0' | grep -ao "{.*}" | head -n 1)
        shape=$(sed -E "s/.*'shape': *(\([^)]*\)).*/\1/" <<<"$header")
        type=$(sed -E "s/.*'descr': *'([^']*)'.*/\1/" <<<"$header")
        printf '%18s out/%s  %s %s\n' '' "$(basename "$path")" "$type" "$shape"
    done
done
echo
if [ $failed -gt 0 ]; then
    echo "demo: $failed of $count kernels failed"
    exit 1
fi
echo "demo: $count kernels ran on $where; their results are in out/"
echo "      next: build/release/tilec --help, or open examples/softmax.tile and change it"
