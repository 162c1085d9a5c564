#include "compile/jit/jit_choose.h"

#include "compile/jit/jit_tune.h"
#include "compile/tune/predict.h"

bool jit_can_choose(const tilec_kernel *kernel) {
    const Jit *jit = kernel->source;
    if (!tune_can_predict(kernel->device) || jit->switches.sanitize) return false;
    ArenaMark mark = arena_mark(jit->source->scratch);
    TuneSearch s = {.arena = jit->source->scratch, .device = kernel->device};
    bool some = tune_space(&s, jit->source->unit->file, jit->kernel, &jit->spec) && s.count > 1;
    arena_reset(jit->source->scratch, mark);
    return some;
}

// The row of the promising candidate, which has no consts if that is the default.
static void estimate(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                     const FrontSpec *spec, TuneRow *row) {
    const Jit *jit = kernel->source;
    TuneSearch s = {.arena = jit->source->scratch, .device = kernel->device};
    TuneLaunch launch = {jit->source->unit, jit->kernel, spec, args, count};
    if (!tune_space(&s, jit->source->unit->file, jit->kernel, spec)) return;
    if (!tune_predict(&s, &launch)) return;
    const TuneCandidate *best = tune_promising(&s);
    if (best != s.candidates) tune_consts(s.arena, &s, best, row);
}

bool jit_choose(const tilec_kernel *kernel, const tilec_arg *args, size_t count,
                const FrontSpec *spec, TuneRow *row) {
    Jit *jit = kernel->source;
    TuneRow made;
    if (!jit->chooses || !jit_tune_key(jit, jit->source->scratch, args, count, spec, &made))
        return false;
    const TuneRow *known = tune_find(&jit->chosen, &made);
    if (!known) {
        estimate(kernel, args, count, spec, &made);
        made = tune_copy(jit->arena, &made);
        tune_put(jit->arena, &jit->chosen, &made);
        known = &made;
    }
    *row = *known;
    return row->consts.count > 0;
}

void jit_choose_default(const tilec_kernel *kernel, const TuneRow *row) {
    Jit *jit = kernel->source;
    for (size_t i = 0; i < jit->chosen.rows.count; i++)
        if (jit->chosen.rows.data[i].consts.data == row->consts.data)
            jit->chosen.rows.data[i].consts.count = 0;
}
