// Decoded AMD code.
//
// Purpose: the output of the reader and the input of the wave machine. A kernel of AMD code is a
// SimKernel (names, lines, parameters, for observers and callers) together with an AmdKernel with
// the same number of instructions.
// Invariants: every branch goes to an instruction of the kernel. Register numbers are below the
// counts of the kernel, those of scalar registers below AMD_SCALARS. A handler gets the operands
// that its row of amd.def names.
// Ownership: the arena given to amd_read.
//
//     const AmdKernel *k = sim_kernel->machine;
//     for (uint32_t n = 0; n < k->count; n++) puts(k->code[n].row->name);
#ifndef TILEC_SIM_AMD_PROGRAM_H
#define TILEC_SIM_AMD_PROGRAM_H

#include "sim/machine/program.h"
#include "target/amd_object.h"

typedef struct AmdWave AmdWave;
typedef struct AmdInstr AmdInstr;
typedef struct AmdLanes AmdLanes;
typedef struct AmdScalars AmdScalars;
typedef void AmdRun(AmdWave *wave, const AmdInstr *instr);
typedef void AmdLaneFunction(const AmdLanes *lanes);
typedef uint64_t AmdScalarFunction(AmdScalars *scalars);

// The type of an operand: a letter in a row's roles.
typedef enum AmdType {
    AMD_B32 = 'b',
    AMD_F32 = 'f',
    AMD_B16 = 'w',
    AMD_F16 = 'h',
    AMD_BF16 = 'e',
    AMD_B64 = 'q',
    AMD_F64 = 'd',
    AMD_B16X2 = 'I',
    AMD_F16X2 = 'P',
    AMD_BF16X2 = 'E',
    AMD_F32X2 = 'F',
    AMD_MIX = 'x',       // f32, or a half that is converted to f32
    AMD_MASK = 'm',      // one bit for each lane
    AMD_SIGNED16 = 'k',  // a constant in the instruction
    AMD_UNSIGNED16 = 'K',
    AMD_WORDS = 'r',  // as many registers as the text names, unconverted
} AmdType;

typedef enum AmdOperandKind {
    AMD_NOTHING,  // "off", or "null" as an operand that may be missing
    AMD_VECTOR,   // v0 …; from AMD_ACCUMULATORS on a0 …
    AMD_SCALAR,
    AMD_CONSTANT
} AmdOperandKind;

enum {
    AMD_ACCUMULATORS = 256,
    AMD_VECTORS = 512,
    // Scalar registers beyond s0 to s105.
    AMD_VCC = 106,
    AMD_TTMP = 108,
    AMD_M0 = 124,
    AMD_NULL = 125,
    AMD_EXEC = 126,
    AMD_FLAT = 128,  // flat_scratch, for processors that have it as registers
    AMD_SCC = 130,
    AMD_VCCZ = 131,
    AMD_EXECZ = 132,
    AMD_XNACK = 134,
    AMD_SCALARS = 152,  // room for the widest register after the last
    AMD_SOURCES = 6,
    AMD_LANES = 64
};

typedef struct AmdOperand {
    uint8_t kind, type;  // AmdOperandKind, AmdType
    uint8_t words;
    bool negated, absolute, extended;  // modifiers of the text
    bool high, half;                   // v0.h; v0.l or v0.h
    uint16_t number;                   // number of the first register
    uint64_t value;                    // a constant, as bits of its type
} AmdOperand;

// How poison propagates through an instruction. For the first rules, each result bit depends on at
// most one bit of each operand in the name, and on all bits of the other operands.
typedef enum AmdPoisonRule {
    AMD_BITS_A = 1,
    AMD_BITS_B = 2,
    AMD_BITS_AB = 3,
    AMD_BITS_AC = 5,
    AMD_BITS_ABC = 7,
    AMD_ALL,        // any operand bit affects the whole result
    AMD_FIND,       // AMD_ALL, for the bits of operand a up to the first one that counts
    AMD_UP,         // integer sums and products: from the lowest poisoned bit upward
    AMD_COUNT,      // AMD_UP of operand b; any bit of operand a affects the whole result
    AMD_HALVES,     // each half on its own
    AMD_SHIFT,      // AMD_BITS_B; of operand a, only the low bits that give the shift amount matter
    AMD_SHIFT_A,    // the same, with operand a shifted by operand b
    AMD_OF_BYTE_0,  // AMD_ALL, for that byte of operand a
    AMD_OF_BYTE_1,
    AMD_OF_BYTE_2,
    AMD_OF_BYTE_3,
} AmdPoisonRule;

typedef enum AmdFamily {
    AMD_FAMILY_LANES,
    AMD_FAMILY_SCALAR,
    AMD_FAMILY_OWN,  // has its own handler
    AMD_FAMILY_IGNORED,
} AmdFamily;

typedef struct AmdRow {
    const char *name;
    const char *roles;  // "results:operands"
    AmdLaneFunction *lanes;
    AmdScalarFunction *scalar;
    AmdRun *run;
    uint8_t family, poison;  // AmdFamily, AmdPoisonRule
} AmdRow;

typedef enum AmdMove {  // moves of DPP
    AMD_MOVE_NONE,
    AMD_QUAD_PERM,
    AMD_ROW_SHL,
    AMD_ROW_SHR,
    AMD_ROW_ROR,
    AMD_WAVE_SHL,
    AMD_WAVE_SHR,
    AMD_WAVE_ROL,
    AMD_WAVE_ROR,
    AMD_ROW_MIRROR,
    AMD_ROW_HALF_MIRROR,
    AMD_ROW_BCAST,
    AMD_ROW_SHARE,
    AMD_ROW_XMASK,
    AMD_DPP8
} AmdMove;

typedef struct AmdDpp {
    AmdMove move;
    uint32_t amount;  // amount, or 2 bits a lane (quad_perm), 3 bits a lane (dpp8)
    uint8_t rows, banks;
    bool zeros, fetch_inactive;
} AmdDpp;

typedef enum AmdSelect {
    AMD_BYTE_0,
    AMD_BYTE_1,
    AMD_BYTE_2,
    AMD_BYTE_3,
    AMD_WORD_0,
    AMD_WORD_1,
    AMD_DWORD
} AmdSelect;
typedef enum AmdUnused { AMD_UNUSED_PAD, AMD_UNUSED_SEXT, AMD_UNUSED_PRESERVE } AmdUnused;
typedef struct AmdSdwa {
    bool present;
    uint8_t result, unused, operands[2];  // AmdSelect, AmdUnused
} AmdSdwa;

typedef enum AmdUnit {
    AMD_SMEM,
    AMD_GLOBAL,
    AMD_FLAT_UNIT,
    AMD_SCRATCH,
    AMD_BUFFER,
    AMD_DS
} AmdUnit;
typedef enum AmdAction { AMD_LOAD, AMD_STORE, AMD_ATOMIC } AmdAction;
typedef enum AmdAtom {
    AMD_ATOM_ADD,
    AMD_ATOM_SUB,
    AMD_ATOM_RSUB,
    AMD_ATOM_SMIN,
    AMD_ATOM_UMIN,
    AMD_ATOM_SMAX,
    AMD_ATOM_UMAX,
    AMD_ATOM_AND,
    AMD_ATOM_OR,
    AMD_ATOM_XOR,
    AMD_ATOM_INC,
    AMD_ATOM_DEC,
    AMD_ATOM_SWAP,
    AMD_ATOM_CMPSWAP,
    AMD_ATOM_ADD_F32,
    AMD_ATOM_ADD_F64,
    AMD_ATOM_MIN_F,
    AMD_ATOM_MAX_F,
    AMD_ATOM_ADD_F16X2,
    AMD_ATOM_ADD_BF16X2
} AmdAtom;

typedef struct AmdAccess {
    uint8_t unit, action, atom;  // AmdUnit, AmdAction, AmdAtom
    uint8_t bytes;               // for each lane, at one address
    uint8_t words;               // number of its registers
    bool sign;                   // sign-extends narrow values
    bool half, high;             // d16: the other half of the register is kept
    uint8_t pieces;              // 2: ds_read2 and similar
    bool returns;                // for atomics
    bool to_lds;
    uint8_t transposed;  // bits of an element; the columns of 16 lanes are loaded as rows
    bool offen, idxen;
    uint8_t coherence;                             // 0: weak; else 1 + SimScope
    int64_t offset[2];                             // bytes
    AmdOperand data, result, address, base, more;  // base: scalar; more: soffset, second data
} AmdAccess;

typedef enum AmdElement {
    AMD_E_F32,
    AMD_E_XF32,
    AMD_E_F64,
    AMD_E_F16,
    AMD_E_BF16,
    AMD_E_FP8,
    AMD_E_BF8,
    AMD_E_F6,  // e2m3
    AMD_E_BF6,
    AMD_E_F4,
    AMD_E_I8,
    AMD_E_I4,
    AMD_E_I32
} AmdElement;

// A product d = a * b + c of blocks of matrices, each m by n by k.
typedef struct AmdMatrix {
    uint16_t m, n, k, blocks;
    uint8_t a, b, c;   // AmdElement; c: of the result, too
    uint8_t form;      // of WMMA: the generation, 11 or 12; 0: MFMA
    bool clamp, high;  // high: gfx11's results go to the upper halves
    bool a_signed, b_signed, scaled;
    AmdOperand a_scale, b_scale;
    uint8_t a_byte, b_byte;  // the byte in the scales' registers
} AmdMatrix;

typedef struct AmdWait {
    uint8_t counts[4];  // by AmdCounter; 255: not waited for
} AmdWait;

struct AmdInstr {
    AmdRun *run;
    const AmdRow *row;
    AmdOperand d[2], s[AMD_SOURCES];
    uint8_t results, operands;
    bool clamp, matrix;
    uint8_t omod;  // 0; 1: times 2; 2: times 4; 3: half
    // One bit for each source; in op_sel, the bit after those of the sources is for the result.
    uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;
    bool writes_scc, reads_dst;
    AmdDpp dpp;
    AmdSdwa sdwa;
    uint32_t address;  // address of the next instruction in the image
    uint32_t target;   // index of a branch's target
    int64_t immediate;
    const void *detail;     // AmdAccess, AmdMatrix, AmdWait
    const AmdInstr *other;  // the second half of a pair
};

typedef struct AmdKernel {
    const AmdInstr *code;
    uint32_t count;
    const AmdObject *object;
    const AmdObjectKernel *source;
    uint32_t lanes;       // 32 or 64
    uint32_t vectors;     // registers of the wave; AGPRs start at AMD_ACCUMULATORS
    uint32_t processor;   // 0x942
    uint32_t generation;  // 9 (90a, 942, 950), 10, 11, 12
} AmdKernel;

// 9 for 0x942, 12 for 0x1201: the number's digits are read as decimal.
static inline uint32_t amd_generation(uint32_t processor) {
    return (processor >> 12) * 10 + (processor >> 8 & 15);
}

#endif
