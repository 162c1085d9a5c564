#include "tests/support/pass_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"

PassWorld pass_world(void) {
    PassWorld w = {.arena = arena_create()};
    w.sources = sources_create(w.arena);
    w.names = interner_create(w.arena);
    w.diags = diags_create(w.arena, w.sources);
    return w;
}

void pass_world_free(PassWorld *w) { arena_destroy(w->arena); }

static void no_errors(PassWorld *w, const char *text) {
    if (diags_errors(w->diags) == 0) return;
    StrBuf out = strbuf(w->arena);
    diags_text(w->diags, (DiagStyle){0}, &out);
    fail_msg("%s\n%s", out.text, text);
}

IrModule *pass_parse(PassWorld *w, const char *text) {
    const SourceFile *file = source_add(w->sources, STR("case.tir"), str(text));
    IrModule *m = ir_parse(w->arena, w->sources, w->names, file, w->diags);
    no_errors(w, text);
    assert_non_null(m);
    ir_verify(m, w->diags);
    no_errors(w, text);
    return m;
}

bool pass_run(PassWorld *w, IrModule *m, const char *passes) {
    size_t count;
    const PassStep *steps = passes_parse(w->arena, str(passes), &count, w->diags);
    no_errors(w, passes);
    PassTimings timings = {0};
    PassOptions options = {.verify = true, .timings = &timings};
    passes_run(m, steps, count, &options, w->diags);
    no_errors(w, passes);
    bool changed = false;
    for (size_t i = 0; i < timings.count; i++) changed |= timings.data[i].changed;
    return changed;
}

const char *pass_print(PassWorld *w, const IrModule *m) {
    StrBuf out = strbuf(w->arena);
    ir_print_module(m, &out);
    return out.text;
}
