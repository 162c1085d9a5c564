// Places of shared memory: pieces share only where a barrier, and for copies a wait, is between.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ir/build.h"
#include "tests/support/pass_world.h"

#define KERNEL(body) KERNEL_OF("64", body)
#define KERNEL_OF(second, body)                                                        \
    "kernel @k(%x: *f32) {level = thread, warps = 1} {\n"                              \
    "  body {\n"                                                                       \
    "    %0 = thread.load %x, _, _ {align = 4} : f32\n"                                \
    "    %1 = thread.shared {elem = f32, count = 33, place = 0} : *f32\n"              \
    "    %2 = thread.shared {elem = f32, count = " second ", place = 0} : *f32\n" body \
    "    return\n"                                                                     \
    "  }\n"                                                                            \
    "}\n"
#define BARRIER "    thread.barrier\n"
#define STORE_A "    thread.store %1, %0, _ {align = 4}\n"
#define STORE_B "    thread.store %2, %0, _ {align = 4}\n"
#define COPY_A "    thread.copy %1, %x, _ {count = 4}\n    thread.commit\n"
#define WAIT(n) "    thread.wait {count = " #n "}\n"

static void places(const char *text, int64_t found[2]) {
    PassWorld w = pass_world();
    IrModule *m = pass_parse(&w, text);
    pass_run(&w, m, "gpu_place");
    int count = 0;
    for (const IrOp *op = ir_body(m->funcs.data[0])->first; op; op = op->next)
        if (op->code == IR_THREAD_SHARED) found[count++] = ir_attr_int(op, IR_ATTR_PLACE);
    assert_int_equal(count, 2);
    assert_false(pass_run(&w, m, "gpu_place"));
    pass_world_free(&w);
}

static void pieces_share_after_barriers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t second;
    } rows[] = {
        {KERNEL(STORE_A BARRIER STORE_B), 0},
        {KERNEL(STORE_A STORE_B BARRIER), 256},
        {KERNEL(STORE_A BARRIER STORE_B STORE_A), 256},
        {KERNEL(COPY_A BARRIER STORE_B), 256},
        {KERNEL(COPY_A WAIT(1) BARRIER STORE_B), 256},
        {KERNEL(COPY_A BARRIER WAIT(0) STORE_B), 256},
        {KERNEL(COPY_A WAIT(0) BARRIER STORE_B), 0},
        {KERNEL_OF("8", STORE_A BARRIER STORE_B), 256},  // too small to share
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t found[2];
        places(rows[i].text, found);
        assert_int_equal(found[0], 0);
        if (found[1] != rows[i].second)
            fail_msg("row %zu: expected %d, found %d", i, (int)rows[i].second, (int)found[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces_share_after_barriers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
