// Barriers, fences, collectives of a warp, control flow, calls.
#include "sim/ptx/decode.h"

// ---- Barriers of a block ----

static bool barrier_kind(Decoder *d, SimBarrierOp *op) {
    if (take(d, "sync")) return op->kind = SIM_BAR_SYNC, true;
    if (take(d, "arrive")) return op->kind = SIM_BAR_ARRIVE, true;
    TRY(take(d, "red"));
    if (take(d, "popc")) return op->kind = SIM_BAR_POPC, true;
    if (take(d, "and")) return op->kind = SIM_BAR_AND, true;
    return op->kind = SIM_BAR_OR, take(d, "or");
}

bool decode_barrier(Decoder *d) {
    SimBarrierOp *op = arena_new(d->arena, SimBarrierOp, 1);
    bool old = str_starts(d->statement->name, STR("bar."));
    op->barrier = op->count = op->predicate = no_operand();
    take(d, "cta");
    if (!barrier_kind(d, op))
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "unknown barrier '%.*s'",
                           STR_ARG(d->statement->name));
    if (take(d, "aligned") || old) d->now.flags |= SIM_UNIFORM;
    d->now.flow = SIM_BARRIER, d->now.detail = op;
    bool red = op->kind != SIM_BAR_SYNC && op->kind != SIM_BAR_ARRIVE;
    if (red) TRY(next_write(d, op->kind == SIM_BAR_POPC ? SIM_U32 : SIM_PRED, &d->now.d));
    TRY(next_read(d, SIM_U32, &op->barrier));
    uint32_t left = d->statement->operand_count - d->next_operand;
    if (left > (red ? 1u : 0u)) TRY(next_read(d, SIM_U32, &op->count));
    if (!red) return true;
    const PtxOperand *p = take_any(d);
    op->negated = p && p->negated;
    return p && read_operand(d, p, SIM_PRED, &op->predicate);
}

bool decode_cluster_barrier(Decoder *d) {
    bool arrive = take(d, "arrive"), relaxed = take(d, "relaxed");
    take(d, "wait"), take(d, "release"), take(d, "acquire");
    if (take(d, "aligned")) d->now.flags |= SIM_UNIFORM;
    d->now.flow = SIM_WAIT, d->now.immediate = !relaxed;
    d->now.run = arrive ? sim_cluster_arrive : sim_cluster_wait;
    return true;
}

// mapa: d = the address of a in the shared memory of the block of rank b.
bool decode_mapa(Decoder *d) {
    take(d, "shared::cluster");
    SimType type = type_at(d, 0);
    d->now.run = sim_mapa, d->now.type = (uint8_t)type;
    TRY(next_write(d, type, &d->now.d) && next_read(d, type, &d->now.a));
    return next_read(d, SIM_U32, &d->now.b);
}

bool decode_rank_of(Decoder *d) {
    take(d, "shared::cluster");
    SimType type = type_at(d, 0);
    d->now.run = sim_rank_of, d->now.type = (uint8_t)type;
    return next_write(d, SIM_U32, &d->now.d) && next_read(d, type, &d->now.a);
}

// setmaxnreg: n is the immediate.
bool decode_registers(Decoder *d) {
    bool more = take(d, "inc");
    uint64_t *n = &d->now.immediate;
    take(d, "dec"), take(d, "sync"), take(d, "aligned");
    d->now.flow = SIM_WAIT, d->now.flags |= SIM_UNIFORM;
    d->now.run = more ? sim_registers_more : sim_registers_fewer;
    TRY(constant_operand(d, take_any(d), n));
    if (!d->program->arch_a)
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                           "'%.*s' needs a target such as sm_90a", STR_ARG(d->statement->name));
    if (*n >= 24 && *n <= 256 && *n % 8 == 0) return true;
    return decode_fail(d, d->statement->span, DIAG_ARGUMENTS,
                       "%llu registers: multiples of 8 from 24 to 256 are possible",
                       (unsigned long long)*n);
}

// Proxies other than async need no fence here: they see the same memory.
static SimFence fence_kind(Decoder *d) {
    if (take(d, "mbarrier_init")) return SIM_FENCE_INIT;
    if (!take(d, "async")) return SIM_FENCE_MEMORY;
    if (take(d, "global")) return SIM_FENCE_PROXY_GLOBAL;
    bool shared = take(d, "shared::cta") || take(d, "shared::cluster");
    return shared ? SIM_FENCE_PROXY_SHARED : SIM_FENCE_PROXY_ASYNC;
}

bool decode_fence(Decoder *d) {
    SimScope scope = SIM_SCOPE_CTA;
    SimFence *kind = arena_new(d->arena, SimFence, 1);
    take_scope(d, &scope);
    *kind = fence_kind(d);
    d->now.immediate = scope, d->now.detail = kind;
    d->now.run = *kind == SIM_FENCE_MEMORY && take(d, "proxy") ? sim_nothing : sim_fence;
    d->taken = UINT32_MAX;
    return true;
}

// ---- Collectives of a warp: operand b is the mask of members ----

static bool collective(Decoder *d, SimHandler *run) {
    take(d, "sync");
    d->now.run = run, d->now.flow = SIM_COLLECT, d->now.flags |= SIM_OWN_POISON;
    return true;
}

bool decode_warp_sync(Decoder *d) {
    collective(d, sim_warp_sync);
    return next_read(d, SIM_B32, &d->now.b);
}

bool decode_shfl(Decoder *d) {
    static const char *const names[] = {"up", "down", "bfly", "idx"};
    SimShflOp *op = arena_new(d->arena, SimShflOp, 1);
    op->other = no_operand();
    collective(d, sim_shfl);
    int mode = take_one(d, names, 4);
    if (mode < 0 || type_at(d, 0) != SIM_B32 || !str_starts(d->statement->name, STR("shfl.sync")))
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "unknown instruction '%.*s'",
                           STR_ARG(d->statement->name));
    op->mode = (SimShflMode)mode;
    d->now.detail = op;
    const PtxOperand *o = take_any(d);
    if (!o) return false;
    if (o->kind == PTX_PAIR) TRY(write_operand(d, &o->items[1], SIM_PRED, &op->other));
    TRY(write_operand(d, o->kind == PTX_PAIR ? &o->items[0] : o, SIM_B32, &d->now.d));
    TRY(next_read(d, SIM_B32, &op->value));
    TRY(next_read(d, SIM_B32, &op->lane));
    TRY(next_read(d, SIM_B32, &op->clamp));
    return next_read(d, SIM_B32, &d->now.b);
}

bool decode_vote(Decoder *d) {
    static const char *const names[] = {"all", "any", "uni", "ballot"};
    static SimHandler *const handlers[] = {sim_vote_all, sim_vote_any, sim_vote_uni,
                                           sim_vote_ballot};
    int n = take_one(d, names, 4);
    if (n < 0)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "unknown vote '%.*s'",
                           STR_ARG(d->statement->name));
    collective(d, handlers[n]);
    TRY(next_write(d, n == 3 ? SIM_B32 : SIM_PRED, &d->now.d));
    const PtxOperand *p = take_any(d);
    if (!p) return false;
    if (p->negated && p->kind == PTX_NAME) d->now.flags |= SIM_NOT_A;
    TRY(read_operand(d, p, SIM_PRED, &d->now.a));
    return next_read(d, SIM_B32, &d->now.b);
}

bool decode_match(Decoder *d) {
    bool all = take(d, "all");
    take(d, "any");
    collective(d, all ? sim_match_all : sim_match_any);
    SimType type = type_at(d, 0);
    d->now.type = sim_type_bits(type) == 64 ? SIM_B64 : SIM_B32;
    const PtxOperand *o = take_any(d);
    if (!o) return false;
    if (o->kind == PTX_PAIR) TRY(write_operand(d, &o->items[1], SIM_PRED, &d->now.e));
    TRY(write_operand(d, o->kind == PTX_PAIR ? &o->items[0] : o, SIM_B32, &d->now.d));
    TRY(next_read(d, type, &d->now.a));
    return next_read(d, SIM_B32, &d->now.b);
}

bool decode_redux(Decoder *d) {
    static const char *const names[] = {"add", "min", "max", "and", "or", "xor"};
    static const SimAtom atoms[] = {SIM_ATOM_ADD, SIM_ATOM_MIN, SIM_ATOM_MAX,
                                    SIM_ATOM_AND, SIM_ATOM_OR,  SIM_ATOM_XOR};
    int n = take_one(d, names, 6);
    SimType type = type_at(d, 0);
    if (n < 0 || (type != SIM_U32 && type != SIM_S32 && type != SIM_B32))
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED, "unknown instruction '%.*s'",
                           STR_ARG(d->statement->name));
    collective(d, sim_redux);
    d->now.type = (uint8_t)type, d->now.immediate = atoms[n];
    TRY(next_write(d, type, &d->now.d));
    TRY(next_read(d, type, &d->now.a));
    return next_read(d, SIM_B32, &d->now.b);
}

bool decode_activemask(Decoder *d) {
    d->now.run = sim_activemask;
    return next_write(d, SIM_B32, &d->now.d);
}

bool decode_elect(Decoder *d) {
    collective(d, sim_elect);
    const PtxOperand *o = take_any(d);
    if (!o || o->kind != PTX_PAIR)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "elect.sync gives 'd|p'");
    TRY(write_operand(d, &o->items[0], SIM_B32, &d->now.d));
    TRY(write_operand(d, &o->items[1], SIM_PRED, &d->now.e));
    return next_read(d, SIM_B32, &d->now.b);
}

// ---- Control flow ----

static void jump(Decoder *d) {
    d->now.flow = d->now.guard.number >= 0 ? SIM_BRANCH : SIM_JUMP;
    d->now.run = sim_nothing;
}

bool decode_branch(Decoder *d) {
    take(d, "uni");
    const PtxOperand *o = take_any(d);
    if (!o || o->kind != PTX_NAME)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "bra names a label");
    jump(d);
    add_fixup(d, o->name, o->span, false, 0);
    return true;
}

bool decode_switch(Decoder *d) {
    take(d, "idx"), take(d, "uni");
    TRY(next_read(d, SIM_U32, &d->now.a));
    const PtxOperand *o = take_any(d);
    PtxSymbol *list = o && o->kind == PTX_NAME ? find_symbol(d, o->name) : NULL;
    if (!list || list->kind != SYMBOL_TARGETS || d->now.guard.number >= 0)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX,
                           "brx.idx names a list of targets and has no guard");
    SimSwitch *s = arena_new(d->arena, SimSwitch, 1);
    s->count = list->targets->operand_count;
    s->targets = arena_new(d->arena, uint32_t, s->count + 1);
    d->now.flow = SIM_SWITCH, d->now.detail = s, d->now.run = sim_nothing;
    for (uint32_t n = 0; n < s->count; n++)
        add_fixup(d, list->targets->operands[n].name, list->targets->operands[n].span, true, n);
    return true;
}

bool decode_exit(Decoder *d) {
    d->now.flow = SIM_EXIT, d->now.run = sim_nothing;
    return true;
}

// In the kernel itself: its end. In a function: back to the call.
bool decode_return(Decoder *d) {
    take(d, "uni");
    if (!d->frame->caller) return decode_exit(d);
    jump(d);
    add_fixup(d, STR(""), d->statement->span, false, 0);
    return true;
}

bool decode_trap(Decoder *d) {
    d->now.run = sim_trap;
    return true;
}

bool decode_sleep(Decoder *d) {
    d->now.run = sim_yield, d->now.flow = SIM_NEXT;
    return next_read(d, SIM_U32, &d->now.a);
}

bool decode_unknown(Decoder *d) {
    return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                       "instruction '%.*s' is not supported by the warp machine",
                       STR_ARG(d->statement->name));
}

// ---- Calls ----

// Loads the value of a call's parameter into a new register.
static bool load_argument(Decoder *d, const PtxOperand *args, uint32_t n, SimType type,
                          SimOperand *to) {
    PtxSymbol *s = n < args->count && args->items[n].kind == PTX_NAME
                       ? find_symbol(d, args->items[n].name)
                       : NULL;
    if (!s || s->kind != SYMBOL_LOCAL)
        return decode_fail(d, d->statement->span, DIAG_ARGUMENTS, "an argument is missing");
    PtxVariable v = {.space = PTX_SPACE_REG, .type = type, .name = STR("%%argument")};
    TRY(declare(d, &v));
    *to = find_symbol(d, v.name)->reg;
    SimAccessOp *op = arena_new(d->arena, SimAccessOp, 1);
    *op = (SimAccessOp){.space = SIM_SPACE_LOCAL,
                        .width = (uint8_t)(sim_type_bits(type) / 8),
                        .count = 1,
                        .type = type,
                        .fixed = true,
                        .offset = (int64_t)s->value};
    op->slot = op->width, op->address = op->compare = no_operand();
    op->values[0] = *to;
    SimInstr call = d->now;
    d->now.run = sim_load, d->now.detail = op, d->now.flags |= SIM_OWN_POISON;
    emit(d);
    d->now = call;
    return true;
}

static bool call_print(Decoder *d, const PtxOperand *results, const PtxOperand *args) {
    TRY(load_argument(d, args, 0, SIM_B64, &d->now.a));
    TRY(load_argument(d, args, 1, SIM_B64, &d->now.b));
    (void)results;
    d->now.run = sim_print;
    return true;
}

static bool call_assert(Decoder *d, const PtxOperand *args) {
    TRY(load_argument(d, args, 0, SIM_B64, &d->now.a));
    TRY(load_argument(d, args, 1, SIM_B64, &d->now.b));
    TRY(load_argument(d, args, 2, SIM_B32, &d->now.c));
    d->now.run = sim_assert_fail;
    return true;
}

static const PtxFunction *function_named(const Decoder *d, Str name) {
    const PtxFunction *found = NULL;
    for (size_t n = 0; n < d->module->functions.count; n++) {
        const PtxFunction *f = d->module->functions.data[n];
        if (str_equal(f->name, name) && (!found || found->external)) found = f;
    }
    return found;
}

bool decode_call(Decoder *d) {
    static const PtxOperand nothing = {.kind = PTX_LIST};
    take(d, "uni");
    const PtxOperand *o = take_any(d), *results = &nothing, *args = &nothing;
    if (o && o->kind == PTX_LIST) results = o, o = take_any(d);
    if (!o || o->kind != PTX_NAME)
        return decode_fail(d, d->statement->span, DIAG_SYNTAX, "a call names a function");
    if (more_operands(d)) args = take_any(d);
    if (str_equal(o->name, STR("vprintf"))) return call_print(d, results, args);
    if (str_equal(o->name, STR("__assertfail"))) return call_assert(d, args);
    const PtxFunction *f = function_named(d, o->name);
    if (!f || f->external)
        return decode_fail(d, o->span, DIAG_UNSUPPORTED, "'%.*s' has no body in this text",
                           STR_ARG(o->name));
    if (d->now.guard.number >= 0)
        return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                           "a call with a guard is not supported");
    TRY(inline_call(d, f, results, args));
    d->now.run = sim_nothing;  // target of the function's returns
    return true;
}
