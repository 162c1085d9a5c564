// Writes the tables of docs/chips.md: chips and matrix instructions.
//
//     gen_chips_docs docs/chips.md           writes them
//     gen_chips_docs --check docs/chips.md   fails when they are not up to date
#include "scripts/gen/page.h"
#include "target/chip.h"

typedef struct Flag {
    unsigned bit;
    const char *text;
} Flag;

static const Flag flags[] = {
    {CHIP_ASYNC_COPY, "asynchronous copies to shared memory"},
    {CHIP_NAN_F32, "NaN-keeping min and max of f32"},
    {CHIP_NAN_F64, "NaN-keeping min and max of f64"},
    {CHIP_F16_DOT, "pairwise products of f16"},
    {CHIP_PACKED_F32, "packed f32 arithmetic"},
    {CHIP_CHIPLETS, "chiplets"},
    {CHIP_WGMMA, "products of four warps"},
};

static void add_flags(StrBuf *out, const Chip *chip, bool own) {
    const char *separator = "";
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!(chip->flags & flags[i].bit) || (flags[i].bit == CHIP_WGMMA && !own)) continue;
        strbuf_printf(out, "%s%s", separator, flags[i].text);
        separator = ", ";
    }
    if (chip->direct_bytes)
        strbuf_printf(out, "%sdirect loads to shared memory of %u bytes", separator,
                      chip->direct_bytes);
}

static void add_nvidia(StrBuf *out) {
    strbuf_add(out, STR("| target | PTX | warps | blocks | shared memory, per block (KiB) "
                        "| f32 : f64 | has |\n|---|---|---|---|---|---|---|\n"));
    GpuTarget t;
    for (size_t i = 0; gpu_target_at(i, &t) && t.vendor == GPU_NVIDIA; i++) {
        const Chip *c = chip_of(t);
        char name[GPU_NAME_MAX];
        uint32_t ptx = t.own ? c->ptx_own : c->ptx;
        strbuf_printf(out, "| %s | %u.%u | %u | %u | %u, %u | %u | ", gpu_target_name(t, name),
                      ptx / 10, ptx % 10, c->warps, c->blocks, c->shared_bytes / 1024,
                      c->shared_max / 1024, c->f64_ratio);
        add_flags(out, c, t.own);
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_amd(StrBuf *out) {
    strbuf_add(out, STR("| target | generic | lanes | waves | registers | shared memory, per "
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
                      c->shared_bytes / 1024, c->shared_max / 1024, c->f64_ratio,
                      c->simulated == CHIP_SIM_DEVICE ? "device"
                      : c->simulated                  ? "as another chip"
                                                      : "");
        add_flags(out, c, false);
        strbuf_add(out, STR(" |\n"));
    }
}

static void add_chips(StrBuf *out, const MatrixOp *op) {
    GpuTarget t;
    const char *separator = "";
    for (size_t i = 0; gpu_target_at(i, &t); i++) {
        char name[GPU_NAME_MAX];
        bool own = op->shape.unit == MATRIX_UNIT_WGMMA;
        if (t.own != own || !matrix_find(chip_of(t), op->shape, op->a, op->b, op->sum)) continue;
        strbuf_printf(out, "%s%s", separator, gpu_target_name(t, name));
        separator = ", ";
    }
}

static const char *used(const MatrixOp *op) {
    if (op->shape.unit == MATRIX_UNIT_WGMMA) return "first, for large tiles";
    return op->chosen ? "yes" : "";
}

static void add_matrices(StrBuf *out) {
    strbuf_add(out, STR("| unit | a | b | sum | m × n × k | `dot` | chips |\n"
                        "|---|---|---|---|---|---|---|\n"));
    const MatrixOp *op;
    for (size_t i = 0; (op = matrix_at(i)); i++) {
        const char *a = op->a != DTYPE_F32 ? dtype_name(op->a) : op->exact ? "f32" : "f32 as tf32";
        strbuf_printf(out, "| %s | %s | %s | %s | %u × %u × %u | %s | ",
                      matrix_unit_name(op->shape.unit), a, dtype_name(op->b), dtype_name(op->sum),
                      op->shape.m, op->shape.n, op->shape.k, used(op));
        add_chips(out, op);
        strbuf_add(out, STR(" |\n"));
    }
}

static const PagePart parts[] = {
    {"nvidia", add_nvidia},
    {"amd", add_amd},
    {"matrix", add_matrices},
};

int main(int argc, char **argv) {
    return page_main(argc, argv, parts, sizeof parts / sizeof *parts);
}
