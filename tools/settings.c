#include "tools/settings.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "ir/option.h"
#include "tools/front.h"

static const FrontParam *find_param(const FrontKernel *kernel, Str name) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (str_equal(str(p->name), name)) return p;
    return NULL;
}

static bool has_extent(const FrontKernel *kernel, Str name) {
    for (const FrontExtent *e = kernel->extents; e; e = e->next)
        if (str_equal(str(e->name), name)) return true;
    return false;
}

// "names are: T (type), BM (const), M (extent), …", after an unknown one.
static int unknown_name(const Settings *s, Str name) {
    StrBuf b = strbuf(s->cli->arena);
    static const char *const kinds[] = {[FRONT_TYPE] = "type",
                                        [FRONT_CONST] = "const",
                                        [FRONT_SCALAR] = "scalar",
                                        [FRONT_POINTER] = "pointer: .size"};
    for (const FrontParam *p = s->kernel->params; p; p = p->next)
        if (p->kind != FRONT_VIEW)
            strbuf_printf(&b, "%s%s (%s)", b.size ? ", " : "", p->name, kinds[p->kind]);
    for (const FrontExtent *e = s->kernel->extents; e; e = e->next)
        strbuf_printf(&b, "%s%s (extent)", b.size ? ", " : "", e->name);
    Str options = ir_option_list(s->cli->arena, ", ", ", ");
    strbuf_printf(&b, "%s%.*s", b.size ? ", " : "", STR_ARG(options));
    return cli_fail(s->cli, EXIT_USAGE, DIAG_USAGE,
                    arena_printf(s->cli->arena, "there are: %s", b.text),
                    "--set: kernel '%s' has nothing named '%.*s'", s->kernel->name, STR_ARG(name));
}

// A whole number with an optional sign, decimal, hex or binary.
static bool parse_integer(Str text, int64_t *value, uint64_t *magnitude, bool *negative) {
    *negative = text.size && text.text[0] == '-';
    if (*negative) text.text++, text.size--;
    bool overflow = false;
    TRY(str_to_u64(text, magnitude, &overflow));
    TRY(!overflow);
    if (*negative && *magnitude > 1ull << 63) return false;
    *value = (int64_t)(*negative ? 0 - *magnitude : *magnitude);
    return true;
}

static int set_integer(const Settings *s, Str name, Str text, int64_t min, int64_t *value) {
    uint64_t magnitude;
    bool negative;
    if (!parse_integer(text, value, &magnitude, &negative) || (!negative && magnitude > INT64_MAX))
        return cli_usage_error(s->cli, "--set %.*s takes a whole number, found '%.*s'",
                               STR_ARG(name), STR_ARG(text));
    if (*value < min)
        return cli_usage_error(s->cli, "--set %.*s must be at least %lld, found %lld",
                               STR_ARG(name), (long long)min, (long long)*value);
    return EXIT_OK;
}

static bool already_set(const Settings *s, Symbol name) {
    return frontend_spec_find(&s->spec, name) || settings_find_extent(s, name) ||
           settings_find_scalar(s, name) || settings_find_size(s, name);
}

static int set_binding(Settings *s, IrBinding binding) {
    vec_push(s->cli->arena, &s->spec.bindings, binding);
    return EXIT_OK;
}

static int set_type(Settings *s, Symbol name, Str text) {
    IrBinding b = {.name = name, .is_type = true};
    if (dtype_from_name(text, &b.type)) return set_binding(s, b);
    StrBuf help = strbuf(s->cli->arena);
    strbuf_add(&help, STR("element types are:"));
    for (int t = 0; t < DTYPES; t++) strbuf_printf(&help, " %s", dtype_name((Dtype)t));
    return cli_fail(s->cli, EXIT_USAGE, DIAG_USAGE, help.text,
                    "--set %s takes an element type, found '%.*s'", name, STR_ARG(text));
}

// For a language whose consts take expressions. A scalar's value is one of the launch; the others
// are bindings.
static int set_text(Settings *s, const FrontParam *param, Symbol name, Str text) {
    IrBinding b;
    if (front_binding(s->unit, s->kernel, param, text, &b)) return set_binding(s, b);
    if (param->kind == FRONT_POINTER)
        return cli_usage_error(s->cli,
                               "--set %s takes the type of a pointer, such as *fp32, or of a "
                               "tensor descriptor, or None; a pointer's size is set by --set "
                               "%s.size=N",
                               name, name);
    SettingsValue value = {.name = name, .text = text, .origin = STR("--set")};
    vec_push(s->cli->arena, &s->scalars, value);
    return EXIT_OK;
}

void settings_front_arg(const Settings *s, Symbol name, FrontArg *arg) {
    const SettingsValue *v = settings_find_scalar(s, name);
    uint64_t magnitude;
    bool negative;
    if (!v) return;
    if (parse_integer(v->text, &arg->integer, &magnitude, &negative))
        arg->kind = !negative && magnitude > INT64_MAX ? FRONT_ARG_HUGE : FRONT_ARG_INT;
    else if (str_to_double(v->text, &arg->real))
        arg->kind = FRONT_ARG_REAL;
}

static int set_param(Settings *s, const FrontParam *param, Symbol name, Str text) {
    SettingsValue value = {.name = name, .text = text, .origin = STR("--set")};
    IrBinding b = {.name = name};
    int status = EXIT_OK;
    if (s->kernel->in->frontend->texts) return set_text(s, param, name, text);
    switch (param->kind) {
    case FRONT_TYPE: return set_type(s, name, text);
    case FRONT_CONST:
        status = set_integer(s, str(name), text, INT64_MIN, &b.value);
        return status ? status : set_binding(s, b);
    case FRONT_SCALAR: vec_push(s->cli->arena, &s->scalars, value); return EXIT_OK;
    case FRONT_POINTER:
        return cli_usage_error(s->cli, "--set %s: a pointer takes its size: --set %s.size=N", name,
                               name);
    case FRONT_VIEW:
        return cli_usage_error(
            s->cli, "--set %s: an array comes with --in %s=F.npy; its extents are set by name",
            name, name);
    }
    return unknown_name(s, str(name));
}

static int set_size(Settings *s, Str whole, Str name, Str text) {
    const FrontParam *p = find_param(s->kernel, name);
    if (!p || !front_may_be_pointer(p)) return unknown_name(s, whole);
    SettingsValue value = {.name = p->name, .origin = STR("--set")};
    int status = set_integer(s, whole, text, 0, &value.value);
    if (!status && settings_find_size(s, value.name))
        return cli_usage_error(s->cli, "--set %.*s is given twice", STR_ARG(whole));
    if (!status) vec_push(s->cli->arena, &s->sizes, value);
    return status;
}

static int set_option(Settings *s, const IrOption *option, Symbol name, Str text) {
    IrBinding b = {.name = name};
    int status = set_integer(s, str(name), text, option->min, &b.value);
    if (!status && b.value > option->max)
        return cli_usage_error(s->cli, "--set %s must be %d to %d, found %lld", name, option->min,
                               option->max, (long long)b.value);
    return status ? status : set_binding(s, b);
}

static int set_one(Settings *s, Str setting) {
    Str text, name = str_cut(setting, '=', &text);
    if (name.size == setting.size || !name.size)
        return cli_usage_error(s->cli, "--set takes NAME=VALUE, found '%.*s'", STR_ARG(setting));
    if (str_ends(name, STR(".size")))
        return set_size(s, name, (Str){name.text, name.size - 5}, text);
    Symbol symbol = intern(s->unit->names, name);
    if (already_set(s, symbol)) return cli_usage_error(s->cli, "--set %s is given twice", symbol);
    const IrOption *option = ir_option_find(name);
    if (option) return set_option(s, option, symbol, text);
    const FrontParam *param = find_param(s->kernel, name);
    if (param) return set_param(s, param, symbol, text);
    if (!has_extent(s->kernel, name)) return unknown_name(s, name);
    int64_t value;
    int status = set_integer(s, name, text, 0, &value);
    return status ? status : settings_extent(s, symbol, value, STR("--set"));
}

int settings_parse(Cli *cli, Unit *unit, const FrontKernel *kernel, Settings *settings) {
    *settings = (Settings){.cli = cli, .unit = unit, .kernel = kernel};
    for (size_t i = 0; i < cli->args.count; i++) {
        const CliArg *a = &cli->args.data[i];
        int status = EXIT_OK;
        if (strcmp(a->option->name, "set") == 0)
            status = set_one(settings, a->value);
        else if (strcmp(a->option->name, "math") == 0)
            status = front_math(cli, a->value, &settings->spec.math);
        if (status) return status;
    }
    return EXIT_OK;
}

#define FIND(list)                                               \
    for (size_t i = 0; i < (list).count; i++)                    \
        if ((list).data[i].name == name) return &(list).data[i]; \
    return NULL

const SettingsValue *settings_find_extent(const Settings *s, Symbol name) { FIND(s->extents); }
const SettingsValue *settings_find_scalar(const Settings *s, Symbol name) { FIND(s->scalars); }
const SettingsValue *settings_find_size(const Settings *s, Symbol name) { FIND(s->sizes); }

int settings_extent(Settings *s, Symbol name, int64_t value, Str origin) {
    const SettingsValue *known = settings_find_extent(s, name);
    if (!known) {
        SettingsValue v = {.name = name, .value = value, .origin = origin};
        vec_push(s->cli->arena, &s->extents, v);
        return EXIT_OK;
    }
    if (known->value == value) return EXIT_OK;
    return cli_fail(s->cli, EXIT_INPUT, DIAG_LAUNCH, NULL,
                    "extent %s is %lld by %.*s and %lld by %.*s", name, (long long)known->value,
                    STR_ARG(known->origin), (long long)value, STR_ARG(origin));
}

static bool float_bits(Str text, Dtype type, uint64_t *bits) {
    double value;
    TRY(str_to_double(text, &value));
    // An infinite value whose text is not an infinity is a number beyond f64.
    if (isinf(value) && !memchr(text.text, 'n', text.size) && !memchr(text.text, 'N', text.size))
        return false;
    *bits = dtype_from_double(type, value, false);
    // An overflow does not fit. Neither does an infinity that the launch would saturate (fp8).
    double back = dtype_to_double(type, *bits);
    TRY(*bits == dtype_from_double(type, value, true));
    return isnan(value) || (isinf(value) ? isinf(back) : isfinite(back));
}

static bool integer_bits(Str text, Dtype type, uint64_t *bits) {
    int64_t value;
    uint64_t magnitude;
    bool negative;
    TRY(parse_integer(text, &value, &magnitude, &negative));
    *bits = dtype_wrap(type, (uint64_t)value);
    if (negative) return magnitude == 0 || (dtype_signed(type) && value >= dtype_int_min(type));
    return magnitude <= dtype_int_max(type);
}

int settings_scalar_bits(const Settings *s, Symbol name, Dtype type, uint64_t *bits) {
    const SettingsValue *v = settings_find_scalar(s, name);
    if (!v) return cli_usage_error(s->cli, "scalar '%s' is not given: --set %s=VALUE", name, name);
    bool good;
    if (type == DTYPE_BOOL) {
        bool yes = str_equal(v->text, STR("true")) || str_equal(v->text, STR("1"));
        good = yes || str_equal(v->text, STR("false")) || str_equal(v->text, STR("0"));
        *bits = yes;
    } else {
        good = dtype_is(type, DTYPE_CLASS_ANYFLOAT) ? float_bits(v->text, type, bits)
                                                    : integer_bits(v->text, type, bits);
    }
    if (good) return EXIT_OK;
    return cli_usage_error(s->cli, "--set %s: '%.*s' is not a value of %s", name, STR_ARG(v->text),
                           dtype_name(type));
}

int settings_require_types(const Settings *s) {
    for (const FrontParam *p = s->kernel->params; p; p = p->next) {
        if (p->kind == FRONT_TYPE && !frontend_spec_find(&s->spec, p->name))
            return cli_usage_error(s->cli, "type '%s' is not known: --set %s=f32, for example",
                                   p->name, p->name);
        if (p->kind == FRONT_CONST && !p->has_default && !frontend_spec_find(&s->spec, p->name)) {
            const FrontTune *space;
            size_t n = frontend_tune_space(s->unit->file, s->kernel, s->spec.target, &space);
            bool tuned = false;
            for (size_t i = 0; i < n; i++) tuned = tuned || space[i].name == p->name;
            if (!tuned)
                return cli_usage_error(s->cli, "const '%s' has no default: --set %s=VALUE", p->name,
                                       p->name);
        }
    }
    return EXIT_OK;
}
