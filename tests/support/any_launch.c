#include "tests/support/any_launch.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "tests/support/dice.h"
#include "tests/support/special.h"

enum { ELEMENTS_MAX = 4096, POINTER_ELEMENTS = 128, EXTENT_MAX = 9 };

// ---- values -------------------------------------------------------------------------------------

static uint64_t exact_bits(Dtype t, Dice *dice) {
    int64_t value = (int64_t)dice_below(dice, 9) - 4;
    if (t == DTYPE_BOOL) return value > 0;
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) return dtype_from_double(t, (double)value, true);
    return dtype_wrap(t, (uint64_t)value);
}

static uint64_t any_bits(Dtype t, Dice *dice) {
    static const double edges[] = {0.0,   -0.0,  1.0,   -1.0,  0.5,   3.0,      1e30,
                                   -1e30, 1e-40, 448.0, 1e300, 65504, HUGE_VAL, -HUGE_VAL};
    if (t == DTYPE_BOOL) return dice_below(dice, 2);
    unsigned kind = (unsigned)dice_below(dice, 8);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT)) {
        if (kind < 4) return dtype_from_double(t, edges[dice_below(dice, 14)], false);
        uint64_t bits = dtype_wrap(t, dice_next(dice));
        // Payloads and signs of NaNs are not defined: only the plain NaN is an input.
        return dtype_is_nan(t, bits) ? dtype_from_double(t, (double)NAN, false) : bits;
    }
    if (kind == 0) return dtype_wrap(t, (uint64_t)dtype_int_min(t));
    if (kind == 1) return dtype_int_max(t);
    return dtype_wrap(t, kind < 6 ? dice_below(dice, 9) - 4 : dice_next(dice));
}

static uint64_t special_bits(Dtype t, Dice *dice) {
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT))
        return dice_below(dice, 24) ? special_float(t, dice) : special_nan(t, dice);
    return dice_chance(dice, 50) ? exact_bits(t, dice) : any_bits(t, dice);
}

static uint64_t value_bits(Dtype t, Dice *dice, AnyValues values) {
    switch (values) {
    case ANY_BITS: return any_bits(t, dice);
    case ANY_EXACT: return exact_bits(t, dice);
    case ANY_SPECIAL: break;
    }
    return special_bits(t, dice);
}

// ---- arguments ----------------------------------------------------------------------------------

static bool meets(const IrFacts *facts, int64_t value) {
    if (facts->divisor > 1 &&
        (uint64_t)(value < 0 ? 0 - (uint64_t)value : (uint64_t)value) % facts->divisor != 0)
        return false;
    return !facts->has_range || (value >= facts->min && value <= facts->max);
}

// Drawn from the name and the seed alone, so that it is the same wherever the name stands.
int64_t any_launch_extent(Symbol name, uint64_t seed) {
    Dice dice = dice_roll(seed ^ str_hash(str(name)));
    return (int64_t)dice_below(&dice, EXTENT_MAX) + 1;
}

static bool add_view(AnyLaunch *l, const IrFunc *f, uint32_t i, uint64_t seed) {
    const IrParam *p = &f->params.data[i];
    IrArg *arg = &l->args[i];
    uint32_t rank = p->value->type->rank;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < rank; d++) {
        arg->extent[d] =
            p->dims[d].extent ? any_launch_extent(p->dims[d].extent, seed) : p->dims[d].value;
        if (arg->extent[d] < 0 || arg->extent[d] > ELEMENTS_MAX) return false;
        elements *= (uint64_t)arg->extent[d];
        if (elements > ELEMENTS_MAX) return false;
        const IrExtent *e = p->dims[d].extent ? ir_extent_find(f, p->dims[d].extent) : NULL;
        if (e && !meets(&e->facts, arg->extent[d])) return false;
    }
    if (dtype_is(p->value->type->elem, DTYPE_CLASS_PACKED) && arg->extent[rank - 1] % 2)
        return false;
    int64_t stride = 1;
    bool columns = p->strided && seed % 2 && !dtype_is(p->value->type->elem, DTYPE_CLASS_PACKED);
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t d = columns ? k : rank - 1 - k;
        arg->stride[d] = stride;
        stride *= arg->extent[d];
    }
    l->buffers[i].elements = elements;
    return true;
}

static void add_buffer(AnyLaunch *l, uint32_t i, Dice *dice, AnyValues values) {
    AnyBuffer *b = &l->buffers[i];
    b->size = dtype_storage(b->elem, b->elements);
    b->data = arena_alloc(l->arena, b->size + 16);
    for (uint64_t k = 0; k < b->elements; k++)
        dtype_store(b->elem, b->data, k, value_bits(b->elem, dice, values));
    l->args[i].data = b->data;
    l->args[i].base = b->data;
    l->args[i].size = b->size;
}

static bool add_argument(AnyLaunch *l, const IrFunc *f, uint32_t i, uint64_t seed,
                         AnyValues values) {
    const IrParam *p = &f->params.data[i];
    const IrType *type = p->value->type;
    Dice dice = dice_roll(seed + 0x1234567u * (i + 1));
    l->buffers[i].name = p->name;
    l->buffers[i].elem = type->elem;
    switch (type->kind) {
    case IR_TILE:
        if (type->rank > 0) return false;
        // Facts are of small numbers.
        if (p->facts.has_range && values == ANY_SPECIAL) values = ANY_EXACT;
        l->args[i].bits = value_bits(type->elem, &dice, values);
        return !dtype_is(type->elem, DTYPE_CLASS_INT) ||
               meets(&p->facts, dtype_to_i64(type->elem, l->args[i].bits));
    case IR_PTR:
        if (type->rank > 0) return false;
        l->buffers[i].elements = POINTER_ELEMENTS;
        break;
    case IR_VIEW: TRY(add_view(l, f, i, seed)); break;
    }
    add_buffer(l, i, &dice, values);
    return p->facts.divisor <= 16 && (p->facts.divisor & (p->facts.divisor - 1)) == 0;
}

AnyLaunch *any_launch(Arena *arena, const IrFunc *f, uint64_t seed, AnyValues values) {
    AnyLaunch *l = arena_new(arena, AnyLaunch, 1);
    l->arena = arena;
    l->count = (uint32_t)f->params.count;
    l->args = arena_new(arena, IrArg, l->count + 1);
    l->buffers = arena_new(arena, AnyBuffer, l->count + 1);
    l->printed = strbuf(arena);
    for (uint32_t i = 0; i < l->count; i++)
        if (!add_argument(l, f, i, seed, values)) return NULL;
    for (size_t i = 0; i < f->extents.count; i++) {
        const IrExtent *e = &f->extents.data[i];
        if (!meets(&e->facts, any_launch_extent(e->name, seed))) return NULL;
    }
    l->launch = (IrLaunch){.args = l->args, .arg_count = l->count, .grid = {2, 1, 1}};
    l->launch.sanitize = true;
    return l;
}

bool any_launch_allowed(const AnyLaunch *l, const IrFunc *f) {
    IrInterp *interp = ir_interp_create(l->arena, f);
    bool allowed = true;
    for (size_t i = 0; i < f->sections.count && allowed; i++) {
        uint64_t holds = 0;
        if (f->sections.data[i].kind != IR_REQUIRES) continue;
        allowed = ir_interp_section(interp, &f->sections.data[i], &l->launch, 1, &holds) && holds;
    }
    ir_interp_destroy(interp);
    return allowed;
}

// ---- runs ---------------------------------------------------------------------------------------

static void keep_line(void *user, Str line) {
    AnyLaunch *l = user;
    strbuf_add(&l->printed, line);
    strbuf_char(&l->printed, '\n');
}

void any_launch_expand(IrModule *m, Diags *diags) {
    static const PassStep steps[] = {{PASS_EXPAND_MATH, "last"}};
    passes_run(m, steps, 1, NULL, diags);
}

void any_launch_prints(AnyLaunch *l) {
    l->launch.print = keep_line;
    l->launch.user = l;
}

IrOutcome any_launch_run(AnyLaunch *l, const IrFunc *f, uint64_t step_limit, Diags *diags) {
    IrInterp *interp = ir_interp_create(l->arena, f);
    l->launch.step_limit = step_limit;
    any_launch_prints(l);
    IrOutcome outcome = ir_interp_run(interp, &l->launch, diags);
    ir_interp_destroy(interp);
    return outcome;
}

Str any_launch_difference(Arena *arena, const AnyLaunch *a, const AnyLaunch *b, bool raw) {
    StrBuf text = strbuf(arena);
    for (uint32_t i = 0; i < a->count; i++) {
        const AnyBuffer *x = &a->buffers[i], *y = &b->buffers[i];
        for (uint64_t k = 0; k < x->elements && x->data; k++) {
            uint64_t p = dtype_load(x->elem, x->data, k), q = dtype_load(x->elem, y->data, k);
            bool nans = !raw && dtype_is(x->elem, DTYPE_CLASS_ANYFLOAT) &&
                        dtype_is_nan(x->elem, p) && dtype_is_nan(x->elem, q);
            if (p == q || nans) continue;
            strbuf_printf(&text, "%s[%llu] (%s): 0x%llx, then 0x%llx", x->name,
                          (unsigned long long)k, dtype_name(x->elem), (unsigned long long)p,
                          (unsigned long long)q);
            return strbuf_str(&text);
        }
    }
    if (!str_equal(strbuf_str(&a->printed), strbuf_str(&b->printed)))
        strbuf_printf(&text, "printed\n%s\nthen\n%s", a->printed.size ? a->printed.text : "",
                      b->printed.size ? b->printed.text : "");
    return strbuf_str(&text);
}
