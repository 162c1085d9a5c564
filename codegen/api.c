// The table that libtilec_llvm exports.
#include "codegen/codegen.h"

#include "base/os/os.h"
#include "codegen/amdgpu/compile.h"
#include "codegen/amdgpu/disassemble.h"
#include "codegen/common/work.h"
#include "codegen/cpu/compile.h"
#include "codegen/cpu/library.h"
#include "codegen/llvm_shim.h"
#include "codegen/nvptx/compile.h"

#ifndef CODEGEN_LLVM_VERSION
#include <llvm/Config/llvm-config.h>
#define CODEGEN_LLVM_VERSION LLVM_VERSION_STRING
#endif

// The caller's recovery region belongs to its own library; this library does not know it.
static _Noreturn void end_without_memory(void (*no_memory)(void)) {
    if (no_memory) no_memory();
    os_die_out_of_memory();
}

static bool for_target(Arena *arena, const IrFunc *func, const CodegenOptions *options, Str *output,
                       Diags *diags) {
    switch (options->target.gpu.vendor) {
    case GPU_NONE: return codegen_cpu_compile(arena, func, options, output, diags);
    case GPU_NVIDIA: return codegen_nvptx_compile(arena, func, options, output, diags);
    case GPU_AMD: return codegen_amdgpu_compile(arena, func, options, output, diags);
    }
    UNREACHABLE("vendor %d", (int)options->target.gpu.vendor);
}

// One call of the table.
typedef struct Request {
    Arena *arena;
    const IrFunc *func;  // one of these three is set
    const CodegenLibrary *library;
    const CodegenSharedLibrary *shared;
    const CodegenOptions *options;  // options of `func`
    Str *output;
    Diags *diags;
} Request;

static bool run_request(const Request *r) {
    if (r->library) return codegen_cpu_library(r->arena, r->library, r->output, r->diags);
    if (r->shared) return codegen_cpu_link_shared(r->arena, r->shared, r->output, r->diags);
    return for_target(r->arena, r->func, r->options, r->output, r->diags);
}

static bool at_work(CodegenWork *work, const Request *request, void (*no_memory)(void)) {
    Recovery r;
    os_work_begin(&work->work);
    if (RECOVER_FAILED(&r)) {
        os_work_end(&work->work);
        end_without_memory(no_memory);
    }
    bool fine = run_request(request);
    recover_end(&r);
    os_work_end(&work->work);
    return fine;
}

static bool compile(Arena *arena, const IrFunc *func, const CodegenOptions *options, Str *output,
                    Diags *diags) {
    CodegenWork work = {{.on_defect = codegen_on_defect}, options->on_defect, options->user, false};
    Request r = {
        .arena = arena, .func = func, .options = options, .output = output, .diags = diags};
    return at_work(&work, &r, options->no_memory);
}

static bool library(Arena *arena, const CodegenLibrary *given, Str *object, Diags *diags) {
    CodegenWork work = {.work.on_defect = codegen_on_defect};
    Request r = {.arena = arena, .library = given, .output = object, .diags = diags};
    return at_work(&work, &r, given->no_memory);
}

static bool link_shared(Arena *arena, const CodegenSharedLibrary *given, Str *shared,
                        Diags *diags) {
    CodegenWork work = {.work.on_defect = codegen_on_defect};
    Request r = {.arena = arena, .shared = given, .output = shared, .diags = diags};
    return at_work(&work, &r, given->no_memory);
}

static const CodegenApi api = {
    .version = CODEGEN_VERSION,
    .build = CODEGEN_BUILD_TEXT,
    .llvm_version = CODEGEN_LLVM_VERSION,
    .compile = compile,
    .amd_disassemble = codegen_amd_disassemble,
    .library = library,
    .link_shared = link_shared,
};

const CodegenApi *tilec_codegen_api(void) {
    codegen_opened();
    return &api;
}

// LLVM cannot continue after this, and its frames cannot be unwound.
void codegen_fatal(const char *reason) { os_defect("LLVM", 0, "%s", reason); }
