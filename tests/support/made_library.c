#define _GNU_SOURCE  // mkdtemp
#include "tests/support/made_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// after the above, as cmocka asks
#include <cmocka.h>

#include <tilec/version.h>

enum { TARGETS_MAX = 32, ALTERNATIVES_MAX = 8, BINDINGS_MAX = 12 };

#define MADE_TEXT_(x) #x
#define MADE_TEXT(x) MADE_TEXT_(x)

MadeLibrary *made_library(const char *name, const char *targets) {
    Arena *arena = arena_create();
    MadeLibrary *m = arena_new(arena, MadeLibrary, 1);
    CodeTarget *list = arena_new(arena, CodeTarget, TARGETS_MAX);
    m->arena = arena;
    m->services.plugin = plugin_create(NULL);
    m->plan = (BuildPlan){.name = str(name),
                          .command = STR("tilec build"),
                          .targets = list,
                          .host = cpu_native(),
                          .services = &m->services,
                          .threads = 1};
    Str rest = str(targets);
    while (rest.size) {
        Str word = str_cut(rest, ',', &rest);
        assert_true(m->plan.target_count < TARGETS_MAX);
        assert_true(code_target_parse(word, &list[m->plan.target_count++]));
    }
    return m;
}

void made_free(MadeLibrary *m) {
    if (m->library) os_library_close(m->library);
    if (m->runtime) os_library_close(m->runtime);
    for (size_t i = 0; i < m->units.count; i++) unit_destroy(m->units.data[i]);
    if (m->services.cache) cache_destroy(m->services.cache);
    plugin_destroy(m->services.plugin);
    arena_destroy(m->arena);
}

void made_source(MadeLibrary *m, const char *path) {
    const char *kept = arena_text(m->arena, path, strlen(path));
    Unit *unit = unit_load_file(kept);
    if (diags_errors(unit->diags)) fail_msg("%s has errors", path);
    vec_push(m->arena, &m->paths, kept);
    vec_push(m->arena, &m->units, unit);
}

void made_cache(MadeLibrary *m, const char *folder) {
    m->services.cache = cache_create(folder, NULL, NULL);
}

static Str next_word(Str *text) {
    *text = str_trim(*text);
    return str_cut(*text, ' ', text);
}

// A type, in languages with texts with `*` and a fact, or of a descriptor; else a number, else a
// text.
static BuildBinding binding_of(Str word) {
    Str value, fact;
    BuildBinding b = {.name = str_cut(word, '=', &value)};
    uint64_t number;
    bool overflow = false;
    FrontDescriptor descriptor;
    if (frontend_descriptor(frontend_of(STR("k.py")), value, &descriptor)) {
        b.is_type = true;
        b.type = descriptor.type;
        b.text = value;
        return b;
    }
    b.pointer = str_starts(value, STR("*"));
    if (b.pointer) value.text++, value.size--;
    Str type = str_cut(value, ':', &fact);
    b.is_type = dtype_from_name(type, &b.type);
    bool is_grid = str_equal(b.name, STR(FRONT_GRID));
    if (!is_grid && str_to_u64(b.is_type ? fact : value, &number, &overflow))
        b.value = (int64_t)number;
    else if (!b.is_type)
        b.text = value;
    return b;
}

static uint32_t source_of(const MadeLibrary *m, Str kernel) {
    for (size_t i = 0; i < m->units.count; i++)
        if (frontend_find(m->units.data[i]->file, kernel)) return (uint32_t)i;
    fail_msg("no source has kernel %.*s", STR_ARG(kernel));
    return 0;
}

void made_function(MadeLibrary *m, const char *text) {
    Str rest = str(arena_text(m->arena, text, strlen(text)));
    Str head = next_word(&rest);
    BuildAlternative *list = arena_new(m->arena, BuildAlternative, ALTERNATIVES_MAX);
    BuildFunction f = {.alternative_count = 1, .alternatives = list};
    f.symbol = str_cut(head, '=', &f.kernel);
    if (!f.kernel.size) f.kernel = f.symbol;
    f.source = source_of(m, f.kernel);
    BuildBinding *bindings = arena_new(m->arena, BuildBinding, BINDINGS_MAX);
    for (Str word; (word = next_word(&rest)).size;) {
        BuildAlternative *a = &list[f.alternative_count - 1];
        a->bindings = bindings;
        if (!str_equal(word, STR("|"))) {
            assert_true(a->count < BINDINGS_MAX);
            bindings[a->count++] = binding_of(word);
            continue;
        }
        assert_true(f.alternative_count < ALTERNATIVES_MAX);
        f.alternative_count++;
        bindings = arena_new(m->arena, BuildBinding, BINDINGS_MAX);
    }
    vec_push(m->arena, &m->functions, f);
}

Str made_source_hash(const MadeLibrary *m, uint32_t source) {
    const FrontKernel *kernel = &m->units.data[source]->file->kernels[0];
    return tune_key(m->arena, kernel, STR("")).source;
}

void made_tuned(MadeLibrary *m, const char *text) {
    StrBuf out = strbuf(m->arena);
    for (; *text; text++) {
        if (*text == '$')
            strbuf_add(&out, made_source_hash(m, 0));
        else
            strbuf_char(&out, *text);
    }
    TuneTable *table = tune_parse(m->arena, strbuf_str(&out));
    assert_int_equal(table->problems.count, 0);
    m->plan.tuned = table;
}

Str made_diagnostics(MadeLibrary *m) {
    StrBuf out = strbuf(m->arena);
    for (size_t i = 0; i < m->units.count; i++)
        diags_text(m->units.data[i]->diags, (DiagStyle){0}, &out);
    return strbuf_str(&out);
}

bool made_try(MadeLibrary *m) {
    m->plan.source_count = (uint32_t)m->units.count;
    m->plan.paths = m->paths.data;
    m->plan.units = m->units.data;
    m->plan.function_count = (uint32_t)m->functions.count;
    m->plan.functions = m->functions.data;
    if (!build_library(m->arena, &m->plan, &m->built)) return false;
    // In a block of its own, so that the sanitizer sees what goes beyond it.
    m->data = (struct tilec_archive){.magic = ARCHIVE_MAGIC,
                                     .abi = ARCHIVE_ABI,
                                     .size = sizeof m->data,
                                     .cpu_abi = CPU_ABI_VERSION,
                                     .bytes = (const uint8_t *)m->built.archive.text,
                                     .byte_count = m->built.archive.size};
    return true;
}

void made_build(MadeLibrary *m) {
    if (!made_try(m)) fail_msg("%.*s", STR_ARG(made_diagnostics(m)));
}

// The library's functions ask for the runtime by its name: that of this build is opened before.
void made_link(MadeLibrary *m) {
    OsError error;
    Str bytes;
    const char *name = arena_printf(m->arena, "%.*s_archive", STR_ARG(m->plan.name));
    m->runtime =
        os_library_open(TEST_BINARY_DIR "/libtilec_rt.so." MADE_TEXT(TILEC_VERSION_MAJOR), &error);
    if (!m->runtime) fail_msg("the runtime: %s", error.text);
    if (!build_shared(m->arena, &m->plan, &m->built, STR("libmade.so"), &bytes))
        fail_msg("%.*s", STR_ARG(made_diagnostics(m)));
    m->library = os_library_open_bytes("made", bytes, &error);
    if (!m->library) fail_msg("the library: %s", error.text);
    m->linked = os_library_symbol(m->library, name);
    assert_non_null(m->linked);
}
