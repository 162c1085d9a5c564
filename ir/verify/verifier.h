// Verifier: the interface between verify.c (structure) and the files of typing rules. Only for this
// room.
//
// Invariants: a rule runs only on an op whose counts, attributes and operands' scopes are right, so
// operands that are not optional are present. A rule returns false after its first report.
// Ownership: everything is in scratch until the verifier returns.
#ifndef TILEC_IR_VERIFY_VERIFIER_H
#define TILEC_IR_VERIFY_VERIFIER_H

#include "base/status.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"

typedef struct Verifier {
    Diags *diags;
    Arena *scratch;
    const IrModule *module;
    const IrFunc *func;
    const IrSection *section;  // the one being walked
    IrNumbers *numbers;        // of func; NULL until the first message
    bool ok;
    Map functions;          // of the module, by name; filled before the walk
    const IrValue **by_id;  // the value that has an id
    uint32_t *seen;         // by value id: operands that refer to it
    unsigned char *scope;   // by value id: it may be used here
    unsigned char *op_ids;  // by op id: taken
    VEC(uint32_t) defined;  // ids in scope, a stack
} Verifier;

// Reports "<message>, in '<op>'"; false.
bool verifier_fail(Verifier *v, const IrOp *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
// Reports "<message>, in '@<function>'" at the place; false.
bool verifier_func_fail(Verifier *v, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *verifier_type(Verifier *v, const IrType *t);

// Expectations on operands and results. `what` names the operand or result for the message.
bool verifier_same(Verifier *v, const IrOp *op, const char *what, const IrType *found,
                   const IrType *expected);
bool verifier_operand(Verifier *v, const IrOp *op, uint32_t i, const IrType *expected);
bool verifier_result(Verifier *v, const IrOp *op, uint32_t i, const IrType *expected);
// The operand's kind and element are of these classes (DtypeClass bits, IR_CLASS_POINTER).
bool verifier_class(Verifier *v, const IrOp *op, uint32_t i, unsigned classes);
// An operand that may be absent: bool, of this shape.
bool verifier_mask(Verifier *v, const IrOp *op, uint32_t i, const IrType *shape);
bool verifier_axis(Verifier *v, const IrOp *op, const IrType *t, uint32_t *axis);

// Types without a module: for comparing and printing only.
IrType verifier_scalar(Dtype elem);
IrType verifier_tile_like(const IrType *t, Dtype elem);  // a tile of t's shape
void verifier_set_shape(IrType *t, uint32_t rank, const uint32_t *shape);

// V9 for a region that is a combiner: scalars only, no effects.
bool verifier_combiner_ops(Verifier *v, const IrBlock *block);
bool verifier_rule(Verifier *v, const IrOp *op);
bool verifier_tile_rule(Verifier *v, const IrOp *op);     // products, reductions, orders
bool verifier_memory_rule(Verifier *v, const IrOp *op);   // pointers and views
bool verifier_control_rule(Verifier *v, const IrOp *op);  // effects, control, calls
bool verifier_cpu_rule(Verifier *v, const IrOp *op);      // cpu.*, except scratch
bool verifier_layouts(Verifier *v, const IrOp *op);       // of the gpu level, after the rules
bool verifier_dot_plan(Verifier *v, const IrOp *op);      // of a dot, after its rule
// The map that the op names is one of this view.
bool verifier_map(Verifier *v, const IrOp *op, const IrValue *view);
bool verifier_arrivals(Verifier *v, const IrOp *op);     // of a barrier
bool verifier_maps(Verifier *v);                         // of the function
bool verifier_gpu_rule(Verifier *v, const IrOp *op);     // gpu.*
bool verifier_thread_rule(Verifier *v, const IrOp *op);  // thread.*

#endif
