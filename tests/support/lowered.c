#include "tests/support/lowered.h"

#include "passes/pass.h"

// ---- facts --------------------------------------------------------------------------------------

typedef struct Reach {
    uintptr_t low, high;  // bytes, high behind the last
} Reach;

static Reach reach_of(const IrParam *p, const IrArg *arg) {
    uint64_t bits = dtype_bits(p->value->type->elem);
    int64_t low = 0, high = 0;
    for (uint32_t d = 0; d < p->value->type->rank; d++) {
        if (arg->extent[d] == 0) return (Reach){0, 0};
        int64_t far = (arg->extent[d] - 1) * arg->stride[d];
        if (far < 0)
            low += far;
        else
            high += far;
    }
    uintptr_t data = (uintptr_t)arg->data;
    return (Reach){data + (uintptr_t)(low * (int64_t)bits / 8),
                   data + (uintptr_t)((high + 1) * (int64_t)bits / 8) + 1};
}

static bool in_place(const IrParam *p, const IrArg *a, const IrParam *q, const IrArg *b) {
    if (a->data != b->data || p->value->type != q->value->type || p->strided != q->strided)
        return false;
    for (uint32_t d = 0; d < p->value->type->rank; d++)
        if (a->extent[d] != b->extent[d] || a->stride[d] != b->stride[d]) return false;
    return true;
}

unsigned lowered_facts(const IrFunc *f, const IrArg *args) {
    bool disjoint = true, contiguous = true;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *p = &f->params.data[i];
        if (p->value->type->kind != IR_VIEW) continue;
        if (p->strided && args[i].stride[p->value->type->rank - 1] != 1) contiguous = false;
        for (size_t k = 0; k < i; k++) {
            const IrParam *q = &f->params.data[k];
            if (q->value->type->kind != IR_VIEW || in_place(p, &args[i], q, &args[k])) continue;
            Reach a = reach_of(p, &args[i]), b = reach_of(q, &args[k]);
            if (a.low < b.high && b.low < a.high) disjoint = false;
        }
    }
    return (disjoint ? FACT_DISJOINT : 0u) | (contiguous ? FACT_CONTIGUOUS : 0u);
}

// ---- the passes ---------------------------------------------------------------------------------

static const CpuLevel levels[] = {CPU_X86_64_V2, CPU_X86_64_V3, CPU_X86_64_V4};
enum { LEVELS = sizeof levels / sizeof *levels };

Machine lowered_machine(uint64_t choice) {
    return machine_of_cpu((CpuTarget){levels[choice % LEVELS], 0});
}

bool lowered_told(uint64_t choice) { return choice / LEVELS % 2 != 0; }

// Every other choice stops after lowering; the rest runs what follows it too.
bool lowered_run(IrModule *m, uint64_t choice, unsigned facts, Diags *diags) {
    static const PassStep lower[] = {{PASS_CPU_LOWER, "what is tested"}};
    Machine machine = lowered_machine(choice);
    PassOptions options = {.verify = true, .machine = &machine};
    options.facts = lowered_told(choice) ? facts : 0;
    size_t count, rest = 1;
    const PassStep *tile = pipeline_steps(PIPELINE_TILE, &count), *cpu = lower;
    if (choice / (2 * LEVELS) % 2 != 0) cpu = pipeline_steps(PIPELINE_CPU, &rest);
    return passes_run(m, tile, count, &options, diags) && passes_run(m, cpu, rest, &options, diags);
}
