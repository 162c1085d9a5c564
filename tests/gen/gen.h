// Random programs, well typed by construction: kernels of IR, and texts of the Tile language.
//
// A kernel of IR may contain every op of the table that stands at tile level, chosen by weights
// that follow the op's rule, so that a new op of a known rule is generated without a change here.
// To have one right answer on every target, it never does the following: read or write out of a
// buffer through a pointer, let two programs of the grid touch one element that either writes,
// write one element from two lanes of an op, sum floats that do not sum exactly, look at the bits
// of a NaN that arithmetic made, run a loop for long. Launch it with any_launch(…, seed,
// ANY_SPECIAL) of the same seed. Ownership: the module's arena.
//
//     IrFunc *f = gen_kernel(m, seed, (GenSize){.statements = 40, .depth = 2});
#ifndef TILEC_TESTS_GEN_GEN_H
#define TILEC_TESTS_GEN_GEN_H

#include "base/diag.h"
#include "ir/ir.h"
#include "target/target.h"
#include "tests/support/jitted.h"

typedef struct GenSize {
    uint32_t statements;
    uint32_t depth;  // of nested control
    // No atomics on views of 8 and 16 bits. GPUs exchange the word around them, and the warp
    // machine takes that for a write of the neighbours, too, which may be another program's.
    bool apart;
} GenSize;

// Functions that the kernel calls stand before it in the module.
IrFunc *gen_kernel(IrModule *m, uint64_t seed, GenSize size);

// A source file with one kernel `k`, which tile_check accepts.
Str gen_source(Arena *arena, uint64_t seed);

// A kernel of elementwise ops on special values, for the same launch (tests/gen/gen_chain.h).
IrFunc *gen_chain(IrModule *m, uint64_t seed);

// Adds up how often each opcode stands in the module.
void gen_count(const IrModule *m, uint64_t counts[IR_OPCODES]);

// Everything that must hold of a random kernel: it verifies, its text reads back, it runs without
// findings, and does the same after every pass, after random orders of passes, after the whole
// pipeline. False with *problem set, which holds all that is needed to see it again.
bool gen_check(uint64_t seed, GenSize size, uint64_t counts[IR_OPCODES], Arena *arena,
               Str *problem);
// A step of making a failing kernel small: zeros take the place of the op's results, so that it can
// be erased. False where that could lead a good kernel astray.
bool gen_drop(IrOp *op);
// Compiled for a target that the seed picks, it does what it does on the interpreter.
typedef struct GenCode {
    GenSize size;
    bool quick;           // as in JittedOptions
    bool chain;           // of gen_chain
    const char *foreign;  // for this one of gen_targets (tests/support/foreign.h)
} GenCode;
bool gen_check_code(uint64_t seed, GenCode how, Arena *arena, Str *problem);
// A target whose results must agree: the interpreter after the passes, CPUs, simulated GPUs.
typedef struct GenTarget {
    const char *name;
    enum { GEN_PASSES, GEN_CPU, GEN_GPU } kind;
    CpuTarget cpu;
    GpuTarget gpu;
} GenTarget;
enum { GEN_TARGETS = 12 };
extern const GenTarget gen_targets[GEN_TARGETS];
// Why the target's code cannot be run here; NULL when it can.
const char *gen_target_missing(const GenTarget *target);
// A random kernel or chain does the same on each of the targets, as the interpreter does.
bool gen_check_targets(uint64_t seed, const GenTarget *const *targets, size_t count, Arena *arena,
                       Str *problem);
// The same for a text written by hand, for the launch of this seed.
bool gen_check_text(Str text, uint64_t seed, const GenTarget *const *targets, size_t count,
                    Arena *arena, Str *problem);
// The same after a defect was put into the lowered code: found out is what is wanted.
typedef enum GenPlanted { GEN_NO_PLACE, GEN_FOUND_OUT, GEN_MISSED } GenPlanted;
GenPlanted gen_check_planted(uint64_t seed, GenCode how, JittedPlant plant);
// A mutant of a random kernel goes through a back end of each kind, which make code of it or say
// why not, and runs on the warp machine where the interpreter finds nothing (gen_mutate.h).
bool gen_check_mutants(uint64_t seed, Arena *arena, Str *problem);
// Mutants of a random kernel's code run on the warp machine to an end in words
// (gen_mutate_code.h).
bool gen_check_code_mutants(uint64_t seed, Arena *arena, Str *problem);
// The same of a source text: it is right, elaborates, verifies, and passes keep what it does.
bool gen_check_source(uint64_t seed, Arena *arena, Str *problem);

#endif
