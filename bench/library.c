// The load time of libraries by size: archives of many functions and targets, made here from one
// kernel's metadata, without code.
//
//     scripts/build.sh release bench_library && build/release/bench_library
#include <stdio.h>
#include <tilec/library.h>

#include "base/os/os.h"
#include "compile/aot/archive.h"
#include "compile/pipeline/compile.h"

enum { TARGETS = 8, ROUNDS = 50, LARGEST = 4000 };

static const char source[] =
    "kernel scale(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B))\n"
    "{ y[program(0) * B +: B] = 2.0 * x[program(0) * B +: B]; }\n";

static ArchivePacked one_group(Arena *arena) {
    Unit *unit = unit_load_text(STR("scale.tile"), str(source));
    FrontSpec spec = {.target = STR("x86-64-v2")};
    const Compiled *c = unit_compile(unit, unit_kernel(unit, STR("scale")), &spec, NULL);
    if (!c) return (ArchivePacked){.whole = 0};
    ArchiveCode code = {.entry = 0};
    ArchiveAlternative alternative = {c->meta, &code};
    ArchiveGroupCode group = {STR("scale"), STR("0123456789abcdef"), 1, &alternative};
    ArchivePacked packed = archive_pack_group(arena, &group);
    unit_destroy(unit);
    return packed;
}

static Str archive_of(Arena *arena, ArchivePacked packed, uint32_t functions) {
    static const char *const names[TARGETS] = {"sm_80",   "sm_90a",    "gfx90a",    "gfx942",
                                               "gfx1100", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    Str targets[TARGETS];
    Str *symbols = arena_new(arena, Str, functions), *prototypes = arena_new(arena, Str, functions);
    ArchiveGroupRow *rows = arena_new(arena, ArchiveGroupRow, functions * TARGETS);
    for (uint32_t t = 0; t < TARGETS; t++) targets[t] = str(names[t]);
    for (uint32_t i = 0; i < functions; i++) {
        symbols[i] = str(arena_printf(arena, "kernel_of_number_%05u", i));
        prototypes[i] = str(arena_printf(
            arena, "tilec_status %s(tilec_stream *stream, tilec_view x, tilec_view y, float a)",
            symbols[i].text));
        for (uint32_t t = 0; t < TARGETS; t++)
            rows[i * TARGETS + t] = (ArchiveGroupRow){i, t, 0, packed};
    }
    ArchivePlan plan = {.name = STR("bench"),
                        .command = STR("tilec build bench.tile"),
                        .interface_number = 1,
                        .target_count = TARGETS,
                        .targets = targets,
                        .function_count = functions,
                        .functions = symbols,
                        .prototypes = prototypes,
                        .group_count = functions * TARGETS,
                        .groups = rows};
    return archive_write(arena, &plan);
}

// The least of many measurements.
static uint64_t load_time(tilec_device *device, const struct tilec_archive *archive) {
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        tilec_library *library = NULL;
        uint64_t begin = os_time_ns();
        if (tilec_library_load(device, archive, 1, &library)) return UINT64_MAX;
        uint64_t time = os_time_ns() - begin;
        tilec_library_unload(library);
        if (time < best) best = time;
    }
    return best;
}

int main(void) {
    tilec_context *context = NULL;
    tilec_device *device = NULL;
    if (tilec_context_create(NULL, &context) || tilec_device_open(context, "cpu:1", &device))
        return 1;
    for (uint32_t functions = 125; functions <= LARGEST; functions *= 2) {
        Arena *arena = arena_create();
        Str bytes = archive_of(arena, one_group(arena), functions);
        struct tilec_archive archive = {.magic = ARCHIVE_MAGIC,
                                        .abi = ARCHIVE_ABI,
                                        .size = sizeof archive,
                                        .cpu_abi = CPU_ABI_VERSION,
                                        .bytes = (const uint8_t *)bytes.text,
                                        .byte_count = bytes.size};
        uint64_t time = load_time(device, &archive);
        printf("%5u functions for %d targets: %8zu bytes, loaded in %.3f ms\n", functions, TARGETS,
               bytes.size, (double)time / 1e6);
        arena_destroy(arena);
    }
    tilec_context_destroy(context);
    return 0;
}
