// The properties that every random Tile text must have.
#include "frontend/tile/tile.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"
#include "tests/gen/gen.h"
#include "tests/support/any_launch.h"
#include "tests/support/lowered.h"

enum { STEPS = 20000 };

typedef struct World {
    Arena *arena;
    Sources *sources;
    Interner *names;
    Diags *diags;
    Str text;
} World;

static bool problem_is(const World *w, Arena *arena, uint64_t seed, Str *problem, const char *what,
                       Str more) {
    StrBuf text = strbuf(arena);
    strbuf_printf(&text, "source seed %llu: %s: %.*s\n", (unsigned long long)seed, what,
                  STR_ARG(more));
    diags_text(w->diags, (DiagStyle){0}, &text);
    strbuf_printf(&text, "---- the source\n%.*s\n", STR_ARG(w->text));
    *problem = strbuf_str(&text);
    return false;
}

static IrFunc *elaborate(const World *w, TileFile *file) {
    IrModule *m = ir_module_create(w->arena, w->sources, w->names);
    IrFunc *f = tile_elaborate(file, m, tile_kernel(file, 0), &(FrontSpec){0}, w->diags);
    return f && ir_verify(m, w->diags) ? f : NULL;
}

// The same on the interpreter before and after the pipeline; runs that end early say nothing.
// Lowered code sums in another order: then numbers are small.
static Str difference(const World *w, const IrFunc *plain, const IrFunc *passed, uint64_t seed) {
    AnyValues values = passed->level == IR_LEVEL_TILE ? ANY_BITS : ANY_EXACT;
    AnyLaunch *a = any_launch(w->arena, plain, seed, values);
    AnyLaunch *b = any_launch(w->arena, passed, seed, values);
    if (!a || !b || !any_launch_allowed(a, plain)) return (Str){0};
    a->launch.grid[0] = b->launch.grid[0] = 1;
    IrOutcome before = any_launch_run(a, plain, STEPS, w->diags);
    // Loops over elements take many more steps than tile ops.
    uint64_t steps = passed->level == IR_LEVEL_TILE ? 2 * STEPS : 0;
    IrOutcome after = any_launch_run(b, passed, steps, w->diags);
    if (before != IR_RUN_DONE) return (Str){0};
    if (after != IR_RUN_DONE) return STR("the run ends otherwise");
    return any_launch_difference(w->arena, a, b, false);
}

static bool check(const World *w, uint64_t seed, Arena *arena, Str *problem) {
    const SourceFile *source = source_add(w->sources, STR("random.tile"), w->text);
    TileFile *file = tile_load(w->arena, w->sources, w->names, source, NULL, NULL, w->diags);
    bool good = diags_errors(w->diags) == 0 && tile_check(file, w->diags);
    if (!good || diags_errors(w->diags))
        return problem_is(w, arena, seed, problem, "is refused", (Str){0});
    IrFunc *plain = elaborate(w, file), *passed = elaborate(w, file);
    if (!plain || !passed)
        return problem_is(w, arena, seed, problem, "does not become right IR", (Str){0});
    size_t count;
    const PassStep *steps = pipeline_steps(PIPELINE_TILE, &count);
    if (!passes_run(passed->module, steps, count, &(PassOptions){.verify = true}, w->diags))
        return problem_is(w, arena, seed, problem, "a pass failed", (Str){0});
    any_launch_expand(plain->module, w->diags);
    Str found = difference(w, plain, passed, seed);
    if (found.size)
        return problem_is(w, arena, seed, problem, "another result after passes", found);
    IrFunc *lowered = elaborate(w, file);
    AnyLaunch *launch = lowered ? any_launch(w->arena, lowered, seed, ANY_EXACT) : NULL;
    unsigned facts = launch ? lowered_facts(lowered, launch->args) : 0;
    if (!lowered || !lowered_run(lowered->module, seed, facts, w->diags))
        return problem_is(w, arena, seed, problem, "is not lowered", (Str){0});
    found = difference(w, plain, lowered, seed);
    return !found.size || problem_is(w, arena, seed, problem, "another result lowered", found);
}

bool gen_check_source(uint64_t seed, Arena *arena, Str *problem) {
    World w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    w.text = gen_source(w.arena, seed);
    bool fine = check(&w, seed, arena, problem);
    arena_destroy(w.arena);
    return fine;
}
