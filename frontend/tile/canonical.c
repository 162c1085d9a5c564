// The plain text of a kernel: its tokens, and those of the fns and consts that it names, directly
// or through others. Comments, blanks, the order of the file, other kernels and `tune` do not
// count.
#include "base/vec.h"
#include "frontend/tile/internal.h"
#include "frontend/tile/lex.h"

// A declaration whose tokens may count.
typedef struct CanonicalPiece {
    Symbol name;
    Span span;
    bool reached;
} CanonicalPiece;

typedef struct Canonical {
    const TileFile *file;
    Arena *arena;
    Diags *ignored;  // the tokens were reported when the file was read
    VEC(CanonicalPiece) pieces;
    VEC(size_t) waiting;  // reached, and not printed yet
    StrBuf out;
} Canonical;

static void add_piece(Canonical *p, const AstDecl *decl, const Ast *last) {
    Span first = decl->kind == DECL_CONST && decl->dims ? decl->type.span : decl->span;
    CanonicalPiece piece = {
        decl->name, {first.begin, last ? last->span.end : decl->span.end}, false};
    vec_push(p->arena, &p->pieces, piece);
}

// A name that hides the declaration's counts, too: then more text than needed counts.
static void mark_reached(Canonical *p, Symbol name) {
    for (size_t i = 0; i < p->pieces.count; i++) {
        if (p->pieces.data[i].name != name || p->pieces.data[i].reached) continue;
        p->pieces.data[i].reached = true;
        vec_push(p->arena, &p->waiting, i);
    }
}

static const SourceFile *file_at(const TileFile *t, uint32_t place) {
    for (size_t i = 0; i < t->sources_read.count; i++) {
        const SourceFile *f = t->sources_read.data[i].file;
        if (f && place >= f->base && place - f->base <= f->text.size) return f;
    }
    return NULL;
}

static void print_piece(Canonical *p, Span span) {
    const SourceFile *file = file_at(p->file, span.begin);
    Lexer l;
    if (!file || span.end < span.begin) return;
    lex_begin(&l, p->arena, p->file->names, p->ignored, file);
    l.at = l.start + (span.begin - l.base);
    for (Token t = lex_next(&l); t.kind != TOK_END && t.span.begin < span.end; t = lex_next(&l)) {
        if (t.kind == TOK_NAME) mark_reached(p, t.u.name);
        strbuf_add(&p->out, source_text(p->file->sources, t.span));
        strbuf_char(&p->out, ' ');
    }
    strbuf_char(&p->out, '\n');
}

Str tile_canonical_text(const TileFile *file, const AstKernel *kernel, Arena *arena) {
    Canonical p = {.file = file,
                   .arena = arena,
                   .ignored = diags_create(arena, file->sources),
                   .out = strbuf(arena)};
    for (size_t i = 0; i < file->module.fns.count; i++)
        add_piece(&p, file->module.fns.data[i]->decl, file->module.fns.data[i]->body);
    for (size_t i = 0; i < file->module.consts.count; i++)
        add_piece(&p, file->module.consts.data[i], file->module.consts.data[i]->value);
    Span own = {kernel->decl->span.begin,
                kernel->body ? kernel->body->span.end : kernel->decl->span.end};
    print_piece(&p, own);
    for (size_t i = 0; i < p.waiting.count; i++)
        print_piece(&p, p.pieces.data[p.waiting.data[i]].span);
    return strbuf_str(&p.out);
}
