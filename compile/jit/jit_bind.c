// Binds a kernel to the arguments of a launch: types, facts and values that a specialisation takes
// from them.
#include "base/status.h"
#include "compile/jit/jit.h"
#include "runtime/context.h"
#include "runtime/launch.h"

FrontSpec jit_copy_spec(Arena *arena, const FrontSpec *from) {
    FrontSpec spec = {.target = from->target, .math = from->math};
    for (size_t i = 0; i < from->bindings.count; i++)
        vec_push(arena, &spec.bindings, from->bindings.data[i]);
    return spec;
}

// Does the parameter take an argument? Not if it has a value from the specialisation.
static bool takes_argument(const FrontParam *p, const FrontSpec *spec) {
    if (p->kind == FRONT_TYPE || p->kind == FRONT_CONST) return false;
    const IrBinding *given = front_own_type(p) ? frontend_spec_find(spec, p->name) : NULL;
    return !given || given->is_type;
}

static bool is_open(const FrontParam *p, const FrontSpec *spec) {
    bool asks = p->kind == FRONT_TYPE || (front_own_type(p) && p->dtype == DTYPES);
    return asks && !frontend_spec_find(spec, p->name);
}

static bool types_known(const FrontKernel *kernel, const FrontSpec *spec) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (is_open(p, spec)) return false;
    return true;
}

bool jit_is_complete(const Jit *jit) {
    for (const FrontParam *p = jit->kernel->params; p; p = p->next) {
        // Facts about the values of scalars come with each launch.
        bool scalar = p->kind == FRONT_SCALAR && front_own_type(p);
        if (scalar && !frontend_spec_find(&jit->spec, p->name)) return false;
        if (p->at_launch && !frontend_spec_find(&jit->spec, p->name)) return false;
    }
    return types_known(jit->kernel, &jit->spec);
}

// ---- the arguments as front ends see them

static FrontArg front_arg(const tilec_arg *arg) {
    FrontArg a = {.type = DTYPES};
    switch (arg->kind) {
    case TILEC_ARG_VIEW:
        if (tilec_dtype_name(arg->view.dtype)) a.type = (Dtype)arg->view.dtype;
        break;
    case TILEC_ARG_INT:
        a.kind = FRONT_ARG_INT;
        a.integer = arg->integer;
        break;
    case TILEC_ARG_UINT:
        a.kind = arg->natural > INT64_MAX ? FRONT_ARG_HUGE : FRONT_ARG_INT;
        a.integer = (int64_t)arg->natural;
        break;
    case TILEC_ARG_DOUBLE:
        a.kind = FRONT_ARG_REAL;
        a.real = arg->real;
        break;
    case TILEC_ARG_NONE: a.kind = FRONT_ARG_NONE; break;
    case TILEC_ARG_POINTER: break;
    }
    return a;
}

// ---- what may be wrong

static tilec_status check_count(const tilec_kernel *kernel, size_t count) {
    const Jit *jit = kernel->source;
    size_t expected = 0;
    for (const FrontParam *p = jit->kernel->params; p; p = p->next)
        expected += takes_argument(p, &jit->spec);
    if (count == expected) return TILEC_OK;
    return launch_wrong_count(kernel->context, str(jit->kernel->name), expected, count);
}

// A generic kernel gets its types from its views. If another argument is passed for a view, that is
// the error to report.
static tilec_status check_view(const tilec_kernel *kernel, const FrontParam *p,
                               const tilec_arg *arg) {
    const Jit *jit = kernel->source;
    if (arg->kind != TILEC_ARG_VIEW)
        return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                       "%s: argument '%s' expects a view, found %s", jit->kernel->name, p->name,
                       launch_kind_text(arg->kind));
    if (!tilec_dtype_name(arg->view.dtype))
        return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                       "%s: argument '%s' expects elements of some type, found no type (%d)",
                       jit->kernel->name, p->name, (int)arg->view.dtype);
    return TILEC_OK;
}

// Reports why the arguments leave a type open.
static tilec_status fail_open(const tilec_kernel *kernel, const FrontSpec *spec,
                              const tilec_arg *args) {
    const Jit *jit = kernel->source;
    tilec_status s = TILEC_OK;
    const FrontParam *open = NULL;
    size_t i = 0, at = 0;
    for (const FrontParam *p = jit->kernel->params; p && !s; p = p->next) {
        if (!takes_argument(p, &jit->spec)) continue;
        if (p->kind == FRONT_VIEW) s = check_view(kernel, p, &args[i]);
        if (!open && front_own_type(p) && is_open(p, spec)) open = p, at = i;
        i++;
    }
    if (s) return s;
    if (open && open->kind == FRONT_SCALAR)
        return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                       "%s: argument '%s' expects a number, found %s", jit->kernel->name,
                       open->name, launch_kind_text(args[at].kind));
    if (open && args[at].kind == TILEC_ARG_VIEW) return check_view(kernel, open, &args[at]);
    if (open)
        return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                       "%s: the type of argument '%s' is not known from %s: pass a view, or give "
                       "it with TILEC_TYPE(\"%s\", …)",
                       jit->kernel->name, open->name, launch_kind_text(args[at].kind), open->name);
    return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                   "%s: the arguments leave a type parameter open; give it with TILEC_TYPE",
                   jit->kernel->name);
}

static tilec_status check_nones(const tilec_kernel *kernel, const tilec_arg *args, size_t count) {
    const Jit *jit = kernel->source;
    size_t i = 0;
    for (const FrontParam *p = jit->kernel->params; p && i < count; p = p->next) {
        if (!takes_argument(p, &jit->spec)) continue;
        if (args[i++].kind != TILEC_ARG_NONE || jit->kernel->in->frontend->texts) continue;
        return rt_fail(kernel->context, TILEC_LAUNCH_REFUSED,
                       "%s: argument '%s' is None, which only kernels of Python files take",
                       jit->kernel->name, p->name);
    }
    return TILEC_OK;
}

tilec_status jit_bind(const tilec_kernel *kernel, Arena *arena, const tilec_arg *args, size_t count,
                      FrontSpec *spec) {
    const Jit *jit = kernel->source;
    Diags *diags = diags_create(arena, jit->source->unit->sources);
    FrontArg given[LAUNCH_MAX_ARGS];
    size_t known = count < LAUNCH_MAX_ARGS ? count : LAUNCH_MAX_ARGS;
    *spec = jit_copy_spec(arena, &jit->spec);
    for (size_t i = 0; i < known; i++) given[i] = front_arg(&args[i]);
    tilec_status s = check_nones(kernel, args, known);
    if (s) return s;
    if (!frontend_specialize(jit->source->unit->file, arena, jit->kernel, given, known, spec,
                             diags))
        return rt_fail_diags(kernel->context, TILEC_LAUNCH_REFUSED, diags);
    if (types_known(jit->kernel, spec)) return TILEC_OK;
    s = check_count(kernel, count);
    return s ? s : fail_open(kernel, spec, args);
}
