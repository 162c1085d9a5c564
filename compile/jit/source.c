#include "compile/jit/source.h"

#include "base/os/os.h"
#include "base/recover.h"
#include "base/status.h"
#include "compile/jit/compiler.h"
#include "target/cpu.h"

tilec_source *source_new(tilec_context *context, Unit *unit) {
    tilec_source *s = recover_new(sizeof *s);
    s->context = context;
    s->unit = unit;
    s->lock = os_mutex_create_long();
    s->scratch = arena_create();
    atomic_init(&s->users, 1);
    return s;
}

void source_join(tilec_source *source) { atomic_fetch_add(&source->users, 1); }

// A thread that exists only in the parent of a fork may have changed anything of the unit.
void source_leave(tilec_source *source) {
    if (atomic_fetch_sub(&source->users, 1) > 1) return;
    bool whole = !os_mutex_abandoned(source->lock);
    os_mutex_destroy(source->lock);
    if (!whole) return;
    unit_destroy(source->unit);
    arena_destroy(source->scratch);
    recover_free(source);
}

// In the child of a fork another thread of the parent may have held the lock. Then the state of a
// look-up is replaced by a new one; a unit of which a kernel was being compiled is unusable.
tilec_status source_lock(tilec_source *source) {
    os_mutex_lock(source->lock);
    if (!os_mutex_abandoned(source->lock)) {
        source->compiling = false;
        return TILEC_OK;
    }
    if (source->compiling) {
        os_mutex_unlock(source->lock);
        const SourceFile *file = sources_get(source->unit->sources, 0);
        return rt_fail(source->context, TILEC_UNAVAILABLE,
                       "the process forked while another thread compiled a kernel of '%.*s': its "
                       "kernels work only in the parent; make them again",
                       STR_ARG(file->path));
    }
    source->scratch = arena_create();
    arena_keep(source->scratch);
    os_mutex_mark_consistent(source->lock);
    return TILEC_OK;
}

Unit source_unit(const tilec_source *source, Arena *arena, Diags *diags) {
    Unit unit = *source->unit;
    unit.arena = arena;
    unit.diags = diags;
    unit_begin(&unit, compiler_of(source->context)->services.seconds);
    return unit;
}

tilec_status source_fail(tilec_context *context, const Diags *diags) {
    bool io = diags_count(diags) && diags_get(diags, 0)->code == DIAG_IO;
    return rt_fail_diags(context, io ? TILEC_IO : TILEC_INVALID_SOURCE, diags);
}

void sources_close(tilec_context *context) {
    while (context->sources) tilec_source_close((tilec_source *)context->sources);
}

// ---- The public calls

static tilec_status check_call(tilec_context *context, const char *what, const void *from,
                               tilec_source **source) {
    if (!context) return TILEC_INVALID_ARGUMENT;
    rt_begin(context);
    if (from && source) return TILEC_OK;
    return rt_fail(context, TILEC_INVALID_ARGUMENT, "%s is NULL",
                   from ? "the pointer for the source" : what);
}

// Warnings belong to the call that reads the text, not to those that make its kernels.
static tilec_status keep(tilec_context *context, Unit *unit, tilec_source **source) {
    if (diags_errors(unit->diags)) {
        tilec_status s = source_fail(context, unit->diags);
        unit_destroy(unit);
        return s;
    }
    tilec_source *made = source_new(context, unit);
    rt_keep_diags(context, unit->diags);
    diags_truncate(unit->diags, 0);
    recover_keep_all();
    rt_own(context, &context->sources, &made->owned);
    *source = made;
    return TILEC_OK;
}

// Front ends compute constants, so the caller's floating-point modes must not affect them.
static tilec_status open_source(tilec_context *context, const char *path, Str name, Str text,
                                tilec_source **source) {
    uint64_t mode = cpu_float_mode_usual();
    Recovery r;
    if (RECOVER_FAILED(&r)) {
        cpu_float_mode_restore(mode);
        return rt_no_memory(context);
    }
    Unit *unit = path ? unit_load_file(path) : unit_load_text(name, text);
    tilec_status s = keep(context, unit, source);
    recover_end(&r);
    cpu_float_mode_restore(mode);
    return s;
}

tilec_status tilec_source_open(tilec_context *context, const char *path, tilec_source **source) {
    tilec_status s = check_call(context, "the path", path, source);
    return s ? s : open_source(context, path, (Str){0}, (Str){0}, source);
}

tilec_status tilec_source_open_text(tilec_context *context, const char *name, const char *text,
                                    size_t length, tilec_source **source) {
    tilec_status s = check_call(context, "the source", text, source);
    return s ? s : open_source(context, NULL, source_name(name), (Str){text, length}, source);
}

void tilec_source_close(tilec_source *source) {
    if (!source) return;
    rt_disown(source->context, &source->owned);
    source_leave(source);
}

tilec_status tilec_source_kernel_count(tilec_source *source, size_t *count) {
    if (!source) return TILEC_INVALID_ARGUMENT;
    rt_begin(source->context);
    if (!count)
        return rt_fail(source->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the count is NULL");
    *count = source->unit->file->kernel_count;
    return TILEC_OK;
}

tilec_status tilec_source_kernel_name(tilec_source *source, size_t index, const char **name) {
    if (!source) return TILEC_INVALID_ARGUMENT;
    rt_begin(source->context);
    if (!name)
        return rt_fail(source->context, TILEC_INVALID_ARGUMENT, "the pointer for the name is NULL");
    size_t count = source->unit->file->kernel_count;
    if (index >= count)
        return rt_fail(source->context, TILEC_INVALID_ARGUMENT,
                       "the source has %zu kernel%s, and none with number %zu", count,
                       count == 1 ? "" : "s", index);
    *name = source->unit->file->kernels[index].name;
    return TILEC_OK;
}
