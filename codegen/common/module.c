#include "codegen/common/module.h"

#include <llvm-c/Analysis.h>
#include <string.h>

#include "base/os.h"
#include "codegen/common/lines.h"
#include "codegen/llvm_shim.h"

// ---- begin and end ------------------------------------------------------------------------------

// What LLVM was in the middle of cannot be ended: it stays.
static void release(Owned *owned) {
    Module *m = (Module *)owned;
    if (codegen_llvm_is_broken()) return;
    LLVMDisposeTargetMachine(m->machine);
    LLVMDisposeModule(m->module);
    LLVMContextDispose(m->context);
}

void module_begin(Module *m, const char *name, LLVMTargetMachineRef machine) {
    m->scratch = arena_create();
    m->context = LLVMContextCreate();
    target_log(m->context, &m->log);
    m->module = LLVMModuleCreateWithNameInContext(name, m->context);
    m->machine = machine;
    recover_own(&m->owned, OWNED_FRAME, release);
    char *triple = LLVMGetTargetMachineTriple(m->machine);
    if (!triple) os_out_of_memory();
    LLVMSetTarget(m->module, triple);
    LLVMDisposeMessage(triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);
    LLVMSetModuleDataLayout(m->module, layout);
    LLVMDisposeTargetData(layout);
}

void module_end(Module *m) {
    recover_keep(&m->owned);
    release(&m->owned);
    arena_destroy(m->scratch);
}

// ---- steps --------------------------------------------------------------------------------------

bool module_verify(Module *m) {
    char *message = NULL;
    bool wrong = LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message);
    if (wrong) {
        m->log.errors++;
        diag_error(m->log.diags, m->log.span, DIAG_DEFECT, "LLVM IR is not well formed: %s",
                   message ? message : "no memory");
    }
    LLVMDisposeMessage(message);
    return !wrong && m->log.errors == 0;
}

static bool build(Module *m, const char *entry) {
    const ModuleTarget *target = m->target;
    Gen *g = target->gen(m);
    g->context = m->context;
    g->module = m->module;
    gen_begin(g, m->scratch, target->ops, m->func);
    g->remarks = m->way ? NULL : m->options->remarks;
    if (m->options->lines)
        g->lines = lines_create(m->scratch, m->context, m->module, m->func, target->directives);
    target->function(g, entry);
    if (g->lines) lines_finish(g->lines);
    LLVMDisposeBuilder(g->b);
    return module_verify(m);
}

static void print(const Module *m, Str *output) {
    char *text = LLVMPrintModuleToString(m->module);
    if (!text) os_out_of_memory();
    *output = (Str){arena_text(m->arena, text, strlen(text)), strlen(text)};
    LLVMDisposeMessage(text);
}

static bool optimise(Module *m) {
    const char *more = m->target->passes;
    if (m->options->quick) return true;
    return target_optimise(m->machine, m->module, &m->log) &&
           (!more || target_passes(m->machine, m->module, more, &m->log));
}

// Nanoseconds since *from, which becomes now.
static uint64_t lap(uint64_t *from) {
    uint64_t now = os_time_ns(), passed = now - *from;
    *from = now;
    return passed;
}

static bool emit(Module *m, const char *entry, Str *output) {
    CodegenOutput kind = m->options->output;
    uint64_t clock = os_time_ns();
    bool fine = build(m, entry);
    m->times.build = lap(&clock);
    if (!fine) return false;
    if (kind == CODEGEN_LLVM) {
        print(m, output);
        return true;
    }
    fine = optimise(m);
    if (fine && m->target->before_selection) m->target->before_selection(m);
    m->times.optimise = lap(&clock);
    Arena *arena = kind == CODEGEN_SHARED ? m->scratch : m->arena;
    fine = fine && target_emit(arena, m->machine, m->module, kind == CODEGEN_ASM,
                               m->target->without, output, &m->log);
    m->times.emit = lap(&clock);
    if (!fine || kind == CODEGEN_ASM || !m->target->finish) return fine;
    fine = m->target->finish(m, output);
    m->times.link = lap(&clock);
    return fine;
}

static bool compile_way(Module *m, Str *output) {
    const char *entry = arena_text(m->arena, m->options->entry.text, m->options->entry.size);
    module_begin(m, entry, m->target->machine(m));
    bool fine = emit(m, entry, output);
    CodegenTimes *times = m->options->times, own = m->times;
    if (times && m->way) {
        own.build += times->build, own.optimise += times->optimise;
        own.emit += times->emit, own.link += times->link;
    }
    if (times) *times = own;
    module_end(m);
    return fine;
}

static uint32_t fault_of(const Module *m, Str code) {
    bool counts = m->target->ways && m->options->output != CODEGEN_LLVM && !m->options->quick;
    return counts ? m->target->fault(m, code) : 0;
}

bool module_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                    const ModuleTarget *target, Str *output, Diags *diags) {
    uint32_t first = 0, least = UINT32_MAX;
    codegen_start();
    for (uint32_t way = 0; way == 0 || way < target->ways; way++) {
        if (way && !target->mends(way, least)) continue;
        Module m = {.arena = arena,
                    .target = target,
                    .func = func,
                    .options = options,
                    .way = way,
                    .fault = first,
                    .log = {.diags = diags, .span = func->span}};
        Str code = {0};
        if (!compile_way(&m, &code)) return false;
        uint32_t fault = fault_of(&m, code);
        if (!way) first = fault;
        if (fault < least) *output = code;
        if (fault < least) least = fault;
    }
    return true;
}
