#include "codegen/common/target.h"

#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm_shim.h"

// ---- LLVM's diagnostics -------------------------------------------------------------------------

void target_refused(TargetLog *log, DiagCode code, const char *what, const char *text) {
    log->errors++;
    diag_error(log->diags, log->span, code, "%s: %s", what, text);
}

void target_failed(TargetLog *log, const char *what, const char *text) {
    target_refused(log, DIAG_DEFECT, what, text);
}

// AMD: the private memory of a thread is limited, and only LLVM knows which values do not fit
// registers.
static bool refuse_stack(TargetLog *log, const char *text) {
    if (!text || !strstr(text, "stack frame size")) return false;
    target_refused(log, DIAG_LIMIT,
                   "the values of a thread fit neither registers nor its own memory", text);
    diag_help(log->diags,
              "use smaller tiles, more warps, or loops that run (`for`) instead of `for const`");
    return true;
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
    TargetLog *log = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    if (!refuse_stack(log, text)) target_failed(log, "LLVM", text ? text : "no memory");
    LLVMDisposeMessage(text);
}

void target_log(LLVMContextRef context, TargetLog *log) {
    LLVMContextSetDiagnosticHandler(context, on_diagnostic, log);
}

// ---- to code ------------------------------------------------------------------------------------

bool target_passes(LLVMTargetMachineRef machine, LLVMModuleRef module, const char *passes,
                   TargetLog *log) {
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error) return log->errors == 0;
    char *text = LLVMGetErrorMessage(error);
    target_failed(log, "LLVM", text);
    LLVMDisposeErrorMessage(text);
    return false;
}

// Our passes have already optimised the loops; LLVM only cleans up between them.
bool target_optimise(LLVMTargetMachineRef machine, LLVMModuleRef module, bool hurried,
                     TargetLog *log) {
    static const char passes[] =
        "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)";
    return target_passes(machine, module, hurried ? "function(early-cse)" : passes, log);
}

bool target_emit(Arena *arena, LLVMTargetMachineRef machine, LLVMModuleRef module, bool assembly,
                 const char *const *without, Str *output, TargetLog *log) {
    char *message = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (!codegen_emit(machine, module, assembly, without, &message, &buffer)) {
        target_failed(log, "LLVM", message ? message : "no memory");
        free(message);
        return false;
    }
    size_t size = LLVMGetBufferSize(buffer);
    *output = (Str){arena_text(arena, LLVMGetBufferStart(buffer), size), size};
    LLVMDisposeMemoryBuffer(buffer);
    return log->errors == 0;
}
