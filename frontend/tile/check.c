// tile_check: every kernel of a file, with candidates for the types and consts it leaves open.
//
// A kernel is correct when one assignment of candidates elaborates without errors; otherwise the
// errors of the candidate with the fewest are reported. All type parameters get the same type, all
// open consts the same value. Kernels that need different ones give them with `tune` or defaults.
#include "frontend/tile/elaborate.h"

static const Dtype check_types[] = {DTYPE_F32,    DTYPE_I32, DTYPE_F16, DTYPE_U8,
                                    DTYPE_F8E4M3, DTYPE_F64, DTYPE_BOOL};
static const int64_t check_consts[] = {16, 32, 64, 128};

enum {
    CHECK_TYPES = sizeof check_types / sizeof *check_types,
    CHECK_CONSTS = sizeof check_consts / sizeof *check_consts,
};

static bool const_is_tuned(const AstKernel *kernel, Symbol name) {
    for (size_t t = 0; t < kernel->tunes.count; t++) {
        const AstTune *tune = kernel->tunes.data[t];
        if (tune->target.size) continue;
        for (size_t i = 0; i < tune->entries.count; i++)
            if (tune->entries.data[i].name == name) return true;
    }
    return false;
}

static void open_params(const AstKernel *kernel, bool *types, bool *consts) {
    *types = *consts = false;
    for (const AstDecl *p = kernel->params; p; p = p->next) {
        if (p->kind == DECL_TYPE_PARAM) *types = true;
        if (p->kind == DECL_CONST_PARAM && !p->value && !const_is_tuned(kernel, p->name))
            *consts = true;
    }
}

// Two arenas that are reset after each attempt.
typedef struct TileCheck {
    TileFile *file;
    Diags *diags;
    Arena *ir, *scratch;
} TileCheck;

// One attempt; its IR is thrown away.
static size_t check_once(const TileCheck *c, const AstKernel *kernel, size_t type, size_t value,
                         bool *good) {
    ArenaMark ir_mark = arena_mark(c->ir), scratch_mark = arena_mark(c->scratch);
    IrModule *module = ir_module_create(c->ir, c->file->sources, c->file->names);
    FrontSpec spec = {0};
    for (const AstDecl *p = kernel->params; p; p = p->next) {
        IrBinding b = {.name = p->name, .is_type = p->kind == DECL_TYPE_PARAM};
        if (b.is_type)
            b.type = check_types[type];
        else
            b.value = check_consts[value];
        bool open = p->kind == DECL_CONST_PARAM && !p->value && !const_is_tuned(kernel, p->name);
        if (b.is_type || open) vec_push(c->ir, &spec.bindings, b);
    }
    size_t errors = 0;
    *good = el_kernel(c->file, module, kernel, &spec, c->diags, c->scratch, &errors) != NULL;
    arena_reset(c->ir, ir_mark);
    arena_reset(c->scratch, scratch_mark);
    return errors;
}

static bool check_kernel(const TileCheck *c, const AstKernel *kernel) {
    bool types, consts, good = false;
    open_params(kernel, &types, &consts);
    size_t start = diags_count(c->diags), type_count = types ? CHECK_TYPES : 1;
    size_t const_count = consts ? CHECK_CONSTS : 1;
    size_t best = SIZE_MAX, best_type = 0, best_const = 0;
    for (size_t t = 0; t < type_count; t++) {
        for (size_t v = 0; v < const_count; v++) {
            size_t errors = check_once(c, kernel, t, v, &good);
            if (good || errors == 0) return true;  // no errors, but not good: the tree has holes
            if (type_count * const_count == 1) return false;
            diags_truncate(c->diags, start);
            if (errors >= best) continue;
            best = errors;
            best_type = t;
            best_const = v;
        }
    }
    check_once(c, kernel, best_type, best_const, &good);
    return false;
}

static bool check_tables(const TileCheck *c) {
    ArenaMark ir_mark = arena_mark(c->ir), scratch_mark = arena_mark(c->scratch);
    IrModule *module = ir_module_create(c->ir, c->file->sources, c->file->names);
    bool good = el_check_tables(c->file, module, c->diags, c->scratch);
    arena_reset(c->ir, ir_mark);
    arena_reset(c->scratch, scratch_mark);
    return good;
}

bool tile_check(TileFile *file, Diags *diags) {
    TileCheck c = {file, diags, arena_create(), arena_create()};
    bool good = check_tables(&c);
    for (size_t i = 0; i < file->module.kernels.count; i++)
        good = check_kernel(&c, file->module.kernels.data[i]) && good;
    arena_destroy(c.ir);
    arena_destroy(c.scratch);
    return good;
}

// ---- Open types, and all there are for them

// With more types, or when one attempt makes much IR, trying all combinations would take too long.
enum { OPEN_MAX = 3, OPEN_IR_MAX = 320 << 20 };  // bytes of IR of all attempts

typedef struct OpenTypes {
    const AstKernel *kernel;
    const FrontSpec *given;
    const AstDecl *open[OPEN_MAX];
    size_t count;
} OpenTypes;

// The usual types come first, because most often one of them is right.
static Dtype type_in_order(size_t place) {
    if (place < CHECK_TYPES) return check_types[place];
    size_t left = place - CHECK_TYPES;
    for (int type = 0; type < DTYPES; type++) {
        bool usual = false;
        for (size_t i = 0; i < CHECK_TYPES; i++) usual = usual || check_types[i] == (Dtype)type;
        if (!usual && left-- == 0) return (Dtype)type;
    }
    return DTYPE_F32;
}

// The type that an open parameter has in this attempt: that of the last one changes most quickly.
static Dtype type_of_try(const OpenTypes *o, size_t number, size_t parameter) {
    for (size_t i = parameter + 1; i < o->count; i++) number /= DTYPES;
    return type_in_order(number % DTYPES);
}

static size_t check_types_of(const TileCheck *c, const OpenTypes *o, size_t number, bool *good,
                             size_t *size) {
    ArenaMark ir_mark = arena_mark(c->ir), scratch_mark = arena_mark(c->scratch);
    IrModule *module = ir_module_create(c->ir, c->file->sources, c->file->names);
    FrontSpec spec = {.target = o->given->target, .math = o->given->math};
    for (size_t i = 0; i < o->given->bindings.count; i++)
        vec_push(c->ir, &spec.bindings, o->given->bindings.data[i]);
    for (size_t i = 0; i < o->count; i++) {
        IrBinding b = {
            .name = o->open[i]->name, .is_type = true, .type = type_of_try(o, number, i)};
        vec_push(c->ir, &spec.bindings, b);
    }
    size_t errors = 0;
    *good = el_kernel(c->file, module, o->kernel, &spec, c->diags, c->scratch, &errors) != NULL;
    *size = arena_used(c->ir);
    arena_reset(c->ir, ir_mark);
    arena_reset(c->scratch, scratch_mark);
    return errors;
}

static void note_types(const TileCheck *c, const OpenTypes *o, size_t number) {
    StrBuf types = strbuf(c->scratch);
    for (size_t i = 0; i < o->count; i++)
        strbuf_printf(&types, "%s%s for '%s'",
                      !i                 ? ""
                      : i + 1 < o->count ? ", "
                                         : " and ",
                      dtype_name(type_of_try(o, number, i)), o->open[i]->name);
    diag_note(c->diags, o->open[0]->span, "this is with %s; no other %s right either", types.text,
              o->count == 1 ? "type is" : "types are");
}

static bool right_for_any(const TileCheck *c, const OpenTypes *o) {
    size_t start = diags_count(c->diags), best = SIZE_MAX, best_try = 0, size;
    size_t tries = 1;
    for (size_t i = 0; i < o->count; i++) tries *= DTYPES;
    bool good = false;
    for (size_t i = 0; i < tries; i++) {
        size_t errors = check_types_of(c, o, i, &good, &size);
        diags_truncate(c->diags, start);
        if (good || errors == 0 || (o->count > 1 && size > OPEN_IR_MAX / tries)) return true;
        if (errors >= best) continue;
        best = errors;
        best_try = i;
    }
    check_types_of(c, o, best_try, &good, &size);
    note_types(c, o, best_try);
    return false;
}

bool tile_check_open(TileFile *file, const AstKernel *kernel, const FrontSpec *given,
                     Diags *diags) {
    OpenTypes o = {.kernel = kernel, .given = given};
    for (const AstDecl *p = kernel->params; p; p = p->next) {
        if (p->kind != DECL_TYPE_PARAM || frontend_spec_find(given, p->name)) continue;
        if (o.count == OPEN_MAX) return true;
        o.open[o.count++] = p;
    }
    if (!o.count) return true;
    TileCheck c = {file, diags, arena_create(), arena_create()};
    bool good = right_for_any(&c, &o);
    arena_destroy(c.ir);
    arena_destroy(c.scratch);
    return good;
}
