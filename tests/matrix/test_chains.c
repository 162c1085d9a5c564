// Several operations at once, which compilers combine: the chains of chains.def, for all pairs of
// special values, on every target, against the interpreter's bits. The sign of a zero counts; the
// sign and payload of a NaN do not.
//
// A chain is a block of its own, with loads of its own, so that no other chain is a second use of
// its parts. One kernel has GROUP chains; in a slice some devices run it, in tiles or with
// scalars. TILEC_TEST_WHOLE=1 runs all. TILEC_TEST_CHAIN=text runs those that contain this text.
// With TILEC_TEST_GPU they run on that device alone (simulated.h).
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "passes/pass.h"
#include "tests/matrix/matrix.h"
#include "tests/support/foreign.h"
#include "tests/support/jitted.h"
#include "tests/support/lowered.h"
#include "tests/support/simulated.h"
#include "tests/support/slice.h"
#include "tests/support/tile_text.h"

typedef struct Chain {
    Dtype elem;
    const char *text;
    bool numbers;  // a number wins over a NaN
} Chain;

static const Chain chains[] = {
#define CHAIN(type, ...) {DTYPE_##type, #__VA_ARGS__, false},
#define NUMBERS(type, ...) {DTYPE_##type, #__VA_ARGS__, true},
#include "tests/matrix/chains.def"
#undef CHAIN
#undef NUMBERS
};

// The rows NUMBERS have groups of their own, after the others.
enum {
    CHAINS = sizeof chains / sizeof *chains,
    GROUP = 16,
    PLAIN_GROUPS = (CHAINS + GROUP - 1) / GROUP,
    NUMBER_GROUPS = 2,
    GROUPS = PLAIN_GROUPS + NUMBER_GROUPS
};

// Every pair of special values, then random bits. Loops over scalars take long: they have one pair
// in four, others in the next slice.
enum { SIDE = 40, COUNT = 2048, TILE = 512, TRIPLES = 7, THIN = 4 };

typedef struct Input {
    const char *name;
    Dtype elem;
    uint32_t order;  // 0: changes slowly, 1: quickly, 2: with both
} Input;

static const Input inputs[] = {
    {"a", DTYPE_F16, 0}, {"b", DTYPE_F16, 1},    {"p", DTYPE_BF16, 0},   {"q", DTYPE_BF16, 1},
    {"x", DTYPE_F32, 0}, {"y", DTYPE_F32, 1},    {"z", DTYPE_F32, 2},    {"u", DTYPE_F64, 0},
    {"v", DTYPE_F64, 1}, {"e", DTYPE_F8E4M3, 0}, {"g", DTYPE_F8E5M2, 0}, {"i", DTYPE_I32, 0},
    {"j", DTYPE_I32, 1}, {"k", DTYPE_I16, 0},    {"n", DTYPE_U32, 0},    {"m", DTYPE_I64, 0},
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

// ---- values -------------------------------------------------------------------------------------

static uint32_t count_of(bool scalar) { return scalar ? COUNT / THIN : COUNT; }

static uint64_t value_at(const Input *input, uint32_t at, bool scalar) {
    uint64_t values[64];
    if (scalar) at = at * THIN + (uint32_t)(slice_number() % THIN);
    uint32_t n = special_values(input->elem, values, 64);
    uint32_t slow = at / SIDE, quick = at % SIDE, both = slow * TRIPLES + quick;
    if (at < SIDE * SIDE)
        return values[(input->order == 0 ? slow : input->order == 1 ? quick : both) % n];
    uint64_t bits = (at + 1) * UINT64_C(0x9e3779b97f4a7c15) * (2 * input->order + 1);
    return (bits ^ bits >> 29) & type_mask(input->elem);
}

static uint32_t bytes_of(Dtype t) { return (uint32_t)type_width(t) / 8; }

static void put(unsigned char *to, Dtype t, uint64_t bits) {
    for (uint32_t b = 0; b < bytes_of(t); b++) to[b] = (unsigned char)(bits >> 8 * b);
}

static uint64_t get(const unsigned char *from, Dtype t) {
    uint64_t bits = 0;
    for (uint32_t b = 0; b < bytes_of(t); b++) bits |= (uint64_t)from[b] << 8 * b;
    return bits;
}

// ---- a kernel -----------------------------------------------------------------------------------

typedef struct Group {
    uint32_t count;
    uint32_t of[GROUP];  // numbers of chains
    bool scalar;         // element by element
    bool numbers;
    const char *text;
    Arena *arena;
} Group;

static bool is_part_of_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool is_named(const char *text, const char *name) {
    for (const char *at = text; (at = strstr(at, name)); at++)
        if ((at == text || !is_part_of_name(at[-1])) && !is_part_of_name(at[1])) return true;
    return false;
}

static bool reads(const Group *g, uint32_t input) {
    for (uint32_t c = 0; c < g->count; c++)
        if (is_named(chains[g->of[c]].text, inputs[input].name)) return true;
    return false;
}

// A runtime number says which chain a program computes.
static void chain_text(const Group *g, uint32_t c, StrBuf *out) {
    const Chain *chain = &chains[g->of[c]];
    const char *part = g->scalar ? "at + t" : "at +: B";
    strbuf_printf(out, "    if program(1) == %u {\n", c);
    if (g->scalar) strbuf_printf(out, "        for t in 0 .. B {\n");
    for (uint32_t i = 0; i < INPUTS; i++)
        if (is_named(chain->text, inputs[i].name))
            strbuf_printf(out, "        let %s = in_%s[%s];\n", inputs[i].name, inputs[i].name,
                          part);
    strbuf_printf(out, "        out_%u[%s] = %s;\n%s    }\n", c, part, chain->text,
                  g->scalar ? "        }\n" : "");
}

static void write_kernel(Group *g) {
    StrBuf out = strbuf(g->arena);
    strbuf_printf(&out, "kernel chains(");
    for (uint32_t i = 0; i < INPUTS; i++)
        if (reads(g, i))
            strbuf_printf(&out, "%s in_%s[N], ", dtype_name(inputs[i].elem), inputs[i].name);
    for (uint32_t c = 0; c < g->count; c++)
        strbuf_printf(&out, "%s out_%u[N], ", dtype_name(chains[g->of[c]].elem), c);
    strbuf_printf(&out, "const B = %d) grid(cdiv(N, B), %u)\n{\n    let at = program(0) * B;\n",
                  TILE, g->count);
    for (uint32_t c = 0; c < g->count; c++) chain_text(g, c, &out);
    strbuf_printf(&out, "}\n");
    g->text = out.text;
}

// ---- a run --------------------------------------------------------------------------------------

typedef struct Run {
    TileText t;
    IrModule *module;
    IrFunc *kernel;
    IrArg args[INPUTS + GROUP];
    uint32_t first;  // of the outputs
    IrLaunch launch;
} Run;

static IrArg array_of(Arena *arena, Dtype t, uint32_t count) {
    enum { ALIGN = 64 };
    size_t size = (size_t)count * bytes_of(t);
    unsigned char *bytes = arena_new(arena, unsigned char, size + ALIGN);
    bytes += ALIGN - (uintptr_t)bytes % ALIGN;
    memset(bytes, 0x5a, size);
    return (IrArg){.data = bytes, .extent = {count}, .stride = {1}};
}

static void let_numbers_win(IrBlock *block) {
    for (IrOp *op = block->first; op; op = op->next) {
        bool extreme = op->code == IR_MIN || op->code == IR_MAX;
        if (extreme && dtype_is(ir_result(op, 0)->type->elem, DTYPE_CLASS_ANYFLOAT))
            op->code = op->code == IR_MIN ? IR_MINNUM : IR_MAXNUM;
        for (uint32_t i = 0; i < op->region_count; i++) let_numbers_win(op->regions[i]);
    }
}

static Run begin(const Group *g) {
    uint32_t count = count_of(g->scalar);
    Run r = {.t = tile_text(g->text)};
    r.module = ir_module_create(r.t.arena, r.t.sources, r.t.names);
    if (!diags_errors(r.t.diags))
        r.kernel = tile_elaborate(r.t.file, r.module, tile_kernel(r.t.file, 0), &(FrontSpec){0},
                                  r.t.diags);
    if (!r.kernel) fail_msg("%s\n%s", tile_text_diags(&r.t), g->text);
    if (g->numbers) let_numbers_win(ir_body(r.kernel));
    for (uint32_t i = 0; i < INPUTS; i++) {
        if (!reads(g, i)) continue;
        IrArg arg = array_of(r.t.arena, inputs[i].elem, count);
        for (uint32_t at = 0; at < count; at++)
            put((unsigned char *)arg.data + (size_t)at * bytes_of(inputs[i].elem), inputs[i].elem,
                value_at(&inputs[i], at, g->scalar));
        r.args[r.first++] = arg;
    }
    for (uint32_t c = 0; c < g->count; c++)
        r.args[r.first + c] = array_of(r.t.arena, chains[g->of[c]].elem, count);
    r.launch = (IrLaunch){.arg_count = r.first + g->count, .grid = {count / TILE, g->count, 1}};
    return r;
}

static void end(Run *r) { tile_text_free(&r->t); }

static void run_plain(Run *r) {
    r->launch.args = r->args;
    IrInterp *interp = ir_interp_create(r->t.arena, r->kernel);
    assert_int_equal(ir_interp_run(interp, &r->launch, r->t.diags), IR_RUN_DONE);
    ir_interp_destroy(interp);
}

// The first difference of each chain; how many chains differ.
static uint32_t compare(const Group *g, const Run *plain, const Run *run, const char *device) {
    uint32_t wrong = 0;
    for (uint32_t c = 0; c < g->count; c++) {
        const Chain *chain = &chains[g->of[c]];
        size_t bytes = bytes_of(chain->elem);
        const unsigned char *want = plain->args[plain->first + c].data;
        const unsigned char *got = run->args[run->first + c].data;
        for (uint32_t at = 0; at < count_of(g->scalar); at++) {
            uint64_t a = get(want + at * bytes, chain->elem),
                     b = get(got + at * bytes, chain->elem);
            if (a == b || (bits_are_nan(chain->elem, a) && bits_are_nan(chain->elem, b))) continue;
            fprintf(stderr, "%s, %s%s: %s is 0x%llx, expected 0x%llx, of", device,
                    g->scalar ? "scalars" : "tiles", g->numbers ? ", numbers" : "", chain->text,
                    (unsigned long long)b, (unsigned long long)a);
            for (uint32_t i = 0; i < INPUTS; i++)
                if (is_named(chain->text, inputs[i].name))
                    fprintf(stderr, " %s = 0x%llx", inputs[i].name,
                            (unsigned long long)value_at(&inputs[i], at, g->scalar));
            fprintf(stderr, "\n");
            wrong++;
            break;
        }
    }
    return wrong;
}

// ---- devices ------------------------------------------------------------------------------------

enum { CPUS = 5, DEVICES = CPUS + LOWERED_GPUS, PARTS = 31 };
static const char *const cpus[CPUS] = {"x86-64-v2", "x86-64-v3", "x86-64-v4", "native", "aarch64"};

// A loop over scalars is one warp's, a tile two's to eight's.
static uint64_t choice_of(uint32_t device, uint64_t group, bool scalar) {
    return lowered_choice(device - CPUS, scalar ? 0 : 1 + group % 3, 1, 3, group);
}

static const char *device_name(uint32_t device, char name[GPU_NAME_MAX]) {
    if (device < CPUS) return cpus[device];
    return gpu_target_name(lowered_gpu(choice_of(device, 0, false)).gpu, name);
}

// False where this machine lacks the device.
static bool run_on(uint32_t device, uint64_t group, bool scalar, Run *r) {
    IrOutcome outcome = IR_RUN_DONE;
    unsigned facts = lowered_facts(r->kernel, r->args);
    bool fine = true;
    r->launch.args = r->args;
    if (device < CPUS) {
        JittedOptions o = {.facts = facts};
        assert_true(cpu_target_parse(str(cpus[device]), &o.target));
        if (foreign_missing(o.target)) return false;
        fine = jitted_run(r->module, r->kernel, &o, &r->launch, &outcome, r->t.diags);
    } else {
        SimulatedOptions o = {.choice = choice_of(device, group, scalar), .facts = facts};
        fine = simulated_run(r->module, r->kernel, &o, &r->launch, &outcome, r->t.diags);
    }
    if (!fine || outcome != IR_RUN_DONE) fail_msg("%s", tile_text_diags(&r->t));
    return true;
}

// ---- all ----------------------------------------------------------------------------------------

static bool is_whole(void) {
    const char *whole = getenv("TILEC_TEST_WHOLE"), *one = getenv("TILEC_TEST_CHAIN");
    return one || (whole && *whole && *whole != '0');
}

static Group group_of(Arena *arena, uint32_t number, bool scalar) {
    const char *one = getenv("TILEC_TEST_CHAIN");
    Group g = {.arena = arena, .scalar = scalar, .numbers = number >= PLAIN_GROUPS};
    uint32_t groups = g.numbers ? NUMBER_GROUPS : PLAIN_GROUPS, at = 0;
    if (g.numbers) number -= PLAIN_GROUPS;
    // Chains of a group are far apart in the table: neighbours are alike.
    for (uint32_t c = 0; c < CHAINS; c++) {
        if (chains[c].numbers != g.numbers || at++ % groups != number) continue;
        if (one && !strstr(chains[c].text, one)) continue;
        assert_true(g.count < GROUP);
        g.of[g.count++] = c;
    }
    if (g.count) write_kernel(&g);
    return g;
}

typedef struct Tally {
    uint64_t ran[DEVICES];
    uint32_t wrong;
} Tally;

static void run_group(uint32_t number, bool scalar, Tally *tally) {
    Arena *arena = arena_create();
    Group g = group_of(arena, number, scalar);
    Run plain = {0};
    for (uint32_t d = 0; g.count && d < DEVICES; d++) {
        char name[GPU_NAME_MAX];
        uint64_t key = ((uint64_t)number * 2 + scalar) * DEVICES + d;
        if (!is_whole() && !slice_has(key, PARTS)) continue;
        if (os_env("TILEC_TEST_GPU") &&
            (d < CPUS || !simulated_fits(choice_of(d, number + slice_number(), scalar))))
            continue;
        if (!plain.kernel) {
            plain = begin(&g);
            run_plain(&plain);
        }
        Run run = begin(&g);
        if (run_on(d, number + slice_number(), scalar, &run)) {
            tally->ran[d] += g.count;
            tally->wrong += compare(&g, &plain, &run, device_name(d, name));
        }
        end(&run);
    }
    if (plain.kernel) end(&plain);
    arena_destroy(arena);
}

static void chains_keep_the_interpreters_bits(void **state) {
    (void)state;
    Tally tally = {0};
    if (!jitted_possible()) {
        print_message(
            "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
        skip();
    }
    for (uint32_t number = 0; number < GROUPS; number++)
        for (int scalar = 0; scalar < 2; scalar++) run_group(number, scalar != 0, &tally);
    for (uint32_t d = 0; d < DEVICES; d++) {
        char name[GPU_NAME_MAX];
        print_message("  %-10s %llu of %d chains\n", device_name(d, name),
                      (unsigned long long)tally.ran[d], 2 * CHAINS);
    }
    assert_int_equal(tally.wrong, 0);
}

// A chain without an input that it names would compare nothing.
static void every_chain_reads_something(void **state) {
    (void)state;
    for (uint32_t c = 0; c < CHAINS; c++) {
        bool some = false;
        for (uint32_t i = 0; i < INPUTS; i++)
            some = some || is_named(chains[c].text, inputs[i].name);
        if (!some) fail_msg("%s reads nothing", chains[c].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_chain_reads_something),
        cmocka_unit_test(chains_keep_the_interpreters_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
