// The reports of a run: findings, asserts, prints.
#include "ir/interp/internal.h"

static DiagCode code_of(FindingKind kind) {
    switch (kind) {
    case FINDING_BOUNDS:
    case FINDING_ALIGNMENT:
    case FINDING_UNWRITTEN: return DIAG_BOUNDS;
    case FINDING_PROOF: return DIAG_BOUNDS;
    case FINDING_ASSUME: return DIAG_ASSUME;
    case FINDING_ASSERT: return DIAG_ASSERT;
    case FINDING_RACE: return DIAG_RACE;
    case FINDING_NOALIAS: return DIAG_NOALIAS;
    case FINDING_WRAPPED: return DIAG_WRAPPED;
    case FINDING_ENDLESS: return DIAG_ENDLESS;
    case FINDING_RECURSION: return DIAG_RECURSION;
    case FINDING_DIVERGED: return DIAG_DIVERGED;
    }
    return DIAG_IR_INVALID;
}

bool finding_add(InterpRun *run, const IrOp *op, FindingKind kind, uint32_t lane,
                 const char *format, ...) {
    for (size_t i = 0; i < run->findings.count; i++) {
        Finding *f = &run->findings.data[i];
        if (f->op == op && f->kind == kind) {
            f->count++;
            return false;
        }
    }
    StrBuf text = strbuf(run->report);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&text, format, args);
    va_end(args);
    Finding f = {.kind = kind, .op = op, .lane = lane, .detail = strbuf_str(&text), .count = 1};
    memcpy(f.program, run->program, sizeof f.program);
    vec_push(run->report, &run->findings, f);
    return true;
}

void finding_cause(InterpRun *run, const IrOp *cause) {
    run->findings.data[run->findings.count - 1].cause = cause;
}

// Reports the lowest program and lane of all failed asserts; the rest is only counted.
static void report_assert(const InterpRun *run, Diags *diags, const Finding *f) {
    uint64_t count = 0;
    for (size_t i = 0; i < run->findings.count; i++)
        if (run->findings.data[i].kind == FINDING_ASSERT) count += run->findings.data[i].count;
    diag_error(diags, f->op->span, DIAG_ASSERT,
               "assertion failed: %.*s in program (%lld, %lld, %lld), lane %u", STR_ARG(f->detail),
               (long long)f->program[0], (long long)f->program[1], (long long)f->program[2],
               f->lane);
    if (count > 1)
        diag_note(diags, (Span){0, 0}, "assertions failed in %llu programs",
                  (unsigned long long)count);
}

void findings_report(const InterpRun *run, Diags *diags) {
    bool asserted = false;
    for (size_t i = 0; i < run->findings.count; i++) {
        const Finding *f = &run->findings.data[i];
        if (f->kind == FINDING_ASSERT) {
            if (!asserted) report_assert(run, diags, f);
            asserted = true;
            continue;
        }
        diag_error(diags, f->op->span, code_of(f->kind),
                   "program (%lld, %lld, %lld), lane %u: %.*s", (long long)f->program[0],
                   (long long)f->program[1], (long long)f->program[2], f->lane, STR_ARG(f->detail));
        if (f->kind == FINDING_ENDLESS)
            diag_help(diags,
                      "a program can wait for what it wrote itself, or a program with a lower "
                      "number: the interpreter runs them one after another");
        if (f->cause)
            diag_note(diags, f->cause->span, "this is more than %s can hold; compute it in i64",
                      dtype_name(f->cause->results[0].type->elem));
        if (f->count > 1)
            diag_note(diags, (Span){0, 0}, "and %llu more like this here",
                      (unsigned long long)(f->count - 1));
    }
}

// ---- assert, assume -----------------------------------------------------------------------------

bool assert_failed(InterpRun *run, const IrOp *op, uint32_t lane) {
    StrBuf quoted = strbuf(run->scratch);
    strbuf_quoted(&quoted, ir_attr(op, IR_ATTR_TEXT)->u.text);
    finding_add(run, op, FINDING_ASSERT, lane, "%.*s", STR_ARG(strbuf_str(&quoted)));
    run->failed = true;
    return false;
}

bool execute_assert(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const InterpSlot *c = operand_slot(run, frame, op, 0);
    bool assume = op->code == IR_ASSUME;
    if (assume && !run->sanitize) return true;
    for (uint32_t i = 0; i < c->count; i++) {
        if (slot_get(c, i)) continue;
        if (assume) {
            bool bounds = ir_attr_int(op, IR_ATTR_BOUNDS) != 0;
            finding_add(
                run, op, bounds ? FINDING_BOUNDS : FINDING_ASSUME, i, "%s",
                bounds ? "an index is outside of the tile" : "the assumption does not hold");
            return true;
        }
        return assert_failed(run, op, i);
    }
    return true;
}

// ---- print --------------------------------------------------------------------------------------

static void print_element(const InterpSlot *s, uint64_t i, StrBuf *out) {
    if (s->type->kind == IR_PTR)
        strbuf_printf(out, "0x%llx", (unsigned long long)slot_place(s, i).address);
    else
        dtype_text(s->elem, slot_get(s, i), out);
}

// `first` is the index at which the tile's dimensions from d on begin.
void print_tile(const InterpSlot *s, uint32_t d, uint64_t first, StrBuf *out) {
    if (d == s->type->rank) {
        print_element(s, first, out);
        return;
    }
    uint64_t step = 1;
    for (uint32_t k = d + 1; k < s->type->rank; k++) step *= s->type->shape[k];
    strbuf_char(out, '[');
    for (uint32_t k = 0; k < s->type->shape[d]; k++) {
        if (k) strbuf_add(out, STR(", "));
        print_tile(s, d + 1, first + k * step, out);
    }
    strbuf_char(out, ']');
}

void execute_print(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    if (!run->launch->print) return;
    StrBuf line = strbuf(run->scratch);
    const IrAttr *texts = ir_attr(op, IR_ATTR_TEXTS);
    uint32_t count = texts->u.texts.count;
    for (uint32_t i = 0; i < count || i < op->operand_count; i++) {
        if (i < count) strbuf_add(&line, texts->u.texts.items[i]);
        if (i < op->operand_count) print_tile(operand_slot(run, frame, op, i), 0, 0, &line);
    }
    run->launch->print(run->launch->user, strbuf_str(&line));
}

// ---- noalias ------------------------------------------------------------------------------------

bool view_reach(const IrType *type, const IrArg *arg, InterpReach *reach) {
    Int128 low = 0, high = 0;
    for (uint32_t d = 0; d < type->rank; d++) {
        if (arg->extent[d] <= 0) return false;
        Int128 span = (Int128)(arg->extent[d] - 1) * arg->stride[d];
        if (span < 0)
            low += span;
        else
            high += span;
    }
    uint64_t from = (uint64_t)low, to = (uint64_t)high + 1;
    uint64_t data = (uint64_t)(uintptr_t)arg->data, size = dtype_size(type->elem);
    bool packed = dtype_is(type->elem, DTYPE_CLASS_PACKED);
    if (packed)
        *reach = (InterpReach){(2 * data + from) >> 1, (2 * data + to + 1) >> 1};
    else
        *reach = (InterpReach){data + from * size, data + to * size};
    return true;
}

// False if nothing can be accessed.
static bool argument_reach(const IrFunc *f, const IrLaunch *launch, const IrValue *value,
                           InterpReach *reach) {
    for (uint32_t i = 0; i < f->params.count; i++)
        if (f->params.data[i].value == value)
            return view_reach(value->type, &launch->args[i], reach);
    return false;
}

// The size of a raw pointer's memory is unknown: the pointer is trusted, unless both are the same
// address and not NULL.
bool execute_noalias(InterpRun *run, InterpFrame *frame, const IrOp *op) {
    const IrFunc *f = run->interp->func;
    const IrValue *a = ir_operand(op, 0), *b = ir_operand(op, 1);
    InterpReach x, y;
    bool overlap = false;
    if (a->type->kind == IR_PTR && b->type->kind == IR_PTR) {
        uint64_t p = slot_place(operand_slot(run, frame, op, 0), 0).address;
        overlap = p && p == slot_place(operand_slot(run, frame, op, 1), 0).address;
    } else if (a->type->kind == IR_VIEW && b->type->kind == IR_VIEW) {
        overlap = argument_reach(f, run->launch, a, &x) && argument_reach(f, run->launch, b, &y) &&
                  x.low < y.high && y.low < x.high;
    }
    slot_put(result_slot(run, frame, op, 0), 0, !overlap);
    return true;
}

static uint64_t buffer_of(const IrFunc *f, const IrValue *value) {
    for (uint32_t i = 0; i < f->params.count; i++)
        if (f->params.data[i].value == value) return i + 1;
    return 0;
}

static void add_noalias_pair(IrInterp *interp, const IrOp *op) {
    NoAliasPair pair = {buffer_of(interp->func, ir_operand(op, 0)),
                        buffer_of(interp->func, ir_operand(op, 1))};
    if (!pair.a || !pair.b || pair.a == pair.b) return;
    vec_push(interp->memory, &interp->noalias_pairs, pair);
    InterpBuffer *buffers = interp->buffers.data;
    if (!buffers[pair.a].touched) buffers[pair.a].touched = pages_create(interp->memory);
    if (!buffers[pair.b].touched) buffers[pair.b].touched = pages_create(interp->memory);
}

// Visits the conditions that must hold in any case: the condition, and both sides of its `&&`s.
static void find_noalias_pairs(IrInterp *interp, const IrBlock *block) {
    bool *holds = arena_new(interp->scratch, bool, interp->func->value_count);
    holds[ir_operand(block->last, 0)->id] = true;
    for (const IrOp *op = block->last->prev; op; op = op->prev) {
        if (op->result_count != 1 || !holds[ir_result(op, 0)->id]) continue;
        if (op->code == IR_NOALIAS) add_noalias_pair(interp, op);
        if (op->code != IR_AND) continue;
        holds[ir_operand(op, 0)->id] = true;
        holds[ir_operand(op, 1)->id] = true;
    }
}

void noalias_prepare(IrInterp *interp) {
    ArenaMark mark = arena_mark(interp->scratch);
    for (size_t i = 0; i < interp->func->sections.count; i++) {
        const IrSection *s = &interp->func->sections.data[i];
        if (s->kind == IR_REQUIRES) find_noalias_pairs(interp, s->block);
    }
    arena_reset(interp->scratch, mark);
}
