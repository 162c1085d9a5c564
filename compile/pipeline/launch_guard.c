#include "compile/pipeline/launch_guard.h"

#include "base/gpu_abi.h"
#include "base/limits.h"
#include "base/vec.h"
#include "passes/cpu/tuning.h"
#include "target/machine.h"

typedef struct Guard {
    Arena *arena;
    const MetaKernel *meta;
    VEC(LaunchInstr) code;
    uint64_t mapped;     // the views of maps: bit i stands for argument i
    bool persistent;     // the grid of that variant has as many programs as run at once
    int64_t value;       // the condition so far: a bool, or META_NO_VALUE
    VEC(uint32_t) held;  // the conditions that it combines
} Guard;

static bool same_instr(const LaunchInstr *x, const LaunchInstr *y) {
    return x->op == y->op && x->dtype == y->dtype && x->result == y->result && x->a == y->a &&
           x->b == y->b && x->c == y->c && x->imm == y->imm;
}

// Every launch runs this code, so equal instructions are emitted once.
static uint32_t add(Guard *g, LaunchInstr x) {
    for (uint32_t i = 0; i < g->code.count; i++)
        if (same_instr(&g->code.data[i], &x)) return i;
    vec_push(g->arena, &g->code, x);
    return (uint32_t)g->code.count - 1;
}

static uint32_t emit(Guard *g, LaunchOp op, Dtype type, Dtype result, uint32_t a, uint32_t b) {
    return add(
        g,
        (LaunchInstr){
            .op = (uint8_t)op, .dtype = (uint8_t)type, .result = (uint8_t)result, .a = a, .b = b});
}

// Extents of one name are equal when a variant is chosen: the first of them is used for all.
static void first_mention(const MetaKernel *meta, uint32_t *arg, uint32_t *dim) {
    int32_t name = meta->args[*arg].dims[*dim].extent;
    for (uint32_t i = 0; i <= *arg && name >= 0; i++)
        for (uint32_t d = 0; meta->args[i].kind == META_VIEW && d < meta->args[i].rank; d++)
            if (meta->args[i].dims[d].extent == name) {
                *arg = i, *dim = d;
                return;
            }
}

static uint32_t fact(Guard *g, LaunchOp op, uint32_t arg, uint32_t other) {
    Dtype type = op == LAUNCH_ARG_DISJOINT ? DTYPE_BOOL : DTYPE_I64;
    if (op == LAUNCH_ARG_EXTENT) first_mention(g->meta, &arg, &other);
    return emit(g, op, type, type, arg, other);
}

static uint32_t constant(Guard *g, uint64_t number) {
    return add(g, (LaunchInstr){
                      .op = LAUNCH_CONST, .dtype = DTYPE_I64, .result = DTYPE_I64, .imm = number});
}

static uint32_t compare(Guard *g, LaunchOp op, uint32_t a, uint32_t b) {
    return emit(g, op, DTYPE_I64, DTYPE_BOOL, a, b);
}

static uint32_t both(Guard *g, LaunchOp op, uint32_t a, uint32_t b) {
    return emit(g, op, DTYPE_BOOL, DTYPE_BOOL, a, b);
}

static void require(Guard *g, uint32_t value) {
    for (size_t i = 0; i < g->held.count; i++)
        if (g->held.data[i] == value) return;
    vec_push(g->arena, &g->held, value);
    g->value = g->value == META_NO_VALUE ? value : both(g, LAUNCH_AND, (uint32_t)g->value, value);
}

static bool is_array(const MetaArg *arg) { return arg->kind != META_SCALAR; }

// Can the two be the same array, element by element? passes/alias.c allows only that kind of
// overlap.
static bool may_be_same(const MetaArg *a, const MetaArg *b) {
    return a->kind == META_VIEW && b->kind == META_VIEW && a->rank == b->rank &&
           dtype_bits(a->dtype) == dtype_bits(b->dtype);
}

static uint32_t equal_in(Guard *g, LaunchOp op, uint32_t i, uint32_t j, uint32_t dim,
                         uint32_t so_far) {
    uint32_t a = fact(g, op, i, dim), b = fact(g, op, j, dim);
    if (a == b) return so_far;
    uint32_t equal = compare(g, LAUNCH_EQ, a, b);
    return both(g, LAUNCH_AND, so_far, equal);
}

static uint32_t same(Guard *g, uint32_t i, uint32_t j) {
    const MetaArg *a = &g->meta->args[i], *b = &g->meta->args[j];
    uint32_t value =
        compare(g, LAUNCH_EQ, fact(g, LAUNCH_ARG_ADDRESS, i, 0), fact(g, LAUNCH_ARG_ADDRESS, j, 0));
    for (uint32_t d = 0; d < a->rank; d++) {
        value = equal_in(g, LAUNCH_ARG_EXTENT, i, j, d, value);
        if (a->strided || b->strided) value = equal_in(g, LAUNCH_ARG_STRIDE, i, j, d, value);
    }
    return value;
}

// The size of the memory at a pointer is unknown without a buffer, and `disjoint` takes it for
// empty.
static uint32_t and_known(Guard *g, uint32_t pointer, uint32_t apart) {
    uint32_t bytes = fact(g, LAUNCH_ARG_BYTES, pointer, 0);
    return both(g, LAUNCH_AND, apart, compare(g, LAUNCH_NE, bytes, constant(g, 0)));
}

static void require_apart(Guard *g, uint32_t i, uint32_t j) {
    const MetaArg *a = &g->meta->args[i], *b = &g->meta->args[j];
    uint32_t apart = fact(g, LAUNCH_ARG_DISJOINT, i, j);
    const uint32_t pair[2] = {i, j};
    for (int k = 0; k < 2; k++) {
        if (g->meta->args[pair[k]].kind == META_POINTER) apart = and_known(g, pair[k], apart);
    }
    if (may_be_same(a, b)) apart = both(g, LAUNCH_OR, apart, same(g, i, j));
    require(g, apart);
}

static void require_disjoint(Guard *g) {
    for (uint32_t i = 0; i < g->meta->arg_count; i++)
        for (uint32_t j = i + 1; j < g->meta->arg_count; j++) {
            const MetaArg *a = &g->meta->args[i], *b = &g->meta->args[j];
            if (is_array(a) && is_array(b) && (a->written || b->written)) require_apart(g, i, j);
        }
}

static void require_contiguous(Guard *g) {
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        const MetaArg *arg = &g->meta->args[i];
        if (arg->kind != META_VIEW || !arg->strided || !arg->rank) continue;
        uint32_t stride = fact(g, LAUNCH_ARG_STRIDE, i, arg->rank - 1);
        require(g, compare(g, LAUNCH_EQ, stride, constant(g, 1)));
    }
}

// `divisor` is a power of two. Only the low bits are read, which matters for addresses.
static uint32_t multiple_of(Guard *g, uint32_t value, uint64_t divisor) {
    uint32_t rest = emit(g, LAUNCH_AND, DTYPE_I64, DTYPE_I64, value, constant(g, divisor - 1));
    return compare(g, LAUNCH_EQ, rest, constant(g, 0));
}

static void require_large(Guard *g, uint32_t i) {
    const MetaArg *arg = &g->meta->args[i];
    uint64_t size = dtype_bits(arg->dtype) / 8;
    uint32_t count = constant(g, 1);
    for (uint32_t d = 0; d < arg->rank; d++)
        count = emit(g, LAUNCH_MUL, DTYPE_I64, DTYPE_I64, count, fact(g, LAUNCH_ARG_EXTENT, i, d));
    if (!arg->leaves)
        require(g, compare(g, LAUNCH_GE, count, constant(g, TUNE_STREAM_BYTES / size)));
    // An address may exceed INT64_MAX as a number, so only its low bits are used.
    require(g, multiple_of(g, fact(g, LAUNCH_ARG_ADDRESS, i, 0), FACT_STREAM_ALIGN));
    if (arg->rank > 1)
        require(g, multiple_of(g, fact(g, LAUNCH_ARG_EXTENT, i, arg->rank - 1),
                               FACT_STREAM_ALIGN / size));
}

static bool may_stream(const MetaArg *arg) {
    return arg->kind == META_VIEW && arg->rank > 0 && !arg->strided && dtype_bits(arg->dtype) >= 8;
}

// Outputs that are read again, or whose hint says so, should stay in the caches. All the others
// must qualify: a small one without a hint, or a strided one, means that there is no such variant.
static bool should_stream(const MetaArg *arg) { return arg->written && !arg->read && !arg->keeps; }

static void require_streams(Guard *g) {
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        const MetaArg *arg = &g->meta->args[i];
        if (should_stream(arg) && !may_stream(arg)) return;
    }
    for (uint32_t i = 0; i < g->meta->arg_count; i++)
        if (should_stream(&g->meta->args[i])) require_large(g, i);
}

enum { WIDE_BYTES = 16 };

// Rows of a strided view may begin anywhere; fixed extents are known at compile time.
static void require_wide(Guard *g) {
    int64_t addresses = META_NO_VALUE;  // the bitwise or of all addresses
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        if (!is_array(&g->meta->args[i])) continue;
        uint32_t address = fact(g, LAUNCH_ARG_ADDRESS, i, 0);
        addresses = addresses == META_NO_VALUE
                        ? address
                        : emit(g, LAUNCH_OR, DTYPE_I64, DTYPE_I64, (uint32_t)addresses, address);
    }
    if (addresses != META_NO_VALUE) require(g, multiple_of(g, (uint32_t)addresses, WIDE_BYTES));
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        const MetaArg *arg = &g->meta->args[i];
        bool rows = arg->kind == META_VIEW && arg->rank && !arg->strided;
        if (!rows || arg->dims[arg->rank - 1].extent < 0) continue;
        uint64_t bits = dtype_is(arg->dtype, DTYPE_CLASS_PACKED) ? dtype_bits(arg->dtype)
                                                                 : 8 * dtype_size(arg->dtype);
        uint32_t extent = fact(g, LAUNCH_ARG_EXTENT, i, arg->rank - 1);
        require(g, multiple_of(g, extent, 8 * WIDE_BYTES / bits));
    }
}

// ---- numbers of 32 bits -------------------------------------------------------------------------

static void require_below(Guard *g, uint32_t value) {
    require(g, compare(g, LAUNCH_LE, value, constant(g, INT32_MAX)));
}

// The product of the extents is below 2^31. Each factor is checked, and each partial product: the
// first one that exceeds the limit fails the guard, even if later ones wrap around.
static uint32_t require_few(Guard *g, uint32_t i) {
    uint32_t count = 0;
    for (uint32_t d = 0; d < g->meta->args[i].rank; d++) {
        uint32_t extent = fact(g, LAUNCH_ARG_EXTENT, i, d);
        require_below(g, extent);
        count = d ? emit(g, LAUNCH_MUL, DTYPE_I64, DTYPE_I64, count, extent) : extent;
        if (d) require_below(g, count);
    }
    return count;
}

// The index of the last element, and each of its terms, are below 2^31.
static uint32_t require_close(Guard *g, uint32_t i) {
    uint32_t one = constant(g, 1), none = constant(g, 0), sum = none;
    for (uint32_t d = 0; d < g->meta->args[i].rank; d++) {
        uint32_t extent = fact(g, LAUNCH_ARG_EXTENT, i, d);
        uint32_t stride = fact(g, LAUNCH_ARG_STRIDE, i, d);
        require_below(g, extent);
        require_below(g, stride);
        require(g, compare(g, LAUNCH_GE, stride, none));
        uint32_t last = emit(g, LAUNCH_SUB, DTYPE_I64, DTYPE_I64, extent, one);
        uint32_t far = emit(g, LAUNCH_MUL, DTYPE_I64, DTYPE_I64, last, stride);
        require_below(g, far);
        sum = emit(g, LAUNCH_ADD, DTYPE_I64, DTYPE_I64, sum, far);
    }
    require_below(g, sum);
    return sum;
}

// The kernel's own grid has programs, but not too many.
static void require_few_programs(Guard *g) {
    const MetaVariant *v = &g->meta->variants[0];
    for (uint32_t d = 0; d < v->grid_rank; d++) {
        require(g, compare(g, LAUNCH_LE, v->grid[d], constant(g, LIMIT_NARROW_GRID)));
        require(g, compare(g, LAUNCH_GE, v->grid[d], constant(g, 1)));
    }
}

static void require_narrow(Guard *g) {
    require_few_programs(g);
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        const MetaArg *arg = &g->meta->args[i];
        if (arg->kind != META_VIEW || !arg->rank) continue;
        (arg->strided ? require_close : require_few)(g, i);
    }
}

// Packed elements count as bytes here, of which they need fewer.
static void require_near(Guard *g) {
    for (uint32_t i = 0; i < g->meta->arg_count; i++) {
        const MetaArg *arg = &g->meta->args[i];
        if (arg->kind != META_VIEW || !arg->rank) continue;
        uint64_t most = (UINT64_C(1) << 31) / dtype_size(arg->dtype);
        if (arg->strided)
            require(g, compare(g, LAUNCH_LT, require_close(g, i), constant(g, most)));
        else
            require(g, compare(g, LAUNCH_LE, require_few(g, i), constant(g, most)));
    }
}

static uint64_t element_bytes(const MetaArg *arg) { return dtype_bits(arg->dtype) / 8; }

bool launch_can_map(const MetaArg *arg) {
    if (arg->kind != META_VIEW || !arg->rank || !element_bytes(arg)) return false;
    for (uint32_t d = 0; d < arg->rank; d++)
        if (arg->dims[d].extent < 0 && (arg->dims[d].value < 1 || arg->dims[d].value > INT32_MAX))
            return false;
    const MetaDim *last = &arg->dims[arg->rank - 1];
    bool known = !arg->strided && arg->rank > 1 && last->extent < 0;
    return !known || (uint64_t)last->value * element_bytes(arg) % GPU_MAP_UNIT == 0;
}

static void require_some(Guard *g, uint32_t value) {
    require(g, compare(g, LAUNCH_GE, value, constant(g, 1)));
}

// In addition to `narrow` and `wide`: there are elements, and rows of strided views are apart.
static void require_map(Guard *g, uint32_t i) {
    const MetaArg *arg = &g->meta->args[i];
    for (uint32_t d = 0; d < arg->rank; d++) {
        if (arg->dims[d].extent >= 0) require_some(g, fact(g, LAUNCH_ARG_EXTENT, i, d));
        if (!arg->strided) continue;
        uint32_t stride = fact(g, LAUNCH_ARG_STRIDE, i, d);
        if (d + 1 == arg->rank) {
            require(g, compare(g, LAUNCH_EQ, stride, constant(g, 1)));
        } else {
            require_some(g, stride);
            require(g, multiple_of(g, stride, GPU_MAP_UNIT / element_bytes(arg)));
        }
    }
}

// Maps copy nothing that the kernel writes: they do not see the stores of the program.
static void require_unwritten(Guard *g, uint32_t i) {
    for (uint32_t j = 0; j < g->meta->arg_count; j++) {
        const MetaArg *arg = &g->meta->args[j];
        if (j == i || !is_array(arg) || !arg->written) continue;
        uint32_t apart = fact(g, LAUNCH_ARG_DISJOINT, i < j ? i : j, i < j ? j : i);
        if (arg->kind == META_POINTER) apart = and_known(g, j, apart);
        require(g, apart);
    }
}

static void require_mapped(Guard *g) {
    for (uint32_t i = 0; i < g->meta->arg_count; i++)
        if (g->mapped >> i & 1) require_map(g, i), require_unwritten(g, i);
}

// All positions of the grid have a number of 32 bits.
static uint32_t require_few_positions(Guard *g) {
    const MetaVariant *v = &g->meta->variants[0];
    uint32_t all = v->grid[0];
    for (uint32_t d = 1; d < v->grid_rank; d++) {
        all = emit(g, LAUNCH_MUL, DTYPE_I64, DTYPE_I64, all, v->grid[d]);
        require_below(g, all);
    }
    return all;
}

// Can a launch have maps of these views? The most maps must fit with its arguments.
static bool can_map(const MetaKernel *meta, uint64_t mapped) {
    for (uint32_t i = 0; i < meta->arg_count; i++)
        if (mapped >> i & 1 && !launch_can_map(&meta->args[i])) return false;
    return mapped && gpu_params_size(meta->size, GPU_MAPS) <= GPU_PARAMS;
}

static void add_variant(Guard *g, MetaVariant *variants, uint32_t *count, unsigned which) {
    MetaVariant *v = &variants[*count];
    *v = variants[*count - 1];
    v->facts |= which;
    v->guard = g->value;
    LaunchInstr *code = arena_new(g->arena, LaunchInstr, g->code.count);
    for (size_t i = 0; i < g->code.count; i++) code[i] = g->code.data[i];
    v->code = (LaunchCode){(uint32_t)g->code.count, code};
    (*count)++;
}

// Adds a variant with one more fact. If its guard would be empty, the fact always holds.
static void add_fact(Guard *g, MetaVariant *variants, uint32_t *count, unsigned which,
                     void (*require_it)(Guard *g)) {
    size_t before = g->held.count;
    require_it(g);
    if (g->held.count > before) {
        add_variant(g, variants, count, which);
        return;
    }
    if (which == FACT_STREAM) return;  // there is nothing to stream
    for (uint32_t i = 0; i < *count; i++) variants[i].facts |= which;
}

// A variant of its own even if its guard is empty: there are devices without maps.
static void add_mapped(Guard *g, MetaVariant *variants, uint32_t *count) {
    if (!can_map(g->meta, g->mapped)) return;
    require_mapped(g);
    if (!g->persistent || !g->meta->variants[0].grid_rank) {
        add_variant(g, variants, count, FACT_MAPPED);
        return;
    }
    uint32_t all = require_few_positions(g);
    uint32_t units =
        add(g, (LaunchInstr){.op = LAUNCH_UNITS, .dtype = DTYPE_I64, .result = DTYPE_I64});
    uint32_t least = emit(g, LAUNCH_MIN, DTYPE_I64, DTYPE_I64, all, units);
    add_variant(g, variants, count, FACT_MAPPED | FACT_PERSISTENT);
    MetaVariant *v = &variants[*count - 1];
    v->grid_rank = 1;
    v->grid[0] = least;
}

// A guard grows with the square of the number of arguments. Variants whose guards would be too long
// are left out.
static bool fits(const MetaKernel *meta) {
    enum { PAIR = 40 };
    return meta->variants[0].code.count + meta->arg_count * meta->arg_count / 2 * PAIR <
           LAUNCH_CODE_MAX;
}

static Guard guard_of(Arena *arena, const MetaKernel *meta, MetaVariant *variants) {
    variants[0] = meta->variants[0];
    Guard g = {.arena = arena, .meta = meta, .value = META_NO_VALUE};
    const LaunchCode *code = &variants[0].code;
    for (uint32_t i = 0; i < code->count; i++) vec_push(arena, &g.code, code->code[i]);
    return g;
}

void launch_add_gpu_variants(Arena *arena, MetaKernel *meta, LaunchGpuFacts facts) {
    if (!fits(meta)) return;
    MetaVariant *variants = arena_new(arena, MetaVariant, 6);
    uint32_t count = 1;
    Guard g = guard_of(arena, meta, variants);
    g.mapped = facts.mapped;
    g.persistent = facts.persistent;
    add_fact(&g, variants, &count, FACT_NARROW, require_narrow);
    add_fact(&g, variants, &count, FACT_DISJOINT, require_disjoint);
    add_fact(&g, variants, &count, FACT_WIDE, require_wide);
    if (facts.buffers) add_fact(&g, variants, &count, FACT_NEAR, require_near);
    add_mapped(&g, variants, &count);
    meta->variants = variants;
    meta->variant_count = count;
}

void launch_add_variants(Arena *arena, MetaKernel *meta) {
    if (!fits(meta)) return;
    MetaVariant *variants = arena_new(arena, MetaVariant, 4);
    uint32_t count = 1;
    Guard g = guard_of(arena, meta, variants);
    add_fact(&g, variants, &count, FACT_DISJOINT, require_disjoint);
    add_fact(&g, variants, &count, FACT_CONTIGUOUS, require_contiguous);
    add_fact(&g, variants, &count, FACT_STREAM, require_streams);
    meta->variants = variants;
    meta->variant_count = count;
}

uint32_t launch_likely_variant(const MetaKernel *meta) {
    uint32_t last = meta->variant_count - 1;
    while (last && meta->variants[last].facts & FACT_STREAM) last--;
    return last;
}
