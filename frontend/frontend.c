// The table of front ends, and the functions that find the one for a file.
#include "frontend/frontend.h"

#include "frontend/tile/tile.h"
#include "frontend/triton/triton.h"
#include "ir/option.h"

// The first one reads files without a suffix.
static const Frontend *const frontends[] = {&tile_frontend, &triton_frontend};
enum { FRONTENDS = sizeof frontends / sizeof *frontends };

// The file's name from the last point on; empty if it has none.
static Str suffix_of(Str path) {
    Str name = str_file_name(path);
    for (size_t i = name.size; i-- > 0;)
        if (name.text[i] == '.') return (Str){name.text + i, name.size - i};
    return STR("");
}

const Frontend *frontend_of(Str path) {
    Str suffix = suffix_of(path);
    if (!suffix.size) return frontends[0];
    for (size_t i = 0; i < FRONTENDS; i++)
        if (str_equal(suffix, str(frontends[i]->suffix))) return frontends[i];
    return NULL;
}

static void report_unknown(const FrontInput *in, Str path, Diags *diags) {
    StrBuf known = strbuf(in->arena);
    for (size_t i = 0; i < FRONTENDS; i++)
        strbuf_printf(&known, "%s%s (%s)", i ? ", " : "", frontends[i]->suffix,
                      frontends[i]->language);
    Str suffix = suffix_of(path);
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED,
               "'%.*s' is not a source file: no front end reads '%.*s'", STR_ARG(path),
               STR_ARG(suffix));
    diag_help(diags, "source files are named: %s", known.text);
}

FrontFile *frontend_load(const FrontInput *in, const SourceFile *file, Diags *diags) {
    const Frontend *f = frontend_of(file->path);
    if (!f && in->any_name) f = frontends[0];
    if (f) return f->load(in, file, diags);
    report_unknown(in, file->path, diags);
    return NULL;
}

const FrontKernel *frontend_find(const FrontFile *file, Str name) {
    for (size_t i = 0; i < file->kernel_count; i++)
        if (str_equal(str(file->kernels[i].name), name)) return &file->kernels[i];
    return NULL;
}

bool frontend_type_name(const Frontend *frontend, Str name, Dtype *type) {
    if (frontend->type_name && frontend->type_name(name, type)) return true;
    return dtype_from_name(name, type);
}

bool frontend_descriptor(const Frontend *frontend, Str text, FrontDescriptor *descriptor) {
    const Str begin = STR("tensordesc<"), strided = STR("strided "), end = STR("]>");
    if (!frontend->texts || !str_starts(text, begin) || !str_ends(text, end)) return false;
    text = str_trim((Str){text.text + begin.size, text.size - begin.size - end.size});
    descriptor->strided = str_starts(text, strided);
    if (descriptor->strided) text = (Str){text.text + strided.size, text.size - strided.size};
    Str type = str_trim(str_cut(text, '[', &descriptor->block));
    return descriptor->block.size && frontend_type_name(frontend, type, &descriptor->type);
}

const IrBinding *frontend_spec_find(const FrontSpec *spec, Symbol name) {
    for (size_t i = 0; i < spec->bindings.count; i++) {
        const IrBinding *b = &spec->bindings.data[i];
        if (b->name == name || str_equal(str(b->name), str(name))) return b;
    }
    return NULL;
}

bool frontend_is_option(Symbol name) { return ir_option_find(str(name)) != NULL; }

// ---- Through the table

bool frontend_check(FrontFile *file, Diags *diags) { return file->frontend->check(file, diags); }

bool frontend_check_open(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                         Diags *diags) {
    return file->frontend->check_open(file, kernel, given, diags);
}

bool frontend_specialize(FrontFile *file, Arena *arena, const FrontKernel *kernel,
                         const FrontArg *args, size_t count, FrontSpec *spec, Diags *diags) {
    return file->frontend->specialize(arena, kernel, args, count, spec, diags);
}

IrFunc *frontend_elaborate(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                           const FrontSpec *spec, Diags *diags) {
    return file->frontend->elaborate(file, module, kernel, spec, diags);
}

size_t frontend_tune_space(FrontFile *file, const FrontKernel *kernel, Str target,
                           const FrontTune **space) {
    return file->frontend->tune_space(file, kernel, target, space);
}

Str frontend_canonical_text(const FrontKernel *kernel, Arena *arena) {
    return kernel->in->frontend->canonical_text(kernel, arena);
}

size_t frontend_doc(const FrontFile *file, const FrontKernel *kernel, Arena *arena,
                    const Str **lines) {
    return file->frontend->doc(file, kernel, arena, lines);
}
