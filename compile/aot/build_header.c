// The header of a built library, its prototypes, and the JSON description of a build.
#include <string.h>

#include "compile/aot/build.h"
#include "compile/jit/function.h"

// ---- Prototypes ----

static const ArchiveValue scalar_values[DTYPES] = {
    [DTYPE_BOOL] = ARCHIVE_I8,        [DTYPE_I8] = ARCHIVE_I8,
    [DTYPE_I16] = ARCHIVE_I16,        [DTYPE_I32] = ARCHIVE_I32,
    [DTYPE_I64] = ARCHIVE_I64,        [DTYPE_U8] = ARCHIVE_I8,
    [DTYPE_U16] = ARCHIVE_I16,        [DTYPE_U32] = ARCHIVE_I32,
    [DTYPE_U64] = ARCHIVE_I64,        [DTYPE_F16] = ARCHIVE_F32,
    [DTYPE_BF16] = ARCHIVE_F32,       [DTYPE_F32] = ARCHIVE_F32,
    [DTYPE_F64] = ARCHIVE_F64,        [DTYPE_F8E4M3] = ARCHIVE_F32,
    [DTYPE_F8E5M2] = ARCHIVE_F32,     [DTYPE_F8E4M3FNUZ] = ARCHIVE_F32,
    [DTYPE_F8E5M2FNUZ] = ARCHIVE_F32, [DTYPE_I4] = ARCHIVE_I8,
    [DTYPE_U4] = ARCHIVE_I8,
};

enum { GRID = 3 };
static const char *const grid_names[GRID] = {"grid_x", "grid_y", "grid_z"};

static bool takes_grid(const MetaKernel *params) { return !params->variants[0].grid_rank; }

const ArchiveValue *build_values(Arena *arena, const MetaKernel *params, uint32_t *count) {
    ArchiveValue *values = arena_new(arena, ArchiveValue, params->arg_count + GRID);
    *count = params->arg_count;
    for (uint32_t i = 0; i < params->arg_count; i++) {
        const MetaArg *arg = &params->args[i];
        values[i] = arg->kind == META_VIEW      ? ARCHIVE_VIEW
                    : arg->kind == META_POINTER ? ARCHIVE_POINTER
                                                : scalar_values[arg->dtype];
    }
    for (int d = 0; d < GRID && takes_grid(params); d++) values[(*count)++] = ARCHIVE_I64;
    return values;
}

// Names such as INT32_MAX that headers may define as macros.
static bool is_like_macro(Str name) {
    bool joined = false;
    for (size_t i = 0; i < name.size; i++) {
        if (name.text[i] >= 'a' && name.text[i] <= 'z') return false;
        joined = joined || name.text[i] == '_';
    }
    return joined;
}

// Names that a parameter must not have: types, macros, `stream`, and names of other parameters.
static bool is_taken(const MetaKernel *meta, uint32_t number, Str name) {
    bool ended = name.size && name.text[name.size - 1] == '_';
    if (!ended && is_like_macro(name)) return true;
    if (str_equal(name, STR("stream")) || (!ended && str_starts(name, STR("tilec_")))) return true;
    if (name.size > 2 && str_equal((Str){name.text + name.size - 2, 2}, STR("_t"))) return true;
    for (uint32_t i = 0; i < meta->arg_count; i++)
        if (i != number && str_equal(meta->args[i].name, name)) return true;
    return false;
}

static const char *parameter_name(Arena *arena, const MetaKernel *meta, uint32_t number) {
    const char *name = function_c_name(arena, meta->args[number].name);
    // leading underscores are reserved for the implementation
    if (name[0] == '_') name = arena_printf(arena, "p%s", name);
    while (is_taken(meta, number, str(name))) name = arena_printf(arena, "%s_", name);
    return name;
}

static const char *parameter(Arena *arena, const MetaKernel *meta, uint32_t number) {
    const MetaArg *arg = &meta->args[number];
    const char *name = parameter_name(arena, meta, number);
    switch (arg->kind) {
    case META_VIEW: return arena_printf(arena, "tilec_view %s", name);
    case META_POINTER:
        return arena_printf(arena, "%s%s *%s", arg->written ? "" : "const ",
                            function_c_element(arg->dtype), name);
    case META_SCALAR: return arena_printf(arena, "%s %s", function_c_scalar(arg->dtype), name);
    }
    UNREACHABLE("argument kind %d", (int)arg->kind);
}

// Names of the kernel's parameters come first.
static const char *grid_name(Arena *arena, const MetaKernel *params, int dimension) {
    const char *name = grid_names[dimension];
    for (uint32_t i = 0; i < params->arg_count; i++)
        if (str_equal(str(parameter_name(arena, params, i)), str(name)))
            name = arena_printf(arena, "%s_", name), i = UINT32_MAX;  // from the first again
    return name;
}

Str build_prototype(Arena *arena, Str symbol, const MetaKernel *params) {
    StrBuf b = strbuf(arena);
    strbuf_printf(&b, "tilec_status %.*s(tilec_stream *stream", STR_ARG(symbol));
    for (uint32_t i = 0; i < params->arg_count; i++)
        strbuf_printf(&b, ", %s", parameter(arena, params, i));
    for (int d = 0; d < GRID && takes_grid(params); d++)
        strbuf_printf(&b, ", int64_t %s", grid_name(arena, params, d));
    strbuf_char(&b, ')');
    return strbuf_str(&b);
}

// ---- The header ----

enum { WIDTH = 100 };

// A line that is too long is broken after a comma.
static void put_prototype(StrBuf *out, Str text) {
    size_t column = 0;
    while (text.size) {
        size_t end = 0;
        while (end < text.size && text.text[end] != ',') end++;
        if (end < text.size) end++;
        if (column && column + end > WIDTH - 1) {
            strbuf_printf(out, "\n   ");
            column = 3;
        }
        strbuf_add(out, (Str){text.text, end});
        column += end;
        text.text += end, text.size -= end;
    }
    strbuf_printf(out, ";\n");
}

// A comment must not continue on the next line: neither by a backslash nor by the trigraph for one.
static Str comment_text(Str line) {
    for (;;) {
        line = str_trim(line);
        if (line.size && line.text[line.size - 1] == '\\')
            line.size--;
        else if (line.size > 2 && str_equal((Str){line.text + line.size - 3, 3}, STR("?"
                                                                                     "?/")))
            line.size -= 3;
        else
            return line;
    }
}

static void put_comment(StrBuf *out, Str line) {
    line = comment_text(line);
    strbuf_add(out, line.size ? STR("// ") : STR("//"));
    for (size_t i = 0; i < line.size; i++) {
        unsigned char c = (unsigned char)line.text[i];
        strbuf_char(out, c < ' ' || c == 0x7f ? ' ' : line.text[i]);
    }
    strbuf_char(out, '\n');
}

static void put_doc(Arena *arena, const FrontFile *file, Str kernel, StrBuf *out) {
    const Str *lines;
    size_t count = frontend_doc(file, frontend_find(file, kernel), arena, &lines);
    for (size_t i = 0; i < count; i++) put_comment(out, lines[i]);
}

// "f16 or f32": the types that the alternatives take.
static void put_types(const BuiltFunction *f, uint32_t number, StrBuf *out) {
    for (uint32_t i = 0; i < f->count; i++) {
        Dtype type = f->metas[i]->args[number].dtype;
        bool known = false;
        for (uint32_t k = 0; k < i; k++) known |= f->metas[k]->args[number].dtype == type;
        if (!known) strbuf_printf(out, "%s%s", i ? " or " : "", dtype_name(type));
    }
}

static void put_array(const BuiltFunction *f, uint32_t number, StrBuf *out) {
    const MetaKernel *meta = f->metas[0];
    const MetaArg *arg = &meta->args[number], *param = &f->params->args[number];
    strbuf_printf(out, "//   %.*s: ", STR_ARG(arg->name));
    if (arg->kind != param->kind) strbuf_add(out, STR("a view of "));
    put_types(f, number, out);
    if (arg->kind == META_VIEW) {
        strbuf_char(out, '[');
        for (uint32_t d = 0; d < arg->rank; d++) {
            int32_t e = arg->dims[d].extent;
            strbuf_add(out, d ? STR(", ") : STR(""));
            if (e >= 0)
                strbuf_add(out, meta->extents[e]);
            else
                strbuf_printf(out, "%lld", (long long)arg->dims[d].value);
        }
        strbuf_printf(out, "]%s", arg->strided ? ", strided" : "");
    }
    const char *use = param->read && param->written ? "read and written"
                      : param->written              ? "written"
                      : param->read                 ? "read"
                                                    : "not used";
    strbuf_printf(out, ", %s\n", use);
}

// On one line, without comments.
static void put_requires(Str text, StrBuf *out) {
    strbuf_printf(out, "// Requires: ");
    size_t begin = out->size;
    for (size_t i = 0; i < text.size; i++) {
        char next = i + 1 < text.size ? text.text[i + 1] : ' ';
        if (text.text[i] == '/' && next == '/')
            while (i < text.size && text.text[i] != '\n') i++;
        else if (text.text[i] == '/' && next == '*')
            for (i += 3; i < text.size && (text.text[i - 1] != '*' || text.text[i] != '/');) i++;
        else if (text.text[i] > ' ')
            strbuf_char(out, text.text[i]);
        if (i < text.size && text.text[i] <= ' ' && out->size > begin &&
            out->text[out->size - 1] != ' ')
            strbuf_char(out, ' ');
    }
    strbuf_char(out, '\n');
}

static void put_value(bool first, Str name, int64_t value, StrBuf *out) {
    strbuf_printf(out, "%s%.*s = %lld", first ? "" : ", ", STR_ARG(name), (long long)value);
}

// The consts with which the code was compiled.
static void put_consts(const BuildPlan *plan, const MetaVariant *v, StrBuf *out) {
    char target[CODE_TARGET_NAME_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->binding_count; i++) {
        if (v->bindings[i].is_type) continue;
        if (!count++)
            strbuf_printf(out, "// Consts of %s: ", code_target_name(plan->targets[0], target));
        put_value(count == 1, v->bindings[i].name, v->bindings[i].value, out);
    }
    if (count) strbuf_char(out, '\n');
}

// False: the function's name, or the prototype, has it already. The types of parameters have their
// promises.
static bool put_setting(bool first, const BuildBinding *b, const MetaKernel *meta, StrBuf *out) {
    const MetaArg *arg = NULL;
    for (uint32_t i = 0; i < meta->arg_count; i++)
        if (str_equal(meta->args[i].name, b->name)) arg = &meta->args[i];
    if (str_equal(b->name, STR(FRONT_GRID)) || (b->is_type && !arg)) return false;
    if (!b->is_type && !b->text.size) {
        put_value(first, b->name, b->value, out);
        return true;
    }
    strbuf_printf(out, "%s%.*s = %s", first ? "" : ", ", STR_ARG(b->name),
                  b->is_type && arg->kind == META_POINTER ? "*" : "");
    strbuf_add(out, b->text.size ? b->text : str(dtype_name(b->type)));
    if (b->is_type && b->value) strbuf_printf(out, ":%lld", (long long)b->value);
    return true;
}

static void put_alternatives(const BuildFunction *f, const MetaKernel *meta, StrBuf *out) {
    if (f->alternative_count < 2) return;
    strbuf_printf(
        out,
        "// This is the first of %u; a launch takes the first that fits, or the one that a tune "
        "table names:\n",
        f->alternative_count);
    for (uint32_t a = 0; a < f->alternative_count; a++) {
        bool first = true;
        strbuf_printf(out, "//   ");
        for (uint32_t i = 0; i < f->alternatives[a].count; i++)
            if (put_setting(first, &f->alternatives[a].bindings[i], meta, out)) first = false;
        strbuf_char(out, '\n');
    }
}

static bool all_require(const BuiltFunction *f, Str text) {
    for (uint32_t a = 0; a < f->count; a++) {
        const MetaVariant *v = &f->metas[a]->variants[0];
        bool found = false;
        for (uint32_t i = 0; i < v->requires_count; i++)
            found |= str_equal(v->requires[i].text, text);
        if (!found) return false;
    }
    return true;
}

static void put_facts(const BuildPlan *plan, const BuildFunction *f, const BuiltFunction *built,
                      StrBuf *out) {
    const MetaKernel *meta = built->metas[0];
    const MetaVariant *v = &meta->variants[0];
    for (uint32_t i = 0; i < meta->arg_count; i++)
        if (meta->args[i].kind != META_SCALAR) put_array(built, i, out);
    for (uint32_t i = 0; i < v->requires_count; i++)
        if (all_require(built, v->requires[i].text)) put_requires(v->requires[i].text, out);
    put_consts(plan, v, out);
    put_alternatives(f, meta, out);
    if (takes_grid(built->params)) strbuf_printf(out, "// The caller gives the grid.\n");
}

static void put_function(Arena *arena, const BuildPlan *plan, const Built *built, uint32_t number,
                         StrBuf *out) {
    const BuildFunction *f = &plan->functions[number];
    const BuiltFunction *made = &built->functions[number];
    strbuf_char(out, '\n');
    put_doc(arena, plan->units[f->source]->file, f->kernel, out);
    put_facts(plan, f, made, out);
    put_prototype(out, build_prototype(arena, f->symbol, made->params));
}

static Str guard_of(Arena *arena, Str name) {
    StrBuf b = strbuf(arena);
    for (size_t i = 0; i < name.size; i++) {
        char c = name.text[i];
        strbuf_char(&b, c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
    }
    return strbuf_str(&b);
}

Str build_header(Arena *arena, const BuildPlan *plan, const Built *built) {
    Str name = plan->name, upper = guard_of(arena, name);
    StrBuf out = strbuf(arena);
    strbuf_printf(
        &out,
        "// Library %.*s: made by tilec " TILEC_VERSION_TEXT
        "; do not edit.\n//\n"
        "// Each function launches its kernel on the stream and returns. Call %.*s_load first,\n"
        "// once for each device.\n",
        STR_ARG(name), STR_ARG(name));
    strbuf_printf(&out, "#ifndef %.*s_TILEC_H\n#define %.*s_TILEC_H\n\n", STR_ARG(upper),
                  STR_ARG(upper));
    strbuf_printf(&out,
                  "#include <stdbool.h>\n#include <tilec/library.h>\n\n"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    strbuf_printf(&out, "extern const tilec_archive %.*s_archive;\n", STR_ARG(name));
    strbuf_printf(&out, "#define %.*s_INTERFACE UINT64_C(0x%016llx)\n\n", STR_ARG(upper),
                  (unsigned long long)built->interface_number);
    strbuf_printf(&out,
                  "static inline tilec_status %.*s_load(tilec_device *device, tilec_library "
                  "**library) {\n    return tilec_library_load(device, &%.*s_archive, "
                  "%.*s_INTERFACE, library);\n}\n",
                  STR_ARG(name), STR_ARG(name), STR_ARG(upper));
    for (uint32_t i = 0; i < plan->function_count; i++) put_function(arena, plan, built, i, &out);
    strbuf_printf(&out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
    return strbuf_str(&out);
}

// ---- The manifest ----

static void code_json(Json *j, const BuildPlan *plan, const BuiltCode *c) {
    char name[CODE_TARGET_NAME_MAX];
    json_open(j, '{');
    json_key(j, "function"), json_str(j, plan->functions[c->function].symbol);
    json_key(j, "target"), json_str(j, str(code_target_name(plan->targets[c->target], name)));
    json_key(j, "alternative"), json_uint(j, c->alternative);
    json_key(j, "variant"), json_uint(j, c->variant);
    json_key(j, "form"), json_str(j, str(c->extension));
    json_key(j, "bytes"), json_uint(j, c->bytes.size);
    json_close(j, '}');
}

Str build_manifest(Arena *arena, const BuildPlan *plan, const Built *built) {
    StrBuf out = strbuf(arena);
    Json j = json_begin(&out);
    char interface_text[32];
    int size = snprintf(interface_text, sizeof interface_text, "%016llx",
                        (unsigned long long)built->interface_number);
    json_open(&j, '{');
    json_key(&j, "library"), json_str(&j, plan->name);
    json_key(&j, "interface"), json_str(&j, (Str){interface_text, (size_t)size});
    json_key(&j, "archiveBytes"), json_uint(&j, built->archive.size);
    json_key(&j, "gpuBytes"), json_uint(&j, built->packed_bytes);
    json_key(&j, "targets"), json_open(&j, '[');
    for (uint32_t i = 0; i < plan->target_count; i++) {
        char name[CODE_TARGET_NAME_MAX];
        json_str(&j, str(code_target_name(plan->targets[i], name)));
    }
    json_close(&j, ']');
    json_key(&j, "functions"), json_open(&j, '[');
    for (uint32_t i = 0; i < plan->function_count; i++) {
        StrBuf meta = strbuf(arena);
        meta_json(built->functions[i].metas[0], &meta);
        json_open(&j, '{');
        json_key(&j, "name"), json_str(&j, plan->functions[i].symbol);
        json_key(&j, "prototype");
        json_str(&j, build_prototype(arena, plan->functions[i].symbol, built->functions[i].params));
        json_key(&j, "metadata"), json_raw(&j, strbuf_str(&meta));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_key(&j, "codes"), json_open(&j, '[');
    for (size_t i = 0; i < built->codes.count; i++) code_json(&j, plan, &built->codes.data[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    strbuf_char(&out, '\n');
    return strbuf_str(&out);
}
