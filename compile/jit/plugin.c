#include "compile/jit/plugin.h"

#include <stdatomic.h>
#include <string.h>

#include "base/os/os_dl.h"
#include "base/os/os_fork.h"
#include "base/os/os_mutex.h"
#include "base/os/os_self.h"
#include "base/recover.h"

// The folder in which `make install` puts libraries; defined by the build.
#ifndef TILEC_INSTALL_LIBDIR
#define TILEC_INSTALL_LIBDIR ""
#endif
// The same relative to the folder of programs: "../lib/x86_64-linux-gnu".
#ifndef TILEC_LIBDIR_BESIDE
#define TILEC_LIBDIR_BESIDE "../lib"
#endif

struct Plugin {
    OsMutex *lock;
    OsLibrary *library;
    const CodegenApi *api;
    Arena *arena;
    Str named;   // the context's option; empty: not set
    Str opened;  // empty: none is open
    // "
    // path: reason" for each path tried
    StrBuf tried;
    bool failed;                 // opening failed
    _Atomic unsigned compiling;  // number of threads
};

Plugin *plugin_create(const char *named) {
    Plugin *p = recover_new(sizeof *p);
    p->lock = os_mutex_create();
    p->arena = arena_create();
    p->tried = strbuf(p->arena);
    if (named) p->named = (Str){arena_text(p->arena, named, strlen(named)), strlen(named)};
    return p;
}

void plugin_destroy(Plugin *plugin) {
    if (!plugin) return;
    if (plugin->library) os_library_close(plugin->library);
    arena_destroy(plugin->arena);
    os_mutex_destroy(plugin->lock);
    recover_free(plugin);
}

// ---- Where it may be ----

enum { PLACES = 8 };
typedef struct PluginPlaces {
    Str paths[PLACES];
    size_t count;
} PluginPlaces;

static void add_path(PluginPlaces *places, Str path) {
    for (size_t i = 0; i < places->count; i++)
        if (str_equal(places->paths[i], path)) return;
    CHECK(places->count < PLACES, "%zu places", places->count);
    places->paths[places->count++] = path;
}

static void add_beside(PluginPlaces *places, Arena *arena, Str file, const char *way) {
    if (file.size) add_path(places, os_path_resolve(arena, file, str(way)));
}

// The last one is only a file name: the loader searches it.
static PluginPlaces places_of(const Plugin *plugin, Arena *arena) {
    static const char *const ways[] = {PLUGIN_FILE, "../lib/" PLUGIN_FILE,
                                       TILEC_LIBDIR_BESIDE "/" PLUGIN_FILE};
    PluginPlaces p = {0};
    const char *variable = os_env("TILEC_LLVM_LIBRARY");
    Str named = plugin->named.size ? plugin->named : str(variable ? variable : "");
    if (named.size) {
        add_path(&p, named);
        return p;
    }
    Str library = os_self_library(arena), program = os_self_program(arena);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        add_beside(&p, arena, library, ways[i]);
        add_beside(&p, arena, program, ways[i]);
    }
    if (TILEC_INSTALL_LIBDIR[0]) add_path(&p, STR(TILEC_INSTALL_LIBDIR "/" PLUGIN_FILE));
    add_path(&p, STR(PLUGIN_FILE));
    return p;
}

static bool is_bare(Str path) { return !memchr(path.text, '/', path.size); }

Str plugin_find(const Plugin *plugin, Arena *arena) {
    if (plugin->opened.size) return plugin->opened;
    PluginPlaces p = places_of(plugin, arena);
    for (size_t i = 0; i < p.count; i++)
        if (!is_bare(p.paths[i]) && os_path_exists(p.paths[i].text)) return p.paths[i];
    return STR("");
}

// ---- Opening it ----

// Several times the heap that the loader, LLVM's constructors and our reserve need while it is
// opened.
enum { OPENING_HEAP = 4 << 20 };

// Returns NULL after noting the reason.
static const CodegenApi *api_of(Plugin *p, const CodegenApi *api, Str path) {
    if (api->version != CODEGEN_VERSION) {
        strbuf_printf(&p->tried, "\n%.*s: its interface is of version %u, expected %d",
                      STR_ARG(path), api->version, CODEGEN_VERSION);
    } else if (strcmp(api->build, CODEGEN_BUILD_TEXT) != 0) {
        strbuf_printf(&p->tried, "\n%.*s: it is from '%s', expected '%s'", STR_ARG(path),
                      api->build, CODEGEN_BUILD_TEXT);
    } else {
        return api;
    }
    return NULL;
}

static void open_path(Plugin *p, Str path) {
    OsError e;
    if (!is_bare(path) && !os_path_exists(path.text)) {
        strbuf_printf(&p->tried, "\n%.*s: no such file", STR_ARG(path));
        return;
    }
    os_library_require(path.text, OPENING_HEAP);
    OsLibrary *library = os_library_open(path.text, &e);
    if (!library) {
        strbuf_printf(&p->tried, "\n%.*s: %s", STR_ARG(path), e.text);
        return;
    }
    // The address of a function comes as an object pointer: POSIX allows the conversion.
    void *symbol = os_library_symbol(library, CODEGEN_API_SYMBOL);
    CodegenApiFunction *function;
    memcpy(&function, &symbol, sizeof function);
    if (function)
        p->api = api_of(p, function(), path);
    else
        strbuf_printf(&p->tried, "\n%.*s: it is not a compiler library of tilec", STR_ARG(path));
    if (!p->api) {
        os_library_close(library);
        return;
    }
    p->library = library;
    p->opened = path;
}

static void open_places(Plugin *p) {
    p->tried.size = 0;  // an earlier attempt may have run out of memory
    PluginPlaces places = places_of(p, p->arena);
    for (size_t i = 0; i < places.count && !p->api; i++) open_path(p, places.paths[i]);
    p->failed = !p->api;
}

static void report(const Plugin *p, Diags *diags) {
    diag_error(diags, (Span){0}, DIAG_UNAVAILABLE,
               "machine code cannot be made here: " PLUGIN_FILE " was not found or does not fit");
    for (Str rest = strbuf_str(&p->tried); rest.size;) {
        Str line = str_cut(rest, '\n', &rest);
        if (line.size) diag_note(diags, (Span){0}, "%.*s", STR_ARG(line));
    }
    diag_help(diags,
              "install tilec's compiler library, or name it: TILEC_LLVM_LIBRARY=…/" PLUGIN_FILE
              ", or the context's option compiler_library; the device interp needs none");
}

const CodegenApi *plugin_open(Plugin *plugin, Diags *diags) {
    OsNoFork whole;  // so that the lock is free in the child of a fork
    os_no_fork_begin(&whole);
    os_mutex_lock(plugin->lock);
    if (!plugin->api && !plugin->failed) open_places(plugin);
    const CodegenApi *api = plugin->api;
    if (!api) report(plugin, diags);
    os_mutex_unlock(plugin->lock);
    os_no_fork_end(&whole);
    return api;
}

unsigned plugin_begin(Plugin *plugin) {
    unsigned busy = atomic_fetch_add(&plugin->compiling, 1) + 1, processors = os_cpu_count();
    return processors > busy ? processors - busy : 0;
}

void plugin_end(Plugin *plugin) { atomic_fetch_sub(&plugin->compiling, 1); }
