#include "codegen/common/module.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/os.h"
#include "codegen/lld_shim.h"

// What LLVM was in the middle of cannot be ended: it stays.
static void release(Owned *owned) {
    Module *m = (Module *)owned;
    if (codegen_llvm_is_broken()) return;
    LLVMDisposeTargetMachine(m->machine);
    LLVMDisposeModule(m->module);
    LLVMContextDispose(m->context);
}

void module_begin(Module *m, const char *name, LLVMTargetMachineRef machine, const char *triple) {
    m->scratch = arena_create();
    m->context = LLVMContextCreate();
    target_log(m->context, &m->log);
    m->module = LLVMModuleCreateWithNameInContext(name, m->context);
    m->machine = machine;
    recover_own(&m->owned, OWNED_FRAME, release);
    LLVMSetTarget(m->module, triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->machine);
    LLVMSetModuleDataLayout(m->module, layout);
    LLVMDisposeTargetData(layout);
}

bool module_verify(Module *m) {
    char *message = NULL;
    bool wrong = LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message);
    if (wrong) {
        m->log.errors++;
        diag_error(m->log.diags, m->func->span, DIAG_DEFECT, "LLVM IR is not well formed: %s",
                   message);
    }
    LLVMDisposeMessage(message);
    return !wrong && m->log.errors == 0;
}

void module_text(Module *m, Str *output) {
    char *text = LLVMPrintModuleToString(m->module);
    *output = (Str){arena_text(m->arena, text, strlen(text)), strlen(text)};
    LLVMDisposeMessage(text);
}

void module_end(Module *m) {
    recover_keep(&m->owned);
    release(&m->owned);
    arena_destroy(m->scratch);
}

uint64_t module_lap(uint64_t *from) {
    uint64_t now = os_time_ns(), passed = now - *from;
    *from = now;
    return passed;
}
