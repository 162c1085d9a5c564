// Triton's row in the table of front ends: its kernels as other rooms see them.
#include "base/status.h"
#include "frontend/triton/check.h"
#include "frontend/triton/infer.h"
#include "frontend/triton/triton.h"

// ---- descriptions

// Describes a parameter, from its annotation and its use.
static void describe_param(const PyParam *py, const Map *pointers, FrontParam *p) {
    *p = (FrontParam){.name = py->name, .span = py->span, .dtype = DTYPES};
    Dtype elem;
    if (tr_is_constexpr_param(py)) {
        p->kind = FRONT_CONST;
        p->has_default = py->value != NULL;
        return;
    }
    bool pointer = tr_is_pointer_param(py, &elem);
    p->kind = pointer || map_find(pointers, map_key(py->name)) ? FRONT_POINTER : FRONT_SCALAR;
    p->type_param = py->name;
    if (pointer && elem != DTYPES) p->dtype = elem;
    if (!pointer && py->annotation && py->annotation->kind == PY_STRING)
        tr_type_named(py->annotation->text, &p->dtype);
}

// Does the configuration give the constexpr a value?
static bool in_config(const Py *config, Symbol name) {
    for (const Py *arg = config ? config->list : NULL; arg; arg = arg->next) {
        if (arg->kind == PY_KEYWORD && arg->name == name) return true;
        const Py *dict = arg->kind == PY_KEYWORD ? arg->a : arg;
        for (const Py *pair = dict->kind == PY_DICT ? dict->list : NULL; pair; pair = pair->next)
            if (pair->a && pair->a->kind == PY_STRING && str_equal(pair->a->text, str(name)))
                return true;
    }
    return false;
}

static const FrontParam *describe_params(TritonFile *t, const PyFunc *func, const Py *config) {
    Map pointers = tr_pointers_of(t->main, func, t->arena, 0);
    const FrontParam *first = NULL, **place = &first;
    for (const PyParam *py = func->params; py; py = py->next) {
        FrontParam *p = arena_new(t->arena, FrontParam, 1);
        describe_param(py, &pointers, p);
        if (p->kind == FRONT_CONST && in_config(config, p->name)) p->has_default = true;
        *place = p;
        place = &p->next;
    }
    return first;
}

// The first triton.Config of @triton.autotune, where it stands in a list.
static const Py *first_config(const TritonFile *t, const PyFunc *func) {
    for (const Py *d = func->decorators; d; d = d->next) {
        if (d->kind != PY_CALL) continue;
        Str path = tr_path_of(t->main, d->a, t->arena);
        if (!str_ends(path, STR("autotune"))) continue;
        for (const Py *a = d->list; a; a = a->next) {
            const Py *list = a->kind == PY_KEYWORD ? a->a : a;
            bool configs =
                a->kind != PY_KEYWORD || (a->name && str_equal(str(a->name), STR("configs")));
            if (configs && list->kind == PY_LIST && list->list && list->list->kind == PY_CALL)
                return list->list;
        }
    }
    return NULL;
}

static const PyFunc *kernel_func(const TritonFile *t, const Global *g, const Map *called) {
    if (g->node->kind != PY_DEF || !tr_is_jit(t->main, g->node->func)) return NULL;
    if (tr_returns_value(g->node->func) || map_find(called, map_key(g->name))) return NULL;
    const uint64_t *latest = map_find(&t->main->by_name, map_key(g->name));
    return latest && *latest == map_key(g) ? g->node->func : NULL;
}

static FrontFile *load(const FrontInput *in, const SourceFile *file, Diags *diags) {
    TritonFile *t = arena_new(in->arena, TritonFile, 1);
    *t = (TritonFile){.arena = in->arena,
                      .sources = in->sources,
                      .names = in->names,
                      .import = in->import,
                      .user = in->user};
    size_t errors = diags_errors(diags);
    const Py *tree = py_parse(in->arena, in->names, diags, file);
    t->broken = diags_errors(diags) != errors;
    t->main = tr_module_add(t, file, tree);
    map_put(in->arena, &t->by_path, map_key(intern(in->names, file->path)), map_key(t->main));
    Map called = {0};
    for (size_t i = 0; i < t->main->globals.count; i++) {
        const Py *node = t->main->globals.data[i]->node;
        if (node->kind == PY_DEF && tr_is_jit(t->main, node->func))
            tr_find_called(t->main, node->func, in->arena, &called);
    }
    FrontFile *f = arena_new(in->arena, FrontFile, 1);
    FrontKernel *kernels = arena_new(in->arena, FrontKernel, t->main->globals.count + 1);
    size_t count = 0;
    for (size_t i = 0; i < t->main->globals.count; i++) {
        const PyFunc *func = kernel_func(t, t->main->globals.data[i], &called);
        if (!func) continue;
        TritonKernel *own = arena_new(in->arena, TritonKernel, 1);
        *own = (TritonKernel){.func = func, .autotune = first_config(t, func)};
        kernels[count++] = (FrontKernel){.name = func->name,
                                         .span = func->span,
                                         .file = file,
                                         .in = f,
                                         .params = describe_params(t, func, own->autotune),
                                         .own = own};
    }
    *f = (FrontFile){&triton_frontend, count, kernels, t};
    return f;
}

// ---- types from arguments

static bool specialize(Arena *arena, const FrontKernel *kernel, const Dtype *types, size_t count,
                       FrontSpec *spec, Diags *diags) {
    size_t i = 0;
    for (const FrontParam *p = kernel->params; p; p = p->next) {
        if (p->kind == FRONT_CONST) continue;
        if (i < count && types[i] != DTYPES) {
            const IrBinding *known = frontend_spec_find(spec, p->name);
            if (!known) {
                IrBinding b = {.name = p->name, .is_type = true, .type = types[i]};
                vec_push(arena, &spec->bindings, b);
            } else if (known->is_type && known->type != types[i] && p->kind == FRONT_POINTER) {
                diag_error(diags, p->span, DIAG_LAUNCH, "argument '%s' is of %s, but was given %s",
                           p->name, tr_type_name(types[i]), tr_type_name(known->type));
                return false;
            }
        }
        i++;
    }
    return true;
}

// ---- checking

static bool check(FrontFile *file, Diags *diags) {
    bool good = true;
    if (((TritonFile *)file->own)->broken) return false;
    for (size_t i = 0; i < file->kernel_count; i++)
        good = tr_check(file->own, &file->kernels[i], NULL, diags) && good;
    return good;
}

static bool check_open(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                       Diags *diags) {
    return tr_check(file->own, kernel, given, diags);
}

// ---- the row

static IrFunc *elaborate(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                         const FrontSpec *spec, Diags *diags) {
    return tr_kernel(file->own, module, kernel, spec, diags, NULL);
}

static size_t tune_space(FrontFile *file, const FrontKernel *kernel, Str target,
                         const FrontTune **space) {
    (void)file;
    (void)kernel;
    (void)target;
    *space = NULL;
    return 0;
}

static Str plain(const FrontKernel *kernel, Arena *arena) {
    (void)arena;
    return kernel->file->text;
}

static size_t doc(const FrontFile *file, const FrontKernel *kernel, Arena *arena,
                  const Str **lines) {
    (void)file;
    const TritonKernel *own = kernel->own;
    VEC(Str) found = {0};
    Str rest = str_trim(own->func->doc);
    while (rest.size) vec_push(arena, &found, str_trim(str_cut(rest, '\n', &rest)));
    *lines = found.data;
    return found.count;
}

const Frontend triton_frontend = {
    .language = "Triton",
    .suffix = ".py",
    .is_kernel =
        "a function with @triton.jit is a kernel unless it returns a value, or another "
        "function of the file mentions it",
    .texts = true,
    .load = load,
    .check = check,
    .check_open = check_open,
    .specialize = specialize,
    .elaborate = elaborate,
    .tune_space = tune_space,
    .plain = plain,
    .type_name = tr_type_named,
    .doc = doc,
};
