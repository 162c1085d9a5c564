// Loads, stores, gathers, scatters, scratch memory and atomics of every element type, as scalars
// and vectors: compiled against interpreted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "target/machine.h"
#include "tests/codegen/bundle.h"
#include "tests/support/slice.h"

static const uint32_t lengths[] = {1, 4, 16, 64};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

typedef struct Memory {
    CpuTarget targets[4];
    uint32_t target_count;
    bool seen[IR_OPCODES];
} Memory;

// A third of the combinations in each slice.
static bool is_due(uint32_t target, uint32_t length, Dtype elem) {
    return slice_has(target + length + elem, 3);
}

static int set_up(void **state) {
    static Memory memory;
    memory.target_count = compiled_targets(memory.targets);
    *state = &memory;
    return 0;
}

static void line(Bundle *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(Bundle *b, const char *format, ...) {
    strbuf_printf(&b->body, "    ");
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b->body, format, args);
    va_end(args);
    strbuf_char(&b->body, '\n');
}

// ---- vectors ------------------------------------------------------------------------------------

// A permutation of the lanes, or with `pairs` each place twice; i64.
static uint32_t add_indices(Bundle *b, bool pairs) {
    uint32_t n = b->lanes;
    uint32_t i = bundle_op(b, "iota : i32[%u]", n);
    i = bundle_op(b, "cast %%%u : i64[%u]", i, n);
    uint32_t five = bundle_op(b, "const {value = 5} : i64[%u]", n);
    uint32_t three = bundle_op(b, "const {value = 3} : i64[%u]", n);
    uint32_t most = bundle_op(b, "const {value = %u} : i64[%u]", n - 1, n);
    i = bundle_op(b, "mul %%%u, %%%u : i64[%u]", i, five, n);
    i = bundle_op(b, "add %%%u, %%%u : i64[%u]", i, three, n);
    i = bundle_op(b, "and %%%u, %%%u : i64[%u]", i, most, n);
    if (!pairs) return i;
    uint32_t one = bundle_op(b, "const {value = 1} : i64[%u]", n);
    return bundle_op(b, "shr %%%u, %%%u : i64[%u]", i, one, n);
}

// Pointers to the indexed places after a scalar pointer.
static uint32_t add_places(Bundle *b, Dtype elem, uint32_t p, uint32_t indices) {
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t all = bundle_op(b, "broadcast %%%u : *%s", p, type);
    return bundle_op(b, "ptr_add %%%u, %%%u : *%s", all, indices, type);
}

static void add_neighbours(Bundle *b, Dtype elem, uint32_t x, uint32_t other, uint32_t mask) {
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t n = b->lanes;
    uint32_t from = bundle_target(b, elem, n, "source", 1);
    bundle_output(b, elem, n, "cpu.load",
                  bundle_op(b, "cpu.load %%%u, %%%u, _ : %s", from, mask, type));
    bundle_output(b, elem, n, "cpu.load and what comes",
                  bundle_op(b, "cpu.load %%%u, _, _ {ahead = 4096} : %s", from, type));
    bundle_output(b, elem, n, "cpu.load or",
                  bundle_op(b, "cpu.load %%%u, %%%u, %%%u : %s", from, mask, other, type));
    line(b, "cpu.store %%%u, %%%u, %%%u", bundle_target(b, elem, n, "cpu.store", 2), x, mask);
    uint32_t wide = bundle_target(b, elem, n, "cpu.store past the caches", 3);
    bool whole = (n * dtype_size(elem)) % 64 == 0;  // as long as every place is aligned to it
    line(b, "cpu.prefetch %%%u {count = %u}", wide, n);
    line(b, "cpu.store %%%u, %%%u, _%s", wide, x, whole ? " {stream = true}" : "");
}

static void add_gathers(Bundle *b, Dtype elem, uint32_t x, uint32_t other, uint32_t mask) {
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t n = b->lanes, indices = add_indices(b, false);
    uint32_t from = add_places(b, elem, bundle_target(b, elem, n, "source", 0), indices);
    bundle_output(b, elem, n, "gather", bundle_op(b, "load %%%u, _, _ : %s", from, type));
    bundle_output(b, elem, n, "gather masked",
                  bundle_op(b, "load %%%u, %%%u, _ : %s", from, mask, type));
    bundle_output(b, elem, n, "gather or",
                  bundle_op(b, "load %%%u, %%%u, %%%u : %s", from, mask, other, type));
    uint32_t all = add_places(b, elem, bundle_target(b, elem, n, "scatter", 1), indices);
    line(b, "store %%%u, %%%u, _", all, x);
    uint32_t some = add_places(b, elem, bundle_target(b, elem, n, "scatter masked", 1), indices);
    line(b, "store %%%u, %%%u, %%%u", some, x, mask);
    uint32_t either = bundle_op(b, "select %%%u, %%%u, %%%u : *%s", mask, all, some, type);
    uint32_t back = bundle_op(b, "load %%%u, _, _ : %s", either, type);
    bundle_output(b, elem, n, "gather of selected pointers", back);
    uint32_t last =
        bundle_op(b, "vec.lane %%%u {lane = %u} : *%s", either, n - 1, dtype_name(elem));
    bundle_output(b, elem, 0, "load of a lane's pointer",
                  bundle_op(b, "load %%%u, _, _ : %s", last, dtype_name(elem)));
}

// Through two places of scratch memory, reversed on the way.
static void add_scratch(Bundle *b, Dtype elem, uint32_t x, uint32_t y) {
    const char *name = dtype_name(elem), *type = bundle_type(b, elem, b->lanes);
    uint32_t n = b->lanes;
    uint32_t p =
        bundle_op(b, "cpu.scratch {elem = %s, count = %u, place = 0} : *%s", name, n, name);
    uint32_t q =
        bundle_op(b, "cpu.scratch {elem = %s, count = %u, place = 1024} : *%s", name, n, name);
    line(b, "cpu.store %%%u, %%%u, _", p, x);
    line(b, "cpu.store %%%u, %%%u, _", q, y);
    uint32_t places = add_places(b, elem, p, add_indices(b, false));
    uint32_t moved = bundle_op(b, "load %%%u, _, _ : %s", places, type);
    line(b, "cpu.store %%%u, %%%u, _", p, moved);
    bundle_output(b, elem, n, "cpu.scratch", bundle_op(b, "cpu.load %%%u, _, _ : %s", p, type));
    bundle_output(b, elem, n, "cpu.scratch, the other place",
                  bundle_op(b, "cpu.load %%%u, _, _ : %s", q, type));
}

static bool check_vectors(Memory *m, Dtype elem, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x = bundle_input(b, elem, 0), y = bundle_input(b, elem, 1);
    uint32_t mask = bundle_input(b, DTYPE_BOOL, 2);
    add_neighbours(b, elem, x, y, mask);
    add_gathers(b, elem, x, y, mask);
    add_scratch(b, elem, x, y);
    bool fine = bundle_check(b, target, m->seen);
    arena_destroy(arena);
    return fine;
}

static void vectors_move(void **state) {
    Memory *m = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < m->target_count; i++)
        for (uint32_t n = 0; n < LENGTHS; n++)
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_due(i, n, elem)) fine &= check_vectors(m, elem, lengths[n], m->targets[i]);
    assert_true(fine);
}

// Masks of which some lanes are known: lanes up to or from `count` of what one value says.
static void add_known(Bundle *b, Dtype elem, uint32_t x, uint32_t mask, uint32_t count) {
    static const char *const compares[] = {"lt", "ge"};
    static const char *const joins[] = {"and", "or"};
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t n = b->lanes, lanes = bundle_op(b, "iota : i32[%u]", n);
    uint32_t last = bundle_op(b, "const {value = %u} : i32[%u]", count, n);
    uint32_t said = bundle_op(b, "vec.lane %%%u {lane = %u} : bool", mask, count % n);
    uint32_t all = bundle_op(b, "broadcast %%%u : bool[%u]", said, n);
    for (int i = 0; i < 4; i++) {
        uint32_t some = bundle_op(b, "%s %%%u, %%%u : bool[%u]", compares[i & 1], lanes, last, n);
        some = bundle_op(b, "%s %%%u, %%%u : bool[%u]", joins[i >> 1], all, some, n);
        uint32_t from = bundle_target(b, elem, n, "source", 1);
        const char *what = arena_printf(b->arena, "cpu.load under %s, known %s %u", joins[i >> 1],
                                        compares[i & 1], count);
        bundle_output(b, elem, n, what,
                      bundle_op(b, "cpu.load %%%u, %%%u, _ : %s", from, some, type));
        line(b, "cpu.store %%%u, %%%u, %%%u", bundle_target(b, elem, n, what, 2), x, some);
    }
}

static bool check_known(Memory *m, Dtype elem, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x = bundle_input(b, elem, 0), mask = bundle_input(b, DTYPE_BOOL, 2);
    add_known(b, elem, x, mask, lanes / 8 + 1);
    add_known(b, elem, x, mask, lanes / 2 + 1);
    bool fine = bundle_check(b, target, m->seen);
    arena_destroy(arena);
    return fine;
}

// LLVM cuts masks into registers; what it then knows of a part must be true.
static void known_lanes_are_left_out(void **state) {
    Memory *m = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < m->target_count; i++)
        for (uint32_t lanes = 16; lanes <= 32; lanes *= 2)
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_due(i, lanes / 16, elem)) fine &= check_known(m, elem, lanes, m->targets[i]);
    assert_true(fine);
}

// ---- scalars ------------------------------------------------------------------------------------

static bool check_scalars(Memory *m, Dtype elem, CpuTarget target) {
    Arena *arena = arena_create();
    Bundle *b = bundle_create(arena, 0);
    const char *name = dtype_name(elem);
    uint32_t x = bundle_input(b, elem, 0), other = bundle_input(b, elem, 1);
    uint32_t mask = bundle_input(b, DTYPE_BOOL, 2);
    uint32_t from = bundle_target(b, elem, 0, "source", 1);
    bundle_output(b, elem, 0, "load", bundle_op(b, "load %%%u, %%%u, _ : %s", from, mask, name));
    bundle_output(b, elem, 0, "load or",
                  bundle_op(b, "load %%%u, %%%u, %%%u : %s", from, mask, other, name));
    line(b, "store %%%u, %%%u, %%%u", bundle_target(b, elem, 0, "store", 2), x, mask);
    uint32_t bits = bundle_op(b, "bitcast %%%u : u64", from);
    uint32_t back = bundle_op(b, "bitcast %%%u : *%s", bits, name);
    bundle_output(b, DTYPE_BOOL, 0, "eq of pointers",
                  bundle_op(b, "eq %%%u, %%%u : bool", back, from));
    bundle_output(b, elem, 0, "load of a pointer's bits",
                  bundle_op(b, "load %%%u, _, _ : %s", back, name));
    bool fine = bundle_check(b, target, m->seen);
    arena_destroy(arena);
    return fine;
}

static void scalars_move(void **state) {
    Memory *m = *state;
    if (!codegen_plugin()) skip();
    bool fine = true;
    for (uint32_t i = 0; i < m->target_count; i++)
        for (Dtype elem = 0; elem < DTYPE_I4; elem++)
            if (is_due(i, 0, elem)) fine &= check_scalars(m, elem, m->targets[i]);
    assert_true(fine);
}

// Any byte but 0 reads as true, wherever bools are read.
static void any_byte_is_a_bool(void **state) {
    (void)state;
    if (!codegen_plugin()) skip();
    Tir *t = tir_load_file("tests/codegen/data/bools.tir");
    unsigned char x[8] = {0, 1, 2, 0x80, 0xff, 0, 7, 0}, r[11];
    Compiled *k = compiled_load(t, cpu_native());
    compiled_run(k, (IrArg[]){tir_pointer(x, 8), tir_pointer(r, 11), tir_scalar(1)}, 3,
                 (int64_t[]){1, 1, 1});
    assert_memory_equal(r, "\0\1\1\1\1\0\1\0\1\1\1", 11);
    assert_int_equal(x[2], 1);
    compiled_free(k);
    tir_free(t);
}

// ---- atomics ------------------------------------------------------------------------------------

static bool rmw_takes(const Machine *m, IrRmw rmw, Dtype elem) {
    bool integer = dtype_is(elem, DTYPE_CLASS_INT);
    if (rmw == IR_RMW_XCHG || rmw == IR_RMW_LOAD) return true;
    if (rmw == IR_RMW_AND || rmw == IR_RMW_OR || rmw == IR_RMW_XOR)
        return integer || elem == DTYPE_BOOL;
    return integer || elem == DTYPE_F32 || elem == DTYPE_F64 || (elem == DTYPE_F16 && m->f16);
}

static void add_atomics(Bundle *b, const Machine *m, Dtype elem, uint32_t x, uint32_t mask) {
    static const char *const orders[] = {"relaxed", "acquire", "release", "acq_rel"};
    static const char *const scopes[] = {"program", "device", "system"};
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t indices = b->lanes ? add_indices(b, true) : 0;
    for (IrRmw rmw = IR_RMW_ADD; rmw < IR_RMWS; rmw++) {
        if (!rmw_takes(m, rmw, elem)) continue;
        const char *text = ir_enum_text(IR_KIND_RMW, rmw);
        uint32_t p = bundle_target(b, elem, b->lanes, text, 1);
        if (b->lanes) p = add_places(b, elem, p, indices);
        const char *how = arena_printf(b->arena, "{op = %s, order = %s, scope = %s}", text,
                                       orders[rmw % 4], scopes[rmw % 3]);
        bundle_output(b, elem, b->lanes, "what an atomic returns",
                      bundle_op(b, "atomic %%%u, %%%u, _ %s : %s", p, x, how, type));
        bundle_output(b, elem, b->lanes, "what a masked atomic returns",
                      bundle_op(b, "atomic %%%u, %%%u, %%%u %s : %s", p, x, mask, how, type));
    }
}

// Half of the expected values are those in memory.
static void add_swaps(Bundle *b, Dtype elem, uint32_t x, uint32_t y, uint32_t mask) {
    const char *type = bundle_type(b, elem, b->lanes);
    uint32_t p = bundle_target(b, elem, b->lanes, "atomic_cas", 1);
    if (b->lanes) p = add_places(b, elem, p, add_indices(b, false));
    uint32_t held = bundle_op(b, "load %%%u, _, _ : %s", p, type);
    uint32_t expected = bundle_op(b, "select %%%u, %%%u, %%%u : %s", mask, held, y, type);
    const char *how = "{order = acq_rel, scope = device}";
    bundle_output(
        b, elem, b->lanes, "what atomic_cas returns",
        bundle_op(b, "atomic_cas %%%u, %%%u, %%%u, _ %s : %s", p, expected, x, how, type));
    bundle_output(
        b, elem, b->lanes, "what a masked atomic_cas returns",
        bundle_op(b, "atomic_cas %%%u, %%%u, %%%u, %%%u %s : %s", p, x, y, mask, how, type));
}

static bool check_atomics(Memory *memory, Dtype elem, uint32_t lanes, CpuTarget target) {
    Arena *arena = arena_create();
    Machine m = machine_of_cpu(target);
    Bundle *b = bundle_create(arena, lanes);
    uint32_t x = bundle_input(b, elem, 0), y = bundle_input(b, elem, 2);
    uint32_t mask = bundle_input(b, DTYPE_BOOL, 2);
    add_atomics(b, &m, elem, x, mask);
    add_swaps(b, elem, x, y, mask);
    bool fine = bundle_check(b, target, memory->seen);
    arena_destroy(arena);
    return fine;
}

static void atomics_change(void **state) {
    Memory *m = *state;
    if (!codegen_plugin()) skip();
    static const uint32_t lanes[] = {0, 1, 4, 8};
    bool fine = true;
    for (uint32_t i = 0; i < m->target_count; i++)
        for (uint32_t n = 0; n < 4; n++)
            for (Dtype elem = 0; elem < DTYPE_I4; elem++)
                if (is_due(i, n, elem)) fine &= check_atomics(m, elem, lanes[n], m->targets[i]);
    assert_true(fine);
}

static void no_op_is_left_out(void **state) {
    Memory *m = *state;
    if (!codegen_plugin()) skip();
    bundle_all_seen(MEMORY, m->seen);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_move),   cmocka_unit_test(known_lanes_are_left_out),
        cmocka_unit_test(scalars_move),   cmocka_unit_test(any_byte_is_a_bool),
        cmocka_unit_test(atomics_change), cmocka_unit_test(no_op_is_left_out),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
