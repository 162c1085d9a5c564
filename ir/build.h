// Building IR: ops are added at the builder's position, with result types found from operands.
//
// Invariants: a built op obeys its typing rule if its operands do (the verifier checks that); the
// builder never folds or simplifies. Spans: every op takes the builder's current span.
// Ownership: the module's arena.
//
//     IrBuilder b = ir_builder_at_end(block);
//     b.span = span;
//     IrValue *sum = ir_binary(&b, IR_ADD, x, y);
#ifndef TILEC_IR_BUILD_H
#define TILEC_IR_BUILD_H

#include "ir/ir.h"

typedef struct IrBuilder {
    IrModule *module;
    IrFunc *func;
    IrBlock *block;
    IrOp *before;  // new ops go before this one; NULL: at the end
    Span span;
} IrBuilder;

IrFunc *ir_func_create(IrModule *m, Symbol name, bool is_kernel);
IrParam *ir_func_add_param(IrFunc *f, Symbol name, const IrType *type);
// Adds the extent if it is new.
void ir_func_add_extent(IrFunc *f, Symbol name);
IrBlock *ir_func_add_section(IrFunc *f, IrSectionKind kind, Str text, Span span);
IrBlock *ir_block_create(IrFunc *f);  // for a region; its op adopts it
IrValue *ir_block_add_arg(IrBlock *block, const IrType *type);

IrBuilder ir_builder_at_end(IrBlock *block);
IrBuilder ir_builder_before(IrOp *op);

// The general form. Attributes start zeroed; set them with ir_attr_set_…. `regions` are adopted.
IrOp *ir_op(IrBuilder *b, IrOpcode code, uint32_t operand_count, IrValue *const *operands,
            uint32_t result_count, const IrType *const *results, uint32_t region_count,
            IrBlock *const *regions);

IrValue *ir_const_bits(IrBuilder *b, const IrType *type, uint64_t bits);
IrValue *ir_const_int(IrBuilder *b, Dtype elem, int64_t value);   // scalar, wrapped
IrValue *ir_const_float(IrBuilder *b, Dtype elem, double value);  // scalar, rounded
IrValue *ir_const_bool(IrBuilder *b, bool value);
IrValue *ir_program(IrBuilder *b, int dim);
IrValue *ir_programs(IrBuilder *b, int dim);
IrValue *ir_units(IrBuilder *b);
IrValue *ir_extent(IrBuilder *b, Symbol name);
IrValue *ir_iota(IrBuilder *b, uint32_t count);
IrValue *ir_unary(IrBuilder *b, IrOpcode code, IrValue *x);
IrValue *ir_binary(IrBuilder *b, IrOpcode code, IrValue *x, IrValue *y);  // comparisons, shifts too
IrValue *ir_ternary(IrBuilder *b, IrOpcode code, IrValue *x, IrValue *y,
                    IrValue *z);  // fma, select
IrValue *ir_cast(IrBuilder *b, IrValue *x, Dtype to, bool saturate);
// values[i], lane by lane.
IrValue *ir_lookup(IrBuilder *b, IrValue *i, Dtype elem, uint32_t count, const uint64_t *values);
IrValue *ir_bitcast(IrBuilder *b, IrValue *x, const IrType *to);
IrValue *ir_broadcast(IrBuilder *b, IrValue *x, uint32_t rank, const uint32_t *shape);
IrValue *ir_reshape(IrBuilder *b, IrValue *x, uint32_t rank, const uint32_t *shape);
IrValue *ir_permute(IrBuilder *b, IrValue *x, const int64_t *perm);
IrValue *ir_ptr_add(IrBuilder *b, IrValue *p, IrValue *n);
IrOp *ir_yield(IrBuilder *b, uint32_t count, IrValue *const *values);
IrOp *ir_return(IrBuilder *b, uint32_t count, IrValue *const *values);

#endif
