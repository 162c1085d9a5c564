// The row of the table of `tilec tune` that belongs to a run.
#include "compile/tune/table.h"
#include "runtime/tune.h"
#include "tools/run.h"

TuneRow run_tune_key(const Run *r) {
    Arena *arena = r->cli->arena;
    TuneRow key = tune_key(arena, r->kernel, r->settings.spec.target);
    key.types = tune_types(arena, r->kernel, &r->settings.spec);
    for (const FrontExtent *e = r->kernel->extents; e; e = e->next) {
        const SettingsValue *v = settings_find_extent(&r->settings, e->name);
        TuneSetting shape = {str(e->name), tune_bucket(v ? v->value : 0)};
        vec_push(arena, &key.shape, shape);
    }
    return key;
}

TuneNames run_tune_names(const Run *r, const TuneRow *key) {
    return tune_names(cli_text(r->cli, key->target), r->device->api->simulated);
}

// Is there a row for these types and extents, but of another version of the kernel?
static bool is_stale(const TuneTable *table, const TuneRow *key) {
    TuneRow any = *key;
    any.source = (Str){0};
    return tune_find(table, &any) != NULL;
}

void run_warn_of_stale_row(const Run *r) {
    Arena *arena = r->cli->arena;
    Str path = tune_path(arena);
    const TuneTable *table = tune_read(arena, path);
    TuneRow key = run_tune_key(r);
    TuneNames names = run_tune_names(r, &key);
    for (uint32_t i = 0; i < names.count; i++) {
        key.target = str(names.text[i]);
        if (tune_find(table, &key)) return;
    }
    for (uint32_t i = 0; i < names.count; i++) {
        key.target = str(names.text[i]);
        if (!is_stale(table, &key)) continue;
        cli_warn(r->cli, DIAG_TUNE,
                 arena_printf(arena,
                              "the row of %s for %s in %.*s is not used: the kernel has changed "
                              "since: run tilec tune again",
                              r->kernel->name, names.text[i], STR_ARG(path)));
        return;
    }
}
