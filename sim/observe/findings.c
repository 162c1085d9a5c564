#include <stdarg.h>

#include "sim/observe/observe.h"

const char *sim_finding_slug(SimFindingKind kind) {
    static const char *const slugs[] = {
#define SIM_FINDING(name, slug, error) slug,
        SIM_FINDINGS(SIM_FINDING)
#undef SIM_FINDING
    };
    return slugs[kind];
}

bool sim_finding_is_error(SimFindingKind kind) {
    static const bool errors[] = {
#define SIM_FINDING(name, slug, error) error,
        SIM_FINDINGS(SIM_FINDING)
#undef SIM_FINDING
    };
    return errors[kind];
}

SimFindings *sim_findings_create(Arena *arena) {
    SimFindings *f = arena_new(arena, SimFindings, 1);
    f->arena = arena;
    return f;
}

void sim_findings_add(SimFindings *f, SimFindingKind kind, const SimPlace *at, const char *format,
                      ...) {
    for (size_t i = 0; i < f->list.count; i++) {
        SimFinding *old = &f->list.data[i];
        if (old->kind != kind || old->pc != at->pc || old->kernel != at->kernel) continue;
        old->count++;
        return;
    }
    StrBuf b = strbuf(f->arena);
    va_list args;
    va_start(args, format);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    SimFinding finding = {.kind = kind,
                          .kernel = at->kernel,
                          .pc = at->pc,
                          .line = at->instr->line,
                          .count = 1,
                          .text = strbuf_str(&b)};
    vec_push(f->arena, &f->list, finding);
}

void sim_line_text(const SimLine *line, StrBuf *out) {
    if (line->file.size)
        strbuf_printf(out, "%.*s:%u:%u", STR_ARG(line->file), line->line, line->column);
    else if (line->text_line)
        strbuf_printf(out, "line %u of the PTX text", line->text_line);
    else
        strbuf_add(out, STR("an unknown line"));
}
