// tl.dot_scaled: products of factors in narrow formats, whose blocks along K have a scale each.
// Factors become bf16, or fp16 if one of the two is fp16, and are multiplied by their scales. All
// values of the narrow formats are exact there.
#include "frontend/triton/elaborate.h"

typedef enum Format { E2M1, E4M3, E5M2, BF16, FP16 } Format;
static const char *const format_names[] = {"e2m1", "e4m3", "e5m2", "bf16", "fp16"};

// One factor. Its rows are M of the left one, N of the right one.
typedef struct Factor {
    IrValue *tile, *scale;  // scale: NULL if there is none
    Format format;
    uint32_t k, rows;  // dimensions
    bool k_pack;       // of e2m1: a byte has two elements along K, else two rows
    Span at, scale_at;
} Factor;

static IrValue *splat(Elab *e, const IrValue *like, Dtype type, uint64_t bits) {
    const IrType *t = like->type;
    return ir_const_bits(&e->b, ir_tile(e->module, type, t->rank, t->shape), bits);
}

static IrValue *with(Elab *e, IrOpcode op, IrValue *v, uint64_t bits) {
    return ir_binary(&e->b, op, v, splat(e, v, el_elem(v), bits));
}

static IrValue *as(Elab *e, IrValue *v, Dtype type) {
    return ir_bitcast(&e->b, v, ir_tile(e->module, type, v->type->rank, v->type->shape));
}

static IrValue *exchanged(Elab *e, IrValue *v, uint32_t a, uint32_t b) {
    int64_t perm[IR_MAX_RANK];
    for (uint32_t i = 0; i < v->type->rank; i++) perm[i] = i == a ? b : i == b ? a : i;
    return a == b ? v : ir_permute(&e->b, v, perm);
}

// The two halves of each byte as neighbours along a dimension.
static IrValue *unpacked(Elab *e, IrValue *v, uint32_t dim) {
    uint32_t last = v->type->rank - 1;
    v = exchanged(e, v, dim, last);
    Shape shape = el_shape_of(v->type), pairs = shape;
    pairs.dims[pairs.rank++] = 2;
    IrValue *halves[2] = {with(e, IR_AND, v, 15), with(e, IR_SHR, v, 4)};
    v = el_op1(e, IR_JOIN, 2, halves, ir_tile(e->module, DTYPE_U8, pairs.rank, pairs.dims));
    shape.dims[last] *= 2;
    return exchanged(e, ir_reshape(&e->b, v, shape.rank, shape.dims), dim, last);
}

// Exponent and mantissa are moved to their places. The product with a power of two corrects the
// bias, and makes numbers of subnormal ones.
IrValue *tr_from_e2m1(Elab *e, IrValue *v, Dtype to) {
    bool wide = to == DTYPE_BF16;
    IrValue *bits = el_convert(e, v, DTYPE_U16);
    IrValue *sign = with(e, IR_SHL, with(e, IR_AND, bits, 8), 12);
    IrValue *rest = with(e, IR_SHL, with(e, IR_AND, bits, 7), wide ? 6 : 9);
    bits = ir_binary(&e->b, IR_OR, sign, rest);
    return with(e, IR_MUL, as(e, bits, to), wide ? 0x7e80 : 0x7400);
}

static IrValue *wrong_type(Elab *e, const Factor *f) {
    el_error(e, f->at, DIAG_TYPE, "format '%s' does not fit %s", format_names[f->format],
             tr_text(e, el_ir(f->tile)));
    return NULL;
}

static IrValue *decoded(Elab *e, const Factor *f, Dtype to) {
    static const Dtype types[] = {
        [E4M3] = DTYPE_F8E4M3, [E5M2] = DTYPE_F8E5M2, [BF16] = DTYPE_BF16, [FP16] = DTYPE_F16};
    Dtype elem = el_elem(f->tile);
    bool bytes = elem == DTYPE_U8 || elem == DTYPE_I8;
    if (f->format == E2M1) {
        if (!bytes) return wrong_type(e, f);
        IrValue *v = el_convert(e, f->tile, DTYPE_U8);
        return tr_from_e2m1(e, unpacked(e, v, f->k_pack ? f->k : f->rows), to);
    }
    Dtype type = types[f->format];
    bool same_size = dtype_is(elem, DTYPE_CLASS_INT) && dtype_bits(elem) == dtype_bits(type);
    if (elem != type && !same_size) return wrong_type(e, f);
    return el_convert(e, elem == type ? f->tile : as(e, f->tile, type), to);
}

// 2^(s - 127), where 255 is NaN, as bf16 or f32.
IrValue *tr_from_ue8m0(Elab *e, IrValue *s, Dtype to) {
    bool wide = to == DTYPE_F32;
    IrValue *bits = el_convert(e, s, wide ? DTYPE_U32 : DTYPE_U16);
    IrValue *least = with(e, IR_EQ, bits, 0), *nan = with(e, IR_EQ, bits, 255);
    bits = with(e, IR_SHL, bits, wide ? 23 : 7);
    bits = ir_ternary(&e->b, IR_SELECT, least,
                      splat(e, bits, el_elem(bits), wide ? 0x00400000 : 0x0040), bits);
    bits = ir_ternary(&e->b, IR_SELECT, nan,
                      splat(e, bits, el_elem(bits), wide ? 0x7fc00000 : 0x7fc0), bits);
    return as(e, bits, to);
}

// Each element of the scale for its block along K.
static IrValue *spread(Elab *e, IrValue *scale, const Factor *f, const Shape *shape) {
    uint32_t last = shape->rank - 1, blocks = scale->type->shape[last];
    Shape s = el_shape_of(scale->type);
    s.dims[s.rank++] = 1;
    IrValue *v = ir_reshape(&e->b, scale, s.rank, s.dims);
    s.dims[s.rank - 1] = shape->dims[f->k] / blocks;
    v = el_broadcast(e, v, s.rank, s.dims);
    s.rank--;
    s.dims[last] = shape->dims[f->k];
    return exchanged(e, ir_reshape(&e->b, v, s.rank, s.dims), f->k, last);
}

static bool check_scale(Elab *e, const Factor *f, const Shape *shape) {
    const IrType *t = f->scale->type;
    uint32_t last = shape->rank - 1;
    bool good = t->rank == shape->rank && t->shape[last - 1] == shape->dims[f->rows];
    for (uint32_t i = 0; good && i + 2 < shape->rank; i++) good = t->shape[i] == shape->dims[i];
    uint32_t block = good ? shape->dims[f->k] / t->shape[last] : 0;
    if (!good || (block != 16 && block != 32) || block * t->shape[last] != shape->dims[f->k]) {
        el_error(e, f->scale_at, DIAG_SHAPE, "the scale %s does not fit the factor %s",
                 tr_text(e, el_ir(f->scale)), el_shape_text(e, shape->rank, shape->dims));
        el_help(e, "its shape is [%s, K / 32], or K / 16, without packing",
                f->k == last ? "M" : "N");
        return false;
    }
    Dtype elem = el_elem(f->scale);
    if (elem == DTYPE_U8 || elem == DTYPE_I8 || elem == DTYPE_F8E4M3) return true;
    el_error(e, f->scale_at, DIAG_TYPE, "a scale is of uint8 (e8m0) or fp8e4nv, found %s",
             tr_text(e, el_ir(f->scale)));
    return false;
}

static IrValue *scaled(Elab *e, const Factor *f, Dtype to) {
    IrValue *v = decoded(e, f, to);
    if (!v || !f->scale) return v;
    Shape shape = el_shape_of(v->type);
    if (!check_scale(e, f, &shape)) return NULL;
    Dtype elem = el_elem(f->scale);
    if (elem == DTYPE_F8E4M3)
        return ir_binary(&e->b, IR_MUL, v, el_convert(e, spread(e, f->scale, f, &shape), to));
    // fp16 does not have all powers.
    Dtype middle = to == DTYPE_F16 ? DTYPE_F32 : to;
    IrValue *s = el_convert(e, f->scale, DTYPE_U8);
    s = spread(e, tr_from_ue8m0(e, s, middle), f, &shape);
    return el_convert(e, ir_binary(&e->b, IR_MUL, el_convert(e, v, middle), s), to);
}

static bool read_factor(Elab *e, const TlCall *c, uint32_t at, uint32_t pack_at, Factor *f) {
    *f = (Factor){.at = c->at[at], .scale_at = c->at[at + 1]};
    f->tile = tr_numbers(e, c->arg[at], c->at[at]);
    if (!f->tile || !tr_call_bool(e, c, pack_at, true, &f->k_pack)) return false;
    if (tr_given(c, at + 1) && !(f->scale = tr_numbers(e, c->arg[at + 1], c->at[at + 1])))
        return false;
    uint32_t rank = f->tile->type->rank;
    if (rank < 2 || rank >= IR_MAX_RANK) {
        el_error(e, f->at, DIAG_SHAPE, "tl.dot_scaled does not multiply %s",
                 tr_text(e, el_ir(f->tile)));
        return false;
    }
    f->k = rank - (at == 0 ? 1 : 2);
    f->rows = rank - (at == 0 ? 2 : 1);
    Str name = tr_call_text(c, at + 2);
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++)
        if (str_equal(name, str(format_names[i]))) {
            f->format = (Format)i;
            return true;
        }
    el_error(e, c->at[at + 2], DIAG_ARGUMENTS, "the format '%.*s' is unknown", STR_ARG(name));
    el_help(e, "it is 'e2m1', 'e4m3', 'e5m2', 'bf16' or 'fp16'");
    return false;
}

Val tl_dot_scaled(Elab *e, const TlCall *c) {
    Factor x, y;
    if (!read_factor(e, c, 0, 8, &x) || !read_factor(e, c, 3, 9, &y)) return EL_POISON;
    Dtype to = x.format == FP16 || y.format == FP16 ? DTYPE_F16 : DTYPE_BF16;
    IrValue *left = scaled(e, &x, to), *right = left ? scaled(e, &y, to) : NULL;
    if (!right) return EL_POISON;
    TlCall dot = {.tl = tl_find(STR("dot")), .span = c->span};
    for (int i = 0; i < TR_ARGS; i++) dot.arg[i] = EL_NONE;
    static const struct {
        int from, to;
    } passed[] = {{0, 0}, {3, 1}, {6, 2}, {10, 6}};  // factors, acc, out_dtype
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        dot.arg[passed[i].to] = c->arg[passed[i].from];
        dot.at[passed[i].to] = c->at[passed[i].from];
    }
    dot.arg[0] = el_ir(left);
    dot.arg[1] = el_ir(right);
    return tl_dot(e, &dot);
}
