#include "tests/examples/examples.h"

#define EXAMPLE_TYPE(t) DTYPE_##t
#define TYPES_1(a) {DTYPE_##a}, 1
#define TYPES_2(a, b) {DTYPE_##a, DTYPE_##b}, 2
#define TYPES_3(a, b, c) {DTYPE_##a, DTYPE_##b, DTYPE_##c}, 3
#define TYPES_4(a, b, c, d) {DTYPE_##a, DTYPE_##b, DTYPE_##c, DTYPE_##d}, 4
#define TYPES_PICK(a, b, c, d, name, ...) name
#define TYPES(...) TYPES_PICK(__VA_ARGS__, TYPES_4, TYPES_3, TYPES_2, TYPES_1, )(__VA_ARGS__)

#define EXAMPLE(file, kernel, dims, work, ...) \
    {"examples/" #file ".tile", #kernel, make_##kernel, dims, work, TYPES(__VA_ARGS__)},
const Example example_table[] = {
#include "tests/examples/examples.def"
};
#undef EXAMPLE

const size_t example_count = sizeof example_table / sizeof example_table[0];

int64_t next_power(int64_t n, int64_t least) {
    int64_t power = least;
    while (power < n) power *= 2;
    return power;
}

void tile(Run *run, const Shape *shape, const char *name, int64_t value) {
    if (!shape->own_tiles) run_const(run, name, value);
}
