#include "codegen/cpu/compile.h"

#include <llvm-c/Analysis.h>
#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/cpu/check.h"
#include "codegen/cpu/gen.h"
#include "codegen/cpu/target.h"
#include "codegen/lld_shim.h"

typedef struct Compile {
    Arena *arena;    // of the output
    Arena *scratch;  // gone at the end
    const IrFunc *func;
    const CodegenCpuOptions *options;
    CodegenTimes times;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetMachineRef machine;
    TargetLog log;
} Compile;

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

static CpuGen *gen_create(Compile *c) {
    CpuGen *made = arena_new(c->scratch, CpuGen, 1);
    made->g.context = c->context;
    made->g.module = c->module;
    gen_begin(&made->g, c->scratch, &cpu_gen_target, c->func);
    made->machine = machine_of_cpu(c->options->target);
    made->memory = arena_new(c->scratch, unsigned char, c->func->value_count + 1);
    made->scopes[0] = scope(c->context, "scratch");
    made->scopes[1] = scope(c->context, "arguments");
    if (c->options->lines)
        made->g.lines = lines_create(c->scratch, c->context, c->module, c->func, false);
    return made;
}

static void module_create(Compile *c, const char *entry) {
    c->context = LLVMContextCreate();
    target_log(c->context, &c->log);
    c->module = LLVMModuleCreateWithNameInContext(entry, c->context);
    c->machine = target_machine(c->options->target, c->options->quick);
    LLVMSetTarget(c->module, target_triple(c->options->target));
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
    LLVMSetModuleDataLayout(c->module, layout);
    LLVMDisposeTargetData(layout);
}

static bool build(Compile *c) {
    const char *entry = arena_text(c->scratch, c->options->entry.text, c->options->entry.size);
    module_create(c, entry);
    CpuGen *made = gen_create(c);
    cpu_memory_kinds(made);
    cpu_function(made, entry);
    if (made->g.lines) lines_finish(made->g.lines);
    LLVMDisposeBuilder(made->g.b);
    char *message = NULL;
    bool wrong = LLVMVerifyModule(c->module, LLVMReturnStatusAction, &message);
    if (wrong) {
        c->log.errors++;
        diag_error(c->log.diags, c->func->span, DIAG_DEFECT, "LLVM IR is not well formed: %s",
                   message);
    }
    LLVMDisposeMessage(message);
    return !wrong && c->log.errors == 0;
}

// Nanoseconds since *from, which becomes now.
static uint64_t lap(uint64_t *from) {
    uint64_t now = os_time_ns(), passed = now - *from;
    *from = now;
    return passed;
}

static bool text_of_module(Compile *c, Str *output) {
    char *text = LLVMPrintModuleToString(c->module);
    *output = (Str){arena_text(c->arena, text, strlen(text)), strlen(text)};
    LLVMDisposeMessage(text);
    return true;
}

static bool emit(Compile *c, Str *output) {
    const CodegenCpuOptions *options = c->options;
    uint64_t clock = os_time_ns();
    bool fine = build(c);
    c->times.build = lap(&clock);
    if (!fine) return false;
    if (options->output == CODEGEN_LLVM) return text_of_module(c, output);
    fine = options->quick || target_optimise(c->machine, c->module, &c->log);
    c->times.optimise = lap(&clock);
    if (!fine) return false;
    bool assembly = options->output == CODEGEN_ASM, shared = options->output == CODEGEN_SHARED;
    Str code;
    fine = target_emit(shared ? c->scratch : c->arena, c->machine, c->module, assembly, &code,
                       &c->log) &&
           (assembly || target_is_closed(code, &c->log));
    c->times.emit = lap(&clock);
    if (!fine) return false;
    *output = code;
    if (!shared) return true;
    fine = target_link(c->arena, options->target, code, options->entry, output, &c->log);
    c->times.link = lap(&clock);
    return fine;
}

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenCpuOptions *options,
                         Str *output, Diags *diags) {
    if (!cpu_check(func, options->target, diags)) return false;
    codegen_start();
    Compile c = {.arena = arena, .scratch = arena_create(), .func = func, .options = options};
    c.log = (TargetLog){.diags = diags, .span = func->span};
    bool fine = emit(&c, output);
    LLVMDisposeTargetMachine(c.machine);
    LLVMDisposeModule(c.module);
    LLVMContextDispose(c.context);
    arena_destroy(c.scratch);
    if (options->times) *options->times = c.times;
    return fine;
}
