#include "compile/jit/child.h"

#include "base/os/os_child.h"
#include "compile/jit/plugin.h"
#include "compile/pipeline/attempts.h"
#include "compile/pipeline/defect.h"
#include "compile/pipeline/diag_wire.h"

// ---- In the child ----

typedef struct ChildWork {
    Arena *arena;
    const ChildJob *job;
    Diags *diags;
} ChildWork;

static void put_times(StrBuf *out, const CodegenTimes *times) {
    wire_put_number(out, times->build);
    wire_put_number(out, times->optimise);
    wire_put_number(out, times->emit);
    wire_put_number(out, times->link);
}

// The child does not report defects: the parent keeps the file, however this process ends.
static bool compile(ChildWork *w, const CodegenApi *api, CodegenTimes *times, Str *output) {
    CodegenOptions options = *w->job->options;
    options.on_defect = NULL;
    options.no_memory = os_out_of_memory;
    options.times = times;
    AttemptJob job = {
        .api = api, .func = w->job->func, .options = &options, .idle = os_cpu_count() - 1};
    return attempts_compile(w->arena, &job, output, w->diags);
}

static void work(void *argument, OsChildOut *out) {
    ChildWork *w = argument;
    size_t before = diags_count(w->diags);
    CodegenTimes times = {0};
    Str output = {0};
    const CodegenApi *api = plugin_open(plugin_create(w->job->library), w->diags);
    bool good = api && compile(w, api, &times, &output);
    StrBuf message = strbuf(w->arena);
    wire_put_number(&message, good);
    wire_put_diags(&message, w->diags, before);
    put_times(&message, &times);
    wire_put_text(&message, output);
    os_child_write(out, message.text, message.size);
}

// ---- In this process ----

static const char *keep_reproducer(Arena *arena, const ChildJob *job) {
    const CodegenOptions *o = job->options;
    Defect defect = {.arena = arena, .func = job->func, .target = o->target, .entry = o->entry};
    return defect_write(&defect);
}

static void report(Arena *arena, const ChildJob *job, const OsChildEnd *end, Diags *diags) {
    Span span = job->func->span;
    switch (end->outcome) {
    case OS_CHILD_SIGNAL:
        diag_error(diags, span, DIAG_DEFECT,
                   "the code generator crashed (signal %d) on kernel '%s'", end->number,
                   job->func->name);
        break;
    case OS_CHILD_TIMED_OUT:
        diag_error(diags, span, DIAG_DEFECT,
                   "the code generator did not end within %u seconds on kernel '%s'", job->seconds,
                   job->func->name);
        break;
    case OS_CHILD_EXITED:
    case OS_CHILD_DONE:
        diag_error(diags, span, DIAG_DEFECT,
                   "the code generator ended early (status %d) on kernel '%s'", end->number,
                   job->func->name);
        break;
    }
    for (Str rest = end->errors; rest.size;) {
        Str line = str_trim(str_cut(rest, '\n', &rest));
        if (line.size) diag_note(diags, (Span){0}, "it said: %.*s", STR_ARG(line));
        if (line.size) break;  // a stack trace follows
    }
    const char *file = keep_reproducer(arena, job);
    if (file) diag_note(diags, (Span){0}, "its input is saved in %s", file);
    diag_help(diags, "this is a defect of tilec itself; please report it with that file");
}

static bool read_answer(const ChildJob *job, Str bytes, Str *output, Diags *diags, bool *good) {
    WireReader r = {.bytes = bytes};
    *good = wire_number(&r) == 1;
    wire_diags(&r, diags);
    CodegenTimes times;
    times.build = wire_number(&r);
    times.optimise = wire_number(&r);
    times.emit = wire_number(&r);
    times.link = wire_number(&r);
    *output = wire_text(&r);
    if (job->options->times) *job->options->times = times;
    return wire_ended(&r);
}

// The limit in whole seconds, at least one. The child must be the process that is ended.
static unsigned seconds_left(const PassLimit *limit) {
    const uint64_t second = UINT64_C(1000000000);
    uint64_t now = os_time_ns();
    uint64_t left = limit->end > now ? (limit->end - now + second - 1) / second : 1;
    return (unsigned)left;
}

bool child_compile(Arena *arena, const ChildJob *job, Str *output, Diags *diags) {
    ChildJob own = *job;
    bool limited = own.limit.end != 0;
    if (!own.seconds) own.seconds = CHILD_SECONDS;
    if (limited) own.seconds = seconds_left(&own.limit);
    ChildWork w = {.arena = arena, .job = &own, .diags = diags};
    OsChildEnd end;
    OsError e;
    if (!os_child_run(arena, work, &w, own.seconds, &end, &e)) {
        diag_error(diags, own.func->span, DIAG_UNAVAILABLE,
                   "cannot create a process to compile in: %s", e.text);
        return false;
    }
    bool good = false;
    if (end.outcome == OS_CHILD_EXITED && end.number == OS_CHILD_NO_MEMORY) os_out_of_memory();
    if (end.outcome == OS_CHILD_DONE && read_answer(&own, end.output, output, diags, &good))
        return good;
    if (limited && end.outcome == OS_CHILD_TIMED_OUT)
        return pass_limit_holds(&own.limit, own.func, "LLVM", diags);
    report(arena, &own, &end, diags);
    return false;
}
