// Converts a public specialisation to the compiler's form.
#include "compile/jit/jit.h"
#include "ir/option.h"

static const FrontParam *find_param(const FrontKernel *kernel, Str name, FrontParamKind kind) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (p->kind == kind && str_equal(str(p->name), name)) return p;
    return NULL;
}

static void unknown_entry(Unit *u, const FrontKernel *kernel, const char *what, Str name,
                          FrontParamKind kind) {
    diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "kernel '%s' has no %s '%.*s'",
               kernel->name, what, STR_ARG(name));
    StrBuf b = strbuf(u->arena);
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (p->kind == kind) strbuf_printf(&b, "%s%s", b.size ? ", " : "", p->name);
    diag_help(u->diags, b.size ? "it has: %s" : "it has none%s", b.text);
}

static bool number_option(Unit *u, const FrontKernel *kernel, const IrOption *option, int64_t value,
                          FrontSpec *spec) {
    if (!ir_option_allows(option, value)) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "%s must be %d to %d, found %lld",
                   option->name, option->min, option->max, (long long)value);
        return false;
    }
    IrBinding b = {.name = intern(u->names, str(option->name)), .value = value};
    vec_push(u->arena, &spec->bindings, b);
    return true;
}

static bool option(Unit *u, const FrontKernel *kernel, Str name, int64_t value, FrontSpec *spec,
                   JitSwitches *switches) {
    unsigned math = str_equal(name, STR("math.contract")) ? IR_MATH_CONTRACT
                    : str_equal(name, STR("math.approx")) ? IR_MATH_APPROX
                                                          : 0;
    bool *own = str_equal(name, STR("sanitize")) ? &switches->sanitize
                : str_equal(name, STR("debug"))  ? &switches->debug
                                                 : NULL;
    if ((math || own) && value != 0 && value != 1) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "%.*s must be 0 or 1, found %lld",
                   STR_ARG(name), (long long)value);
        return false;
    }
    if (math) {
        if (value) spec->math |= math;
        return true;
    }
    if (own) {
        *own = value != 0;
        return true;
    }
    const IrOption *number = ir_option_find(name);
    if (number) return number_option(u, kernel, number, value, spec);
    if (str_equal(name, STR("tune.ms"))) {
        switches->tune_ms = value;
        if (value >= 1 && value <= TUNE_MS_MAX) return true;
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE,
                   "the time of TILEC_TUNE (tune.ms) must be 1 to %d milliseconds, "
                   "found %lld",
                   TUNE_MS_MAX, (long long)value);
        return false;
    }
    diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "there is no option '%.*s'", STR_ARG(name));
    Str numbers = ir_option_list(u->arena, ", ", ", ");
    diag_help(u->diags, "options are: %.*s, sanitize, debug, math.contract, math.approx, tune.ms",
              STR_ARG(numbers));
    return false;
}

// Is it a parameter whose element type is given by its own name?
static bool has_own_type(const FrontKernel *kernel, Str name) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (front_own_type(p) && str_equal(str(p->name), name)) return true;
    return false;
}

// The value of a const or parameter, or the grid, as an expression of the language, or the type of
// a tensor descriptor. None of an option leaves it to the compiler, also where the first
// configuration gives it.
static bool value_entry(Unit *u, const FrontKernel *kernel, Str name, int64_t address,
                        IrBinding *b) {
    const Frontend *language = kernel->in->frontend;
    const char *text = (const char *)(intptr_t)address;
    bool known = str_equal(name, STR(FRONT_GRID)) || find_param(kernel, name, FRONT_CONST) ||
                 has_own_type(kernel, name);
    if (text && str_equal(str(text), STR("None"))) known |= frontend_is_option(b->name);
    if (!language->texts) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE,
                   "'%s' is given as text, which is for kernels of Python files", b->name);
        return false;
    }
    if (!known || !text) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE,
                   text ? "kernel '%s' has no parameter '%s'" : "kernel '%s': '%s' has no text",
                   kernel->name, b->name);
        return false;
    }
    FrontDescriptor descriptor;
    b->is_type = frontend_descriptor(language, str(text), &descriptor);
    if (b->is_type) b->type = descriptor.type;
    if (!b->is_type && str_starts(str(text), STR("tensordesc"))) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE,
                   "'%s' is '%s', expected a tensor descriptor such as tensordesc<fp16[64, 64]>",
                   b->name, text);
        return false;
    }
    b->value = 0;
    b->text = intern(u->names, str(text));
    return true;
}

static bool spec_entry(Unit *u, const FrontKernel *kernel, const tilec_spec_entry *e,
                       FrontSpec *spec, JitSwitches *switches) {
    if (!e->name) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "a specialisation entry has no name");
        return false;
    }
    Str name = str(e->name);
    IrBinding b = {.name = intern(u->names, name), .value = e->value};
    if (frontend_spec_find(spec, b.name)) {
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "'%s' is specialised twice", b.name);
        return false;
    }
    switch (e->kind) {
    case TILEC_SPEC_OPTION: return option(u, kernel, name, e->value, spec, switches);
    case TILEC_SPEC_VALUE:
        if (!value_entry(u, kernel, name, e->value, &b)) return false;
        break;
    case TILEC_SPEC_TYPE:
        if (!find_param(kernel, name, FRONT_TYPE) && !has_own_type(kernel, name)) {
            unknown_entry(u, kernel, "type parameter", name, FRONT_TYPE);
            return false;
        }
        if (!tilec_dtype_name(e->dtype)) {
            diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "%s: no element type has number %d",
                       e->name, (int)e->dtype);
            return false;
        }
        b.is_type = true;
        b.type = (Dtype)e->dtype;
        // Only of a scalar's own type: a fact about the value.
        if (!has_own_type(kernel, name) || (b.value != 1 && b.value != 16)) b.value = 0;
        break;
    case TILEC_SPEC_CONST:
        if (!find_param(kernel, name, FRONT_CONST)) {
            unknown_entry(u, kernel, "const parameter", name, FRONT_CONST);
            return false;
        }
        break;
    default:  // not an enumerator: the value comes from the caller's memory
        diag_error(u->diags, kernel->span, DIAG_SPECIALIZE, "'%s': no kind of entry has number %d",
                   b.name, (int)e->kind);
        return false;
    }
    vec_push(u->arena, &spec->bindings, b);
    return true;
}

bool jit_spec(Unit *unit, const FrontKernel *kernel, const tilec_spec *from, FrontSpec *spec,
              JitSwitches *switches) {
    bool good = true;
    if (from && from->count && !from->entries) {
        diag_error(unit->diags, kernel->span, DIAG_SPECIALIZE,
                   "the specialisation's entries are NULL");
        return false;
    }
    for (size_t i = 0; from && i < from->count; i++)
        good = spec_entry(unit, kernel, &from->entries[i], spec, switches) && good;
    return good;
}
