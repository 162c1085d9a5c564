// Writes the tables of docs/ir.md: operations and attributes.
//
//     gen_ir_docs docs/ir.md           writes them
//     gen_ir_docs --check docs/ir.md   fails when they are not up to date
#include <string.h>

#include "base/dtype.h"
#include "ir/ir.h"
#include "scripts/gen/page.h"

// The heading of an op of the tile level, by its rule.
static const char *tile_section(const IrOpInfo *info) {
    switch (info->rule) {
    case IR_RULE_CONST:
    case IR_RULE_SCALAR_I64:
    case IR_RULE_UNITS:
    case IR_RULE_EXTENT:
    case IR_RULE_IOTA: return "Values without operands";
    case IR_RULE_UNARY: return "Elementwise, one operand";
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT: return "Elementwise, more operands";
    case IR_RULE_CAST:
    case IR_RULE_BITCAST: return "Conversions";
    case IR_RULE_LOOKUP: return "Tables";
    case IR_RULE_BROADCAST:
    case IR_RULE_RESHAPE:
    case IR_RULE_PERMUTE:
    case IR_RULE_JOIN:
    case IR_RULE_SPLIT:
    case IR_RULE_CAT:
    case IR_RULE_GATHER: return "Shapes";
    case IR_RULE_DOT:
    case IR_RULE_REDUCE:
    case IR_RULE_SCAN:
    case IR_RULE_SORT:
    case IR_RULE_TOPK:
    case IR_RULE_HISTOGRAM:
    case IR_RULE_RANDOM: return "Products, reductions, sorting";
    case IR_RULE_PTR_ADD:
    case IR_RULE_LOAD:
    case IR_RULE_STORE:
    case IR_RULE_ATOMIC:
    case IR_RULE_ATOMIC_CAS: return "Memory through pointers";
    case IR_RULE_VIEW_LOAD:
    case IR_RULE_VIEW_STORE:
    case IR_RULE_VIEW_ATOMIC:
    case IR_RULE_VIEW_CAS:
    case IR_RULE_VIEW_INSIDE: return "Memory through views";
    case IR_RULE_ASSERT:
    case IR_RULE_PRINT:
    case IR_RULE_NOALIAS: return "Effects on the program";
    case IR_RULE_FOR:
    case IR_RULE_WHILE:
    case IR_RULE_IF:
    case IR_RULE_YIELD:
    case IR_RULE_RETURN:
    case IR_RULE_CALL: return "Control";
    case IR_RULE_SCRATCH:
    case IR_RULE_NOTHING:
    case IR_RULE_VEC_DATA:
    case IR_RULE_CPU_DIM:
    case IR_RULE_CPU_SPAN:
    case IR_RULE_CPU_LOAD:
    case IR_RULE_CPU_STORE:
    case IR_RULE_CPU_PREFETCH:
    case IR_RULE_VEC_REDUCE:
    case IR_RULE_VEC_SHUFFLE:
    case IR_RULE_VEC_LANE:
    case IR_RULE_CPU_DOT:
    case IR_RULE_CPU_TILES:
    case IR_RULE_VEC_ASSERT:
    case IR_RULE_VEC_PRINT:
    case IR_RULE_GPU_CONVERT:
    case IR_RULE_GPU_SHARED:
    case IR_RULE_GPU_SLOT:
    case IR_RULE_GPU_COPY:
    case IR_RULE_GPU_MBARRIER:
    case IR_RULE_GPU_MBARRIER_EXPECT:
    case IR_RULE_GPU_MBARRIER_ARRIVE:
    case IR_RULE_GPU_TMA_LOAD:
    case IR_RULE_GPU_MBARRIER_WAIT:
    case IR_RULE_GPU_MBARRIER_END:
    case IR_RULE_GPU_READ:
    case IR_RULE_THREAD_ID:
    case IR_RULE_THREAD_LOAD:
    case IR_RULE_THREAD_STORE:
    case IR_RULE_THREAD_SHUFFLE:
    case IR_RULE_THREAD_PACK:
    case IR_RULE_THREAD_MATRIX_LOAD:
    case IR_RULE_THREAD_MMA:
    case IR_RULE_THREAD_WGMMA:
    case IR_RULE_THREAD_WGMMA_BEGIN:
    case IR_RULE_THREAD_WGMMA_WAIT:
    case IR_RULE_THREAD_COPY:
    case IR_RULE_THREAD_MBARRIER:
    case IR_RULE_THREAD_MBARRIER_WAIT:
    case IR_RULE_THREAD_TMA_LOAD:
    case IR_RULE_THREAD_UPDATE: break;
    }
    return "";
}

// The heading of an op.
static const char *section_of(const IrOpInfo *info) {
    switch (info->level) {
    case IR_LEVEL_TILE:
    case IR_LEVEL_ANY: return tile_section(info);
    case IR_LEVEL_GPU: return "Level gpu: tiles with layouts";
    case IR_LEVEL_THREAD: return "Level thread: one thread of a GPU";
    case IR_LEVEL_CPU_TILE:
    case IR_LEVEL_CPU_NEST:
    case IR_LEVEL_CPU:
    case IR_LEVEL_VECTOR: return "Level cpu, and vectors of both machine levels";
    }
    return "";
}

static const char *effect_of(const IrOpInfo *info) {
    switch (info->effect) {
    case IR_EFFECT_PURE: return "pure";
    case IR_EFFECT_READ: return "reads";
    case IR_EFFECT_WRITE: return "writes";
    case IR_EFFECT_KEEP: return "kept";
    case IR_EFFECT_NEST: return "its regions'";
    case IR_EFFECT_END: break;
    }
    return "ends a block";
}

static void add_classes(const IrOpInfo *info, StrBuf *out) {
    static const struct {
        unsigned bits;
        const char *text;
    } names[] = {
        {DTYPE_CLASS_BOOL, "bool"}, {DTYPE_CLASS_INT, "int"},      {DTYPE_CLASS_FLOAT, "float"},
        {DTYPE_CLASS_FP8, "fp8"},   {IR_CLASS_POINTER, "pointer"},
    };
    const char *between = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!(info->classes & names[i].bits)) continue;
        strbuf_printf(out, "%s%s", between, names[i].text);
        between = ", ";
    }
}

static void add_row(const IrOpInfo *info, StrBuf *out) {
    strbuf_printf(out, "| `%s` | %s%s%s | ", info->text, *info->signature ? "`" : "",
                  info->signature, *info->signature ? "`" : "");
    for (int i = 0; i < info->attr_count; i++) {
        strbuf_printf(out, "%s`%s`", i ? " " : "", ir_attr_text(info->attrs[i]));
    }
    strbuf_add(out, STR(" | "));
    add_classes(info, out);
    if (info->results < 0) {
        strbuf_add(out, STR(" | any"));
    } else {
        strbuf_printf(out, " | %d", info->results);
    }
    strbuf_printf(out, " | %s | %s | ", ir_level_text(info->level), effect_of(info));
    for (const char *p = info->doc; *p; p++) {  // a bar would end the cell
        if (*p == '|') strbuf_char(out, '\\');
        strbuf_char(out, *p);
    }
    strbuf_add(out, STR(" |\n"));
}

static void add_ops(StrBuf *out) {
    const char *section = "";
    for (int i = 0; i < IR_OPCODES; i++) {
        const IrOpInfo *info = ir_op_info((IrOpcode)i);
        if (strcmp(section, section_of(info)) != 0) {
            section = section_of(info);
            strbuf_printf(out,
                          "%s### %s\n\n"
                          "| op | operands | attributes | elements | results | level | effect | "
                          "meaning |\n|---|---|---|---|---|---|---|---|\n",
                          i ? "\n" : "", section);
        }
        add_row(info, out);
    }
}

static const char *kind_text(IrAttrKind kind) {
    switch (kind) {
    case IR_KIND_INT: return "a number";
    case IR_KIND_BOOL: return "`true` or `false`";
    case IR_KIND_INTS: return "numbers: `[0, 16]`";
    case IR_KIND_CONST: return "a value of the result's element type, or its bits in hex";
    case IR_KIND_CONSTS: return "values of the result's element type: `[0, 1.5]`";
    case IR_KIND_TEXT: return "a text: `\"n > 0\"`";
    case IR_KIND_TEXTS: return "texts: `[\"x = \", \"\"]`";
    case IR_KIND_NAME: return "a name";
    case IR_KIND_DTYPE: return "an element type";
    case IR_KIND_DTYPES: return "element types: `[f16, f16, f32]`";
    case IR_KIND_REDUCE:
    case IR_KIND_RMW:
    case IR_KIND_ORDER:
    case IR_KIND_SCOPE:
    case IR_KIND_PRECISION:
    case IR_KIND_CACHE:
    case IR_KIND_PLAN: break;
    }
    return NULL;
}

static void add_attrs(StrBuf *out) {
    strbuf_add(out, STR("| attribute | value |\n|---|---|\n"));
    for (int i = 0; i < IR_ATTRS; i++) {
        IrAttrKind kind = ir_attr_kind((IrAttrName)i);
        strbuf_printf(out, "| `%s` | ", ir_attr_text((IrAttrName)i));
        if (kind_text(kind)) {
            strbuf_add(out, str(kind_text(kind)));
        } else {
            for (int64_t n = 0; ir_enum_text(kind, n); n++) {
                strbuf_printf(out, "%s`%s`", n ? ", " : "", ir_enum_text(kind, n));
            }
        }
        strbuf_add(out, STR(" |\n"));
    }
}

static const PagePart parts[] = {
    {"ops", add_ops},
    {"attributes", add_attrs},
};

int main(int argc, char **argv) {
    return page_main(argc, argv, parts, sizeof parts / sizeof *parts);
}
