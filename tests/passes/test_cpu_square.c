// Loads that are turned in squares: kernels on the interpreter before and after lowering, bit for
// bit, for every machine: permuted reads of views and of buffers, clipped, strided and in place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/pass.h"
#include "tests/support/dice.h"
#include "tests/support/tir.h"

static const char *const machines[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "aarch64"};
enum { MACHINES = sizeof machines / sizeof machines[0] };

static const Dtype all_types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16,   DTYPE_F64, DTYPE_I8,
                                  DTYPE_I16, DTYPE_I64, DTYPE_F8E4M3, DTYPE_BOOL};
enum { TYPES = sizeof all_types / sizeof all_types[0], RANK = 3 };

typedef enum Way {
    WAY_COPY,      // y = permute(x)
    WAY_CAST,      // of another size
    WAY_ADDED,     // y = permute(x) + y
    WAY_BUFFER,    // y = permute(scan(x))
    WAY_TWICE,     // y = permute(x) and z = permute(-x)
    WAY_IN_PLACE,  // x = x + permute(x)
    WAYS
} Way;

typedef struct Case {
    Way way;
    Dtype x, y;
    uint32_t rank;
    uint32_t shape[RANK];  // of the tile of x
    int64_t extent[RANK];  // of x
    uint32_t perm[RANK];
    int64_t first[RANK];  // where the tile begins in x
    bool proven[RANK];
    bool strided;
} Case;

// ---- the kernel ---------------------------------------------------------------------------------

static void print_list(StrBuf *f, const char *open, uint32_t count, const uint32_t *items) {
    strbuf_printf(f, "%s", open);
    for (uint32_t i = 0; i < count; i++) strbuf_printf(f, "%s%u", i ? ", " : "", items[i]);
    strbuf_printf(f, "]");
}

static void permuted(const Case *c, const uint32_t *from, uint32_t *to) {
    for (uint32_t d = 0; d < c->rank; d++) to[d] = from[c->perm[d]];
}

// ", %i0, %i1 {select = [8, 16], inside = [0, 0]}", by the dimensions of x or permuted.
static void print_place(StrBuf *f, const Case *c, bool turned) {
    uint32_t dim[RANK] = {0, 1, 2}, shape[RANK], inside[RANK];
    if (turned) permuted(c, (const uint32_t[]){0, 1, 2}, dim);
    for (uint32_t d = 0; d < c->rank; d++) {
        strbuf_printf(f, ", %%i%u", dim[d]);
        shape[d] = c->shape[dim[d]];
        inside[d] = c->proven[dim[d]];
    }
    print_list(f, " {select = [", c->rank, shape);
    print_list(f, ", inside = [", c->rank, inside);
    strbuf_printf(f, "}");
}

static void print_type(StrBuf *f, const Case *c, Dtype t, bool turned) {
    uint32_t shape[RANK];
    memcpy(shape, c->shape, sizeof shape);
    if (turned) permuted(c, c->shape, shape);
    strbuf_printf(f, " : %s", dtype_name(t));
    print_list(f, "[", c->rank, shape);
    strbuf_printf(f, "\n");
}

static void print_permute(StrBuf *f, const Case *c, const char *to, const char *from, Dtype t) {
    strbuf_printf(f, "    %s = permute %s", to, from);
    print_list(f, " {perm = [", c->rank, c->perm);
    strbuf_printf(f, "}");
    print_type(f, c, t, true);
}

static void print_store(StrBuf *f, const Case *c, const char *view, const char *value) {
    strbuf_printf(f, "    view_store %s, %s, _", view, value);
    print_place(f, c, c->way != WAY_IN_PLACE);
    strbuf_printf(f, "\n");
}

static void print_way(StrBuf *f, const Case *c) {
    switch (c->way) {
    case WAY_COPY: print_permute(f, c, "%3", "%1", c->x); break;
    case WAY_CAST:
        print_permute(f, c, "%2", "%1", c->x);
        strbuf_printf(f, "    %%3 = cast %%2 {saturate = true}");
        print_type(f, c, c->y, true);
        break;
    case WAY_ADDED:
    case WAY_IN_PLACE:
        print_permute(f, c, "%2", "%1", c->x);
        strbuf_printf(f, "    %%9 = view_load %s, _", c->way == WAY_ADDED ? "%y" : "%x");
        print_place(f, c, c->way == WAY_ADDED);
        print_type(f, c, c->x, true);
        strbuf_printf(f, "    %%3 = add %%2, %%9");
        print_type(f, c, c->x, true);
        break;
    case WAY_BUFFER:
        strbuf_printf(f, "    %%2 = scan %%1 {kind = max, axis = 0}");
        print_type(f, c, c->x, false);
        print_permute(f, c, "%3", "%2", c->x);
        break;
    case WAY_TWICE:
        strbuf_printf(f, "    %%2 = neg %%1");
        print_type(f, c, c->x, false);
        print_permute(f, c, "%3", "%1", c->x);
        print_permute(f, c, "%4", "%2", c->x);
        print_store(f, c, "%z", "%4");
        break;
    case WAYS: break;
    }
}

static void declare(StrBuf *f, const Case *c, const char *name, Dtype t, bool turned) {
    static const char *const names[RANK] = {"A", "B", "C"};
    bool strided = c->strided && name[0] == 'x';
    strbuf_printf(f, "%%%s: %sview %s[", name, strided ? "strided " : "", dtype_name(t));
    for (uint32_t d = 0; d < c->rank; d++)
        strbuf_printf(f, "%s%s", d ? ", " : "", names[turned ? c->perm[d] : d]);
    strbuf_printf(f, "], ");
}

static const char *kernel_text(Arena *arena, const Case *c) {
    StrBuf text = strbuf(arena), *f = &text;
    strbuf_printf(f, "kernel @k(");
    declare(f, c, "x", c->x, false);
    declare(f, c, "y", c->y, true);
    declare(f, c, "z", c->x, true);
    strbuf_printf(f, "%%i0: i64, %%i1: i64, %%i2: i64) {\n  body {\n    %%1 = view_load %%x, _");
    print_place(f, c, false);
    print_type(f, c, c->x, false);
    print_way(f, c);
    print_store(f, c, c->way == WAY_IN_PLACE ? "%x" : "%y", "%3");
    strbuf_printf(f, "    return\n  }\n}\n");
    return text.text;
}

// ---- the data -----------------------------------------------------------------------------------

typedef struct Memory {
    size_t bytes[RANK];
    uint8_t *data[RANK];  // x, y, z
    IrArg args[2 * RANK];
} Memory;

static void fill(uint8_t *data, Dtype t, uint64_t count) {
    size_t size = dtype_size(t);
    for (uint64_t i = 0; i < count; i++) {
        double x = (double)((i * 37 + 11) % 101) - 50;
        uint64_t bits = dtype_is(t, DTYPE_CLASS_ANYFLOAT) ? dtype_from_double(t, x, true)
                        : t == DTYPE_BOOL                 ? i * 7 % 3 & 1
                                                          : i * 0x9e3779b97f4a7c15u;
        memcpy(data + i * size, &bits, size);
    }
}

static Memory memory_of(const Case *c) {
    Memory m = {.bytes = {0}};
    int64_t turned[RANK];
    uint64_t count = 1;
    for (uint32_t d = 0; d < c->rank; d++) {
        count *= (uint64_t)c->extent[d];
        turned[d] = c->extent[c->perm[d]];
    }
    for (uint32_t i = 0; i < RANK; i++) {
        Dtype t = i == 1 ? c->y : c->x;
        m.bytes[i] = count * dtype_size(t);
        m.data[i] = malloc(m.bytes[i] + 1);
        fill(m.data[i], t, count);
        m.args[i] = tir_view(m.data[i], c->rank, i ? turned : c->extent);
        m.args[i].base = m.data[i];
        m.args[i].size = m.bytes[i];
        m.args[RANK + i] = tir_scalar((uint64_t)c->first[i]);
    }
    return m;
}

static void memory_free(Memory *m) {
    for (uint32_t i = 0; i < RANK; i++) free(m->data[i]);
}

// ---- running ------------------------------------------------------------------------------------

static bool has_squares(const IrBlock *block) {
    IR_EACH_OP(op, block) {
        if (op->code == IR_VEC_SHUFFLE) return true;
        for (uint32_t i = 0; i < op->region_count; i++)
            if (has_squares(op->regions[i])) return true;
    }
    return false;
}

// Returns whether anything was turned.
static bool lower(Tir *t, const char *machine, unsigned facts) {
    CpuTarget target;
    assert_true(cpu_target_parse(str(machine), &target));
    Machine m = machine_of_cpu(target);
    size_t count;
    const PassStep *steps =
        passes_parse(t->arena, STR("cpu_loops,simplify,cse,licm,dce"), &count, t->diags);
    PassOptions options = {.verify = true, .machine = &m, .facts = facts};
    if (!passes_run(t->module, steps, count, &options, t->diags)) {
        StrBuf text = strbuf(t->arena);
        diags_text(t->diags, (DiagStyle){0}, &text);
        fail_msg("%s", text.text);
    }
    return has_squares(ir_body(t->module->funcs.data[0]));
}

static bool run(const char *text, const char *machine, unsigned facts, Memory *m) {
    Tir *t = tir_load("%s", text);
    bool turned = machine && lower(t, machine, facts);
    IrInterp *interp = ir_interp_create(t->arena, t->module->funcs.data[0]);
    IrLaunch launch = {.args = m->args, .arg_count = 2 * RANK, .grid = {1, 1, 1}, .sanitize = true};
    IrOutcome outcome = ir_interp_run(interp, &launch, t->diags);
    StrBuf said = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &said);
    if (outcome != IR_RUN_DONE) fail_msg("%s: %s\n%s", machine, said.text, text);
    ir_interp_destroy(interp);
    tir_free(t);
    return turned;
}

static bool check(const Case *c) {
    Arena *arena = arena_create();
    const char *text = kernel_text(arena, c);
    Memory expected = memory_of(c);
    run(text, NULL, 0, &expected);
    bool turned = false;
    for (uint32_t i = 0; i < 2 * MACHINES; i++) {
        Memory found = memory_of(c);
        unsigned facts = i % 2 ? FACT_DISJOINT | FACT_CONTIGUOUS : 0;
        turned |= run(text, machines[i / 2], facts, &found);
        for (uint32_t k = 0; k < RANK; k++)
            if (memcmp(expected.data[k], found.data[k], found.bytes[k]) != 0)
                fail_msg(
                    "%s, facts %u: argument %u differs; extents %lld %lld %lld, at %lld %lld "
                    "%lld\n%s",
                    machines[i / 2], facts, k, (long long)c->extent[0], (long long)c->extent[1],
                    (long long)c->extent[2], (long long)c->first[0], (long long)c->first[1],
                    (long long)c->first[2], text);
        memory_free(&found);
    }
    memory_free(&expected);
    arena_destroy(arena);
    return turned;
}

// ---- the cases ----------------------------------------------------------------------------------

// Clipped at the end, at the start, at both, or not at all.
static void place_dim(Dice *dice, Case *c, uint32_t d) {
    int64_t width = c->shape[d];
    c->extent[d] = width;
    switch (dice_below(dice, 4)) {
    case 0: c->proven[d] = dice_chance(dice, 50); break;
    case 1: c->extent[d] = 1 + (int64_t)dice_below(dice, (uint64_t)width); break;
    case 2: c->extent[d] = width + (int64_t)dice_below(dice, 5); break;
    default:
        c->extent[d] = width + (int64_t)dice_below(dice, 5);
        c->first[d] = (int64_t)dice_below(dice, 9) - 4;
    }
}

static Case random_case(Dice *dice, Dtype t, Way way) {
    Case c = {
        .way = way, .x = t, .y = t, .rank = way == WAY_IN_PLACE ? 2 : 2 + dice_chance(dice, 40)};
    if (way == WAY_CAST) c.y = all_types[dice_below(dice, TYPES)];
    if (way == WAY_CAST && c.x == DTYPE_BOOL) c.x = c.y = DTYPE_I32;
    for (uint32_t d = 0; d < RANK; d++) {
        c.perm[d] = d;
        c.shape[d] = 1u << dice_below(dice, c.rank == 2 ? 8 : 6);
        if (d < c.rank) place_dim(dice, &c, d);
    }
    for (uint32_t d = c.rank - 1; d > 0; d--) {
        uint32_t other = (uint32_t)dice_below(dice, d), kept = c.perm[d];
        c.perm[d] = c.perm[other];
        c.perm[other] = kept;
    }
    if (way == WAY_IN_PLACE) {
        c.shape[1] = c.shape[0];
        c.extent[1] = c.extent[0];
        c.first[1] = c.first[0] = 0;
        c.proven[1] = c.proven[0];
    }
    c.strided = dice_chance(dice, 20);
    return c;
}

static bool has_way(Dtype t, Way way) {
    return t != DTYPE_BOOL || way == WAY_COPY || way == WAY_CAST;
}

static void permuted_reads_of_every_type(void **state) {
    (void)state;
    enum { EACH = 10 };
    uint32_t turned = 0, all = 0;
    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t way = 0; way < WAYS; way++)
            for (uint64_t i = 0; i < EACH && has_way(all_types[t], (Way)way); i++) {
                Dice dice = dice_roll(t * 1000 + way * 100 + i);
                Case c = random_case(&dice, all_types[t], (Way)way);
                turned += check(&c);
                all++;
            }
    // Most of them, or the test shows nothing.
    assert_true(turned > all / 2);
}

// A whole square of every size, in the interior and past all edges.
static void squares_of_every_size(void **state) {
    (void)state;
    for (uint32_t t = 0; t < TYPES; t++)
        for (uint32_t size = 2; size <= 128; size *= 2) {
            Case c = {.x = all_types[t], .y = all_types[t], .rank = 2, .perm = {1, 0}};
            for (uint32_t d = 0; d < 2; d++) {
                c.shape[d] = size;
                c.extent[d] = (int64_t)size + 1;
            }
            bool turned = check(&c);
            assert_true(turned == (all_types[t] != DTYPE_BOOL));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(permuted_reads_of_every_type),
        cmocka_unit_test(squares_of_every_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
