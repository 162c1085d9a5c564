#include "tools/arrays.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

static const uint64_t ARRAY_MAX = 1ull << 36;  // bytes of one array: 64 GiB

#define INPUT_ERROR(s, code, ...) cli_fail((s)->cli, EXIT_INPUT, (code), NULL, __VA_ARGS__)

RunArray *arrays_find(const RunArrays *arrays, Symbol name) {
    for (size_t i = 0; i < arrays->count; i++)
        if (arrays->items[i].param->name == name) return &arrays->items[i];
    return NULL;
}

static int unknown_array(const Settings *s, const RunArrays *arrays, const char *option, Str name) {
    StrBuf b = strbuf(s->cli->arena);
    for (size_t i = 0; i < arrays->count; i++)
        strbuf_printf(&b, "%s%s", i ? ", " : "", arrays->items[i].param->name);
    const char *help = arena_printf(s->cli->arena, "there are: %s", b.text);
    return cli_fail(s->cli, EXIT_USAGE, DIAG_USAGE, b.size ? help : "it has no arrays",
                    "--%s: kernel '%s' has no array '%.*s'", option, s->kernel->name,
                    STR_ARG(name));
}

// --in and --out: NAME=FILE.
static int note_paths(const Settings *s, RunArrays *arrays) {
    for (size_t i = 0; i < s->cli->args.count; i++) {
        const CliArg *a = &s->cli->args.data[i];
        bool in = strcmp(a->option->name, "in") == 0, out = strcmp(a->option->name, "out") == 0;
        if (!in && !out) continue;
        Str path, name = str_cut(a->value, '=', &path);
        if (!name.size || !path.size)
            return cli_usage_error(s->cli, "--%s takes NAME=FILE.npy, found '%.*s'",
                                   a->option->name, STR_ARG(a->value));
        RunArray *array = arrays_find(arrays, intern(s->unit->names, name));
        if (!array) return unknown_array(s, arrays, a->option->name, name);
        Str *place = in ? &array->in : &array->out;
        if (place->size)
            return cli_usage_error(s->cli, "--%s %.*s is given twice", a->option->name,
                                   STR_ARG(name));
        *place = path;
    }
    return EXIT_OK;
}

// Two results in one file would leave only the last one. A file that cannot be written is reported
// before the work begins.
static int check_outputs(const Settings *s, const RunArrays *arrays) {
    for (size_t i = 0; i < arrays->count; i++) {
        const RunArray *a = &arrays->items[i];
        if (!a->out.size) continue;
        for (size_t k = 0; k < i; k++)
            if (str_equal(arrays->items[k].out, a->out))
                return cli_usage_error(s->cli, "--out: '%.*s' is given for '%s' and '%s'",
                                       STR_ARG(a->out), arrays->items[k].param->name,
                                       a->param->name);
        OsError error;
        if (!os_path_writable(s->cli->arena, cli_text(s->cli, a->out), &error))
            return INPUT_ERROR(s, DIAG_IO, "cannot write '%.*s': %s", STR_ARG(a->out), error.text);
    }
    return EXIT_OK;
}

// Does the file's type match the parameter's? Yes if equal, or if it is the storage form of a type
// that is set or declared.
static int match_type(Settings *s, RunArray *a) {
    Symbol type = a->param->type_param;
    const IrBinding *set = type ? frontend_spec_find(&s->spec, type) : NULL;
    if (type && !set) {
        IrBinding b = {.name = type, .is_type = true, .type = a->file.dtype};
        vec_push(s->cli->arena, &s->spec.bindings, b);
        return EXIT_OK;
    }
    Dtype expected = set ? set->type : a->param->dtype;
    if (a->file.dtype == npy_storage_type(expected)) return EXIT_OK;
    return INPUT_ERROR(s, DIAG_NPY, "'%.*s' has elements of %s, but '%s' is of %s (stored as %s)",
                       STR_ARG(a->in), dtype_name(a->file.dtype), a->param->name,
                       dtype_name(expected), dtype_name(npy_storage_type(expected)));
}

static bool param_packed(const Settings *s, const FrontParam *param) {
    if (!param->type_param) return dtype_bits(param->dtype) < 8;
    const IrBinding *b = frontend_spec_find(&s->spec, param->type_param);
    return b && dtype_bits(b->type) < 8;
}

static int bind_extents(Settings *s, RunArray *a) {
    uint32_t rank = a->param->rank;
    if (rank != a->file.rank)
        return INPUT_ERROR(s, DIAG_NPY, "'%.*s' has rank %u, but '%s' has rank %u", STR_ARG(a->in),
                           a->file.rank, a->param->name, rank);
    if (a->file.fortran && !a->param->strided)
        return INPUT_ERROR(
            s, DIAG_NPY,
            "'%.*s' is stored in column-major (Fortran) order; '%s' takes row-major arrays "
            "unless it is declared strided",
            STR_ARG(a->in), a->param->name);
    for (uint32_t i = 0; i < rank; i++) {
        if (!a->param->extents[i]) continue;
        int64_t extent = a->file.extent[i];
        // Packed types are stored two to a byte along the innermost dimension.
        if (i + 1 == rank && param_packed(s, a->param) &&
            __builtin_mul_overflow(extent, 2, &extent))
            return INPUT_ERROR(s, DIAG_NPY, "'%.*s' has more than 2^63 elements", STR_ARG(a->in));
        int status = settings_extent(s, a->param->extents[i], extent, a->in);
        if (status) return status;
    }
    return EXIT_OK;
}

static int read_file(Settings *s, RunArray *a) {
    Str problem;
    if (!npy_read(s->cli->arena, cli_text(s->cli, a->in), &a->file, &problem))
        return INPUT_ERROR(s, DIAG_NPY, "'%.*s' %.*s", STR_ARG(a->in), STR_ARG(problem));
    a->from_file = true;
    const IrBinding *b = frontend_spec_find(&s->spec, a->param->name);
    if (a->file.fortran && front_is_pointer(a->param, b))
        return INPUT_ERROR(s, DIAG_NPY,
                           "'%.*s' is stored in column-major (Fortran) order, but pointer '%s' has "
                           "no strides to follow it",
                           STR_ARG(a->in), a->param->name);
    int status = match_type(s, a);
    if (!status && a->param->kind == FRONT_VIEW) status = bind_extents(s, a);
    return status;
}

// A pointer that is set to None needs no array.
static bool is_array(const Settings *s, const FrontParam *p) {
    if (p->kind == FRONT_VIEW) return true;
    const IrBinding *b = frontend_spec_find(&s->spec, p->name);
    return front_is_descriptor(b) || (front_is_pointer(p, b) && !(b && b->text));
}

int arrays_collect(Settings *s, RunArrays *arrays) {
    size_t n = 0;
    for (const FrontParam *p = s->kernel->params; p; p = p->next) n += is_array(s, p);
    *arrays = (RunArrays){arena_new(s->cli->arena, RunArray, n + 1), 0};
    for (const FrontParam *p = s->kernel->params; p; p = p->next)
        if (is_array(s, p)) arrays->items[arrays->count++].param = p;
    int status = note_paths(s, arrays);
    if (!status) status = check_outputs(s, arrays);
    for (size_t i = 0; i < arrays->count && !status; i++)
        if (arrays->items[i].in.size) status = read_file(s, &arrays->items[i]);
    return status;
}

static int pointer_shape(const Settings *s, RunArray *a) {
    const SettingsValue *size = settings_find_size(s, a->param->name);
    a->rank = 1;
    a->stride[0] = 1;
    if (a->from_file) {
        a->extent[0] = (int64_t)(a->file.size * 8 / dtype_bits(a->dtype));
        if (size && size->value != a->extent[0])
            return INPUT_ERROR(s, DIAG_LAUNCH, "'%.*s' has %lld elements, --set %s.size says %lld",
                               STR_ARG(a->in), (long long)a->extent[0], a->param->name,
                               (long long)size->value);
        return EXIT_OK;
    }
    if (!size)
        return cli_usage_error(s->cli, "pointer '%s' has neither --in nor a size: --set %s.size=N",
                               a->param->name, a->param->name);
    a->extent[0] = size->value;
    return EXIT_OK;
}

// The names of a descriptor's extents are the compiler's, so its array gives them.
static int descriptor_shape(const Settings *s, const MetaArg *arg, RunArray *a) {
    if (!a->from_file)
        return cli_usage_error(s->cli, "tensor descriptor '%s' needs an array: --in %s=F.npy",
                               a->param->name, a->param->name);
    if (a->file.rank != arg->rank)
        return INPUT_ERROR(s, DIAG_NPY, "'%.*s' has rank %u, but '%s' has rank %u", STR_ARG(a->in),
                           a->file.rank, a->param->name, arg->rank);
    for (uint32_t d = 0; d < arg->rank; d++) a->extent[d] = (int64_t)a->file.extent[d];
    return EXIT_OK;
}

static int view_shape(const Settings *s, const MetaKernel *meta, const MetaArg *arg, RunArray *a) {
    a->rank = arg->rank;
    bool is_view = a->param->kind == FRONT_VIEW;
    int status = is_view ? EXIT_OK : descriptor_shape(s, arg, a);
    if (status) return status;
    for (uint32_t d = 0; is_view && d < arg->rank; d++) {
        a->extent[d] = arg->dims[d].value;
        if (arg->dims[d].extent < 0) continue;
        Str name = meta->extents[arg->dims[d].extent];
        const SettingsValue *v = settings_find_extent(s, intern(s->unit->names, name));
        if (!v)
            return cli_usage_error(
                s->cli,
                "extent '%.*s' is not known: --set %.*s=N, or --in with an array that has it",
                STR_ARG(name), STR_ARG(name));
        a->extent[d] = v->value;
    }
    uint64_t stride = 1;
    for (uint32_t k = 0; k < a->rank; k++) {
        uint32_t d = a->file.fortran ? k : a->rank - 1 - k;
        a->stride[d] = (int64_t)stride;
        // in the order in which launches count them
        stride *= a->extent[d] ? (uint64_t)a->extent[d] : 1;
    }
    return EXIT_OK;
}

// The file of a view must have exactly the view's extents, not only its number of bytes.
static int match_extents(const Settings *s, const RunArray *a) {
    if (!a->from_file || a->param->kind != FRONT_VIEW) return EXIT_OK;
    for (uint32_t d = 0; d < a->rank; d++) {
        uint64_t found = (uint64_t)a->file.extent[d];
        if (d + 1 == a->rank && dtype_bits(a->dtype) < 8) found *= 2;
        if (found != (uint64_t)a->extent[d])
            return INPUT_ERROR(s, DIAG_LAUNCH, "extent %u of '%s' must be %lld, '%.*s' has %llu", d,
                               a->param->name, (long long)a->extent[d], STR_ARG(a->in),
                               (unsigned long long)found);
    }
    return EXIT_OK;
}

// Each array is kept three times: as given, as the device left it, and on the device. Memory is
// allocated only if all of that fits.
static int check_memory(const Settings *s, const RunArray *a, uint64_t *total) {
    enum { COPIES = 3 };
    *total += COPIES * (uint64_t)a->size;  // at most LAUNCH_MAX_ARGS times 3 * 2^36
    if (*total <= os_memory_size()) return EXIT_OK;
    return INPUT_ERROR(s, DIAG_TOO_LARGE,
                       "array '%s' has %zu bytes: with the copies that are kept, the arrays need "
                       "more than the memory of this machine",
                       a->param->name, a->size);
}

static bool array_size(RunArray *a) {
    a->count = 1;
    for (uint32_t d = 0; d < a->rank; d++)
        TRY(!__builtin_mul_overflow(a->count, (uint64_t)a->extent[d], &a->count));
    TRY(a->count <= ARRAY_MAX);
    a->size = dtype_storage(a->dtype, a->count);
    return a->size <= ARRAY_MAX;
}

// SplitMix64: one multiply-xorshift chain per number, the same on every machine.
static uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Floats in [-1, 1), small integers: -100 to 100, unsigned 0 to 100, packed ones in their whole
// range.
static uint64_t random_element(Dtype t, uint64_t *state) {
    uint64_t r = next_random(state);
    if (dtype_is(t, DTYPE_CLASS_ANYFLOAT))
        return dtype_from_double(t, (double)(r >> 11) * 0x1p-52 - 1.0, true);
    if (t == DTYPE_BOOL) return r >> 63;
    if (dtype_is(t, DTYPE_CLASS_PACKED)) return r >> 60;
    return dtype_signed(t) ? dtype_wrap(t, (r >> 32) % 201 - 100) : (r >> 32) % 101;
}

static void fill(RunArray *a, const MetaArg *arg, uint64_t seed, size_t index) {
    bool is_float = dtype_is(a->dtype, DTYPE_CLASS_ANYFLOAT);
    if (a->from_file) {
        memcpy(a->given, a->file.data, a->size);
    } else if (arg->written && !arg->read) {
        memset(a->given, is_float ? 0xff : a->dtype == DTYPE_BOOL ? 0 : 0xa5, a->size);
    } else {
        uint64_t state = seed * 0x9e3779b97f4a7c15u + (index + 1) * 0xd1b54a32d192ed03u;
        for (uint64_t i = 0; i < a->count; i++)
            dtype_store(a->dtype, a->given, i, random_element(a->dtype, &state));
        a->random = true;
    }
    memcpy(a->left, a->given, a->size);
}

int arrays_fill(const Settings *s, const MetaKernel *meta, uint64_t seed, RunArrays *arrays) {
    size_t next = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < meta->arg_count; i++) {
        const MetaArg *arg = &meta->args[i];
        if (arg->kind == META_SCALAR) continue;
        RunArray *a = &arrays->items[next];
        a->dtype = arg->dtype;
        int status = arg->kind == META_POINTER ? pointer_shape(s, a) : view_shape(s, meta, arg, a);
        if (status) return status;
        status = match_extents(s, a);
        if (!status && !array_size(a))
            status =
                INPUT_ERROR(s, DIAG_TOO_LARGE, "array '%s' is larger than 64 GiB", a->param->name);
        if (!status) status = check_memory(s, a, &total);
        if (status) return status;
        if (a->from_file && a->size != a->file.size)
            return INPUT_ERROR(s, DIAG_NPY, "'%.*s' has %zu bytes, but '%s' needs %zu",
                               STR_ARG(a->in), a->file.size, a->param->name, a->size);
        a->given = arena_alloc(s->cli->arena, a->size + 1);
        a->left = arena_alloc(s->cli->arena, a->size + 1);
        fill(a, arg, seed, next);
        next++;
    }
    return EXIT_OK;
}

// ---- Special values ----

static bool is_random_float(const RunArray *a) {
    return a->random && a->count && dtype_is(a->dtype, DTYPE_CLASS_ANYFLOAT);
}

bool arrays_have_random_floats(const RunArrays *arrays) {
    for (size_t i = 0; i < arrays->count; i++)
        if (is_random_float(&arrays->items[i])) return true;
    return false;
}

// Finite special values: a zero, a subnormal number, or the least normal one, of either sign.
static uint64_t small_element(Dtype t, uint64_t *state) {
    const DtypeFloat *f = dtype_float(t);
    uint64_t r = next_random(state);
    double least = ldexp(1, f->min_exponent), sign = r & 1 ? -1.0 : 1.0;
    double unit = ldexp(1, f->min_exponent - f->precision + 1);
    uint64_t ulps = (r >> 8) % (UINT64_C(1) << (f->precision - 1));
    double magnitude = r >> 1 & 1 ? 0 : r >> 2 & 1 ? least : (double)ulps * unit;
    return dtype_from_double(t, copysign(magnitude, sign), true);
}

static uint64_t wild_element(Dtype t, uint64_t *state) {
    uint64_t r = next_random(state);
    double x = r & 1 ? (double)NAN : r & 2 ? -(double)INFINITY : (double)INFINITY;
    return dtype_from_double(t, x, false);
}

static void make_special(RunArray *a, uint64_t seed, size_t index, bool wild) {
    enum { SMALL_IN = 8, WILD_IN = 4, PARTS = 8 };
    uint64_t state = seed * 0xd1b54a32d192ed03u + (index + 1) * 0x9e3779b97f4a7c15u;
    uint64_t part = (a->count + PARTS - 1) / PARTS, begin = next_random(&state) % PARTS * part;
    for (uint64_t i = 0; i < a->count; i++) {
        bool here = wild && i >= begin && i < begin + part;
        uint64_t r = next_random(&state);
        if (here && r % WILD_IN == 0)
            dtype_store(a->dtype, a->given, i, wild_element(a->dtype, &state));
        else if (r % SMALL_IN == 1)
            dtype_store(a->dtype, a->given, i, small_element(a->dtype, &state));
    }
}

RunArrays arrays_make_special(const Settings *s, RunArrays *arrays, uint64_t seed) {
    Arena *arena = s->cli->arena;
    RunArrays kept = {arena_copy(arena, arrays->items, arrays->count * sizeof *arrays->items),
                      arrays->count};
    size_t floats = 0, at = 0;
    for (size_t i = 0; i < arrays->count; i++) floats += is_random_float(&arrays->items[i]);
    for (size_t i = 0; i < arrays->count; i++) {
        RunArray *a = &arrays->items[i];
        a->given = arena_copy(arena, a->given, a->size + 1);
        a->left = arena_copy(arena, a->given, a->size + 1);
        if (is_random_float(a)) make_special(a, seed, i, at++ == seed % floats);
    }
    return kept;
}

void arrays_restore(RunArrays *arrays, const RunArrays *kept) {
    memcpy(arrays->items, kept->items, kept->count * sizeof *kept->items);
}

// ---- Files ----

// Writes one array under a temporary name.
static bool write_one(const Settings *s, const RunArray *a, OsFile *file, OsError *error) {
    Arena *arena = s->cli->arena;
    int64_t extent[TILEC_MAX_RANK];
    memcpy(extent, a->extent, sizeof extent);
    Dtype stored = npy_storage_type(a->dtype);
    if (dtype_bits(a->dtype) < 8) extent[a->rank - 1] = (extent[a->rank - 1] + 1) / 2;
    Str header = npy_header(arena, stored, a->rank, extent, a->file.fortran);
    TRY(os_file_begin(arena, cli_text(s->cli, a->out), file, error));
    bool good = fwrite(header.text, 1, header.size, file->stream) == header.size &&
                fwrite(a->left, 1, a->size, file->stream) == a->size && fflush(file->stream) == 0;
    if (good) return true;
    os_file_abandon(file);
    snprintf(error->text, sizeof error->text, "the device is full or fails");
    return false;
}

int arrays_write(const Settings *s, const RunArrays *arrays) {
    OsFile *files = arena_new(s->cli->arena, OsFile, arrays->count + 1);
    OsError error;
    const RunArray *failed = NULL;
    for (size_t i = 0; i < arrays->count && !failed; i++)
        if (arrays->items[i].out.size && !write_one(s, &arrays->items[i], &files[i], &error))
            failed = &arrays->items[i];
    // All temporary files are complete: now they are renamed.
    for (size_t i = 0; i < arrays->count; i++) {
        if (!files[i].stream) continue;
        if (failed)
            os_file_abandon(&files[i]);
        else if (!os_file_commit(&files[i], &error))
            failed = &arrays->items[i];
    }
    if (!failed) return EXIT_OK;
    return INPUT_ERROR(s, DIAG_IO, "cannot write '%.*s': %s", STR_ARG(failed->out), error.text);
}
