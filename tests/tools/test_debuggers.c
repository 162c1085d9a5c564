// Kernels under a debugger and a profiler: gdb stops at a line of the source, perf names the
// kernel.
//
// Both are looked for; where one is missing, or may not work here, its tests say so and are
// skipped.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/codegen_plugin.h"
#include "tests/tools/kernels.h"

// Line 4 is the one with work in it.
static const char text[] =
    "kernel stop_here(f32 x[N], f32 y[N]) grid(cdiv(N, 256))\n"
    "{\n"
    "    let i = program(0) * 256;\n"
    "    y[i +: 256] = exp(x[i +: 256]) + log(1.0 + x[i +: 256] * x[i +: 256]);\n"
    "}\n";

static int set_up(void **state) {
    Tool *t = tool_open();
    tool_file(t, "stop.tile", text_of(text));
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    tool_close(*state);
    return 0;
}

// Whether a shell command succeeds; whatever it says is left aside.
static bool succeeds(Tool *t, const char *command) {
    tool_run(t, 0,
             "if { %s; } >said.txt 2>&1 </dev/null; then echo yes; else echo no; fi; mv said.txt "
             "probe.txt",
             command);
    return tool_output_has(t, "yes");
}

static bool has_gdb(Tool *t) {
    bool works = succeeds(t, "timeout -s KILL 60 gdb -nx -batch -ex run --args true") &&
                 succeeds(t, "grep 'exited normally' probe.txt");
    if (!works) print_message("skipped: gdb is not installed, or may not trace processes here\n");
    return works;
}

// Leaks cannot be looked for under a debugger.
#define GDB                                                                                \
    "ASAN_OPTIONS=detect_leaks=0 timeout -s KILL 60 gdb -nx -batch -ex 'set confirm off' " \
    "-ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break %s' "     \
    "-ex run -ex bt -ex 'info source' -ex list -ex kill --args "                           \
    "'" TEST_TOOL "' run %s --set N=1000 --device cpu </dev/null 2>&1"

static void stops(Tool *t, const char *environment, const char *place, const char *file,
                  const char *line) {
    tool_run(t, 0, "%s " GDB, environment, place, file);
    bool stopped = tool_output_has(t, "hit Breakpoint 1, stop_here (") &&
                   tool_output_has(t, line) && tool_output_has(t, "#0  stop_here (");
    if (!stopped) fail_msg("gdb said:\n%.*s", STR_ARG(t->last.output));
}

static void gdb_stops_at_a_line(void **state) {
    static const char line[] = "stop.tile:4\n4\t    y[i +: 256] = exp(";
    Tool *t = *state;
    if (!codegen_built() || !has_gdb(t)) return;
    stops(t, "TILEC_CACHE_DIR=$PWD/store", "stop.tile:4", "stop.tile", line);
    // From the cache, with a path that is not relative.
    stops(t, "TILEC_CACHE_DIR=$PWD/store", "stop.tile:4", "$PWD/stop.tile", line);
    // And with code that is on no disk.
    stops(t, "TILEC_CACHE=off", "stop.tile:4", "stop.tile", line);
}

static void gdb_stops_in_a_kernel(void **state) {
    Tool *t = *state;
    if (!codegen_built() || !has_gdb(t)) return;
    stops(t, "TILEC_CACHE=off", "stop_here if 1", "stop.tile", "stop.tile:1\n1\tkernel stop_here(");
}

#define RECORD "timeout -s KILL 60 perf record -o perf.data -e cpu-clock -F 2000 "

static bool has_perf(Tool *t) {
    bool works = succeeds(t, RECORD "true && perf report -i perf.data --stdio");
    if (!works) print_message("skipped: perf is not installed, or may not count here\n");
    return works;
}

static void perf_names_kernels(void **state) {
    Tool *t = *state;
    if (!codegen_built() || !has_perf(t)) return;
    tool_run(t, 0,
             "TILEC_CACHE_DIR=$PWD/store " RECORD "'" TEST_TOOL
             "' run stop.tile --set N=100000 --repeat 2000 --device cpu --quiet 2>&1");
    tool_run(t, 0, "perf report -i perf.data --stdio 2>&1 </dev/null");
    if (!tool_output_has(t, "] stop_here")) fail_msg("perf said:\n%.*s", STR_ARG(t->last.output));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gdb_stops_at_a_line),
        cmocka_unit_test(gdb_stops_in_a_kernel),
        cmocka_unit_test(perf_names_kernels),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
