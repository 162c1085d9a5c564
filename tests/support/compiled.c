#include "tests/support/compiled.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/os/os_memory.h"
#include "ir/verify/verify.h"
#include "tests/support/arg_block.h"
// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

bool compiled_output(Tir *t, CpuTarget target, CodegenOutput output, bool lines, Str *text) {
    CodegenOptions options = {
        .target.cpu = target, .output = output, .entry = STR("kernel_entry"), .lines = lines};
    const IrFunc *func = t->module->funcs.data[0];
    return codegen_plugin()->compile(t->arena, func, &options, text, t->diags);
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
        if (op->code != IR_VEC_PRINT || ir_attr_int(op, IR_ATTR_SITE) != (int64_t)site) continue;
        for (uint32_t i = 0; i < op->operand_count; i++) {
            uint32_t bytes;
            memcpy(&bytes, values[i], sizeof bytes);
            strbuf_printf(&k->printed, " %08x", bytes);
        }
    }
    strbuf_char(&k->printed, '\n');
}

// ---- loading ------------------------------------------------------------------------------------

static void print_diagnostics(const Tir *t) {
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
        print_diagnostics(t);
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

void compiled_part(Compiled *k, const IrArg *args, uint32_t count, int64_t first, int64_t last) {
    memset(k->scratch, 0xa5, COMPILED_SCRATCH);
    uint32_t size;
    k->entry(arg_block(k->arena, k->func, args, count, &size), first, last, k->scratch,
             &k->services);
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
