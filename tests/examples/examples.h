// The table of examples: what each kernel is run with. references_*.c hold the `make` functions.
#ifndef TILEC_TESTS_EXAMPLES_EXAMPLES_H
#define TILEC_TESTS_EXAMPLES_EXAMPLES_H

#include "tests/examples/run.h"

enum { EXAMPLE_MAX_DIMS = 4, EXAMPLE_MAX_TYPES = 5 };

// The arguments of `make`: the type, extents, and whether to keep the kernel's own tile sizes (else
// small ones are set, so that loops and edges run with few elements).
typedef struct Shape {
    Dtype type;
    int64_t n[EXAMPLE_MAX_DIMS];
    bool own_tiles;
} Shape;

typedef struct Example {
    const char *file, *kernel;
    void (*make)(Run *run, const Shape *shape);
    int dims;
    double work;  // operations for each point of the product of the extents
    Dtype types[EXAMPLE_MAX_TYPES];
    int type_count;
} Example;

extern const Example example_table[];
extern const size_t example_count;

// EXAMPLE(file, kernel, dims, work, types): `make` is make_<kernel>.
#define EXAMPLE(file, kernel, dims, work, ...) void make_##kernel(Run *run, const Shape *shape);
#include "tests/examples/examples.def"
#undef EXAMPLE

// The least power of two that is not below n, and at least `least`.
int64_t next_power(int64_t n, int64_t least);
// A tile size, unless the shape keeps the kernel's own.
void tile(Run *run, const Shape *shape, const char *name, int64_t value);

#endif
