#include "tests/support/lowered.h"

#include <string.h>

#include "passes/pass.h"

// ---- facts --------------------------------------------------------------------------------------

typedef struct Reach {
    uintptr_t low, high;  // addresses of bytes; high is after the last
} Reach;

#define FARTHEST (INT64_C(1) << 50)  // elements from the first

static Reach reach_of(const IrParam *p, const IrArg *arg) {
    uint64_t bits = dtype_bits(p->value->type->elem);
    int64_t low = 0, high = 0;
    for (uint32_t d = 0; d < p->value->type->rank; d++) {
        int64_t far;
        if (arg->extent[d] == 0) return (Reach){0, 0};
        bool wild = __builtin_mul_overflow(arg->extent[d] - 1, arg->stride[d], &far);
        int64_t *end = far < 0 ? &low : &high;
        wild |= __builtin_add_overflow(*end, far, end) || *end > FARTHEST || *end < -FARTHEST;
        if (wild) return (Reach){0, UINTPTR_MAX};  // no memory: extents that only look large
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

// Does it begin at a multiple of 16 bytes, and each of its rows?
static bool is_wide(const IrParam *p, const IrArg *arg) {
    const IrType *type = p->value->type;
    if ((uintptr_t)arg->data % 16 != 0) return false;
    bool rows = type->kind == IR_VIEW && type->rank && !p->strided;
    if (rows && (uint64_t)arg->extent[type->rank - 1] * dtype_bits(type->elem) % 128 != 0)
        return false;
    for (uint32_t d = 0; type->kind == IR_VIEW && d + 1 < type->rank; d++)
        if ((uint64_t)arg->stride[d] * dtype_bits(type->elem) % 128 != 0) return false;
    return true;
}

// Have all extents, strides and numbers of elements 31 bits, and is there an element? (Without one
// a kernel's own grid may be empty, which no narrow variant runs.)
static bool is_narrow(const IrParam *p, const IrArg *arg) {
    int64_t sum = 0;
    for (uint32_t d = 0; d < p->value->type->rank; d++) {
        int64_t extent = arg->extent[d], stride = arg->stride[d];
        if (extent < 1 || extent > INT32_MAX || stride < 0 || stride > INT32_MAX) return false;
        sum += (extent - 1) * stride;
        if (sum > INT32_MAX) return false;
    }
    return true;
}

unsigned lowered_facts(const IrFunc *f, const IrArg *args) {
    bool disjoint = true, contiguous = true, wide = true, narrow = true;
    for (size_t i = 0; i < f->params.count; i++) {
        const IrParam *p = &f->params.data[i];
        if (p->value->type->kind != IR_TILE) wide &= is_wide(p, &args[i]);
        if (p->value->type->kind != IR_VIEW) continue;
        narrow &= is_narrow(p, &args[i]);
        if (p->strided && args[i].stride[p->value->type->rank - 1] != 1) contiguous = false;
        for (size_t k = 0; k < i; k++) {
            const IrParam *q = &f->params.data[k];
            if (q->value->type->kind != IR_VIEW || in_place(p, &args[i], q, &args[k])) continue;
            Reach a = reach_of(p, &args[i]), b = reach_of(q, &args[k]);
            if (a.low < b.high && b.low < a.high) disjoint = false;
        }
    }
    return (disjoint ? FACT_DISJOINT : 0u) | (contiguous ? FACT_CONTIGUOUS : 0u) |
           (wide ? FACT_WIDE : 0u) | (narrow ? FACT_NARROW : 0u);
}

// ---- the passes ---------------------------------------------------------------------------------

static const CpuTarget machines[LOWERED_MACHINES] = {
    {CPU_X86_64_V2, 0}, {CPU_X86_64_V3, 0}, {CPU_X86_64_V4, 0}, {CPU_X86_64_V4, CPU_AMX}};

Machine lowered_machine(uint64_t choice) {
    return machine_of_cpu(machines[choice % LOWERED_MACHINES]);
}

bool lowered_knows_facts(uint64_t choice) { return choice / LOWERED_FACTS % 2 != 0; }

// Every other choice stops after lowering; the rest runs what follows it too.
bool lowered_run(IrModule *m, uint64_t choice, unsigned facts, Diags *diags) {
    Machine machine = lowered_machine(choice);
    PassOptions options = {.verify = true, .machine = &machine};
    options.facts = lowered_knows_facts(choice) ? facts : 0;
    size_t count, rest;
    const PassStep *tile = pipeline_steps(PIPELINE_TILE, &count);
    bool whole = choice / (2 * LOWERED_FACTS) % 2 != 0;
    const PassStep *cpu = pipeline_steps(whole ? PIPELINE_CPU : PIPELINE_CPU_LOOPS, &rest);
    return passes_run(m, tile, count, &options, diags) && passes_run(m, cpu, rest, &options, diags);
}

// ---- for GPUs -----------------------------------------------------------------------------------

static const GpuTarget gpus[LOWERED_GPUS] = {
    {GPU_NVIDIA, 75, false, false},  {GPU_NVIDIA, 80, false, false},
    {GPU_NVIDIA, 89, false, false},  {GPU_NVIDIA, 90, true, false},
    {GPU_NVIDIA, 120, false, false}, {GPU_AMD, 0x90a, false, false},
    {GPU_AMD, 0x942, false, false},  {GPU_AMD, 0x950, false, false},
    {GPU_AMD, 0x1030, false, false}, {GPU_AMD, 0x1100, false, false},
    {GPU_AMD, 0x1201, false, false}};
enum { PARTS = 4 };

uint64_t lowered_choice(uint64_t gpu, uint64_t warps, uint64_t facts, uint64_t part,
                        uint64_t order) {
    uint64_t choice = order % LOWERED_ORDERS;
    choice = choice * PARTS + part % PARTS;
    choice = choice * LOWERED_WARPS + warps % LOWERED_WARPS;
    choice = choice * 2 + facts % 2;
    return choice * LOWERED_GPUS + gpu % LOWERED_GPUS;
}

uint32_t lowered_order(uint64_t choice) {
    return (uint32_t)(choice / (LOWERED_GPUS * 2 * LOWERED_WARPS * PARTS) % LOWERED_ORDERS);
}

Machine lowered_gpu(uint64_t choice) { return machine_of_gpu(gpus[choice % LOWERED_GPUS]); }

uint32_t lowered_warps(uint64_t choice) {
    return 1u << choice / (2 * LOWERED_GPUS) % LOWERED_WARPS;
}

static size_t steps_to(const PassStep *steps, size_t count, PassId last) {
    for (size_t i = 0; i < count; i++)
        if (steps[i].pass == last) return i + 1;
    return count;
}

static bool to_threads(IrModule *m, Machine machine, uint64_t choice, bool whole, unsigned facts,
                       Diags *diags) {
    PassOptions options = {.verify = true, .machine = &machine};
    options.facts = choice / LOWERED_GPUS % 2 ? facts : 0;
    size_t before, count;
    const PassStep *tile = pipeline_steps(PIPELINE_TILE, &before);
    const PassStep *gpu = pipeline_steps(PIPELINE_GPU, &count);
    if (!whole && choice / (2 * LOWERED_GPUS * LOWERED_WARPS) % PARTS == 0)
        count = steps_to(gpu, count, PASS_GPU_THREADS);
    for (size_t i = 0; i < m->funcs.count; i++)
        if (m->funcs.data[i]->warps <= 0) m->funcs.data[i]->warps = (int)lowered_warps(choice);
    return passes_run(m, tile, before, &options, diags) &&
           passes_run(m, gpu, count, &options, diags);
}

bool lowered_to_threads(IrModule *m, uint64_t choice, bool whole, unsigned facts, Diags *diags) {
    return to_threads(m, lowered_gpu(choice), choice, whole, facts, diags);
}

bool lowered_to_threads_of(IrModule *m, GpuTarget gpu, uint64_t choice, unsigned facts,
                           Diags *diags) {
    return to_threads(m, machine_of_gpu(gpu), choice, true, facts, diags);
}
