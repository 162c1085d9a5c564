// A built library as LLVM IR, for functions f and g of x86-64:
//
//     @tilec.bytes = private constant [… x i8] c"…", section ".rodata.tilec", align 16
//     @tilec.entries = private constant [… x ptr] [ptr @softmax_v3, …]
//     @tilec.archive = private constant { … } { magic, …, ptr @tilec.bytes, …, ptr @tilec.entries }
//     @kernels_archive = alias { … }, ptr @tilec.archive
//     define i32 @f(ptr %stream, ptr byval([120 x i8]) align 8 %0, i8 %1) {
//         %values = alloca [2 x ptr]        ; %0 and where %1 has been stored
//         %r = call i32 @tilec_archive_call(ptr @tilec.archive, i32 0, ptr %stream, ptr %values)
//         ret i32 %r
//
// A program that is not position independent has its own copy of the public archive of a shared
// library (COPY relocations). Stubs use the private constant, not the public name.
#include "codegen/cpu/library.h"

#include <llvm-c/Core.h>
#include <string.h>

#include "base/os/os.h"
#include "codegen/common/module.h"
#include "codegen/cpu/target.h"
#include "codegen/llvm_shim.h"

#define OF_FUNCTION ((LLVMAttributeIndex)LLVMAttributeFunctionIndex)  // the enumerator is negative
// Code reaches the rest of its library by offsets of 32 bits.
enum { BYTES_MAX = INT32_MAX / 2, BYTES_ALIGN = 16, VIEW_ALIGN = 8, FIXED_PARAMS = 1 };

typedef struct Library {
    Module m;
    const CodegenLibrary *given;
    LLVMTypeRef p, i8, i32, i64, view;
    LLVMTypeRef call_type;
    LLVMValueRef call, archive;
} Library;

// ---- symbols ------------------------------------------------------------------------------------

// LLVM would rename the second symbol of the same name.
static bool is_free(Library *l, const char *symbol) {
    if (!LLVMGetNamedFunction(l->m.module, symbol) && !LLVMGetNamedGlobal(l->m.module, symbol) &&
        !LLVMGetNamedGlobalAlias(l->m.module, symbol, strlen(symbol)))
        return true;
    l->m.log.errors++;
    diag_error(l->m.log.diags, l->m.log.span, DIAG_DUPLICATE_NAME,
               "the library would have two symbols '%s'", symbol);
    return false;
}

static const char *text_of(Library *l, Str s) { return arena_text(l->m.scratch, s.text, s.size); }

static LLVMValueRef constant(Library *l, const char *name, LLVMValueRef value, bool is_private) {
    LLVMValueRef made = LLVMAddGlobal(l->m.module, LLVMTypeOf(value), name);
    LLVMSetInitializer(made, value);
    LLVMSetGlobalConstant(made, true);
    if (is_private) LLVMSetLinkage(made, LLVMPrivateLinkage);
    return made;
}

static void attribute(Library *l, LLVMValueRef function, unsigned index, const char *name,
                      uint64_t value) {
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(l->m.context, kind, value));
}

// ---- data ---------------------------------------------------------------------------------------

static LLVMValueRef bytes_of(Library *l) {
    Str bytes = l->given->bytes;
    LLVMValueRef all = LLVMConstDataArray(l->i8, bytes.size ? bytes.text : "", bytes.size);
    LLVMValueRef made = constant(l, "tilec.bytes", all, true);
    LLVMSetSection(made, ".rodata.tilec");
    LLVMSetAlignment(made, BYTES_ALIGN);
    return made;
}

// An entry may occur several times.
static LLVMValueRef entry_of(Library *l, Str symbol) {
    const char *name = text_of(l, symbol);
    LLVMValueRef function = LLVMGetNamedFunction(l->m.module, name);
    if (function && function != l->call) return function;
    if (!is_free(l, name)) return LLVMConstNull(l->p);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(l->m.context), NULL, 0, false);
    function = LLVMAddFunction(l->m.module, name, type);
    LLVMSetVisibility(function, LLVMHiddenVisibility);
    return function;
}

static LLVMValueRef entries_of(Library *l) {
    uint32_t count = l->given->entry_count;
    if (!count) return LLVMConstNull(l->p);
    LLVMValueRef *all = arena_new(l->m.scratch, LLVMValueRef, count);
    for (uint32_t i = 0; i < count; i++) all[i] = entry_of(l, l->given->entries[i]);
    return constant(l, "tilec.entries", LLVMConstArray2(l->p, all, count), true);
}

static void add_archive(Library *l) {
    _Static_assert(sizeof(struct tilec_archive) == 48, "a member that is not below");
    const CodegenLibrary *given = l->given;
    const char *name = text_of(l, given->archive_symbol);
    LLVMValueRef entries = entries_of(l);
    LLVMValueRef members[] = {LLVMConstInt(l->i64, ARCHIVE_MAGIC, false),
                              LLVMConstInt(l->i32, ARCHIVE_ABI, false),
                              LLVMConstInt(l->i32, sizeof(struct tilec_archive), false),
                              LLVMConstInt(l->i32, CPU_ABI_VERSION, false),
                              LLVMConstInt(l->i32, given->entry_count, false),
                              bytes_of(l),
                              LLVMConstInt(l->i64, given->bytes.size, false),
                              entries};
    LLVMValueRef all =
        LLVMConstStructInContext(l->m.context, members, sizeof members / sizeof *members, false);
    if (!is_free(l, name)) return;
    // Stubs use this object's own archive, even if another one in the process has the same name.
    l->archive = constant(l, "tilec.archive", all, true);
    LLVMAddAlias2(l->m.module, LLVMTypeOf(all), 0, l->archive, name);
}

// ---- functions ----------------------------------------------------------------------------------

static LLVMTypeRef type_of(const Library *l, ArchiveValue value) {
    switch (value) {
    case ARCHIVE_VIEW:
    case ARCHIVE_POINTER: return l->p;
    case ARCHIVE_I8: return l->i8;
    case ARCHIVE_I16: return LLVMInt16TypeInContext(l->m.context);
    case ARCHIVE_I32: return l->i32;
    case ARCHIVE_I64: return l->i64;
    case ARCHIVE_F32: return LLVMFloatTypeInContext(l->m.context);
    case ARCHIVE_F64: return LLVMDoubleTypeInContext(l->m.context);
    }
    UNREACHABLE("archive value %d", (int)value);
}

// AArch64 passes the address of a copy that belongs to the callee, which needs no attribute.
static void pass_view(Library *l, LLVMValueRef function, unsigned index) {
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
    if (l->given->host.level == CPU_AARCH64) return;
    LLVMAddAttributeAtIndex(function, index, LLVMCreateTypeAttribute(l->m.context, kind, l->view));
    attribute(l, function, index, "align", VIEW_ALIGN);
}

static LLVMValueRef declare(Library *l, const CodegenStub *stub, const char *name) {
    uint32_t count = stub->value_count;
    LLVMTypeRef *types = arena_new(l->m.scratch, LLVMTypeRef, count + FIXED_PARAMS);
    types[0] = l->p;
    for (uint32_t i = 0; i < count; i++) types[i + FIXED_PARAMS] = type_of(l, stub->values[i]);
    LLVMTypeRef type = LLVMFunctionType(l->i32, types, count + FIXED_PARAMS, false);
    LLVMValueRef function = LLVMAddFunction(l->m.module, name, type);
    for (uint32_t i = 0; i < count; i++)  // attributes number parameters from 1
        if (stub->values[i] == ARCHIVE_VIEW) pass_view(l, function, i + FIXED_PARAMS + 1);
    attribute(l, function, OF_FUNCTION, "nounwind", 0);
    attribute(l, function, OF_FUNCTION, "uwtable", 2);
    return function;
}

// The address of argument i; arguments in registers are stored first.
static LLVMValueRef argument_slot(LLVMBuilderRef b, LLVMValueRef function, ArchiveValue value,
                                  uint32_t i) {
    LLVMValueRef given = LLVMGetParam(function, i + FIXED_PARAMS);
    if (value == ARCHIVE_VIEW) return given;
    LLVMValueRef place = LLVMBuildAlloca(b, LLVMTypeOf(given), "");
    LLVMBuildStore(b, given, place);
    return place;
}

static void add_stub(Library *l, LLVMBuilderRef b, uint32_t number) {
    const CodegenStub *stub = &l->given->stubs[number];
    const char *name = text_of(l, stub->symbol);
    if (!is_free(l, name)) return;
    LLVMValueRef function = declare(l, stub, name);
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(l->m.context, function, ""));
    LLVMValueRef count = LLVMConstInt(l->i32, stub->value_count, false);
    LLVMValueRef values = LLVMBuildArrayAlloca(b, l->p, count, "");
    for (uint32_t i = 0; i < stub->value_count; i++) {
        LLVMValueRef at = LLVMConstInt(l->i64, i, false);
        LLVMBuildStore(b, argument_slot(b, function, stub->values[i], i),
                       LLVMBuildInBoundsGEP2(b, l->p, values, &at, 1, ""));
    }
    LLVMValueRef args[] = {l->archive, LLVMConstInt(l->i32, number, false),
                           LLVMGetParam(function, 0), values};
    LLVMBuildRet(b, LLVMBuildCall2(b, l->call_type, l->call, args, 4, ""));
}

static void add_stubs(Library *l) {
    LLVMBuilderRef b = LLVMCreateBuilderInContext(l->m.context);
    for (uint32_t i = 0; i < l->given->stub_count; i++) add_stub(l, b, i);
    LLVMDisposeBuilder(b);
}

// ---- the library --------------------------------------------------------------------------------

static void add_types(Library *l) {
    LLVMContextRef context = l->m.context;
    l->p = LLVMPointerTypeInContext(context, 0);
    l->i8 = LLVMInt8TypeInContext(context);
    l->i32 = LLVMInt32TypeInContext(context);
    l->i64 = LLVMInt64TypeInContext(context);
    l->view = LLVMArrayType2(l->i8, ARCHIVE_VIEW_BYTES);
    LLVMTypeRef params[] = {l->p, l->i32, l->p, l->p};
    l->call_type = LLVMFunctionType(l->i32, params, 4, false);
    l->call = LLVMAddFunction(l->m.module, ARCHIVE_CALL_SYMBOL, l->call_type);
}

static bool build(Library *l) {
    add_types(l);
    add_archive(l);
    if (l->m.log.errors) return false;
    add_stubs(l);
    return l->m.log.errors == 0 && module_verify(&l->m);
}

bool codegen_cpu_library(Arena *arena, const CodegenLibrary *library, Str *object, Diags *diags) {
    if (library->bytes.size > BYTES_MAX) {
        diag_error(diags, (Span){0}, DIAG_TOO_LARGE,
                   "the library's packed code has %zu bytes; %d are the most", library->bytes.size,
                   BYTES_MAX);
        return false;
    }
    codegen_start();
    Library l = {.m = {.arena = arena, .log = {.diags = diags}}, .given = library};
    const char *name =
        arena_text(arena, library->archive_symbol.text, library->archive_symbol.size);
    module_begin(&l.m, name, target_machine(target_baseline(library->host), false));
    bool fine =
        build(&l) && target_emit(arena, l.m.machine, l.m.module, false, NULL, object, &l.m.log);
    module_end(&l.m);
    return fine;
}
