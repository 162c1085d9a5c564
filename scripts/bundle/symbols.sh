#!/usr/bin/env bash
# Checks that every ELF file of a folder runs with this glibc, and needs no missing library:
#     symbols.sh FOLDER [VERSION]        2.34 if none is given
# Prints each symbol of a newer version, and each library that neither is in FOLDER/lib nor belongs
# to glibc.
set -eu
export LC_ALL=C
folder=$1
limit=${2:-2.34}
failed=0
files=0
newer() { # newer than the limit, of the versions on standard input
    awk -v limit="$limit" '
        function number(version,   parts) {
            split(version, parts, ".")
            return (parts[1] * 1000 + parts[2]) * 1000 + parts[3]
        }
        number($1) > number(limit) { print "GLIBC_" $1, $2 }'
}
while IFS= read -r -d '' file; do
    [ "$(head -c 4 "$file" | tr -d '\177')" = ELF ] || continue
    files=$((files + 1))
    found=$(objdump -T "$file" |
        sed -nE 's/.*\*UND\*.*\(?GLIBC_([0-9.]+)\)? +(.*)/\1 \2/p' | sort -u | newer)
    if [ -n "$found" ]; then
        printf '%s needs a glibc newer than %s:\n%s\n' "$file" "$limit" "$found"
        failed=1
    fi
    for library in $(objdump -p "$file" | awk '$1 == "NEEDED" { print $2 }'); do
        case $library in
        libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1 | ld-linux-x86-64.so.2) ;;
        *)
            [ -e "$folder/lib/$library" ] || {
                echo "$file needs $library, which is not in the bundle"
                failed=1
            }
            ;;
        esac
    done
done < <(find "$folder" -type f -print0)
[ $files -gt 0 ] || {
    echo "symbols: $folder has no ELF file"
    exit 1
}
[ $failed -ne 0 ] || echo "symbols: $files files run from glibc $limit on"
exit $failed
