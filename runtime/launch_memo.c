#include "runtime/launch_memo.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/context.h"

// Every variant takes a grid below SMALL in each dimension, and its programs can be counted.
enum { SMALL = 1 << 20 };
enum { SLOTS = 4, PAIRS = 64, CODE_MAX = 256 };

// A view's shape, and each argument's memory and the properties of it that launch code read.
typedef struct MemoArg {
    tilec_dtype dtype;
    int32_t rank;
    uint32_t flags;
    bool null;
    int64_t offset, extent[META_MAX_RANK], stride[META_MAX_RANK];
    int64_t first, last;  // bytes covered, from the address
    int64_t begin;        // offset of the address, from the pointer or the buffer
    uint64_t align;       // address bits that must be zero
    uint64_t low;         // the low bits of the address
    uint64_t bytes;       // for a pointer
    uint64_t scalar;
    bool asked;  // launch code read the scalar
    bool view;   // the argument was a view, perhaps for a pointer
    bool real;   // it was a floating-point number
    tilec_buffer buffer;
    RtRange range;
} MemoArg;

// Two arrays that launch code compared.
typedef struct MemoPair {
    uint8_t a, b;
    bool apart, same;
} MemoPair;

enum { WRITER = 1 << 30 };
typedef struct LaunchMemo {
    _Atomic(uint32_t) users;  // readers, or WRITER
    _Atomic(uint64_t) last;   // hash of the last launch without a memo
    const RtLoaded *loaded;
    uint32_t variant;
    uint32_t choices;  // the kernel's count when the code was chosen
    bool host_grid;    // the variant was chosen for a small grid of the host's
    bool known;        // false: empty, or a property cannot be checked again
    int64_t grid[3];
    _Atomic(uint64_t) buffers_gone;  // the context's count when all buffers here were known to be
                                     // alive
    uint64_t mask;                   // address bits that launch code reads
    uint32_t pair_count;
    MemoPair pairs[PAIRS];
    MemoArg *args;
} LaunchMemo;

struct LaunchMemos {
    size_t count;  // arguments
    LaunchMemo memos[SLOTS];
    MemoArg args[];
};

// ---- Arguments ----

static const tilec_view *view_at(const LaunchGiven *given, size_t i) {
    if (given->args) return given->args[i].kind == TILEC_ARG_VIEW ? &given->args[i].view : NULL;
    return given->meta->args[i].kind == META_VIEW ? given->values[i] : NULL;
}

static bool is_small(const int64_t *grid) {
    for (int d = 0; d < 3; d++)
        if (grid[d] < 0 || grid[d] >= SMALL) return false;
    return true;
}

// Always odd.
static uint64_t hash_of(const LaunchGiven *given) {
    uint64_t hash = given->grid ? UINT64_C(0x5851f42d4c957f2d) : 0;
    for (size_t i = 0; i < given->count; i++) {
        const tilec_view *v = view_at(given, i);
        if (!v || v->rank > META_MAX_RANK) continue;
        hash += (uint64_t)v->dtype;
        for (int32_t d = 0; d < v->rank; d++)
            hash = (hash + (uint64_t)v->extent[d]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash | 1;
}

static LaunchMemo *memo_for(struct LaunchMemos *memos, uint64_t hash) {
    return &memos->memos[hash >> 62];
}
_Static_assert(SLOTS == 4, "two bits of the hash");

static bool same_shape(const MemoArg *m, const tilec_view *v) {
    if (v->dtype != m->dtype || v->rank != m->rank || v->flags != m->flags ||
        v->offset != m->offset)
        return false;
    for (int32_t d = 0; d < m->rank; d++)
        if (v->extent[d] != m->extent[d] || v->stride[d] != m->stride[d]) return false;
    return true;
}

// ---- Recall ----

typedef struct Recall {
    tilec_kernel *kernel;
    const LaunchMemo *memo;
    LaunchPlan *plan;
    bool buffers_kept;  // none was destroyed since
    bool same_buffers;
} Recall;

static bool find_buffer(const Recall *r, const MemoArg *m, tilec_buffer buffer, RtRange *range) {
    if (r->buffers_kept && buffer.handle == m->buffer.handle) {
        *range = m->range;
        return true;
    }
    RtBuffer b;
    if (!rt_buffer_find(r->kernel->context, buffer, &b) || b.device != r->kernel->device)
        return false;
    *range = (RtRange){b.address, b.size};
    return true;
}

static bool is_inside(const MemoArg *m, const RtRange *range) {
    int64_t low, high;
    return !__builtin_add_overflow(m->begin, m->first, &low) &&
           !__builtin_add_overflow(m->begin, m->last, &high) && low >= 0 &&
           (m->first == m->last || (uint64_t)high <= range->size);
}

// Are the properties of the address alone those that launch code read?
static bool same_low(const Recall *r, const MemoArg *m, uint64_t address) {
    return (address & r->memo->mask) == m->low && !address == m->null;
}

static bool recall_view(Recall *r, const MetaArg *arg, const tilec_view *v, uint32_t i) {
    const MemoArg *m = &r->memo->args[i];
    LaunchInput *in = &r->plan->inputs[i];
    RtRange *range = &r->plan->ranges[i];
    bool some = m->first != m->last;
    if (!same_shape(m, v)) return false;
    r->same_buffers = r->same_buffers && v->buffer.handle == m->buffer.handle;
    *range = (RtRange){v->data, 0};
    if (v->buffer.handle) {
        if (v->data || !find_buffer(r, m, v->buffer, range) || !is_inside(m, range)) return false;
    }
    in->address = (uint64_t)(uintptr_t)range->base + (uint64_t)m->begin;
    in->first = in->address + (uint64_t)m->first;
    in->last = in->address + (uint64_t)m->last;
    if ((some && (!range->base || in->address & m->align)) || !same_low(r, m, in->address))
        return false;
    if (!v->buffer.handle || !range->base)
        *range = (RtRange){(void *)(uintptr_t)in->first, in->last - in->first};
    uint8_t *at = r->plan->block + arg->offset;
    memcpy(at, &in->address, 8);
    if (arg->kind == META_POINTER) {
        *range = (RtRange){(void *)(uintptr_t)in->first, in->last - in->first};
        return true;
    }
    for (int32_t d = 0; d < m->rank; d++) memcpy(at += 8, &m->extent[d], 8);
    for (int32_t d = 0; arg->strided && d < m->rank; d++) memcpy(at += 8, &m->stride[d], 8);
    return true;
}

typedef struct MemoPlace {
    void *pointer;
    tilec_buffer buffer;
    size_t offset;
} MemoPlace;

static bool recall_pointer(Recall *r, const MetaArg *arg, const MemoPlace *from, uint32_t i) {
    const MemoArg *m = &r->memo->args[i];
    LaunchInput *in = &r->plan->inputs[i];
    RtRange *range = &r->plan->ranges[i];
    *range = (RtRange){0};
    in->address = (uint64_t)(uintptr_t)from->pointer;
    r->same_buffers = r->same_buffers && from->buffer.handle == m->buffer.handle;
    if (from->buffer.handle) {
        if (from->pointer || !find_buffer(r, m, from->buffer, range) || from->offset > range->size)
            return false;
        in->address = (uint64_t)(uintptr_t)range->base + from->offset;
    }
    if (m->view || in->address & m->align || range->size != m->bytes ||
        !same_low(r, m, in->address))
        return false;
    in->first = range->size ? (uint64_t)(uintptr_t)range->base : in->address;
    in->last = in->first + range->size;
    memcpy(r->plan->block + arg->offset, &in->address, 8);
    return true;
}

static bool recall_scalar(const Recall *r, const MetaArg *arg, RtNumber from, uint32_t i) {
    const MemoArg *m = &r->memo->args[i];
    uint64_t bits;
    r->plan->ranges[i] = (RtRange){0};
    if (!launch_scalar(arg, &from, &bits)) return false;
    if (m->asked && (bits != m->scalar || m->real != (from.kind == TILEC_ARG_DOUBLE))) return false;
    memcpy(r->plan->block + arg->offset, &bits, arg->size);  // little endian
    return true;
}

static bool recall_arg(Recall *r, const LaunchGiven *given, uint32_t i) {
    const MetaArg *arg = &r->memo->loaded->meta->args[i];
    const tilec_arg *from = given->args ? &given->args[i] : NULL;
    const tilec_view *v = view_at(given, i);
    if (v) return r->memo->args[i].view && recall_view(r, arg, v, i);
    if (arg->kind == META_SCALAR)
        return recall_scalar(r, arg,
                             from
                                 ? rt_number_of_arg(from)
                                 : rt_number_of_value(given->meta->args[i].dtype, given->values[i]),
                             i);
    if (from && (arg->kind != META_POINTER || from->kind != TILEC_ARG_POINTER)) return false;
    MemoPlace place = {0};
    if (from)
        place = (MemoPlace){from->pointer, from->buffer, from->offset};
    else
        place.pointer = *(void *const *)given->values[i];
    return recall_pointer(r, arg, &place, i);
}

// Are the pairs as launch code read them?
static bool same_pairs(const LaunchMemo *memo, const LaunchInput *inputs) {
    for (uint32_t k = 0; k < memo->pair_count; k++) {
        const MemoPair *p = &memo->pairs[k];
        const LaunchInput *a = &inputs[p->a], *b = &inputs[p->b];
        if (launch_disjoint(a, b) != p->apart || (a->address == b->address) != p->same)
            return false;
    }
    return true;
}

// Not inlined: the loop over the arguments needs all registers.
__attribute__((noinline)) static bool recall_from(LaunchMemo *memo, tilec_kernel *kernel,
                                                  const LaunchGiven *given, LaunchPlan *plan) {
    const int64_t *grid = given->grid;
    if (!memo->known || memo->host_grid != (grid != NULL) || (grid && !is_small(grid)) ||
        memo->choices != atomic_load_explicit(&kernel->choices, memory_order_relaxed))
        return false;
    uint64_t gone = atomic_load_explicit(&kernel->context->buffers_gone, memory_order_acquire);
    bool kept = gone == atomic_load_explicit(&memo->buffers_gone, memory_order_relaxed);
    Recall r = {kernel, memo, plan, kept, true};
    for (uint32_t i = 0; i < given->count; i++)
        if (!recall_arg(&r, given, i)) return false;
    if (!same_pairs(memo, plan->inputs)) return false;
    if (!kept && r.same_buffers)  // each buffer was looked up again
        atomic_store_explicit(&memo->buffers_gone, gone, memory_order_relaxed);
    plan->variant = memo->variant;
    memcpy(plan->grid, grid ? grid : memo->grid, sizeof plan->grid);
    plan->empty = grid && (!grid[0] || !grid[1] || !grid[2]);
    return true;
}

bool launch_recall(tilec_kernel *kernel, const LaunchGiven *given, LaunchPlan *plan,
                   const RtLoaded **loaded) {
    struct LaunchMemos *memos = atomic_load_explicit(&kernel->memos, memory_order_acquire);
    if (!memos || memos->count != given->count) return false;
    LaunchMemo *memo = memo_for(memos, hash_of(given));
    uint32_t before = atomic_fetch_add_explicit(&memo->users, 1, memory_order_acquire);
    bool known = !(before & WRITER) && recall_from(memo, kernel, given, plan);
    if (known) *loaded = memo->loaded;
    atomic_fetch_sub_explicit(&memo->users, 1, memory_order_release);
    return known;
}

// ---- The properties that launch code reads ----

// The kind of a value of launch code: not an address, one address, or bits of several.
enum { PLAIN, ADDRESS, ADDRESSES };
typedef uint8_t MemoValue;

static bool ask_pair(LaunchMemo *memo, uint32_t a, uint32_t b) {
    for (uint32_t k = 0; k < memo->pair_count; k++)
        if (memo->pairs[k].a == a && memo->pairs[k].b == b) return true;
    if (memo->pair_count == PAIRS) return false;
    memo->pairs[memo->pair_count++] = (MemoPair){.a = (uint8_t)a, .b = (uint8_t)b};
    return true;
}

static bool is_const(const LaunchInstr *x) { return x->op == LAUNCH_CONST; }

// Handles reads of addresses: are two equal, is one NULL, which low bits do they have? False:
// another kind of instruction.
static bool ask_address(LaunchMemo *memo, const LaunchCode *code, const MemoValue *values,
                        uint32_t i, MemoValue *result) {
    const LaunchInstr *x = &code->code[i];
    bool both = values[x->a] && values[x->b];
    const LaunchInstr *other = &code->code[values[x->a] ? x->b : x->a];
    if (x->op == LAUNCH_OR && both) {
        *result = ADDRESSES;
        return true;
    }
    if (x->op == LAUNCH_AND && is_const(other)) {
        memo->mask |= other->imm;
        return true;
    }
    if (x->op != LAUNCH_EQ && x->op != LAUNCH_NE) return false;
    if (values[x->a] == ADDRESS && values[x->b] == ADDRESS)
        return ask_pair(memo, code->code[x->a].a, code->code[x->b].a);
    return !both && is_const(other) && other->imm == 0 &&
           values[values[x->a] ? x->a : x->b] == ADDRESS;
}

static bool ask(LaunchMemo *memo, const LaunchCode *code, MemoValue *values, uint32_t i) {
    const LaunchInstr *x = &code->code[i];
    const uint32_t operands[3] = {x->a, x->b, x->c};
    values[i] = PLAIN;
    switch ((LaunchOp)x->op) {
    case LAUNCH_ARG_ADDRESS: values[i] = ADDRESS; return true;
    case LAUNCH_ARG_DISJOINT: return ask_pair(memo, x->a, x->b);
    case LAUNCH_ARG_SCALAR: memo->args[x->a].asked = true; return true;
    default: break;
    }
    int n = launch_op_operands((LaunchOp)x->op);
    for (int k = 0; k < n; k++)
        if (values[operands[k]]) return n == 2 && ask_address(memo, code, values, i, &values[i]);
    return true;
}

// Launch code also has values that it does not use: parameters that only the kernel's body reads.
static void mark_used(const MetaVariant *v, bool *used) {
    if (v->guard != META_NO_VALUE) used[v->guard] = true;
    for (uint32_t i = 0; i < v->requires_count; i++) used[v->requires[i].value] = true;
    for (uint32_t d = 0; d < v->grid_rank; d++) used[v->grid[d]] = true;
    for (uint32_t i = v->code.count; i-- > 0;) {
        const LaunchInstr *x = &v->code.code[i];
        const uint32_t operands[3] = {x->a, x->b, x->c};
        int n = used[i] ? launch_op_operands((LaunchOp)x->op) : 0;
        for (int k = 0; k < n; k++) used[operands[k]] = true;
    }
}

static bool ask_variant(LaunchMemo *memo, const MetaVariant *v) {
    MemoValue values[CODE_MAX];
    bool used[CODE_MAX] = {false};
    if (v->code.count > CODE_MAX) return false;
    mark_used(v, used);
    for (uint32_t i = 0; i < v->code.count; i++)
        if (used[i] && !ask(memo, &v->code, values, i)) return false;
    return true;
}

// Handles variants whose choice depends on other code: which of several kernels is used. Some of
// them promise that an address is a multiple of 16.
static bool ask_all(LaunchMemo *memo, const MetaKernel *meta) {
    memo->mask |= 15;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        memo->args[i].asked = true;
        for (uint32_t j = i + 1; j < meta->arg_count; j++)
            if (meta->args[i].kind != META_SCALAR && meta->args[j].kind != META_SCALAR &&
                !ask_pair(memo, i, j))
                return false;
    }
    return true;
}

static bool ask_questions(LaunchMemo *memo, const tilec_kernel *kernel) {
    const MetaKernel *meta = memo->loaded->meta;
    memo->mask = 0;
    memo->pair_count = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) memo->args[i].asked = false;
    for (uint32_t v = 0; v < meta->variant_count; v++)
        if (!ask_variant(memo, &meta->variants[v])) return false;
    return kernel->loaded && !kernel->by_shape ? true : ask_all(memo, meta);
}

// ---- Remember ----

static void remember_view(MemoArg *m, const tilec_view *v, const LaunchInput *in) {
    m->dtype = v->dtype;
    m->rank = v->rank;
    m->flags = v->flags;
    m->offset = v->offset;
    memcpy(m->extent, v->extent, sizeof m->extent);
    memcpy(m->stride, v->stride, sizeof m->stride);
    m->first = (int64_t)(in->first - in->address);
    m->last = (int64_t)(in->last - in->address);
    m->begin = v->offset * (int64_t)dtype_bits((Dtype)v->dtype) / 8;
    m->buffer = v->buffer;
}

static void remember_arg(LaunchMemo *memo, const tilec_kernel *kernel, const LaunchGiven *given,
                         const LaunchPlan *plan, uint32_t i) {
    const MetaArg *arg = &memo->loaded->meta->args[i];
    const LaunchInput *in = &plan->inputs[i];
    MemoArg *m = &memo->args[i];
    m->range = plan->ranges[i];
    m->buffer = given->args[i].buffer;
    m->align = dtype_size(arg->dtype) - 1;
    m->null = !in->address;
    m->low = in->address & memo->mask;
    m->bytes = in->last - in->first;
    m->scalar = in->scalar;
    m->real = given->args[i].kind == TILEC_ARG_DOUBLE;
    m->view = given->args[i].kind == TILEC_ARG_VIEW;
    if (m->view) remember_view(m, &given->args[i].view, in);
    // The plan has what the pointer reaches, not the whole buffer.
    RtBuffer b;
    if (m->view && arg->kind == META_POINTER && m->buffer.handle &&
        rt_buffer_find(kernel->context, m->buffer, &b))
        m->range = (RtRange){b.address, b.size};
}

static void remember_in(LaunchMemo *memo, const tilec_kernel *kernel, const LaunchGiven *given,
                        const RtLoaded *loaded, const LaunchPlan *plan, const LaunchState *before) {
    bool asked = memo->loaded == loaded && memo->choices == before->choices;
    memo->loaded = loaded;
    memo->variant = plan->variant;
    memo->host_grid = given->grid != NULL;
    if (!asked) memo->known = ask_questions(memo, kernel);
    if (!memo->known) return;
    for (int d = 0; d < 3; d++) memo->grid[d] = plan->grid[d];
    for (uint32_t i = 0; i < given->count; i++) remember_arg(memo, kernel, given, plan, i);
    for (uint32_t k = 0; k < memo->pair_count; k++) {
        MemoPair *p = &memo->pairs[k];
        const LaunchInput *a = &plan->inputs[p->a], *b = &plan->inputs[p->b];
        p->apart = launch_disjoint(a, b);
        p->same = a->address == b->address;
    }
}

static struct LaunchMemos *memos_of(tilec_kernel *kernel, size_t count) {
    struct LaunchMemos *found = atomic_load_explicit(&kernel->memos, memory_order_acquire);
    if (found) return found;
    struct LaunchMemos *made = calloc(1, sizeof *made + SLOTS * count * sizeof(MemoArg));
    if (!made) return NULL;
    made->count = count;
    for (size_t i = 0; i < SLOTS; i++) made->memos[i].args = &made->args[i * count];
    if (atomic_compare_exchange_strong(&kernel->memos, &found, made)) return made;
    free(made);
    return found;
}

LaunchState launch_state(tilec_kernel *kernel) {
    return (LaunchState){atomic_load_explicit(&kernel->context->buffers_gone, memory_order_acquire),
                         atomic_load_explicit(&kernel->choices, memory_order_acquire)};
}

void launch_remember(tilec_kernel *kernel, const LaunchGiven *given, const RtLoaded *loaded,
                     const LaunchPlan *plan, const LaunchState *before) {
    if (given->count != loaded->meta->arg_count) return;  // some are None
    if (given->grid && !is_small(given->grid)) return;
    struct LaunchMemos *memos = plan->empty ? NULL : memos_of(kernel, given->count);
    if (!memos || memos->count != given->count) return;
    uint64_t hash = hash_of(given);
    LaunchMemo *memo = memo_for(memos, hash);
    uint32_t none = 0;
    // Shapes that change with every launch are not worth a memo.
    if (atomic_exchange_explicit(&memo->last, hash, memory_order_relaxed) != hash) return;
    if (!atomic_compare_exchange_strong_explicit(&memo->users, &none, WRITER, memory_order_acquire,
                                                 memory_order_relaxed))
        return;
    remember_in(memo, kernel, given, loaded, plan, before);
    memo->choices = before->choices;
    atomic_store_explicit(&memo->buffers_gone, before->buffers_gone, memory_order_relaxed);
    atomic_fetch_sub_explicit(&memo->users, WRITER, memory_order_release);
}

void launch_memos_free(tilec_kernel *kernel) { free(atomic_exchange(&kernel->memos, NULL)); }
