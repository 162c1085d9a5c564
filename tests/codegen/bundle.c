#include "tests/codegen/bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/dice.h"
#include "tests/support/foreign.h"
#include "tests/support/jitted.h"

// ---- cells --------------------------------------------------------------------------------------

Place bundle_place(IrOpcode code) {
    static const Place places[IR_OPCODES] = {
#define CELL(op, place) [IR_##op] = place,
#include "tests/codegen/cells.def"
#undef CELL
    };
    return places[code];
}

void bundle_mark(const IrBlock *block, bool *seen) {
    for (const IrOp *op = block->first; op; op = op->next) {
        seen[op->code] = true;
        for (uint32_t r = 0; r < op->region_count; r++) bundle_mark(op->regions[r], seen);
    }
}

void bundle_all_seen(Place place, const bool *seen) {
    for (unsigned code = 0; code < IR_OPCODES; code++) {
        if (bundle_place((IrOpcode)code) == place && !seen[code])
            fail_msg("no test here compiles '%s'", ir_op_info((IrOpcode)code)->text);
    }
}

// ---- values -------------------------------------------------------------------------------------

static const double floats[] = {0.0,    -0.0,  1.0,        -1.0,       0.5,   -1.5,
                                2.5,    3.5,   2147483648, 4294967296, 1e300, -9.3e18,
                                1.9e19, 1e-45, 65504,      -129.75};
static const uint64_t integers[] = {0,          1,         2,  3,  ~UINT64_C(0),   7,    8,
                                    31,         32,        63, 64, UINT64_C(0x80), 0x7f, 0x8000,
                                    0x80000000, 0x7fffffff};
enum { SPECIALS = 16 };

static uint64_t special(Dtype elem, uint32_t i) {
    if (elem == DTYPE_BOOL) return i & 1;
    if (dtype_is(elem, DTYPE_CLASS_INT)) {
        if (i == 9) return (uint64_t)dtype_int_min(elem) & dtype_wrap(elem, ~UINT64_C(0));
        if (i == 10) return dtype_int_max(elem);
        return dtype_wrap(elem, integers[i]);
    }
    if (i == 3) return dtype_from_double(elem, (double)__builtin_inf(), false);
    if (i == 5) return dtype_from_double(elem, (double)__builtin_nan(""), false);
    if (i == 15) return dtype_from_double(elem, -(double)__builtin_inf(), false);
    return dtype_from_double(elem, floats[i], false);
}

// Floats near each other and near 1 half the time, or random numbers would never add up.
static uint64_t random_value(Dtype elem, uint64_t bits) {
    if (elem == DTYPE_BOOL) return bits & 1;
    uint64_t mask = dtype_bits(elem) == 64 ? ~UINT64_C(0) : (UINT64_C(1) << dtype_bits(elem)) - 1;
    if (dtype_is(elem, DTYPE_CLASS_INT)) return (bits >> 8 & 3 ? bits : bits >> 48) & mask;
    if (bits >> 8 & 1) return bits >> 10 & mask;
    return dtype_from_double(elem, (double)(int64_t)(bits << 16) / 0x1p58, false);
}

uint64_t bundle_value(Dtype elem, uint32_t i, unsigned variant) {
    if (i < SPECIALS * SPECIALS) {
        uint32_t which[] = {i / SPECIALS, i % SPECIALS, i * 7 / 3 % SPECIALS};
        return special(elem, which[variant]);
    }
    Dice dice = dice_roll((uint64_t)i * 4 + variant + 1000 * (uint64_t)elem);
    return random_value(elem, dice_next(&dice));
}

// ---- text ---------------------------------------------------------------------------------------

Bundle *bundle_create(Arena *arena, uint32_t lanes) {
    Bundle *b = arena_new(arena, Bundle, 1);
    *b = (Bundle){.arena = arena, .lanes = lanes};
    b->params = strbuf(arena);
    b->body = strbuf(arena);
    uint32_t p = bundle_op(b, "program {dim = 0} : i64");
    uint32_t n = bundle_op(b, "const {value = %u} : i64", lanes ? lanes : 1);
    b->places = bundle_op(b, "mul %%%u, %%%u : i64", p, n);
    return b;
}

const char *bundle_type(Bundle *b, Dtype elem, uint32_t lanes) {
    if (!lanes) return dtype_name(elem);
    return arena_printf(b->arena, "%s[%u]", dtype_name(elem), lanes);
}

uint32_t bundle_op(Bundle *b, const char *format, ...) {
    strbuf_printf(&b->body, "    %%%u = ", b->next);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b->body, format, args);
    va_end(args);
    strbuf_char(&b->body, '\n');
    return b->next++;
}

// Aligned to a whole vector, which stores past the caches rest on.
static unsigned char *aligned(Bundle *b, size_t size) {
    uintptr_t at = (uintptr_t)arena_alloc(b->arena, size + 64);
    return (unsigned char *)((at + 63) / 64 * 64);
}

static BundleArray *add_array(Bundle *b, Dtype elem, uint32_t lanes, const char *what) {
    assert_true(b->array_count < BUNDLE_MOST);
    BundleArray *array = &b->arrays[b->array_count];
    strbuf_printf(&b->params, "%s%%a%u: *%s", b->array_count ? ", " : "", b->array_count,
                  dtype_name(elem));
    *array = (BundleArray){.elem = elem, .lanes = lanes, .what = what};
    size_t size = (size_t)BUNDLE_COUNT * (lanes ? lanes : 1) * 8 + 64;
    array->size = size;
    array->expected = aligned(b, size);
    array->found = aligned(b, size);
    b->array_count++;
    return array;
}

static void fill(BundleArray *array, uint32_t count, unsigned variant) {
    for (uint32_t i = 0; i < count; i++) {
        dtype_store(array->elem, array->expected, i, bundle_value(array->elem, i, variant));
        dtype_store(array->elem, array->found, i, bundle_value(array->elem, i, variant));
    }
}

uint32_t bundle_input(Bundle *b, Dtype elem, unsigned variant) {
    BundleArray *array = add_array(b, elem, 0, "input");
    fill(array, BUNDLE_COUNT, variant);
    uint32_t p =
        bundle_op(b, "ptr_add %%a%u, %%%u : *%s", b->array_count - 1, b->places, dtype_name(elem));
    return bundle_op(b, "%s %%%u, _, _ : %s", b->lanes ? "cpu.load" : "load", p,
                     bundle_type(b, elem, b->lanes));
}

uint32_t bundle_target(Bundle *b, Dtype elem, uint32_t lanes, const char *what, unsigned variant) {
    uint32_t count = lanes ? lanes : 1, at = b->places, number = b->array_count;
    BundleArray *array = add_array(b, elem, count, what);
    if (variant < 3) fill(array, BUNDLE_COUNT / (b->lanes ? b->lanes : 1) * count, variant);
    if (lanes != b->lanes) {  // as many lanes a program as this output has
        uint32_t n = bundle_op(b, "const {value = %u} : i64", count);
        at = bundle_op(b, "mul %%0, %%%u : i64", n);
    }
    return bundle_op(b, "ptr_add %%a%u, %%%u : *%s", number, at, dtype_name(elem));
}

void bundle_output(Bundle *b, Dtype elem, uint32_t lanes, const char *what, uint32_t value) {
    uint32_t p = bundle_target(b, elem, lanes, what, 3);
    strbuf_printf(&b->body, "    %s %%%u, %%%u, _\n", lanes ? "cpu.store" : "store", p, value);
}

const char *bundle_text(Bundle *b) {
    return arena_printf(b->arena, "kernel @k(%s) {level = cpu} {\n  body {\n%s    return\n  }\n}\n",
                        b->params.text, b->body.text);
}

// ---- both runs ----------------------------------------------------------------------------------

static bool same(const BundleArray *a, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        Dtype bits = a->elem == DTYPE_BOOL ? DTYPE_U8 : a->elem;  // a bool is written as 0 or 1
        uint64_t x = dtype_load(bits, a->expected, i), y = dtype_load(bits, a->found, i);
        bool nans = dtype_is(a->elem, DTYPE_CLASS_ANYFLOAT) && dtype_is_nan(a->elem, x) &&
                    dtype_is_nan(a->elem, y);
        if (x == y || nans) continue;
        printf("%s of %s: element %llu: expected 0x%llx, found 0x%llx\n", a->what,
               dtype_name(a->elem), (unsigned long long)i, (unsigned long long)x,
               (unsigned long long)y);
        return false;
    }
    return true;
}

static void keep(Bundle *b) {
    for (uint32_t i = 0; i < b->array_count; i++) {
        BundleArray *a = &b->arrays[i];
        a->first = arena_alloc(b->arena, a->size);
        memcpy(a->first, a->found, a->size);
    }
}

static bool compare(const Bundle *b, CpuTarget target, int64_t programs) {
    bool fine = true;
    for (uint32_t i = 0; i < b->array_count; i++)
        fine &= same(&b->arrays[i], b->arrays[i].lanes * (uint64_t)programs);
    char name[CPU_NAME_MAX];
    if (!fine) printf("with %u lanes on %s\n", b->lanes, cpu_target_name(target, name));
    return fine;
}

// A target of which this machine does not run the code: it compiles, and does the same if the
// emulator is installed.
static bool check_foreign(Bundle *b, Tir *t, CpuTarget target, int64_t programs) {
    static const PassStep no_steps[1];
    const JittedOptions o = {.target = target, .steps = no_steps};
    char name[CPU_NAME_MAX];
    IrArg found[BUNDLE_MOST];
    IrLaunch launch = {.args = found, .arg_count = b->array_count, .grid = {programs, 1, 1}};
    IrOutcome outcome = IR_RUN_DONE;
    Str object;
    for (uint32_t i = 0; i < b->array_count; i++) {
        memcpy(b->arrays[i].found, b->arrays[i].first, b->arrays[i].size);
        found[i] = tir_pointer(b->arrays[i].found, b->arrays[i].size);
    }
    bool missing = foreign_missing(target) != NULL;
    bool fine =
        missing ? compiled_output(t, target, CODEGEN_OBJECT, true, &object)
                : jitted_run(t->module, t->module->funcs.data[0], &o, &launch, &outcome, t->diags);
    if (fine) return missing || compare(b, target, programs);
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    fail_msg("%s: %s", cpu_target_name(target, name), text.text);
    return false;
}

bool bundle_check(Bundle *b, CpuTarget target, bool *seen) {
    Tir *t = tir_load("%s", bundle_text(b));
    if (seen) bundle_mark(ir_body(t->module->funcs.data[0]), seen);
    IrArg expected[BUNDLE_MOST], found[BUNDLE_MOST];
    for (uint32_t i = 0; i < b->array_count; i++) {
        expected[i] = tir_pointer(b->arrays[i].expected, 0);
        found[i] = tir_pointer(b->arrays[i].found, 0);
    }
    int64_t programs = BUNDLE_COUNT / (b->lanes ? b->lanes : 1);
    keep(b);
    assert_int_equal(tir_run(t, expected, b->array_count, programs), IR_RUN_DONE);
    Compiled *k = compiled_load(t, target);
    compiled_run(k, found, b->array_count, (int64_t[]){programs, 1, 1});
    bool fine = compare(b, target, programs);
    compiled_free(k);
    // They have what x86-64-v3 has, unless the bundle is for x86.
    static const CpuTarget others[] = {{CPU_X86_64_V4, 0}, {CPU_AARCH64, 0}};
    for (int i = 0; i < 2 && target.level == CPU_X86_64_V3; i++)
        if (foreign_is(others[i]) && !(b->x86 && others[i].level == CPU_AARCH64))
            fine &= check_foreign(b, t, others[i], programs);
    tir_free(t);
    return fine;
}
