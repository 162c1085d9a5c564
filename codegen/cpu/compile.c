#include "codegen/cpu/compile.h"

#include <string.h>

#include "codegen/common/module.h"
#include "codegen/cpu/check.h"
#include "codegen/cpu/gen.h"
#include "codegen/cpu/target.h"

static LLVMMetadataRef text_node(LLVMContextRef context, const char *text) {
    return LLVMMDStringInContext2(context, text, strlen(text));
}

// A list of one alias scope, as accesses need it.
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
    // Several libraries with the same code may be linked into one program completely.
    if (cpu_gen(g)->object) LLVMSetLinkage(g->function, LLVMWeakODRLinkage);
}

static bool finish(Module *m, Str *code) {
    const CodegenOptions *o = m->options;
    if (!target_is_closed(*code, &m->log)) return false;
    return o->output != CODEGEN_SHARED ||
           target_link(m->arena, o->target.cpu, *code, o->entry, code, &m->log);
}

// LLVM's passes to machine code that are left out:
//   loop-reduce, canon-freeze  a quarter of the compile time of a short kernel. They replace
//                              addresses that are base + index already by pointers that are
//                              incremented; this spills more registers than it saves instructions
//                              (docs/cpu.md)
//   livedebugvalues            the places of variables, and there are none
//   x86-avoid-sfb              LLVM 22 aborts in it for some masked copies on x86-64-v3 ("cannot
//                              implicitly convert a scalable size")
//   codegenprepare, machine-sink   for long code only
#define WITHOUT_ALWAYS "loop-reduce", "canon-freeze", "livedebugvalues"
#define WITHOUT_LONG "codegenprepare", "machine-sink"
static const char *const without_x86[] = {WITHOUT_ALWAYS, "x86-avoid-sfb", NULL};
static const char *const without_aarch64[] = {WITHOUT_ALWAYS, NULL};
static const char *const without_x86_long[] = {WITHOUT_ALWAYS, "x86-avoid-sfb", WITHOUT_LONG, NULL};
static const char *const without_aarch64_long[] = {WITHOUT_ALWAYS, WITHOUT_LONG, NULL};

// LLVM allocates tile registers in a pass of its own. AArch64 would use another instruction
// selector, which is not tested.
static bool may_hurry(CpuTarget target) {
    return target.level != CPU_AARCH64 && !(target.extras & CPU_AMX);
}

// From this many instructions or blocks on, code is not optimised (codegen_hurry); 0: never. LLVM's
// liveness analysis visits, for each block, all values that are live through it: 2,000 asserts in a
// row took 40 seconds.
static uint32_t hurried_from(CpuTarget target) { return may_hurry(target) ? 65536 : 0; }
static uint32_t hurried_blocks(CpuTarget target) { return may_hurry(target) ? 8192 : 0; }

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                         Str *output, Diags *diags) {
    bool aarch64 = options->target.cpu.level == CPU_AARCH64;
    const ModuleTarget target = {
        .machine = machine_of,
        .gen = gen_create,
        .ops = &cpu_gen_target,
        .function = function,
        .before_selection = aarch64 ? cpu_keep_exact : NULL,
        .skipped_passes = aarch64 ? without_aarch64 : without_x86,
        .skipped_passes_long = aarch64 ? without_aarch64_long : without_x86_long,
        .hurried_from = hurried_from(options->target.cpu),
        .hurried_blocks = hurried_blocks(options->target.cpu),
        .finish = finish};
    return cpu_check(func, options->target.cpu, diags) &&
           module_compile(arena, func, options, &target, output, diags);
}
