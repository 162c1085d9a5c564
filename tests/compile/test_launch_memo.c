// The memo of launches: a random walk through arguments, buffers and streams. Each launch must be,
// bit for bit, what the checks alone make of it; also with several threads.
#include "runtime/launch_memo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os_thread.h"
#include "base/recover.h"
#include "compile/pipeline/compile.h"
#include "runtime/context.h"
#include "runtime/values.h"

// ---- A device that keeps what it was told, for each thread ----

typedef struct Seen {
    int launches;
    const MetaKernel *meta;
    uint32_t variant;
    int64_t grid[3];
    void *stream;
    uint8_t block[256];
    RtRange ranges[8];
} Seen;
static _Thread_local Seen seen;
static _Thread_local bool fail_next;

static tilec_status dev_open(tilec_context *context, Str instance, void **state) {
    (void)context, (void)instance;
    *state = NULL;
    return TILEC_OK;
}
static void dev_close(void *state) { (void)state; }
static tilec_status dev_alloc(tilec_device *device, size_t size, void **address) {
    (void)device;
    *address = aligned_alloc(64, (size + 63) / 64 * 64);
    return TILEC_OK;
}
static void dev_free(tilec_device *device, void *address, size_t size) {
    (void)device, (void)size;
    free(address);
}
static tilec_status dev_stream(tilec_device *device, void **stream) {
    (void)device;
    *stream = malloc(1);
    return TILEC_OK;
}
static void dev_stream_end(tilec_device *device, void *stream) {
    (void)device;
    free(stream);
}
static tilec_status dev_synchronize(tilec_device *device, void *stream) {
    (void)device, (void)stream;
    return TILEC_OK;
}
static tilec_status dev_launch(tilec_device *device, void *stream, const RtLaunch *l) {
    bool fail = fail_next;
    fail_next = false;
    if (fail) return rt_fail(device->context, TILEC_KERNEL_FAILED, "the device was asked to fail");
    seen.launches++;
    seen.meta = l->meta;
    seen.variant = l->variant;
    memcpy(seen.grid, l->grid, sizeof seen.grid);
    seen.stream = stream;
    memcpy(seen.block, l->block, l->meta->size);
    memcpy(seen.ranges, l->ranges, l->meta->arg_count * sizeof *l->ranges);
    return TILEC_OK;
}

static const RtDeviceApi api = {.kind = "memo",
                                .memory = RT_HOST_MEMORY,
                                .open = dev_open,
                                .close = dev_close,
                                .alloc = dev_alloc,
                                .free = dev_free,
                                .stream_create = dev_stream,
                                .stream_destroy = dev_stream_end,
                                .stream_synchronize = dev_synchronize,
                                .launch = dev_launch};

// ---- Kernels ----

// Two of the same arguments, with other consts: the second one takes what the first refuses.
static const char source[] =
    "kernel k(f16 alpha, i32 n, i32 g, i64 m, *f32 p, f32 x[M, N], strided f32 y[M, N], f32 z[N],\n"
    "         const B = 4)\n"
    "    requires n % B == 0 grid(M, cdiv(N, 4), g / 2 + 1)\n"
    "{\n"
    "    y[0, 0] = x[0, 0] + load(p) * f32(alpha) + f32(m);\n"
    "    z[0] = x[0, 0];\n"
    "}\n";
enum { ALPHA, WIDTH, DEEP, M_ARG, P, X, Y, Z, ARGS, VARIANTS_MAX = 8 };

enum { BUFFERS = 3, BUFFER_BYTES = 1024 };

typedef struct Fixture {
    tilec_context *context;
    tilec_device *device, *other;
    tilec_buffer foreign;  // of the other device
    Unit *units[2];
    RtModuleSlot modules[VARIANTS_MAX];
    RtLoaded loaded[2];
    tilec_kernel *kernel;
    _Alignas(64) float memory[1024];
} Fixture;

static const MetaKernel *compile(Fixture *f, int which, CompileVariants variants) {
    Unit *u = f->units[which] = unit_load_text(STR("memo.tile"), str(source));
    FrontSpec spec = {0};
    IrBinding b = {.name = intern(u->names, STR("B")), .value = which ? 1 : 4};
    CompileOptions options = {.variants = variants};
    vec_push(u->arena, &spec.bindings, b);
    const FrontKernel *k = unit_kernel(u, STR("k"));
    const Compiled *c = k ? unit_compile(u, k, &spec, &options) : NULL;
    if (!c) {
        StrBuf said = strbuf(u->arena);
        diags_text(u->diags, (DiagStyle){0}, &said);
        fail_msg("%s", said.text);
    }
    return c->meta;
}

static bool takes(const Fixture *f, int which, const tilec_arg *args, LaunchPlan *plan) {
    return !launch_prepare(f->context, f->device, f->loaded[which].meta, args, ARGS, NULL, plan);
}

static tilec_status resolve(tilec_kernel *kernel, const tilec_arg *args, size_t count,
                            bool own_grid, const RtLoaded **loaded) {
    const Fixture *f = kernel->source;
    LaunchBuffers room;
    LaunchPlan plan = launch_plan(&room);
    (void)own_grid, (void)count;
    *loaded = &f->loaded[!takes(f, 0, args, &plan) && takes(f, 1, args, &plan)];
    return TILEC_OK;
}

static void destroy(tilec_kernel *kernel) { (void)kernel; }

static void begin(Fixture *f, CompileVariants variants, bool by_shape) {
    static const RtDeviceApi *const apis[] = {&api};
    memset(f, 0, sizeof *f);
    assert_int_equal(rt_context_create(NULL, apis, 1, &f->context), TILEC_OK);
    assert_int_equal(tilec_device_open(f->context, "memo", &f->device), TILEC_OK);
    assert_int_equal(tilec_device_open(f->context, "memo", &f->other), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f->other, BUFFER_BYTES, &f->foreign), TILEC_OK);
    for (int i = 0; i < VARIANTS_MAX; i++) atomic_init(&f->modules[i], (RtModule *)(void *)f);
    for (int i = 0; i < 2; i++) f->loaded[i] = (RtLoaded){f->modules, compile(f, i, variants)};
    f->kernel = recover_new(sizeof *f->kernel);
    *f->kernel = (tilec_kernel){.context = f->context,
                                .device = f->device,
                                .name = "k",
                                .loaded = &f->loaded[0],
                                .by_shape = by_shape,
                                .resolve = resolve,
                                .destroy = destroy,
                                .source = f};
    rt_kernel_adopt(f->kernel);
}

static void end(Fixture *f) {
    tilec_context_destroy(f->context);
    for (int i = 0; i < 2; i++) unit_destroy(f->units[i]);
}

// ---- A walk ----

typedef struct Walk {
    Fixture *f;
    uint64_t random;
    tilec_stream *streams[2];
    tilec_buffer buffers[BUFFERS], dead;
    tilec_arg args[ARGS];
    bool fails;  // the device, in this step
    bool stuck;  // the last step launched nothing
    int steps, launched, refused, recalled;
} Walk;

static uint64_t pick(Walk *w, uint64_t count) {
    w->random = w->random * 6364136223846793005u + 1442695040888963407u;
    return (w->random >> 33) % count;
}

static bool rarely(Walk *w) { return pick(w, 40) == 0; }

static tilec_buffer any_buffer(Walk *w) {
    if (rarely(w)) return w->f->foreign;
    return rarely(w) ? w->dead : w->buffers[pick(w, BUFFERS)];
}

static void *any_place(Walk *w) {
    static const size_t places[] = {0, 0, 256, 512, 512, 768, 4, 16, 260};
    if (rarely(w)) return (char *)w->f->memory + 2;
    return rarely(w) ? NULL : w->f->memory + places[pick(w, 9)];
}

static void move(Walk *w, tilec_view *v) {
    bool both = rarely(w);
    v->buffer = pick(w, 3) ? (tilec_buffer){0} : any_buffer(w);
    v->data = v->buffer.handle && !both ? NULL : any_place(w);
    v->offset = rarely(w) ? -4 : pick(w, 4) ? 0 : (int64_t)(4 * pick(w, 2) + 4);
}

static void set_stride(Walk *w, tilec_view *v) {
    static const int64_t inner[] = {1, 1, 1, 2, 0, -1};
    v->stride[1] = inner[pick(w, 6)];
    v->stride[0] = v->extent[1] * (pick(w, 3) ? 1 : 2) * (v->stride[1] ? v->stride[1] : 1);
}

static void set_extents(Walk *w) {
    static const int64_t extents[] = {1, 3, 4, 4, 8, 8};
    int64_t m = rarely(w) ? 0 : extents[pick(w, 6)], n = rarely(w) ? 0 : extents[pick(w, 6)];
    for (int i = X; i <= Z; i++) {
        tilec_view *v = &w->args[i].view;
        tilec_view fresh =
            i == Z ? tilec_view1(TILEC_F32, v->data, n) : tilec_view2(TILEC_F32, v->data, m, n);
        fresh.buffer = v->buffer, fresh.offset = v->offset, fresh.flags = v->flags;
        w->args[i] = tilec_arg_view(fresh);
    }
}

static void new_buffer(Walk *w, int i) {
    if (w->buffers[i].handle) {
        w->dead = w->buffers[i];
        assert_int_equal(tilec_buffer_destroy(w->f->device, w->dead), TILEC_OK);
    }
    size_t size = pick(w, 4) ? BUFFER_BYTES : 64;
    assert_int_equal(tilec_buffer_create(w->f->device, size, &w->buffers[i]), TILEC_OK);
}

static void set_numbers(Walk *w) {
    static const int64_t widths[] = {0, 4, 4, 8, 8, 4, 6};
    w->args[WIDTH] = tilec_arg_int(widths[pick(w, 7)]);
    if (rarely(w)) w->args[WIDTH] = tilec_arg_int(INT64_C(1) << 40);
    if (rarely(w)) w->args[WIDTH] = tilec_arg_double(4);
    if (rarely(w)) w->args[WIDTH] = tilec_arg_int(-4);
    w->args[DEEP] = tilec_arg_int((int64_t)pick(w, 6) - rarely(w));
    w->args[ALPHA] = pick(w, 2) ? tilec_arg_double((double)pick(w, 9) / 7) : tilec_arg_int(3);
}

static void spoil(Walk *w) {
    tilec_view *v = &w->args[X + pick(w, 3)].view;
    switch (pick(w, 6)) {
    case 0: v->flags = (uint32_t)pick(w, 3); break;
    case 1: v->dtype = TILEC_I32; break;
    case 2: v->rank = (int32_t)pick(w, 7) - 1; break;
    case 3: v->extent[pick(w, 2)]++; break;
    case 4: v->stride[0]++; break;
    case 5: w->args[X + pick(w, 3)] = tilec_arg_pointer(w->f->memory); break;
    }
}

static void change(Walk *w) {
    switch (pick(w, 16)) {
    case 0: set_extents(w); break;
    case 1: set_numbers(w); break;
    case 2: new_buffer(w, (int)pick(w, BUFFERS)); break;
    case 3: set_stride(w, &w->args[Y].view); break;
    case 4:
        w->args[P] = pick(w, 3) ? tilec_arg_pointer(any_place(w))
                                : tilec_arg_buffer(any_buffer(w), 4 * pick(w, 2));
        if (rarely(w)) w->args[P].pointer = w->f->memory;
        if (rarely(w)) w->args[P].offset = 2 * BUFFER_BYTES;
        break;
    case 5:
    case 6:
    case 7: move(w, &w->args[X + pick(w, 3)].view); break;
    case 8: w->args[Y].view = w->args[X].view; break;  // in place
    default: break;
    }
    // If there are several alternatives, any argument may decide between them.
    if (!w->f->kernel->by_shape || rarely(w))
        w->args[M_ARG] = tilec_arg_int((int64_t)pick(w, 1000));
}

typedef struct Expected {
    tilec_status status;
    const RtLoaded *loaded;
    LaunchBuffers room;
    LaunchPlan plan;
} Expected;

static void expect(Walk *w, const tilec_arg *args, const LaunchOverride *override, Expected *e) {
    tilec_kernel *k = w->f->kernel;
    e->plan = launch_plan(&e->room);
    e->loaded = k->loaded;
    bool chooses = !override || override->variant == LAUNCH_ANY_VARIANT;
    if (k->by_shape && chooses) resolve(k, args, ARGS, !override, &e->loaded);
    e->status = launch_prepare(w->f->context, w->f->device, e->loaded->meta, args, ARGS, override,
                               &e->plan);
}

static void compare(const Walk *w, const Expected *e, uint32_t variant, const int64_t *grid,
                    const uint8_t *block, const RtRange *ranges) {
    if (variant != e->plan.variant)
        fail_msg("step %d: variant %u, expected %u", w->steps, variant, e->plan.variant);
    assert_memory_equal(grid, e->plan.grid, sizeof e->plan.grid);
    for (int i = 0; i < ARGS; i++) {
        const MetaArg *arg = &e->loaded->meta->args[i];
        assert_memory_equal(block + arg->offset, e->plan.block + arg->offset, arg->size);
        assert_ptr_equal(ranges[i].base, e->plan.ranges[i].base);
        assert_int_equal(ranges[i].size, e->plan.ranges[i].size);
    }
}

// A remembered launch is true, whether a later launch asks for it or not.
static void check_recall(Walk *w, const LaunchGiven *given, const Expected *e) {
    LaunchBuffers room;
    LaunchPlan plan = launch_plan(&room);
    const RtLoaded *loaded;
    if (!launch_recall(w->f->kernel, given, &plan, &loaded)) return;
    w->recalled++;
    if (e->status) fail_msg("step %d: recalled what is refused", w->steps);
    assert_false(plan.empty || e->plan.empty);
    assert_ptr_equal(loaded, e->loaded);
    compare(w, e, plan.variant, plan.grid, plan.block, plan.ranges);
}

static void check_launch(Walk *w, tilec_status found, tilec_stream *stream, const Expected *e) {
    bool reached = !e->status && !e->plan.empty;
    tilec_status expected = reached && w->fails ? TILEC_KERNEL_FAILED : e->status;
    if (found != expected)
        fail_msg("step %d: status %d, expected %d: %s", w->steps, (int)found, (int)expected,
                 tilec_last_error(w->f->context));
    w->refused += found != TILEC_OK;
    assert_int_equal(seen.launches, !found && reached);
    if (!seen.launches) return;
    w->launched++;
    assert_ptr_equal(seen.meta, e->loaded->meta);
    assert_ptr_equal(seen.stream, stream->state);
    compare(w, e, seen.variant, seen.grid, seen.block, seen.ranges);
}

// Launches with plain values, as a built function does.
static void launch_values(Walk *w, tilec_stream *stream) {
    float alpha = (float)pick(w, 5);
    int32_t width = (int32_t)(4 * pick(w, 3)), deep = (int32_t)pick(w, 2);
    int64_t m = w->args[M_ARG].integer;
    void *p = any_place(w);
    const void *values[ARGS] = {&alpha, &width, &deep, &m, &p};
    tilec_arg args[ARGS];
    const MetaKernel *meta = w->f->loaded[0].meta;
    for (int i = X; i < ARGS; i++) {
        if (w->args[i].kind != TILEC_ARG_VIEW) return;
        values[i] = &w->args[i].view;
    }
    for (int i = 0; i < ARGS; i++) args[i] = rt_value_of(&meta->args[i], values[i]);
    Expected e;
    expect(w, args, NULL, &e);
    check_recall(w, &(LaunchGiven){.count = ARGS, .values = values, .meta = meta}, &e);
    check_launch(w, rt_kernel_call(w->f->kernel, stream, values), stream, &e);
}

static void launch_grid(Walk *w, tilec_stream *stream) {
    LaunchOverride override = {.variant = (int)pick(w, 6) - 1,
                               .grid = {(int64_t)pick(w, 4), 2, (int64_t)pick(w, 3)}};
    Expected e;
    expect(w, w->args, &override, &e);
    tilec_status s =
        tilec_launch_grid(w->f->kernel, stream, override.variant, override.grid, w->args, ARGS);
    check_launch(w, s, stream, &e);
}

static void step(Walk *w) {
    tilec_arg kept[ARGS];
    tilec_stream *stream = w->streams[pick(w, 2)];
    w->steps++;
    // Often as it was; what is refused is changed until it is not.
    do change(w);
    while (w->stuck && pick(w, 3));
    memcpy(kept, w->args, sizeof kept);
    if (pick(w, 16) == 0) spoil(w);
    memset(&seen, 0, sizeof seen);
    fail_next = w->fails = rarely(w);
    uint64_t how = pick(w, 20);
    if (how == 0) {
        launch_grid(w, stream);
    } else if (how < 8) {
        launch_values(w, stream);
    } else {
        Expected e;
        expect(w, w->args, NULL, &e);
        check_recall(w, &(LaunchGiven){.count = ARGS, .args = w->args}, &e);
        tilec_status s = how == 8 ? tilec_kernel_prepare(w->f->kernel, stream, w->args, ARGS)
                                  : tilec_launch(w->f->kernel, stream, w->args, ARGS);
        if (how == 8)
            assert_int_equal(s, e.status);
        else
            check_launch(w, s, stream, &e);
    }
    memcpy(w->args, kept, sizeof kept);
    w->stuck = !seen.launches;
}

static void walk(Walk *w, int steps) {
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_stream_create(w->f->device, &w->streams[i]), TILEC_OK);
    for (int i = 0; i < BUFFERS; i++) new_buffer(w, i);
    set_numbers(w);
    w->args[M_ARG] = tilec_arg_int(1);
    w->args[P] = tilec_arg_pointer(w->f->memory);
    for (int i = X; i < ARGS; i++) {
        w->args[i] = tilec_arg_view(tilec_view1(TILEC_F32, w->f->memory + 256 * (i - X), 4));
    }
    set_extents(w);
    for (int i = 0; i < steps; i++) step(w);
    for (int i = 0; i < BUFFERS; i++)
        assert_int_equal(tilec_buffer_destroy(w->f->device, w->buffers[i]), TILEC_OK);
}

static void walk_alone(CompileVariants variants, bool by_shape) {
    static Fixture f;
    begin(&f, variants, by_shape);
    Walk w = {.f = &f, .random = 20261122};
    walk(&w, 20000);
    print_message("%d launched, %d refused, %d recalled of %d\n", w.launched, w.refused, w.recalled,
                  w.steps);
    assert_true(w.launched > w.steps / 4 && w.refused > w.steps / 10);
    assert_true(w.recalled > w.launched / 6);
    end(&f);
}

static void test_cpu(void **state) {
    (void)state;
    walk_alone(VARIANTS_CPU, false);
}

static void test_gpu(void **state) {
    (void)state;
    walk_alone(VARIANTS_BUFFERS, false);
}

static void test_alternatives(void **state) {
    (void)state;
    walk_alone(VARIANTS_GPU, true);
}

// ---- Buffers that die ----

static void launch_args(Fixture *f, tilec_buffer x, void *data, tilec_arg *args) {
    tilec_view view = tilec_buffer_view2(TILEC_F32, x, 4, 4);
    view.data = data;
    args[ALPHA] = tilec_arg_double(1);
    args[WIDTH] = tilec_arg_int(4);
    args[DEEP] = tilec_arg_int(4);
    args[M_ARG] = tilec_arg_int(1);
    args[P] = tilec_arg_pointer(f->memory);
    args[X] = tilec_arg_view(view);
    args[Y] = tilec_arg_view(tilec_view2(TILEC_F32, f->memory + 256, 4, 4));
    args[Z] = tilec_arg_view(tilec_view1(TILEC_F32, f->memory + 512, 4));
}

static tilec_status launch_with(Fixture *f, tilec_buffer x, void *data) {
    tilec_arg args[ARGS];
    launch_args(f, x, data, args);
    return tilec_launch(f->kernel, NULL, args, ARGS);
}

static void must_be_gone(Fixture *f, tilec_buffer x) {
    assert_int_equal(launch_with(f, x, NULL), TILEC_LAUNCH_REFUSED);
    assert_non_null(strstr(tilec_last_error(f->context), "names a buffer that does not exist"));
}

static void test_dead_buffers(void **state) {
    static Fixture f;
    tilec_buffer x, again, none = {0};
    (void)state;
    begin(&f, VARIANTS_GPU, false);
    assert_int_equal(tilec_buffer_create(f.device, 64, &x), TILEC_OK);
    for (int i = 0; i < 2; i++) assert_int_equal(launch_with(&f, x, NULL), TILEC_OK);
    assert_int_equal(tilec_buffer_destroy(f.device, x), TILEC_OK);
    must_be_gone(&f, x);
    // A launch without it does not bring it back.
    assert_int_equal(launch_with(&f, none, f.memory), TILEC_OK);
    must_be_gone(&f, x);
    // In its place there is another one, too small at first.
    assert_int_equal(tilec_buffer_create(f.device, 32, &again), TILEC_OK);
    assert_int_equal((uint32_t)again.handle, (uint32_t)x.handle);
    must_be_gone(&f, x);
    assert_int_equal(launch_with(&f, again, NULL), TILEC_LAUNCH_REFUSED);
    assert_int_equal(tilec_buffer_destroy(f.device, again), TILEC_OK);
    assert_int_equal(tilec_buffer_create(f.device, 64, &again), TILEC_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(launch_with(&f, again, NULL), TILEC_OK);
    must_be_gone(&f, x);
    // Held by others it lives, but not for launches.
    assert_true(rt_buffer_retain(f.context, again));
    assert_int_equal(tilec_buffer_destroy(f.device, again), TILEC_OK);
    must_be_gone(&f, again);
    rt_buffer_release(f.context, again);
    must_be_gone(&f, again);
    end(&f);
}

// ---- Forgetting ----

static bool is_recalled(Fixture *f, const tilec_arg *args) {
    LaunchBuffers room;
    LaunchPlan plan = launch_plan(&room);
    const RtLoaded *loaded;
    return launch_recall(f->kernel, &(LaunchGiven){.count = ARGS, .args = args}, &plan, &loaded);
}

static void test_forget(void **state) {
    static Fixture f;
    (void)state;
    begin(&f, VARIANTS_CPU, false);
    tilec_arg args[ARGS];
    launch_args(&f, (tilec_buffer){0}, f.memory, args);
    // A launch that comes only once is not kept.
    assert_int_equal(tilec_launch(f.kernel, NULL, args, ARGS), TILEC_OK);
    assert_false(is_recalled(&f, args));
    assert_int_equal(tilec_launch(f.kernel, NULL, args, ARGS), TILEC_OK);
    assert_true(is_recalled(&f, args));
    launch_memos_free(f.kernel);
    assert_false(is_recalled(&f, args));
    // A number that only the body reads may be another; one that `requires` reads may not.
    for (int i = 0; i < 2; i++)
        assert_int_equal(tilec_launch(f.kernel, NULL, args, ARGS), TILEC_OK);
    args[M_ARG] = tilec_arg_int(77);
    assert_true(is_recalled(&f, args));
    args[WIDTH] = tilec_arg_int(8);
    assert_false(is_recalled(&f, args));
    end(&f);
}

// ---- Threads ----

static void run_walk(void *walker) { walk(walker, 3000); }

static void test_threads(void **state) {
    enum { THREADS = 4 };
    static Fixture f;
    Walk w[THREADS];
    OsThread *threads[THREADS];
    (void)state;
    begin(&f, VARIANTS_GPU, false);
    for (int i = 0; i < THREADS; i++) {
        w[i] = (Walk){.f = &f, .random = (uint64_t)i / 2};  // two walks are the same
        threads[i] = os_thread_start("walk", run_walk, &w[i]);
        assert_non_null(threads[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        os_thread_join(threads[i]);
        assert_true(w[i].recalled > 0 && w[i].steps == 3000);
    }
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpu),          cmocka_unit_test(test_gpu),
        cmocka_unit_test(test_alternatives), cmocka_unit_test(test_dead_buffers),
        cmocka_unit_test(test_forget),       cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
