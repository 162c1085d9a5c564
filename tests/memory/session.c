#include "tests/memory/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilec/dlpack.h>
#include <tilec/tilec.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include "tests/memory/failing.h"

enum { COUNT = 10 };

typedef struct Session {
    const SessionPlan *plan;
    tilec_context *context;
    tilec_device *device;
    tilec_stream *stream;
    tilec_event *begin, *end;
    tilec_kernel *copy, *generic, *speaks, *fails, *tuned, *added;
    tilec_source *source;
    tilec_buffer buffer, other, temporary;
    void *pinned;
    float x[COUNT], y[COUNT];
} Session;

static const char copy_text[] =
    "kernel copy(f32 x[N], f32 y[N], const B = 64) grid(cdiv(N, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B];\n"
    "}\n";
static const char generic_text[] =
    "fn twice(x) { return x + x; }\n"
    "kernel double(type T, T x[N], T y[N], const B = 16) requires N < 1000 grid(cdiv(N, B)) {\n"
    "    let at = program(0) * B;\n"
    "    y[at +: B] = twice(x[at +: B]);\n"
    "}\n";
static const char speaks_text[] = "kernel speaks(f32 x[N]) grid(1) { print(\"x \", x[0 +: 4]); }\n";
static const char fails_text[] =
    "kernel fails(f32 x[N]) grid(1) { assert(x[0] > 100.0, \"small\"); }\n";

static const char tuned_text[] =
    "kernel tuned(f32 x[N], f32 y[N], const B = 16) grid(cdiv(N, B)) {\n"
    "    y[program(0) * B +: B] = x[program(0) * B +: B] + 0.0;\n"
    "}\n"
    "tune tuned { B: 16, 8; }\n";

// HELD is evaluated by the first kernel that uses it.
static const char python_text[] =
    "import triton\nimport triton.language as tl\n\n"
    "def twice(x):\n    return x * 2\n\n"
    "HELD = tl.constexpr(twice(8))\n\n"
    "@triton.jit\n"
    "def add(x_ptr, y_ptr, n, B: tl.constexpr = HELD):\n"
    "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
    "    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 0.0, mask=i < n)\n";

static void print(void *user, const char *line, size_t length) {
    (void)user, (void)line, (void)length;
}

static void say(void *user, tilec_severity severity, const char *text) {
    (void)user, (void)severity, (void)text;
}

static tilec_status make_context(Session *s) {
    tilec_context_options o = {.size = sizeof o,
                               .print = print,
                               .log = say,
                               .cpu_threads = 2,
                               .cache_folder = s->plan->cache,
                               .compiler_library = s->plan->library};
    return tilec_context_create(&o, &s->context);
}

static tilec_status open_unknown(Session *s) {
    tilec_device *d = NULL;
    tilec_status status = tilec_device_open(s->context, "abacus", &d);
    assert_null(d);
    return status;
}

static tilec_status open_device(Session *s) {
    return tilec_device_open(s->context, s->plan->device, &s->device);
}

static tilec_status make_stream(Session *s) { return tilec_stream_create(s->device, &s->stream); }
static tilec_status make_begin(Session *s) { return tilec_event_create(s->device, &s->begin); }
static tilec_status make_end(Session *s) { return tilec_event_create(s->device, &s->end); }

static tilec_status make_buffer(Session *s) {
    return tilec_buffer_create(s->device, sizeof s->x, &s->buffer);
}

static tilec_status make_other(Session *s) {
    return tilec_buffer_create(s->device, sizeof s->x, &s->other);
}

static tilec_status write_buffer(Session *s) {
    for (int i = 0; i < COUNT; i++) s->x[i] = (float)i;
    return tilec_buffer_write(s->device, s->stream, s->buffer, 0, s->x, sizeof s->x);
}

static tilec_status describe(Session *s) {
    tilec_device_info info = {.size = sizeof info};
    uint32_t count = 0;
    tilec_status status = tilec_device_describe(s->device, &info);
    return status ? status : tilec_device_count(s->context, "cpu", &count);
}

static tilec_status make_pinned(Session *s) {
    return tilec_host_alloc(s->device, sizeof s->x, &s->pinned);
}

static tilec_status make_temporary(Session *s) {
    return tilec_buffer_create_async(s->device, s->stream, sizeof s->x, &s->temporary);
}

// Done again from its beginning, it has the same result.
static tilec_status move_async(Session *s) {
    const float one = 1;
    float *back = s->pinned;
    for (int i = 0; i < COUNT; i++) s->y[i] = (float)(10 * i);
    tilec_status status =
        tilec_buffer_write_async(s->device, s->stream, s->temporary, 0, s->y, sizeof s->y);
    if (!status)
        status = tilec_buffer_fill(s->device, s->stream, s->temporary, 0, &one, sizeof one, 8);
    if (!status)
        status = tilec_buffer_copy(s->device, s->stream, s->other, 0, s->temporary, 0, sizeof s->y);
    if (!status)
        status = tilec_buffer_read_async(s->device, s->stream, s->other, 0, back, sizeof s->y);
    if (!status) status = tilec_stream_synchronize(s->stream);
    for (int i = 0; !status && i < COUNT; i++) assert_true(back[i] == (i < 2 ? 1 : s->y[i]));
    return status;
}

static tilec_status end_temporary(Session *s) {
    tilec_status status = tilec_buffer_destroy_async(s->device, s->stream, s->temporary);
    if (!status) status = tilec_host_free(s->device, s->pinned);
    return status ? status : tilec_pool_trim(s->device, 0);
}

static tilec_status make_kernel(Session *s, const char *text, tilec_kernel **kernel) {
    tilec_kernel *k = NULL;
    tilec_status status = tilec_kernel_from_source(s->context, s->device, "k.tile", text,
                                                   strlen(text), NULL, NULL, &k);
    assert_true(!status == (k != NULL));
    if (!status) *kernel = k;
    return status;
}

static tilec_status make_copy(Session *s) { return make_kernel(s, copy_text, &s->copy); }
static tilec_status make_generic(Session *s) { return make_kernel(s, generic_text, &s->generic); }
static tilec_status make_speaks(Session *s) { return make_kernel(s, speaks_text, &s->speaks); }
static tilec_status make_fails(Session *s) { return make_kernel(s, fails_text, &s->fails); }

static tilec_status make_tuned(Session *s) { return make_kernel(s, tuned_text, &s->tuned); }

static tilec_status make_wrong(Session *s) {
    tilec_kernel *k;
    return make_kernel(s, "kernel wrong(f32 x[N]) grid(1) { x[0] = y; z = ; }", &k);
}

static tilec_status make_missing(Session *s) {
    tilec_kernel *k = NULL;
    return tilec_kernel_from_file(s->context, s->device, "no/such.tile", NULL, NULL, &k);
}

static tilec_status open_source(Session *s) {
    tilec_source *source = NULL;
    tilec_status status =
        tilec_source_open_text(s->context, "k.py", python_text, strlen(python_text), &source);
    assert_true(!status == (source != NULL));
    if (!status) s->source = source;
    return status;
}

static tilec_status make_wrong_of_open(Session *s) {
    tilec_kernel *k;
    return tilec_kernel_from_open(s->source, s->device, "sub", NULL, &k);
}

// With types, the kernel is compiled here; each value of B is another kernel.
static tilec_status make_of_open(Session *s) {
    tilec_kernel *k = NULL;
    tilec_status status = tilec_kernel_from_open(
        s->source, s->device, "add",
        TILEC_SPEC(TILEC_TYPE("x_ptr", TILEC_F32), TILEC_TYPE("y_ptr", TILEC_F32),
                   TILEC_TYPE("n", TILEC_I32), TILEC_GRID("triton.cdiv(n, B)")),
        &k);
    assert_true(!status == (k != NULL));
    tilec_kernel_destroy(s->added);
    s->added = k;
    return status;
}

static tilec_status close_source(Session *s) {
    tilec_source_close(s->source);
    return TILEC_OK;
}

static tilec_view view(tilec_buffer b) { return tilec_buffer_view1(TILEC_F32, b, COUNT); }

static tilec_status record_begin(Session *s) { return tilec_event_record(s->begin, s->stream); }
static tilec_status record_end(Session *s) { return tilec_event_record(s->end, s->stream); }

static tilec_status run(Session *s, tilec_kernel *k, const tilec_arg *args, size_t count) {
    tilec_status status = tilec_launch(k, s->stream, args, count);
    return status ? status : tilec_stream_synchronize(s->stream);
}

// Compares the buffer after the kernel with `expected`.
static tilec_status check(Session *s, float factor, float add) {
    float found[COUNT];
    tilec_status status = tilec_buffer_read(s->device, s->stream, s->other, 0, found, sizeof found);
    for (int i = 0; !status && i < COUNT; i++) {
        // The fake compiler's variants add 1 and 2.
        float off = found[i] - factor * s->x[i];
        assert_true(off == 0 || off == add || off == 2 * add);
    }
    return status;
}

static tilec_status prepare_copy(Session *s) {
    return tilec_kernel_prepare(s->copy, s->stream, TILEC_ARGS(view(s->buffer), view(s->other)));
}

static tilec_status launch_copy(Session *s) {
    tilec_status status = run(s, s->copy, TILEC_ARGS(view(s->buffer), view(s->other)));
    return status ? status : check(s, 1, 1);
}

// Overlapping arrays: another variant, of which there is no code yet.
static tilec_status launch_overlapping(Session *s) {
    tilec_view to = view(s->buffer);
    return run(s, s->copy, TILEC_ARGS(view(s->buffer), to));
}

// So little time is over before a second choice is compiled.
static tilec_status tune(Session *s) {
    return tilec_tune(s->tuned, s->stream, TILEC_ARGS(view(s->buffer), view(s->other)), 1e-9);
}

static tilec_status launch_tuned(Session *s) {
    tilec_status status = run(s, s->tuned, TILEC_ARGS(view(s->buffer), view(s->other)));
    return status ? status : check(s, 1, 0);
}

static tilec_status launch_generic(Session *s) {
    tilec_status status = run(s, s->generic, TILEC_ARGS(view(s->buffer), view(s->other)));
    return status ? status : check(s, 2, 0);
}

static tilec_status launch_of_open(Session *s) {
    tilec_status status = run(s, s->added, TILEC_ARGS(view(s->buffer), view(s->other), COUNT));
    return status ? status : check(s, 1, 0);
}

static tilec_status launch_refused(Session *s) {
    return run(s, s->copy, TILEC_ARGS(view(s->buffer)));
}

static tilec_status launch_untyped(Session *s) { return run(s, s->generic, TILEC_ARGS(1, 2)); }
static tilec_status launch_speaks(Session *s) {
    return run(s, s->speaks, TILEC_ARGS(view(s->buffer)));
}
static tilec_status launch_fails(Session *s) {
    return run(s, s->fails, TILEC_ARGS(view(s->buffer)));
}

static tilec_status ask_param(Session *s) {
    tilec_param p;
    return tilec_kernel_param(s->copy, 1, &p);
}

static tilec_status ask_metadata(Session *s) {
    const char *json;
    return tilec_kernel_metadata(s->copy, &json);
}

static tilec_status ask_signature(Session *s) {
    const char *text;
    return tilec_function_signature(s->copy, &text);
}

static tilec_status call_function(Session *s) {
    tilec_function_pointer f;
    return tilec_function(s->copy, &f);
}

static tilec_status export_view(Session *s) {
    tilec_view v = view(s->buffer), back;
    tilec_dl_managed *tensor = NULL;
    tilec_status status = tilec_view_to_dlpack(s->device, &v, &tensor);
    if (status) return status;
    status = tilec_view_from_dlpack(s->device, &tensor->tensor, &back);
    tensor->deleter(tensor);
    return status;
}

static tilec_status finish(Session *s) { return tilec_device_synchronize(s->device); }

static tilec_status elapsed(Session *s) {
    uint64_t ns;
    tilec_status status = tilec_event_synchronize(s->end);
    return status ? status : tilec_event_elapsed_ns(s->begin, s->end, &ns);
}

// Devices: all; those that compile any kernel; those on the host's memory; those that can print.
// And plans with tuning.
enum { ANY = 1, COMPILES = 2, HOST = 4, PRINTS = 8, TUNES = 16 };
static const struct Step {
    const char *name;
    tilec_status (*run)(Session *s);
    tilec_status expected;
    int where;
} steps[] = {
    {"make_context", make_context, TILEC_OK, ANY},
    {"open_unknown", open_unknown, TILEC_INVALID_ARGUMENT, ANY},
    {"open_device", open_device, TILEC_OK, ANY},
    {"make_stream", make_stream, TILEC_OK, ANY},
    {"make_begin", make_begin, TILEC_OK, ANY},
    {"make_end", make_end, TILEC_OK, ANY},
    {"make_buffer", make_buffer, TILEC_OK, ANY},
    {"make_other", make_other, TILEC_OK, ANY},
    {"write_buffer", write_buffer, TILEC_OK, ANY},
    {"describe", describe, TILEC_OK, ANY},
    {"make_pinned", make_pinned, TILEC_OK, ANY},
    {"make_temporary", make_temporary, TILEC_OK, ANY},
    {"move_async", move_async, TILEC_OK, ANY},
    {"end_temporary", end_temporary, TILEC_OK, ANY},
    {"make_wrong", make_wrong, TILEC_INVALID_SOURCE, ANY},
    {"make_missing", make_missing, TILEC_IO, ANY},
    {"make_copy", make_copy, TILEC_OK, ANY},
    {"prepare_copy", prepare_copy, TILEC_OK, ANY},
    {"record_begin", record_begin, TILEC_OK, ANY},
    {"launch_copy", launch_copy, TILEC_OK, ANY},
    {"record_end", record_end, TILEC_OK, ANY},
    {"elapsed", elapsed, TILEC_OK, ANY},
    {"launch_overlapping", launch_overlapping, TILEC_OK, ANY},
    {"launch_refused", launch_refused, TILEC_LAUNCH_REFUSED, ANY},
    {"ask_param", ask_param, TILEC_OK, ANY},
    {"ask_metadata", ask_metadata, TILEC_OK, ANY},
    {"ask_signature", ask_signature, TILEC_OK, ANY},
    {"call_function", call_function, TILEC_OK, ANY},
    {"export_view", export_view, TILEC_OK, HOST},
    {"make_generic", make_generic, TILEC_OK, COMPILES},
    {"launch_untyped", launch_untyped, TILEC_LAUNCH_REFUSED, COMPILES},
    {"launch_generic", launch_generic, TILEC_OK, COMPILES},
    {"make_tuned", make_tuned, TILEC_OK, TUNES},
    {"tune", tune, TILEC_OK, TUNES},
    {"launch_tuned", launch_tuned, TILEC_OK, TUNES},
    {"make_speaks", make_speaks, TILEC_OK, PRINTS},
    {"launch_speaks", launch_speaks, TILEC_OK, PRINTS},
    {"open_source", open_source, TILEC_OK, COMPILES},
    {"make_wrong_of_open", make_wrong_of_open, TILEC_INVALID_SOURCE, COMPILES},
    {"make_of_open", make_of_open, TILEC_OK, COMPILES},
    {"make_again_of_open", make_of_open, TILEC_OK, COMPILES},
    {"close_source", close_source, TILEC_OK, COMPILES},
    {"launch_of_open", launch_of_open, TILEC_OK, COMPILES},
    {"make_fails", make_fails, TILEC_OK, COMPILES},
    {"launch_fails", launch_fails, TILEC_KERNEL_FAILED, COMPILES},
    {"write_again", write_buffer, TILEC_OK, ANY},
    {"launch_again", launch_copy, TILEC_OK, ANY},
    {"finish", finish, TILEC_OK, ANY},
};

static void do_step(Session *s, const struct Step *step) {
    tilec_status status = step->run(s);
    if (status == step->expected) return;
    if (status != TILEC_OUT_OF_MEMORY || !failing_happened())
        fail_msg("%s, allocation %zu (%u): %s: %s", step->name, s->plan->nth, s->plan->how,
                 tilec_status_text(status), tilec_last_error(s->context));
    if (s->context && !strstr(tilec_last_error(s->context), "memory"))
        fail_msg("%s, allocation %zu (%u): the last error says '%s'", step->name, s->plan->nth,
                 s->plan->how, tilec_last_error(s->context));
    failing_end();
    status = step->run(s);
    if (status != step->expected)
        fail_msg("%s again, after allocation %zu (%u): %s: %s", step->name, s->plan->nth,
                 s->plan->how, tilec_status_text(status), tilec_last_error(s->context));
}

size_t session_run(const SessionPlan *plan) {
    Session s = {.plan = plan};
    bool sim = strncmp(plan->device, "sim", 3) == 0;
    int here = ANY | (plan->library ? 0 : COMPILES) | (sim ? 0 : HOST);
    if (here & COMPILES && !sim) here |= PRINTS;
    if (plan->tunes) here |= TUNES;
    failing_begin(plan->nth, plan->how);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i].where & here) do_step(&s, &steps[i]);
    // Destroying things needs no memory.
    tilec_kernel_destroy(s.copy);
    tilec_context_destroy(s.context);
    failing_end();
    return failing_counted();
}
