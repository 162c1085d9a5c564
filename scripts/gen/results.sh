#!/usr/bin/env bash
# Measured tables, from bench/results/*.json into the pages.
#   scripts/gen/results.sh            writes them, and the plot docs/ratios.svg
#   scripts/gen/results.sh --check    fails where a page or the plot is not what would be written
#   scripts/gen/results.sh keep NAME MACHINE COMMAND <TABLE
#                                     keeps a Markdown table as bench/results/NAME.json, of today
# On a page the table stands between <!-- result NAME --> and <!-- end of result -->. A file has one
# row of the table on each line:
#   {
#   "date": "2026-11-23",
#   "machine": "no GPU",
#   "command": "bench/sass.py 80",
#   "columns": ["kernel", "target", "ratio"],
#   "rows": [
#   ["vadd", "sm_80", 1.13],
#   ["softmax", "sm_80", null]
#   ]
#   }
set -eu
self=$(realpath "$0")
cd "$(dirname "$0")/../.."
export LC_ALL=C.UTF-8
pages=(docs/performance.md docs/hopper.md)
fail() {
    echo "results: error: $1" >&2
    exit 1
}

keep() { # NAME MACHINE COMMAND
    [ $# -eq 3 ] || fail "keep takes a name, a machine and a command"
    awk -v date="$(date +%F)" -v machine="$2" -v command="$3" '
        function quoted(text) {
            gsub(/\\\|/, "|", text)
            gsub(/\\/, "\\\\", text)
            gsub(/"/, "\\\"", text)
            return "\"" text "\""
        }
        function json(text) {
            sub(/^ +/, "", text)
            sub(/ +$/, "", text)
            if (text == "") return "null"
            return text ~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/ ? text : quoted(text)
        }
        function row(line, part, n, i, out) {
            gsub(/\\\|/, "\001", line)
            n = split(line, part, "|")
            for (i = 2; i < n; i++) {
                gsub(/\001/, "\\|", part[i])
                out = out (i > 2 ? ", " : "") json(part[i])
            }
            return "[" out "]"
        }
        !/^\|/ || /^\|[-| ]+\|$/ { next }
        !columns { columns = row($0); next }
        { rows = rows (rows ? ",\n" : "") row($0) }
        END {
            if (!rows) { print "results: error: no table came in" >"/dev/stderr"; exit 1 }
            printf "{\n\"date\": \"%s\",\n\"machine\": %s,\n\"command\": %s,\n", date,
                quoted(machine), quoted(command)
            printf "\"columns\": %s,\n\"rows\": [\n%s\n]\n}\n", columns, rows
        }' >"$scratch/kept"
    mv "$scratch/kept" "bench/results/$1.json"
}

# Shared by the awk programs below: cells(LINE, CELL) splits a row into CELL, and returns the count.
reader='
    function cells(line, cell, n, text) {
        n = 0
        sub(/^[^[]*\[/, "", line)
        while (line !~ /^\],?$/) {
            sub(/^, /, "", line)
            if (match(line, /^"([^"\\]|\\.)*"/)) {
                text = substr(line, 2, RLENGTH - 2)
                line = substr(line, RLENGTH + 1)
                gsub(/\\"/, "\"", text)
                gsub(/\\\\/, "\\", text)
            } else if (match(line, /^(null|-?[0-9.]+)/)) {
                text = substr(line, 1, RLENGTH)
                line = substr(line, RLENGTH + 1)
                if (text == "null") text = ""
            } else {
                printf "results: error: %s: not a row: %s\n", FILENAME, line >"/dev/stderr"
                exit 1
            }
            cell[++n] = text
        }
        return n
    }
    function member(line, text) {
        text = line
        sub(/^"[a-z]+": "/, "", text)
        sub(/",$/, "", text)
        gsub(/\\"/, "\"", text)
        gsub(/\\\\/, "\\", text)
        return text
    }'

# The table of one file, with its date, machine and command above it.
table() { # FILE
    awk "$reader"'
        function shown(cell, n, i, out, text) {
            for (i = 1; i <= n; i++) {
                text = cell[i]
                gsub(/\|/, "\\|", text)
                out = out "| " text (text == "" ? "" : " ")
            }
            return out "|"
        }
        function wrapped(text, word, n, i, line) {
            n = split(text, word, " ")
            for (i = 1; i <= n; i++) {
                if (line && length(line " " word[i]) > 100) { print line; line = "" }
                line = line (line ? " " : "") word[i]
            }
            print line
        }
        /^"date"/ { date = member($0) }
        /^"machine"/ { machine = member($0) }
        /^"command"/ {
            command = member($0)
            wrapped(date "; " machine ":")
            printf "\n```sh unrun measure\n%s\n```\n\n", command
        }
        /^"columns"/ {
            columns = cells($0, cell)
            print shown(cell, columns)
            rule = "|"
            for (i = 1; i <= columns; i++) rule = rule "---|"
            print rule
        }
        /^\[/ {
            n = cells($0, cell)
            if (n != columns) {
                printf "results: error: %s:%d: %d cells, %d columns\n", FILENAME, FNR, n,
                    columns >"/dev/stderr"
                exit 1
            }
            print shown(cell, n)
            rows++
        }
        END {
            if (!date || !machine || !command || !rows) {
                printf "results: error: %s lacks a part\n", FILENAME >"/dev/stderr"
                exit 1
            }
        }' "$1"
}

page() { # PAGE: as it is to be
    local line name inside=
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        '<!-- result '*' -->')
            [ -z "$inside" ] || fail "$1: the table $inside has no end"
            name=${line#<!-- result }
            inside=${name% -->}
            [ -f "bench/results/$inside.json" ] || fail "$1: no bench/results/$inside.json"
            echo "$line"
            table "bench/results/$inside.json" || return 1
            ;;
        '<!-- end of result -->')
            [ -n "$inside" ] || fail "$1: an end without a table"
            inside=
            echo "$line"
            ;;
        *) [ -n "$inside" ] || printf '%s\n' "$line" ;;
        esac
    done <"$1"
    [ -z "$inside" ] || fail "$1: the table $inside has no end"
}

# Bars of the ratios to Triton's code and to libraries on CPUs, around a line at 1.
plot() {
    awk "$reader"'
        FNR == 1 { split("", column) }
        /^"columns"/ { n = cells($0, cell); for (i = 1; i <= n; i++) column[cell[i]] = i; next }
        !/^\[/ { next }
        { cells($0, cell) }
        FILENAME ~ /cpu-peers/ {
            if (cell[column["oneDNN"]] + 0 > 0 && cell[1] ~ cpu_wanted)
                add("cpu", cell[1], 1 / cell[column["oneDNN"]])
            next
        }
        cell[1] ~ gpu_wanted && cell[2] ~ targets && cell[column["ratio"]] != "" {
            add("gpu", cell[1] ", " cell[2], cell[column["ratio"]])
        }
        BEGIN {
            gpu_wanted = "^(vadd|softmax|matmul f16|attention)$"
            targets = "^(sm_80|sm_90|sm_120|gfx942|gfx1100|gfx1201)$"
            cpu_wanted = "^(sum 64M|exp 16M|(softmax|layernorm) 4096×1024|matmul f32 1024³)$"
        }
        function add(kind, name, ratio) {
            count[kind]++
            names[kind, count[kind]] = name
            ratios[kind, count[kind]] = ratio
        }
        function group(kind, title, x, i, y, width, color) {
            printf "<text x=\"%d\" y=\"16\" font-weight=\"bold\">%s</text>\n", x, title
            for (i = 1; i <= count[kind]; i++) {
                y = 12 + 18 * i
                width = 150 * ratios[kind, i]
                color = ratios[kind, i] <= 1 ? "#2e7d4f" : "#b3541e"
                printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", x + 142, y + 11,
                    names[kind, i]
                printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"13\" fill=\"%s\"/>\n",
                    x + 150, y, width, color
                printf "<text x=\"%.1f\" y=\"%d\">%.2f</text>\n", x + 155 + width, y + 11,
                    ratios[kind, i]
            }
            printf "<path d=\"M%d 26v%d\" stroke=\"#444\" stroke-dasharray=\"3 2\"/>\n", x + 300,
                18 * count[kind] + 6
        }
        END {
            if (!count["gpu"] || !count["cpu"]) {
                print "results: error: nothing to plot" >"/dev/stderr"
                exit 1
            }
            height = 18 * (count["gpu"] > count["cpu"] ? count["gpu"] : count["cpu"]) + 40
            print "<!-- Generated from bench/results by scripts/gen/results.sh: do not edit. -->"
            printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"920\" height=\"%d\" ", height
            print "font-family=\"sans-serif\" font-size=\"11\">"
            print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
            group("gpu", "instructions, tilec / Triton 3.9 (not time)", 10)
            group("cpu", "time on a CPU, tilec / oneDNN 3.13", 480)
            print "</svg>"
        }' bench/results/nvidia-triton.json bench/results/amd-triton.json \
        bench/results/cpu-peers.json
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case ${1:-} in
-h | --help) sed -n '2,/^set/{/^#/s/^# \?//p}' "$self" && exit ;;
keep)
    shift
    keep "$@"
    exit
    ;;
--check) check=yes ;;
'') check=no ;;
*) fail "unknown argument '$1'; see the head of this file" ;;
esac
stale=0
settle() { # FILE: what stands in $scratch/new is to be its contents
    cmp -s "$scratch/new" "$1" && return
    if [ "$check" = no ]; then
        cp "$scratch/new" "$1"
        echo "results: wrote $1"
    else
        echo "results: $1 is not what bench/results says: run scripts/gen/results.sh"
        diff -u "$1" "$scratch/new" | head -n 20 || true
        stale=1
    fi
}
for path in "${pages[@]}"; do
    page "$path" >"$scratch/new"
    settle "$path"
done
plot >"$scratch/new"
settle docs/ratios.svg
exit $stale
