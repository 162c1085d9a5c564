// @triton.autotune: its configurations are joint rows of the tune space.
//
// They are evaluated like any name at the top of a file: lists, comprehensions, functions that
// return a list. Where that fails (they come from a file, or depend on the device), the kernel has
// no tune space, and its constexprs must be given.
#include "frontend/triton/elaborate.h"

Val tr_config(Elab *e, const Arguments *a) {
    uint32_t count = 0;
    const Object *dict = a->count ? tr_object_of(a->vals[0]) : NULL;
    if (dict && dict->kind != OBJECT_DICT) dict = NULL;
    Object o = {.kind = OBJECT_CONFIG};
    o.fields = arena_new(e->scratch, Val, 2 * (a->count + (dict ? dict->count : 0)) + 1);
    for (uint32_t i = 0; dict && i < 2 * dict->count; i++) o.fields[count++] = dict->fields[i];
    for (uint32_t i = 0; i < a->count; i++) {
        if (!a->names[i]) continue;
        o.fields[count++] = (Val){.kind = VAL_STRING, .text = str(a->names[i])};
        o.fields[count++] = a->vals[i];
    }
    o.count = count / 2;
    return tr_object(e, o);
}

// "warps" for num_warps; other names are constexprs.
static Symbol tune_name(TritonFile *file, const PyFunc *func, Val name) {
    if (name.kind != VAL_STRING) return NULL;
    Str text = name.text;
    if (str_starts(text, STR("num_"))) {
        Symbol option = intern(file->names, (Str){text.text + 4, text.size - 4});
        if (frontend_is_option(option)) return option;
    }
    Symbol symbol = intern(file->names, text);
    for (const PyParam *p = func->params; p; p = p->next)
        if (p->name == symbol) return symbol;
    return NULL;
}

static bool value_in(TritonFile *file, const PyFunc *func, const Object *config, Symbol name,
                     int64_t *value) {
    for (uint32_t i = 0; i < config->count; i++) {
        Val v = config->fields[2 * i + 1];
        if (tune_name(file, func, config->fields[2 * i]) != name) continue;
        *value = v.kind == VAL_BOOL ? v.truth : (int64_t)v.integer;
        return v.kind == VAL_INT || v.kind == VAL_BOOL;
    }
    *value = 0;  // an option that is not given
    return frontend_is_option(name);
}

static void add_names(TritonFile *file, const PyFunc *func, const Object *config,
                      TritonKernel *kernel) {
    enum { MOST = 32 };
    FrontTune *tune = (FrontTune *)(uintptr_t)kernel->tune;
    if (!tune) kernel->tune = tune = arena_new(file->arena, FrontTune, MOST);
    for (uint32_t i = 0; i < config->count; i++) {
        Symbol name = tune_name(file, func, config->fields[2 * i]);
        bool known = !name || kernel->tune_count == MOST;
        for (uint32_t k = 0; k < kernel->tune_count && !known; k++) known = tune[k].name == name;
        if (!known) tune[kernel->tune_count++] = (FrontTune){.name = name, .joint = true};
    }
}

static void make_rows(TritonFile *file, const PyFunc *func, Val list, TritonKernel *kernel) {
    FrontTune *tune = (FrontTune *)(uintptr_t)kernel->tune;
    uint32_t rows = 0;
    for (uint32_t k = 0; k < kernel->tune_count; k++)
        tune[k].values = arena_new(file->arena, int64_t, list.tuple.count + 1);
    for (uint32_t i = 0; i < list.tuple.count; i++) {
        const Object *config = tr_object_of(list.tuple.items[i]);
        bool whole = true;
        for (uint32_t k = 0; k < kernel->tune_count && whole; k++)
            whole = value_in(file, func, config, tune[k].name,
                             (int64_t *)(uintptr_t)&tune[k].values[rows]);
        rows += whole;
    }
    for (uint32_t k = 0; k < kernel->tune_count; k++) tune[k].count = rows;
    if (!rows) kernel->tune_count = 0;
}

static const Py *configs_of(const TritonFile *file, const PyFunc *func) {
    for (const Py *d = func->decorators; d; d = d->next) {
        if (d->kind != PY_CALL) continue;
        if (!str_ends(tr_path_of(file->main, d->a, file->arena), STR("autotune"))) continue;
        for (const Py *a = d->list; a; a = a->next) {
            bool named = a->kind == PY_KEYWORD;
            if (!named || (a->name && str_equal(str(a->name), STR("configs"))))
                return named ? a->a : a;
        }
    }
    return NULL;
}

void tr_configs(TritonFile *file, const PyFunc *func, TritonKernel *kernel) {
    const Py *node = configs_of(file, func);
    if (!node) return;
    Arena *scratch = arena_create();
    TritonElab t;
    tr_begin(&t, file, ir_module_create(scratch, file->sources, file->names),
             diags_create(scratch, file->sources), file->arena);
    t.module = file->main;
    Val list = tr_expr(&t.elab, node);
    bool good = list.kind == VAL_TUPLE && list.tuple.count > 0;
    for (uint32_t i = 0; good && i < list.tuple.count; i++)
        good = tr_is(list.tuple.items[i], OBJECT_CONFIG);
    if (good) {
        kernel->config = tr_object_of(list.tuple.items[0]);
        for (uint32_t i = 0; i < list.tuple.count; i++)
            add_names(file, func, tr_object_of(list.tuple.items[i]), kernel);
        make_rows(file, func, list, kernel);
    }
    arena_destroy(scratch);
}
