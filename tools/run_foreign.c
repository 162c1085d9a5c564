// tilec run FILE.ptx|FILE.hsaco [KERNEL]: runs code from any source on a simulated GPU.
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "compile/device/sim_device.h"
#include "tools/npy.h"
#include "tools/run.h"

enum { TEXT_MAX = 64 << 20 };

// An array argument: its input and its output.
typedef struct ForeignArray {
    Str out;  // file of the results; empty: they are not kept
    NpyArray shape;
    Dtype dtype;
} ForeignArray;

typedef struct Foreign {
    Cli *cli;
    SimForeign run;
    VEC(SimForeignArg) args;
    VEC(ForeignArray) arrays;  // one for each argument
    Sources *sources;
    Diags *diags;
    StrBuf printed;
} Foreign;

// Three numbers with commas; a missing one is 1.
static int triple(Cli *cli, const char *option, uint32_t *to) {
    Str rest = cli_value(cli, option);
    if (!rest.size) return cli_usage_error(cli, "--%s X,Y,Z is needed for this file", option);
    to[0] = to[1] = to[2] = 1;
    for (int d = 0; rest.size; d++) {
        Str word = str_cut(rest, ',', &rest);
        uint64_t n;
        bool overflow = false;
        if (d > 2 || !str_to_u64(word, &n, &overflow) || overflow || n > INT32_MAX)
            return cli_usage_error(cli, "--%s takes up to three numbers: X,Y,Z; found '%.*s'",
                                   option, STR_ARG(cli_value(cli, option)));
        to[d] = (uint32_t)n;
    }
    return EXIT_OK;
}

static int bad_arg(const Foreign *f, Str text, const char *why) {
    return cli_fail(f->cli, EXIT_USAGE, DIAG_USAGE,
                    "i32:5, u64:7, f32:0.5, in:F.npy, out:F.npy:DTYPE:EXTENT…, inout:F.npy:G.npy, "
                    "map:ARG:DIMS:BOX:SWIZZLE",
                    "--arg '%.*s': %s", STR_ARG(text), why);
}

static int scalar(Foreign *f, Str text, Dtype type, Str value) {
    SimForeignArg a = {0};
    bool minus = str_starts(value, STR("-")), overflow = false;
    Str digits = minus ? (Str){value.text + 1, value.size - 1} : value;
    double real;
    uint64_t n;
    if (dtype_is(type, DTYPE_CLASS_ANYFLOAT)) {
        if (!str_to_double(value, &real)) return bad_arg(f, text, "not a number");
        a.bits = dtype_from_double(type, real, false);
    } else {
        if (!str_to_u64(digits, &n, &overflow) || overflow)
            return bad_arg(f, text, "not an integer");
        a.bits = dtype_wrap(type, minus ? 0 - n : n);
        if (dtype_size(type) < 8) a.bits &= (UINT64_C(1) << (8 * dtype_size(type))) - 1;
    }
    vec_push(f->cli->arena, &f->args, a);
    vec_push(f->cli->arena, &f->arrays, (ForeignArray){0});
    return EXIT_OK;
}

static int from_file(Foreign *f, Str text, Str path, Str out) {
    ForeignArray array = {.out = out};
    Str problem;
    if (!npy_read(f->cli->arena, cli_text(f->cli, path), &array.shape, &problem))
        return cli_fail(f->cli, EXIT_INPUT, DIAG_NPY, NULL, "--arg '%.*s': %.*s", STR_ARG(text),
                        STR_ARG(problem));
    array.dtype = array.shape.dtype;
    SimForeignArg a = {.is_buffer = true, .size = array.shape.size};
    a.data = arena_copy(f->cli->arena, array.shape.data, array.shape.size);
    vec_push(f->cli->arena, &f->args, a);
    vec_push(f->cli->arena, &f->arrays, array);
    return EXIT_OK;
}

static int new_array(Foreign *f, Str text, Str rest) {
    ForeignArray array = {.out = str_cut(rest, ':', &rest)};
    Str name = str_cut(rest, ':', &rest);
    if (!dtype_from_name(name, &array.dtype)) return bad_arg(f, text, "unknown type");
    uint64_t count = 1;
    while (rest.size && array.shape.rank < NPY_MAX_RANK) {
        uint64_t n;
        if (!str_to_u64(str_cut(rest, ':', &rest), &n, NULL) || n > UINT32_MAX ||
            (n && count > (UINT64_C(1) << 36) / n))
            return bad_arg(f, text, "an extent is not a number, or too large");
        array.shape.extent[array.shape.rank++] = (int64_t)n;
        count *= n;
    }
    if (!array.shape.rank) return bad_arg(f, text, "no extent");
    SimForeignArg a = {.is_buffer = true, .undefined = true};
    a.size = dtype_storage(array.dtype, count);
    a.data = arena_alloc(f->cli->arena, a.size + 1);
    vec_push(f->cli->arena, &f->args, a);
    vec_push(f->cli->arena, &f->arrays, array);
    return EXIT_OK;
}

// ---- Tensor maps: map:ARG:DIMS:BOX:SWIZZLE, lists with commas, innermost first ----

// Up to five numbers; -1: not a list of them.
static int numbers(Str text, uint64_t *to) {
    int count = 0;
    while (text.size) {
        if (count == GPU_MAP_RANK || !str_to_u64(str_cut(text, ',', &text), &to[count], NULL))
            return -1;
        count++;
    }
    return count;
}

// The array may be a later argument, so what is known of it follows (finish_map).
static int map(Foreign *f, Str text, Str rest) {
    GpuMapFacts *m = arena_new(f->cli->arena, GpuMapFacts, 1);
    uint64_t array, box[GPU_MAP_RANK] = {0}, width;
    Str which = str_cut(rest, ':', &rest), dims = str_cut(rest, ':', &rest);
    Str boxes = str_cut(rest, ':', &rest);
    if (!str_to_u64(which, &array, NULL) || !array || array > UINT32_MAX)
        return bad_arg(f, text, "ARG is the number of an array among the arguments, from 1");
    int rank = numbers(boxes, box);
    if (rank < 1 || (dims.size && numbers(dims, m->dims) != rank))
        return bad_arg(f, text, "DIMS and BOX are lists of as many numbers, one to five");
    for (int d = 0; d < rank; d++)
        m->box[d] = box[d] > UINT16_MAX ? UINT16_MAX : (uint32_t)box[d], m->steps[d] = 1;
    bool known = str_to_u64(rest, &width, NULL);
    m->swizzle = GPU_MAP_SWIZZLE_NONE;
    while (known && m->swizzle < GPU_MAP_SWIZZLE_128 && gpu_map_swizzle_bytes(m->swizzle) != width)
        m->swizzle++;
    if (!known || gpu_map_swizzle_bytes(m->swizzle) != width)
        return bad_arg(f, text, "SWIZZLE is 0, 32, 64 or 128");
    m->rank = (uint32_t)rank;
    SimForeignArg a = {.map = m, .array = (uint32_t)array - 1};
    vec_push(f->cli->arena, &f->args, a);
    vec_push(f->cli->arena, &f->arrays, (ForeignArray){0});
    return EXIT_OK;
}

static bool map_type(Dtype type, GpuMapType *to) {
    static const struct {
        Dtype type;
        GpuMapType map;
    } rows[] = {{DTYPE_F16, GPU_MAP_F16}, {DTYPE_BF16, GPU_MAP_BF16}, {DTYPE_F32, GPU_MAP_F32},
                {DTYPE_F64, GPU_MAP_F64}, {DTYPE_I32, GPU_MAP_S32},   {DTYPE_I64, GPU_MAP_S64},
                {DTYPE_U32, GPU_MAP_U32}, {DTYPE_U64, GPU_MAP_U64}};
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        if (rows[n].type == type) return *to = rows[n].map, true;
    *to = dtype_bits(type) == 16 ? GPU_MAP_U16 : GPU_MAP_U8;
    return dtype_bits(type) == 8 || dtype_bits(type) == 16;
}

// The array's type and extents; its elements are dense.
static int finish_map(Foreign *f, Str text, const SimForeignArg *a) {
    GpuMapFacts *m = a->map;
    if (a->array >= f->args.count || !f->args.data[a->array].is_buffer)
        return bad_arg(f, text, "ARG is not an array");
    const ForeignArray *array = &f->arrays.data[a->array];
    if (!map_type(array->dtype, &m->type)) return bad_arg(f, text, "maps have no such type");
    uint64_t count = 1, stride = gpu_map_type_bytes(m->type);
    for (uint32_t d = 0; d < m->rank; d++) {
        uint32_t rank = array->shape.rank;
        if (!m->dims[0] && rank != m->rank)
            return bad_arg(f, text, "the array has another number of dimensions: give DIMS");
        if (!m->dims[d]) m->dims[d] = (uint64_t)array->shape.extent[rank - 1 - d];
        if (d) m->strides[d - 1] = stride;
        if (m->dims[d] && count > UINT64_MAX / m->dims[d]) return bad_arg(f, text, "too large");
        count *= m->dims[d], stride *= m->dims[d];
    }
    if (count * gpu_map_type_bytes(m->type) <= f->args.data[a->array].size) return EXIT_OK;
    return bad_arg(f, text, "DIMS are larger than the array");
}

static int finish_maps(Foreign *f) {
    int status = EXIT_OK;
    size_t n = 0;
    for (size_t i = 0; i < f->cli->args.count && !status; i++) {
        const CliArg *arg = &f->cli->args.data[i];
        if (strcmp(arg->option->name, "arg")) continue;
        const SimForeignArg *a = &f->args.data[n++];
        if (a->map) status = finish_map(f, arg->value, a);
    }
    return status;
}

// ---- Arguments ----

static int parse_arg(Foreign *f, Str text) {
    Str value, kind = str_cut(text, ':', &value);
    Dtype type;
    if (dtype_from_name(kind, &type) && dtype_bits(type) >= 8) return scalar(f, text, type, value);
    if (str_equal(kind, STR("in"))) return from_file(f, text, value, (Str){0});
    if (str_equal(kind, STR("out"))) return new_array(f, text, value);
    if (str_equal(kind, STR("map"))) return map(f, text, value);
    if (!str_equal(kind, STR("inout"))) return bad_arg(f, text, "unknown kind");
    Str out, in = str_cut(value, ':', &out);
    return from_file(f, text, in, out);
}

// Refuses options that need a kernel's source.
static int refuse_settings(Cli *cli) {
    static const struct {
        const char *option, *why;
    } rows[] = {{"set", "has no parameters with names, types or consts"},
                {"math", "is compiled already"},
                {"in", "takes its arguments in order: --arg in:F.npy"},
                {"out", "takes its arguments in order: --arg out:F.npy:DTYPE:EXTENT"},
                {"stats", "is always counted"},
                {"repeat", "is launched once"},
                {"check", "has nothing to be compared with"},
                {"dump-after", "goes through no passes"},
                {"time-passes", "goes through no passes"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_has(cli, rows[i].option))
            return cli_fail(cli, EXIT_USAGE, DIAG_USAGE,
                            "tilec run FILE.ptx [KERNEL] takes --device sim:ARCH, --grid X,Y,Z, "
                            "--block X,Y,Z, --shared N, --arg KIND:VALUE, --seed S and --sanitize",
                            "--%s is for sources: '%.*s' %s", rows[i].option,
                            STR_ARG(cli->operands.data[0]), rows[i].why);
    return EXIT_OK;
}

static int parse(Foreign *f) {
    Cli *cli = f->cli;
    Str instance, device = str_cut(cli_value(cli, "device"), ':', &instance);
    int64_t shared, seed;
    if (!str_equal(device, STR("sim")))
        return cli_fail(cli, EXIT_UNAVAILABLE, DIAG_UNSUPPORTED,
                        str_ends(cli->operands.data[0], STR(".hsaco")) ? "use --device sim:gfx942"
                                                                       : "use --device sim:sm_80",
                        "only simulated devices of this version run '%.*s'",
                        STR_ARG(cli->operands.data[0]));
    f->run.arch = instance;
    int status = triple(cli, "grid", f->run.grid);
    if (!status) status = triple(cli, "block", f->run.block);
    if (status) return status;
    if (!cli_number(cli, "shared", 0, 0, 1 << 20, &shared)) return EXIT_USAGE;
    if (!cli_number(cli, "seed", 0, 0, INT64_MAX, &seed)) return EXIT_USAGE;
    f->run.shared = (uint32_t)shared, f->run.seed = (uint64_t)seed;
    f->run.watch = cli_has(cli, "sanitize");
    for (size_t i = 0; i < cli->args.count && !status; i++)
        if (!strcmp(cli->args.data[i].option->name, "arg"))
            status = parse_arg(f, cli->args.data[i].value);
    if (!status) status = finish_maps(f);
    f->run.args = f->args.data, f->run.arg_count = (uint32_t)f->args.count;
    return status;
}

static int write_array(const Foreign *f, const ForeignArray *a, const SimForeignArg *arg) {
    OsError error;
    int64_t extent[NPY_MAX_RANK];
    memcpy(extent, a->shape.extent, sizeof extent);
    if (dtype_bits(a->dtype) < 8) extent[a->shape.rank - 1] = (extent[a->shape.rank - 1] + 1) / 2;
    Arena *arena = f->cli->arena;
    Str header =
        npy_header(arena, npy_storage_type(a->dtype), a->shape.rank, extent, a->shape.fortran);
    StrBuf b = strbuf(arena);
    strbuf_add(&b, header);
    strbuf_add(&b, (Str){(const char *)arg->data, arg->size});
    if (os_write_file(arena, cli_text(f->cli, a->out), strbuf_str(&b), &error)) return EXIT_OK;
    return cli_fail(f->cli, EXIT_INPUT, DIAG_IO, NULL, "cannot write '%.*s': %s", STR_ARG(a->out),
                    error.text);
}

static void print_text(void *user, Str text) {
    Foreign *f = user;
    if (f->cli->json)
        strbuf_add(&f->printed, text);
    else
        printf("%.*s", STR_ARG(text));
}

void run_print_tally(Cli *cli, const SimTally *r) {
    const struct {
        const char *name, *text;
        uint64_t value;
    } rows[] = {{"instructions", "warp instructions", r->instructions},
                {"laneInstructions", "lane instructions", r->lane_instructions},
                {"matrixInstructions", "matrix instructions", r->matrix},
                {"barriers", "barriers", r->barriers},
                {"accesses", "accesses of global memory", r->accesses},
                {"bytes", "  bytes requested", r->bytes},
                {"sectors", "  sectors", r->sectors},
                {"leastSectors", "  the least possible", r->least_sectors},
                {"wavefronts", "wavefronts of shared memory", r->wavefronts},
                {"leastWavefronts", "  without bank conflicts", r->least_wavefronts}};
    Json *j = &cli->json_out;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (cli->json)
            json_key(j, rows[i].name), json_uint(j, rows[i].value);
        else if (!cli->quiet)
            printf("%-28s %llu\n", rows[i].text, (unsigned long long)rows[i].value);
    }
}

static void print_counts(Foreign *f) {
    Json *j = &f->cli->json_out;
    run_print_tally(f->cli, &f->run.tally);
    if (f->cli->json) json_key(j, "printed"), json_str(j, strbuf_str(&f->printed));
}

static int execute(Foreign *f) {
    bool failed;
    bool good = sim_run_foreign(f->cli->arena, &f->run, f->sources, f->diags, &failed);
    int status = good ? EXIT_OK : failed ? EXIT_MISMATCH : EXIT_INPUT;
    for (size_t i = 0; i < diags_count(f->diags) && !good; i++)
        if (diags_get(f->diags, i)->code == DIAG_UNAVAILABLE) status = EXIT_UNAVAILABLE;
    for (size_t i = 0; i < f->arrays.count && good && !status; i++)
        if (f->arrays.data[i].out.size)
            status = write_array(f, &f->arrays.data[i], &f->args.data[i]);
    if (good) print_counts(f);
    cli_diags(f->cli, f->diags);
    return status;
}

int run_foreign(Cli *cli) {
    Str path = cli->operands.data[0];
    int status = refuse_settings(cli);
    if (status) return status;
    Foreign f = {.cli = cli};
    f.sources = sources_create(cli->arena);
    f.diags = diags_create(cli->arena, f.sources);
    f.printed = strbuf(cli->arena);
    f.run.path = path, f.run.print = print_text, f.run.user = &f;
    if (cli->operands.count > 1) f.run.kernel = cli->operands.data[1];
    status = parse(&f);
    if (status) return status;
    OsError error;
    if (!os_read_file(cli->arena, cli_text(cli, path), TEXT_MAX, &f.run.text, &error))
        return cli_fail(cli, EXIT_INPUT, DIAG_IO, NULL, "cannot read '%.*s': %s", STR_ARG(path),
                        error.text);
    return execute(&f);
}
