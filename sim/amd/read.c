// Reads a whole code object: its decoded kernels and its image.
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/vec.h"
#include "sim/amd/amd.h"
#include "sim/amd/decode.h"
#include "sim/amd/launch.h"

typedef struct SimRelocation Relocation;

// The register counts in the descriptor: vector registers are in groups of eight (groups of four
// for 64-lane waves on gfx10 and later). Accumulators follow them in one file.
static void give_registers(AmdDecoder *d) {
    const AmdDescriptor *k = &d->source->descriptor;
    bool older = d->kernel->generation == 9;
    uint32_t group = older || d->kernel->lanes == 32 ? 8 : 4;
    uint32_t all = ((k->rsrc1 & 63) + 1) * group;
    d->vectors = all < AMD_ACCUMULATORS ? all : AMD_ACCUMULATORS;
    d->accumulators = 0;
    d->scalars = AMD_VCC;
    if (!older) return;
    uint32_t own = ((k->rsrc3 & 63) + 1) * 4;
    if (own < d->vectors) d->vectors = own;
    d->accumulators = all > own ? all - own : 0;
    if (d->accumulators > AMD_ACCUMULATORS) d->accumulators = AMD_ACCUMULATORS;
    d->scalars = ((k->rsrc1 >> 7 & 7) + 1) * 16;
    if (d->scalars > AMD_VCC) d->scalars = AMD_VCC;
}

static void fill_params(AmdDecoder *d, SimKernel *to) {
    const AmdObjectKernel *k = d->source;
    SimParam *params = arena_new(d->arena, SimParam, k->arg_count + 1);
    for (uint32_t i = 0; i < k->arg_count; i++) {
        const AmdArg *a = &k->args[i];
        if (a->kind > AMD_ARG_LDS) continue;
        params[to->param_count++] = (SimParam){a->name, a->offset, a->size, a->size};
        if (a->offset + a->size > to->param_bytes) to->param_bytes = a->offset + a->size;
    }
    to->params = params;
    if (!k->described) to->param_bytes = k->descriptor.kernarg;
}

static bool read_kernel(AmdDecoder *d, GpuDisassembler disassemble, SimKernel *to) {
    char name[16];
    GpuCode code;
    snprintf(name, sizeof name, "gfx%x", d->processor);
    d->kernel = arena_new(d->arena, AmdKernel, 1);
    d->kernel->object = d->object, d->kernel->source = d->source;
    d->kernel->processor = d->processor;
    d->kernel->generation = amd_generation(d->processor);
    d->kernel->lanes = d->source->descriptor.properties & AMD_WAVE32 ? 32 : 64;
    if (d->kernel->generation == 9 && d->kernel->lanes == 32) {
        diag_error(d->diags, (Span){0}, DIAG_UNSUPPORTED,
                   "the code object has a kernel for waves of 32 lanes, and '%s' has none", name);
        return false;
    }
    d->kernel->vectors = 3;  // for the work-item id
    give_registers(d);
    GpuCodeJob job = {
        .bytes = {(const char *)d->object->image + d->source->begin, (size_t)d->source->size},
        .processor = str(name),
        .begin = d->source->begin,
        .lanes = d->kernel->lanes};
    if (!disassemble.run(disassemble.user, d->arena, &job, &code)) {
        diag_error(d->diags, (Span){0}, DIAG_UNSUPPORTED, "LLVM here has no processor '%s'", name);
        return false;
    }
    TRY(amd_decode_kernel(d, &code, to));
    to->name = d->source->name;
    to->machine = d->kernel, to->run = amd_run;
    to->shared_bytes = d->source->descriptor.lds;
    to->local_bytes = d->source->descriptor.scratch;
    memcpy(to->reqntid, d->source->required, sizeof to->reqntid);
    fill_params(d, to);
    return true;
}

static void read_image(Arena *arena, const AmdObject *o, SimProgram *p) {
    SimVariable *v = arena_new(arena, SimVariable, 1);
    Relocation *list = arena_new(arena, Relocation, o->relocation_count + 1);
    for (uint32_t i = 0; i < o->relocation_count; i++) {
        list[i].at = o->relocations[i];
        memcpy(&list[i].addend, o->image + o->relocations[i], sizeof list[i].addend);
    }
    *v = (SimVariable){.name = STR("the code object"),
                       .size = o->image_size,
                       .align = 256,
                       .bytes = o->image,
                       .relocations = list,
                       .relocation_count = o->relocation_count};
    p->variables = v, p->variable_count = 1;
}

// The simulated processor for the code: for generic code, the lowest processor; 0: none.
static uint32_t processor_of(GpuTarget code) {
    uint32_t least = 0;
    GpuTarget t;
    if (code.vendor == GPU_NONE) return 0;
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        if (t.vendor != GPU_AMD || t.generic || !gpu_target_runs(code, t)) continue;
        if (chip_of(t)->simulated && (!least || t.number < least)) least = t.number;
    }
    return least;
}

const SimProgram *amd_read(Arena *arena, Str bytes, GpuDisassembler disassemble, Diags *diags) {
    const AmdObject *o = amd_object_read(arena, bytes, diags);
    if (!o) return NULL;
    uint32_t processor = processor_of(o->target);
    if (!processor) {
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED,
                   "the code object is for a processor (number %#x) that is not simulated",
                   o->mach);
        return NULL;
    }
    SimProgram *p = arena_new(arena, SimProgram, 1);
    SimKernel *kernels = arena_new(arena, SimKernel, o->kernel_count + 1);
    AmdDecoder *d = arena_new(arena, AmdDecoder, 1);
    *d = (AmdDecoder){.arena = arena,
                      .diags = diags,
                      .names = interner_create(arena),
                      .object = o,
                      .processor = processor};
    amd_rows_begin(d);
    for (uint32_t i = 0; i < o->kernel_count; i++) {
        d->source = &o->kernels[i];
        if (!read_kernel(d, disassemble, &kernels[i])) return NULL;
    }
    p->arch = o->target.number;
    p->arch_generic = o->target.generic;
    p->kernels = kernels, p->kernel_count = o->kernel_count;
    read_image(arena, o, p);
    return p;
}
