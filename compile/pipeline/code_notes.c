// The facts about lowered code that a launch needs: its scratch or shared memory, its tensor maps,
// and its asserts and prints, with their places in the source.
#include "base/cpu_abi.h"
#include "compile/pipeline/code.h"
#include "runtime/meta_wire.h"

// ---- From the lowered function ----

enum { SHARED_ALIGN = 16 };

typedef struct Finder {
    Arena *arena;
    const Sources *sources;
    bool file_names;
    uint32_t scratch_bytes, shared_bytes;
    VEC(MetaSite) sites;
} Finder;

static void note_memory(const IrOp *op, uint64_t align, uint32_t *bytes) {
    uint64_t size =
        (uint64_t)ir_attr_int(op, IR_ATTR_COUNT) * dtype_size((Dtype)ir_attr_int(op, IR_ATTR_ELEM));
    uint64_t end = (uint64_t)ir_attr_int(op, IR_ATTR_PLACE) + size;
    end = (end + align - 1) / align * align;
    CHECK(end <= UINT32_MAX, "memory of %llu bytes", (unsigned long long)end);
    if (end > *bytes) *bytes = (uint32_t)end;
}

static void place_of(const Finder *f, Span span, MetaSite *site) {
    if (!span_known(span)) return;
    SourceLine begin = source_line(f->sources, span.begin);
    SourceLine end = source_line(f->sources, span.end);
    if (!begin.file) return;
    site->file = f->file_names ? str_file_name(begin.file->path) : begin.file->path;
    site->line = begin.line;
    site->column = begin.column;
    site->end_line = end.line;
    site->end_column = end.column;
    site->source = begin.text;
}

static void printed_values(const Finder *f, const IrOp *op, MetaSite *site) {
    MetaValue *values = arena_new(f->arena, MetaValue, op->operand_count + 1);
    const int64_t *shapes = ir_attr(op, IR_ATTR_SELECT)->u.ints.items;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        MetaValue *v = &values[i];
        v->dtype = ir_operand(op, i)->type->elem;
        v->rank = (uint32_t)*shapes++;
        CHECK(v->rank <= META_MAX_TILE_RANK, "a tile of rank %u is printed", v->rank);
        for (uint32_t d = 0; d < v->rank; d++) v->shape[d] = (uint32_t)*shapes++;
    }
    site->value_count = op->operand_count;
    site->values = values;
}

// A loop's body may exist twice, with the same sites.
static void note_site(Finder *f, const IrOp *op) {
    size_t number = (size_t)ir_attr_int(op, IR_ATTR_SITE);
    while (f->sites.count <= number) vec_push(f->arena, &f->sites, (MetaSite){0});
    MetaSite *site = &f->sites.data[number];
    place_of(f, op->span, site);
    if (op->code == IR_VEC_PRINT) {
        site->kind = META_SITE_PRINT;
        site->text_count = ir_attr(op, IR_ATTR_TEXTS)->u.texts.count;
        site->texts = ir_attr(op, IR_ATTR_TEXTS)->u.texts.items;
        printed_values(f, op, site);
        return;
    }
    site->kind = META_SITE_ASSERT;
    site->text_count = 1;
    site->texts = &ir_attr(op, IR_ATTR_TEXT)->u.text;
}

static void find_in(Finder *f, const IrBlock *block) {
    for (const IrOp *op = block->first; op; op = op->next) {
        if (op->code == IR_CPU_SCRATCH) note_memory(op, CPU_SCRATCH_ALIGN, &f->scratch_bytes);
        if (op->code == IR_THREAD_SHARED) note_memory(op, SHARED_ALIGN, &f->shared_bytes);
        if (op->code == IR_VEC_ASSERT || op->code == IR_VEC_PRINT) note_site(f, op);
        for (uint32_t i = 0; i < op->region_count; i++) find_in(f, op->regions[i]);
    }
}

static MetaMap map_of(const IrFunc *f, const IrMap *from) {
    MetaMap map = {.arg = from->param,
                   .rank = from->rank,
                   .dtype = f->params.data[from->param].value->type->elem,
                   .swizzle = from->swizzle,
                   .promotion = from->promotion};
    for (uint32_t d = 0; d < from->rank; d++) {
        map.axes[d] = from->axes[d];
        map.box[d] = (uint16_t)from->box[d];
    }
    return map;
}

static const MetaMap *maps_of(Arena *arena, const IrFunc *f) {
    MetaMap *maps = arena_new(arena, MetaMap, f->maps.count + 1);
    for (size_t i = 0; i < f->maps.count; i++) maps[i] = map_of(f, &f->maps.data[i]);
    return maps;
}

CodeNotes code_notes_of(Arena *arena, const IrFunc *lowered, bool file_names) {
    Finder f = {.arena = arena, .sources = lowered->module->sources, .file_names = file_names};
    find_in(&f, ir_body(lowered));
    bool on_gpu = lowered->level == IR_LEVEL_THREAD;
    return (CodeNotes){.scratch_bytes = f.scratch_bytes,
                       .shared_bytes = f.shared_bytes,
                       .threads = on_gpu ? ir_launch_thread_count(lowered) : 0,
                       .site_count = (uint32_t)f.sites.count,
                       .sites = f.sites.data,
                       .map_count = (uint32_t)lowered->maps.count,
                       .maps = maps_of(arena, lowered)};
}

// ---- As bytes ----

void code_notes_write(const CodeNotes *notes, StrBuf *out) {
    wire_put_text(out, notes->entry);
    wire_put_number(out, notes->scratch_bytes);
    wire_put_number(out, notes->threads);
    wire_put_number(out, notes->shared_bytes);
    wire_put_number(out, notes->site_count);
    for (uint32_t i = 0; i < notes->site_count; i++) meta_write_site(&notes->sites[i], out);
    wire_put_number(out, notes->map_count);
    for (uint32_t i = 0; i < notes->map_count; i++) meta_write_map(&notes->maps[i], out);
}

bool code_notes_read(Arena *arena, Str bytes, CodeNotes *notes) {
    WireReader r = {.bytes = bytes};
    *notes = (CodeNotes){.entry = wire_text(&r)};
    // A C text, because the loader needs one.
    notes->entry.text = arena_text(arena, notes->entry.text, notes->entry.size);
    notes->scratch_bytes = wire_below(&r, UINT32_MAX);
    notes->threads = wire_below(&r, UINT32_MAX);
    notes->shared_bytes = wire_below(&r, UINT32_MAX);
    notes->site_count = wire_count(&r);
    MetaSite *sites = arena_new(arena, MetaSite, notes->site_count + 1);
    for (uint32_t i = 0; i < notes->site_count; i++) meta_read_site(&r, arena, &sites[i]);
    notes->sites = sites;
    notes->map_count = wire_count(&r);
    MetaMap *maps = arena_new(arena, MetaMap, notes->map_count + 1);
    for (uint32_t i = 0; i < notes->map_count; i++) meta_read_map(&r, &maps[i]);
    notes->maps = maps;
    return wire_ended(&r);
}
