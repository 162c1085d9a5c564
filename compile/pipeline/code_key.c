// Keys of compiled code: a hash of everything that determines its bytes.
#include "base/cpu_abi.h"
#include "compile/pipeline/code.h"
#include "ir/text/text.h"

typedef struct KeyPlaces {
    Hash *hash;
    const Sources *sources;
    bool all;         // for line tables; asserts and prints always name places
    bool file_names;  // asserts and prints leave out folders
} KeyPlaces;

static void add_place(const KeyPlaces *p, Span span) {
    SourceLine at = source_line(p->sources, span.begin);
    bool known = span_known(span) && at.file;
    Str path = known ? at.file->path : STR("");
    hash_text(p->hash, p->file_names && !p->all ? str_file_name(path) : path);
    hash_number(p->hash, known ? at.line : 0);
    hash_number(p->hash, known ? at.column : 0);
}

static void add_places(const KeyPlaces *p, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (p->all || op->code == IR_ASSERT || op->code == IR_PRINT) add_place(p, op->span);
        for (uint32_t i = 0; i < op->region_count; i++) add_places(p, op->regions[i]);
    }
}

// The key must change with anything that makes code. COMPILE_STAMP is a hash of the sources of
// these rooms, so that an entry of another build is never used.
HashKey code_key(Arena *arena, const Compiled *compiled, const CodeOptions *options) {
    Hash hash = hash_begin();
    char target[CODE_TARGET_NAME_MAX];
    const IrFunc *f = compiled->func;
    hash_text(&hash, str(CODEGEN_BUILD_TEXT));
    hash_text(&hash, str(compile_stamp));
    hash_number(&hash, CODEGEN_VERSION);
    hash_number(&hash, CPU_ABI_VERSION);
    hash_text(&hash, str(code_target_name(options->target, target)));
    hash_number(&hash, options->variant);
    hash_number(&hash, compiled->meta->variants[options->variant].facts);
    hash_number(&hash, options->lines);
    hash_number(&hash, options->file_names);
    hash_number(&hash, options->object_version);
    StrBuf text = strbuf(arena);
    ir_print_func(f, &text);
    hash_text(&hash, strbuf_str(&text));
    KeyPlaces places = {&hash, f->module->sources, options->lines, options->file_names};
    if (options->lines) add_place(&places, f->span);
    for (size_t i = 0; i < f->sections.count; i++) add_places(&places, f->sections.data[i].block);
    return hash_end(&hash);
}

static void add_plain(StrBuf *b, const char *text) {
    for (; *text; text++) strbuf_char(b, str_word_char(*text) ? *text : '_');
}

Str code_entry(Arena *arena, const IrFunc *func, uint32_t variant) {
    enum { NAME_LIMIT = 200 };
    StrBuf b = strbuf(arena);
    add_plain(&b, func->name);
    for (size_t i = 0; i < func->bindings.count && b.size < NAME_LIMIT; i++) {
        const IrBinding *binding = &func->bindings.data[i];
        strbuf_char(&b, '_');
        add_plain(&b, binding->name);
        strbuf_char(&b, '_');
        if (binding->is_type)
            add_plain(&b, dtype_name(binding->type));
        else
            strbuf_printf(&b, binding->value < 0 ? "m%llu" : "%llu",
                          binding->value < 0 ? 0 - (unsigned long long)binding->value
                                             : (unsigned long long)binding->value);
    }
    if (variant) strbuf_printf(&b, "_v%u", variant);
    return strbuf_str(&b);
}
