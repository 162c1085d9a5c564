#!/usr/bin/env bash
# Measures libraries of many kernels, built from cold: build time, size and load time. Each should
# grow with the number of kernels, or not at all: scripts/many-kernels.sh [COUNT...]
#   BUILD    tilec's build (build/release)
#   TARGETS  eight of them
set -eu
cd "$(dirname "$0")/.."
source scripts/lib/help.sh "$@"
build=$PWD/${BUILD:-build/release}
targets=${TARGETS:-sm_80,sm_90a,gfx90a,gfx942,gfx1100,gfx1201,x86-64-v2,x86-64-v3}
[ $# -gt 0 ] || set -- 125 250 500 1000
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Four kinds in rotation; the number is in the code, so that no two kernels are the same.
kernels() {
    awk -v n="$1" 'BEGIN {
        scaled = "kernel k%d(f32 x[N], f32 y[N]) grid(cdiv(N, 1024)) {\n" \
            "    y[program(0) * 1024 +: 1024] = x[program(0) * 1024 +: 1024] * %d.0;\n}\n"
        summed = "kernel k%d(f32 x[M, N], f32 y[M]) grid(M) {\n" \
            "    y[program(0)] = sum(x[program(0), 0 +: 512] * %d.0);\n}\n"
        softmax = "kernel k%d(f32 x[M, N], f32 y[M, N]) grid(M) {\n" \
            "    let v = x[program(0), 0 +: 512] or -inf;\n" \
            "    let e = exp((v - max(v)) / %d.0);\n" \
            "    y[program(0), 0 +: 512] = e / sum(e);\n}\n"
        bent = "kernel k%d(f32 x[N], f32 y[N]) grid(cdiv(N, 512)) {\n" \
            "    let v = x[program(0) * 512 +: 512] - %d.0;\n" \
            "    y[program(0) * 512 +: 512] = select(v > 0.0, v, exp(v));\n}\n"
        for (i = 1; i <= n; i++)
            printf i % 4 == 0 ? scaled : i % 4 == 1 ? summed : i % 4 == 2 ? softmax : bent, i, i
    }'
}

cat >"$folder/load.c" <<'C'
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "many.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void) {
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    double least = 1e9;
    if (tilec_context_create(NULL, &context)) return 1;
    if (tilec_device_open(context, "cpu", &device)) return 1;
    for (int i = 0; i < 21; i++) {
        tilec_library *library = NULL;
        double begin = now(), took;
        if (many_load(device, &library)) {
            fprintf(stderr, "%s\n", tilec_last_error(context));
            return 1;
        }
        took = now() - begin;
        if (took < least) least = took;
        tilec_library_unload(library);
    }
    printf("%.3f", least);
    tilec_context_destroy(context);
    return 0;
}
C

printf '%8s %10s %12s %14s %10s\n' kernels 'wall s' 'processor s' 'library bytes' 'load ms'
for count; do
    kernels "$count" >"$folder/many.tile"
    rm -rf "$folder/cache"
    TIMEFORMAT='%R %U %S'
    { time TILEC_CACHE_DIR="$folder/cache" "$build/tilec" build "$folder/many.tile" --quiet \
        --target "$targets" -o "$folder/libmany.a" --header "$folder/many.h" \
        2>"$folder/said"; } 2>"$folder/times" || { cat "$folder/said"; exit 1; }
    cc -std=c99 -O1 -Iinclude -I"$folder" -o "$folder/load" "$folder/load.c" "$folder/libmany.a" \
        "$build/sealed/libtilec_rt.a" -ldl -lpthread -lm
    awk -v n="$count" -v size="$(stat -c %s "$folder/libmany.a")" -v took="$("$folder/load")" \
        '{ printf "%8d %10.1f %12.1f %14d %10s\n", n, $1, $2 + $3, size, took }' "$folder/times"
done
