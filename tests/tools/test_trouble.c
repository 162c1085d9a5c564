// Device cpu in a bad place: no compiler library, a cache that cannot be used, a disk that is full,
// a code generator that crashes. The command says so, and runs whatever can run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/tools/kernels.h"

// The kernel that the fake library has code for; the code adds 2, or 1 where the arrays may
// overlap.
static const char text[] =
    "kernel copy(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B];\n"
    "}\n";

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "good.tile", text_of(text));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// It makes that kernel, or does as $FAKE_PLUGIN says.
#define FAKE                                                                \
    "TILEC_LLVM_LIBRARY=" TEST_FAKE_PLUGIN " FAKE_KERNEL=" TEST_FAKE_KERNEL \
    " TILEC_CACHE_DIR=$PWD/store "
#define RUN "tilec run good.tile --set N=3 --device cpu"

// It runs, with one warning, which --quiet leaves out and --json has as a row.
static void warned(Tool *t, const char *variables, const char *warning) {
    tool_run(t, 0, FAKE "%s " RUN, variables);
    if (!tool_output_has(t, "y: f32[3] = ") || !tool_output_has(t, "tilec: warning: ") ||
        !tool_output_has(t, warning))
        fail_msg("%s: expected '%s', found: %.*s", variables, warning, STR_ARG(t->last.errors));
    tool_run(t, 0, FAKE "%s " RUN " --quiet", variables);
    assert_int_equal(t->last.output.size + t->last.errors.size, 0);
    const JsonValue *j = tool_json(t, 0, FAKE "%s " RUN " --json", variables);
    tool_number_at(j, "warnings", 1);
    tool_text_at(j, "diagnostics.0.code", "io");
}

static void without_a_library_only_the_cache_runs(void **state) {
    Tool *t = *state;
#define NONE FAKE "TILEC_LLVM_LIBRARY=/none/llvm.so "
    tool_run(t, 0, "mkdir -m 700 store");
    tool_fails(t, 4, "machine code cannot be made here", NONE RUN);
    tool_fails(t, 4, "note: /none/llvm.so: no such file", NONE RUN);
    tool_fails(t, 4, "help: install tilec's compiler library", NONE RUN);
    tool_prints(t, "y: f32[3] = ", NONE "tilec run good.tile --set N=3");
    tool_prints(t, "y: f32[3] = ", NONE RUN " --sanitize");
    tool_prints(t, "y: f32[3] = ", FAKE RUN);
    tool_prints(t, "y: f32[3] = ", NONE RUN);
}

static void a_useless_folder_is_a_warning(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "mkdir -m 700 real && ln -s real link && mkdir open && chmod 777 open");
    tool_run(t, 0, "touch file");
    warned(t, "TILEC_CACHE_DIR=$PWD/link", "link' cannot be used: ");
    warned(t, "TILEC_CACHE_DIR=$PWD/link", "symbolic link");
    warned(t, "TILEC_CACHE_DIR=$PWD/open", "others may write there");
    warned(t, "TILEC_CACHE_DIR=$PWD/file", "file' cannot be used: ");
    warned(t, "TILEC_CACHE_DIR=$PWD/file/below", "below' cannot be used: ");
    warned(t, "TILEC_CACHE_DIR=/dev/full", "'/dev/full' cannot be used: ");
    warned(t, "TILEC_CACHE=OFF", "TILEC_CACHE is 'OFF', expected on or off; using on");
    warned(t, "TILEC_COMPILE_IN_CHILD=yes", "TILEC_COMPILE_IN_CHILD is 'yes', expected 0 or 1");
    warned(t, "TILEC_CACHE_SIZE=much", "TILEC_CACHE_SIZE is 'much', expected a number of bytes");
    tool_run(t, 0, "rm file && rm -r real link open");
    tool_run(t, 0, "id -u");
    if (!tool_output_has(t, "0\n")) return;
    tool_run(t, 0, "mkdir -m 700 theirs && chown 65534 theirs");
    warned(t, "TILEC_CACHE_DIR=$PWD/theirs", "another user");
    tool_run(t, 0, "rmdir theirs");
}

// A limit on the size of files ends writes early, as a full disk does. It leaves room for the code,
// which may have to be loaded from a file in memory, but not for an entry of the cache around it.
static void a_full_disk_is_a_warning(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "rm -rf store; cp " TEST_FAKE_KERNEL
             " k.so; truncate -s %%512 k.so; trap '' XFSZ; "
             "ulimit -f $(($(stat -c %%s k.so) / 512)); " FAKE "FAKE_KERNEL=$PWD/k.so " RUN);
    assert_true(tool_output_has(t, "y: f32[3] = "));
    assert_true(tool_output_has(t, "tilec: warning: compiled kernels are not kept: cannot write "));
    tool_run(t, 0, "ls -A store | wc -l");
    assert_true(tool_output_has(t, "0\n"));
    tool_prints(t, "y: f32[3] = ", FAKE RUN);
    tool_run(t, 0, "ls -A store | wc -l");
    assert_true(tool_output_has(t, "1\n"));
}

static void a_full_file_system_is_a_warning(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "mkdir -m 700 small; unshare -rm mount -t tmpfs none small || echo cannot mount");
    if (tool_output_has(t, "cannot mount")) {
        print_message("skipped: this user mounts no file systems\n");
        return;
    }
    tool_run(t, 0,
             "unshare -rm sh -c 'mount -t tmpfs -o size=8k,mode=700 none small && " FAKE
             "TILEC_CACHE_DIR=$PWD/small " RUN " && ls -A small | wc -l'");
    assert_true(tool_output_has(t, "y: f32[3] = "));
    assert_true(tool_output_has(t, "tilec: warning: compiled kernels are not kept: cannot write "));
    assert_true(tool_output_has(t, "no space left on device"));
    assert_true(tool_output_has(t, "\n0\n"));
    tool_run(t, 0, "rmdir small");
}

static void a_damaged_entry_is_a_warning(void **state) {
    static const char *const damages[] = {
        "truncate -s 1000",
        "truncate -s 0",
        "truncate -s +1",
        "cp /dev/null",
        "dd if=/dev/urandom bs=5000 count=1 of=",
        "dd conv=notrunc bs=1 seek=77 count=1 if=/dev/urandom of=",
    };
    Tool *t = *state;
    tool_run(t, 0, FAKE RUN);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        bool joined = strchr(damages[i], '=') != NULL;
        tool_run(t, 0, "for f in store/*.so; do %s%s$f; done", damages[i], joined ? "" : " ");
        tool_run(t, 0, FAKE RUN);
        assert_true(tool_output_has(t, "y: f32[3] = "));
        if (!tool_output_has(t, "is not used, and is replaced: "))
            fail_msg("%s: %.*s", damages[i], STR_ARG(t->last.errors));
        tool_prints(t, "y: f32[3] = ", FAKE RUN);
    }
}

static void processes_fill_one_cache(void **state) {
    Tool *t = *state;
    tool_run(t, 0,
             "rm -rf store; for i in 1 2 3 4; do " FAKE RUN
             " >out$i 2>&1 & p=\"$p $!\"; done; for q in $p; do wait $q || exit 9; done; "
             "cmp out1 out2 && cmp out1 out3 && cmp out1 out4 && rm out?; ls -A store | wc -l");
    assert_true(tool_output_has(t, "1\n"));
    tool_run(t, 0, FAKE "tilec cache verify");
    assert_true(tool_output_has(t, "1 entry, 0 damaged"));
}

static void a_crash_in_a_child_is_told(void **state) {
    Tool *t = *state;
    tool_run(t, 0, "rm -rf store");
#define CHILD FAKE "TMPDIR=$PWD TILEC_COMPILE_IN_CHILD=1 "
    tool_run(t, 70, CHILD "FAKE_PLUGIN=abort " RUN);
    assert_true(tool_output_has(t, "the code generator crashed (signal 6) on kernel 'copy'"));
    assert_true(tool_output_has(t, "it said: LLVM ERROR: Cannot select"));
    assert_true(tool_output_has(t, "its input is saved in "));
    tool_run(t, 0, "rm ./*.tir");
    tool_run(t, 70, CHILD "FAKE_PLUGIN=crash " RUN);
    assert_true(tool_output_has(t, "the code generator crashed (signal 11)"));
    tool_run(t, 0, "rm ./*.tir");
    tool_fails(t, 4, "'copy' is refused", CHILD "FAKE_PLUGIN=refuse " RUN);
    // And the next one works.
    tool_prints(t, "y: f32[3] = ", CHILD RUN);
}

// In this process it ends with status 70, and writes the IR to a file.
static void a_defect_leaves_a_file(void **state) {
    static const char *const defects[][2] = {
        {"fatal", "tilec: internal defect in LLVM: Cannot select: t5: i32 = planted"},
        {"check", "plugin.c:"},
    };
    Tool *t = *state;
#define HERE FAKE "TMPDIR=$PWD "
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++) {
        tool_run(t, 0, "rm -rf store");
        tool_run(t, 70, HERE "FAKE_PLUGIN=%s " RUN, defects[i][0]);
        assert_true(tool_output_has(t, defects[i][1]));
        assert_true(tool_output_has(t, "its input is saved in "));
        tool_run(t, 0, "cat tilec-defect-*.tir && tilec opt --verify tilec-defect-*.tir");
        assert_true(
            tool_output_has(t, "// tilec failed on this input while it generated code for it."));
        assert_true(tool_output_has(t, "// Target: "));
        assert_true(tool_output_has(t, "kernel @copy("));
        tool_run(t, 0, "rm ./*.tir");
    }
    tool_run(t, 70, HERE "TMPDIR=/none FAKE_PLUGIN=fatal " RUN);
    assert_true(tool_output_has(t, "its input could not be saved in a file"));
    tool_prints(t, "y: f32[3] = ", HERE RUN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_library_only_the_cache_runs),
        cmocka_unit_test(a_useless_folder_is_a_warning),
        cmocka_unit_test(a_full_disk_is_a_warning),
        cmocka_unit_test(a_full_file_system_is_a_warning),
        cmocka_unit_test(a_damaged_entry_is_a_warning),
        cmocka_unit_test(processes_fill_one_cache),
        cmocka_unit_test(a_crash_in_a_child_is_told),
        cmocka_unit_test(a_defect_leaves_a_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
