// Warpgroups: four warps that must execute the same wgmma instructions.
#include <stdlib.h>
#include <string.h>

#include "base/os/os.h"
#include "sim/machine/hopper/wgmma.h"

static SimWarpgroup *group_of(SimWarp *w) { return &w->block->groups[w->index / SIM_GROUP_WARPS]; }

// Forgets the steps that all warps have executed.
static void forget(SimWarpgroup *g) {
    uint64_t least = g->next[0];
    for (uint32_t n = 1; n < SIM_GROUP_WARPS; n++) least = g->next[n] < least ? g->next[n] : least;
    uint32_t done = (uint32_t)(least - g->base);
    if (done < g->count / 2 + 1) return;
    g->count -= done, g->base = least;
    memmove(g->steps, g->steps + done, g->count * sizeof *g->steps);
}

static void add(SimWarpgroup *g, const SimGroupStep *step) {
    forget(g);
    if (g->count == g->capacity) {
        g->capacity = g->capacity ? 2 * g->capacity : 32;
        SimGroupStep *steps = realloc(g->steps, g->capacity * sizeof *steps);
        if (!steps) os_out_of_memory();
        g->steps = steps;
    }
    g->steps[g->count++] = *step;
}

static const char *difference(const SimGroupStep *x, const SimGroupStep *y) {
    return x->instr != y->instr ? "another instruction"
           : x->a != y->a       ? "another descriptor of A"
           : x->b != y->b       ? "another descriptor of B"
           : x->adds != y->adds ? "another scale-d"
                                : NULL;
}

bool sim_group_step(SimWarp *w, const SimGroupStep *step) {
    SimWarpgroup *g = group_of(w);
    uint64_t at = g->next[w->index % SIM_GROUP_WARPS]++;
    if (at == g->base + g->count) return add(g, step), true;
    const SimGroupStep *first = &g->steps[at - g->base];
    const char *what = difference(first, step);
    if (!what) return true;
    sim_fail(w, step->instr, (SimFault){.kind = SIM_FAULT_USE, .mask = w->mask},
             "'%s' of warp %u: another warp of its warpgroup executed %s here ('%s', descriptors "
             "%#llx and %#llx; here %#llx and %#llx)",
             step->instr->name, w->index, what, first->instr->name, (unsigned long long)first->a,
             (unsigned long long)first->b, (unsigned long long)step->a,
             (unsigned long long)step->b);
    return false;
}

void sim_groups_end(SimBlock *b) {
    for (uint32_t n = 0; n < b->warp_count / SIM_GROUP_WARPS; n++) {
        SimWarpgroup *g = &b->groups[n];
        for (uint32_t k = 0; k < SIM_GROUP_WARPS && !b->run->stop; k++) {
            if (g->next[k] == g->base + g->count) continue;
            SimWarp *w = &b->warps[n * SIM_GROUP_WARPS + k];
            const SimInstr *i = g->steps[g->next[k] - g->base].instr;
            sim_fail(w, i, (SimFault){.kind = SIM_FAULT_USE, .mask = UINT32_MAX},
                     "'%s': warp %u has ended without it, and other warps of its warpgroup have "
                     "executed it",
                     i->name, w->index);
        }
        g->base = g->count = 0;
        memset(g->next, 0, sizeof g->next);
    }
}
