// Types of values. They are interned: equal types are one pointer within a module.
//
// Kinds: a tile of elements (a scalar is a tile of rank 0), a tile of pointers to elements, a view.
// Invariants: tile extents are powers of two, rank at most IR_MAX_RANK, at most IR_MAX_COUNT
// elements; tiles never hold packed types (i4, u4), pointers and views may. `id` is dense per
// module, by order of first use. `layout` is NULL above the gpu level.
// Ownership: the module's arena.
//
//     const IrType *t = ir_tile(m, DTYPE_F32, 2, (uint32_t[]){16, 32});   // f32[16,32]
//
// As text: f32  f32[16,32]  *f16  *f16[64]  view f32 2 (element, rank)  f32[8](reg=(1) lane=(2)(4))
#ifndef TILEC_IR_TYPE_H
#define TILEC_IR_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/dtype.h"
#include "base/str.h"

enum { IR_MAX_RANK = 8, IR_MAX_VIEW_RANK = 5, IR_MAX_COUNT = 1 << 20, IR_MAX_ARGS = 64 };

typedef enum IrTypeKind { IR_TILE, IR_PTR, IR_VIEW } IrTypeKind;

struct IrLayout;
typedef struct IrModule IrModule;

typedef struct IrType {
    IrTypeKind kind;
    Dtype elem;  // of a pointer or view: the type it points at
    uint32_t rank;
    uint32_t shape[IR_MAX_RANK];  // tiles and pointer tiles
    uint32_t count;               // elements: the product of shape, 1 for scalars
    uint32_t id;
    const struct IrLayout *layout;
} IrType;

const IrType *ir_tile(IrModule *m, Dtype elem, uint32_t rank, const uint32_t *shape);
const IrType *ir_ptr(IrModule *m, Dtype elem, uint32_t rank, const uint32_t *shape);
const IrType *ir_view(IrModule *m, Dtype elem, uint32_t rank);
const IrType *ir_scalar(IrModule *m, Dtype elem);
// The same kind and element with another shape; the same kind and shape with another element.
const IrType *ir_with_shape(IrModule *m, const IrType *t, uint32_t rank, const uint32_t *shape);
const IrType *ir_with_elem(IrModule *m, const IrType *t, Dtype elem);
// The same, distributed over threads by a layout of its shape; NULL: not distributed. Equal layouts
// are one pointer in a module.
const IrType *ir_with_layout(IrModule *m, const IrType *t, const struct IrLayout *layout);

bool ir_is_scalar(const IrType *t);            // a tile or pointer of rank 0
bool ir_is_tile(const IrType *t, Dtype elem);  // a tile, scalar included, of this element
bool ir_same_shape(const IrType *a, const IrType *b);
// NULL if a type may have the shape, else what is wrong with it ("is not a power of two").
const char *ir_shape_problem(uint32_t rank, const uint64_t *shape);
// Bytes of one element in memory: pointers 8, packed types as one byte each.
uint32_t ir_elem_size(const IrType *t);
void ir_type_text(const IrType *t, StrBuf *out);

#endif
