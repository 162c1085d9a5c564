#include "runtime/launch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "runtime/launch_maps.h"

// The data shared by the checks of one launch.
typedef struct LaunchCheck {
    tilec_context *context;
    tilec_device *device;
    const MetaKernel *meta;
    const tilec_arg *args;
    LaunchPlan *plan;
    bool nones;  // arguments of None are left out: the code has no parameter for them
} LaunchCheck;

#define REFUSE(c, ...) rt_fail((c)->context, TILEC_LAUNCH_REFUSED, __VA_ARGS__)
#define WHERE(c, arg) STR_ARG((c)->meta->name), STR_ARG((arg)->name)

const char *launch_kind_text(tilec_arg_kind kind) {
    switch (kind) {
    case TILEC_ARG_VIEW: return "a view";
    case TILEC_ARG_POINTER: return "a pointer";
    case TILEC_ARG_INT:
    case TILEC_ARG_UINT: return "an integer";
    case TILEC_ARG_DOUBLE: return "a floating-point number";
    case TILEC_ARG_NONE: return "None";
    }
    return "an unknown kind";
}

static tilec_status wrong_kind(const LaunchCheck *c, const MetaArg *arg, const tilec_arg *from) {
    static const char *const expected[] = {"a number of type", "a pointer to", "a view of"};
    return REFUSE(c, "%.*s: argument '%.*s' expects %s %s, found %s", WHERE(c, arg),
                  expected[arg->kind], dtype_name(arg->dtype), launch_kind_text(from->kind));
}

// Does the integer `value` (magnitude and sign) fit the type?
static bool integer_fits(Dtype t, const RtNumber *from) {
    bool negative = from->kind == TILEC_ARG_INT && from->integer < 0;
    if (negative) return dtype_signed(t) && from->integer >= dtype_int_min(t);
    uint64_t value = from->kind == TILEC_ARG_INT ? (uint64_t)from->integer : from->natural;
    return value <= (t == DTYPE_BOOL ? 1 : dtype_int_max(t));
}

bool launch_scalar(const MetaArg *arg, const RtNumber *from, uint64_t *bits) {
    bool is_float = dtype_is(arg->dtype, DTYPE_CLASS_ANYFLOAT);
    switch (from->kind) {
    case TILEC_ARG_INT:
        if (!is_float && !integer_fits(arg->dtype, from)) return false;
        *bits = is_float ? dtype_cast(arg->dtype, DTYPE_I64, (uint64_t)from->integer, true)
                         : dtype_wrap(arg->dtype, (uint64_t)from->integer);
        return true;
    case TILEC_ARG_UINT:
        if (!is_float && !integer_fits(arg->dtype, from)) return false;
        *bits = is_float ? dtype_cast(arg->dtype, DTYPE_U64, from->natural, true)
                         : dtype_wrap(arg->dtype, from->natural);
        return true;
    case TILEC_ARG_DOUBLE:
        if (is_float) *bits = dtype_from_double(arg->dtype, from->real, true);
        return is_float;
    case TILEC_ARG_VIEW:
    case TILEC_ARG_POINTER:
    case TILEC_ARG_NONE: break;
    }
    return false;
}

static tilec_status scalar(const LaunchCheck *c, const MetaArg *arg, const tilec_arg *from,
                           uint64_t *bits) {
    RtNumber number = rt_number_of_arg(from);
    if (launch_scalar(arg, &number, bits)) return TILEC_OK;
    if (from->kind == TILEC_ARG_UINT)
        return REFUSE(c, "%.*s: argument '%.*s' is %s; %llu does not fit", WHERE(c, arg),
                      dtype_name(arg->dtype), (unsigned long long)from->natural);
    if (from->kind == TILEC_ARG_INT)
        return REFUSE(c, "%.*s: argument '%.*s' is %s; %lld does not fit", WHERE(c, arg),
                      dtype_name(arg->dtype), (long long)from->integer);
    return wrong_kind(c, arg, from);
}

static tilec_status find_memory(const LaunchCheck *c, const MetaArg *arg, tilec_buffer buffer,
                                RtRange *range) {
    RtBuffer b;
    if (!rt_buffer_find(c->context, buffer, &b))
        return REFUSE(c, "%.*s: argument '%.*s' names a buffer that does not exist (any more)",
                      WHERE(c, arg));
    RtDeviceText texts[2];
    if (b.device != c->device)
        return REFUSE(c, "%.*s: argument '%.*s' is a buffer of device %s, the kernel runs on %s",
                      WHERE(c, arg), rt_device_label(b.device, c->device, &texts[0]),
                      rt_device_label(c->device, b.device, &texts[1]));
    *range = (RtRange){b.address, b.size};
    return TILEC_OK;
}

static tilec_status pointer(const LaunchCheck *c, const MetaArg *arg, const tilec_arg *from,
                            uint32_t i) {
    LaunchInput *in = &c->plan->inputs[i];
    RtRange *range = &c->plan->ranges[i];
    if (from->kind != TILEC_ARG_POINTER) return wrong_kind(c, arg, from);
    in->address = (uint64_t)(uintptr_t)from->pointer;
    if (from->buffer.handle && from->pointer)
        return REFUSE(c, "%.*s: argument '%.*s' has both a buffer and a pointer; leave one out",
                      WHERE(c, arg));
    if (from->buffer.handle) {
        tilec_status s = find_memory(c, arg, from->buffer, range);
        if (s) return s;
        if (from->offset > range->size)
            return REFUSE(c, "%.*s: argument '%.*s' begins at byte %zu of a buffer of %llu",
                          WHERE(c, arg), from->offset, (unsigned long long)range->size);
        in->address = (uint64_t)(uintptr_t)range->base + from->offset;
    }
    uint64_t align = dtype_size(arg->dtype);
    if (in->address % align)
        return REFUSE(c, "%.*s: argument '%.*s' is not aligned to the %llu bytes of %s",
                      WHERE(c, arg), (unsigned long long)align, dtype_name(arg->dtype));
    in->first = range->size ? (uint64_t)(uintptr_t)range->base : in->address;
    in->last = in->first + range->size;
    return TILEC_OK;
}

static unsigned element_bits(Dtype t) { return dtype_bits(t); }

bool launch_view_reach(const tilec_view *view, int64_t *first, int64_t *last) {
    int64_t low = 0, high = 0;
    *first = *last = 0;
    for (int32_t d = 0; d < view->rank; d++) {
        if (view->extent[d] == 0) return true;
    }
    for (int32_t d = 0; d < view->rank; d++) {
        int64_t reach;
        if (__builtin_mul_overflow(view->extent[d] - 1, view->stride[d], &reach)) return false;
        if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high))
            return false;
    }
    int64_t bits = (int64_t)element_bits((Dtype)view->dtype);
    if (__builtin_mul_overflow(low, bits, &low) || __builtin_add_overflow(high, 1, &high) ||
        __builtin_mul_overflow(high, bits, &high))
        return false;
    *first = -((-low + 7) / 8);
    *last = high / 8 + (high % 8 != 0);
    return true;
}

// The checks of all views, also of those that are passed for a pointer.
static tilec_status view_basics(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v) {
    if ((int)v->dtype != (int)arg->dtype)
        return REFUSE(c, "%.*s: argument '%.*s' expects elements of %s, found %s", WHERE(c, arg),
                      dtype_name(arg->dtype),
                      tilec_dtype_name(v->dtype) ? tilec_dtype_name(v->dtype) : "no type");
    if (v->flags & ~(uint32_t)TILEC_VIEW_READ_ONLY)
        return rt_fail(c->context, TILEC_INVALID_ARGUMENT,
                       "%.*s: the view of argument '%.*s' has unknown flags (0x%x)", WHERE(c, arg),
                       v->flags);
    if (arg->written && v->flags & TILEC_VIEW_READ_ONLY)
        return REFUSE(c, "%.*s: argument '%.*s' is written, and the view is read-only",
                      WHERE(c, arg));
    if (v->rank == -1)
        return REFUSE(
            c,
            "%.*s: argument '%.*s' has no extents (tilec_view_of was given NULL for them, "
            "or the view's rank is -1)",
            WHERE(c, arg));
    return TILEC_OK;
}

static tilec_status refuse_extent(const LaunchCheck *c, const MetaArg *arg, int32_t d,
                                  int64_t extent) {
    return REFUSE(c, "%.*s: extent %d of argument '%.*s' is %s (%lld)", STR_ARG(c->meta->name), d,
                  STR_ARG(arg->name), extent < 0 ? "negative" : "over 2^56", (long long)extent);
}

static tilec_status view_extent(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v,
                                int32_t d) {
    bool fits = (uint64_t)v->extent[d] <= LIMIT_EXTENT;
    return fits ? TILEC_OK : refuse_extent(c, arg, d, v->extent[d]);
}

static tilec_status view_shape(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v) {
    tilec_status s = view_basics(c, arg, v);
    if (s) return s;
    if (v->rank != (int32_t)arg->rank)
        return REFUSE(c, "%.*s: argument '%.*s' expects rank %u, found rank %d", WHERE(c, arg),
                      arg->rank, v->rank);
    int64_t contiguous = 1;
    bool empty = false;  // without elements strides do not matter
    for (int32_t d = 0; d < v->rank; d++) empty = empty || v->extent[d] == 0;
    for (int32_t d = v->rank; d-- > 0;) {
        s = view_extent(c, arg, v, d);
        if (s) return s;
        if (!arg->strided && !empty && v->extent[d] > 1 && v->stride[d] != contiguous)
            return REFUSE(
                c,
                "%.*s: argument '%.*s' must be contiguous in row-major order: stride %d is %lld, "
                "expected %lld; declare it 'strided' to pass it as it is",
                WHERE(c, arg), d, (long long)v->stride[d], (long long)contiguous);
        if (arg->strided && arg->written && !empty && v->stride[d] == 0 && v->extent[d] > 1)
            return REFUSE(c, "%.*s: argument '%.*s' is written, so its stride %d must not be 0",
                          WHERE(c, arg), d);
        if (__builtin_mul_overflow(contiguous, v->extent[d] ? v->extent[d] : 1, &contiguous))
            return REFUSE(c, "%.*s: argument '%.*s' has more than 2^63 elements", WHERE(c, arg));
    }
    return TILEC_OK;
}

// Packed types: rows must begin at whole bytes.
static tilec_status view_packed(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v) {
    if (element_bits(arg->dtype) >= 8) return TILEC_OK;
    for (int32_t d = 0; d < v->rank; d++)
        if (v->extent[d] == 0) return TILEC_OK;  // no elements, so no half bytes
    if (v->extent[v->rank - 1] % 2)
        return REFUSE(c,
                      "%.*s: the innermost extent of argument '%.*s' (%s) must be even, found %lld",
                      WHERE(c, arg), dtype_name(arg->dtype), (long long)v->extent[v->rank - 1]);
    bool odd = v->offset % 2 != 0 || (v->extent[v->rank - 1] > 1 && v->stride[v->rank - 1] != 1);
    for (int32_t d = 0; d + 1 < v->rank; d++) odd = odd || v->stride[d] % 2 != 0;
    if (odd)
        return REFUSE(
            c, "%.*s: argument '%.*s' (%s) needs an even offset and even strides, 1 innermost",
            WHERE(c, arg), dtype_name(arg->dtype));
    return TILEC_OK;
}

static tilec_status view_memory(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v,
                                uint32_t i) {
    LaunchInput *in = &c->plan->inputs[i];
    RtRange *range = &c->plan->ranges[i];
    int64_t first, last, offset;
    if (!launch_view_reach(v, &first, &last) ||
        __builtin_mul_overflow(v->offset, (int64_t)element_bits(arg->dtype), &offset))
        return REFUSE(c, "%.*s: argument '%.*s' reaches over more than 2^63 bytes", WHERE(c, arg));
    offset /= 8;
    void *base = v->data;
    if (v->buffer.handle && base)
        return REFUSE(c, "%.*s: argument '%.*s' has both a buffer and a pointer; leave one out",
                      WHERE(c, arg));
    if (v->buffer.handle) {
        tilec_status s = find_memory(c, arg, v->buffer, range);
        if (s) return s;
        base = range->base;
        int64_t low, high;
        if (__builtin_add_overflow(offset, first, &low) ||
            __builtin_add_overflow(offset, last, &high) || low < 0 ||
            (first != last && (uint64_t)high > range->size))
            return REFUSE(c, "%.*s: argument '%.*s' reaches bytes %lld to %lld of a buffer of %llu",
                          WHERE(c, arg), (long long)(offset + first), (long long)(offset + last),
                          (unsigned long long)range->size);
    } else if (!base && first != last) {
        return REFUSE(c, "%.*s: argument '%.*s' has no memory (a NULL pointer and no buffer)",
                      WHERE(c, arg));
    }
    in->address = (uint64_t)(uintptr_t)base + (uint64_t)offset;
    in->first = in->address + (uint64_t)first;
    in->last = in->address + (uint64_t)last;
    if (first != last && in->address % dtype_size(arg->dtype))
        return REFUSE(c, "%.*s: argument '%.*s' is not aligned to the %zu bytes of %s",
                      WHERE(c, arg), dtype_size(arg->dtype), dtype_name(arg->dtype));
    if (!range->base) *range = (RtRange){(void *)(uintptr_t)in->first, in->last - in->first};
    memcpy(in->extent, v->extent, sizeof in->extent);
    memcpy(in->stride, v->stride, sizeof in->stride);
    return TILEC_OK;
}

static tilec_status view(const LaunchCheck *c, const MetaArg *arg, const tilec_arg *from,
                         uint32_t i) {
    if (from->kind != TILEC_ARG_VIEW) return wrong_kind(c, arg, from);
    tilec_status s = view_shape(c, arg, &from->view);
    if (!s) s = view_packed(c, arg, &from->view);
    return s ? s : view_memory(c, arg, &from->view, i);
}

// A view for a pointer, with any strides: the pointer reaches the bytes that the view covers.
static tilec_status pointer_view(const LaunchCheck *c, const MetaArg *arg, const tilec_view *v,
                                 uint32_t i) {
    const LaunchInput *in = &c->plan->inputs[i];
    tilec_status s = view_basics(c, arg, v);
    if (!s && (v->rank < 0 || v->rank > META_MAX_RANK))
        s = REFUSE(c, "%.*s: argument '%.*s' is a view of rank %d; ranks are 0 to %d",
                   WHERE(c, arg), v->rank, META_MAX_RANK);
    for (int32_t d = 0; !s && d < v->rank; d++) s = view_extent(c, arg, v, d);
    if (!s) s = view_memory(c, arg, v, i);
    if (!s) c->plan->ranges[i] = (RtRange){(void *)(uintptr_t)in->first, in->last - in->first};
    return s;
}

static tilec_status arguments(const LaunchCheck *c) {
    const tilec_arg *from = c->args;
    for (uint32_t i = 0; i < c->meta->arg_count; i++, from++) {
        const MetaArg *arg = &c->meta->args[i];
        while (c->nones && from->kind == TILEC_ARG_NONE) from++;
        c->plan->inputs[i] = (LaunchInput){0};
        c->plan->ranges[i] = (RtRange){0};
        tilec_status s = TILEC_OK;
        switch (arg->kind) {
        case META_SCALAR: s = scalar(c, arg, from, &c->plan->inputs[i].scalar); break;
        case META_POINTER:
            s = from->kind == TILEC_ARG_VIEW ? pointer_view(c, arg, &from->view, i)
                                             : pointer(c, arg, from, i);
            break;
        case META_VIEW: s = view(c, arg, from, i); break;
        }
        if (s) return s;
    }
    return TILEC_OK;
}

// Checks fixed extents, and named ones against their first use.
static tilec_status extents(const LaunchCheck *c) {
    enum { NONE = INT16_MAX };
    int16_t first[LAUNCH_MAX_ARGS * META_MAX_RANK];  // argument * META_MAX_RANK + dimension
    for (uint32_t e = 0; e < c->meta->extent_count; e++) first[e] = NONE;
    for (uint32_t i = 0; i < c->meta->arg_count; i++) {
        const MetaArg *arg = &c->meta->args[i];
        for (uint32_t d = 0; arg->kind == META_VIEW && d < arg->rank; d++) {
            int64_t found = c->plan->inputs[i].extent[d];
            int32_t e = arg->dims[d].extent;
            if (e < 0) {
                if (found != arg->dims[d].value)
                    return REFUSE(c, "%.*s: extent %u of argument '%.*s' must be %lld, found %lld",
                                  STR_ARG(c->meta->name), d, STR_ARG(arg->name),
                                  (long long)arg->dims[d].value, (long long)found);
                continue;
            }
            if (first[e] == NONE) first[e] = (int16_t)(i * META_MAX_RANK + d);
            int other = first[e] / META_MAX_RANK;
            int64_t before = c->plan->inputs[other].extent[first[e] % META_MAX_RANK];
            if (before != found && other == (int)i)
                return REFUSE(c,
                              "%.*s: extent %.*s is %lld in dimension %d of argument '%.*s' and "
                              "%lld in dimension %u",
                              STR_ARG(c->meta->name), STR_ARG(c->meta->extents[e]),
                              (long long)before, first[e] % META_MAX_RANK, STR_ARG(arg->name),
                              (long long)found, d);
            if (before != found)
                return REFUSE(c, "%.*s: extent %.*s is %lld in argument '%.*s' and %lld in '%.*s'",
                              STR_ARG(c->meta->name), STR_ARG(c->meta->extents[e]),
                              (long long)before, STR_ARG(c->meta->args[other].name),
                              (long long)found, STR_ARG(arg->name));
        }
    }
    return TILEC_OK;
}

static bool is_offered(const LaunchCheck *c, const MetaVariant *v) {
    return !(v->facts & FACT_MAPPED) || launch_has_maps(c->device);
}

// A variant that fits the host's grid, if that is given.
static bool takes_grid(const MetaVariant *v, const int64_t *grid) {
    if (!grid) return true;
    if (v->facts & FACT_PERSISTENT) return false;
    for (int d = 0; d < 3; d++)
        if (v->facts & FACT_NARROW && grid[d] > LIMIT_NARROW_GRID) return false;
    return true;
}

// Chooses the last variant whose guard holds, else 0; also returns the values of its launch code.
// `grid`: the host's, or NULL.
static uint32_t choose(const LaunchCheck *c, const int64_t *grid, uint64_t *values) {
    const MetaKernel *meta = c->meta;
    const LaunchInput *inputs = c->plan->inputs;
    for (uint32_t i = meta->variant_count; i-- > 1;) {
        const MetaVariant *v = &meta->variants[i];
        if (!is_offered(c, v)) {
            c->plan->unmapped = true;
            continue;
        }
        if (!takes_grid(v, grid)) continue;
        launch_code_run(&v->code, inputs, values);
        if (v->guard == META_NO_VALUE || values[v->guard]) return i;
    }
    launch_code_run(&meta->variants[0].code, inputs, values);
    return 0;
}

enum { VALUES_MAX = 256 };

static void add_value(char *out, Str name, const char *value) {
    size_t used = strlen(out);
    snprintf(out + used, VALUES_MAX - used, "%s%.*s is %s", used ? ", " : " (", STR_ARG(name),
             value);
}

// Writes " (N is 63, a is 7)": the extents and integers that the text names, as far as they fit.
static void name_values(const LaunchCheck *c, Str text, char *out) {
    char value[32];
    bool mentioned[LAUNCH_MAX_ARGS * META_MAX_RANK] = {false};
    out[0] = 0;
    for (uint32_t i = 0; i < c->meta->arg_count; i++) {
        const MetaArg *arg = &c->meta->args[i];
        const LaunchInput *in = &c->plan->inputs[i];
        for (uint32_t d = 0; arg->kind == META_VIEW && d < arg->rank; d++) {
            int32_t e = arg->dims[d].extent;
            if (e < 0 || mentioned[e] || !str_has_word(text, c->meta->extents[e])) continue;
            mentioned[e] = true;
            snprintf(value, sizeof value, "%lld", (long long)in->extent[d]);
            add_value(out, c->meta->extents[e], value);
        }
        if (arg->kind != META_SCALAR || dtype_is(arg->dtype, DTYPE_CLASS_ANYFLOAT) ||
            !str_has_word(text, arg->name))
            continue;
        if (dtype_signed(arg->dtype))
            snprintf(value, sizeof value, "%lld", (long long)dtype_to_i64(arg->dtype, in->scalar));
        else
            snprintf(value, sizeof value, "%llu", (unsigned long long)in->scalar);
        add_value(out, arg->name, value);
    }
    size_t used = strlen(out);
    if (used) snprintf(out + used, VALUES_MAX + 2 - used, ")");
}

static tilec_status refuse_requires(const LaunchCheck *c, const MetaRequires *requires) {
    char values[VALUES_MAX + 2];
    name_values(c, requires->text, values);
    return REFUSE(c, "%.*s requires %.*s, which does not hold for these arguments%s",
                  STR_ARG(c->meta->name), STR_ARG(requires->text), values);
}

static tilec_status take_variant(const LaunchCheck *c, int number, uint64_t *values) {
    const MetaVariant *v = &c->meta->variants[number];
    c->plan->variant = (uint32_t)number;
    if (!is_offered(c, v))
        return REFUSE(c,
                      "%.*s: variant %d takes tensor maps, which device %s does not have; variant "
                      "0 takes none",
                      STR_ARG(c->meta->name), number, c->device->name);
    if (v->facts & FACT_PERSISTENT)
        return REFUSE(c, "%.*s: variant %d has a grid of its own; variant 0 takes any",
                      STR_ARG(c->meta->name), number);
    launch_code_run(&v->code, c->plan->inputs, values);
    if (v->guard == META_NO_VALUE || values[v->guard]) return TILEC_OK;
    return REFUSE(c, "%.*s: variant %d assumes facts that do not hold for these arguments",
                  STR_ARG(c->meta->name), number);
}

static tilec_status grid_with(const LaunchCheck *c, const LaunchOverride *override,
                              uint64_t *values) {
    if (override && override->variant != LAUNCH_ANY_VARIANT) {
        tilec_status s = take_variant(c, override->variant, values);
        if (s) return s;
    } else {
        c->plan->variant = choose(c, override ? override->grid : NULL, values);
    }
    const MetaVariant *v = &c->meta->variants[c->plan->variant];
    if (!override && !v->grid_rank)
        return REFUSE(c, "%.*s has no grid: give it with TILEC_GRID, or call tilec_launch_grid",
                      STR_ARG(c->meta->name));
    if (!override && c->plan->units && launch_code_asks_units(&v->code)) {
        uint64_t units = 1;
        tilec_status s = c->plan->units(c->plan->user, c->plan->variant, &units);
        if (s) return s;
        launch_code_run_with(&v->code, c->plan->inputs, units, values);
    }
    for (uint32_t i = 0; i < v->requires_count; i++)
        if (!values[v->requires[i].value]) return refuse_requires(c, &v->requires[i]);
    int64_t programs = 1;
    for (uint32_t d = 0; d < 3; d++) {
        int64_t n = override           ? override->grid[d]
                    : d < v->grid_rank ? (int64_t)values[v->grid[d]]
                                       : 1;
        if (!override && d < v->grid_rank && launch_code_wraps(&v->code, values, v->grid[d]))
            return REFUSE(c,
                          "%.*s: the grid's dimension %u overflows: the integers it is computed "
                          "with wrap for these arguments",
                          STR_ARG(c->meta->name), d);
        if (n < 0)
            return REFUSE(c, "%.*s: the grid's dimension %u is negative (%lld)",
                          STR_ARG(c->meta->name), d, (long long)n);
        if (override && v->facts & FACT_NARROW && n > LIMIT_NARROW_GRID)
            return REFUSE(c,
                          "%.*s: variant %d counts programs within 2^23 along a dimension, found "
                          "%lld",
                          STR_ARG(c->meta->name), (int)c->plan->variant, (long long)n);
        c->plan->grid[d] = n;
        c->plan->empty = c->plan->empty || n == 0;
        if (n && __builtin_mul_overflow(programs, n, &programs))
            return REFUSE(c, "%.*s: the grid has more than 2^63 programs", STR_ARG(c->meta->name));
        if (n > LIMIT_GRID)
            return REFUSE(c, "%.*s: the grid's dimension %u has more than 2^31 - 1 programs (%lld)",
                          STR_ARG(c->meta->name), d, (long long)n);
    }
    return TILEC_OK;
}

// Launch code of most kernels has some dozens of steps. Room for the longest possible code is more
// than the whole stack of some threads.
enum { FEW_VALUES = 256 };

__attribute__((noinline)) static tilec_status grid_short(const LaunchCheck *c,
                                                         const LaunchOverride *override) {
    uint64_t values[FEW_VALUES];
    return grid_with(c, override, values);
}

__attribute__((noinline)) static tilec_status grid_long(const LaunchCheck *c,
                                                        const LaunchOverride *override) {
    uint64_t values[LAUNCH_CODE_MAX];
    return grid_with(c, override, values);
}

static tilec_status grid(const LaunchCheck *c, const LaunchOverride *override) {
    bool few = true;
    for (uint32_t i = 0; i < c->meta->variant_count; i++)
        few = few && c->meta->variants[i].code.count <= FEW_VALUES;
    return few ? grid_short(c, override) : grid_long(c, override);
}

// A NULL pointer may mean an argument that is not given, but not if every program dereferences it.
static tilec_status pointers_given(const LaunchCheck *c) {
    for (uint32_t i = 0; i < c->meta->arg_count; i++) {
        const MetaArg *arg = &c->meta->args[i];
        if (arg->kind == META_POINTER && arg->needed && !c->plan->inputs[i].address)
            return REFUSE(c, "%.*s: argument '%.*s' is a NULL pointer, and every program %s it",
                          WHERE(c, arg), arg->written ? "writes through" : "reads through");
    }
    return TILEC_OK;
}

static void pack(const LaunchCheck *c) {
    for (uint32_t i = 0; i < c->meta->arg_count; i++) {
        const MetaArg *arg = &c->meta->args[i];
        const LaunchInput *in = &c->plan->inputs[i];
        uint8_t *at = c->plan->block + arg->offset;
        if (arg->kind == META_SCALAR) {
            memcpy(at, &in->scalar, arg->size);  // little endian
            continue;
        }
        memcpy(at, &in->address, 8);
        if (arg->kind != META_VIEW) continue;
        memcpy(at + 8, in->extent, 8 * arg->rank);
        if (arg->strided) memcpy(at + 8 + 8 * arg->rank, in->stride, 8 * arg->rank);
    }
}

tilec_status launch_wrong_count(tilec_context *context, Str name, size_t expected, size_t found) {
    return rt_fail(context, TILEC_LAUNCH_REFUSED, "%.*s takes %zu argument%s, found %zu",
                   STR_ARG(name), expected, expected == 1 ? "" : "s", found);
}

static bool count_fits(LaunchCheck *c, size_t count) {
    if (count == c->meta->arg_count) return true;
    size_t given = 0;
    for (size_t i = 0; i < count; i++) given += c->args[i].kind != TILEC_ARG_NONE;
    c->nones = given != count;
    return given == c->meta->arg_count;
}

tilec_status launch_prepare(tilec_context *context, tilec_device *device, const MetaKernel *meta,
                            const tilec_arg *args, size_t count, const LaunchOverride *override,
                            LaunchPlan *plan) {
    LaunchCheck c = {context, device, meta, args, plan, false};
    if (count > LAUNCH_MAX_ARGS || !count_fits(&c, count))
        return launch_wrong_count(context, meta->name, meta->arg_count, count);
    CHECK(count <= plan->arg_capacity, "room for %u arguments, and there are %zu",
          plan->arg_capacity, count);
    plan->variant = 0;
    plan->empty = plan->unmapped = false;
    tilec_status s = arguments(&c);
    if (!s) s = extents(&c);
    if (s) return s;
    bool any = override && override->variant == LAUNCH_ANY_VARIANT;
    if (override && !any &&
        (override->variant < 0 || (uint32_t) override->variant >= meta->variant_count))
        return REFUSE(&c, "%.*s has %u variant%s; there is no variant %d", STR_ARG(meta->name),
                      meta->variant_count, meta->variant_count == 1 ? "" : "s", override->variant);
    s = grid(&c, override);
    if (!s && !plan->empty) s = pointers_given(&c);
    if (!s) pack(&c);
    return s;
}
