// Reads a whole text: its variables, then its kernels.
#include <string.h>

#include "sim/ptx/decode.h"
#include "sim/ptx/ptx.h"

static bool is_variable(const PtxVariable *v) {
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

static void fill_variable(Arena *arena, const PtxVariable *v, SimVariable *to) {
    *to = (SimVariable){.name = v->name,
                        .size = v->bytes,
                        .align = v->align,
                        .constant = v->space == PTX_SPACE_CONST,
                        .bytes = v->contents};
    (void)arena;
}

typedef struct SimRelocation Relocation;
static bool relocate(Arena *arena, Interner *names, Diags *diags, const Map *map,
                     const PtxVariable *v, SimVariable *to) {
    if (!v->addresses.count) return true;
    Relocation *list = arena_new(arena, Relocation, v->addresses.count);
    for (size_t n = 0; n < v->addresses.count; n++) {
        const uint64_t *index = map_find(map, map_key(intern(names, v->addresses.data[n].name)));
        if (!index) {
            diag_error(diags, v->addresses.data[n].span, DIAG_UNKNOWN_NAME,
                       "'%.*s' is not a variable", STR_ARG(v->addresses.data[n].name));
            return false;
        }
        list[n] = (Relocation){v->addresses.data[n].at, (uint64_t)v->addresses.data[n].addend,
                               (uint32_t)*index - 1};
    }
    to->relocations = list, to->relocation_count = (uint32_t)v->addresses.count;
    return true;
}

static bool read_variables(Arena *arena, Interner *names, Diags *diags, const PtxModule *m,
                           SimProgram *p, Map *map) {
    SimVariable *list = arena_new(arena, SimVariable, m->variables.count + 1);
    uint32_t count = 0;
    for (size_t n = 0; n < m->variables.count; n++) {
        const PtxVariable *v = m->variables.data[n];
        if (!is_variable(v)) continue;
        fill_variable(arena, v, &list[count++]);
        map_put(arena, map, map_key(intern(names, v->name)), count);
    }
    count = 0;
    for (size_t n = 0; n < m->variables.count; n++)
        if (is_variable(m->variables.data[n]))
            TRY(relocate(arena, names, diags, map, m->variables.data[n], &list[count++]));
    p->variables = list, p->variable_count = count;
    return true;
}

const SimProgram *ptx_read(Arena *arena, const SourceFile *file, Diags *diags) {
    const PtxModule *m = ptx_parse(arena, file, diags);
    if (!m) return NULL;
    Interner *names = interner_create(arena);
    SimProgram *p = arena_new(arena, SimProgram, 1);
    p->arch = m->arch, p->arch_a = m->arch_a, p->version = m->version;
    Map variables = {0};
    if (!read_variables(arena, names, diags, m, p, &variables)) return NULL;
    SimKernel *kernels = arena_new(arena, SimKernel, m->functions.count + 1);
    for (size_t n = 0; n < m->functions.count; n++) {
        const PtxFunction *f = m->functions.data[n];
        if (!f->entry || f->external) continue;
        Decoder *d = arena_new(arena, Decoder, 1);
        *d = (Decoder){.arena = arena,
                       .names = names,
                       .diags = diags,
                       .module = m,
                       .program = p,
                       .variables = variables};
        if (!ptx_decode(d, f, &kernels[p->kernel_count])) return NULL;
        p->kernel_count++;
    }
    p->kernels = kernels;
    return p;
}
