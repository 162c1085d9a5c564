// Tables: constants of the program, as tiles and by lookups.
#include "frontend/common/elab.h"

IrValue *el_table_lookup(Elab *e, const Table *t, IrValue *numbers) {
    const IrType *type = ir_with_elem(e->module, numbers->type, t->elem);
    IrValue *v = el_op1(e, IR_LOOKUP, 1, &numbers, type);
    IrAttr *values = el_attr(v->def, IR_ATTR_VALUES);
    values->u.consts.count = t->count;
    values->u.consts.items = t->bits;
    return v;
}

IrValue *el_table_tile(Elab *e, const Table *t, Span span) {
    for (uint32_t d = 0; d < t->rank; d++) {
        if (!(t->dims[d] & (t->dims[d] - 1))) continue;
        el_error(e, span, DIAG_SHAPE, "%s is not a tile: its extent %u is not a power of two",
                 el_val_text(e, (Val){.kind = VAL_TABLE, .table = t}), t->dims[d]);
        if (t->name) el_help(e, "its elements are read by indices, %s[i]", t->name);
        return NULL;
    }
    IrValue *v = el_table_lookup(e, t, ir_iota(&e->b, t->count));
    return t->rank == 1 ? v : ir_reshape(&e->b, v, t->rank, t->dims);
}

Val el_table_value(const Table *t, uint32_t i) {
    uint64_t bits = t->bits[i];
    if (t->elem == DTYPE_BOOL) return el_bool(bits != 0);
    if (dtype_is(t->elem, DTYPE_CLASS_ANYFLOAT))
        return (Val){.kind = VAL_FLOAT, .real = dtype_to_double(t->elem, bits)};
    int64_t value = dtype_to_i64(t->elem, bits);
    return el_int(dtype_signed(t->elem) ? (Int128)value : (Int128)(uint64_t)value);
}
