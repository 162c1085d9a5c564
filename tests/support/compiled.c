#include "tests/support/compiled.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os_memory.h"
#include "ir/verify.h"
#include "runtime/meta.h"
// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

const CodegenApi *codegen_plugin(void) {
    static const char path[] = TEST_BINARY_DIR "/libtilec_llvm.so";
    if (!os_path_exists(path)) {
        printf("skipped: %s was not built (LLVM is missing, see the output of cmake)\n", path);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) fail_msg("%s", dlerror());
    CodegenApiFunction *function = NULL;
    void *symbol = dlsym(library, CODEGEN_API_SYMBOL);
    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    const CodegenApi *api = function();
    assert_int_equal(api->version, CODEGEN_VERSION);
    assert_string_equal(api->build, CODEGEN_BUILD_TEXT);
    return api;
}

bool compiled_output(Tir *t, CpuTarget target, CodegenOutput output, bool lines, Str *text) {
    CodegenCpuOptions options = {
        .target = target, .output = output, .entry = STR("kernel_entry"), .lines = lines};
    const IrFunc *func = t->module->funcs.data[0];
    return codegen_plugin()->cpu_compile(t->arena, func, &options, text, t->diags);
}

// ---- services -----------------------------------------------------------------------------------

static void on_assert(const CpuServices *services, int64_t program, int64_t lane, uint32_t site) {
    Compiled *k = services->user;
    Failure failure = {program, lane, site};
    vec_push(k->arena, &k->failures, failure);
}

// Each value as hex of its first four bytes; how many there are is said by the op.
static void on_print(const CpuServices *services, int64_t program, uint32_t site,
                     const void *const *values) {
    Compiled *k = services->user;
    strbuf_printf(&k->printed, "%lld %u:", (long long)program, site);
    for (const IrOp *op = ir_body(k->func)->first; op; op = op->next) {
        if (op->code != IR_CPU_PRINT || ir_attr_int(op, IR_ATTR_SITE) != (int64_t)site) continue;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t bytes;
            memcpy(&bytes, values[i], sizeof bytes);
            strbuf_printf(&k->printed, " %08x", bytes);
        }
    }
    strbuf_char(&k->printed, '\n');
}

// ---- loading ------------------------------------------------------------------------------------

static void said(const Tir *t) {
    StrBuf text = strbuf(t->arena);
    diags_text(t->diags, (DiagStyle){0}, &text);
    printf("%s", text.text);
}

Compiled *compiled_load(Tir *t, CpuTarget target) {
    Compiled *k = arena_new(t->arena, Compiled, 1);
    k->arena = t->arena;
    k->func = t->module->funcs.data[0];
    k->printed = strbuf(t->arena);
    if (!compiled_output(t, target, CODEGEN_SHARED, true, &k->image)) {
        said(t);
        fail_msg("the kernel does not compile");
    }
    OsError error;
    OsMemoryFile file;
    assert_true(os_memory_file_open(k->image, &file, &error));
    k->library = dlopen(file.path, RTLD_NOW | RTLD_LOCAL);
    os_memory_file_close(&file);
    if (!k->library) fail_msg("%s", dlerror());
    void *symbol = dlsym(k->library, "kernel_entry");
    assert_non_null(symbol);
    memcpy(&k->entry, &symbol, sizeof k->entry);
    k->scratch = aligned_alloc(CPU_SCRATCH_ALIGN, COMPILED_SCRATCH);
    assert_non_null(k->scratch);
    k->services = (CpuServices){.assert_failed = on_assert,
                                .print = on_print,
                                .fmod = fmod,
                                .fmodf = fmodf,
                                .user = k,
                                .cancel = &k->cancel};
    return k;
}

void compiled_free(Compiled *k) {
    free(k->scratch);
    dlclose(k->library);
}

// ---- running ------------------------------------------------------------------------------------

static MetaArg meta_of(const IrParam *param) {
    const IrType *t = param->value->type;
    return (MetaArg){.kind = t->kind == IR_TILE  ? META_SCALAR
                             : t->kind == IR_PTR ? META_POINTER
                                                 : META_VIEW,
                     .dtype = t->elem,
                     .rank = t->rank,
                     .strided = param->strided};
}

static unsigned char *pack(Compiled *k, const IrArg *args, uint32_t count) {
    MetaArg *meta = arena_new(k->arena, MetaArg, count + 1);
    for (uint32_t i = 0; i < count; i++) meta[i] = meta_of(&k->func->params.data[i]);
    uint32_t size = 0;
    meta_layout(meta, count, &size);
    unsigned char *block = arena_alloc(k->arena, size + 8);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char *to = block + meta[i].offset;
        if (meta[i].kind == META_SCALAR) {
            memcpy(to, &args[i].bits, dtype_size(meta[i].dtype));
            continue;
        }
        memcpy(to, &args[i].data, 8);
        if (meta[i].kind == META_POINTER) continue;
        memcpy(to + 8, args[i].extent, 8 * (size_t)meta[i].rank);
        if (meta[i].strided)
            memcpy(to + 8 + 8 * (size_t)meta[i].rank, args[i].stride, 8 * (size_t)meta[i].rank);
    }
    return block;
}

void compiled_part(Compiled *k, const IrArg *args, uint32_t count, int64_t first, int64_t last) {
    memset(k->scratch, 0xa5, COMPILED_SCRATCH);
    k->entry(pack(k, args, count), first, last, k->scratch, &k->services);
}

void compiled_run(Compiled *k, const IrArg *args, uint32_t count, const int64_t grid[3]) {
    memcpy(k->services.grid, grid, sizeof k->services.grid);
    compiled_part(k, args, count, 0, grid[0] * grid[1] * grid[2]);
}

uint32_t compiled_targets(CpuTarget targets[4]) {
    CpuTarget native = cpu_native();
    uint32_t count = 0;
    for (CpuLevel level = CPU_X86_64_V2; level <= CPU_X86_64_V4; level++)
        if (cpu_runs(native, (CpuTarget){level, 0})) targets[count++] = (CpuTarget){level, 0};
    targets[count++] = native;
    return count;
}
