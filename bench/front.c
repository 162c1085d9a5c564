// Measures the front end of the compiler. Prints medians; asserts nothing.
//
//     build/release/bench_front [repeats [lines]]
//
// Lines a second of parsing and checking generated files of 10k, 30k and 100k lines, and the time
// from source to verified, optimised tile IR for the matmul example.
#include <stdio.h>
#include <stdlib.h>

#include "base/os/os.h"
#include "compile/pipeline/compile.h"

static int compare_times(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t median(uint64_t *times, size_t n) {
    qsort(times, n, sizeof *times, compare_times);
    return times[n / 2];
}

// Kernels of about fifty lines; each statement is of a common kind.
static Str generate(Arena *arena, size_t lines) {
    StrBuf b = strbuf(arena);
    size_t line = 0;
    for (size_t k = 0; line < lines; k++) {
        strbuf_printf(&b, "fn helper%zu(x, y) {\n    return x * 0.5 + y;\n}\n\n", k);
        strbuf_printf(&b, "kernel kernel%zu(f32 x[R, C], f32 y[R, C], i32 n, const W = 128)\n", k);
        strbuf_printf(&b, "    requires C <= W\n    grid(R)\n{\n    let r = program(0);\n");
        strbuf_printf(&b,
                      "    let v = x[r, 0 +: W] or -inf;\n    var acc = v;\n    var count = n;\n");
        line += 11;
        for (size_t i = 0; i < 8 && line < lines; i++) {
            strbuf_printf(&b, "    let a%zu = exp(v - max(v)) * %zu.5;\n", i, i);
            strbuf_printf(&b, "    acc = helper%zu(acc, a%zu);\n", k, i);
            strbuf_printf(&b, "    if count > %zu {\n        count -= 1;\n    }\n", i);
            line += 5;
        }
        strbuf_printf(&b,
                      "    // the result\n    y[r, 0 +: W] = acc / sum(acc) + f32(count);\n}\n\n");
        line += 4;
    }
    return strbuf_str(&b);
}

static size_t count_lines(Str text) {
    size_t n = 0;
    for (size_t i = 0; i < text.size; i++) n += text.text[i] == '\n';
    return n;
}

static void bench_check(Arena *arena, size_t lines, size_t repeats) {
    Str text = generate(arena, lines);
    size_t n = count_lines(text), errors = 0;
    uint64_t *load = arena_new(arena, uint64_t, repeats),
             *whole = arena_new(arena, uint64_t, repeats);
    for (size_t i = 0; i < repeats; i++) {
        uint64_t begin = os_time_ns();
        Unit *u = unit_load_text(STR("generated.tile"), text);
        uint64_t loaded = os_time_ns();
        if (u->file) frontend_check(u->file, u->diags);
        whole[i] = os_time_ns() - begin;
        load[i] = loaded - begin;
        errors = diags_errors(u->diags);
        unit_destroy(u);
    }
    uint64_t l = median(load, repeats), w = median(whole, repeats);
    printf(
        "%7zu lines: parse %6.2f ms, parse and check %7.2f ms, %5.2f million lines/s, %zu errors\n",
        n, (double)l * 1e-6, (double)w * 1e-6, (double)n * 1e3 / (double)w, errors);
}

// NULL if it does not compile.
static const Compiled *compile_matmul(Unit *u) {
    const FrontKernel *k = diags_errors(u->diags) ? NULL : unit_kernel(u, STR("matmul"));
    if (!k) return NULL;
    FrontSpec spec = {0};
    IrBinding t = {.name = intern(u->names, STR("T")), .is_type = true, .type = DTYPE_F16};
    vec_push(u->arena, &spec.bindings, t);
    return unit_compile(u, k, &spec, NULL);
}

static void bench_matmul(Arena *arena, const char *path, size_t repeats) {
    uint64_t *times = arena_new(arena, uint64_t, repeats);
    bool good = true;
    for (size_t i = 0; i < repeats; i++) {
        uint64_t begin = os_time_ns();
        Unit *u = unit_load_file(path);
        good = compile_matmul(u) && good;
        times[i] = os_time_ns() - begin;
        unit_destroy(u);
    }
    if (good)
        printf("matmul, source to verified optimised IR: %.3f ms\n",
               (double)median(times, repeats) * 1e-6);
    else
        printf("%s does not compile\n", path);
}

int main(int argc, char **argv) {
    size_t repeats = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 21;
    if (repeats < 1) repeats = 1;
    Arena *arena = arena_create();
    if (argc > 2) {
        bench_check(arena, (size_t)strtoul(argv[2], NULL, 10), repeats);
    } else {
        bench_matmul(arena, "examples/matmul.tile", repeats);
        bench_check(arena, 10000, repeats);
        bench_check(arena, 30000, repeats);
        bench_check(arena, 100000, repeats);
    }
    arena_destroy(arena);
    return 0;
}
