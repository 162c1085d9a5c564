// The pipelines: constant tables of passes, each entry with the reason for its position.
#include <string.h>

#include "passes/pass.h"

static const PassStep tile_steps[] = {
    {PASS_INLINE, "first, so that all other passes see whole kernels"},
    {PASS_SPECIALIZE, "fixed extents become constants before other passes look for constants"},
    {PASS_SIMPLIFY, "folds the new constants; loops get constant bounds"},
    {PASS_LOOPS, "loops of one iteration open before code is moved and shared"},
    {PASS_SIMPLIFY, "the opened bodies fold with the values around them"},
    {PASS_CSE, "after folding, so that equal values look equal"},
    {PASS_LICM, "after cse: each invariant moves once"},
    {PASS_CSE, "equal values hoisted out of two loops are now in one block"},
    {PASS_SIMPLIFY, "values that cse merged simplify: x - x, comparisons of a value with itself"},
    {PASS_DCE, "before bounds, which should prove nothing for dead code"},
    {PASS_EXPAND_MATH,
     "after licm and cse have moved and shared the short form; before bounds, which stays last"},
    {PASS_SIMPLIFY, "functions of constants fold by their expansion, the one source of their bits"},
    {PASS_CSE, "sin and cos of one value share their reduction"},
    {PASS_BOUNDS,
     "last: its facts come from guards and loops, and no code may move across these later"},
    {PASS_DCE, "indices of masks that bounds proved true are unused, and constants of expansions"},
};

// CPU_LOOPS_FIRST and CPU_LOOPS_COUNT name the part that is PIPELINE_CPU_LOOPS.
enum { CPU_LOOPS_FIRST = 3, CPU_LOOPS_COUNT = 5 };
static const PassStep cpu_steps[] = {
    {PASS_ROLL, "first: the time of all passes below grows with the length of the code"},
    {PASS_CPU_PEEL_ROWS, "before any change of tiles: it looks for loops over whole ones"},
    {PASS_CSE, "adjacent bodies share loads and computations"},
    {PASS_CPU_LOWER_ASSERTS, "asserts compute with tiles, which are lowered with the rest"},
    {PASS_CPU_DEEPEN_DOT,
     "before programs are merged, which depends on whether products fit in tiles"},
    {PASS_CPU_MERGE_PROGRAMS, "last change of the tiles' shapes, which the plan depends on"},
    {PASS_CPU_PLAN, "directly before lowering, which reads its decisions"},
    {PASS_CPU_LOWER, "all later passes work on loops over vectors"},
    {PASS_CSE, "addresses and masks that several loops computed for themselves"},
    {PASS_SIMPLIFY,
     "indices by constants, masks that are all true, minima of values that cse merged"},
    {PASS_LICM, "addresses of rows move out of the loops over their elements"},
    {PASS_CSE, "equal values hoisted out of two loops are now in one block"},
    {PASS_CPU_PAIRS, "after the last simplify, which would merge its casts with those before"},
    {PASS_LEGALIZE, "after the last simplify, whose rules would merge its casts again"},
    {PASS_CSE, "one value widened twice, masks and constants of formats"},
    {PASS_DCE, "values without uses are not compiled"},
    {PASS_CPU_PLACE, "last: the remaining scratch memory gets its addresses"},
};

static const PassStep gpu_steps[] = {
    {PASS_ROLL, "first: the time of all passes below grows with the length of the code"},
    {PASS_SPLIT, "early: the masks it makes unnecessary must be gone before layouts are chosen"},
    {PASS_SIMPLIFY, "selects by masks that hold, bounds of the loops"},
    {PASS_BOUNDS, "loads of the steps without masks are inside of their views"},
    {PASS_DCE, "the masks' indices"},
    {PASS_GPU_GATHER_ROWS, "before layouts, which are chosen for the reductions"},
    {PASS_GPU_TURN_POINTERS, "before layouts; a turned factor is a permute, as it is of a view"},
    {PASS_GPU_PROGRAM_ORDER, "while the operands of products are still loads"},
    {PASS_GPU_PERSISTENT, "with the groups of the order; before the tiles have layouts"},
    {PASS_GPU_LAYOUT, "first of the passes on tiles: all others depend on which thread holds what"},
    {PASS_LICM, "conversions of values that a loop does not change are hoisted"},
    {PASS_CSE, "conversions of one value to the same layout"},
    {PASS_DCE, "values rematerialized in another layout are not needed in the first one"},
    {PASS_GPU_PIPELINE, "loads move here, so that fences see where they are"},
    {PASS_GPU_STAGE_FACTORS, "carried values are known now, and how much shared memory is left"},
    {PASS_GPU_UNROLL_RINGS, "after all that look at the one loop; slots are not lowered yet"},
    {PASS_GPU_FENCES,
     "after layouts: it is known which thread accesses what, and ops still access whole tiles"},
    {PASS_GPU_THREADS, "tiles become registers, shuffles and shared memory"},
    {PASS_SIMPLIFY, "lowering leaves indices by constants and masks that are all true"},
    {PASS_CSE, "addresses and masks that several accesses computed for themselves"},
    {PASS_LICM, "values that do not change in a loop of the program are hoisted"},
    {PASS_CSE, "equal values hoisted out of two loops are now in one block"},
    {PASS_LEGALIZE, "after the last simplify, whose rules would merge its casts again"},
    {PASS_CSE, "one value widened twice, masks and constants of formats"},
    {PASS_DCE, "values without uses are not compiled"},
    {PASS_GPU_PLACE, "before barriers, which are needed where addresses overlap"},
    {PASS_GPU_BARRIERS, "it works on the remaining accesses and their addresses"},
    {PASS_GPU_SINK_WAITS, "after barriers, which it does not cross"},
    {PASS_GPU_SINK_LOADS, "last: loads move after the barriers that remain"},
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
