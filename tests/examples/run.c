#include "tests/examples/run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

NumDot run_dot(const Run *run, Dtype factor) {
    bool half = factor == DTYPE_F16 || dtype_is(factor, DTYPE_CLASS_FP8);
    double least = half ? ldexp(1, -14) : factor == DTYPE_BF16 ? ldexp(1, -126) : 0;
    bool cut = run->short_sums && dtype_is(factor, DTYPE_CLASS_FP8);
    return (NumDot){.least = run->flushes_halves ? least : 0, .unit = cut ? ldexp(1, -13) : 0};
}

void run_type(Run *run, const char *name, Dtype type) {
    assert(run->spec_count < RUN_MAX_SPECS);
    run->specs[run->spec_count++] = (Spec){.name = name, .is_type = true, .type = type};
}

void run_const(Run *run, const char *name, int64_t value) {
    assert(run->spec_count < RUN_MAX_SPECS);
    run->specs[run->spec_count++] = (Spec){.name = name, .value = value};
}

static void add_arg(Run *run, Arg arg) {
    assert(run->arg_count < RUN_MAX_ARGS);
    run->args[run->arg_count++] = arg;
}

void run_int(Run *run, int64_t value) { add_arg(run, (Arg){.kind = ARG_INT, .integer = value}); }

void run_real(Run *run, double value) { add_arg(run, (Arg){.kind = ARG_REAL, .real = value}); }

double run_scalar(Dtype type, double value) {
    return dtype_to_double(type, dtype_from_double(type, value, true));
}

// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
uint64_t run_random(Run *run) {
    uint64_t z = run->seed += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int64_t run_below(Run *run, int64_t low, int64_t high) {
    return low + (int64_t)(run_random(run) % (uint64_t)(high - low));
}

static double random_real(Run *run, double low, double high) {
    return low + (high - low) * ldexp((double)(run_random(run) >> 11), -53);
}

static void fill_element(Run *run, Array *a, int64_t i, Fill fill) {
    switch (fill) {
    case FILL_EXPONENT: {
        bool far = run->wild && run_below(run, 0, 16) == 0;
        put(a, i, random_real(run, -2, 2) * (far ? 200 : 1));
        break;
    }
    case FILL_FACTOR:
    case FILL_REAL: put(a, i, random_real(run, -2, 2)); break;
    case FILL_POSITIVE: put(a, i, random_real(run, 0.25, 2)); break;
    case FILL_ZERO: put(a, i, 0); break;
    case FILL_INT:
        dtype_store(a->type, a->data, (uint64_t)i,
                    run_random(run) & (a->type >= DTYPE_I4 ? 15 : ~UINT64_C(0)));
        break;
    case FILL_CANARY: break;
    }
}

static Array *new_array(Run *run, const char *name, Dtype type, int rank, const int64_t *extent) {
    assert(run->array_count < RUN_MAX_ARGS && rank <= RUN_MAX_RANK);
    Array *a = &run->arrays[run->array_count++];
    *a = (Array){.name = name, .type = type, .rank = rank, .count = 1};
    for (int d = rank - 1; d >= 0; d--) {
        a->extent[d] = extent[d];
        a->stride[d] = a->count;
        a->count *= extent[d];
    }
    size_t size = dtype_storage(type, (uint64_t)a->count);
    a->data = malloc(size ? size : 1);
    a->before = malloc(size ? size : 1);
    assert(a->data && a->before);
    memset(a->data, 0xa5, size);
    add_arg(run, (Arg){.kind = ARG_ARRAY, .array = a});
    return a;
}

Array *run_input(Run *run, const char *name, Dtype type, Fill fill, int rank,
                 const int64_t *extent) {
    Array *a = new_array(run, name, type, rank, extent);
    for (int64_t i = 0; i < a->count; i++) fill_element(run, a, i, fill);
    int64_t row = extent[rank - 1];
    for (int64_t i = 0; run->wild && fill == FILL_FACTOR && i < a->count; i += row) {
        int64_t way = run_below(run, 0, 8);
        if (way < 4) put(a, way < 2 ? i : i + run_below(run, 0, row), NAN);
    }
    return a;
}

void run_updates(Array *a) {
    a->wanted = malloc((size_t)(a->count ? a->count : 1) * sizeof *a->wanted);
    assert(a->wanted);
    for (int64_t i = 0; i < a->count; i++) a->wanted[i] = (Num){0, -1};
}

Array *run_output(Run *run, const char *name, Dtype type, int rank, const int64_t *extent) {
    Array *a = new_array(run, name, type, rank, extent);
    run_updates(a);
    return a;
}

void run_column_major(Array *a) {
    int64_t stride = 1;
    for (int d = 0; d < a->rank; d++) {
        a->stride[d] = stride;
        stride *= a->extent[d];
    }
}

void run_as_pointers(Run *run) {
    for (int i = 0; i < run->arg_count; i++)
        if (run->args[i].kind == ARG_ARRAY) run->args[i].kind = ARG_POINTER;
}

void run_free(Run *run) {
    for (int i = 0; i < run->array_count; i++) {
        free(run->arrays[i].data);
        free(run->arrays[i].before);
        free(run->arrays[i].wanted);
        free(run->arrays[i].others);
    }
    run->array_count = 0;
}

int64_t at2(const Array *a, int64_t i, int64_t j) {
    assert(i >= 0 && i < a->extent[0] && j >= 0 && j < a->extent[1]);
    return i * a->stride[0] + j * a->stride[1];
}

int64_t at3(const Array *a, int64_t i, int64_t j, int64_t k) {
    assert(k >= 0 && k < a->extent[2]);
    return at2(a, i, j) + k * a->stride[2];
}

int64_t at4(const Array *a, int64_t i, int64_t j, int64_t k, int64_t l) {
    assert(l >= 0 && l < a->extent[3]);
    return at3(a, i, j, k) + l * a->stride[3];
}

static double decode(Dtype type, const uint8_t *data, int64_t place) {
    uint64_t bits = dtype_load(type, data, (uint64_t)place);
    if (dtype_is(type, DTYPE_CLASS_ANYFLOAT)) return dtype_to_double(type, bits);
    return dtype_signed(type) ? (double)dtype_to_i64(type, bits) : (double)bits;
}

double get(const Array *a, int64_t place) {
    assert(place >= 0 && place < a->count);
    return decode(a->type, a->data, place);
}

void put(Array *a, int64_t place, double value) {
    assert(place >= 0 && place < a->count);
    uint64_t bits = dtype_is(a->type, DTYPE_CLASS_ANYFLOAT)
                        ? dtype_from_double(a->type, value, true)
                        : dtype_wrap(a->type, (uint64_t)(int64_t)value);
    dtype_store(a->type, a->data, (uint64_t)place, bits);
}

Num num_at(const Array *a, int64_t place) { return num_exact(get(a, place)); }

void want(Array *a, int64_t place, Num value) {
    assert(a->wanted && place >= 0 && place < a->count && value.e >= 0);
    a->wanted[place] = value;
}

void want_exact(Array *a, int64_t place, double value) { want(a, place, num_exact(value)); }

void want_any(Array *a, int64_t place, const Num *values, int count) {
    assert(count > 0 && count <= 1 + RUN_MAX_OTHERS);
    int64_t all = a->count * RUN_MAX_OTHERS;
    if (!a->others) {
        a->others = malloc((size_t)all * sizeof *a->others);
        assert(a->others);
        for (int64_t i = 0; i < all; i++) a->others[i] = (Num){0, -1};
    }
    want(a, place, values[0]);
    for (int i = 1; i < count; i++) a->others[place * RUN_MAX_OTHERS + i - 1] = values[i];
}

void run_before(Run *run) {
    for (int i = 0; i < run->array_count; i++) {
        Array *a = &run->arrays[i];
        memcpy(a->before, a->data, dtype_storage(a->type, (uint64_t)a->count));
    }
}

// docs/numerics.md §6
static bool accepted(double x, Num wanted) {
    if (isinf(wanted.e)) return true;
    if (isnan(wanted.v)) return isnan(x);
    if (isinf(wanted.v)) return x == wanted.v;
    return isfinite(x) && fabs(x - wanted.v) <= wanted.e;
}

static bool accepted_any(const Array *a, int64_t i, Num wanted) {
    double x = get(a, i);
    bool right = accepted(x, wanted);
    for (int n = 0; a->others && n < RUN_MAX_OTHERS && !right; n++) {
        Num other = a->others[i * RUN_MAX_OTHERS + n];
        right = other.e >= 0 && accepted(x, other);
    }
    return right;
}

static bool kept(const Array *a, int64_t i) {
    return dtype_load(a->type, a->data, (uint64_t)i) == dtype_load(a->type, a->before, (uint64_t)i);
}

const char *run_compare(const Run *run, char *text, size_t size) {
    int64_t undecided = 0;
    for (int n = 0; n < run->array_count; n++) {
        const Array *a = &run->arrays[n];
        for (int64_t i = 0; i < a->count; i++) {
            if (!a->wanted || a->wanted[i].e < 0) {
                if (kept(a, i)) continue;
                snprintf(text, size, "%s, element %lld of %lld: was written, should not be: %.9g",
                         a->name, (long long)i, (long long)a->count, get(a, i));
                return text;
            }
            Num wanted = a->wanted[i];
            if (run->wild && isnan(wanted.v)) wanted.e = 0;
            undecided += isinf(wanted.e);
            if (accepted_any(a, i, wanted)) continue;
            snprintf(text, size,
                     "%s, element %lld of %lld: %.9g, expected %.9g within %.3g (%.3g times it)",
                     a->name, (long long)i, (long long)a->count, get(a, i), a->wanted[i].v,
                     a->wanted[i].e, fabs(get(a, i) - a->wanted[i].v) / a->wanted[i].e);
            return text;
        }
    }
    if (undecided <= run->undecided) return NULL;
    snprintf(text, size, "%lld elements have no bound, %lld may", (long long)undecided,
             (long long)run->undecided);
    return text;
}
