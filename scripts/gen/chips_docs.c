// Writes docs/chips.md from the tables of chips and of matrix instructions.
//
//     gen_chips_docs docs/chips.md           writes it
//     gen_chips_docs --check docs/chips.md   fails when the file is not what would be written
#include "scripts/gen/page.h"
#include "target/chip.h"

static const char head[] =
    "<!-- Generated from target/chips.def and target/matrix.def by scripts/gen/chips_docs.c\n"
    "(the program gen_chips_docs): do not edit. -->\n"
    "# What each GPU can do\n"
    "\n"
    "The compiler knows GPUs by two tables, `target/chips.def` and `target/matrix.def`. This page\n"
    "shows them. [add-a-target.md](add-a-target.md) says how to add a chip. `tilec devices\n"
    "--targets` lists the same names, and the cards that have these chips.\n";

typedef struct Flag {
    unsigned bit;
    const char *text;
} Flag;

static const Flag flags[] = {
    {CHIP_ASYNC_COPY, "copies to shared memory while it computes"},
    {CHIP_NAN_F32, "min and max of f32 that keep NaN"},
    {CHIP_NAN_F64, "min and max of f64 that keep NaN"},
    {CHIP_F16_DOT, "products of f16 by pairs"},
    {CHIP_PACKED_F32, "f32 by pairs"},
    {CHIP_CHIPLETS, "chiplets"},
};

static void add_flags(StrBuf *out, const Chip *chip) {
    const char *separator = "";
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(chip->flags & flags[i].bit)) continue;
        strbuf_printf(out, "%s%s", separator, flags[i].text);
        separator = ", ";
    }
    if (chip->direct_bytes)
        strbuf_printf(out, "%sloads of %u bytes straight to shared memory", separator,
                      chip->direct_bytes);
}

static void add_nvidia(StrBuf *out) {
    strbuf_add(out, STR("\n## NVIDIA\n\n"
                        "Numbers are of one multiprocessor. A target with an `a` may use\n"
                        "instructions that only its architecture has.\n\n"
                        "| target | PTX | warps | blocks | shared memory, of a block (KiB) "
                        "| f32 : f64 | has |\n|---|---|---|---|---|---|---|\n"));
    GpuTarget t;
    for (size_t i = 0; gpu_target_at(i, &t) && t.vendor == GPU_NVIDIA; i++) {
        const Chip *c = chip_of(t);
        char name[GPU_NAME_MAX];
        uint32_t ptx = t.own ? c->ptx_own : c->ptx;
        strbuf_printf(out, "| %s | %u.%u | %u | %u | %u, %u | %u | ", gpu_target_name(t, name),
                      ptx / 10, ptx % 10, c->warps, c->blocks, c->shared_bytes / 1024,
                      c->shared_most / 1024, c->f64_ratio);
        add_flags(out, c);
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_amd(StrBuf *out) {
    strbuf_add(out, STR("\n## AMD\n\n"
                        "Waves and vector registers (of a lane) are of one SIMD, shared memory is\n"
                        "of a compute unit, or from gfx10 on of a work-group processor. Code of a\n"
                        "`generic` target runs on several processors.\n\n"
                        "| target | generic | lanes | waves | registers | shared memory, of a "
                        "program (KiB) | f32 : f64 | `sim:` | has |\n"
                        "|---|---|---|---|---|---|---|---|---|\n"));
    GpuTarget t, generic;
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        const Chip *c = chip_of(t);
        char name[GPU_NAME_MAX];
        if (t.vendor != GPU_AMD) continue;
        strbuf_printf(out, "| %s | ", gpu_target_name(t, name));
        for (size_t j = 0; !t.generic && gpu_target_at(j, &generic); j++)
            if (generic.generic && gpu_target_runs(generic, t))
                strbuf_printf(out, "%s", gpu_target_name(generic, name));
        strbuf_printf(out, " | %u | %u | %u | %u, %u | %u | %s | ", c->warp, c->warps, c->registers,
                      c->shared_bytes / 1024, c->shared_most / 1024, c->f64_ratio,
                      c->simulated == CHIP_SIM_DEVICE ? "device"
                      : c->simulated                  ? "runs its code"
                                                      : "");
        add_flags(out, c);
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_chips(StrBuf *out, const MatrixOp *op) {
    GpuTarget t;
    const char *separator = "";
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        char name[GPU_NAME_MAX];
        if (t.own || !matrix_find(chip_of(t), op->shape, op->a, op->b, op->sum)) continue;
        strbuf_printf(out, "%s%s", separator, gpu_target_name(t, name));
        separator = ", ";
    }
}

static void add_matrices(StrBuf *out) {
    strbuf_add(out, STR("\n## Matrix instructions\n\n"
                        "`dot` takes the first row of its types whose k is no longer than its\n"
                        "own. The other rows exist on the chip. Those of MFMA with 32 rows and\n"
                        "columns are used where a warp has as many. A target with an `a` has\n"
                        "what the plain one has.\n\n"
                        "| unit | a | b | sum | m × n × k | `dot` | chips |\n"
                        "|---|---|---|---|---|---|---|\n"));
    const MatrixOp *op;
    for (size_t i = 0; (op = matrix_at(i)); i++) {
        const char *a = op->a != DTYPE_F32 ? dtype_name(op->a) : op->exact ? "f32" : "f32 as tf32";
        strbuf_printf(out, "| %s | %s | %s | %s | %u × %u × %u | %s | ",
                      matrix_unit_name(op->shape.unit), a, dtype_name(op->b), dtype_name(op->sum),
                      op->shape.m, op->shape.n, op->shape.k, op->chosen ? "yes" : "");
        add_chips(out, op);
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_page(StrBuf *out) {
    strbuf_add(out, str(head));
    add_nvidia(out);
    add_amd(out);
    add_matrices(out);
}

int main(int argc, char **argv) { return page_main(argc, argv, add_page); }
