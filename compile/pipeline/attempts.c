#include "compile/pipeline/attempts.h"

#include "base/os/os.h"
#include "base/os/os_thread.h"
#include "base/recover.h"
#include "passes/gpu/tuning.h"

// The maximum if no attempt gains anything.
enum { ATTEMPTS_MAX = 8 };

typedef struct Attempt {
    const AttemptJob *job;
    CodegenOptions options;  // a copy, with its schedule
    CodegenTimes times;
    CodegenFacts facts;
    Arena *arena;  // of the code; NULL: out of memory
    Str code;
    bool made;
    OsThread *thread;  // the thread that it runs on, until it was waited for; NULL: this one
} Attempt;

typedef struct Attempts {
    const AttemptJob *job;
    AttemptProgram program;
    AttemptFault fault;  // of the best code
    Attempt *best;
    CodegenTimes times;
    Attempt list[ATTEMPTS_MAX];
    uint32_t count;
} Attempts;

// ---- one attempt --------------------------------------------------------------------------------

static Attempt *add(Attempts *all, CodegenSchedule schedule) {
    CHECK(all->count < ATTEMPTS_MAX, "%u attempts", all->count);
    Attempt *a = &all->list[all->count++];
    *a = (Attempt){.job = all->job, .options = *all->job->options};
    a->options.schedule = schedule;
    a->options.times = &a->times;
    a->options.facts = &a->facts;
    return a;
}

// Its diagnostics are dropped: the first attempt has reported the same, or this one does not count.
static void make_again(Attempt *a) {
    Diags *unheard = diags_create(a->arena, a->job->func->module->sources);
    a->options.remarks = NULL;
    a->made = a->job->api->compile(a->arena, a->job->func, &a->options, &a->code, unheard);
}

// An attempt in its own thread or region: without memory it ends as failed.
static void run(void *user) {
    Attempt *a = user;
    Recovery r;
    a->options.no_memory = os_out_of_memory;
    if (RECOVER_FAILED(&r)) {
        a->made = false;
        a->arena = NULL;
        return;
    }
    a->arena = arena_create();
    make_again(a);
    recover_keep_all();
    recover_end(&r);
}

static void wait_for(Attempt *a) {
    if (a->thread) os_thread_join(a->thread);
    a->thread = NULL;
}

static void end_all(Attempts *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        wait_for(&all->list[i]);
        if (all->list[i].arena) arena_destroy(all->list[i].arena);
    }
}

// ---- in order -----------------------------------------------------------------------------------

static uint32_t running(const Attempts *all) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++) count += all->list[i].thread != NULL;
    return count;
}

static Attempt *begun(Attempts *all, CodegenSchedule s) {
    for (uint32_t i = 0; i < all->count; i++) {
        CodegenSchedule own = all->list[i].options.schedule;
        if (own.strategy == s.strategy && own.count == s.count) return &all->list[i];
    }
    return NULL;
}

// Begins on idle processors the attempts that would follow `last` if none of them gains anything.
static void begin_parallel(Attempts *all, CodegenStrategy last, const AttemptFault *fault,
                           unsigned most) {
    CodegenSchedule next;
    while (running(all) < most && attempts_next(last, fault, &next)) {
        last = next.strategy;
        if (begun(all, next)) continue;
        Attempt *a = add(all, next);
        // looking up ranges allocates memory, which only one thread may do
        a->options.ranges = NULL;
        a->thread = os_thread_start("tilec-attempt", run, a);
        if (a->thread) continue;
        all->count--;
        return;
    }
}

static void add_times(CodegenTimes *to, const CodegenTimes *t) {
    to->build += t->build, to->optimise += t->optimise;
    to->emit += t->emit, to->link += t->link;
}

static Attempt *try(Attempts *all, CodegenSchedule schedule) {
    Attempt *a = begun(all, schedule);
    if (!a) {
        a = add(all, schedule);
        begin_parallel(all, schedule.strategy, &all->fault, all->job->idle);
        run(a);
    }
    wait_for(a);
    add_times(&all->times, &a->times);
    return a;
}

// Begins a second attempt if the first one is probably not good enough and a processor is idle.
static void begin_expected(Arena *arena, Attempts *all) {
    const CodegenOptions *o = all->job->options;
    if (!all->job->idle || o->target.gpu.vendor != GPU_AMD || o->quick || o->output == CODEGEN_LLVM)
        return;
    CodegenFacts facts = attempts_expected(arena, &all->program, all->job->func);
    AttemptFault fault = attempts_fault(&all->program, &facts);
    if (fault.waves > TUNE_WAVES_FEW) fault.nearly = 0;
    begin_parallel(all, o->schedule.strategy, &fault, 1);
}

static bool may_go_on(const Attempts *all, const Attempt *first) {
    return !all->job->options->quick && first->facts.known && !first->facts.is_long;
}

static bool in_order(Arena *arena, Attempts *all, Str *output, Diags *diags) {
    const AttemptJob *job = all->job;
    Attempt *first = add(all, job->options->schedule);
    begin_expected(arena, all);
    if (!job->api->compile(arena, job->func, &first->options, output, diags)) return false;
    all->best = first;
    all->times = first->times;
    all->fault = attempts_fault(&all->program, &first->facts);
    CodegenSchedule next = job->options->schedule;
    while (may_go_on(all, first) && attempts_next(next.strategy, &all->fault, &next)) {
        Attempt *a = try(all, next);
        AttemptFault fault = attempts_fault(&all->program, &a->facts);
        if (!a->made || !attempts_is_better(&fault, &all->fault)) continue;
        all->best = a;
        all->fault = fault;
    }
    if (all->best->arena)
        *output = (Str){arena_text(arena, all->best->code.text, all->best->code.size),
                        all->best->code.size};
    return true;
}

bool attempts_compile(Arena *arena, const AttemptJob *job, Str *output, Diags *diags) {
    Attempts *all = arena_new(arena, Attempts, 1);
    all->job = job;
    all->program = (AttemptProgram){.target = job->options->target,
                                    .threads = ir_launch_thread_count(job->func),
                                    .lanes = ir_lane_count(job->func)};
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        end_all(all);
        os_out_of_memory();
    }
    bool fine = in_order(arena, all, output, diags);
    recover_end(&r);
    if (fine && job->options->facts) *job->options->facts = all->best->facts;
    if (job->options->times) *job->options->times = all->times;
    end_all(all);
    return fine;
}
