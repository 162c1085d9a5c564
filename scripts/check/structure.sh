#!/usr/bin/env bash
# The shape of the tree: which files may be at its root, how many files a folder of sources may
# have, that the name of a type has one meaning, and that no large group of files calls each other
# in a circle. Circles are found in the objects of the build folder: a file calls another one if its
# object needs a function of the other's. Exceptions are in structure.allow, with their reasons.
source "$(dirname "$0")/lib/common.sh"
folder_most=40 ir_most=20 circle_most=4

# ---- the root
root_names=' .ci .clang-format .githooks .gitignore CHANGELOG.md CMakeLists.txt CMakePresets.json
 CONTRIBUTING.md LICENSE NOTICE README.md SECURITY.md base bench cmake codegen compile docs examples
 frontend include ir licenses passes python runtime scripts sim target tests tools '
cut -d/ -f1 "$scratch/tree" | LC_ALL=C sort -u | while IFS= read -r name; do
    [[ $root_names == *[[:space:]]"$name"[[:space:]]* ]] ||
        echo "$name: no such file or folder belongs at the root (root_names in structure.sh)"
done >>"$scratch/found"

# ---- folders
tree_files '*.c' '*.h' '*.cpp' '*.def' | grep -v '^tests/' | sed 's|/[^/]*$||' | LC_ALL=C sort |
    uniq -c |
    while read -r count folder; do
        most=$folder_most
        [ "$folder" != ir ] || most=$ir_most
        [ "$count" -le "$most" ] ||
            echo "$folder: $count files of sources, expected at most $most; give a part a folder"
    done >>"$scratch/found"

allow="$root/scripts/check/structure.allow"
[ -f "$allow" ] || allow=/dev/null

# ---- names of types: each is defined in one file of the rooms
tree_files '*.c' '*.h' | grep -vE '^(tests|bench|examples|cmake)/' |
    xargs -r -d '\n' awk '
        /^(typedef )?(struct|union|enum) [A-Za-z_0-9]+ \{/ {
            print ($1 == "typedef" ? $3 : $2) "\t" FILENAME
        }
        /^\} [A-Za-z_0-9]+;/ { print substr($2, 1, length($2) - 1) "\t" FILENAME }' |
    LC_ALL=C sort -u |
    awk -F'\t' -v allow="$allow" '
        BEGIN {
            while ((getline row < allow) > 0)
                if (row !~ /^#/ && split(row, word, " ") >= 3) size[word[1]] = word[2]
        }
        { files[$1]++; list[$1] = list[$1] " " $2 }
        END {
            for (name in files)
                if (files[name] > 1 && files[name] > size[name])
                    print name ": a type of this name in each of" list[name]
        }' | LC_ALL=C sort >>"$scratch/found"

# ---- circles
command -v nm >/dev/null || skip "no nm"
make_commands ${build:+"$build"}
awk -F'\t' '$1 !~ "/CMakeFiles/(tilec_objects|tilec_llvm)\\.dir/" { next }
    $2 ~ "^(passes|codegen)/.*[.]c$" && !($2 in seen) { seen[$2] = 1; print $1 "\t" $2 }' \
    "$scratch/commands" >"$scratch/objects"
while IFS=$'\t' read -r object file; do
    [ ! -f "$object" ] || printf '%s\t%s\n' "$object" "$file"
done <"$scratch/objects" >"$scratch/readable"
cut -f1 "$scratch/readable" | tr '\n' '\0' | xargs -0 -r nm -A -f posix 2>/dev/null |
    awk -v objects="$scratch/readable" '
        BEGIN { while ((getline row < objects) > 0) { split(row, w, "\t"); file[w[1]] = w[2] } }
        { object = $1; sub(/:$/, "", object); print file[object] "\t" $2 "\t" $3 }' \
        >"$scratch/symbols"
awk -F'\t' '$3 == "T" { home[$2] = $1 }
    $3 == "U" { from[++n] = $1; needs[n] = $2 }
    END {
        for (i = 1; i <= n; i++)
            if (needs[i] in home && home[needs[i]] != from[i]) print from[i] "\t" home[needs[i]]
    }' "$scratch/symbols" | LC_ALL=C sort -u |
    awk -v most="$circle_most" -f "$check_lib/components.awk" |
    awk -v allow="$allow" '
        BEGIN {
            while ((getline row < allow) > 0)
                if (row !~ /^#/ && split(row, word, " ") >= 3) size[word[1]] = word[2]
        }
        {
            folder = $NF
            sub(/\/[^\/]*$/, "", folder)
            if ($1 > size[folder]) print folder ": " $0
        }' >>"$scratch/found"
echo "structure: $(cut -f2 "$scratch/objects" | wc -l) objects of passes and codegen"
finish structure
