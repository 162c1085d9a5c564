#include "tests/support/control.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ORDERS = 8 };

static bool has_text(const Warp *w, const WarpControl *c, const SimResult *r) {
    bool found = c->kind == SIM_FINDING_KINDS && strstr(r->text, c->text);
    for (size_t i = 0; i < w->findings->list.count; i++) {
        const SimFinding *f = &w->findings->list.data[i];
        found |= f->kind == c->kind && strstr(f->text.text, c->text);
    }
    return found;
}

static void begin(Warp *w, const WarpControl *c, const char *body, uint64_t args[2]) {
    Arena *arena = arena_create();
    warp_open(w, warp_kernel(arena, "sm_90a", body));
    arena_destroy(arena);
    warp_watch(w);
    for (int d = 0; d < 3; d++) w->cluster[d] = d ? 1 : c->cluster;
    args[0] = warp_alloc(w, (size_t)c->threads * 16);
    args[1] = warp_upload(w, (uint32_t[4]){0}, 16);
}

static void run_wrong(const WarpControl *c) {
    Warp w;
    uint64_t args[2];
    bool found = false;
    SimResult r = {0};
    begin(&w, c, c->wrong, args);
    for (w.seed = 0; w.seed < ORDERS; w.seed++) {
        r = warp_run(&w, "k", c->blocks, c->threads, 0, args, 2);
        found |= has_text(&w, c, &r);
    }
    for (size_t i = 0; !found && i < w.findings->list.count; i++)
        print_message("%.*s\n", STR_ARG(w.findings->list.data[i].text));
    if (!found) fail_msg("not found: %s in %s (%s)", c->text, c->wrong, r.text);
    warp_close(&w);
}

static void run_right(const WarpControl *c) {
    Warp w;
    uint64_t args[2];
    begin(&w, c, c->right, args);
    for (w.seed = 0; w.seed < ORDERS; w.seed++)
        warp_run_ok(&w, "k", c->blocks, c->threads, 0, args, 2);
    warp_close(&w);
}

void warp_controls(const WarpControl *controls, size_t count) {
    for (size_t i = 0; i < count; i++) {
        run_wrong(&controls[i]);
        run_right(&controls[i]);
    }
}
