#include "codegen/cpu/compile.h"

#include <string.h>

#include "codegen/common/module.h"
#include "codegen/cpu/check.h"
#include "codegen/cpu/gen.h"
#include "codegen/cpu/target.h"

static LLVMMetadataRef text_node(LLVMContextRef context, const char *text) {
    return LLVMMDStringInContext2(context, text, strlen(text));
}

// A list of one scope, as accesses name it.
static LLVMMetadataRef scope(LLVMContextRef context, const char *name) {
    LLVMMetadataRef domain_name = text_node(context, "tilec");
    LLVMMetadataRef domain = LLVMMDNodeInContext2(context, &domain_name, 1);
    LLVMMetadataRef parts[] = {text_node(context, name), domain};
    LLVMMetadataRef one = LLVMMDNodeInContext2(context, parts, 2);
    return LLVMMDNodeInContext2(context, &one, 1);
}

static LLVMTargetMachineRef machine_of(const Module *m) {
    return target_machine(m->options->target.cpu, m->options->quick);
}

static Gen *gen_create(Module *m) {
    CpuGen *made = arena_new(m->scratch, CpuGen, 1);
    made->machine = machine_of_cpu(m->options->target.cpu);
    made->object = m->options->output == CODEGEN_OBJECT;
    made->memory = arena_new(m->scratch, unsigned char, m->func->value_count + 1);
    made->scopes[0] = scope(m->context, "scratch");
    made->scopes[1] = scope(m->context, "arguments");
    return &made->g;
}

static void function(Gen *g, const char *entry) {
    cpu_memory_kinds(cpu_gen(g));
    cpu_function(cpu_gen(g), entry);
    // Libraries with the same code may be linked into one program whole.
    if (cpu_gen(g)->object) LLVMSetLinkage(g->function, LLVMWeakODRLinkage);
}

static bool finish(Module *m, Str *code) {
    const CodegenOptions *o = m->options;
    if (!target_is_closed(*code, &m->log)) return false;
    return o->output != CODEGEN_SHARED ||
           target_link(m->arena, o->target.cpu, *code, o->entry, code, &m->log);
}

// What is left out of LLVM's way to machine code.
//   loop-reduce, canon-freeze  a quarter of the time of a short kernel: they make pointers that are
//                              counted on of addresses that are base + index already, and more of
//                              them are spilled than instructions are saved (docs/cpu.md)
//   livedebugvalues            where variables are; there are none
//   x86-avoid-sfb              LLVM 22's dies of some masked copies on x86-64-v3 ("cannot
//                              implicitly convert a scalable size")
//   codegenprepare, machine-sink   of long code
#define WITHOUT_ALWAYS "loop-reduce", "canon-freeze", "livedebugvalues"
#define WITHOUT_LONG "codegenprepare", "machine-sink"
static const char *const without_x86[] = {WITHOUT_ALWAYS, "x86-avoid-sfb", NULL};
static const char *const without_aarch64[] = {WITHOUT_ALWAYS, NULL};
static const char *const without_x86_long[] = {WITHOUT_ALWAYS, "x86-avoid-sfb", WITHOUT_LONG, NULL};
static const char *const without_aarch64_long[] = {WITHOUT_ALWAYS, WITHOUT_LONG, NULL};

// Tiles have registers that LLVM gives out in a pass of its own; AArch64 would take another
// selector, which is not tried out.
static bool may_hurry(CpuTarget target) {
    return target.level != CPU_AARCH64 && !(target.extras & CPU_AMX);
}

// From so many instructions, or blocks, on code is made in a hurry; 0: never. Where values are live
// is found block by block, for all that is live through it: 2,000 asserts in a row took 40 seconds.
static uint32_t hurried_from(CpuTarget target) { return may_hurry(target) ? 65536 : 0; }
static uint32_t hurried_blocks(CpuTarget target) { return may_hurry(target) ? 8192 : 0; }

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                         Str *output, Diags *diags) {
    bool aarch64 = options->target.cpu.level == CPU_AARCH64;
    const ModuleTarget target = {.machine = machine_of,
                                 .gen = gen_create,
                                 .ops = &cpu_gen_target,
                                 .function = function,
                                 .before_selection = aarch64 ? cpu_keep_exact : NULL,
                                 .without = aarch64 ? without_aarch64 : without_x86,
                                 .without_long = aarch64 ? without_aarch64_long : without_x86_long,
                                 .hurried_from = hurried_from(options->target.cpu),
                                 .hurried_blocks = hurried_blocks(options->target.cpu),
                                 .finish = finish};
    return cpu_check(func, options->target.cpu, diags) &&
           module_compile(arena, func, options, &target, output, diags);
}
