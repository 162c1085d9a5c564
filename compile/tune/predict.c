#include "compile/tune/predict.h"

#include <math.h>
#include <string.h>

#include "compile/jit/compiler.h"
#include "compile/pipeline/compile.h"
#include "compile/tune/model.h"
#include "runtime/context.h"
#include "target/rates.h"

// Candidates, and ops of all of them; larger spaces are not estimated, since a launch waits for it:
// it takes two to four microseconds an op.
enum { ESTIMATED_MAX = 512, OPS_MAX = 20000 };
// How much less time than the default's is promising, by estimates.
static const double GAIN_CPU = 1.1, GAIN_GPU = 1.3;

bool tune_can_predict(const tilec_device *device) {
    CodeTarget target;
    if (device->api->simulated || !compiler_target_of(device, &target)) return false;
    return code_target_is_gpu(target) ? rates_of(target.gpu) != NULL
                                      : rates_of_cpu(target.cpu) != NULL;
}

static bool find_machine(tilec_device *device, ModelMachine *machine) {
    CodeTarget target;
    tilec_device_info info = {.size = sizeof info};
    if (!tune_can_predict(device) || !compiler_target_of(device, &target)) return false;
    if (tilec_device_describe(device, &info)) {
        rt_begin(device->context);  // its failure is none of the launch
        return false;
    }
    return model_machine(target, info.multiprocessors, machine);
}

// Options do not change tile IR: neighbours that differ only in them share it.
static bool same_consts(const TuneSearch *s, const TuneCandidate *a, const TuneCandidate *b) {
    for (size_t k = 0; k < s->name_count; k++)
        if (a->values[k] != b->values[k] && !frontend_is_option(s->names[k]->name)) return false;
    return true;
}

static ModelOptions options_of(const TuneSearch *s, const TuneCandidate *c) {
    ModelOptions options = {0};
    for (size_t k = 0; k < s->name_count; k++) {
        if (strcmp(s->names[k]->name, "warps") == 0) options.warps = (int)c->values[k];
        if (strcmp(s->names[k]->name, "stages") == 0) options.stages = (int)c->values[k];
    }
    return options;
}

// The candidate's tile IR; NULL: it does not compile.
static const IrFunc *tile_ir(Arena *arena, const TuneSearch *s, const TuneLaunch *launch,
                             const TuneCandidate *c) {
    Unit unit = *launch->unit;
    unit.arena = arena;
    unit.diags = diags_create(arena, unit.sources);
    FrontSpec spec = *launch->spec;
    TuneRow row = {0};
    memset(&spec.bindings, 0, sizeof spec.bindings);
    for (size_t i = 0; i < launch->spec->bindings.count; i++)
        vec_push(arena, &spec.bindings, launch->spec->bindings.data[i]);
    tune_consts(arena, s, c, &row);
    tune_apply(arena, unit.names, launch->kernel, &row, &spec);
    const Compiled *compiled = unit_compile(&unit, launch->kernel, &spec, NULL);
    return compiled ? compiled->func : NULL;
}

bool tune_predict(TuneSearch *s, const TuneLaunch *launch) {
    ModelMachine machine;
    if (s->count < 2 || s->count > ESTIMATED_MAX || !find_machine(s->device, &machine))
        return false;
    Arena *arena = arena_create();
    const IrFunc *tile = NULL;
    bool known = true;
    for (size_t i = 0; i < s->count && known; i++) {
        TuneCandidate *c = &s->candidates[i];
        if (!i || !same_consts(s, c, c - 1)) {
            arena_reset(arena, (ArenaMark){0});
            tile = tile_ir(arena, s, launch, c);
        }
        c->estimate = tile ? model_seconds(arena, tile, launch->args, launch->count,
                                           options_of(s, c), &machine)
                           : INFINITY;
        known = c->estimate > 0 && !(tile && tile->op_count * s->count > OPS_MAX);
    }
    arena_destroy(arena);
    for (size_t i = 0; i < s->count && !known; i++) s->candidates[i].estimate = 0;
    return known;
}

const TuneCandidate *tune_promising(const TuneSearch *s) {
    CodeTarget target;
    bool gpu = compiler_target_of(s->device, &target) && code_target_is_gpu(target);
    const TuneCandidate *first = s->candidates, *best = first;
    if (isinf(first->estimate)) return first;  // it was refused, or compiles against all numbers
    for (size_t i = 1; i < s->count; i++)
        if (s->candidates[i].estimate < best->estimate) best = &s->candidates[i];
    return best->estimate * (gpu ? GAIN_GPU : GAIN_CPU) < first->estimate ? best : first;
}
