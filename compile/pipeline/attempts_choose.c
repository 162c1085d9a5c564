// The schedules that LLVM is asked for: the first, and later ones if the facts of the code say that
// they can be better.
#include "compile/pipeline/attempts.h"
#include "passes/gpu/tuning.h"
#include "target/occupancy.h"

// ptxas saves registers, and recomputes values, to raise occupancy. It does not know that shared
// memory limits the number of blocks anyway. If we ask for one block, it stops saving. We do not
// ask if TUNE_PTXAS_WORTH registers for each thread would cost more than one block. If they cost
// one, ptxas must still not spill: we ask for as many blocks as leave each thread all the registers
// that it can have.
static CodegenSchedule limit_blocks(const AttemptProgram *p, uint32_t shared_bytes) {
    const Chip *chip = chip_of(p->target.gpu);
    Occupancy o = gpu_occupancy(chip, p->threads, 0, shared_bytes);
    uint32_t worth = chip->registers / TUNE_PTXAS_WORTH / p->threads;
    uint32_t least = chip->registers / TUNE_PTXAS_MAX / p->threads;
    if (o.limit != OCCUPANCY_SHARED || !worth || o.blocks > worth + 1) return (CodegenSchedule){0};
    return (CodegenSchedule){CODEGEN_BLOCKS, o.blocks > worth && least ? least : 1};
}

CodegenSchedule attempts_first(const AttemptProgram *program, uint32_t shared_bytes) {
    if (program->target.gpu.vendor == GPU_NVIDIA) return limit_blocks(program, shared_bytes);
    return (CodegenSchedule){CODEGEN_DEFAULT, 0};
}

AttemptFault attempts_fault(const AttemptProgram *program, const CodegenFacts *facts) {
    enum { SIMDS = 4 };
    if (!facts->known || program->target.gpu.vendor != GPU_AMD) return (AttemptFault){0};
    const Chip *chip = chip_of(program->target.gpu);
    AmdNeeds needs = {.threads = program->threads,
                      .lanes = program->lanes,
                      .vectors = facts->vectors,
                      .shared_bytes = facts->shared_bytes};
    AttemptFault f = {.vectors = facts->vector_spills,
                      .waves = amd_occupancy(chip, &needs).warps / SIMDS,
                      .scalars = facts->scalar_spills};
    needs.vectors -= needs.vectors / TUNE_WAVE_NEARLY;
    f.nearly = amd_occupancy(chip, &needs).warps / SIMDS;
    if (f.nearly <= f.waves) f.nearly = 0;
    return f;
}

bool attempts_is_better(const AttemptFault *f, const AttemptFault *than) {
    if (f->vectors != than->vectors) return f->vectors < than->vectors;
    if (f->waves != than->waves) return f->waves > than->waves;
    if (f->scalars != than->scalars) return f->scalars < than->scalars;
    return f->nearly < than->nearly;
}

// One more wave is worth an attempt. Otherwise spilled registers are worth another order of
// instructions.
static bool can_win(CodegenStrategy strategy, const AttemptFault *best) {
    if (best->nearly && !best->vectors) return strategy == CODEGEN_WAVES;
    if (strategy == CODEGEN_WAVES) return false;
    return best->vectors ? best->vectors <= TUNE_SPILLS_MAX : best->scalars != 0;
}

bool attempts_next(CodegenStrategy last, const AttemptFault *best, CodegenSchedule *next) {
    static const CodegenStrategy order[] = {CODEGEN_WAVES, CODEGEN_REGISTERS, CODEGEN_CLAUSES};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (order[i] <= last || !can_win(order[i], best)) continue;
        *next = (CodegenSchedule){order[i], order[i] == CODEGEN_WAVES ? best->nearly : 0};
        return true;
    }
    return false;
}
