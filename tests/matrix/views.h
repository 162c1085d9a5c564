// Selections of views, lane by lane in 128-bit numbers: what reads, writes and atomics through
// views must do, and the programs that ask it.
//
// Invariants: an index is any 64-bit number of its type; nothing here can overflow. The view's
// memory spans all elements that its extents and strides reach, negative strides included.
// Ownership: the arena of the matrix.
//
//     ViewCell v = {.elem = DTYPE_F32, .rank = 1, .extent = {7}};
//     view_strides(&v, false);
//     v.index[0] = view_part(4, -2);                    // [-2 +: 4]
//     view_read(m, "name", &v, true);
#ifndef TILEC_TESTS_MATRIX_VIEWS_H
#define TILEC_TESTS_MATRIX_VIEWS_H

#include "tests/matrix/memory.h"

enum { VIEW_RANK = 3, VIEW_LANES = 1 << 12 };

typedef struct ViewIndex {
    uint32_t width;  // of a part-select; 0: an index
    bool tile;       // a tile of indices
    Dtype type;
    int64_t value;  // of a scalar
    Tile values;    // of a tile
} ViewIndex;

typedef struct ViewCell {
    Dtype elem;
    uint32_t rank;
    int64_t extent[VIEW_RANK], stride[VIEW_RANK];
    bool strided;
    ViewIndex index[VIEW_RANK];
    bool inside_marked;  // dimensions inside are marked so
} ViewCell;

typedef struct ViewLanes {
    uint32_t rank, shape[IR_MAX_RANK], count;
    struct {
        bool inside;
        int64_t offset;  // in elements
    } lane[VIEW_LANES];
} ViewLanes;

// Row-major strides, or padded ones of which some run backwards.
void view_strides(ViewCell *v, bool strided);
ViewIndex view_part(uint32_t width, int64_t first);
ViewIndex view_scalar(Dtype type, int64_t value);
ViewIndex view_tile(Matrix *m, Dtype type, uint32_t rank, const uint32_t *shape, int64_t extent);
ViewLanes *view_lanes(Matrix *m, const ViewCell *v);

void view_read(Matrix *m, const char *name, const ViewCell *v, bool pad);
void view_write(Matrix *m, const char *name, const ViewCell *v, bool masked);
void view_rmw(Matrix *m, const char *name, const ViewCell *v, IrRmw rmw, int order, int scope,
              bool masked);
void view_cas(Matrix *m, const char *name, const ViewCell *v, int order, int scope, bool masked);
void view_inside(Matrix *m, const char *name, const ViewCell *v);

#endif
