// Views from every offset: reads outside give the pad, writes outside change nothing, guards around
// the buffer included. Offsets run from two widths before to two after, and around the powers of
// two and limits where 64-bit arithmetic could go wrong. TILEC_TEST_WHOLE runs all combinations,
// otherwise those of rank 2 and 3 are thinned by hash.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/matrix/views.h"
#include "tests/support/slice.h"

// There are a hundred thousand programs here, most of them much alike.
enum { COMPILED_SLICE = 283 };

typedef enum Way { READ, READ_PAD, WRITE, WRITE_MASKED, ADD, CAS, INSIDE, WAYS } Way;

typedef struct Sweep {
    Matrix *m;
    Dtype elem;
    uint32_t rank;
    const int64_t *extent;
    const uint32_t *width;
    const char *kinds;  // by dimension: p part-select, s index, t tile of indices, c column, r row
    bool strided;
    uint64_t thin;  // one of this many combinations runs
    uint64_t count, ran;
} Sweep;

static bool whole_wanted(void) {
    const char *whole = getenv("TILEC_TEST_WHOLE");
    return whole && *whole && *whole != '0';
}

// ---- offsets ------------------------------------------------------------------------------------

static const int64_t limits[] = {
    -(INT64_C(1) << 40), INT64_C(1) << 40, -(INT64_C(1) << 32), INT64_C(1) << 32,
    -(INT64_C(1) << 31), INT64_C(1) << 31, -(INT64_C(1) << 62), INT64_C(1) << 62,
    INT64_MIN,           INT64_MAX,
};
enum { LIMITS = sizeof limits / sizeof *limits, STEPS = 3 };

static int64_t near_count(const Sweep *s, uint32_t d) {
    return s->extent[d] + 4 * (int64_t)s->width[d] + 1;
}

// The offset of a number in a dimension: first the near ones, then a limit and its neighbours.
static int64_t offset_of(const Sweep *s, uint32_t d, int64_t number) {
    int64_t near = near_count(s, d), width = (int64_t)s->width[d];
    if (number < near) return number - 2 * width;
    static const int64_t steps[STEPS] = {0, 1, -1};
    int64_t far = number - near;
    return (int64_t)((uint64_t)limits[far / STEPS] + (uint64_t)(steps[far % STEPS] * width));
}

static ViewIndex index_at(const Sweep *s, uint32_t d, int64_t offset) {
    uint32_t width = s->width[d];
    const uint32_t plain[] = {width}, column[] = {width, 1}, row[] = {1, width};
    ViewIndex index = {.tile = true, .type = DTYPE_I64};
    switch (s->kinds[d]) {
    case 'p': return view_part(width, offset);
    case 's': return view_scalar(DTYPE_I64, offset);
    case 't': index.values = tile_make(s->m, DTYPE_I64, 1, plain); break;
    case 'c': index.values = tile_make(s->m, DTYPE_I64, 2, column); break;
    default: index.values = tile_make(s->m, DTYPE_I64, 2, row); break;
    }
    for (uint32_t i = 0; i < index.values.count; i++) index.values.bits[i] = (uint64_t)offset + i;
    return index;
}

// ---- one access ---------------------------------------------------------------------------------

static bool packed(Dtype t) { return dtype_is(t, DTYPE_CLASS_PACKED); }

// Language rule 19 and what atomics work on.
static bool allowed(const Sweep *s, Way way) {
    if (!packed(s->elem)) return way != ADD || s->elem != DTYPE_BOOL;
    if (way == ADD || way == CAS || way == WRITE_MASKED) return false;
    if (way != WRITE) return true;
    for (uint32_t d = 0; d < s->rank; d++)
        if (s->kinds[d] != 'p' && s->kinds[d] != 's') return false;
    return s->kinds[s->rank - 1] == 'p' && s->width[s->rank - 1] > 1;
}

static void access_views(Sweep *s, const ViewCell *v, Way way, const char *name) {
    switch (way) {
    case READ:
    case READ_PAD: view_read(s->m, name, v, way == READ_PAD); break;
    case WRITE:
    case WRITE_MASKED: view_write(s->m, name, v, way == WRITE_MASKED); break;
    case ADD: view_rmw(s->m, name, v, IR_RMW_ADD, IR_ORDER_RELAXED, IR_SCOPE_DEVICE, false); break;
    case CAS: view_cas(s->m, name, v, IR_ORDER_ACQ_REL, IR_SCOPE_SYSTEM, false); break;
    case INSIDE: view_inside(s->m, name, v); break;
    case WAYS: break;
    }
}

static void run_at(Sweep *s, const int64_t *offset, Way way) {
    char name[NAME_SIZE];
    uint64_t hash = ++s->count * UINT64_C(0x9e3779b97f4a7c15);
    if (s->thin > 1 && !slice_has(hash >> 32, s->thin)) return;
    s->ran++;
    arena_reset(s->m->arena, s->m->start);
    s->m->random = hash | 1;
    ViewCell v = {.elem = s->elem, .rank = s->rank, .inside_marked = s->count % 2 != 0};
    for (uint32_t d = 0; d < s->rank; d++) v.extent[d] = s->extent[d];
    view_strides(&v, s->strided);
    for (uint32_t d = 0; d < s->rank; d++) v.index[d] = index_at(s, d, offset[d]);
    snprintf(name, sizeof name, "%s %s way %d strided %d at %lld %lld %lld of %lld",
             dtype_name(s->elem), s->kinds, (int)way, s->strided, (long long)offset[0],
             s->rank > 1 ? (long long)offset[1] : 0, s->rank > 2 ? (long long)offset[2] : 0,
             (long long)s->extent[0]);
    access_views(s, &v, way, name);
}

static void sweep_dimension(Sweep *s, uint32_t d, int64_t *offset) {
    if (d == s->rank) {
        for (int way = 0; way < WAYS; way++)
            if (allowed(s, (Way)way)) run_at(s, offset, (Way)way);
        return;
    }
    bool even = packed(s->elem) && d + 1 == s->rank && s->kinds[d] == 'p';
    for (int64_t n = 0; n < near_count(s, d) + LIMITS * STEPS; n++) {
        offset[d] = offset_of(s, d, n);
        if (!even || offset[d] % 2 == 0) sweep_dimension(s, d + 1, offset);
    }
}

static void finish(Matrix *m, uint64_t ran) {
    uint64_t failures = m->failures;
    print_message("views: %llu accesses\n", (unsigned long long)ran);
    if (failures) print_error("%s", m->failed.text);
    matrix_destroy(m);
    assert_int_equal(failures, 0);
}

static uint64_t sweep(Sweep *s) {
    int64_t offset[VIEW_RANK];
    sweep_dimension(s, 0, offset);
    return s->ran;
}

// ---- by rank ------------------------------------------------------------------------------------

static void rank_one_from_every_offset(void **state) {
    (void)state;
    static const Dtype few[] = {DTYPE_U8, DTYPE_F32, DTYPE_BOOL, DTYPE_F64, DTYPE_I4, DTYPE_U4};
    Matrix *m = matrix_create(true);
    m->compiled_slice = COMPILED_SLICE;
    uint64_t ran = 0;
    for (int t = 0; t < DTYPES; t++) {
        bool chosen = whole_wanted();
        for (size_t i = 0; i < sizeof few / sizeof *few; i++) chosen = chosen || few[i] == (Dtype)t;
        for (int e = 0; e < 3 && chosen; e++)
            for (uint32_t width = 1; width <= 16; width *= 2)
                for (int kind = 0; kind < 6; kind++) {
                    static const char *const kinds[] = {"p", "s", "t"};
                    static const int64_t extents[] = {0, 1, 7}, even[] = {0, 2, 8};
                    const int64_t *extent = packed((Dtype)t) ? &even[e] : &extents[e];
                    Sweep s = {
                        .m = m, .elem = (Dtype)t, .rank = 1, .extent = extent, .width = &width};
                    s.kinds = kinds[kind % 3];
                    s.strided = kind >= 3;
                    s.thin = whole_wanted() ? 1 : kind % 3 == 0 ? 13 : 53;
                    ran += sweep(&s);
                }
    }
    finish(m, ran);
}

static void sweep_all(uint32_t rank, const int64_t *extent, const uint32_t *width,
                      const char *const *kinds, size_t kind_count, uint64_t thin) {
    static const Dtype types[] = {DTYPE_I16, DTYPE_U8, DTYPE_I4};
    Matrix *m = matrix_create(true);
    m->compiled_slice = COMPILED_SLICE;
    uint64_t ran = 0;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t k = 0; k < 2 * kind_count; k++) {
            Sweep s = {.m = m, .elem = types[t], .rank = rank, .extent = extent, .width = width};
            s.kinds = kinds[k / 2];
            s.strided = k % 2 != 0;
            s.thin = thin;
            ran += sweep(&s);
        }
    finish(m, ran);
}

static void rank_two_from_every_offset(void **state) {
    (void)state;
    static const int64_t extent[] = {7, 6};
    static const uint32_t width[] = {4, 2};
    static const char *const kinds[] = {"pp", "sp", "ps", "ss", "tp", "pt", "cr", "rc"};
    sweep_all(2, extent, width, kinds, 8, whole_wanted() ? 1 : 109);
}

static void rank_three_from_every_offset(void **state) {
    (void)state;
    static const int64_t extent[] = {5, 3, 4};
    static const uint32_t width[] = {4, 2, 2};
    static const char *const kinds[] = {"ppp", "spp", "psp", "pps", "cpr", "ptp", "sss"};
    sweep_all(3, extent, width, kinds, 7, whole_wanted() ? 61 : 6007);
}

// The guards are looked at: an extent that is too large makes every device write past the end.
static void a_write_outside_is_noticed(void **state) {
    (void)state;
    Matrix *m = matrix_create(true);
    Program p = {0};
    uint8_t *memory = buffer_add(m, &p, DTYPE_U8, 8);
    memory[8] = 0;
    p.buffers[0].expected[64 + 8] = 0;
    p.args[p.arg_count++] = (IrArg){.data = memory, .extent = {9}, .stride = {1}};
    p.text =
        "kernel @cell(%v: view u8[9]) { body {\n%0 = const {value = 8} : i64\n"
        "%1 = const {value = 77} : u8\nview_store %v, %1, _, %0 {select = [0]}\nreturn\n} }\n";
    matrix_program(m, "control", &p);
    uint64_t runs = 0;
    for (uint32_t d = 0; d < matrix_device_count; d++) runs += m->runs[d];
    assert_true(runs >= 2);
    assert_int_equal(m->failures, runs);
    matrix_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_outside_is_noticed),
        cmocka_unit_test(rank_one_from_every_offset),
        cmocka_unit_test(rank_two_from_every_offset),
        cmocka_unit_test(rank_three_from_every_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
