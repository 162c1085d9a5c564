// The plan of a `dot`: in a function of the gpu level every dot has one, in other functions none
// has.
#include "target/matrix.h"

#include "ir/analysis/layout_infer.h"
#include "ir/verify/verifier.h"

typedef struct DotPlan {
    IrPlan kind;
    const IrAttr *instruction, *elems, *warps;
} DotPlan;

static DotPlan plan_of(const IrOp *op) {
    return (DotPlan){.kind = (IrPlan)ir_attr_int(op, IR_ATTR_PLAN),
                     .instruction = ir_attr(op, IR_ATTR_INSTRUCTION),
                     .elems = ir_attr(op, IR_ATTR_ELEMS),
                     .warps = ir_attr(op, IR_ATTR_WARPS)};
}

static bool needs_none(Verifier *v, const IrOp *op, const DotPlan *p) {
    uint32_t numbers = p->instruction->u.ints.count + p->elems->u.ints.count;
    if (p->kind == IR_PLAN_NONE && numbers + p->warps->u.ints.count == 0) return true;
    return verifier_fail(v, op, "expected no plan at level %s", ir_level_text(v->func->level));
}

// Integers are multiplied as they are, floats as floats.
static bool elems_fit(Verifier *v, const IrOp *op, const DotPlan *p) {
    static const char *const names[] = {"a", "b", "the sum"};
    if (p->elems->u.ints.count != 3)
        return verifier_fail(v, op, "expected elems of a, b and the sum, found %u",
                             p->elems->u.ints.count);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t to = p->elems->u.ints.items[i];
        Dtype from = i < 2 ? ir_operand(op, i)->type->elem : op->results[0].type->elem;
        bool known = to >= 0 && to < DTYPES;
        if (known && to == (int64_t)from) continue;
        if (known && dtype_is(from, DTYPE_CLASS_ANYFLOAT) && dtype_is((Dtype)to, DTYPE_CLASS_FLOAT))
            continue;
        return verifier_fail(v, op, "expected elems to compute with %s of %s, found %s", names[i],
                             dtype_name(from), known ? dtype_name((Dtype)to) : "none");
    }
    return true;
}

static bool by_no_unit(Verifier *v, const IrOp *op, const DotPlan *p) {
    const int64_t *elems = p->elems->u.ints.items;
    if (p->instruction->u.ints.count + p->warps->u.ints.count)
        return verifier_fail(v, op, "expected no instruction and no warps with plan %s",
                             ir_enum_text(IR_KIND_PLAN, p->kind));
    if (p->kind == IR_PLAN_FMA) return true;
    if (elems[0] == DTYPE_F16 && elems[1] == DTYPE_F16 && elems[2] == DTYPE_F32) return true;
    return verifier_fail(v, op, "expected elems f16, f16 and f32 with plan pairs");
}

static MatrixShape shape_of(const DotPlan *p) {
    const int64_t *s = p->instruction->u.ints.items;
    return (MatrixShape){(MatrixUnit)s[3], (uint32_t)s[0], (uint32_t)s[1], (uint32_t)s[2],
                         dtype_bits((Dtype)p->elems->u.ints.items[0])};
}

static const MatrixOp *matrix_row(const DotPlan *p) {
    const int64_t *elems = p->elems->u.ints.items;
    if (p->instruction->u.ints.count != 4) return NULL;
    const MatrixOp *row;
    for (size_t i = 0; (row = matrix_at(i)); i++) {
        bool exact = row->exact == (p->kind == IR_PLAN_EXACT);
        if (matrix_is_of(row, shape_of(p)) && exact && row->a == elems[0] && row->b == elems[1] &&
            row->sum == elems[2])
            return row;
    }
    return NULL;
}

// Each bit of a warp's number halves a dimension in which more than one instruction's part is left.
static bool warps_fit(Verifier *v, const IrOp *op, const DotPlan *p, MatrixShape one) {
    const IrType *c = op->results[0].type;
    uint32_t bits = (uint32_t)__builtin_ctz((unsigned)v->func->warps), left[IR_MAX_RANK];
    bool group = one.unit == MATRIX_UNIT_WGMMA;
    if (group && bits < 2) return verifier_fail(v, op, "expected four warps or more");
    if (group) bits -= 2;  // four warps execute the instruction
    if (p->warps->u.ints.count != bits)
        return verifier_fail(v, op, "expected %u numbers of warps, found %u", bits,
                             p->warps->u.ints.count);
    for (uint32_t d = 0; d < c->rank; d++) left[d] = c->shape[d];
    for (uint32_t i = 0; i < bits; i++) {
        int64_t axis = p->warps->u.ints.items[i];
        if (axis == -1) continue;
        bool known = axis >= 0 && axis < c->rank;
        uint32_t least = !known ? 0 : axis == c->rank - 1 ? one.n : axis == c->rank - 2 ? one.m : 1;
        if (!known || left[axis] <= least)
            return verifier_fail(v, op, "warps can't share dimension %lld", (long long)axis);
        left[axis] /= 2;
    }
    return true;
}

static bool by_matrix(Verifier *v, const IrOp *op, const DotPlan *p) {
    const MatrixOp *row = matrix_row(p);
    bool f32 = ir_operand(op, 0)->type->elem == DTYPE_F32;
    if (!row) return verifier_fail(v, op, "no matrix unit has the instruction for these elems");
    if (p->kind != IR_PLAN_MATRIX && !f32)
        return verifier_fail(v, op, "expected factors of f32 with plan %s",
                             ir_enum_text(IR_KIND_PLAN, p->kind));
    const IrType *a = ir_operand(op, 0)->type;
    if (a->shape[a->rank - 1] < row->shape.k)
        return verifier_fail(v, op, "expected a depth of at least %u, found %u", row->shape.k,
                             a->shape[a->rank - 1]);
    Layout one = layout_fragment(shape_of(p), LAYOUT_OPERAND_C);
    if (layout_size(&one, LAYOUT_LANE) != ir_lane_count(v->func))
        return verifier_fail(v, op, "expected an instruction of %u lanes, found one of %u",
                             ir_lane_count(v->func), layout_size(&one, LAYOUT_LANE));
    return warps_fit(v, op, p, shape_of(p));
}

bool verifier_dot_plan(Verifier *v, const IrOp *op) {
    DotPlan p = plan_of(op);
    if (v->func->level != IR_LEVEL_GPU) return needs_none(v, op, &p);
    TRY(p.kind != IR_PLAN_NONE || verifier_fail(v, op, "expected a plan at level gpu"));
    TRY(v->func->warps > 0 || verifier_fail(v, op, "expected a function with warps"));
    TRY(elems_fit(v, op, &p));
    return (p.kind < IR_PLAN_MATRIX ? by_no_unit : by_matrix)(v, op, &p);
}
