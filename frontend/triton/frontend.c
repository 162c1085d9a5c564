// Triton's row in the table of front ends: its kernels as other rooms see them.
#include "base/status.h"
#include "frontend/triton/check.h"
#include "frontend/triton/infer.h"
#include "frontend/triton/specialize.h"
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
    if (p->kind == FRONT_SCALAR) p->dtype = tr_scalar_annotation(py);
}

// Does the first configuration give the constexpr a value?
static bool in_config(const TritonKernel *kernel, Symbol name) {
    for (uint32_t i = 0; kernel->config && i < kernel->config->count; i++) {
        Val key = kernel->config->fields[2 * i];
        if (key.kind == VAL_STRING && str_equal(key.text, str(name))) return true;
    }
    return false;
}

static const FrontParam *describe_params(TritonFile *t, const TritonKernel *kernel) {
    const PyFunc *func = kernel->func;
    Map pointers = tr_pointers_of(t->main, func, t->arena, 0);
    const FrontParam *first = NULL, **place = &first;
    for (const PyParam *py = func->params; py; py = py->next) {
        FrontParam *p = arena_new(t->arena, FrontParam, 1);
        describe_param(py, &pointers, p);
        if (p->kind == FRONT_CONST && in_config(kernel, p->name)) p->has_default = true;
        if (p->kind == FRONT_CONST && tr_heuristic(t, func, p->name)) p->at_launch = true;
        *place = p;
        place = &p->next;
    }
    return first;
}

static const PyFunc *kernel_func(const TritonFile *t, const Global *g, const Map *called) {
    if (g->node->kind != PY_DEF || !tr_is_jit(t->main, g->node->func)) return NULL;
    if (tr_returns_value(g->node->func) || map_find(called, map_key(g->name))) return NULL;
    return tr_find_global(t->main, g->name) == g ? g->node->func : NULL;
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
        *own = (TritonKernel){.func = func};
        tr_configs(t, func, own);
        kernels[count++] = (FrontKernel){.name = func->name,
                                         .span = func->span,
                                         .file = file,
                                         .in = f,
                                         .params = describe_params(t, own),
                                         .own = own};
    }
    *f = (FrontFile){&triton_frontend, count, kernels, t};
    return f;
}

// ---- checking

static bool check(FrontFile *file, Diags *diags) {
    bool good = true;
    if (((TritonFile *)file->own)->broken) return false;
    for (size_t i = 0; i < file->kernel_count; i++)
        good = tr_check(file->own, &file->kernels[i], NULL, diags) && good;
    return good;
}

// Are the errors in the kernel whatever its types are?
static bool is_certain(const Diags *diags) {
    for (size_t i = 0; i < diags_count(diags); i++) {
        const Diag *d = diags_get(diags, i);
        if (d->severity == DIAG_ERROR && d->code != DIAG_UNKNOWN_NAME && d->code != DIAG_SYNTAX)
            return false;
    }
    return true;
}

// The search for types may miss those of a right kernel: then the launch decides.
static bool check_open(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                       Diags *diags) {
    size_t before = diags_count(diags);
    if (tr_check(file->own, kernel, given, diags) || is_certain(diags)) return !diags_errors(diags);
    diags_truncate(diags, before);
    return true;
}

// ---- the row

static IrFunc *elaborate(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                         const FrontSpec *spec, Diags *diags) {
    return tr_kernel(file->own, module, kernel, spec, diags, NULL);
}

static size_t tune_space(FrontFile *file, const FrontKernel *kernel, Str target,
                         const FrontTune **space) {
    (void)file;
    (void)target;
    const TritonKernel *own = kernel->own;
    *space = own->tune;
    return own->tune_count;
}

static Str canonical_text(const FrontKernel *kernel, Arena *arena) {
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
    .specialize = tr_specialize,
    .elaborate = elaborate,
    .tune_space = tune_space,
    .canonical_text = canonical_text,
    .type_name = tr_type_named,
    .doc = doc,
};
