#include "tools/build_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "compile/jit/function.h"
#include "ir/option.h"
#include "tools/front.h"

// ---- One setting: a name and its values ----

typedef struct Setting {
    Str name, values;
    bool used;  // for --set: a kernel has this name
} Setting;
typedef VEC(Setting) SettingList;

// The contents of one --specialize line.
typedef struct BuildLine {
    Str text, name, kernel;
    SettingList settings;
    bool used;
} BuildLine;

typedef struct BuildPlanner {
    Cli *cli;
    BuildPlan *plan;
    SettingList everywhere;
    VEC(BuildLine) lines;
    VEC(BuildFunction) functions;
    unsigned math;
} BuildPlanner;

static int parse_setting(Cli *cli, const char *option, Str text, SettingList *out) {
    Setting s = {0};
    s.name = str_cut(text, '=', &s.values);
    if (!s.name.size || s.name.size == text.size || !s.values.size)
        return cli_usage_error(cli, "--%s takes NAME=VALUE or NAME=VALUE,VALUE, found '%.*s'",
                               option, STR_ARG(text));
    for (size_t i = 0; i < out->count; i++)
        if (str_equal(out->data[i].name, s.name))
            return cli_usage_error(cli, "--%s: '%.*s' is given twice", option, STR_ARG(s.name));
    vec_push(cli->arena, out, s);
    return EXIT_OK;
}

// The text before the first of these characters that stands in no brackets: "(16, 32)" and
// "tensordesc<strided fp16[16, 32]>" have none.
static Str before(Str text, const char *ends) {
    int depth = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.text[i];
        if (!depth && strchr(ends, c)) return (Str){text.text, i};
        if (strchr("([<", c)) depth++;
        if (depth && strchr(")]>", c)) depth--;
    }
    return text;
}

static Str next_word(Str *text) {
    *text = str_trim(*text);
    Str word = before(*text, " \t");
    text->text += word.size, text->size -= word.size;
    return word;
}

// The next of the values between commas; false: there is none.
static bool next_value(Str *list, Str *value) {
    if (!list->text) return false;
    *value = before(*list, ",");
    size_t taken = value->size + 1;
    *list = taken > list->size ? (Str){0} : (Str){list->text + taken, list->size - taken};
    return true;
}

static int parse_line(BuildPlanner *p, Str text) {
    BuildLine line = {.text = text};
    Str rest = text, head = next_word(&rest), kernel;
    bool nameless = head.size && head.text[0] == '=';
    line.name = str_cut(head, '=', &kernel);
    line.kernel = kernel.size ? kernel : line.name;
    if (!kernel.size) line.name = STR("");
    if (!line.kernel.size || nameless)
        return cli_usage_error(p->cli,
                               "--specialize takes 'KERNEL NAME=VALUE …' or 'FUNCTION=KERNEL "
                               "NAME=VALUE …', found '%.*s'",
                               STR_ARG(text));
    for (Str word; (word = next_word(&rest)).size;) {
        int status = parse_setting(p->cli, "specialize", word, &line.settings);
        if (status) return status;
    }
    vec_push(p->cli->arena, &p->lines, line);
    return EXIT_OK;
}

static int parse_options(BuildPlanner *p) {
    for (size_t i = 0; i < p->cli->args.count; i++) {
        const CliArg *a = &p->cli->args.data[i];
        int status = EXIT_OK;
        if (strcmp(a->option->name, "set") == 0)
            status = parse_setting(p->cli, "set", a->value, &p->everywhere);
        else if (strcmp(a->option->name, "specialize") == 0)
            status = parse_line(p, a->value);
        else if (strcmp(a->option->name, "math") == 0)
            status = front_math(p->cli, a->value, &p->math);
        if (status) return status;
    }
    return EXIT_OK;
}

// ---- A kernel's parameters and their values ----

// A name that the function depends on, and its possible values.
typedef struct BuildAxis {
    Str name;
    bool is_type;
    VEC(BuildBinding) values;
} BuildAxis;
typedef VEC(BuildAxis) Axes;

static const FrontParam *find_param(const FrontKernel *kernel, Str name) {
    for (const FrontParam *p = kernel->params; p; p = p->next)
        if (str_equal(str(p->name), name)) return p;
    return NULL;
}

static bool is_setting_of(const FrontKernel *kernel, Str name) {
    const FrontParam *p = find_param(kernel, name);
    if (p) return p->kind == FRONT_TYPE || p->kind == FRONT_CONST || front_own_type(p);
    return ir_option_find(name) != NULL;
}

static int bad_value(const BuildPlanner *p, const FrontKernel *kernel, Str name, Str value,
                     const char *expected) {
    return cli_usage_error(p->cli, "kernel '%s': %.*s takes %s, found '%.*s'", kernel->name,
                           STR_ARG(name), expected, STR_ARG(value));
}

// A value of a kernel whose language has texts.
static int parse_text(const BuildPlanner *p, const Unit *unit, const FrontKernel *kernel,
                      const FrontParam *param, Str text, BuildBinding *b) {
    IrBinding binding;
    if (!front_binding(unit, kernel, param, text, &binding))
        return bad_value(p, kernel, str(param->name), text,
                         param->kind == FRONT_POINTER ? "the type of a pointer, such as *fp32:16, "
                                                        "or of a tensor descriptor"
                                                      : "a type, such as i32, i32:16 or fp32");
    *b = (BuildBinding){.name = str(param->name),
                        .is_type = binding.is_type,
                        .pointer = binding.pointer,
                        .type = binding.type,
                        .value = binding.value};
    if (binding.text) b->text = str(binding.text);
    return EXIT_OK;
}

static int parse_value(const BuildPlanner *p, const Unit *unit, const FrontKernel *kernel, Str name,
                       Str text, BuildBinding *b) {
    const FrontParam *param = find_param(kernel, name);
    if (param && kernel->in->frontend->texts) return parse_text(p, unit, kernel, param, text, b);
    *b = (BuildBinding){.name = name, .is_type = param && param->kind == FRONT_TYPE};
    if (b->is_type) {
        if (dtype_from_name(text, &b->type)) return EXIT_OK;
        StrBuf types = strbuf(p->cli->arena);
        strbuf_printf(&types, "an element type (");
        for (int t = 0; t < DTYPES; t++)
            strbuf_printf(&types, "%s%s", t ? " " : "", dtype_name((Dtype)t));
        strbuf_char(&types, ')');
        return bad_value(p, kernel, name, text, types.text);
    }
    if (!str_to_i64(text, &b->value)) return bad_value(p, kernel, name, text, "a whole number");
    const IrOption *option = param ? NULL : ir_option_find(name);
    if (!option || ir_option_allows(option, b->value)) return EXIT_OK;
    return bad_value(p, kernel, name, text,
                     arena_printf(p->cli->arena, "%d to %d", option->min, option->max));
}

static int add_axis(const BuildPlanner *p, const Unit *unit, const FrontKernel *kernel,
                    const Setting *s, Axes *axes) {
    BuildAxis axis = {.name = s->name};
    Str list = s->values;
    for (Str word; next_value(&list, &word);) {
        BuildBinding b;
        int status = parse_value(p, unit, kernel, s->name, word, &b);
        if (status) return status;
        axis.is_type = b.is_type;
        vec_push(p->cli->arena, &axis.values, b);
    }
    vec_push(p->cli->arena, axes, axis);
    return EXIT_OK;
}

static bool has_axis(const Axes *axes, Str name) {
    for (size_t i = 0; i < axes->count; i++)
        if (str_equal(axes->data[i].name, name)) return true;
    return false;
}

static int unknown_setting(const BuildPlanner *p, const FrontKernel *kernel, Str name) {
    StrBuf b = strbuf(p->cli->arena);
    for (const FrontParam *d = kernel->params; d; d = d->next)
        if (d->kind == FRONT_TYPE || d->kind == FRONT_CONST)
            strbuf_printf(&b, "%s%s (%s)", b.size ? ", " : "", d->name,
                          d->kind == FRONT_TYPE ? "type" : "const");
    Str options = ir_option_list(p->cli->arena, ", ", ", ");
    strbuf_printf(&b, "%s%.*s", b.size ? ", " : "", STR_ARG(options));
    return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE,
                    arena_printf(p->cli->arena, "there are: %s", b.text),
                    "--specialize: kernel '%s' has no type, const or option named '%.*s'",
                    kernel->name, STR_ARG(name));
}

// The settings of the line, and those of --set for names that the line leaves open.
static int gather_axes(BuildPlanner *p, const Unit *unit, const FrontKernel *kernel,
                       const BuildLine *line, Axes *axes) {
    int status = EXIT_OK;
    for (size_t i = 0; line && !status && i < line->settings.count; i++) {
        const Setting *s = &line->settings.data[i];
        status = is_setting_of(kernel, s->name) ? add_axis(p, unit, kernel, s, axes)
                                                : unknown_setting(p, kernel, s->name);
    }
    for (size_t i = 0; !status && i < p->everywhere.count; i++) {
        Setting *s = &p->everywhere.data[i];
        if (!is_setting_of(kernel, s->name)) continue;
        s->used = true;
        if (!has_axis(axes, s->name)) status = add_axis(p, unit, kernel, s, axes);
    }
    return status;
}

static bool has_tune_value(const BuildPlanner *p, const Unit *unit, const FrontKernel *kernel,
                           const FrontParam *param) {
    for (uint32_t t = 0; t < p->plan->target_count; t++) {
        const FrontTune *space;
        char name[CODE_TARGET_NAME_MAX];
        Str target = str(code_target_name(p->plan->targets[t], name));
        size_t n = frontend_tune_space(unit->file, kernel, target, &space);
        bool found = false;
        for (size_t i = 0; i < n; i++) found = found || space[i].name == param->name;
        TRY(found);
    }
    return true;
}

static int require_all(const BuildPlanner *p, const Unit *unit, const FrontKernel *kernel,
                       const Axes *axes) {
    const char *name = kernel->name;
    for (const FrontParam *d = kernel->params; d; d = d->next) {
        if (has_axis(axes, str(d->name))) continue;
        if (d->kind == FRONT_TYPE)
            return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE,
                            arena_printf(p->cli->arena,
                                         "--specialize '%s %s=f16,f32' builds %s_f16 and %s_f32; "
                                         "--set %s=f16 is for all kernels that have it",
                                         name, d->name, name, name, d->name),
                            "kernel '%s' leaves type '%s' open", name, d->name);
        if (d->kind == FRONT_POINTER && front_own_type(d) && d->dtype == DTYPES)
            return cli_fail(
                p->cli, EXIT_USAGE, DIAG_USAGE,
                arena_printf(p->cli->arena, "--specialize '%s %s=*fp32'", name, d->name),
                "kernel '%s': the type of the pointer '%s' is not known", name, d->name);
        if (d->kind == FRONT_CONST && !d->has_default && !has_tune_value(p, unit, kernel, d))
            return cli_fail(
                p->cli, EXIT_USAGE, DIAG_USAGE,
                arena_printf(p->cli->arena, "--specialize '%s %s=VALUE'", name, d->name),
                "kernel '%s': const '%s' has no default", name, d->name);
    }
    return EXIT_OK;
}

// ---- Combinations ----

// The number-th combination of the axes of a kind; the last axis varies fastest.
static void combine(const Axes *axes, bool types, size_t number, size_t *count, BuildBinding *out) {
    *count = 0;
    for (size_t i = 0; i < axes->count; i++) *count += axes->data[i].is_type == types;
    size_t at = *count;
    for (size_t i = axes->count; i-- > 0;) {
        const BuildAxis *a = &axes->data[i];
        if (a->is_type != types) continue;
        out[--at] = a->values.data[number % a->values.count];
        number /= a->values.count;
    }
}

// The number of combinations; any number above `most` is returned as most + 1.
static size_t combinations(const Axes *axes, bool types, size_t most) {
    size_t n = 1;
    for (size_t i = 0; i < axes->count; i++)
        if (axes->data[i].is_type == types && n <= most) n *= axes->data[i].values.count;
    return n <= most ? n : most + 1;
}

static const BuildBinding *find_binding(const BuildBinding *list, size_t count, Str name) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(list[i].name, name)) return &list[i];
    return NULL;
}

static Str symbol_of(const BuildPlanner *p, const FrontKernel *kernel, const BuildLine *line,
                     const BuildBinding *types, size_t count) {
    StrBuf b = strbuf(p->cli->arena);
    Str name = line && line->name.size ? line->name : str(kernel->name);
    strbuf_add(&b, cli_value(p->cli, "prefix"));
    strbuf_add(&b, name);
    for (const FrontParam *d = kernel->params; d; d = d->next) {
        const BuildBinding *t = find_binding(types, count, str(d->name));
        if (t && t->is_type) strbuf_printf(&b, "_%s", dtype_name(t->type));
    }
    return str(function_c_symbol(p->cli->arena, strbuf_str(&b)));
}

enum { ALTERNATIVES_MAX = 64, FUNCTIONS_MAX = 65536 };

// The kernel that --grid 'KERNEL=EXPR' names; empty for --grid 'EXPR', which is for all kernels.
static Str grid_kernel(const CliArg *a, Str *text) {
    Str name = str_cut(a->value, '=', text);
    bool named = name.size < a->value.size && str_is_identifier(str_trim(name)) &&
                 !str_starts(*text, STR("="));
    if (named) return str_trim(name);
    *text = a->value;
    return STR("");
}

// The grid of a kernel that has none of its own; without one the caller gives it.
static void add_grid(const BuildPlanner *p, const FrontKernel *kernel, Axes *axes) {
    Str found = STR("");
    for (size_t i = 0; i < p->cli->args.count; i++) {
        const CliArg *a = &p->cli->args.data[i];
        if (strcmp(a->option->name, "grid") != 0) continue;
        Str text, name = grid_kernel(a, &text);
        if (name.size && !str_equal(name, str(kernel->name))) continue;
        if (name.size || !found.size) found = text;
    }
    if (!found.size) return;
    BuildAxis axis = {.name = STR(FRONT_GRID)};
    BuildBinding b = {.name = STR(FRONT_GRID), .text = found};
    vec_push(p->cli->arena, &axis.values, b);
    vec_push(p->cli->arena, axes, axis);
}

static bool many_types(const Axes *axes) {
    for (size_t i = 0; i < axes->count; i++)
        if (axes->data[i].is_type && axes->data[i].values.count > 1) return true;
    return false;
}

// Two alternatives of a function whose caller gives the grid must have equal consts: the grid
// depends on them.
static bool same_consts(const BuildAlternative *a, const BuildAlternative *b) {
    for (uint32_t i = 0; i < a->count; i++) {
        const BuildBinding *x = &a->bindings[i], *y = find_binding(b->bindings, b->count, x->name);
        if (x->is_type || ir_option_find(x->name)) continue;
        if (!y || y->is_type || y->value != x->value || !str_equal(y->text, x->text)) return false;
    }
    return true;
}

static int check_grid(const BuildPlanner *p, const FrontKernel *kernel, const BuildFunction *f) {
    const BuildAlternative *list = f->alternatives;
    if (!kernel->in->frontend->texts || find_binding(list->bindings, list->count, STR(FRONT_GRID)))
        return EXIT_OK;
    for (uint32_t i = 1; i < f->alternative_count; i++)
        if (!same_consts(list, &list[i]) || !same_consts(&list[i], list))
            return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE,
                            arena_printf(p->cli->arena,
                                         "--grid '%s=cdiv(n, BLOCK)' computes it for each; or "
                                         "make them several functions: --specialize 'NAME=%s …'",
                                         kernel->name, kernel->name),
                            "kernel '%s' has alternatives of different constexprs, and no grid",
                            kernel->name);
    return EXIT_OK;
}

static int too_many(const BuildPlanner *p, const FrontKernel *kernel) {
    return cli_usage_error(p->cli, "kernel '%s': the values combine to more than %d alternatives",
                           kernel->name, ALTERNATIVES_MAX);
}

// A function that an earlier line of the kernel makes, too, gets more alternatives. `first`: the
// kernel's first function; `own`: the line's first one.
static int add_function(BuildPlanner *p, const FrontKernel *kernel, const BuildFunction *f,
                        size_t first, size_t own) {
    BuildFunction *known = NULL;
    for (size_t i = first; !known && i < own; i++)
        if (str_equal(p->functions.data[i].symbol, f->symbol)) known = &p->functions.data[i];
    if (!known) {
        vec_push(p->cli->arena, &p->functions, *f);
        return check_grid(p, kernel, f);
    }
    uint32_t count = known->alternative_count + f->alternative_count;
    if (count > ALTERNATIVES_MAX) return too_many(p, kernel);
    BuildAlternative *all = arena_new(p->cli->arena, BuildAlternative, count);
    memcpy(all, known->alternatives, known->alternative_count * sizeof *all);
    memcpy(all + known->alternative_count, f->alternatives, f->alternative_count * sizeof *all);
    known->alternatives = all;
    known->alternative_count = count;
    return check_grid(p, kernel, known);
}

static int add_functions(BuildPlanner *p, uint32_t source, const FrontKernel *kernel,
                         const BuildLine *line, size_t first) {
    Axes axes = {0};
    Arena *arena = p->cli->arena;
    int status = gather_axes(p, p->plan->units[source], kernel, line, &axes);
    if (!status && kernel->in->frontend->texts) add_grid(p, kernel, &axes);
    if (!status) status = require_all(p, p->plan->units[source], kernel, &axes);
    if (status) return status;
    size_t functions = combinations(&axes, true, FUNCTIONS_MAX);
    size_t count = combinations(&axes, false, ALTERNATIVES_MAX);
    if (count > ALTERNATIVES_MAX) return too_many(p, kernel);
    size_t own = p->functions.count;
    if (functions > FUNCTIONS_MAX - p->functions.count)
        return cli_usage_error(p->cli,
                               "kernel '%s': the types combine to more than %d functions of the "
                               "library",
                               kernel->name, FUNCTIONS_MAX);
    for (size_t f = 0; !status && f < functions; f++) {
        BuildBinding *types = arena_new(arena, BuildBinding, axes.count + 1);
        BuildAlternative *list = arena_new(arena, BuildAlternative, count);
        size_t type_count, const_count;
        combine(&axes, true, f, &type_count, types);
        for (size_t i = 0; i < count; i++) {
            BuildBinding *all = arena_new(arena, BuildBinding, axes.count + 1);
            memcpy(all, types, type_count * sizeof *all);
            combine(&axes, false, i, &const_count, all + type_count);
            list[i] = (BuildAlternative){(uint32_t)(type_count + const_count), all};
        }
        // Types of Python's parameters are in the name only if there are several.
        bool plain = kernel->in->frontend->texts && !many_types(&axes);
        BuildFunction made = {.symbol = symbol_of(p, kernel, line, types, plain ? 0 : type_count),
                              .source = source,
                              .kernel = str(kernel->name),
                              .math = p->math,
                              .alternative_count = (uint32_t)count,
                              .alternatives = list};
        status = add_function(p, kernel, &made, first, own);
    }
    return status;
}

// ---- All kernels ----

static bool is_listed(Str list, Str name) {
    for (Str word; str_item(&list, &word);)
        if (str_equal(str_trim(word), name)) return true;
    return false;
}

static int add_kernel(BuildPlanner *p, uint32_t source, const FrontKernel *kernel) {
    Str name = str(kernel->name);
    bool named = false;
    int status = EXIT_OK;
    size_t first = p->functions.count;
    for (size_t i = 0; !status && i < p->lines.count; i++) {
        BuildLine *line = &p->lines.data[i];
        if (!str_equal(line->kernel, name)) continue;
        named = line->used = true;
        status = add_functions(p, source, kernel, line, first);
    }
    if (status || named) return status;
    if (cli_has(p->cli, "kernels") && !is_listed(cli_value(p->cli, "kernels"), name))
        return EXIT_OK;
    return add_functions(p, source, kernel, NULL, first);
}

static bool kernel_exists(const BuildPlanner *p, Str name, Str *names, size_t *count, size_t room) {
    for (uint32_t s = 0; s < p->plan->source_count; s++)
        for (size_t k = 0; k < p->plan->units[s]->file->kernel_count; k++) {
            Str found = str(p->plan->units[s]->file->kernels[k].name);
            if (str_equal(found, name)) return true;
            if (*count < room) names[(*count)++] = found;
        }
    return false;
}

static int require_kernel(const BuildPlanner *p, const char *option, Str name) {
    enum { NAMES = 64 };
    Str names[NAMES];
    size_t count = 0;
    if (kernel_exists(p, name, names, &count, NAMES)) return EXIT_OK;
    StrBuf list = strbuf(p->cli->arena);
    strbuf_printf(&list, "there are: ");
    for (size_t i = 0; i < count; i++)
        strbuf_printf(&list, "%s%.*s", i ? ", " : "", STR_ARG(names[i]));
    Str nearest = str_nearest(name, names, count);
    const char *meant =
        nearest.size ? arena_printf(p->cli->arena, "; did you mean '%.*s'?", STR_ARG(nearest)) : "";
    return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE, list.text, "--%s: no kernel is named '%.*s'%s",
                    option, STR_ARG(name), meant);
}

static int check_names(const BuildPlanner *p) {
    int status = EXIT_OK;
    for (size_t i = 0; !status && i < p->lines.count; i++)
        status = require_kernel(p, "specialize", p->lines.data[i].kernel);
    for (size_t i = 0; !status && i < p->cli->args.count; i++) {
        Str text, name = STR("");
        if (strcmp(p->cli->args.data[i].option->name, "grid") == 0)
            name = grid_kernel(&p->cli->args.data[i], &text);
        if (name.size) status = require_kernel(p, "grid", name);
    }
    if (!cli_has(p->cli, "kernels")) return status;
    Str list = cli_value(p->cli, "kernels");
    for (Str word; !status && str_item(&list, &word);)
        status = require_kernel(p, "kernels", str_trim(word));
    return status;
}

static int check_set(const BuildPlanner *p) {
    for (size_t i = 0; i < p->everywhere.count; i++)
        if (!p->everywhere.data[i].used)
            return cli_usage_error(p->cli, "--set %.*s: no kernel has a type or const of that name",
                                   STR_ARG(p->everywhere.data[i].name));
    return EXIT_OK;
}

static int by_symbol(const void *a, const void *b) {
    return str_compare(((const BuildFunction *)a)->symbol, ((const BuildFunction *)b)->symbol);
}

// Is this a name that the library defines in addition to its functions?
static bool is_own_name(const BuildPlanner *p, Str symbol) {
    Str name = p->plan->name;
    if (str_ends(symbol, STR("_INTERFACE")) || str_ends(symbol, STR("_TILEC_H"))) return true;
    if (!str_starts(symbol, name)) return false;
    Str rest = {symbol.text + name.size, symbol.size - name.size};
    return str_equal(rest, STR("_load")) || str_equal(rest, STR("_archive"));
}

static int bad_symbol(const BuildPlanner *p, const BuildFunction *f) {
    // Names of kernels are identifiers, but --prefix and --specialize may add other characters.
    if (!str_is_identifier(f->symbol))
        return cli_usage_error(p->cli, "'%.*s' is not a name of a C function", STR_ARG(f->symbol));
    if (!is_own_name(p, f->symbol)) return EXIT_OK;
    return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE,
                    arena_printf(p->cli->arena,
                                 "give it another name: --specialize 'NAME=%.*s …', or the "
                                 "library: --name NAME",
                                 STR_ARG(f->kernel)),
                    "'%.*s' is a name of the library itself: no function can have it",
                    STR_ARG(f->symbol));
}

static int sort_functions(BuildPlanner *p) {
    size_t n = p->functions.count;
    BuildFunction *f = p->functions.data;
    if (!n) return cli_fail(p->cli, EXIT_INPUT, DIAG_KERNEL, NULL, "there is no kernel to build");
    qsort(f, n, sizeof *f, by_symbol);
    for (size_t i = 0; i < n; i++) {
        int status = bad_symbol(p, &f[i]);
        if (status) return status;
        if (i && str_equal(f[i].symbol, f[i - 1].symbol))
            return cli_fail(p->cli, EXIT_USAGE, DIAG_USAGE,
                            f[i].source == f[i - 1].source
                                ? arena_printf(p->cli->arena,
                                               "give one another name: --specialize 'NAME=%.*s …'",
                                               STR_ARG(f[i].kernel))
                                : "build kernels of one name into separate libraries, each with "
                                  "another --prefix",
                            "two functions would be named '%.*s' (of %s and %s)",
                            STR_ARG(f[i].symbol), p->plan->paths[f[i - 1].source],
                            p->plan->paths[f[i].source]);
    }
    p->plan->functions = f;
    p->plan->function_count = (uint32_t)n;
    return EXIT_OK;
}

int build_plan_functions(Cli *cli, BuildPlan *plan) {
    BuildPlanner p = {.cli = cli, .plan = plan};
    int status = parse_options(&p);
    if (!status) status = check_names(&p);
    for (uint32_t s = 0; !status && s < plan->source_count; s++)
        for (size_t k = 0; !status && k < plan->units[s]->file->kernel_count; k++)
            status = add_kernel(&p, s, &plan->units[s]->file->kernels[k]);
    if (!status) status = check_set(&p);
    return status ? status : sort_functions(&p);
}

// ---- Targets ----

static bool is_aarch64(CpuTarget t) { return t.level == CPU_AARCH64; }

static bool same_target(CodeTarget a, CodeTarget b) {
    return a.gpu.vendor == b.gpu.vendor && a.gpu.number == b.gpu.number && a.gpu.own == b.gpu.own &&
           a.gpu.generic == b.gpu.generic && a.cpu.level == b.cpu.level &&
           a.cpu.extras == b.cpu.extras;
}

static int add_target(Cli *cli, Str word, BuildPlan *plan, CodeTarget *targets, bool *has_cpu) {
    CodeTarget t;
    bool has_code;
    int status = front_target(cli, word, true, &t, &has_code);
    if (status) return status;
    for (uint32_t i = 0; i < plan->target_count; i++)
        if (same_target(targets[i], t)) return EXIT_OK;
    if (!code_target_is_gpu(t)) {
        if (*has_cpu && is_aarch64(t.cpu) != is_aarch64(plan->host))
            return cli_usage_error(cli,
                                   "one library is for one architecture of CPUs: build x86-64 "
                                   "and AArch64 separately");
        plan->host = t.cpu;
        *has_cpu = true;
    }
    targets[plan->target_count++] = t;
    return EXIT_OK;
}

int build_plan_targets(Cli *cli, BuildPlan *plan) {
    enum { TARGETS_MAX = 256 };
    CodeTarget *targets = arena_new(cli->arena, CodeTarget, TARGETS_MAX);
    bool has_cpu = false;
    plan->host = cpu_native();
    if (!cli_has(cli, "target"))
        return cli_usage_error(cli,
                               "--target is missing: the targets to build for, as "
                               "sm_80,gfx942,x86-64-v3");
    for (size_t i = 0; i < cli->args.count; i++) {
        if (strcmp(cli->args.data[i].option->name, "target") != 0) continue;
        Str list = cli->args.data[i].value;
        for (Str word; str_item(&list, &word);) {
            if (plan->target_count == TARGETS_MAX)
                return cli_usage_error(cli, "at most %d targets", TARGETS_MAX);
            int status = add_target(cli, str_trim(word), plan, targets, &has_cpu);
            if (status) return status;
        }
    }
    plan->targets = targets;
    if (!cli_has(cli, "host")) return EXIT_OK;
    CpuTarget host;
    if (!cpu_target_parse(cli_value(cli, "host"), &host))
        return cli_usage_error(cli, "--host takes x86-64-v2 or aarch64, found '%.*s'",
                               STR_ARG(cli_value(cli, "host")));
    if (has_cpu && is_aarch64(host) != is_aarch64(plan->host))
        return cli_usage_error(cli,
                               "--host is %.*s, and the targets name CPUs of another "
                               "architecture",
                               STR_ARG(cli_value(cli, "host")));
    plan->host = host;
    return EXIT_OK;
}

// ---- The command, as messages tell it ----

// Quotes a word for the shell.
static void add_word(StrBuf *b, Str word) {
    static const char plain[] = "-.,:=+/@%";
    bool quoted = !word.size;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.text[i];
        quoted = quoted || (!str_word_char(c) && !memchr(plain, c, sizeof plain - 1));
    }
    strbuf_add(b, quoted ? STR(" '") : STR(" "));
    for (size_t i = 0; i < word.size; i++)
        if (word.text[i] == '\'')
            strbuf_add(b, STR("'\\''"));
        else
            strbuf_char(b, word.text[i]);
    strbuf_add(b, quoted ? STR("'") : STR(""));
}

static bool has_unique_name(const BuildPlan *plan, uint32_t source) {
    Str name = str_file_name(str(plan->paths[source]));
    for (uint32_t i = 0; i < plan->source_count; i++)
        if (i != source && str_equal(name, str_file_name(str(plan->paths[i])))) return false;
    return true;
}

static void add_path(StrBuf *b, const char *option, Str path) {
    if (!path.size) return;
    strbuf_printf(b, " --%s", option);
    add_word(b, str_file_name(path));
}

// Prints only the names of files, so that the same sources give the same library anywhere. Two
// files of one name are printed with their paths.
Str build_plan_command(Cli *cli, const BuildPlan *plan) {
    static const char *const kept_options[] = {"specialize",     "set",  "grid", "kernels",
                                               "prefix",         "math", "host", "lines",
                                               "object-version", "name"};
    StrBuf b = strbuf(cli->arena);
    strbuf_printf(&b, "tilec build");
    for (uint32_t i = 0; i < plan->source_count; i++) {
        Str path = str(plan->paths[i]);
        add_word(&b, has_unique_name(plan, i) ? str_file_name(path) : path);
    }
    if (cli_has(cli, "o"))
        strbuf_printf(&b, " -o"), add_word(&b, str_file_name(cli_value(cli, "o")));
    add_path(&b, "shared", cli_value(cli, "shared"));
    add_path(&b, "header", cli_value(cli, "header"));
    add_path(&b, "tune", cli_value(cli, "tune"));
    for (size_t t = 0; t < sizeof kept_options / sizeof *kept_options; t++)
        for (size_t i = 0; i < cli->args.count; i++) {
            const CliArg *a = &cli->args.data[i];
            if (strcmp(a->option->name, kept_options[t]) != 0) continue;
            strbuf_printf(&b, " --%s", kept_options[t]);
            if (a->option->argument) add_word(&b, a->value);
        }
    return strbuf_str(&b);
}
