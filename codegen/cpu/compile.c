#include "codegen/cpu/compile.h"

#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/common/module.h"
#include "codegen/cpu/check.h"
#include "codegen/cpu/gen.h"
#include "codegen/cpu/target.h"
#include "codegen/lld_shim.h"

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

static CpuGen *gen_create(Module *m, const CodegenCpuOptions *options) {
    CpuGen *made = arena_new(m->scratch, CpuGen, 1);
    made->g.context = m->context;
    made->g.module = m->module;
    gen_begin(&made->g, m->scratch, &cpu_gen_target, m->func);
    made->g.remarks = options->remarks;
    made->machine = machine_of_cpu(options->target);
    made->memory = arena_new(m->scratch, unsigned char, m->func->value_count + 1);
    made->scopes[0] = scope(m->context, "scratch");
    made->scopes[1] = scope(m->context, "arguments");
    if (options->lines)
        made->g.lines = lines_create(m->scratch, m->context, m->module, m->func, false);
    return made;
}

static bool build(Module *m, const char *entry, const CodegenCpuOptions *options) {
    CpuGen *made = gen_create(m, options);
    cpu_memory_kinds(made);
    cpu_function(made, entry);
    if (made->g.lines) lines_finish(made->g.lines);
    LLVMDisposeBuilder(made->g.b);
    return module_verify(m);
}

static bool emit(Module *m, const char *entry, const CodegenCpuOptions *options, Str *output) {
    uint64_t clock = os_time_ns();
    bool fine = build(m, entry, options);
    m->times.build = module_lap(&clock);
    if (!fine) return false;
    if (options->output == CODEGEN_LLVM) {
        module_text(m, output);
        return true;
    }
    fine = options->quick || target_optimise(m->machine, m->module, &m->log);
    m->times.optimise = module_lap(&clock);
    if (!fine) return false;
    bool assembly = options->output == CODEGEN_ASM, shared = options->output == CODEGEN_SHARED;
    Str code;
    fine = target_emit(shared ? m->scratch : m->arena, m->machine, m->module, assembly, &code,
                       &m->log) &&
           (assembly || target_is_closed(code, &m->log));
    m->times.emit = module_lap(&clock);
    if (!fine) return false;
    *output = code;
    if (!shared) return true;
    fine = target_link(m->arena, options->target, code, options->entry, output, &m->log);
    m->times.link = module_lap(&clock);
    return fine;
}

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenCpuOptions *options,
                         Str *output, Diags *diags) {
    if (!cpu_check(func, options->target, diags)) return false;
    codegen_start();
    Module m = {.arena = arena, .func = func, .log = {.diags = diags, .span = func->span}};
    const char *entry = arena_text(arena, options->entry.text, options->entry.size);
    module_begin(&m, entry, target_machine(options->target, options->quick),
                 target_triple(options->target));
    bool fine = emit(&m, entry, options, output);
    if (options->times) *options->times = m.times;
    module_end(&m);
    return fine;
}
