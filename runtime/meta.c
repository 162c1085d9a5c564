#include "runtime/meta.h"

#include "base/os/os.h"

static uint32_t arg_align(const MetaArg *arg) {
    return arg->kind == META_SCALAR ? (uint32_t)dtype_size(arg->dtype) : 8;
}

static uint32_t arg_size(const MetaArg *arg) {
    switch (arg->kind) {
    case META_SCALAR: return (uint32_t)dtype_size(arg->dtype);
    case META_POINTER: return 8;
    case META_VIEW: return 8 + 8 * arg->rank * (arg->strided ? 2 : 1);
    }
    UNREACHABLE("argument kind %d", (int)arg->kind);
}

void meta_layout(MetaArg *args, uint32_t count, uint32_t *block_size) {
    uint32_t offset = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t align = arg_align(&args[i]);
        offset = (offset + align - 1) / align * align;
        args[i].offset = offset;
        args[i].size = arg_size(&args[i]);
        offset += args[i].size;
    }
    *block_size = (offset + 7) / 8 * 8;
}

static void arg_json(Json *j, const MetaKernel *meta, const MetaArg *arg) {
    static const char *const kinds[] = {"scalar", "pointer", "view"};
    json_open(j, '{');
    json_key(j, "name"), json_str(j, arg->name);
    json_key(j, "kind"), json_str(j, str(kinds[arg->kind]));
    json_key(j, "type"), json_str(j, str(dtype_name(arg->dtype)));
    json_key(j, "offset"), json_uint(j, arg->offset);
    json_key(j, "size"), json_uint(j, arg->size);
    if (arg->kind == META_VIEW) {
        json_key(j, "rank"), json_uint(j, arg->rank);
        json_key(j, "strided"), json_bool(j, arg->strided);
        json_key(j, "extents"), json_open(j, '[');
        for (uint32_t d = 0; d < arg->rank; d++) {
            if (arg->dims[d].extent >= 0)
                json_str(j, meta->extents[arg->dims[d].extent]);
            else
                json_int(j, arg->dims[d].value);
        }
        json_close(j, ']');
    }
    if (arg->kind != META_SCALAR) {
        json_key(j, "read"), json_bool(j, arg->read);
        json_key(j, "written"), json_bool(j, arg->written);
        if (arg->kind == META_POINTER) json_key(j, "needed"), json_bool(j, arg->needed);
    }
    json_close(j, '}');
}

// One instruction as readable text: "v3 = rem i64 v1 v2".
static void instr_json(Json *j, const MetaKernel *meta, const LaunchInstr *x, uint32_t i) {
    Arena *scratch = j->out->arena;
    StrBuf b = strbuf(scratch);
    strbuf_printf(&b, "v%u = %s %s", i, launch_op_text((LaunchOp)x->op),
                  dtype_name((Dtype)x->dtype));
    const uint32_t operands[3] = {x->a, x->b, x->c};
    int n = launch_op_operands((LaunchOp)x->op);
    for (int k = 0; k < n; k++) strbuf_printf(&b, " v%u", operands[k]);
    if (x->op == LAUNCH_CONST) {
        strbuf_char(&b, ' ');
        dtype_text((Dtype)x->dtype, x->imm, &b);
    } else if (n == 0) {
        strbuf_printf(&b, " %.*s", STR_ARG(meta->args[x->a].name));
        if (x->op == LAUNCH_ARG_EXTENT || x->op == LAUNCH_ARG_STRIDE)
            strbuf_printf(&b, " %u", x->b);
        if (x->op == LAUNCH_ARG_DISJOINT)
            strbuf_printf(&b, " %.*s", STR_ARG(meta->args[x->b].name));
    }
    if (x->result != x->dtype) strbuf_printf(&b, " -> %s", dtype_name((Dtype)x->result));
    json_str(j, strbuf_str(&b));
}

static void launch_json(Json *j, const MetaKernel *meta, const MetaVariant *v) {
    json_key(j, "launch"), json_open(j, '{');
    json_key(j, "program"), json_open(j, '[');
    for (uint32_t i = 0; i < v->code.count; i++) instr_json(j, meta, &v->code.code[i], i);
    json_close(j, ']');
    json_key(j, "guard");
    if (v->guard == META_NO_VALUE)
        json_null(j);
    else
        json_int(j, v->guard);
    json_key(j, "requires"), json_open(j, '[');
    for (uint32_t i = 0; i < v->requires_count; i++) {
        json_open(j, '{');
        json_key(j, "text"), json_str(j, v->requires[i].text);
        json_key(j, "value"), json_uint(j, v->requires[i].value);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "grid"), json_open(j, '[');
    for (uint32_t i = 0; i < v->grid_rank; i++) json_uint(j, v->grid[i]);
    json_close(j, ']');
    json_close(j, '}');
}

static void value_json(Json *j, const MetaValue *value) {
    json_open(j, '{');
    json_key(j, "type"),
        json_str(j, value->pointer ? STR("pointer") : str(dtype_name(value->dtype)));
    json_key(j, "shape"), json_open(j, '[');
    for (uint32_t d = 0; d < value->rank; d++) json_uint(j, value->shape[d]);
    json_close(j, ']');
    json_close(j, '}');
}

static void site_json(Json *j, const MetaSite *site) {
    static const char *const kinds[] = {"assert", "print"};
    json_open(j, '{');
    json_key(j, "kind"), json_str(j, str(kinds[site->kind]));
    if (site->line) {
        json_key(j, "file"), json_str(j, site->file);
        json_key(j, "line"), json_uint(j, site->line);
        json_key(j, "column"), json_uint(j, site->column);
    }
    json_key(j, "texts"), json_open(j, '[');
    for (uint32_t i = 0; i < site->text_count; i++) json_str(j, site->texts[i]);
    json_close(j, ']');
    json_key(j, "values"), json_open(j, '[');
    for (uint32_t i = 0; i < site->value_count; i++) value_json(j, &site->values[i]);
    json_close(j, ']');
    json_close(j, '}');
}

// Adds the properties that only CPUs have.
static void cpu_json(Json *j, const MetaVariant *v) {
    if (v->scratch_bytes) json_key(j, "scratch"), json_uint(j, v->scratch_bytes);
    if (v->chunk) json_key(j, "chunk"), json_uint(j, v->chunk);
    if (!v->site_count) return;
    json_key(j, "sites"), json_open(j, '[');
    for (uint32_t i = 0; i < v->site_count; i++) site_json(j, &v->sites[i]);
    json_close(j, ']');
}

static void map_json(Json *j, const MetaKernel *meta, const MetaMap *map) {
    static const char *const fills[] = {"zero", "nan"};
    json_open(j, '{');
    json_key(j, "argument"), json_str(j, meta->args[map->arg].name);
    json_key(j, "type"), json_str(j, str(dtype_name(map->dtype)));
    json_key(j, "axes"), json_open(j, '[');
    for (uint32_t d = 0; d < map->rank; d++) json_uint(j, map->axes[d]);
    json_close(j, ']');
    json_key(j, "box"), json_open(j, '[');
    for (uint32_t d = 0; d < map->rank; d++) json_uint(j, map->box[d]);
    json_close(j, ']');
    json_key(j, "swizzle"), json_uint(j, map->swizzle);
    json_key(j, "promotion"), json_uint(j, map->promotion);
    json_key(j, "fill"), json_str(j, str(fills[map->fill]));
    json_close(j, '}');
}

static void maps_json(Json *j, const MetaKernel *meta, const MetaVariant *v) {
    if (!v->map_count) return;
    json_key(j, "maps"), json_open(j, '[');
    for (uint32_t i = 0; i < v->map_count; i++) map_json(j, meta, &v->maps[i]);
    json_close(j, ']');
}

static void variant_json(Json *j, const MetaKernel *meta, const MetaVariant *v) {
    json_open(j, '{');
    json_key(j, "entry"), json_str(j, v->entry);
    json_key(j, "block"), json_open(j, '[');
    for (int i = 0; i < 3; i++) json_uint(j, v->block[i]);
    json_close(j, ']');
    json_key(j, "shared"), json_uint(j, v->shared_bytes);
    cpu_json(j, v);
    maps_json(j, meta, v);
    json_key(j, "options"), json_open(j, '{');
    for (uint32_t i = 0; i < v->option_count; i++)
        json_key(j, v->options[i].name), json_int(j, v->options[i].value);
    json_close(j, '}');
    json_key(j, "bindings"), json_open(j, '{');
    for (uint32_t i = 0; i < v->binding_count; i++) {
        const MetaBinding *b = &v->bindings[i];
        json_key(j, arena_text(j->out->arena, b->name.text, b->name.size));
        if (b->is_type)
            json_str(j, str(dtype_name(b->type)));
        else
            json_int(j, b->value);
    }
    json_close(j, '}');
    json_key(j, "facts"), json_open(j, '[');
    for (size_t i = 0; i < FACTS; i++)
        if (v->facts & launch_facts[i].bit) json_str(j, str(launch_facts[i].name));
    json_close(j, ']');
    launch_json(j, meta, v);
    json_close(j, '}');
}

void meta_json(const MetaKernel *meta, StrBuf *out) {
    Json j = json_begin(out);
    json_open(&j, '{');
    json_key(&j, "kernel"), json_str(&j, meta->name);
    json_key(&j, "argumentBytes"), json_uint(&j, meta->size);
    json_key(&j, "arguments"), json_open(&j, '[');
    for (uint32_t i = 0; i < meta->arg_count; i++) arg_json(&j, meta, &meta->args[i]);
    json_close(&j, ']');
    json_key(&j, "extents"), json_open(&j, '[');
    for (uint32_t i = 0; i < meta->extent_count; i++) json_str(&j, meta->extents[i]);
    json_close(&j, ']');
    json_key(&j, "variants"), json_open(&j, '[');
    for (uint32_t i = 0; i < meta->variant_count; i++) variant_json(&j, meta, &meta->variants[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
