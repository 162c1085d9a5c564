// The output of `tilec explain` as members of the JSON object.
#include "tools/explain.h"

static void member_uint(Json *j, const char *key, uint64_t value) {
    json_key(j, key), json_uint(j, value);
}

static void variant(Json *j, const Explain *e) {
    StrBuf text = strbuf(j->out->arena);
    explain_variant_text(e, &text);
    json_key(j, "variant"), json_open(j, '{');
    member_uint(j, "number", e->variant);
    member_uint(j, "count", e->meta->variant_count);
    json_key(j, "restsOn"), json_str(j, strbuf_str(&text));
    json_close(j, '}');
}

// Facts that only the vendor's tool knows are null without it.
static void known_or_null(Json *j, const Explain *e, const char *key, uint32_t value) {
    json_key(j, key);
    if (e->measured.known)
        json_uint(j, value);
    else
        json_null(j);
}

static void measured_by_tool(Json *j, const Explain *e) {
    json_key(j, "measuredBy");
    if (e->measured.known)
        json_str(j, e->measured_by);
    else
        json_null(j);
    known_or_null(j, e, "registers", e->measured.registers);
    known_or_null(j, e, "stackBytes", e->measured.stack);
    known_or_null(j, e, "spillStoreBytes", e->measured.spill_stores);
    known_or_null(j, e, "spillLoadBytes", e->measured.spill_loads);
}

static void read_from_object(Json *j, const Explain *e) {
    const ExplainAmd *a = &e->amd;
    member_uint(j, "lanes", e->machine.warp);
    member_uint(j, "registers", a->vectors);
    member_uint(j, "accumulators", a->accumulators);
    member_uint(j, "scalarRegisters", a->scalars);
    member_uint(j, "spilledRegisters", a->vector_spills);
    member_uint(j, "spilledScalarRegisters", a->scalar_spills);
    member_uint(j, "scratchBytes", a->scratch_bytes);
}

static void resources_gpu(Json *j, const Explain *e) {
    const Occupancy *o = &e->occupancy;
    bool amd = e->target.gpu.vendor == GPU_AMD;
    member_uint(j, "threads", e->notes.threads);
    member_uint(j, "warps", e->warps);
    if (amd)
        read_from_object(j, e);
    else
        measured_by_tool(j, e);
    member_uint(j, "sharedBytes", e->notes.shared_bytes);
    member_uint(j, "sharedMost", e->machine.shared_bytes);
    member_uint(j, amd ? "codeBytes" : "ptxBytes", e->code_bytes);
    json_key(j, "occupancy"), json_open(j, '{');
    member_uint(j, "programs", o->blocks);
    member_uint(j, "warps", o->warps);
    member_uint(j, "warpsMost", o->warps_max);
    json_key(j, "limit"), json_str(j, str(explain_limit_name(o->limit)));
    json_close(j, '}');
}

static void resources_cpu(Json *j, const Explain *e) {
    member_uint(j, "vectorBytes", e->machine.vector_bytes);
    member_uint(j, "vectorRegisters", e->machine.vector_registers);
    member_uint(j, "scratchBytes", e->notes.scratch_bytes);
    member_uint(j, "codeBytes", e->code_bytes);
}

static void place(Json *j, const Unit *unit, Span span) {
    if (!span_known(span)) return;
    SourceLine begin = source_line(unit->sources, span.begin);
    SourceLine end = source_line(unit->sources, span.end);
    if (!begin.file) return;
    json_key(j, "file"), json_str(j, begin.file->path);
    member_uint(j, "line", begin.line);
    member_uint(j, "column", begin.column);
    member_uint(j, "endLine", end.line);
    member_uint(j, "endColumn", end.column);
}

static void estimate(Json *j, const Unit *unit, const Estimate *e) {
    json_key(j, "estimate");
    if (!e->rates) {
        json_null(j);
        return;
    }
    json_open(j, '{');
    json_key(j, "card"), json_str(j, str(e->rates->card));
    json_key(j, "loop"), json_bool(j, e->loop);
    place(j, unit, e->span);
    json_key(j, "clocks"), json_open(j, '{');
    for (int i = 0; i < ESTIMATE_UNITS; i++)
        json_key(j, estimate_unit_key((EstimateUnit)i)), json_double(j, e->clocks[i]);
    json_close(j, '}');
    json_key(j, "boundBy"), json_str(j, str(estimate_unit_key(e->bound)));
    json_close(j, '}');
}

static void cost_of(Json *j, const CpuCost *cost) {
    CpuUnit bound = cpu_cost_bound(cost);
    json_key(j, "bytes"), json_double(j, cost->bytes);
    if (cost->widest) {
        member_uint(j, "lanes", cost->widest->count);
        json_key(j, "element"), json_str(j, str(dtype_name(cost->widest->elem)));
    }
    json_key(j, "clocks"), json_double(j, cost->busy[bound]);
    json_key(j, "boundBy"), json_str(j, str(cpu_unit_info(bound)->key));
}

static void loops(Json *j, const Unit *unit, const Explain *e) {
    json_key(j, "loops"), json_open(j, '[');
    for (size_t i = 0; i < e->loops.count; i++) {
        const ExplainLoop *l = &e->loops.data[i];
        json_open(j, '{');
        json_key(j, "kind"), json_str(j, l->depth == 0 ? STR("kernel")
                                         : l->counted  ? STR("for")
                                                       : STR("while"));
        member_uint(j, "depth", l->depth);
        place(j, unit, l->span);
        member_uint(j, "ops", l->ops);
        if (l->name) json_key(j, "counter"), json_str(j, str(l->name));
        if (!code_target_is_gpu(e->target)) cost_of(j, &l->cost);
        for (int k = 0; k < EXPLAIN_COUNTS; k++) {
            const ExplainCountInfo *info = explain_count_info((ExplainCount)k);
            if (info->gpu == code_target_is_gpu(e->target)) member_uint(j, info->key, l->counts[k]);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void calls_of(Json *j, const Unit *unit, const Explain *e, Span at) {
    ExplainCalls calls = explain_calls(e, j->out->arena, at);
    if (!calls.name) return;
    json_key(j, "function"), json_str(j, str(calls.name));
    json_key(j, "calls"), json_open(j, '[');
    for (size_t i = 0; i < calls.places.count; i++) {
        json_open(j, '{');
        place(j, unit, calls.places.data[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void one_remark(Json *j, const Unit *unit, const Explain *e, const Remark *r) {
    const ReasonInfo *info = reason_info(r->reason);
    StrBuf text = strbuf(j->out->arena);
    remark_text(r, &text);
    json_open(j, '{');
    json_key(j, "code"), json_str(j, str(info->slug));
    json_key(j, "kind"), json_str(j, info->kind == REASON_DONE ? STR("done") : STR("missed"));
    json_key(j, "message"), json_str(j, strbuf_str(&text));
    json_key(j, "help"), json_str(j, str(info->help));
    if (info->kind == REASON_MISSED) member_uint(j, "cost", explain_cost(e, r));
    if (r->what[0]) json_key(j, "what"), json_str(j, str(r->what));
    json_key(j, "numbers"), json_open(j, '{');
    Str name;
    for (uint32_t i = 0; reason_number_name(r->reason, i, &name); i++) {
        json_key(j, arena_text(j->out->arena, name.text, name.size));
        json_int(j, r->numbers.of[i]);
    }
    json_close(j, '}');
    member_uint(j, "times", r->times);
    place(j, unit, r->span);
    calls_of(j, unit, e, r->span);
    json_close(j, '}');
}

void explain_json_remarks(Json *j, const Unit *unit, const Explain *e, const Reason *only) {
    json_key(j, "remarks"), json_open(j, '[');
    for (size_t i = 0; i < remarks_count(e->remarks); i++) {
        const Remark *r = remarks_get(e->remarks, i);
        if (!only || r->reason == *only) one_remark(j, unit, e, r);
    }
    json_close(j, ']');
}

void explain_json(Json *j, const Unit *unit, const Explain *e) {
    char name[CODE_TARGET_NAME_MAX];
    json_key(j, "kernel"), json_str(j, e->meta->name);
    json_key(j, "target"), json_str(j, str(code_target_name(e->target, name)));
    variant(j, e);
    json_key(j, "resources"), json_open(j, '{');
    if (code_target_is_gpu(e->target))
        resources_gpu(j, e);
    else
        resources_cpu(j, e);
    json_close(j, '}');
    loops(j, unit, e);
    if (code_target_is_gpu(e->target)) estimate(j, unit, &e->estimate);
    explain_json_remarks(j, unit, e, NULL);
}
