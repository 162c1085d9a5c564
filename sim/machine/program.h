// Programs of the warp machine: decoded code, ready to run, from any reader.
//
// Purpose: the output of a reader (sim/ptx) and the input of the executor. A kernel is one flat
// array of instructions; calls are inlined, so every register has a fixed place in the register
// file.
//
// Invariants: a register file is an array of bytes. A register of b bits takes SIM_LANES values of
// its size, one for each lane, at a multiple of 64 (a predicate: one 32-bit mask of lanes). 8-bit
// registers are stored as 16-bit ones. Registers also have dense numbers (for poison). Immediates,
// addresses of variables and special registers are registers like others; they are listed as
// constants and filled in before a block begins, so handlers know only registers. `join` of a
// branch is the place where its lanes reconverge (its immediate post-dominator), or code_count if
// they reconverge only at the end. Every path of the code ends in an instruction of flow SIM_EXIT.
// Ownership: the arena of the reader that decoded it; it never changes afterwards. sim_program_load
// allocates memory for a module's variables.
//
//     const SimKernel *k = sim_kernel_find(program, STR("softmax"));
//     for (uint32_t pc = 0; pc < k->code_count; pc++) puts(k->code[pc].name);
#ifndef TILEC_SIM_MACHINE_PROGRAM_H
#define TILEC_SIM_MACHINE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    SIM_LANES = 32,
    SIM_LANES_MAX = 64,
    SIM_BANKS = 32,
    SIM_REGISTER_ALIGN = 64,
    SIM_NO_REGISTER = -1
};

typedef enum SimType {
#define SIM_TYPE(name, text, bits) SIM_##name,
#include "sim/machine/type.def"
#undef SIM_TYPE
    SIM_TYPES
} SimType;
unsigned sim_type_bits(SimType type);
const char *sim_type_name(SimType type);
// Bytes of one lane's value in the register file: 2, 4, 8 or 16; 0 for predicates.
unsigned sim_type_slot(SimType type);

typedef struct SimWarp SimWarp;
typedef struct SimInstr SimInstr;
typedef void SimHandler(SimWarp *warp, const SimInstr *instr);

// A register's place in the file, and its number.
typedef struct SimOperand {
    uint32_t at;
    int32_t number;  // SIM_NO_REGISTER: the operand is absent
} SimOperand;

// The scheduler's action for an instruction.
typedef enum SimFlow {
    SIM_NEXT,     // call the handler, continue
    SIM_JUMP,     // all active lanes go to the target
    SIM_BRANCH,   // lanes whose guard holds go to the target, the others go on
    SIM_SWITCH,   // brx.idx: each lane to one of several targets (detail: SimSwitch)
    SIM_EXIT,     // active lanes end
    SIM_BARRIER,  // may wait for other warps (detail: SimBarrierOp)
    SIM_COLLECT,  // waits for the lanes of a member mask (operand `members`), then calls the
                  // handler
    SIM_WAIT,     // the handler sets warp->retry if it must run again later; SIM_UNIFORM: by all
                  // lanes of the warp
} SimFlow;

typedef enum SimInstrFlag {
    SIM_NOT_GUARD = 1,  // the guard is negated
    SIM_NOT_A = 2,      // predicate operand a, b, c is negated
    SIM_NOT_B = 4,
    SIM_NOT_C = 8,
    SIM_FTZ = 16,  // subnormals (f32) become zeros of the same sign
    SIM_SAT = 32,
    SIM_RELU = 64,
    SIM_NAN = 128,  // min, max: NaN wins
    SIM_XORSIGN = 256,
    SIM_APPROX = 512,
    SIM_OWN_POISON = 1024,  // the handler computes the poison of its results
    SIM_MATRIX = 2048,      // counts as a matrix operation
    SIM_UNIFORM = 4096,     // .aligned: all lanes of the warp must arrive together
    SIM_FULL = 8192,        // div.full: approximate over the whole range
    SIM_WRAP = 16384,       // shf.wrap, mul.hi etc: variant of the handler
    SIM_CARRY = 32768,      // .cc
    SIM_IN_FLIGHT = 65536   // its registers belong to its flight (SimFlight)
} SimInstrFlag;

typedef enum SimRound { SIM_RN, SIM_RZ, SIM_RM, SIM_RP, SIM_RNA, SIM_RS } SimRound;

// A source place, from .file and .loc.
typedef struct SimLine {
    Str file;  // empty: unknown
    uint32_t line, column;
    uint32_t text_line;  // line in the PTX text, from 1
} SimLine;

struct SimInstr {
    SimHandler *run;
    uint8_t flow;           // SimFlow
    uint8_t round;          // SimRound
    uint8_t type, from;     // SimType of the result or operation, and of the source (cvt, set)
    uint32_t flags;         // SimInstrFlag bits
    uint8_t writes, reads;  // how many of `registers` are results, and how many operands
    SimOperand guard;
    SimOperand d, a, b, c, e;  // results and operands in text order
    uint32_t target, join;
    const void *detail;        // for families with more data: SimAccessOp, SimMatrixOp, …
    const int32_t *registers;  // numbers: results first, then operands (not the guard)
    uint64_t immediate;
    const char *name;  // "ld.global.v4.b32"
    SimLine line;
};

typedef enum SimConstantKind {
    SIM_CONSTANT_BITS,      // value
    SIM_CONSTANT_VARIABLE,  // address of a module's variable + value
    SIM_CONSTANT_SPECIAL    // SimSpecial
} SimConstantKind;

typedef enum SimSpecial {
#define SIM_SPECIAL(name, text) SIM_##name,
#include "sim/machine/special.def"
#undef SIM_SPECIAL
    SIM_SPECIAL_COUNT
} SimSpecial;

typedef struct SimConstant {
    SimOperand to;
    uint8_t kind;    // SimConstantKind
    uint8_t slot;    // bytes of a lane: 2, 4, 8, 16; 0: a predicate
    uint32_t index;  // of the variable, or SimSpecial
    uint64_t value;
} SimConstant;

typedef struct SimParam {
    Str name;
    uint32_t offset, size, align;  // in the parameter block
} SimParam;

typedef struct SimVariable {  // .global and .const variables of the module
    Str name;
    uint64_t size;
    uint32_t align;
    bool constant;
    const uint8_t *bytes;  // initial contents, NULL: zeros
    // Addresses of other variables in the contents: 8 bytes at `at`, the address of variable
    // `index`.
    const struct SimRelocation {
        uint64_t at, addend;
        uint32_t index;
    } * relocations;
    uint32_t relocation_count;
} SimVariable;

struct SimLaunch;
struct SimResult;

typedef struct SimKernel {
    Str name;
    const SimInstr *code;
    uint32_t code_count;
    uint32_t register_bytes, register_count;
    const SimConstant *constants;
    uint32_t constant_count;
    const SimParam *params;
    uint32_t param_count, param_bytes;
    uint32_t shared_bytes;  // static; the launch's dynamic memory begins after it
    bool takes_shared;      // uses the launch's dynamic shared memory
    uint32_t local_bytes;   // for each thread
    uint32_t maxntid[3], reqntid[3], cluster[3];  // 0: not given
    uint32_t maxnreg;                             // registers of a thread; 0: not given
    // For code of another machine; NULL: sim_run runs it.
    struct SimResult (*run)(const struct SimLaunch *launch);
    const void *machine;
} SimKernel;

typedef struct SimProgram {
    unsigned arch;      // 80 for sm_80
    bool arch_a;        // sm_90a
    bool arch_generic;  // gfx11-generic
    unsigned version;   // PTX version: 80 for 8.0
    const SimKernel *kernels;
    uint32_t kernel_count;
    const SimVariable *variables;
    uint32_t variable_count;
} SimProgram;

const SimKernel *sim_kernel_find(const SimProgram *program, Str name);

#endif
