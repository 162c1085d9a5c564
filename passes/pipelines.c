// The recipes: constant tables of passes, each entry with the reason for its place.
#include <string.h>

#include "passes/pass.h"

static const PassStep tile_steps[] = {
    {PASS_INLINE, "first, so that all that follows sees whole kernels"},
    {PASS_SPECIALIZE, "fixed extents become constants before anything asks for constants"},
    {PASS_SIMPLIFY, "folds what specialising made constant; loops see their bounds"},
    {PASS_LOOPS, "loops of one iteration open before code is moved and shared"},
    {PASS_SIMPLIFY, "the opened bodies fold with the values around them"},
    {PASS_CSE, "after folding, so that equal values look equal"},
    {PASS_LICM, "after cse: each invariant moves once"},
    {PASS_CSE, "what moved out of two loops meets before them"},
    {PASS_SIMPLIFY, "values that cse made one simplify: x - x, compares of the same"},
    {PASS_DCE, "before bounds, which should prove nothing for code that goes"},
    {PASS_EXPAND_MATH,
     "after licm and cse have moved and shared the short form, before bounds, which stays last"},
    {PASS_SIMPLIFY, "functions of constants fold by their expansion: one source of bits"},
    {PASS_CSE, "sin and cos of one value share their reduction"},
    {PASS_BOUNDS,
     "last: it reads facts of guards and loops and nothing may move across them after"},
    {PASS_DCE,
     "masks that bounds proved true leave their indices behind; constants of expansions, too"},
};

// CPU_LOOPS_FIRST and CPU_LOOPS_COUNT name the part that is PIPELINE_CPU_LOOPS.
enum { CPU_LOOPS_FIRST = 2, CPU_LOOPS_COUNT = 5 };
static const PassStep cpu_steps[] = {
    {PASS_CPU_PEEL_ROWS, "first: it looks for loops over whole tiles"},
    {PASS_CSE, "bodies side by side share what they load and compute"},
    {PASS_CPU_LOWER_ASSERTS, "what asserts compute is tile code, which is lowered with the rest"},
    {PASS_CPU_DEEPEN_DOT, "before programs are merged, which asks whether products fit in tiles"},
    {PASS_CPU_MERGE_PROGRAMS, "last of what changes tiles: the plan is one of their shapes"},
    {PASS_CPU_PLAN, "straight before lowering, which reads what is decided"},
    {PASS_CPU_LOWER, "all that follows works on loops over vectors"},
    {PASS_CSE, "addresses and masks that several loops computed for themselves"},
    {PASS_SIMPLIFY, "indices by constants, masks that are all true, least of what cse found one"},
    {PASS_LICM, "addresses of rows move out of the loops over their elements"},
    {PASS_CSE, "what moved out of two loops meets before them"},
    {PASS_LEGALIZE, "after the last simplify, whose rules would join its casts again"},
    {PASS_CSE, "one value widened twice, masks and constants of formats"},
    {PASS_DCE, "what nobody needs any more is not compiled"},
    {PASS_CPU_PLACE, "last: scratch memory that is still there gets its places"},
};

static const PassStep gpu_steps[] = {
    {PASS_SPLIT, "first: what it leaves out is to be gone before anything is laid out"},
    {PASS_SIMPLIFY, "selects by masks that hold, bounds of the loops"},
    {PASS_BOUNDS, "loads of the steps without masks are inside of their views"},
    {PASS_DCE, "the masks' indices"},
    {PASS_GPU_PROGRAM_ORDER, "while products are products of what is loaded"},
    {PASS_GPU_LAYOUT, "first of the tiles: all that follows asks who holds what"},
    {PASS_LICM, "conversions of what a loop does not change move out of it"},
    {PASS_CSE, "conversions of one value that are wanted alike"},
    {PASS_DCE, "what was made once more in another layout is not needed in the first"},
    {PASS_GPU_PIPELINE, "loads move here, so that fences see where they are"},
    {PASS_GPU_STAGE_FACTORS, "what loops carry is known, and what is left of shared memory"},
    {PASS_GPU_FENCES, "after layouts: who touches what is known, and still by whole tiles"},
    {PASS_GPU_THREADS, "tiles become registers, shuffles and shared memory"},
    {PASS_SIMPLIFY, "lowering leaves indices by constants and masks that are all true"},
    {PASS_CSE, "addresses and masks that several accesses computed for themselves"},
    {PASS_LICM, "what does not change in a loop of the program moves out of it"},
    {PASS_CSE, "what moved out of two loops meets before them"},
    {PASS_LEGALIZE, "after the last simplify, whose rules would join its casts again"},
    {PASS_CSE, "one value widened twice, masks and constants of formats"},
    {PASS_DCE, "what nobody needs any more is not compiled"},
    {PASS_GPU_PLACE, "before barriers, which are needed where places meet"},
    {PASS_GPU_BARRIERS, "it looks at what is left of the accesses, and at their places"},
    {PASS_GPU_SINK_LOADS, "last: loads move behind the barriers that are left"},
};

static const struct {
    const char *name;
    const PassStep *steps;
    size_t count;
} pipelines[PIPELINES] = {
    [PIPELINE_NONE] = {"none", NULL, 0},
    [PIPELINE_TILE] = {"tile", tile_steps, sizeof tile_steps / sizeof tile_steps[0]},
    [PIPELINE_CPU] = {"cpu", cpu_steps, sizeof cpu_steps / sizeof cpu_steps[0]},
    [PIPELINE_CPU_LOOPS] = {"cpu_loops", cpu_steps + CPU_LOOPS_FIRST, CPU_LOOPS_COUNT},
    [PIPELINE_GPU] = {"gpu", gpu_steps, sizeof gpu_steps / sizeof gpu_steps[0]},
};

const PassStep *pipeline_steps(PipelineId id, size_t *count) {
    *count = pipelines[id].count;
    return pipelines[id].steps;
}

const char *pipeline_name(PipelineId id) { return pipelines[id].name; }

bool pipeline_from_text(Str text, PipelineId *id) {
    for (int i = 0; i < PIPELINES; i++) {
        if (str_equal(text, str(pipelines[i].name))) {
            *id = (PipelineId)i;
            return true;
        }
    }
    return false;
}
