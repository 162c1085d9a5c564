// The output of `tilec explain` as text.
#include "tools/explain.h"

#include <stdio.h>

typedef struct ExplainPage {
    const Sources *sources;
    const Explain *e;
    DiagStyle style;
    StrBuf *out;
} ExplainPage;

static void heading(const ExplainPage *p, const char *text) {
    strbuf_printf(p->out, p->style.color ? "\n\033[1m%s\033[0m\n" : "\n%s\n", text);
}

// Prints "softmax.tile:12:9", padded to `width`.
static void place(const ExplainPage *p, Span span, int width) {
    SourceLine at = source_line(p->sources, span.begin);
    char text[32] = "";
    if (at.file && span_known(span)) snprintf(text, sizeof text, "%u:%u", at.line, at.column);
    strbuf_printf(p->out, "  %-*s", width, text);
}

// ---- head ---------------------------------------------------------------------------------------

void explain_variant_text(const Explain *e, StrBuf *out) {
    const MetaVariant *v = &e->meta->variants[e->variant];
    bool any = false;
    for (size_t i = 0; i < FACTS; i++) {
        if (!(v->facts & launch_facts[i].bit)) continue;
        strbuf_printf(out, "%s%s", any ? ", " : "", launch_facts[i].text);
        any = true;
    }
    if (!any) strbuf_add(out, STR("takes any launch"));
}

static void head(const ExplainPage *p) {
    const Explain *e = p->e;
    const MetaVariant *v = &e->meta->variants[e->variant];
    char name[CODE_TARGET_NAME_MAX];
    strbuf_printf(p->out, "%.*s for %s", STR_ARG(e->meta->name), code_target_name(e->target, name));
    for (uint32_t i = 0; i < v->binding_count; i++) {
        const MetaBinding *b = &v->bindings[i];
        strbuf_printf(p->out, "%s %.*s=", i ? "," : ":", STR_ARG(b->name));
        if (b->is_type)
            strbuf_add(p->out, str(dtype_name(b->type)));
        else
            strbuf_printf(p->out, "%lld", (long long)b->value);
    }
    strbuf_printf(p->out, "\nvariant %u of %u, counted from 0: ", e->variant,
                  e->meta->variant_count);
    explain_variant_text(e, p->out);
    strbuf_char(p->out, '\n');
}

// ---- resources ---------------------------------------------------------------------------------

const char *explain_limit_name(OccupancyLimit limit) {
    switch (limit) {
    case OCCUPANCY_WARPS: return "warps";
    case OCCUPANCY_BLOCKS: return "programs";
    case OCCUPANCY_SHARED: return "shared memory";
    case OCCUPANCY_REGISTERS: return "registers";
    }
    return "";
}

static void measured(const ExplainPage *p) {
    const Explain *e = p->e;
    if (!e->measured.known && e->measured_by.size) {
        strbuf_printf(p->out,
                      "  registers, spills   not measured: %.*s does not accept this code\n",
                      STR_ARG(e->measured_by));
        return;
    }
    if (!e->measured.known) {
        strbuf_add(p->out,
                   STR("  registers, spills   not measured: install ptxas (from NVIDIA's CUDA "
                       "toolkit), or name it in TILEC_PTXAS\n"));
        return;
    }
    strbuf_printf(p->out, "  registers           %u per thread (measured by %.*s)\n",
                  e->measured.registers, STR_ARG(e->measured_by));
    strbuf_printf(p->out,
                  "  spills              %u bytes stored, %u bytes loaded; stack %u bytes\n",
                  e->measured.spill_stores, e->measured.spill_loads, e->measured.stack);
}

static const char *plural(uint32_t n) { return n == 1 ? "" : "s"; }

static void resources_amd(const ExplainPage *p) {
    const Explain *e = p->e;
    const Occupancy *o = &e->occupancy;
    const ExplainAmd *a = &e->amd;
    strbuf_printf(p->out, "  threads             %u, in %u wave%s of %u\n", e->notes.threads,
                  e->warps, plural(e->warps), e->machine.warp);
    strbuf_printf(p->out, "  vector registers    %u per thread", a->vectors);
    if (a->accumulators)
        strbuf_printf(p->out, ", of which %u accumulator%s", a->accumulators,
                      plural(a->accumulators));
    strbuf_printf(p->out, "\n  scalar registers    %u per wave\n", a->scalars);
    strbuf_printf(p->out,
                  "  spills              %u vector and %u scalar registers; scratch memory %u "
                  "bytes per thread\n",
                  a->vector_spills, a->scalar_spills, a->scratch_bytes);
    strbuf_printf(p->out, "  shared memory       %u bytes of %u\n", e->notes.shared_bytes,
                  e->machine.shared_bytes);
    strbuf_printf(p->out,
                  "  occupancy           %u of %u waves: %u program%s at once on a %s, limited by "
                  "%s\n",
                  o->warps, o->warps_max, o->blocks, plural(o->blocks),
                  chip_of(e->target.gpu)->generation < 10 ? "compute unit" : "work-group processor",
                  explain_limit_name(o->limit));
    strbuf_printf(p->out, "  code                %llu bytes\n", (unsigned long long)e->code_bytes);
}

static void resources_gpu(const ExplainPage *p) {
    const Explain *e = p->e;
    const Occupancy *o = &e->occupancy;
    if (e->target.gpu.vendor == GPU_AMD) {
        resources_amd(p);
        return;
    }
    strbuf_printf(p->out, "  threads             %u, in %u warp%s\n", e->notes.threads, e->warps,
                  e->warps == 1 ? "" : "s");
    measured(p);
    strbuf_printf(p->out, "  shared memory       %u bytes of %u\n", e->notes.shared_bytes,
                  e->machine.shared_bytes);
    strbuf_printf(p->out,
                  "  occupancy           %u of %u warps: %u program%s at once on a "
                  "multiprocessor, limited by %s\n",
                  o->warps, o->warps_max, o->blocks, o->blocks == 1 ? "" : "s",
                  explain_limit_name(o->limit));
    strbuf_printf(p->out, "  code                %llu bytes of PTX\n",
                  (unsigned long long)e->code_bytes);
}

static void resources_cpu(const ExplainPage *p) {
    const Explain *e = p->e;
    strbuf_printf(p->out, "  vectors             %u bytes, %u registers\n", e->machine.vector_bytes,
                  e->machine.vector_registers);
    strbuf_printf(p->out, "  scratch memory      %u bytes per thread (L1 cache %u, L2 cache %u)\n",
                  e->notes.scratch_bytes, e->machine.l1_bytes, e->machine.l2_bytes);
    strbuf_printf(p->out, "  code                %llu bytes\n", (unsigned long long)e->code_bytes);
}

// ---- loops --------------------------------------------------------------------------------------

enum { PLACE_WIDTH = 9, NAME_WIDTH = 14, COLUMN_WIDTH = 10 };

static bool is_column(const ExplainPage *p, int count) {
    if (explain_count_info((ExplainCount)count)->gpu != code_target_is_gpu(p->e->target))
        return false;
    for (size_t i = 0; i < p->e->loops.count; i++)
        if (p->e->loops.data[i].counts[count]) return true;
    return false;
}

static void cost_columns(const ExplainPage *p, const CpuCost *cost) {
    CpuUnit bound = cpu_cost_bound(cost);
    char width[16] = "";
    if (cost->widest)
        snprintf(width, sizeof width, "%u %s", cost->widest->count, dtype_name(cost->widest->elem));
    strbuf_printf(p->out, "%*.0f%*s%*.1f", COLUMN_WIDTH, cost->bytes, COLUMN_WIDTH, width,
                  COLUMN_WIDTH, cost->busy[bound]);
    if (cost->busy[bound] > 0) strbuf_printf(p->out, "  %s", cpu_unit_info(bound)->text);
}

static void row(const ExplainPage *p, const ExplainLoop *l) {
    char name[64];
    const char *kind = l->depth == 0 ? "straight" : l->counted ? "for" : "while";
    snprintf(name, sizeof name, "%*s%s%s%s", (int)(2 * l->depth < 24 ? 2 * l->depth : 24), "", kind,
             l->name ? " " : "", l->name ? l->name : "");
    place(p, l->span, PLACE_WIDTH);
    strbuf_printf(p->out, "%-*s%*u", NAME_WIDTH, name, COLUMN_WIDTH, l->ops);
    for (int i = 0; i < EXPLAIN_COUNTS; i++)
        if (is_column(p, i)) strbuf_printf(p->out, "%*u", COLUMN_WIDTH, l->counts[i]);
    if (!code_target_is_gpu(p->e->target)) cost_columns(p, &l->cost);
    strbuf_char(p->out, '\n');
}

static void loops(const ExplainPage *p) {
    heading(p, "operations in one iteration of each loop");
    strbuf_printf(p->out, "  %-*s%-*s%*s", PLACE_WIDTH, "", NAME_WIDTH, "", COLUMN_WIDTH, "ops");
    for (int i = 0; i < EXPLAIN_COUNTS; i++)
        if (is_column(p, i))
            strbuf_printf(p->out, "%*s", COLUMN_WIDTH,
                          explain_count_info((ExplainCount)i)->heading);
    if (!code_target_is_gpu(p->e->target))
        strbuf_printf(p->out, "%*s%*s%*s  bound by", COLUMN_WIDTH, "bytes", COLUMN_WIDTH, "vectors",
                      COLUMN_WIDTH, "clocks");
    strbuf_char(p->out, '\n');
    for (size_t i = 0; i < p->e->loops.count; i++) row(p, &p->e->loops.data[i]);
    if (!code_target_is_gpu(p->e->target))
        strbuf_printf(
            p->out,
            "  clocks: an estimate for a %s core, if nothing waits and all data is in the "
            "first-level cache\n",
            rates_of_cpu(p->e->target.cpu)->core);
}

// ---- the estimate -------------------------------------------------------------------------------

// One decimal below ten clocks.
static void clocks_line(const ExplainPage *p, EstimateUnit unit) {
    const double few = 10;
    double clocks = p->e->estimate.clocks[unit];
    strbuf_printf(p->out, "  %-24s%8.*f\n", estimate_unit_text(unit), clocks < few ? 1 : 0, clocks);
}

static void estimate(const ExplainPage *p) {
    const Estimate *e = &p->e->estimate;
    if (!e->rates || e->clocks[e->bound] <= 0) return;
    heading(p, "estimate: clocks for one step of a program, if nothing waits");
    place(p, e->span, PLACE_WIDTH);
    strbuf_printf(p->out, "%s, %s\n", e->loop ? "the loop" : "the body", e->rates->card);
    for (int i = 0; i < ESTIMATE_UNITS; i++)
        if (e->clocks[i] > 0) clocks_line(p, (EstimateUnit)i);
    strbuf_printf(p->out, "  bound by                %s", estimate_unit_text(e->bound));
    double busy = e->clocks[ESTIMATE_MATRIX] / e->clocks[e->bound];
    if (busy > 0 && e->bound != ESTIMATE_MATRIX)
        strbuf_printf(p->out, "; the matrix unit is busy at most %.2f of the time", busy);
    strbuf_char(p->out, '\n');
}

// ---- remarks ------------------------------------------------------------------------------------

static void text_of(const ExplainPage *p, const Remark *r) {
    remark_text(r, p->out);
    if (r->times > 1) strbuf_printf(p->out, " (%u times)", r->times);
    ExplainCalls calls = explain_calls(p->e, p->out->arena, r->span);
    if (calls.name) strbuf_printf(p->out, " (in '%s')", calls.name);
}

// Says where the function of the place is called, up to the kernel.
static void notes_of_calls(const ExplainPage *p, Span at) {
    enum { DEPTH = 8 };
    for (int i = 0; i < DEPTH; i++) {
        ExplainCalls calls = explain_calls(p->e, p->out->arena, at);
        if (!calls.name) return;
        at = calls.places.data[0];
        size_t others = calls.places.count - 1;
        SourceLine call = source_line(p->sources, at.begin);
        strbuf_printf(p->out, "note: '%s' is called at %.*s:%u:%u", calls.name,
                      STR_ARG(call.file->path), call.line, call.column);
        if (others) strbuf_printf(p->out, " and %zu more place%s", others, others > 1 ? "s" : "");
        strbuf_char(p->out, '\n');
    }
}

static void done(const ExplainPage *p) {
    bool any = false;
    for (size_t i = 0; i < remarks_count(p->e->remarks); i++) {
        const Remark *r = remarks_get(p->e->remarks, i);
        if (reason_info(r->reason)->kind != REASON_DONE) continue;
        if (!any) heading(p, "what was chosen");
        any = true;
        place(p, r->span, PLACE_WIDTH);
        text_of(p, r);
        strbuf_char(p->out, '\n');
    }
}

static bool same_place(const Remark *a, const Remark *b) {
    return a->span.begin == b->span.begin && a->span.end == b->span.end;
}

static void remark_line(const ExplainPage *p, const Remark *r) {
    diag_show_place(p->sources, r->span, p->style, p->out);
    text_of(p, r);
    strbuf_printf(p->out, " [%s]\n", reason_info(r->reason)->slug);
}

static void help_of(const ExplainPage *p, Reason reason) {
    const char *help = reason_info(reason)->help;
    if (help[0]) strbuf_printf(p->out, "help: %s\n", help);
}

// Prints the remarks of one reason and place: texts, then the source line. Returns the index after
// them.
static size_t one_place(const ExplainPage *p, size_t first, Reason only) {
    const Remark *head = remarks_get(p->e->remarks, first);
    size_t end = first;
    for (; end < remarks_count(p->e->remarks); end++) {
        const Remark *r = remarks_get(p->e->remarks, end);
        if (!same_place(head, r)) break;
        if (r->reason == only) remark_line(p, r);
    }
    diag_show_source(p->sources, head->span, DIAG_INFO, p->style, p->out);
    notes_of_calls(p, head->span);
    help_of(p, only);
    return end;
}

static bool by_place(const ExplainPage *p, Reason only) {
    bool any = false;
    for (size_t i = 0; i < remarks_count(p->e->remarks);) {
        if (remarks_get(p->e->remarks, i)->reason != only) {
            i++;
            continue;
        }
        i = one_place(p, i, only);
        any = true;
    }
    return any;
}

// ---- what was not done, by cost -----------------------------------------------------------------

// The remarks of one reason. `worst` costs most, and is shown in full.
typedef struct ReasonGroup {
    Reason reason;
    uint64_t cost;
    const Remark *worst;
} ReasonGroup;

// The dearest group first; equal ones in the order of the source.
static size_t find_groups(const ExplainPage *p, ReasonGroup *groups) {
    size_t count = 0;
    for (size_t i = 0; i < remarks_count(p->e->remarks); i++) {
        const Remark *r = remarks_get(p->e->remarks, i);
        if (reason_info(r->reason)->kind != REASON_MISSED) continue;
        uint64_t cost = explain_cost(p->e, r);
        size_t g = 0;
        while (g < count && groups[g].reason != r->reason) g++;
        if (g == count) groups[count++] = (ReasonGroup){r->reason, 0, r};
        if (groups[g].cost < cost) groups[g].cost = cost, groups[g].worst = r;
    }
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && groups[k - 1].cost < groups[k].cost; k--) {
            ReasonGroup less = groups[k - 1];
            groups[k - 1] = groups[k];
            groups[k] = less;
        }
    return count;
}

static void group(const ExplainPage *p, const ReasonGroup *g) {
    remark_line(p, g->worst);
    diag_show_source(p->sources, g->worst->span, DIAG_INFO, p->style, p->out);
    notes_of_calls(p, g->worst->span);
    for (size_t i = 0; i < remarks_count(p->e->remarks); i++) {
        const Remark *r = remarks_get(p->e->remarks, i);
        if (r->reason != g->reason || r == g->worst) continue;
        place(p, r->span, PLACE_WIDTH);
        text_of(p, r);
        strbuf_char(p->out, '\n');
    }
    help_of(p, g->reason);
}

static void missed(const ExplainPage *p, bool all) {
    enum { SHOWN = 4 };
    ReasonGroup groups[REASONS];
    size_t count = find_groups(p, groups), shown = all || count <= SHOWN + 1 ? count : SHOWN;
    if (!count) strbuf_add(p->out, STR("\nthere is nothing to change\n"));
    if (count) heading(p, "what was not done, and what to change, by estimated cost");
    for (size_t i = 0; i < shown; i++) group(p, &groups[i]);
    if (shown == count) return;
    strbuf_printf(p->out, "%zu more that cost less or as much, shown by --all:", count - shown);
    for (size_t i = shown; i < count; i++)
        strbuf_printf(p->out, "%s %s", i > shown ? "," : "", reason_info(groups[i].reason)->slug);
    strbuf_char(p->out, '\n');
}

// ---- all ----------------------------------------------------------------------------------------

void explain_text(const Cli *cli, const Unit *unit, const Explain *e, StrBuf *out) {
    ExplainPage p = {unit->sources, e, {.color = cli->color}, out};
    head(&p);
    heading(&p, "resources");
    if (code_target_is_gpu(e->target))
        resources_gpu(&p);
    else
        resources_cpu(&p);
    loops(&p);
    estimate(&p);
    done(&p);
    missed(&p, cli_has(cli, "all"));
}

void explain_text_only(const Cli *cli, const Unit *unit, const Explain *e, Reason only,
                       StrBuf *out) {
    ExplainPage p = {unit->sources, e, {.color = cli->color}, out};
    if (!by_place(&p, only)) strbuf_printf(out, "no remark [%s]\n", reason_info(only)->slug);
}
