#include "tests/support/op_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/diag.h"
#include "ir/interp/interp.h"

static const char frame[] =
    "kernel @k(%%x: view %s[N], %%y: view %s[N], %%z: view %s[N], %%out: view %s[N]) {\n"
    "  body {\n"
    "    %%0 = program {dim = 0} : i64\n"
    "    %%1 = const {value = %d} : i64\n"
    "    %%2 = mul %%0, %%1 : i64\n"
    "    %%3 = view_load %%x, _, %%2 {select = [%d], inside = [1]} : %s[%d]\n"
    "    %%4 = view_load %%y, _, %%2 {select = [%d], inside = [1]} : %s[%d]\n"
    "    %%5 = view_load %%z, _, %%2 {select = [%d], inside = [1]} : %s[%d]\n"
    "    %s\n"
    "    view_store %%out, %%9, _, %%2 {select = [%d], inside = [1]}\n"
    "    return\n"
    "  }\n"
    "}\n";

OpKernel op_kernel(const char *line, Dtype in, Dtype out, const char *passes,
                   const Machine *machine) {
    OpKernel k = {.w = pass_world()};
    const char *t = dtype_name(in);
    StrBuf text = strbuf(k.w.arena);
    strbuf_printf(&text, frame, t, t, t, dtype_name(out), OP_LANES, OP_LANES, t, OP_LANES, OP_LANES,
                  t, OP_LANES, OP_LANES, t, OP_LANES, line, OP_LANES);
    k.module = pass_parse(&k.w, text.text);
    k.func = k.module->funcs.data[0];
    size_t count;
    const PassStep *steps = passes_parse(k.w.arena, str(passes), &count, k.w.diags);
    PassOptions options = {.verify = true, .machine = machine};
    bool fine = steps && passes_run(k.module, steps, count, &options, k.w.diags);
    if (!fine) {
        StrBuf why = strbuf(k.w.arena);
        diags_text(k.w.diags, (DiagStyle){0}, &why);
        fail_msg("%s: %s", line, why.text);
    }
    return k;
}

void op_kernel_run(OpKernel *k, size_t count, const void *x, const void *y, const void *z,
                   void *r) {
    assert_int_equal(count % OP_LANES, 0);
    // Arrays that are not given are not looked at; any memory of the size will do.
    union {
        const void *given;
        void *data;
    } in[4] = {{x}, {y ? y : x}, {z ? z : x}, {r}};
    IrArg args[4] = {{0}};
    for (int i = 0; i < 4; i++) {
        args[i].data = in[i].data;
        args[i].extent[0] = (int64_t)count;
        args[i].stride[0] = 1;
    }
    IrLaunch launch = {.args = args, .arg_count = 4};
    launch.grid[0] = (int64_t)(count / OP_LANES);
    launch.grid[1] = launch.grid[2] = 1;
    IrInterp *interp = ir_interp_create(k->w.arena, k->func);
    assert_int_equal(ir_interp_run(interp, &launch, k->w.diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

void op_kernel_free(OpKernel *k) { pass_world_free(&k->w); }
