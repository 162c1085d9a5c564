// Links objects to a shared library that needs the runtime.
//
// The linker reads in the runtime's file which symbols it has, and the name by which the loader
// finds it. That file need not exist here: we link against a library of that name whose functions
// are empty.
#include <llvm-c/Core.h>

#include "base/os/os_memory.h"
#include "codegen/common/link.h"
#include "codegen/common/module.h"
#include "codegen/cpu/library.h"
#include "codegen/cpu/target.h"
#include "codegen/llvm_shim.h"

// ---- the runtime's place ------------------------------------------------------------------------

static void add_function(void *user, const char *name, bool hidden) {
    Module *m = user;
    if (hidden || !str_starts(str(name), STR("tilec_"))) return;
    if (LLVMGetNamedFunction(m->module, name)) return;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), NULL, 0, false);
    LLVMValueRef function = LLVMAddFunction(m->module, name, type);
    LLVMBuilderRef b = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(m->context, function, ""));
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

static bool add_functions(Module *m, const CodegenSharedLibrary *library) {
    for (uint32_t i = 0; i < library->object_count; i++) {
        if (target_undefined(library->objects[i], add_function, m)) continue;
        m->log.errors++;
        diag_error(m->log.diags, m->log.span, DIAG_DEFECT, "object %u of the library is none", i);
        return false;
    }
    return module_verify(m);
}

static bool runtime_make(Arena *arena, const CodegenSharedLibrary *library, const char *soname,
                         Str *shared, Diags *diags) {
    CpuTarget host = target_baseline(library->host);
    Module m = {.arena = arena, .log = {.diags = diags}};
    Str object;
    module_begin(&m, soname, target_machine(host, true));
    const char *args[] = {"-m", target_emulation(host), "-shared", "-soname", soname};
    bool fine = add_functions(&m, library) &&
                target_emit(m.scratch, m.machine, m.module, false, NULL, &object, &m.log) &&
                link_in_memory(arena, sizeof args / sizeof *args, args, 1, &object, shared, &m.log);
    module_end(&m);
    return fine;
}

// ---- link ---------------------------------------------------------------------------------------

// Names in quotes are not patterns.
static Str version_script(Arena *arena, const CodegenSharedLibrary *library) {
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "{\n");
    if (library->export_count) strbuf_printf(&b, "global:\n");
    for (uint32_t i = 0; i < library->export_count; i++)
        strbuf_printf(&b, "    \"%.*s\";\n", STR_ARG(library->exports[i]));
    strbuf_printf(&b, "local: *;\n};\n");
    return strbuf_str(&b);
}

static bool link_objects(Arena *arena, const CodegenSharedLibrary *library, const char *runtime,
                         const char *versions, Str *shared, TargetLog *log) {
    const char *args[] = {"-m",
                          target_emulation(library->host),
                          "-shared",
                          "-soname",
                          arena_printf(arena, "%.*s", STR_ARG(library->soname)),
                          "--version-script",
                          versions,
                          "--no-undefined",
                          "--no-undefined-version",
                          "--hash-style=both",
                          "--eh-frame-hdr",
                          "--build-id=sha1",
                          "-z",
                          "relro",
                          "-z",
                          "now",
                          "-z",
                          "noexecstack",
                          "--no-as-needed",
                          runtime};
    return link_in_memory(arena, sizeof args / sizeof *args, args, library->object_count,
                          library->objects, shared, log);
}

// Links while both files are open.
static bool link_with(Arena *arena, const CodegenSharedLibrary *library, Str runtime, Str *shared,
                      TargetLog *log) {
    OsError error = {0};
    OsMemoryFile files[2];
    Str contents[] = {runtime, version_script(arena, library)};
    uint32_t open = 0;
    while (open < 2 && os_memory_file_open(contents[open], &files[open], &error)) open++;
    bool fine = open == 2;
    if (!fine) target_refused(log, DIAG_IO, "the library needs a file in memory", error.text);
    if (fine) fine = link_objects(arena, library, files[0].path, files[1].path, shared, log);
    while (open) os_memory_file_close(&files[--open]);
    return fine;
}

bool codegen_cpu_link_shared(Arena *arena, const CodegenSharedLibrary *library, Str *shared,
                             Diags *diags) {
    codegen_start();
    TargetLog log = {.diags = diags};
    Str runtime;
    const char *soname = arena_text(arena, library->runtime.text, library->runtime.size);
    return runtime_make(arena, library, soname, &runtime, diags) &&
           link_with(arena, library, runtime, shared, &log);
}
