// Files: reading them, what they define, and which file an import names.
#include <string.h>

#include "base/os/os.h"
#include "frontend/triton/elaborate.h"

static Str last_part(Str path) {
    size_t i = path.size;
    while (i && path.text[i - 1] != '.') i--;
    return (Str){path.text + i, path.size - i};
}

// ---- what a file defines

typedef struct Collect {
    TritonFile *file;
    TritonModule *module;
    const GlobalGuard *guard;
    bool inner;
} Collect;

static Global *find_in(const Map *map, Symbol name) {
    const uint64_t *found = map_find(map, map_key(name));
    return found ? (Global *)(uintptr_t)*found : NULL;
}

static void add_global(const Collect *c, Symbol name, const Py *node, const Py *from) {
    Arena *arena = c->file->arena;
    Map *map = c->inner ? &c->module->inner : &c->module->by_name;
    Global *g = arena_new(arena, Global, 1);
    *g = (Global){.name = name,
                  .node = node,
                  .from = from,
                  .guard = c->guard,
                  .inner = c->inner,
                  .earlier = find_in(map, name)};
    vec_push(arena, &c->module->globals, g);
    map_put(arena, map, map_key(name), map_key(g));
}

static Symbol first_part(TritonFile *file, Str dotted) {
    Str rest;
    return intern(file->names, str_cut(dotted, '.', &rest));
}

static void collect_target(const Collect *c, const Py *target, const Py *statement) {
    if (target->kind == PY_NAME) add_global(c, target->name, statement, NULL);
    if (target->kind == PY_TUPLE || target->kind == PY_LIST)
        for (const Py *t = target->list; t; t = t->next) collect_target(c, t, statement);
}

// The path of a decorator that makes a kernel of a function, or changes one; empty: another name.
static Str decorator_path(const Collect *c, const Py *node) {
    static const char *const names[] = {"jit", "heuristics", "autotune"};
    Str path = tr_path_of(c->module, node, c->file->arena);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_has_word(path, STR("triton")) && str_equal(last_part(path), str(names[i])))
            return path;
    return STR("");
}

// kernel = triton.jit(function), or triton.heuristics({…})(kernel): the same as a function with
// these decorators. NULL: another value.
static const Py *decorated(const Collect *c, Symbol name, const Py *value) {
    Arena *arena = c->file->arena;
    Py *first = NULL, **place = &first;
    for (; value->kind == PY_CALL; value = value->list) {
        if (!decorator_path(c, value->a).size || !value->list || value->list->kind == PY_KEYWORD)
            return NULL;
        *place = arena_new(arena, Py, 1);
        **place = *value->a;
        (*place)->next = NULL;
        place = &(*place)->next;
    }
    const Global *g = value->kind == PY_NAME ? tr_find_global(c->module, value->name) : NULL;
    if (!first || !g || g->node->kind != PY_DEF) return NULL;
    PyFunc *func = arena_new(arena, PyFunc, 1);
    Py *def = arena_new(arena, Py, 1);
    *func = *g->node->func;
    func->name = name;
    *place = (Py *)(uintptr_t)func->decorators;
    func->decorators = first;
    *def = *g->node;
    def->func = func;
    return def;
}

static void collect(const Collect *c, const Py *block);

static void collect_branch(const Collect *c, const Py *node, bool otherwise) {
    GlobalGuard *guard = arena_new(c->file->arena, GlobalGuard, 1);
    *guard = (GlobalGuard){node, otherwise, c->guard};
    Collect inner = *c;
    inner.guard = guard;
    collect(&inner, otherwise ? node->c : node->b);
}

static void collect_imports(const Collect *c, const Py *s) {
    Interner *names = c->file->names;
    if (s->kind == PY_FROM && !s->list) vec_push(c->file->arena, &c->module->stars, s);
    for (const Py *a = s->list; a; a = a->next)
        if (s->kind == PY_FROM)
            add_global(c, a->name ? a->name : intern(names, a->text), a, s);
        else
            add_global(c, a->name ? a->name : first_part(c->file, a->text), a, NULL);
}

static void collect_assign(const Collect *c, const Py *s) {
    const Py *target = s->list, *def = NULL;
    if (target && !target->next && target->kind == PY_NAME) def = decorated(c, target->name, s->a);
    if (def) add_global(c, target->name, def, NULL);
    for (const Py *t = s->list; t && !def; t = t->next) collect_target(c, t, s);
}

// By its name: where it is imported may not be known yet.
static bool looks_jit(const PyFunc *func) {
    for (const Py *d = func->decorators; d; d = d->next)
        if (str_equal(tr_last_name(d->kind == PY_CALL ? d->a : d), STR("jit"))) return true;
    return false;
}

static bool makes_kernels(const Py *block) {
    for (const Py *s = block ? block->list : NULL; s; s = s->next) {
        if (s->kind == PY_IF && (makes_kernels(s->b) || makes_kernels(s->c))) return true;
        if (s->kind == PY_WITH && makes_kernels(s->b)) return true;
        if (s->kind == PY_TRY && makes_kernels(s->a)) return true;
        if (s->kind == PY_DEF && (looks_jit(s->func) || makes_kernels(s->func->body))) return true;
    }
    return false;
}

// A plain function may have jit functions in it, which see its names.
static void collect_function(const Collect *c, const Py *s) {
    add_global(c, s->func->name, s, NULL);
    if (looks_jit(s->func) || !makes_kernels(s->func->body)) return;
    Collect inner = *c;
    inner.inner = true;
    collect(&inner, s->func->body);
}

static void collect_one(const Collect *c, const Py *s) {
    switch (s->kind) {
    case PY_DEF: collect_function(c, s); break;
    case PY_CLASS: add_global(c, s->name, s, NULL); break;
    case PY_IMPORT:
    case PY_FROM: collect_imports(c, s); break;
    case PY_ASSIGN: collect_assign(c, s); break;
    case PY_ANNOTATED:
        if (s->c) collect_target(c, s->a, s);
        break;
    case PY_IF:
        collect_branch(c, s, false);
        if (s->c) collect_branch(c, s, true);
        break;
    case PY_TRY:
        // The body of `try` counts if it defines the name.
        for (const Py *x = s->list; x; x = x->next) collect(c, x->b);
        collect(c, s->a);
        if (s->b) collect(c, s->b);
        break;
    case PY_WITH: collect(c, s->b); break;
    default: break;
    }
}

static void collect(const Collect *c, const Py *block) {
    if (!block) return;
    for (const Py *s = block->list; s; s = s->next) collect_one(c, s);
}

Global *tr_find_global(const TritonModule *module, Symbol name) {
    Global *found = find_in(&module->by_name, name);
    return found ? found : find_in(&module->inner, name);
}

TritonModule *tr_module_add(TritonFile *file, const SourceFile *source, const Py *tree) {
    TritonModule *m = arena_new(file->arena, TritonModule, 1);
    *m = (TritonModule){.file = file, .source = source, .tree = tree};
    vec_push(file->arena, &file->modules, m);
    collect(&(Collect){.file = file, .module = m}, tree);
    return m;
}

TritonModule *tr_module_of(const TritonFile *file, const PyFunc *func) {
    for (size_t i = 0; i < file->modules.count; i++)
        if (file->modules.data[i]->source == func->file) return file->modules.data[i];
    return file->main;
}

TritonModule *tr_module(const Elab *e) {
    const TritonElab *t = (const TritonElab *)e;
    return t->frame ? t->frame->module : t->module;
}

// ---- imports

static bool exists(TritonFile *file, const char *path) {
    return os_path_exists(path) && file->import;
}

// Stands for a file that exists and cannot be read.
static TritonModule *unreadable(TritonFile *file, const char *path, const Diags *diags) {
    TritonModule *m = arena_new(file->arena, TritonModule, 1);
    SourceFile *source = arena_new(file->arena, SourceFile, 1);
    *source = (SourceFile){.path = str(path)};
    *m = (TritonModule){.file = file, .source = source, .wrong = diags_get(diags, 0)};
    return m;
}

// The module of a file, read once; NULL: there is no such file.
static TritonModule *read_module(TritonFile *file, const char *path) {
    Symbol key = intern(file->names, str(path));
    const uint64_t *known = map_find(&file->by_path, map_key(key));
    if (known) return (TritonModule *)(uintptr_t)*known;
    TritonModule *m = NULL;
    if (exists(file, path)) {
        Diags *diags = diags_create(file->arena, file->sources);
        const SourceFile *source = file->import(file->user, str(key), (Span){0}, diags);
        const Py *tree = source ? py_parse(file->arena, file->names, diags, source) : NULL;
        if (tree) m = tr_module_add(file, source, tree);
        if (m && diags_errors(diags)) m->wrong = diags_get(diags, 0);
        if (!m && diags_errors(diags)) m = unreadable(file, path, diags);
    }
    map_put(file->arena, &file->by_path, map_key(key), map_key(m));
    return m;
}

static Str folder_of(Str path) {
    size_t i = path.size;
    while (i && path.text[i - 1] != '/') i--;
    return i ? (Str){path.text, i - 1} : STR(".");
}

// folder/a/b.py or folder/a/b/__init__.py for "a.b"
static TritonModule *module_in(TritonFile *file, Str folder, Str dotted) {
    char *path = arena_printf(file->arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(dotted));
    for (char *c = path + folder.size; *c; c++)
        if (*c == '.') *c = '/';
    if (!dotted.size) path[strlen(path) - 1] = 0;
    TritonModule *m = NULL;
    if (dotted.size) m = read_module(file, arena_printf(file->arena, "%s.py", path));
    if (!m) m = read_module(file, arena_printf(file->arena, "%s/__init__.py", path));
    return m;
}

static bool is_package(const TritonFile *file, Str folder) {
    return os_path_exists(arena_printf(file->arena, "%.*s/__init__.py", STR_ARG(folder)));
}

// Absolute names begin above the topmost package that contains the file, or above a folder of the
// name's first part.
static TritonModule *absolute(TritonFile *file, Str folder, Str dotted) {
    Str rest, first = str_cut(dotted, '.', &rest);
    TritonModule *m = NULL;
    bool packages = true;
    for (int up = 0; up < 32 && !m; up++) {
        bool package = is_package(file, folder);
        if ((packages && !package) || str_equal(str_file_name(folder), first)) {
            Str root =
                package || str_equal(str_file_name(folder), first) ? folder_of(folder) : folder;
            m = module_in(file, root, dotted);
        }
        packages = packages && package;
        Str above = folder_of(folder);
        if (above.size >= folder.size) break;
        folder = above;
    }
    return m;
}

TritonModule *tr_import(TritonFile *file, const TritonModule *from, Str dotted, unsigned dots) {
    if (!file->import) return NULL;
    Str folder = folder_of(from->source->path);
    if (!dots) return absolute(file, folder, dotted);
    for (unsigned i = 1; i < dots; i++) folder = folder_of(folder);
    return module_in(file, folder, dotted);
}

const PyFunc *tr_find_func(const TritonModule *from, Symbol name, const TritonModule **module) {
    enum { HOPS = 8 };
    for (int hop = 0; from && hop < HOPS; hop++) {
        const Global *g = tr_find_global(from, name);
        if (g && g->node->kind == PY_DEF) {
            *module = from;
            return g->node->func;
        }
        if (!g || !g->from) return NULL;
        from = tr_import(from->file, from, g->from->text, g->from->dots);
        name = from ? intern(from->file->names, g->node->text) : name;
    }
    return NULL;
}

// ---- paths of names, and decorators

static Str path_join(Arena *arena, Str a, Str b) {
    return str(arena_printf(arena, "%.*s.%.*s", STR_ARG(a), STR_ARG(b)));
}

Str tr_path_of(const TritonModule *module, const Py *node, Arena *arena) {
    if (node->kind == PY_CALL) return tr_path_of(module, node->a, arena);
    if (node->kind == PY_ATTRIBUTE) {
        Str base = tr_path_of(module, node->a, arena);
        return base.size ? path_join(arena, base, str(node->name)) : base;
    }
    if (node->kind != PY_NAME) return STR("");
    const Global *g = tr_find_global(module, node->name);
    if (!g || g->node->kind != PY_ALIAS) return STR("");
    if (g->from) return path_join(arena, g->from->text, g->node->text);
    return g->node->name ? g->node->text : str(g->name);
}

bool tr_is_jit(const TritonModule *module, const PyFunc *func) {
    Arena *scratch = arena_create();
    bool found = false;
    for (const Py *d = func->decorators; d && !found; d = d->next) {
        Str path = tr_path_of(module, d, scratch), last = last_part(path);
        found = str_equal(last, STR("jit")) && str_has_word(path, STR("triton"));
    }
    arena_destroy(scratch);
    return found;
}
