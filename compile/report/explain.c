#include "compile/report/explain.h"

#include <string.h>

#include "base/status.h"
#include "target/amd_object.h"

static const ExplainCountInfo infos[EXPLAIN_COUNTS] = {
#define COUNT(name, key, heading) {key, heading, true},
    EXPLAIN_GPU_COUNTS(COUNT)
#undef COUNT
#define COUNT(name, key, heading) {key, heading, false},
        EXPLAIN_CPU_COUNTS(COUNT)
#undef COUNT
};

const ExplainCountInfo *explain_count_info(ExplainCount count) { return &infos[count]; }

typedef struct Survey {
    Arena *arena;
    Explain *e;
} Survey;

// ---- layouts ------------------------------------------------------------------------------------

static ExplainLayout *layout_of(Survey *s, const IrType *type) {
    Explain *e = s->e;
    for (size_t i = 0; i < e->layouts.count; i++) {
        const IrType *known = e->layouts.data[i].type;
        bool same = known->rank == type->rank && known->elem == type->elem &&
                    memcmp(known->shape, type->shape, type->rank * sizeof *type->shape) == 0;
        if (same && layout_equal(known->layout, type->layout)) return &e->layouts.data[i];
    }
    ExplainLayout made = {.type = type};
    vec_push(s->arena, &e->layouts, made);
    return &vec_last(&e->layouts);
}

static void find_layouts(Survey *s, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->result_count; i++) {
            const IrType *type = op->results[i].type;
            if (type->kind == IR_VIEW || !type->rank || !type->layout) continue;
            ExplainLayout *l = layout_of(s, type);
            vec_push(s->arena, &l->places, op->span);
        }
        for (uint32_t r = 0; r < op->region_count; r++) find_layouts(s, op->regions[r]);
    }
}

static void after_pass(void *user, PassId pass, const IrFunc *f) {
    Survey *s = user;
    (void)pass;
    if (f->is_kernel && f->level == IR_LEVEL_GPU && ir_body(f)) {
        s->e->layouts.count = 0;  // keep the layouts after the last such pass
        find_layouts(s, ir_body(f));
    }
}

// ---- loops --------------------------------------------------------------------------------------

static uint32_t lanes_of(const IrType *type) { return type->rank ? type->count : 1; }

static void count_op(const IrOp *op, ExplainLoop *loop) {
    uint32_t *n = loop->counts;
    loop->ops++;
    switch (op->code) {
    case IR_THREAD_LOAD:
        n[estimate_is_shared(ir_operand(op, 0)) ? EXPLAIN_SHARED_LOADS : EXPLAIN_LOADS]++;
        return;
    case IR_THREAD_STORE:
        n[estimate_is_shared(ir_operand(op, 0)) ? EXPLAIN_SHARED_STORES : EXPLAIN_STORES]++;
        return;
    case IR_LOAD: n[EXPLAIN_LOADS] += lanes_of(op->results[0].type); break;
    case IR_STORE: n[EXPLAIN_STORES] += lanes_of(ir_operand(op, 1)->type); break;
    case IR_THREAD_MATRIX_LOAD: n[EXPLAIN_SHARED_LOADS]++; return;
    case IR_THREAD_TMA_LOAD:
    case IR_THREAD_COPY: n[EXPLAIN_COPIES]++; return;
    case IR_THREAD_WGMMA:
    case IR_THREAD_MMA: n[EXPLAIN_MATRIX]++; return;
    case IR_THREAD_SHUFFLE: n[EXPLAIN_SHUFFLES] += lanes_of(op->results[0].type); return;
    case IR_THREAD_BARRIER: n[EXPLAIN_BARRIERS]++; return;
    case IR_ATOMIC:
    case IR_ATOMIC_CAS:
        n[EXPLAIN_ATOMICS] += lanes_of(op->results[0].type);
        n[EXPLAIN_CPU_ATOMICS] += lanes_of(op->results[0].type);
        return;
    case IR_CPU_LOAD: n[EXPLAIN_VECTOR_LOADS]++; return;
    case IR_CPU_STORE: n[EXPLAIN_VECTOR_STORES]++; return;
    case IR_FMA:
    case IR_VEC_DOT2:
    case IR_CPU_DOT4: n[EXPLAIN_MULTIPLY_ADDS]++; return;
    case IR_CPU_TILES:  // one iteration along the depth
        n[EXPLAIN_MULTIPLY_ADDS] +=
            (uint32_t)(ir_attr_int(op, IR_ATTR_ROWS) * ir_attr_int(op, IR_ATTR_COLUMNS) / 256);
        return;
    default: return;
    }
    // Accesses to single elements; CPUs count them separately.
    const IrType *type = op->code == IR_LOAD ? op->results[0].type : ir_operand(op, 1)->type;
    n[EXPLAIN_ELEMENTS] += lanes_of(type);
}

static void note_depth(const Survey *s, Span span, uint32_t depth) {
    Explain *e = s->e;
    if (!span_known(span)) return;
    for (size_t i = 0; i < e->depths.count; i++) {
        ExplainDepth *d = &e->depths.data[i];
        if (d->span.begin != span.begin || d->span.end != span.end) continue;
        if (d->depth < depth) d->depth = depth;
        return;
    }
    ExplainDepth made = {span, depth};
    vec_push(s->arena, &e->depths, made);
}

static uint32_t depth_of(const Explain *e, Span span) {
    uint32_t deepest = 0;
    for (size_t i = 0; i < e->depths.count; i++) {
        const ExplainDepth *d = &e->depths.data[i];
        if (d->span.begin == span.begin && d->span.end == span.end) return d->depth;
        if (deepest < d->depth) deepest = d->depth;
    }
    return deepest;
}

// Numbers of some remarks say how much is lost: wavefronts or sectors in place of the ideal ones; a
// small tile in memory stays in the first-level cache.
static uint64_t magnitude(const Explain *e, const Remark *r) {
    enum { MOST = 8, USUAL = 4 };
    const int64_t *n = r->numbers.of;
    int64_t times = n[1] > 0 ? 2 * n[0] / n[1] : USUAL;
    switch (r->reason) {
    case REASON_BANK_CONFLICTS:
    case REASON_ACCESS_SCATTERED: return (uint64_t)(times < MOST ? times : MOST);
    case REASON_TILE_IN_MEMORY: return n[0] < e->machine.l1_bytes / 4 ? 1 : USUAL;
    default: return USUAL;
    }
}

uint64_t explain_cost(const Explain *e, const Remark *r) {
    static const uint64_t costs[] = {[REASON_COST_NONE] = 0,
                                     [REASON_COST_LITTLE] = 1,
                                     [REASON_COST_SOME] = 4,
                                     [REASON_COST_MUCH] = 16};
    enum { DEEPEST = 8 };
    uint32_t depth = depth_of(e, r->span);
    return magnitude(e, r) * costs[reason_info(r->reason)->cost]
           << 2 * (depth < DEEPEST ? depth : DEEPEST);
}

static bool is_within(Span in, Span out) { return out.begin <= in.begin && in.end <= out.end; }

static void add_call(Arena *arena, ExplainCalls *calls, Span call) {
    size_t at = calls->places.count;
    for (size_t i = 0; i < at; i++)
        if (calls->places.data[i].begin == call.begin) return;
    vec_push(arena, &calls->places, call);
    for (; at > 0 && calls->places.data[at - 1].begin > call.begin; at--)
        calls->places.data[at] = calls->places.data[at - 1];
    calls->places.data[at] = call;
}

ExplainCalls explain_calls(const Explain *e, Arena *arena, Span at) {
    ExplainCalls calls = {0};
    Span body = {0};
    for (size_t i = 0; span_known(at) && i < e->func->inlined.count; i++) {
        const IrInlined *call = &e->func->inlined.data[i];
        if (!is_within(at, call->body) || (calls.name && !is_within(call->body, body))) continue;
        if (call->body.begin != body.begin) calls.places.count = 0;  // a function within it
        calls.name = call->name ? call->name : "lambda";
        body = call->body;
        add_call(arena, &calls, call->call);
    }
    return calls;
}

static bool is_loop(const IrOp *op) { return op->code == IR_FOR || op->code == IR_WHILE; }

// Depths are those of the tile IR, where each loop is one of the source.
static void find_depths(Survey *s, const IrBlock *block, uint32_t depth) {
    for (const IrOp *op = block->first; op; op = op->next) {
        uint32_t inside = depth + is_loop(op);
        note_depth(s, op->span, inside);
        for (uint32_t r = 0; r < op->region_count; r++) find_depths(s, op->regions[r], inside);
    }
}

static void find_loops(Survey *s, const IrBlock *block, size_t at) {
    for (const IrOp *op = block->first; op; op = op->next) {
        size_t inside = at;
        if (is_loop(op)) {
            const IrValue *counter = op->code == IR_FOR ? op->regions[0]->args[0] : NULL;
            ExplainLoop loop = {.span = op->span,
                                .name = counter ? counter->name : NULL,
                                .depth = s->e->loops.data[at].depth + 1,
                                .counted = op->code == IR_FOR};
            inside = s->e->loops.count;
            vec_push(s->arena, &s->e->loops, loop);
        } else {
            count_op(op, &s->e->loops.data[at]);
            if (!code_target_is_gpu(s->e->target))
                cpu_cost_add(&s->e->loops.data[at].cost, op, &s->e->machine,
                             rates_of_cpu(s->e->target.cpu));
        }
        bool combiner = op->code == IR_REDUCE || op->code == IR_SCAN;
        for (uint32_t r = 0; r < op->region_count && !combiner; r++)
            find_loops(s, op->regions[r], inside);
    }
}

// ---- the code -----------------------------------------------------------------------------------

static uint64_t little_endian(const char *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)(unsigned char)at[i] << 8 * i;
    return value;
}

// Bytes of the executable sections of a 64-bit ELF file (System V ABI, "Sections").
static uint64_t machine_code_bytes(Str object) {
    enum { HEADER = 64, OFFSET = 0x28, COUNT = 0x3C, SECTION = 64, FLAGS = 8, SIZE = 0x20 };
    const uint64_t executable = 4;
    if (object.size < HEADER) return 0;
    uint64_t offset = little_endian(object.text + OFFSET, 8), bytes = 0;
    uint64_t count = little_endian(object.text + COUNT, 2);
    if (offset > object.size || count * SECTION > object.size - offset) return 0;
    for (uint64_t i = 0; i < count; i++) {
        const char *section = object.text + offset + i * SECTION;
        if (little_endian(section + FLAGS, 8) & executable)
            bytes += little_endian(section + SIZE, 8);
    }
    return bytes;
}

static void remark_occupancy(Explain *e, Span span) {
    const Occupancy *o = &e->occupancy;
    if (2 * o->warps >= o->warps_max) return;
    RemarkNumbers numbers = REMARK(o->warps, o->warps_max, e->notes.shared_bytes);
    if (o->limit == OCCUPANCY_SHARED)
        remark(e->remarks, span, REASON_OCCUPANCY_SHARED, NULL, numbers);
    if (o->limit == OCCUPANCY_REGISTERS)
        remark(
            e->remarks, span, REASON_OCCUPANCY_REGISTERS, NULL,
            REMARK(o->warps, o->warps_max, e->amd.known ? e->amd.vectors : e->measured.registers));
    if (o->limit == OCCUPANCY_BLOCKS)
        remark(e->remarks, span, REASON_OCCUPANCY_WARPS, NULL,
               REMARK(o->warps, o->warps_max, e->warps));
}

// An error of the tool, or in the text, does not fail the command.
static void measure(Explain *e, Unit *unit, CubinMaker *maker, Str ptx) {
    Diags *aside = diags_create(unit->arena, unit->sources);
    Cubin cubin = {0};
    if (!maker) return;
    e->measured_by = cubin_tool(maker, unit->arena, ptx, NULL);
    if (e->measured_by.size && cubin_make(maker, unit->arena, unit->sources, ptx, &cubin, aside))
        e->measured = cubin.facts;
}

// Spills mean a lack of registers only if a thread has about as many as it can have.
static void remark_spills(Explain *e, Span span) {
    enum { NEARLY = 8 };
    const PtxFacts *m = &e->measured;
    uint32_t most = gpu_max_registers(chip_of(e->target.gpu), e->notes.threads);
    if (!m->spill_stores && !m->spill_loads) return;
    if (m->registers + NEARLY > most)
        remark(e->remarks, span, REASON_REGISTER_SPILLS, NULL,
               REMARK(m->registers, m->spill_stores, m->spill_loads));
    else
        remark(e->remarks, span, REASON_REGISTER_CHOICE, NULL,
               REMARK(m->registers, most, m->spill_stores, m->spill_loads));
}

// Facts that LLVM states in the metadata of the object.
static void read_object(Explain *e, Unit *unit, Str bytes) {
    const AmdObject *o =
        amd_object_read(unit->arena, bytes, diags_create(unit->arena, unit->sources));
    if (!o || !o->kernel_count || !o->kernels[0].described) return;
    const AmdObjectKernel *k = &o->kernels[0];
    e->amd = (ExplainAmd){.known = true,
                          .lanes = k->lanes,
                          .vectors = k->vgprs,
                          .accumulators = k->agprs,
                          .scalars = k->sgprs,
                          .vector_spills = k->vgpr_spills,
                          .scalar_spills = k->sgpr_spills,
                          .scratch_bytes = k->descriptor.scratch};
    e->code_bytes = k->size;
    e->notes.shared_bytes = k->descriptor.lds;
}

static void survey_amd(Explain *e, Span span) {
    const ExplainAmd *a = &e->amd;
    AmdNeeds needs = {.threads = e->notes.threads,
                      .lanes = a->known ? a->lanes : e->machine.warp,
                      .vectors = a->vectors,
                      .scalars = a->scalars,
                      .shared_bytes = e->notes.shared_bytes};
    e->occupancy = amd_occupancy(chip_of(e->target.gpu), &needs);
    if (a->vector_spills)
        remark(e->remarks, span, REASON_REGISTER_SCRATCH, NULL,
               REMARK(a->vectors, a->vector_spills, a->scratch_bytes));
    remark_occupancy(e, span);
}

static void survey_gpu(Explain *e, const IrFunc *f) {
    e->warps = ir_launch_thread_count(f) / ir_lane_count(f);
    if (e->target.gpu.vendor == GPU_AMD) {
        survey_amd(e, f->span);
        return;
    }
    remark_spills(e, f->span);
    e->occupancy = gpu_occupancy(chip_of(e->target.gpu), e->notes.threads, e->measured.registers,
                                 e->notes.shared_bytes);
    remark_occupancy(e, f->span);
}

bool explain(Unit *unit, const Compiled *compiled, CodeTarget target, uint32_t variant,
             const CodeServices *services, Explain *e) {
    *e = (Explain){
        .target = target, .func = compiled->func, .meta = compiled->meta, .variant = variant};
    e->machine = code_target_machine(target);
    e->remarks = remarks_create(unit->arena);
    Survey s = {unit->arena, e};
    bool gpu = code_target_is_gpu(target);
    CodeOptions o = {.target = target,
                     .variant = variant,
                     .output = gpu ? code_output(target) : CODEGEN_OBJECT,
                     .remarks = e->remarks};
    o.passes = (PassOptions){
        .verify = true, .dump_all = true, .dump = after_pass, .user = &s, .remarks = e->remarks};
    Code code;
    find_depths(&s, ir_body(compiled->func), 0);
    TRY(code_make(unit, compiled, &o, services, NULL, &code));
    e->notes = code.notes;
    e->code_bytes = gpu ? code.bytes.size : machine_code_bytes(code.bytes);
    ExplainLoop whole = {.span = compiled->func->span};
    vec_push(s.arena, &e->loops, whole);
    find_loops(&s, ir_body(compiled->func), 0);
    if (code_target_takes_ptx(target)) measure(e, unit, services->cubin, code.bytes);
    if (gpu && target.gpu.vendor == GPU_AMD) read_object(e, unit, code.bytes);
    if (gpu) survey_gpu(e, compiled->func);
    if (gpu) e->estimate = estimate_of(compiled->func, target.gpu);
    const MetaVariant *v = &e->meta->variants[variant];
    if (!v->facts && e->meta->variant_count > 1)
        remark(e->remarks, compiled->func->span, REASON_VARIANT_GENERAL, NULL, REMARK(0));
    remarks_sort(e->remarks);
    return true;
}
