#include "runtime/meta_wire.h"

#include "base/gpu_abi.h"
#include "runtime/launch.h"

// ---- Writing ----

static void write_arg(const MetaArg *a, StrBuf *out) {
    wire_put_text(out, a->name);
    wire_put_number(out, a->kind);
    wire_put_number(out, a->dtype);
    wire_put_number(out, a->rank);
    unsigned strided = a->strided, written = a->written, read = a->read, needed = a->needed;
    wire_put_number(out, strided | written << 1 | read << 2 | needed << 3);
    for (uint32_t d = 0; a->kind == META_VIEW && d < a->rank; d++) {
        wire_put_number(out, (uint64_t)(int64_t)a->dims[d].extent);
        wire_put_number(out, (uint64_t)a->dims[d].value);
    }
}

static void write_code(const LaunchCode *code, StrBuf *out) {
    wire_put_number(out, code->count);
    for (uint32_t i = 0; i < code->count; i++) {
        const LaunchInstr *x = &code->code[i];
        wire_put_number(out, x->op | (uint64_t)x->dtype << 8 | (uint64_t)x->result << 16);
        wire_put_number(out, x->a | (uint64_t)x->b << 32);
        wire_put_number(out, x->c);
        wire_put_number(out, x->imm);
    }
}

void meta_write_site(const MetaSite *s, StrBuf *out) {
    wire_put_number(out, s->kind);
    wire_put_text(out, s->file);
    wire_put_number(out, s->line);
    wire_put_number(out, s->column);
    wire_put_number(out, s->end_line);
    wire_put_number(out, s->end_column);
    wire_put_text(out, s->source);
    wire_put_number(out, s->text_count);
    for (uint32_t i = 0; i < s->text_count; i++) wire_put_text(out, s->texts[i]);
    wire_put_number(out, s->value_count);
    for (uint32_t i = 0; i < s->value_count; i++) {
        const MetaValue *v = &s->values[i];
        wire_put_number(out, v->dtype);
        wire_put_number(out, v->pointer);
        wire_put_number(out, v->rank);
        for (uint32_t d = 0; d < v->rank; d++) wire_put_number(out, v->shape[d]);
    }
}

void meta_write_map(const MetaMap *m, StrBuf *out) {
    wire_put_number(out, m->arg);
    wire_put_number(out, m->rank);
    wire_put_number(out, m->dtype);
    for (uint32_t d = 0; d < m->rank; d++) wire_put_number(out, m->axes[d]);
    for (uint32_t d = 0; d < m->rank; d++) wire_put_number(out, m->box[d]);
    wire_put_number(out, m->swizzle);
    wire_put_number(out, m->promotion);
    wire_put_number(out, m->fill);
}

// Fields of format 2.
static void write_newer(const MetaVariant *v, StrBuf *out) {
    wire_put_number(out, v->map_count);
    for (uint32_t i = 0; i < v->map_count; i++) meta_write_map(&v->maps[i], out);
}

bool meta_is_newer(const MetaKernel *meta) {
    for (uint32_t i = 0; i < meta->variant_count; i++)
        if (meta->variants[i].facts & FACT_MAPPED) return true;
    return false;
}

static void write_lists(const MetaVariant *v, StrBuf *out) {
    wire_put_number(out, v->requires_count);
    for (uint32_t i = 0; i < v->requires_count; i++) {
        wire_put_text(out, v->requires[i].text);
        wire_put_number(out, v->requires[i].value);
    }
    wire_put_number(out, v->binding_count);
    for (uint32_t i = 0; i < v->binding_count; i++) {
        const MetaBinding *b = &v->bindings[i];
        wire_put_text(out, b->name);
        wire_put_number(out, b->is_type);
        wire_put_number(out, b->is_type ? (uint64_t)b->type : (uint64_t)b->value);
    }
    wire_put_number(out, v->option_count);
    for (uint32_t i = 0; i < v->option_count; i++) {
        wire_put_text(out, str(v->options[i].name));
        wire_put_number(out, (uint64_t)(int64_t)v->options[i].value);
    }
    wire_put_number(out, v->site_count);
    for (uint32_t i = 0; i < v->site_count; i++) meta_write_site(&v->sites[i], out);
}

static void write_variant(const MetaVariant *v, StrBuf *out) {
    wire_put_text(out, v->entry);
    write_code(&v->code, out);
    wire_put_number(out, (uint64_t)v->guard);
    wire_put_number(out, v->facts);
    wire_put_number(out, v->grid_rank);
    for (uint32_t d = 0; d < v->grid_rank; d++) wire_put_number(out, v->grid[d]);
    wire_put_number(out, (uint64_t)v->ctas);
    for (int d = 0; d < 3; d++) wire_put_number(out, v->block[d]);
    wire_put_number(out, v->shared_bytes);
    wire_put_number(out, v->scratch_bytes);
    wire_put_number(out, v->chunk);
    write_lists(v, out);
    if (v->facts & FACT_MAPPED) write_newer(v, out);
}

void meta_write(const MetaKernel *meta, StrBuf *out) {
    wire_put_text(out, meta->name);
    wire_put_number(out, meta->extent_count);
    for (uint32_t i = 0; i < meta->extent_count; i++) wire_put_text(out, meta->extents[i]);
    wire_put_number(out, meta->arg_count);
    for (uint32_t i = 0; i < meta->arg_count; i++) write_arg(&meta->args[i], out);
    wire_put_number(out, meta->variant_count);
    for (uint32_t i = 0; i < meta->variant_count; i++) write_variant(&meta->variants[i], out);
}

// ---- Reading ----

static uint32_t number32(WireReader *r) { return wire_below(r, (uint64_t)UINT32_MAX + 1); }

// Reads a text that must end in NUL: loaders and hosts get it.
static Str text_with_end(WireReader *r, Arena *arena) {
    Str text = wire_text(r);
    return (Str){arena_text(arena, text.text, text.size), text.size};
}

static void read_arg(WireReader *r, Arena *arena, uint32_t extents, MetaArg *a) {
    a->name = text_with_end(r, arena);
    a->kind = (MetaArgKind)wire_below(r, META_VIEW + 1);
    a->dtype = (Dtype)wire_below(r, DTYPES);
    a->rank = wire_below(r, META_MAX_RANK + 1);
    unsigned flags = wire_below(r, 16);
    a->strided = flags & 1, a->written = flags & 2, a->read = flags & 4, a->needed = flags & 8;
    for (uint32_t d = 0; a->kind == META_VIEW && d < a->rank; d++) {
        int64_t extent = (int64_t)wire_number(r);
        if (extent < -1 || extent >= (int64_t)extents) r->failed = true;
        a->dims[d] = (MetaDim){(int32_t)extent, (int64_t)wire_number(r)};
    }
}

static void read_code(WireReader *r, Arena *arena, uint32_t args, LaunchCode *code) {
    uint32_t count = wire_count(r);
    if (count > LAUNCH_CODE_MAX) r->failed = true;
    if (r->failed) return;
    LaunchInstr *list = arena_new(arena, LaunchInstr, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t head = wire_below(r, 1 << 24);
        uint64_t both = wire_number(r);
        list[i] = (LaunchInstr){.op = (uint8_t)head,
                                .dtype = (uint8_t)(head >> 8),
                                .result = (uint8_t)(head >> 16),
                                .a = (uint32_t)both,
                                .b = (uint32_t)(both >> 32),
                                .c = number32(r)};
        list[i].imm = wire_number(r);
    }
    *code = (LaunchCode){count, list};
    if (!launch_code_valid(code, args)) r->failed = true;
}

static void read_value(WireReader *r, MetaValue *v) {
    v->dtype = (Dtype)wire_below(r, DTYPES);
    v->pointer = wire_below(r, 2) != 0;
    v->rank = wire_below(r, META_MAX_TILE_RANK + 1);
    for (uint32_t d = 0; d < v->rank; d++) v->shape[d] = number32(r);
}

void meta_read_site(WireReader *r, Arena *arena, MetaSite *s) {
    s->kind = (MetaSiteKind)wire_below(r, META_SITE_PRINT + 1);
    s->file = wire_text(r);
    s->line = number32(r);
    s->column = number32(r);
    s->end_line = number32(r);
    s->end_column = number32(r);
    s->source = wire_text(r);
    s->text_count = wire_count(r);
    Str *texts = arena_new(arena, Str, s->text_count + 1);
    for (uint32_t i = 0; i < s->text_count; i++) texts[i] = wire_text(r);
    s->texts = texts;
    s->value_count = wire_count(r);
    MetaValue *values = arena_new(arena, MetaValue, s->value_count + 1);
    for (uint32_t i = 0; i < s->value_count; i++) read_value(r, &values[i]);
    s->values = values;
}

static void read_requires(WireReader *r, Arena *arena, MetaVariant *v) {
    v->requires_count = wire_count(r);
    MetaRequires *list = arena_new(arena, MetaRequires, v->requires_count + 1);
    for (uint32_t i = 0; i < v->requires_count; i++) {
        list[i].text = wire_text(r);
        list[i].value = wire_below(r, v->code.count);
    }
    v->requires = list;
}

static void read_bindings(WireReader *r, Arena *arena, MetaVariant *v) {
    v->binding_count = wire_count(r);
    MetaBinding *list = arena_new(arena, MetaBinding, v->binding_count + 1);
    for (uint32_t i = 0; i < v->binding_count; i++) {
        list[i].name = text_with_end(r, arena);
        list[i].is_type = wire_below(r, 2) != 0;
        if (list[i].is_type)
            list[i].type = (Dtype)wire_below(r, DTYPES);
        else
            list[i].value = (int64_t)wire_number(r);
    }
    v->bindings = list;
}

static void read_options(WireReader *r, Arena *arena, MetaVariant *v) {
    v->option_count = wire_count(r);
    MetaOption *list = arena_new(arena, MetaOption, v->option_count + 1);
    for (uint32_t i = 0; i < v->option_count; i++)
        list[i] = (MetaOption){text_with_end(r, arena).text, (int)(int64_t)wire_number(r)};
    v->options = list;
}

void meta_read_map(WireReader *r, MetaMap *m) {
    m->arg = wire_below(r, LAUNCH_MAX_ARGS);
    m->rank = wire_below(r, META_MAX_RANK + 1);
    m->dtype = (Dtype)wire_below(r, DTYPES);
    for (uint32_t d = 0; d < m->rank; d++) m->axes[d] = (uint8_t)wire_below(r, m->rank);
    for (uint32_t d = 0; d < m->rank; d++) m->box[d] = (uint16_t)wire_below(r, GPU_MAP_BOX + 1);
    m->swizzle = number32(r);
    m->promotion = number32(r);
    m->fill = (MetaFill)wire_below(r, META_FILL_NAN + 1);
    if (!gpu_map_swizzle(m->swizzle) || !gpu_map_promotion(m->promotion)) r->failed = true;
}

// Is it a map of one of the views?
static bool map_fits(const MetaKernel *meta, const MetaMap *m) {
    const MetaArg *arg = m->arg < meta->arg_count ? &meta->args[m->arg] : NULL;
    return arg && arg->kind == META_VIEW && arg->rank && arg->rank == m->rank &&
           dtype_bits(arg->dtype) == dtype_bits(m->dtype);
}

static void read_newer(WireReader *r, Arena *arena, const MetaKernel *meta, MetaVariant *v) {
    v->map_count = wire_below(r, GPU_MAPS + 1);
    MetaMap *maps = arena_new(arena, MetaMap, v->map_count + 1);
    for (uint32_t i = 0; i < v->map_count && !r->failed; i++) {
        meta_read_map(r, &maps[i]);
        if (!map_fits(meta, &maps[i])) r->failed = true;
    }
    v->maps = maps;
}

static void read_variant(WireReader *r, Arena *arena, const MetaKernel *meta, MetaVariant *v) {
    v->entry = text_with_end(r, arena);
    read_code(r, arena, meta->arg_count, &v->code);
    v->guard = (int64_t)wire_number(r);
    if (v->guard < META_NO_VALUE || v->guard >= (int64_t)v->code.count) r->failed = true;
    v->facts = number32(r);
    v->grid_rank = wire_below(r, 4);
    for (uint32_t d = 0; d < v->grid_rank; d++) v->grid[d] = wire_below(r, v->code.count);
    v->ctas = (int)wire_below(r, INT32_MAX);
    for (int d = 0; d < 3; d++) v->block[d] = number32(r);
    v->shared_bytes = number32(r);
    v->scratch_bytes = number32(r);
    v->chunk = number32(r);
    read_requires(r, arena, v);
    read_bindings(r, arena, v);
    read_options(r, arena, v);
    v->site_count = wire_count(r);
    MetaSite *sites = arena_new(arena, MetaSite, v->site_count + 1);
    for (uint32_t i = 0; i < v->site_count; i++) meta_read_site(r, arena, &sites[i]);
    v->sites = sites;
    if (v->facts & FACT_MAPPED) read_newer(r, arena, meta, v);
}

MetaKernel *meta_read(WireReader *r, Arena *arena) {
    MetaKernel *meta = arena_new(arena, MetaKernel, 1);
    meta->name = text_with_end(r, arena);
    meta->extent_count = wire_count(r);
    if (meta->extent_count > LAUNCH_MAX_ARGS * META_MAX_RANK) r->failed = true;
    if (r->failed) return NULL;
    Str *extents = arena_new(arena, Str, meta->extent_count + 1);
    for (uint32_t i = 0; i < meta->extent_count; i++) extents[i] = text_with_end(r, arena);
    meta->extents = extents;
    meta->arg_count = wire_count(r);
    if (meta->arg_count > LAUNCH_MAX_ARGS) r->failed = true;
    if (r->failed) return NULL;
    MetaArg *args = arena_new(arena, MetaArg, meta->arg_count + 1);
    for (uint32_t i = 0; i < meta->arg_count; i++) read_arg(r, arena, meta->extent_count, &args[i]);
    meta_layout(args, meta->arg_count, &meta->size);
    meta->args = args;
    meta->variant_count = wire_count(r);
    MetaVariant *variants = arena_new(arena, MetaVariant, meta->variant_count + 1);
    for (uint32_t i = 0; i < meta->variant_count; i++) read_variant(r, arena, meta, &variants[i]);
    meta->variants = variants;
    if (!meta->variant_count) r->failed = true;
    return r->failed ? NULL : meta;
}
