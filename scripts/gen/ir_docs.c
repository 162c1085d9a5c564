// Writes docs/ir.md from the op table.
//
//     gen_ir_docs docs/ir.md           writes it
//     gen_ir_docs --check docs/ir.md   fails when the file is not what would be written
#include <string.h>

#include "base/dtype.h"
#include "ir/ir.h"
#include "scripts/gen/page.h"

static const char head[] =
    "<!-- Generated from ir/ops.def by scripts/gen/ir_docs.c (the program gen_ir_docs): do not "
    "edit. "
    "-->\n"
    "# Tile IR\n"
    "\n"
    "SSA with structured regions. A module holds kernels and functions; a kernel has parameters, "
    "named\n"
    "extents, any number of `requires` conditions, at most one `grid`, and one `body`. Blocks hold "
    "ops,\n"
    "ops may hold regions of one block each; there are no branches. One table, `ir/ops.def`, says "
    "what\n"
    "ops there are; printer, parser, verifier, interpreter, test matrix and this page derive from "
    "it.\n"
    "\n"
    "```\n"
    "kernel @scale(%x: view f32[N], %a: f32) {\n"
    "  grid {\n"
    "    %0 = extent {extent = N} : i64\n"
    "    yield %0\n"
    "  }\n"
    "  body {\n"
    "    %1 = program {dim = 0} : i64\n"
    "    %2 = view_load %x, _, %1 {select = [0]} : f32\n"
    "    %3 = mul %2, %a : f32\n"
    "    view_store %x, %3, _, %1 {select = [0]}\n"
    "    return\n"
    "  }\n"
    "}\n"
    "```\n"
    "\n"
    "## Types\n"
    "\n"
    "| text | what it is |\n"
    "|---|---|\n"
    "| `f32`, `i64`, `bool` | a scalar: a tile of rank 0 |\n"
    "| `f32[16,32]` | a tile; extents are powers of two, at most 8 of them, at most 2^20 elements "
    "|\n"
    "| `*f16`, `*f16[64]` | a pointer, a tile of pointers |\n"
    "| `view f32[M, 64]`, `strided view f32[M, N]` | a parameter's view: rank 1 to 5, extents "
    "named or "
    "fixed |\n"
    "\n"
    "Tiles and scalars never hold the packed types `i4` and `u4`; views of them are read as `i8` "
    "and\n"
    "`u8`.\n"
    "\n"
    "## Levels\n"
    "\n"
    "Every function has a level: `tile` (the default), `gpu` or `cpu`. It may hold the ops of "
    "level any,\n"
    "those of level tile, and those of its own.\n"
    "\n"
    "## The text form\n"
    "\n"
    "`%3 = add %1, %2 : f32[16]`: results, name, operands, attributes in braces, result types, "
    "regions.\n"
    "An operand marked `?` below may be absent: it is written `_`. Values are numbered by order "
    "of\n"
    "definition; parameters keep their names. A boolean attribute that is false, an `inside` of\n"
    "zeros, and a plan of `dot` where there is none, are left out. The grammar stands in "
    "`ir/text/text.h`.\n";

static const char checks[] =
    "\n"
    "## What the verifier checks\n"
    "\n"
    "| | |\n"
    "|---|---|\n"
    "| V1 | operand, result and region counts, attributes present and in range, by the op table |\n"
    "| V2 | the typing rule of the op; a `dot` of level gpu has a plan, others have none |\n"
    "| V3 | operands are defined before their use and in scope; sections share only parameters |\n"
    "| V4 | the list of uses of a value is exactly the operand places that name it |\n"
    "| V5 | blocks end in one terminator of the right kind; a yield gives what its op takes |\n"
    "| V6 | no op above the function's level |\n"
    "| V7 | a kernel has one body, at most one grid of 1 to 3 i64; a `requires` yields one bool; "
    "both "
    "without memory, program or assert; extents are declared |\n"
    "| V8 | packed elements only in views and pointers; shapes are powers of two within limits; "
    "views "
    "are parameters |\n"
    "| V9 | combiners are pure and use scalars only |\n"
    "| V10 | ids are unique and in range; links to blocks and ops are right |\n"
    "| V11 | a callee exists, is no kernel, fits arguments and results; no recursion |\n"
    "\n"
    "`dot`: 8-bit integers accumulate in i32, wider integers in their own type, f32 and f64 in "
    "their\n"
    "own, narrower floats in f32, f64 or f16 as the accumulator says. Operands have one element "
    "type,\n"
    "but i8 and u8 mix, and so do f8e4m3 and f8e5m2. A precision other than `ieee` is f32's "
    "only.\n";

// The heading an op stands under, by its rule.
static const char *section_of(const IrOpInfo *info) {
    switch (info->rule) {
    case IR_RULE_CONST:
    case IR_RULE_SCALAR_I64:
    case IR_RULE_EXTENT:
    case IR_RULE_IOTA: return "Values out of nothing";
    case IR_RULE_UNARY: return "Elementwise, one operand";
    case IR_RULE_BINARY:
    case IR_RULE_SHIFT:
    case IR_RULE_COMPARE:
    case IR_RULE_TERNARY:
    case IR_RULE_SELECT: return "Elementwise, more operands";
    case IR_RULE_CAST:
    case IR_RULE_BITCAST: return "Conversions";
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
    case IR_RULE_RANDOM: return "Products, reductions, orders";
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
    case IR_RULE_NOTHING: return "Of the machine levels";
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
    case IR_RULE_VEC_PRINT: return "Of the CPU level";
    case IR_RULE_GPU_CONVERT: return "The operand's type but for the layout";
    case IR_RULE_GPU_SHARED:
    case IR_RULE_GPU_SLOT:
    case IR_RULE_GPU_COPY:
    case IR_RULE_GPU_READ: return "Of the GPU level";
    case IR_RULE_THREAD_ID:
    case IR_RULE_THREAD_LOAD:
    case IR_RULE_THREAD_STORE:
    case IR_RULE_THREAD_SHUFFLE:
    case IR_RULE_THREAD_PACK:
    case IR_RULE_THREAD_MATRIX_LOAD:
    case IR_RULE_THREAD_MMA:
    case IR_RULE_THREAD_COPY:
    case IR_RULE_THREAD_UPDATE: return "Of the thread level";
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
                          "\n### %s\n\n"
                          "| op | operands | attributes | elements | results | level | effect | "
                          "meaning |\n|---|---|---|---|---|---|---|---|\n",
                          section);
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
    case IR_KIND_PLAN: break;
    }
    return NULL;
}

static void add_attrs(StrBuf *out) {
    strbuf_add(out, STR("\n## Attributes\n\n| attribute | value |\n|---|---|\n"));
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

static void add_page(StrBuf *out) {
    strbuf_add(out, str(head));
    strbuf_add(out, STR("\n## Ops\n"));
    add_ops(out);
    add_attrs(out);
    strbuf_add(out, str(checks));
}

int main(int argc, char **argv) { return page_main(argc, argv, add_page); }
