// Decoding: converts the statements of one kernel to instructions, with the functions it calls
// inlined.
//
// Purpose: declarations shared by the decode_*.c files. Each family of sim/ptx/ptx.def is one
// function here: it takes the modifiers it knows, makes operands, and fills the instruction;
// leftover modifiers are an error.
// Invariants: an instruction is added when its family returns true.
// Ownership: the arena of ptx_read.
//
//     static bool decode_sleep(Decoder *d) {
//         d->now.run = sim_yield;
//         return next_read(d, SIM_U32, &d->now.a);
//     }
#ifndef TILEC_SIM_PTX_DECODE_H
#define TILEC_SIM_PTX_DECODE_H

#include "base/status.h"
#include "sim/machine/ops.h"
#include "sim/ptx/parse.h"

enum {
    MODIFIERS_MAX = 16,
    SCOPES_MAX = 16,
    CALLS_MAX = 16,
    CODE_MAX = 1 << 22,
    REGISTERS_MAX = 1 << 20
};

typedef enum SymbolKind {
    SYMBOL_REGISTER,
    SYMBOL_RANGE,
    SYMBOL_SHARED,
    SYMBOL_DYNAMIC,
    SYMBOL_LOCAL,
    SYMBOL_GLOBAL,
    SYMBOL_PARAM,
    SYMBOL_TARGETS
} SymbolKind;
typedef struct Symbol_ {
    SymbolKind kind;
    SimType type;
    SimOperand reg;
    uint64_t value;  // offset, or index of the variable
    uint32_t count;  // of a range
    Map members;     // for a range: number to an index into Decoder.members
    const PtxStatement *targets;
} PtxSymbol;

typedef struct Scope {
    Map names;  // hash of the name to PtxSymbol *
} Scope;

// Labels are known in their braces, and in those within them.
typedef struct PtxLabels {
    Map at;  // name to pc + 1
    struct PtxLabels *around;
} PtxLabels;

// The body of a function while it is inlined.
typedef struct PtxFrame {
    const PtxFunction *function;
    PtxLabels *labels;  // of the current braces
    struct PtxFrame *caller;
    size_t first_scope;
} PtxFrame;

typedef struct Fixup {
    uint32_t pc;
    Str label;
    Span span;
    bool is_switch;
    uint32_t slot;
    PtxLabels *labels;
} Fixup;

typedef struct Decoder {
    Arena *arena;
    Interner *names;
    Diags *diags;
    const PtxModule *module;
    const SimProgram *program;
    SimKernel *kernel;
    Map variables;  // name to index of program->variables + 1
    VEC(SimInstr) code;
    VEC(SimConstant) constants;
    Map constant_map;
    VEC(uint32_t) dynamic_constants;
    VEC(int64_t *) dynamic_offsets;
    VEC(Fixup) fixups;
    Scope scopes[SCOPES_MAX];
    size_t scope_count;
    PtxFrame *frame;
    uint32_t calls;
    Map shared;  // name of a module variable to its offset + 1
    uint32_t shared_bytes, local_bytes, dynamic_align;
    // The current instruction.
    const PtxStatement *statement;
    Str modifiers[MODIFIERS_MAX];
    uint32_t modifier_count, taken;  // bits
    SimType types[MODIFIERS_MAX];
    uint32_t type_count;
    uint32_t next_operand;
    SimInstr now;
    VEC(int32_t) writes, reads;
    const char *operands;  // of the row
    SimOp op;
} Decoder;

const SimKernel *ptx_decode(Decoder *d, const PtxFunction *function, SimKernel *kernel);
// Joins of branches (graph.c).
void ptx_graph_joins(Arena *arena, SimInstr *code, uint32_t count);

bool decode_fail(Decoder *d, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// Is the modifier present? From then on it counts as known.
bool take(Decoder *d, const char *modifier);
// The index of the first of `names` that is present; -1: none.
int take_one(Decoder *d, const char *const *names, int count);
bool take_scope(Decoder *d, SimScope *scope);
SimType type_at(const Decoder *d, uint32_t n);
void take_rounding(Decoder *d);

// Operands. These move the cursor.
const PtxOperand *peek_operand(const Decoder *d);
const PtxOperand *take_any(Decoder *d);  // NULL: reported
bool more_operands(const Decoder *d);
bool read_operand(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to);
bool write_operand(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to);
// Reads registers that may be wider than the type; also gives the size of the slot.
bool read_wide(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to, uint8_t *slot);
bool write_wide(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to, uint8_t *slot);
bool next_read(Decoder *d, SimType type, SimOperand *to);
bool next_write(Decoder *d, SimType type, SimOperand *to);
bool constant_operand(Decoder *d, const PtxOperand *o, uint64_t *value);
bool address_operand(Decoder *d, const PtxOperand *o, SimAccessOp *op);
SimOperand decode_constant(Decoder *d, SimConstant c);
PtxSymbol *find_symbol(Decoder *d, Str name);
bool declare(Decoder *d, const PtxVariable *v);
void put_symbol(Decoder *d, Str name, PtxSymbol *s);
void add_fixup(Decoder *d, Str label, Span span, bool is_switch, uint32_t slot);
bool inline_call(Decoder *d, const PtxFunction *f, const PtxOperand *results,
                 const PtxOperand *args);
void emit(Decoder *d);
static inline SimOperand no_operand(void) { return (SimOperand){0, SIM_NO_REGISTER}; }

// Families.
#define PTX(name, family, operands, op) bool decode_##family(Decoder *d);
#include "sim/ptx/ptx.def"
#undef PTX

#endif
