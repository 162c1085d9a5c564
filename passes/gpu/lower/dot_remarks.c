// The remarks of `tilec explain` about products: the instruction, or why there is none.
#include "passes/gpu/lower/dot.h"

#include <stdio.h>

typedef struct DotRemarks {
    Remarks *remarks;
    const IrOp *op;
    const GpuDot *d;
    const Machine *machine;
    Dtype a, b, result;
    uint32_t m, n, k;
    const char *types;  // "f16 and f16 into f32"
} DotRemarks;

static void add_remark(const DotRemarks *s, Reason reason, RemarkNumbers numbers) {
    remark(s->remarks, s->op->span, reason, s->types, numbers);
}

// The type that the matrix unit would multiply.
static Dtype factor_of(const DotRemarks *s) {
    int64_t precision = ir_attr_int(s->op, IR_ATTR_PRECISION);
    if (s->a == DTYPE_U8) return DTYPE_I8;
    if (s->a == DTYPE_F32 && precision == IR_PRECISION_BF16X3) return DTYPE_BF16;
    return dtype_is(s->a, DTYPE_CLASS_FP8) ? DTYPE_F16 : s->a;
}

static void remark_plain(const DotRemarks *s) {
    if (s->a == DTYPE_F32 && ir_attr_int(s->op, IR_ATTR_PRECISION) == IR_PRECISION_IEEE) {
        add_remark(s, REASON_DOT_IEEE, REMARK(0));
        return;
    }
    uint32_t least = matrix_least_k(s->machine->chip, factor_of(s), factor_of(s));
    if (least > s->k)
        add_remark(s, REASON_DOT_SHORT, REMARK(s->k, least));
    else
        add_remark(s, REASON_DOT_NO_INSTRUCTION, REMARK(0));
}

static void remark_matrix(const DotRemarks *s) {
    const MatrixShape *p = &s->d->product;
    Layout one = layout_fragment(*p, LAYOUT_OPERAND_C);
    uint32_t sums = layout_size(&s->d->c, LAYOUT_REG) / layout_size(&one, LAYOUT_REG);
    uint32_t times = s->d->split ? 3 : 1;
    char name[128];
    snprintf(name, sizeof name, "%s.m%un%uk%u of %s", matrix_unit_name(p->unit), p->m, p->n, p->k,
             s->types);
    remark(s->remarks, s->op->span, REASON_DOT_MATRIX, name,
           REMARK((int64_t)sums * (s->k / p->k) * times));
    if (times > 1) add_remark(s, REASON_DOT_SPLIT, REMARK(times));
    if (dtype_is(s->a, DTYPE_CLASS_FP8) && s->d->a_elem == DTYPE_F16)
        add_remark(s, REASON_DOT_WIDENED, REMARK(0));
    const char *missed =
        p->unit == MATRIX_UNIT_WGMMA ? NULL : gpu_wgmma_missing(s->op, s->d, s->machine);
    if (s->machine->chip->flags & CHIP_TCGEN05) add_remark(s, REASON_DOT_TCGEN05, REMARK(0));
    if (missed) remark(s->remarks, s->op->span, REASON_DOT_BY_WARP, missed, REMARK(0));
    if (s->m < p->m || s->n < p->n)
        add_remark(s, REASON_DOT_PADDED, REMARK(s->m, s->n, p->m, p->n));
}

void gpu_dot_remarks(Remarks *remarks, const IrOp *op, const GpuDot *d, const Machine *machine) {
    if (!remarks) return;
    const IrType *a = ir_operand(op, 0)->type, *b = ir_operand(op, 1)->type;
    DotRemarks s = {.remarks = remarks, .op = op, .d = d, .machine = machine};
    s.a = a->elem;
    s.b = b->elem;
    s.result = op->results[0].type->elem;
    s.m = a->shape[a->rank - 2];
    s.k = a->shape[a->rank - 1];
    s.n = b->shape[b->rank - 1];
    char types[64];
    snprintf(types, sizeof types, "%s and %s into %s", dtype_name(s.a), dtype_name(s.b),
             dtype_name(s.result));
    s.types = types;
    if (d->matrix)
        remark_matrix(&s);
    else
        remark_plain(&s);
    uint32_t free_bits = layout_free_bits(&d->c, LAYOUT_WARP);
    if (free_bits) add_remark(&s, REASON_DOT_REPEATED, REMARK(1 << __builtin_popcount(free_bits)));
}
