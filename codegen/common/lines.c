#include "codegen/common/lines.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

enum { DWARF_VERSION = 5, DIRECTIVES = 3 };  // the C API has no name for the latter

typedef struct FileScope {
    const SourceFile *source;
    LLVMMetadataRef file;
    LLVMMetadataRef scope;  // the scope of locations in this file
} FileScope;

struct GenLines {
    Arena *arena;
    const Sources *sources;
    LLVMContextRef context;
    LLVMDIBuilderRef di;
    LLVMMetadataRef function;
    Span kernel;
    VEC(FileScope) files;
};

static LLVMMetadataRef file_of(GenLines *lines, const SourceFile *source) {
    Str path = source->path.size ? source->path : STR("source");  // LLVM refuses files without name
    return LLVMDIBuilderCreateFile(lines->di, path.text, path.size, ".", 1);
}

static void flag(LLVMContextRef context, LLVMModuleRef module, const char *name, unsigned value) {
    LLVMValueRef v = LLVMConstInt(LLVMInt32TypeInContext(context), value, false);
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(v));
}

GenLines *lines_create(Arena *arena, LLVMContextRef context, LLVMModuleRef module,
                       const IrFunc *func, bool directives) {
    const Sources *sources = func->module->sources;
    SourceLine at = source_line(sources, func->span.begin);
    if (!at.file) return NULL;
    GenLines *lines = arena_new(arena, GenLines, 1);
    *lines = (GenLines){.arena = arena, .sources = sources, .context = context};
    lines->kernel = func->span;
    lines->di = LLVMCreateDIBuilder(module);
    FileScope main = {.source = at.file, .file = file_of(lines, at.file)};
    vec_push(arena, &lines->files, main);
    LLVMDIBuilderCreateCompileUnit(
        lines->di, LLVMDWARFSourceLanguageC11, main.file, "tilec", 5, true, "", 0, 0, "", 0,
        directives ? DIRECTIVES : LLVMDWARFEmissionFull, 0, false, false, "", 0, "", 0);
    flag(context, module, "Dwarf Version", DWARF_VERSION);
    flag(context, module, "Debug Info Version", LLVMDebugMetadataVersion());
    return lines;
}

void lines_function(GenLines *lines, LLVMBuilderRef b, const IrFunc *func, LLVMValueRef function) {
    FileScope *main = &lines->files.data[0];
    unsigned line = source_line(lines->sources, func->span.begin).line;
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(lines->di, main->file, NULL, 0, LLVMDIFlagZero);
    // There is no linkage name: gdb would show it instead of the kernel's name, and `break` would
    // need it.
    lines->function = LLVMDIBuilderCreateFunction(lines->di, main->file, func->name,
                                                  symbol_size(func->name), "", 0, main->file, line,
                                                  type, false, true, line, LLVMDIFlagZero, true);
    main->scope = lines->function;
    LLVMSetSubprogram(function, lines->function);
    lines_at(lines, b, func->span);
}

static LLVMMetadataRef scope_in(GenLines *lines, const SourceFile *source) {
    for (size_t i = 0; i < lines->files.count; i++)
        if (lines->files.data[i].source == source) return lines->files.data[i].scope;
    FileScope more = {.source = source, .file = file_of(lines, source)};
    more.scope = LLVMDIBuilderCreateLexicalBlockFile(lines->di, lines->function, more.file, 0);
    vec_push(lines->arena, &lines->files, more);
    return more.scope;
}

void lines_at(GenLines *lines, LLVMBuilderRef b, Span span) {
    SourceLine at = source_line(lines->sources, span.begin);
    if (!at.file) at = source_line(lines->sources, lines->kernel.begin);
    LLVMMetadataRef scope = scope_in(lines, at.file);
    LLVMSetCurrentDebugLocation2(
        b, LLVMDIBuilderCreateDebugLocation(lines->context, at.line, at.column, scope, NULL));
}

void lines_finish(GenLines *lines) {
    LLVMDIBuilderFinalize(lines->di);
    LLVMDisposeDIBuilder(lines->di);
    lines->di = NULL;
}
