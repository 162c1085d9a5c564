// Messages about functions that are not there, and about what no file that is read has.
#include "frontend/triton/elaborate.h"

// Names of Triton that kernels cannot use here.
static const char *const unsupported[] = {
    "map_elementwise",
    "reduce_and",
    "bitonic_merge",
    "squeeze",
    "unsqueeze",
    "float8e4b15",
    "atomic_poll",
    "atomic_load",
    "atomic_store",
    "clock",
    "globaltimer",
    "aggregate",
    "TRITON_MAX_TENSOR_NUMEL",
    "block_type",
    "async_task",
    "async_tasks",
};

static bool is_unsupported(Str name) {
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        if (str_equal(name, str(unsupported[i]))) return true;
    return false;
}

static Str last_part(Str path) {
    size_t i = path.size;
    while (i && path.text[i - 1] != '.') i--;
    return (Str){path.text + i, path.size - i};
}

bool tr_is_builtin(Str name) {
    static const char *const names[] = {
        "all",  "any",     "chr",      "complex",   "dir",       "divmod", "eval",
        "exec", "filter",  "format",   "frozenset", "globals",   "hash",   "hex",
        "id",   "input",   "iter",     "locals",    "map",       "next",   "object",
        "oct",  "open",    "ord",      "pow",       "property",  "repr",   "reversed",
        "set",  "setattr", "slice",    "sorted",    "super",     "type",   "vars",
        "bin",  "bytes",   "callable", "delattr",   "issubclass"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(name, str(names[i]))) return true;
    return false;
}

// "tl.math.expp" for "triton.language.math.expp"
static Str short_path(Elab *e, Str path) {
    Str whole = STR("triton.language");
    if (!str_starts(path, whole)) return path;
    return str(
        arena_printf(e->scratch, "tl%.*s", (int)(path.size - whole.size), path.text + whole.size));
}

Val tr_no_function(Elab *e, Str path, Span span) {
    Str name = last_part(path), text = short_path(e, path);
    Str base = {path.text, path.size - name.size - 1};
    bool listed =
        str_equal(base, STR("triton.language")) || str_equal(base, STR("triton.language.math"));
    bool known = is_unsupported(name);
    if (!listed || known)
        tr_certain(e, span, DIAG_UNSUPPORTED, "%.*s is not supported", STR_ARG(text));
    else
        tr_certain(e, span, DIAG_UNKNOWN_NAME, "triton.language has no '%.*s'", STR_ARG(name));
    if (known) return EL_POISON;
    VEC(Str) names = {0};
    const TlFunction *list;
    uint32_t count = tl_functions(&list);
    for (uint32_t i = 0; i < count; i++) vec_push(e->scratch, &names, str(list[i].name));
    for (Dtype t = 0; t < DTYPES; t++) vec_push(e->scratch, &names, str(tr_tl_type_name(t)));
    Str near = str_nearest(name, names.data, names.count);
    if (near.size) el_help(e, "did you mean '%s%.*s'?", listed ? "tl." : "", STR_ARG(near));
    return EL_POISON;
}

Val tr_not_read(Elab *e, const Object *o, Span span) {
    Str text = short_path(e, o->path);
    tr_certain(e, span, DIAG_UNSUPPORTED, "a kernel cannot use '%.*s'", STR_ARG(text));
    el_help(e,
            "it may use triton.language, math, and functions with @triton.jit in files next to "
            "this one; no Python is run");
    return EL_POISON;
}

Val tr_not_defined(Elab *e, const TritonModule *module, Str name, Span span) {
    tr_certain(e, span, DIAG_UNKNOWN_NAME, "%.*s defines no '%.*s'", STR_ARG(module->source->path),
               STR_ARG(name));
    VEC(Str) names = {0};
    for (size_t i = 0; i < module->globals.count; i++)
        vec_push(e->scratch, &names, str(module->globals.data[i]->name));
    Str near = str_nearest(name, names.data, names.count);
    if (near.size) el_help(e, "did you mean '%.*s'?", STR_ARG(near));
    return EL_POISON;
}

Str tr_nearest_param(Elab *e, const char *signature, Str name) {
    VEC(Str) names = {0};
    Str rest = str(signature), one;
    bool has_default, takes_all;
    while (tl_next_param(&rest, &one, &has_default, &takes_all)) vec_push(e->scratch, &names, one);
    return str_nearest(name, names.data, names.count);
}
