// Archives of kernels: what is written reads back the same. An archive that is cut off, damaged or
// forged is refused, and read no further than its bytes.
#include "compile/aot/archive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "base/gpu_abi.h"
#include "base/unpack.h"
#include "compile/pipeline/compile.h"
#include "runtime/meta_wire.h"
#include "tests/support/archive_walk.h"
#include "tests/support/slice.h"

#define TEXT(literal) \
    { literal, sizeof(literal) - 1 }

// ---- An archive without a compiler library: metadata of real kernels, texts for code ----

typedef struct World {
    Arena *arena;
    Unit *unit;
    Str bytes;  // of the archive
} World;

static Unit *load(const char *path) {
    Unit *unit = unit_load_file(path);
    if (diags_errors(unit->diags)) fail_msg("%s has errors", path);
    return unit;
}

static MetaKernel *meta_of(Unit *unit, const FrontKernel *kernel, const char *target, Dtype type) {
    CodeTarget t;
    assert_true(code_target_parse(str(target), &t));
    Machine machine = code_target_machine(t);
    CompileOptions o = {.variants = compile_variants_of(t)};
    o.passes.machine = &machine;
    FrontSpec spec = {.target = str(target)};
    for (const FrontParam *d = kernel->params; d; d = d->next)
        if (d->kind == FRONT_TYPE) {
            IrBinding b = {.name = d->name, .is_type = true, .type = type};
            vec_push(unit->arena, &spec.bindings, b);
        }
    const Compiled *c = unit_compile(unit, kernel, &spec, &o);
    return c ? c->meta : NULL;
}

static ArchiveCode *codes_of(Arena *arena, const MetaKernel *meta, const char *text) {
    ArchiveCode *codes = arena_new(arena, ArchiveCode, meta->variant_count);
    for (uint32_t v = 0; v < meta->variant_count; v++) {
        codes[v].bytes = text ? str(arena_printf(arena, "%s, variant %u", text, v)) : STR("");
        codes[v].cubin = text && v == 0 ? STR("machine code") : STR("");
        codes[v].entry = text ? 0 : v;
    }
    return codes;
}

static ArchiveGroupRow row_of(World *w, uint32_t function, uint32_t target, const char *name,
                              const char *code, uint32_t alternatives) {
    ArchiveAlternative *list = arena_new(w->arena, ArchiveAlternative, alternatives);
    for (uint32_t i = 0; i < alternatives; i++) {
        MetaKernel *meta = meta_of(w->unit, unit_kernel(w->unit, STR("axpy")), name, DTYPE_F32);
        assert_non_null(meta);
        list[i] = (ArchiveAlternative){meta, codes_of(w->arena, meta, code)};
    }
    ArchiveGroupCode group = {STR("axpy"), STR("0123456789abcdef"), alternatives, list};
    return (ArchiveGroupRow){function, target, function * 8, archive_pack_group(w->arena, &group)};
}

static const Str targets[] = {TEXT("sm_80"), TEXT("gfx942"), TEXT("x86-64-v2")};
static const Str functions[] = {TEXT("axpy"), TEXT("axpy_two")};
static const Str prototypes[] = {TEXT("tilec_status axpy(tilec_stream *stream)"),
                                 TEXT("tilec_status axpy_two(tilec_stream *stream)")};
#define TABLE "tilec-tune 1\naxpy 0123456789abcdef sm_80 - N=16 B=8\n"

static ArchivePlan plan_of(const ArchiveGroupRow *rows, uint32_t count) {
    return (ArchivePlan){.name = STR("small"),
                         .command = STR("tilec build axpy.tile -o libsmall.a"),
                         .interface_number = UINT64_C(0x0123456789abcdef),
                         .target_count = 3,
                         .targets = targets,
                         .function_count = 2,
                         .functions = functions,
                         .prototypes = prototypes,
                         .group_count = count,
                         .groups = rows};
}

static Str write_small(World *w) {
    ArchiveGroupRow rows[] = {
        row_of(w, 0, 0, "sm_80", "PTX", 1), row_of(w, 0, 1, "gfx942", "object", 1),
        row_of(w, 0, 2, "x86-64-v2", NULL, 1), row_of(w, 1, 0, "sm_80", "PTX", 2)};
    ArchivePlan plan = plan_of(rows, 4);
    plan.tuned = archive_pack_text(w->arena, STR(TABLE));
    return archive_write(w->arena, &plan);
}

static int set_up(void **state) {
    World *w = calloc(1, sizeof *w);
    w->arena = arena_create();
    w->unit = load("examples/axpy.tile");
    w->bytes = write_small(w);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    unit_destroy(w->unit);
    arena_destroy(w->arena);
    free(w);
    return 0;
}

// ---- Metadata ----

static void expect_same_meta(Arena *arena, const MetaKernel *meta) {
    StrBuf first = strbuf(arena), second = strbuf(arena), json = strbuf(arena),
           back = strbuf(arena);
    meta_write(meta, &first);
    WireReader r = {.bytes = strbuf_str(&first)};
    const MetaKernel *read = meta_read(&r, arena);
    assert_non_null(read);
    assert_true(wire_ended(&r));
    meta_write(read, &second);
    assert_true(str_equal(strbuf_str(&first), strbuf_str(&second)));
    // Another writer of the same fields, and of the layout, which is not written.
    meta_json(meta, &json);
    meta_json(read, &back);
    assert_true(str_equal(strbuf_str(&json), strbuf_str(&back)));
    assert_int_equal(meta->size, read->size);
    for (uint32_t i = 0; i < meta->arg_count; i++)
        assert_int_equal(meta->args[i].offset, read->args[i].offset);
}

static const char *const examples[] = {
    "adam",      "argmax",    "attention", "batched_matmul", "complex", "conv2d", "dropout",
    "histogram", "layernorm", "matmul",    "rmsnorm",        "softmax", "sort",   "vector_add",
};

static void metadata_reads_back(void **state) {
    static const char *const names[] = {"sm_80", "sm_90a", "gfx942", "x86-64-v3"};
    (void)state;
    Arena *arena = arena_create();
    size_t kernels = 0, variants = 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        Unit *unit = load(arena_printf(arena, "examples/%s.tile", examples[i]));
        for (size_t k = 0; k < unit->file->kernel_count; k++)
            for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
                const FrontKernel *kernel = &unit->file->kernels[k];
                const MetaKernel *meta = meta_of(unit, kernel, names[t], DTYPE_F16);
                if (!meta) continue;  // of other types
                expect_same_meta(arena, meta);
                kernels++;
                variants += meta->variant_count;
            }
        unit_destroy(unit);
    }
    assert_true(kernels >= 60);
    assert_true(variants > kernels);
    arena_destroy(arena);
}

// Every field that a kernel may have, with values at their ends.
static void all_fields_read_back(void **state) {
    World *w = *state;
    MetaKernel *meta = meta_of(w->unit, unit_kernel(w->unit, STR("axpy")), "sm_80", DTYPE_F32);
    MetaVariant v = meta->variants[0];
    const Str texts[] = {STR("a\nb"), STR("")};
    const MetaValue values[] = {
        {DTYPE_F8E4M3, true, META_MAX_TILE_RANK, {1, 2, 3, 4, 5, 6, 7, UINT32_MAX}}};
    const MetaSite sites[] = {{META_SITE_PRINT, STR("a b.tile"), 1, 2, 3, UINT32_MAX,
                               STR("print(x)"), 2, texts, 1, values}};
    const MetaRequires requires[] = {{STR("K % 64 == 0"), v.code.count - 1}};
    const MetaBinding bindings[] = {{STR("T"), true, DTYPE_BF16, 0},
                                    {STR("B"), false, (Dtype)0, INT64_MIN}};
    const MetaOption options[] = {{"warps", 8}, {"stages", -1}};
    const MetaMap maps[] = {{.arg = 1,
                             .rank = 1,
                             .dtype = DTYPE_U32,
                             .box = {GPU_MAP_BOX},
                             .swizzle = 128,
                             .promotion = 256,
                             .fill = META_FILL_NAN}};
    v.facts = UINT32_MAX;
    v.map_count = 1, v.maps = maps;
    v.grid_rank = 3;
    v.grid[0] = v.grid[1] = v.grid[2] = 0;
    v.ctas = 16;
    v.block[0] = v.block[1] = v.block[2] = 1024;
    v.shared_bytes = UINT32_MAX;
    v.scratch_bytes = 4096;
    v.chunk = 7;
    v.guard = v.code.count - 1;
    v.entry = STR("entry");
    v.requires_count = 1, v.requires = requires;
    v.binding_count = 2, v.bindings = bindings;
    v.option_count = 2, v.options = options;
    v.site_count = 1, v.sites = sites;
    meta->variant_count = 1;
    meta->variants = &v;
    StrBuf bytes = strbuf(w->arena);
    meta_write(meta, &bytes);
    WireReader r = {.bytes = strbuf_str(&bytes)};
    const MetaKernel *read = meta_read(&r, w->arena);
    assert_non_null(read);
    const MetaVariant *b = read->variants;
    assert_int_equal(b->facts, UINT32_MAX);
    assert_int_equal(b->grid_rank, 3);
    assert_int_equal(b->ctas, 16);
    assert_int_equal(b->block[2], 1024);
    assert_int_equal(b->shared_bytes, UINT32_MAX);
    assert_int_equal(b->scratch_bytes, 4096);
    assert_int_equal(b->chunk, 7);
    assert_int_equal(b->guard, v.guard);
    assert_string_equal(b->entry.text, "entry");
    assert_true(str_equal(b->requires[0].text, requires[0].text));
    assert_int_equal(b->requires[0].value, requires[0].value);
    assert_true(b->bindings[0].is_type);
    assert_int_equal(b->bindings[0].type, DTYPE_BF16);
    assert_true(b->bindings[1].value == INT64_MIN);
    assert_string_equal(b->options[0].name, "warps");
    assert_int_equal(b->options[1].value, -1);
    const MetaSite *s = b->sites;
    assert_int_equal(s->kind, META_SITE_PRINT);
    assert_true(str_equal(s->file, sites[0].file) && str_equal(s->source, sites[0].source));
    assert_int_equal(s->line, 1);
    assert_int_equal(s->column, 2);
    assert_int_equal(s->end_line, 3);
    assert_int_equal(s->end_column, UINT32_MAX);
    assert_int_equal(s->text_count, 2);
    assert_true(str_equal(s->texts[0], texts[0]) && str_equal(s->texts[1], texts[1]));
    assert_memory_equal(s->values[0].shape, values[0].shape, sizeof values[0].shape);
    assert_int_equal(s->values[0].rank, META_MAX_TILE_RANK);
    assert_true(s->values[0].pointer);
    assert_int_equal(s->values[0].dtype, DTYPE_F8E4M3);
    assert_int_equal(b->map_count, 1);
    assert_int_equal(b->maps[0].arg, 1);
    assert_int_equal(b->maps[0].rank, 1);
    assert_int_equal(b->maps[0].dtype, DTYPE_U32);
    assert_int_equal(b->maps[0].axes[0], 0);
    assert_int_equal(b->maps[0].box[0], GPU_MAP_BOX);
    assert_int_equal(b->maps[0].swizzle, 128);
    assert_int_equal(b->maps[0].promotion, 256);
    assert_int_equal(b->maps[0].fill, META_FILL_NAN);
    expect_same_meta(w->arena, meta);
}

// A variant with one map of the first view.
static MetaKernel *mapped_meta(World *w, const MetaMap *map) {
    MetaKernel *meta = meta_of(w->unit, unit_kernel(w->unit, STR("axpy")), "sm_80", DTYPE_F32);
    MetaVariant *v = arena_copy(w->arena, meta->variants, sizeof *v);
    v->facts |= FACT_MAPPED;
    v->map_count = 1, v->maps = map;
    meta->variant_count = 1;
    meta->variants = v;
    return meta;
}

static const MetaMap plain_map = {.arg = 1, .rank = 1, .dtype = DTYPE_F32, .box = {64}};

static void metadata_tells_of_maps(void **state) {
    World *w = *state;
    MetaMap map = plain_map;
    map.swizzle = 128, map.promotion = 256, map.fill = META_FILL_NAN;
    StrBuf json = strbuf(w->arena);
    meta_json(mapped_meta(w, &map), &json);
    assert_non_null(strstr(json.text,
                           "\"maps\":[{\"argument\":\"x\",\"type\":\"f32\",\"axes\":[0],\"box\":"
                           "[64],\"swizzle\":128,\"promotion\":256,\"fill\":\"nan\"}]"));
    assert_non_null(strstr(json.text, "\"mapped\""));
}

// Maps of a scalar, of other views, and of boxes that hardware does not have.
static void maps_are_not_believed(void **state) {
    World *w = *state;
    MetaMap bad[9];
    for (size_t i = 0; i < 9; i++) bad[i] = plain_map;
    bad[0].arg = 0;
    bad[1].arg = 3;
    bad[2].rank = 2;
    bad[3].dtype = DTYPE_F16;
    bad[4].axes[0] = 1;
    bad[5].box[0] = GPU_MAP_BOX + 1;
    bad[6].swizzle = 16;
    bad[7].promotion = 32;
    bad[8].fill = (MetaFill)2;
    for (size_t i = 0; i <= 9; i++) {
        StrBuf bytes = strbuf(w->arena);
        meta_write(mapped_meta(w, i < 9 ? &bad[i] : &plain_map), &bytes);
        WireReader r = {.bytes = strbuf_str(&bytes)};
        assert_int_equal(meta_read(&r, w->arena) != NULL, i == 9);
    }
}

// Any one byte is changed, or all bytes after a place are gone: the metadata is refused, or it is
// consistent and can be written again.
static void metadata_is_not_believed(void **state) {
    World *w = *state;
    StrBuf bytes = strbuf(w->arena);
    meta_write(meta_of(w->unit, unit_kernel(w->unit, STR("axpy")), "sm_80", DTYPE_F32), &bytes);
    size_t size = bytes.size, refused = 0;
    for (size_t i = 0; i < size; i++) {
        static const uint8_t changes[] = {0x01, 0x80, 0xff};
        for (size_t c = 0; c < sizeof changes; c++) {
            Arena *arena = arena_create();
            char *copy = malloc(size);
            assert_non_null(copy);
            memcpy(copy, bytes.text, size);
            copy[i] = (char)(copy[i] ^ changes[c]);
            WireReader r = {.bytes = {copy, size}};
            const MetaKernel *meta = meta_read(&r, arena);
            StrBuf again = strbuf(arena);
            if (meta) meta_write(meta, &again);
            refused += !meta;
            free(copy);
            arena_destroy(arena);
        }
        Arena *arena = arena_create();
        char *cut = malloc(i ? i : 1);
        assert_non_null(cut);
        memcpy(cut, bytes.text, i);
        WireReader r = {.bytes = {cut, i}};
        assert_null(meta_read(&r, arena));
        free(cut);
        arena_destroy(arena);
    }
    assert_true(refused > size);  // of three changes of each byte; names and numbers may be any
}

// ---- Archives ----

static Str walked(Arena *arena, Str bytes) {
    struct tilec_archive data = archive_of_bytes(bytes.text, bytes.size);
    StrBuf text = strbuf(arena);
    assert_true(archive_walk(&data, &text));
    return strbuf_str(&text);
}

static void archives_read_back(void **state) {
    World *w = *state;
    struct tilec_archive data = archive_of_bytes(w->bytes.text, w->bytes.size);
    Archive a;
    const char *wrong;
    assert_true(archive_open(&data, &a, &wrong));
    assert_true(str_equal(a.name, STR("small")));
    assert_true(str_equal(a.command, STR("tilec build axpy.tile -o libsmall.a")));
    assert_true(a.interface_number == UINT64_C(0x0123456789abcdef));
    assert_int_equal(a.target_count, 3);
    assert_int_equal(a.function_count, 2);
    ArchiveTarget t;
    assert_true(archive_target(&a, 1, &t) && t.gpu.vendor == GPU_AMD && t.gpu.number == 0x942);
    assert_true(archive_target(&a, 2, &t) && t.gpu.vendor == GPU_NONE &&
                t.cpu.level == CPU_X86_64_V2);
    assert_false(archive_target(&a, 3, &t));
    ArchiveFunction f;
    assert_true(archive_function(&a, 1, &f));
    assert_true(str_equal(f.name, functions[1]) && str_equal(f.prototype, prototypes[1]));
    assert_int_equal(f.first_group, 3);
    assert_int_equal(f.group_count, 1);
    assert_false(archive_function(&a, 2, &f));
    assert_int_equal(archive_find(&a, functions[0]), 0);
    assert_int_equal(archive_find(&a, functions[1]), 1);
    static const char *const others[] = {"", "a", "axpy_", "axpy_tw", "axpy_two_", "z"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(archive_find(&a, str(others[i])), ARCHIVE_NONE);
    Str table;
    assert_int_equal(archive_tuned(&a, w->arena, &table), ARCHIVE_OK);
    assert_true(str_equal(table, STR(TABLE)));
    ArchiveGroup g;
    assert_int_equal(archive_group(&a, 3, w->arena, &g), ARCHIVE_OK);
    assert_int_equal(g.count, 2);
    assert_true(str_equal(g.kernel, STR("axpy")));
    assert_true(str_equal(g.alternatives[1].codes[0].bytes, STR("PTX, variant 0")));
    assert_true(str_equal(g.alternatives[1].codes[0].cubin, STR("machine code")));
    assert_int_equal(archive_group(&a, 2, w->arena, &g), ARCHIVE_OK);
    assert_int_equal(g.alternatives[0].codes[0].entry, 0);
    assert_int_equal(archive_group(&a, 5, w->arena, &g), ARCHIVE_DAMAGED);
}

static void expect_format(World *w, const ArchivePlan *plan, uint32_t format, uint32_t gpu_abi) {
    Str bytes = archive_write(w->arena, plan);
    struct tilec_archive data = archive_of_bytes(bytes.text, bytes.size);
    Archive a;
    const char *wrong;
    assert_int_equal(bytes.text[ARCHIVE_AT_FORMAT], format);
    if (!archive_open(&data, &a, &wrong)) fail_msg("%s", wrong);
    assert_int_equal(a.gpu_abi, gpu_abi);
    StrBuf text = strbuf(w->arena);
    assert_true(archive_walk(&data, &text));
}

// Only maps need the newer format: older runtimes read all other archives.
static void the_oldest_format_that_will_do(void **state) {
    World *w = *state;
    MetaKernel *meta = mapped_meta(w, &plain_map);
    const ArchiveAlternative mapped = {meta, codes_of(w->arena, meta, "PTX")};
    const ArchiveGroupCode group = {STR("axpy"), STR("0123456789abcdef"), 1, &mapped};
    ArchiveGroupRow rows[] = {row_of(w, 0, 0, "sm_80", "PTX", 1),
                              {1, 0, 8, archive_pack_group(w->arena, &group)}};
    ArchivePlan plan = plan_of(rows, 1);
    expect_format(w, &plan, 1, 1);
    plan.group_count = 2;
    expect_format(w, &plan, 2, 2);
    Str bytes = archive_write(w->arena, &plan);
    struct tilec_archive data = archive_of_bytes(bytes.text, bytes.size);
    Archive a;
    const char *wrong;
    ArchiveGroup g;
    assert_true(archive_open(&data, &a, &wrong));
    assert_int_equal(archive_group(&a, 1, w->arena, &g), ARCHIVE_OK);
    assert_int_equal(g.alternatives[0].meta->variants[0].map_count, 1);
    assert_int_equal(g.alternatives[0].meta->variants[0].maps[0].box[0], 64);
}

static void the_same_gives_the_same_bytes(void **state) {
    World *w = *state;
    assert_true(str_equal(w->bytes, write_small(w)));
}

// Groups of equal bytes are stored once.
static void equal_groups_are_stored_once(void **state) {
    World *w = *state;
    ArchiveGroupRow rows[] = {row_of(w, 0, 0, "sm_80", "PTX", 1),
                              row_of(w, 1, 0, "sm_80", "PTX", 1)};
    rows[1].first_entry = 0;
    ArchivePlan plan = plan_of(rows, 1);
    size_t one = archive_write(w->arena, &plan).size;
    plan.group_count = 2;
    Str both = archive_write(w->arena, &plan);
    assert_int_equal(both.size, one + INDEX_GROUP_WORDS * 4);
    walked(w->arena, both);
}

// As large as they come: every function is found, and what is equal is stored once.
static void large_archives(void **state) {
    enum { FUNCTIONS = 1000, TARGETS = 8 };
    World *w = *state;
    ArchiveGroupRow row = row_of(w, 0, 0, "sm_80", "PTX", 1);
    Str *names = arena_new(w->arena, Str, FUNCTIONS), *texts = arena_new(w->arena, Str, FUNCTIONS);
    Str list[TARGETS];
    ArchiveGroupRow *rows = arena_new(w->arena, ArchiveGroupRow, FUNCTIONS * TARGETS);
    for (uint32_t t = 0; t < TARGETS; t++) list[t] = targets[t % 3];
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        names[i] = str(arena_printf(w->arena, "f%04u", i));
        texts[i] = str(arena_printf(w->arena, "tilec_status f%04u(void)", i));
        for (uint32_t t = 0; t < TARGETS; t++)
            rows[i * TARGETS + t] = (ArchiveGroupRow){i, t, i, row.packed};
    }
    ArchivePlan plan = plan_of(rows, FUNCTIONS * TARGETS);
    plan.target_count = TARGETS, plan.targets = list;
    plan.function_count = FUNCTIONS, plan.functions = names, plan.prototypes = texts;
    Str bytes = archive_write(w->arena, &plan);
    struct tilec_archive data = archive_of_bytes(bytes.text, bytes.size);
    Archive a;
    const char *wrong;
    assert_true(archive_open(&data, &a, &wrong));
    assert_true(bytes.size < FUNCTIONS * (TARGETS * 4 * INDEX_GROUP_WORDS + 100));
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        ArchiveFunction f;
        uint32_t target;
        assert_int_equal(archive_find(&a, names[i]), i);
        assert_true(archive_function(&a, i, &f));
        assert_true(str_equal(f.prototype, texts[i]));
        assert_int_equal(f.group_count, TARGETS);
        assert_true(archive_group_target(&a, f.first_group + 5, &target));
        assert_int_equal(target, 5);
    }
}

static void expect_refused(const struct tilec_archive *data, const char *why) {
    Archive a;
    const char *wrong = NULL;
    assert_false(archive_open(data, &a, &wrong));
    assert_non_null(wrong);
    if (!strstr(wrong, why)) fail_msg("expected '%s', found '%s'", why, wrong);
}

// Opening looks at head and front; rows are compared when they are asked for, and nothing reads
// further than the bytes.
static void opening_takes_the_front(void **state) {
    World *w = *state;
    size_t size = w->bytes.size;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, w->bytes.text, size);
    struct tilec_archive data = archive_of_bytes(bytes, size);
    Archive a;
    const char *wrong;
    assert_true(archive_open(&data, &a, &wrong));
    const uint8_t *front = a.index, *rows = a.functions;
    for (size_t i = 0; i < size; i++) {
        const uint8_t *at = (const uint8_t *)bytes + i;
        bytes[i] = (char)~bytes[i];
        bool opened = archive_open(&data, &a, &wrong);
        assert_int_equal(opened, i >= ARCHIVE_HEAD && (at < front || at >= rows));
        for (uint32_t n = 0; opened && n < 3; n++) {
            ArchiveFunction f;
            ArchiveTarget t;
            archive_function(&a, n, &f);
            archive_target(&a, n, &t);
        }
        if (opened) assert_int_equal(archive_verify(&a, &wrong), at < front);
        bytes[i] = (char)~bytes[i];
    }
    bytes[size - 2] ^= 1;
    assert_true(archive_open(&data, &a, &wrong));
    assert_false(archive_verify(&a, &wrong));
    assert_non_null(strstr(wrong, "its index is damaged"));
    free(bytes);
}

static void archives_of_nothing(void **state) {
    World *w = *state;
    ArchivePlan plan = {.name = STR("")};
    walked(w->arena, archive_write(w->arena, &plan));
}

static void cut_off_archives_are_refused(void **state) {
    World *w = *state;
    for (size_t size = 0; size < w->bytes.size; size++) {
        char *bytes = malloc(size ? size : 1);
        assert_non_null(bytes);
        memcpy(bytes, w->bytes.text, size);
        struct tilec_archive data = archive_of_bytes(bytes, size);
        expect_refused(&data, "it is cut off");
        free(bytes);
    }
    char *longer = malloc(w->bytes.size + 1);
    assert_non_null(longer);
    memcpy(longer, w->bytes.text, w->bytes.size);
    longer[w->bytes.size] = 0;
    struct tilec_archive data = archive_of_bytes(longer, w->bytes.size + 1);
    expect_refused(&data, "it is cut off");
    free(longer);
}

// One in `step` of the flipped bits and changed bytes is tried, others in the next slice.
static size_t step_of(size_t step) { return getenv("TILEC_TEST_WHOLE") ? 1 : step; }

// Every bit of it: there is none that nothing depends on.
static void every_flipped_bit_is_noticed(void **state) {
    World *w = *state;
    char *bytes = malloc(w->bytes.size);
    assert_non_null(bytes);
    memcpy(bytes, w->bytes.text, w->bytes.size);
    size_t step = step_of(7);
    for (size_t bit = slice_number() % step; bit < 8 * w->bytes.size; bit += step) {
        Arena *arena = arena_create();
        StrBuf text = strbuf(arena);
        struct tilec_archive data = archive_of_bytes(bytes, w->bytes.size);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        if (archive_walk(&data, &text))
            fail_msg("bit %zu of byte %zu is not noticed", bit % 8, bit / 8);
        bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        arena_destroy(arena);
    }
    assert_memory_equal(bytes, w->bytes.text, w->bytes.size);
    free(bytes);
}

static void versions_are_told_apart(void **state) {
    World *w = *state;
    struct tilec_archive good = archive_of_bytes(w->bytes.text, w->bytes.size), data = good;
    expect_refused(NULL, "it is not an archive");
    data.magic++;
    expect_refused(&data, "it is not an archive");
    data = good;
    data.abi++;
    expect_refused(&data, "another version of tilec");
    data = good;
    data.size--;
    expect_refused(&data, "another version of tilec");
    uint8_t *bytes = malloc(w->bytes.size);
    assert_non_null(bytes);
    memcpy(bytes, w->bytes.text, w->bytes.size);
    data = archive_of_bytes(bytes, w->bytes.size);
    static const uint8_t unknown[] = {0, ARCHIVE_FORMAT + 1};
    for (size_t i = 0; i < sizeof unknown; i++) {
        bytes[ARCHIVE_AT_FORMAT] = unknown[i];
        archive_repair(bytes, w->bytes.size);
        expect_refused(&data, "its format is unknown to this version");
    }
    bytes[ARCHIVE_AT_FORMAT] = ARCHIVE_FORMAT_PLAIN;
    bytes[0]++;
    archive_repair(bytes, w->bytes.size);
    expect_refused(&data, "does not begin like an archive");
    // A later one may know more of the program's data.
    bytes[0]--;
    archive_repair(bytes, w->bytes.size);
    data.size += 8;
    Archive a;
    const char *wrong;
    assert_true(archive_open(&data, &a, &wrong));
    free(bytes);
}

// ---- Rows that lie, under right checksums ----

static void write_number(uint8_t *at, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++, number >>= 8) at[i] = (uint8_t)number;
}

static size_t front_end(const uint8_t *bytes, size_t index) {
    size_t front = 0;
    for (int i = 4; i-- > 0;) front = front << 8 | bytes[index + INDEX_FRONT * 4 + (size_t)i];
    return index + front;
}

// Each word of head and index with each of the values that are wrong in one way or another.
static void rows_may_lie(void **state) {
    static const uint64_t lies[] = {0, 1, 81, 0x10000001, 0x80000000, 0xffffffff};
    World *w = *state;
    size_t size = w->bytes.size;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, w->bytes.text, size);
    size_t index = 0, refused = 0;
    for (int i = 8; i-- > 0;) index = index << 8 | bytes[ARCHIVE_AT_INDEX + i];
    size_t texts = front_end(bytes, index) + 4 * (2 * INDEX_FUNCTION_WORDS + 5 * INDEX_GROUP_WORDS);
    for (size_t at = 8; at < texts; at = at == ARCHIVE_AT_INDEX_CHECK - 4 ? index : at + 4)
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            memcpy(bytes, w->bytes.text, size);
            write_number(bytes + at, lies[i], 4);
            archive_repair(bytes, size);
            Arena *arena = arena_create();
            StrBuf text = strbuf(arena);
            struct tilec_archive data = archive_of_bytes(bytes, size);
            refused += !archive_walk(&data, &text);
            arena_destroy(arena);
        }
    assert_true(refused > 100);
    free(bytes);
}

// Each of the 8 bytes that say where index and groups are.
static void places_may_lie(void **state) {
    static const uint64_t lies[] = {UINT64_MAX, UINT64_MAX - 79, UINT64_C(1) << 63,
                                    UINT64_C(1) << 32, UINT64_C(0xffffffff00000000)};
    World *w = *state;
    size_t size = w->bytes.size, index = 0;
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, w->bytes.text, size);
    for (int i = 8; i-- > 0;) index = index << 8 | bytes[ARCHIVE_AT_INDEX + i];
    size_t rows = front_end(bytes, index) + 4 * 2 * INDEX_FUNCTION_WORDS;
    const size_t places[] = {ARCHIVE_AT_SIZE, ARCHIVE_AT_INDEX, ARCHIVE_AT_INDEX_SIZE, rows + 16,
                             rows + 4 * INDEX_GROUP_WORDS + 16};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            memcpy(bytes, w->bytes.text, size);
            write_number(bytes + places[p], lies[i], 8);
            archive_repair(bytes, size);
            StrBuf text = strbuf(w->arena);
            struct tilec_archive data = archive_of_bytes(bytes, size);
            assert_false(archive_walk(&data, &text));
        }
    free(bytes);
}

// A group that says what it does not hold, in an archive that is else as it should be.
static void groups_may_lie(void **state) {
    World *w = *state;
    struct tilec_archive data = archive_of_bytes(w->bytes.text, w->bytes.size);
    ArchiveGroupRow row = row_of(w, 0, 0, "sm_80", "PTX", 1);
    char *whole = malloc(row.packed.whole);
    assert_non_null(whole);
    assert_int_equal(unpack(row.packed.bytes, whole, row.packed.whole), UNPACK_OK);
    size_t size = row.packed.whole;
    size_t step = step_of(13);
    for (size_t i = slice_number() % step; i < size; i += step) {
        Arena *arena = arena_create();
        char before = whole[i];
        whole[i] = (char)(i % 2 ? 0xff : before + 1);
        row.packed = archive_pack_text(arena, (Str){whole, size});
        ArchivePlan plan = plan_of(&row, 1);
        Str bytes = archive_write(arena, &plan);
        data = archive_of_bytes(bytes.text, bytes.size);
        StrBuf text = strbuf(arena);
        archive_walk(&data, &text);
        whole[i] = before;
        arena_destroy(arena);
    }
    // Bytes after the end of the content do not belong to it.
    static const Str others[] = {TEXT(""), TEXT("x"), TEXT("\0\0\0\0\0\0\0\0")};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        row.packed = archive_pack_text(w->arena, others[i]);
        ArchivePlan plan = plan_of(&row, 1);
        Str bytes = archive_write(w->arena, &plan);
        data = archive_of_bytes(bytes.text, bytes.size);
        StrBuf text = strbuf(w->arena);
        assert_false(archive_walk(&data, &text));
    }
    free(whole);
}

// The size that a group is said to unpack to is asked for before a byte of it is there.
static void a_huge_size_is_not_believed(void **state) {
    World *w = *state;
    ArchiveGroupRow row = row_of(w, 0, 0, "sm_80", "PTX", 1);
    static const size_t sizes[] = {0, 1, 1 << 20, (1 << 28) + 1, UINT32_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        ArchiveGroupRow other = row;
        other.packed.whole = sizes[i];
        ArchivePlan plan = plan_of(&other, 1);
        Str bytes = archive_write(w->arena, &plan);
        struct tilec_archive data = archive_of_bytes(bytes.text, bytes.size);
        StrBuf text = strbuf(w->arena);
        assert_false(archive_walk(&data, &text));
    }
}

// ---- Which code ----

static uint32_t fit(const char *code, const char *device) {
    ArchiveTarget t = {.name = str(code), .known = true};
    ArchivePlace place = {0};
    if (!gpu_target_parse(str(code), &t.gpu)) assert_true(cpu_target_parse(str(code), &t.cpu));
    if (!gpu_target_parse(str(device), &place.gpu))
        assert_true(cpu_target_parse(str(device), &place.limit));
    return archive_fit(&t, &place);
}

static void the_best_code_is_taken(void **state) {
    (void)state;
    assert_true(fit("sm_80", "sm_80"));
    assert_true(fit("sm_80", "sm_90a"));
    assert_true(fit("sm_90", "sm_90a") > fit("sm_80", "sm_90a"));
    assert_true(fit("sm_90a", "sm_90a") > fit("sm_90", "sm_90a"));
    // A driver tells the number alone.
    assert_true(fit("sm_90a", "sm_90") > fit("sm_90", "sm_90"));
    assert_true(fit("sm_90a", "sm_90") > fit("sm_80", "sm_90"));
    assert_false(fit("sm_90a", "sm_89"));
    assert_false(fit("sm_90a", "sm_100"));
    assert_false(fit("sm_90a", "sm_100a"));
    assert_true(fit("sm_90", "sm_100a") > fit("sm_86", "sm_100a"));
    assert_false(fit("sm_90", "sm_80"));
    assert_true(fit("gfx942", "gfx942"));
    assert_false(fit("gfx942", "gfx90a"));
    assert_false(fit("gfx90a", "gfx942"));
    // Code for several processors is taken where there is nothing better.
    assert_true(fit("gfx11-generic", "gfx1151"));
    assert_true(fit("gfx1151", "gfx1151") > fit("gfx11-generic", "gfx1151"));
    assert_true(fit("gfx9-4-generic", "gfx942") && fit("gfx9-4-generic", "gfx950"));
    assert_true(fit("gfx9-generic", "gfx90c") && fit("gfx10-3-generic", "gfx1036"));
    assert_false(fit("gfx9-generic", "gfx908") || fit("gfx9-generic", "gfx90a"));
    assert_false(fit("gfx10-1-generic", "gfx1030") || fit("gfx11-generic", "gfx1200"));
    assert_false(fit("gfx1100", "gfx1101"));
    assert_false(fit("gfx942", "sm_80"));
    assert_false(fit("sm_80", "gfx942"));
    assert_false(fit("x86-64-v2", "sm_80"));
    assert_false(fit("sm_80", "x86-64-v3"));
    assert_true(fit("x86-64-v3", "x86-64-v4") > fit("x86-64-v2", "x86-64-v4"));
    assert_false(fit("x86-64-v3", "x86-64-v2"));
    assert_true(fit("x86-64-v2", "x86-64-v2"));
    assert_false(fit("aarch64", "x86-64-v4"));
}

#define ARCHIVE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_reads_back),
        ARCHIVE_TEST(all_fields_read_back),
        ARCHIVE_TEST(metadata_is_not_believed),
        ARCHIVE_TEST(metadata_tells_of_maps),
        ARCHIVE_TEST(maps_are_not_believed),
        ARCHIVE_TEST(the_oldest_format_that_will_do),
        ARCHIVE_TEST(archives_read_back),
        ARCHIVE_TEST(the_same_gives_the_same_bytes),
        ARCHIVE_TEST(equal_groups_are_stored_once),
        ARCHIVE_TEST(large_archives),
        ARCHIVE_TEST(opening_takes_the_front),
        ARCHIVE_TEST(archives_of_nothing),
        ARCHIVE_TEST(cut_off_archives_are_refused),
        ARCHIVE_TEST(every_flipped_bit_is_noticed),
        ARCHIVE_TEST(versions_are_told_apart),
        ARCHIVE_TEST(rows_may_lie),
        ARCHIVE_TEST(places_may_lie),
        ARCHIVE_TEST(groups_may_lie),
        ARCHIVE_TEST(a_huge_size_is_not_believed),
        cmocka_unit_test(the_best_code_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
