// fns that call themselves, directly or through others (rule 30).
//
// A depth-first walk over the uses of fns by fns, with a stack of its own: chains may be long. A
// use that closes a cycle is reported and unbound, so that inlining always ends.
#include "frontend/tile/resolve.h"

typedef struct Visit {
    uint32_t fn;
    size_t next;  // index of the next entry of r->uses to look at
} Visit;

typedef struct CallWalk {
    Resolver *r;
    size_t *first;  // for each fn: the index of its first use in r->uses; one more at the end
    uint8_t *state;
    VEC(Visit) path;
} CallWalk;

enum { UNSEEN, OPEN, DONE };

static const char *fn_name(const CallWalk *w, uint32_t id) {
    return w->r->t->module.fns.data[id]->decl->name;
}

static void report_cycle(CallWalk *w, FnUse *use) {
    enum { NAMED = 12 };
    size_t start = w->path.count;
    while (w->path.data[start - 1].fn != use->to) start--;
    start--;
    StrBuf chain = strbuf(w->r->arena);
    for (size_t i = start; i < w->path.count && i < start + NAMED; i++)
        strbuf_printf(&chain, "%s → ", fn_name(w, w->path.data[i].fn));
    if (w->path.count - start > NAMED) strbuf_printf(&chain, "… → ");
    diag_error(w->r->diags, use->name->span, DIAG_RECURSION, "fn '%s' calls itself: %.*s%s",
               fn_name(w, use->to), STR_ARG(strbuf_str(&chain)), fn_name(w, use->to));
    for (size_t i = start; i + 1 < w->path.count && i < start + NAMED; i++) {
        const FnUse *step = &w->r->uses.data[w->path.data[i].next - 1];
        diag_note(w->r->diags, step->name->span, "'%s' calls '%s' here", fn_name(w, step->from),
                  fn_name(w, step->to));
    }
    diag_help(w->r->diags, "fns are inlined; write a loop");
    use->name->decl = NULL;
}

static void enter(CallWalk *w, uint32_t fn) {
    Visit visit = {fn, w->first[fn]};
    w->state[fn] = OPEN;
    vec_push(w->r->arena, &w->path, visit);
}

static void walk_from(CallWalk *w, uint32_t root) {
    enter(w, root);
    while (w->path.count) {
        Visit *top = &vec_last(&w->path);
        if (top->next == w->first[top->fn + 1]) {
            w->state[top->fn] = DONE;
            w->path.count--;
            continue;
        }
        FnUse *use = &w->r->uses.data[top->next++];
        if (w->state[use->to] == OPEN) {
            report_cycle(w, use);
        } else if (w->state[use->to] == UNSEEN) {
            enter(w, use->to);
        }
    }
}

void resolve_recursion(Resolver *r) {
    uint32_t count = (uint32_t)r->t->module.fns.count;
    CallWalk w = {.r = r,
                  .first = arena_new(r->arena, size_t, count + 1),
                  .state = arena_new(r->arena, uint8_t, count + 1)};
    size_t use = 0;  // fns were resolved in the order of their ids
    for (uint32_t fn = 0; fn <= count; fn++) {
        while (use < r->uses.count && r->uses.data[use].from < fn) use++;
        w.first[fn] = use;
    }
    for (uint32_t fn = 0; fn < count; fn++)
        if (w.state[fn] == UNSEEN) walk_from(&w, fn);
}
