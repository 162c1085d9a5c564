#include "codegen/common/module.h"

#include <llvm-c/Analysis.h>
#include <string.h>

#include "base/os/os.h"
#include "codegen/common/lines.h"
#include "codegen/llvm_shim.h"

// ---- begin and end ------------------------------------------------------------------------------

// Objects in which LLVM was interrupted cannot be freed: they stay.
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

// ---- long code ----------------------------------------------------------------------------------

// The time of some passes of LLVM grows with the square of a block's length, or of the number of
// blocks. Up to LONG instructions of LLVM we accept that; no kernel of the examples has more.
// Longer code is cut into blocks of BLOCK instructions and compiled without these passes. If that
// is not enough, machine code is made without optimisation (ModuleTarget). Code of more than MOST
// instructions is refused.
enum { LONG = 16384, BLOCK = 512, MOST = 262144 };

typedef struct Length {
    uint32_t instructions, blocks;
} Length;

static Length length_of(const Module *m) {
    Length n = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            n.blocks++;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                n.instructions++;
        }
    return n;
}

static bool refuse(const Module *m, uint32_t count) {
    diag_error(m->log.diags, m->log.span, DIAG_LIMIT,
               "the code of kernel '%s' is too long: %u instructions before LLVM optimises it, and "
               "at most %d are compiled",
               m->func->name, count, MOST);
    diag_help(
        m->log.diags,
        "use loops that run (`for`) instead of `for const`, smaller tiles, or several kernels");
    return false;
}

// Decides how to compile the module; false: it is refused.
static bool look_at_length(Module *m) {
    const ModuleTarget *t = m->target;
    Length n = length_of(m);
    m->is_ordered = t->ordered_from && n.instructions > t->ordered_from;
    if (n.instructions <= LONG || m->options->output == CODEGEN_LLVM) return true;
    if (n.instructions > MOST) return refuse(m, n.instructions);
    m->is_long = true;
    m->is_hurried = (t->hurried_from && n.instructions > t->hurried_from) ||
                    (t->hurried_blocks && n.blocks > t->hurried_blocks);
    if (m->is_hurried) codegen_hurry(m->machine);
    remark(m->options->remarks, m->func->span,
           m->is_hurried ? REASON_CODE_HURRIED : REASON_CODE_LONG, NULL,
           REMARK(n.instructions, LONG));
    return true;
}

// Runs after LLVM's passes on IR, because some of them would join the blocks again.
static void order_and_cut(const Module *m) {
    if (m->is_ordered) codegen_order_blocks(m->module);
    if (!m->is_long) return;
    codegen_cut_blocks(m->module, BLOCK);
    if (m->target->chains) codegen_break_chains(m->machine, m->module);
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
    gen_begin(g, m->scratch, target->ops, m->func, m->options->ranges);
    g->remarks = m->options->remarks;
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
    return target_optimise(m->machine, m->module, m->is_hurried, &m->log) &&
           (!more || target_passes(m->machine, m->module, more, &m->log));
}

// Nanoseconds since *from, which becomes now.
static uint64_t lap(uint64_t *from) {
    uint64_t now = os_time_ns(), passed = now - *from;
    *from = now;
    return passed;
}

static void collect_facts(const Module *m, Str code) {
    CodegenFacts *facts = m->options->facts;
    *facts = (CodegenFacts){.is_long = m->is_long};
    if (m->target->facts && m->options->output != CODEGEN_LLVM) m->target->facts(m, code, facts);
}

static bool emit(Module *m, const char *entry, Str *output) {
    CodegenOutput kind = m->options->output;
    uint64_t clock = os_time_ns();
    bool fine = build(m, entry);
    m->times.build = lap(&clock);
    if (!fine || !look_at_length(m)) return false;
    if (kind == CODEGEN_LLVM) {
        print(m, output);
        return true;
    }
    fine = optimise(m);
    if (fine && m->target->before_selection) m->target->before_selection(m);
    order_and_cut(m);
    m->times.optimise = lap(&clock);
    Arena *arena = kind == CODEGEN_SHARED ? m->scratch : m->arena;
    const char *const *skipped =
        m->is_long ? m->target->skipped_passes_long : m->target->skipped_passes;
    fine = fine &&
           target_emit(arena, m->machine, m->module, kind == CODEGEN_ASM, skipped, output, &m->log);
    m->times.emit = lap(&clock);
    if (!fine || kind == CODEGEN_ASM || !m->target->finish) return fine;
    fine = m->target->finish(m, output);
    m->times.link = lap(&clock);
    return fine;
}

bool module_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                    const ModuleTarget *target, Str *output, Diags *diags) {
    Module m = {.arena = arena,
                .target = target,
                .func = func,
                .options = options,
                .log = {.diags = diags, .span = func->span}};
    codegen_start();
    const char *entry = arena_text(arena, options->entry.text, options->entry.size);
    module_begin(&m, entry, target->machine(&m));
    bool fine = emit(&m, entry, output);
    if (fine && options->facts) collect_facts(&m, *output);
    if (options->times) *options->times = m.times;
    module_end(&m);
    return fine;
}
