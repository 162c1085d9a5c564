// Looks up functions of a built library by name, and explains why one is missing.
#include <string.h>

#include "base/recover.h"
#include "base/status.h"
#include "runtime/context.h"
#include "runtime/library/library.h"

// "matmul" of "matmul_f16_f32": the name without the types at its end, which are counted.
static Str without_types(Str name, uint32_t *types) {
    *types = 0;
    for (size_t i = name.size; i-- > 1;) {
        Dtype t;
        if (name.text[i] != '_') continue;
        if (!dtype_from_name((Str){name.text + i + 1, name.size - i - 1}, &t)) break;
        name.size = i;
        ++*types;
    }
    return name;
}

// Is it the same kernel with other types?
static bool is_sibling(Str a, Str b) {
    uint32_t of_a, of_b;
    Str name = without_types(a, &of_a);
    return str_equal(name, without_types(b, &of_b)) && of_a && of_a == of_b;
}

// The kernel of a function, as it was built.
static bool kernel_of(const tilec_library *l, uint32_t function, Arena *arena,
                      ArchiveGroup *group) {
    ArchiveFunction f;
    TRY(archive_function_whole(&l->archive, function, &f) && f.group_count);
    return archive_group(&l->archive, f.first_group, arena, group) == ARCHIVE_OK;
}

// Finds the word after the option in the command, from *at on, without its quotes and surrounding
// blanks; *at moves into it.
static bool next_value(Str command, const char *option, size_t *at, Str *value) {
    size_t size = strlen(option);
    while (*at + size < command.size && memcmp(command.text + *at, option, size) != 0) ++*at;
    if (*at + size >= command.size) return false;
    *at += size;
    bool quoted = command.text[*at] == '\'';
    *at += quoted;
    Str rest;
    *value = str_cut((Str){command.text + *at, command.size - *at}, quoted ? '\'' : ' ', &rest);
    *value = str_trim(*value);
    return true;
}

// The function's name in a --specialize line: "matmul", "small=matmul".
static const char *head_of(const tilec_library *l, const ArchiveGroup *kernel, Str function,
                           Arena *arena) {
    uint32_t types;
    size_t at = 0;
    Str base = without_types(function, &types), prefix;
    if (next_value(l->archive.command, " --prefix ", &at, &prefix) && str_starts(base, prefix))
        base.text += prefix.size, base.size -= prefix.size;
    if (str_equal(base, kernel->kernel)) return arena_printf(arena, "%.*s", STR_ARG(base));
    return arena_printf(arena, "%.*s=%.*s", STR_ARG(base), STR_ARG(kernel->kernel));
}

static bool is_type(const ArchiveGroup *kernel, Str name) {
    const MetaVariant *v = &kernel->alternatives[0].meta->variants[0];
    for (uint32_t i = 0; i < v->binding_count; i++)
        if (v->bindings[i].is_type && str_equal(v->bindings[i].name, name)) return true;
    return false;
}

// The command's own line with this name; its consts and options still apply.
static bool find_line(const tilec_library *l, const char *head, Str *settings) {
    Str line;
    for (size_t at = 0; next_value(l->archive.command, " --specialize ", &at, &line);)
        if (str_equal(str_cut(line, ' ', settings), str(head))) return true;
    *settings = (Str){0};
    return false;
}

// Adds " --specialize 'matmul T=f16'", with the types in the function's name.
static void add_line(const ArchiveGroup *kernel, const char *head, Str settings, Str function,
                     StrBuf *out) {
    uint32_t types;
    Str base = without_types(function, &types), rest, ignored;
    str_cut((Str){function.text + base.size, function.size - base.size}, '_', &rest);
    strbuf_printf(out, " --specialize '%s", head);
    while (settings.size) {
        Str word = str_cut(settings, ' ', &settings);
        if (word.size && !is_type(kernel, str_cut(word, '=', &ignored)))
            strbuf_printf(out, " %.*s", STR_ARG(word));
    }
    const MetaVariant *v = &kernel->alternatives[0].meta->variants[0];
    for (uint32_t i = 0; i < v->binding_count; i++) {
        if (!v->bindings[i].is_type) continue;
        Str type = str_cut(rest, '_', &rest);
        strbuf_printf(out, " %.*s=%.*s", STR_ARG(v->bindings[i].name), STR_ARG(type));
    }
    strbuf_char(out, '\'');
}

// Suggests the `tilec build` line that would add the missing function, if it is a known kernel with
// other types. The kernel's lines replace its defaults, so functions without a line get one as
// well.
static bool add_lines(const tilec_library *l, Str name, StrBuf *out) {
    ArchiveFunction f;
    ArchiveGroup kernel;
    uint32_t first = 0, types, chosen = 0;
    while (archive_function(&l->archive, first, &f) && !is_sibling(f.name, name)) first++;
    TRY(first < l->archive.function_count && kernel_of(l, first, out->arena, &kernel));
    without_types(name, &types);
    const MetaVariant *v = &kernel.alternatives[0].meta->variants[0];
    for (uint32_t i = 0; i < v->binding_count; i++) chosen += v->bindings[i].is_type;
    TRY(chosen == types);  // otherwise the kernel's own name ends like that
    const char *head = head_of(l, &kernel, name, out->arena);
    Str settings;
    bool has_lines = find_line(l, head, &settings);
    add_line(&kernel, head, settings, name, out);
    for (uint32_t i = first; !has_lines && archive_function(&l->archive, i, &f); i++)
        if (is_sibling(f.name, name)) add_line(&kernel, head, settings, f.name, out);
    return true;
}

static Str nearest_function(const tilec_library *l, Str name, Arena *arena) {
    ArchiveFunction f;
    uint32_t count = 0;
    Str *known = arena_new(arena, Str, l->archive.function_count + 1);
    while (archive_function(&l->archive, count, &f)) known[count++] = f.name;
    return str_nearest(name, known, count);
}

static tilec_status fail_no_function(const tilec_library *l, const char *name, Arena *arena) {
    StrBuf text = strbuf(arena), lines = strbuf(arena);
    Str nearest = nearest_function(l, str(name), arena);
    if (nearest.size) strbuf_printf(&text, "; did you mean '%.*s'?", STR_ARG(nearest));
    strbuf_printf(&text, "%s it has: ", nearest.size ? "" : ";");
    library_add_functions(&l->archive, &text);
    bool known = add_lines(l, str(name), &lines);
    strbuf_add(&text, known ? STR(". Build it, too: ") : STR(". It was built by: "));
    library_add_command(&l->archive, &text);
    if (known) strbuf_add(&text, strbuf_str(&lines));
    return rt_fail(l->device->context, TILEC_INVALID_ARGUMENT, "library %s has no function '%s'%s",
                   l->name, name, text.text);
}

// The function is missing, or its row is damaged.
static tilec_status no_function(const tilec_library *l, const char *name) {
    const char *wrong;
    if (!archive_verify(&l->archive, &wrong)) return library_unreadable(l->device->context, wrong);
    Recovery r;
    if (RECOVER_FAILED(&r)) return rt_no_memory(l->device->context);
    Arena *arena = arena_create();
    tilec_status s = fail_no_function(l, name, arena);
    arena_destroy(arena);
    recover_end(&r);
    return s;
}

static tilec_status find_function(tilec_library *library, const char *name,
                                  LibraryFunction **function) {
    tilec_context *c = library->device->context;
    if (!name) return rt_fail(c, TILEC_INVALID_ARGUMENT, "the function's name is NULL");
    if (!library_is_loaded(library))
        return rt_fail(c, TILEC_INVALID_ARGUMENT, "the library was unloaded");
    int64_t number = archive_find(&library->archive, str(name));
    if (number == ARCHIVE_NONE) return no_function(library, name);
    return library_function(library, (uint32_t)number, function);
}

tilec_status tilec_library_kernel(tilec_library *library, const char *name, tilec_kernel **kernel) {
    if (!library) return TILEC_INVALID_ARGUMENT;
    rt_begin(library->device->context);
    if (!kernel)
        return rt_fail(library->device->context, TILEC_INVALID_ARGUMENT,
                       "the pointer for the kernel is NULL");
    LibraryFunction *f;
    tilec_status s = find_function(library, name, &f);
    if (!s) *kernel = &f->kernel;
    return s;
}

tilec_status tilec_library_call(tilec_library *library, const char *name, tilec_stream *stream,
                                const void *const *values) {
    if (!library) return TILEC_INVALID_ARGUMENT;
    rt_begin(library->device->context);
    LibraryFunction *f;
    tilec_status s = find_function(library, name, &f);
    return s ? s : rt_kernel_call(&f->kernel, stream, values);
}
