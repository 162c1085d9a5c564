// Finds where lanes that diverge at a branch reconverge: its immediate post-dominator.
//
// The nodes of the graph are the instructions, numbered from the end; an extra node is the end of
// the lanes. Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, on the reversed graph.
#include "sim/ptx/decode.h"

typedef struct Graph {
    const SimInstr *code;
    uint32_t count;    // number of instructions; node `count` is the end
    uint32_t *order;   // nodes in reverse postorder of the reversed graph
    uint32_t *number;  // a node's index in `order` + 1; 0: the end is not reachable from it
    uint32_t reached;
    uint32_t *up;          // immediate post-dominator of each node
    uint32_t *first, *to;  // predecessors of node n: to[first[n]] to to[first[n + 1]]
} Graph;

static uint32_t successors(const Graph *g, uint32_t n, uint32_t at) {
    const SimInstr *i = &g->code[n];
    bool guarded = i->guard.number >= 0;
    switch ((SimFlow)i->flow) {
    case SIM_JUMP: return at == 0 ? i->target : UINT32_MAX;
    case SIM_BRANCH: return at == 0 ? i->target : at == 1 ? n + 1 : UINT32_MAX;
    case SIM_SWITCH: {
        const SimSwitch *s = i->detail;
        return at < s->count ? s->targets[at] : UINT32_MAX;
    }
    case SIM_EXIT:
        if (at == 0) return g->count;
        return guarded && at == 1 ? n + 1 : UINT32_MAX;
    case SIM_NEXT:
    case SIM_BARRIER:
    case SIM_COLLECT:
    case SIM_WAIT: return at == 0 ? n + 1 : UINT32_MAX;
    }
    return UINT32_MAX;
}

// A guarded exit ends some lanes, and the others do not wait for them.
static bool counts(const Graph *g, uint32_t n, uint32_t at) {
    return !(g->code[n].flow == SIM_EXIT && g->code[n].guard.number >= 0 && at == 0);
}

static void find_predecessors(Arena *arena, Graph *g) {
    uint32_t *fill = arena_new(arena, uint32_t, g->count + 2);
    g->first = arena_new(arena, uint32_t, g->count + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t n = 0; n < g->count; n++) {
            uint32_t s;
            for (uint32_t at = 0; (s = successors(g, n, at)) != UINT32_MAX; at++) {
                if (!counts(g, n, at)) continue;
                if (pass)
                    g->to[fill[s]++] = n;
                else
                    g->first[s + 1]++;
            }
        }
        if (pass) break;
        for (uint32_t n = 0; n <= g->count; n++) g->first[n + 1] += g->first[n];
        g->to = arena_new(arena, uint32_t, g->first[g->count + 1] + 1);
        for (uint32_t n = 0; n <= g->count; n++) fill[n] = g->first[n];
    }
}

// Postorder from the end over predecessors, with an explicit stack.
static void number_nodes(Arena *arena, Graph *g) {
    uint32_t *stack = arena_new(arena, uint32_t, g->count + 2);
    uint32_t *next = arena_new(arena, uint32_t, g->count + 2), depth = 0;
    bool *seen = arena_new(arena, bool, g->count + 2);
    g->order = arena_new(arena, uint32_t, g->count + 2);
    g->number = arena_new(arena, uint32_t, g->count + 2);
    stack[depth++] = g->count;
    seen[g->count] = true;
    next[g->count] = g->first[g->count];
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (next[n] < g->first[n + 1]) {
            uint32_t p = g->to[next[n]++];
            if (seen[p]) continue;
            seen[p] = true;
            next[p] = g->first[p];
            stack[depth++] = p;
            continue;
        }
        g->order[g->reached++] = n;
        g->number[n] = g->reached;
        depth--;
    }
}

static uint32_t nearest_common(const Graph *g, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->number[a] < g->number[b]) a = g->up[a];
        while (g->number[b] < g->number[a]) b = g->up[b];
    }
    return a;
}

static bool improve(Graph *g, uint32_t n) {
    uint32_t best = UINT32_MAX, s;
    for (uint32_t at = 0; (s = successors(g, n, at)) != UINT32_MAX; at++) {
        if (!counts(g, n, at) || !g->number[s] || g->up[s] == UINT32_MAX) continue;
        best = best == UINT32_MAX ? s : nearest_common(g, best, s);
    }
    if (best == g->up[n]) return false;
    g->up[n] = best;
    return true;
}

void ptx_graph_joins(Arena *arena, SimInstr *code, uint32_t count) {
    ArenaMark mark = arena_mark(arena);
    Graph g = {.code = code, .count = count};
    find_predecessors(arena, &g);
    number_nodes(arena, &g);
    g.up = arena_new(arena, uint32_t, count + 1);
    for (uint32_t n = 0; n <= count; n++) g.up[n] = UINT32_MAX;
    g.up[count] = count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = g.reached; n-- > 0;)
            if (g.order[n] != count) changed |= improve(&g, g.order[n]);
    }
    for (uint32_t n = 0; n < count; n++) code[n].join = g.up[n] == UINT32_MAX ? count : g.up[n];
    arena_reset(arena, mark);
}
