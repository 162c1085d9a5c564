// Internals that the interpreter's files share. No file outside ir/interp includes this.
//
// Life of a run: interp.c sets up frames (one slot for each value of a function, its buffer
// allocated at first use and kept), control.c walks blocks, the other files execute ops from slot
// to slot.
// Invariants: a slot of `count` elements holds them as raw typed arrays (bool one byte, pointers as
// Place); a value's buffer is written by its own op only (loop arguments by their loop), so
// operands never alias results. A slot that is not `shadowed` has v = x, e = 0 everywhere
// (docs/numerics.md).
// Ownership: the interpreter's own arena holds buffers; `scratch` is reset after each op.
//
//     static bool execute_neg(Run *run, Frame *frame, const IrOp *op) {
//         Slot *x = operand_slot(run, frame, op, 0), *r = result_slot(run, frame, op, 0);
//         for (uint32_t i = 0; i < r->count; i++) slot_put(r, i, negated(slot_get(x, i)));
//         return true;   // false: this program ends here
//     }
#ifndef TILEC_IR_INTERP_INTERNAL_H
#define TILEC_IR_INTERP_INTERNAL_H

#include <math.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
#include "ir/interp/interp.h"

// v: the result of nearly exact arithmetic; e: how far from it a conforming target may be.
typedef struct ShadowValue {
    double v;
    double e;
} ShadowValue;

// A pointer: its address (in half bytes for packed elements) and the buffer it came from.
typedef struct InterpPlace {
    uint64_t address;
    uint64_t origin;  // index into Run.buffers; 0: unknown
} InterpPlace;

typedef struct InterpSlot {
    const IrType *type;
    Dtype elem;
    uint32_t size;  // bytes of an element in `data`
    uint32_t count;
    unsigned char *data;
    unsigned char *spare;  // loop arguments: the next iteration's
    ShadowValue *shadow;   // allocated when first shadowed
    ShadowValue *spare_shadow;
    uint8_t *wrapped;  // sanitize, lane by lane: made from a number that wrapped; wrap.c
    uint8_t *spare_wrapped;
    const IrOp *wrap;  // the op that wrapped; NULL: no lane is made from such a number
    bool shadowed;
    bool filled;        // constants: the buffer holds them already
    uint32_t argument;  // views: index of the launch argument
} InterpSlot;

// The frame of one thread of a program: at level `thread` there is one for each, else one in all.
typedef struct InterpFrame {
    const IrFunc *func;
    InterpSlot *slots;  // of the value with id i: slots[i * slot_stride]
    uint32_t slot_stride;
    bool busy;
    uint32_t thread, thread_count;
    struct InterpFrame *threads;  // all frames of the program, in order; NULL: there is one
} InterpFrame;

typedef struct Pages Pages;

// Memory that pointers may point into.
typedef struct InterpBuffer {
    uint64_t low, high;  // addresses; high 0: unknown, not checked
    uint64_t data;       // the argument's element 0
    Symbol name;
    const IrOp *op;  // of scratch memory
    bool poisoned;   // shadow: written at an address that is undecided
    Pages *touched;  // sanitize: everything that was accessed through it; NULL: no `noalias` names
                     // it
} InterpBuffer;

// Two buffers (indices) that `noalias` keeps apart.
typedef struct NoAliasPair {
    uint64_t a, b;
} NoAliasPair;

typedef enum FindingKind {
    FINDING_BOUNDS,
    FINDING_ALIGNMENT,
    FINDING_PROOF,  // an `inside` that is false
    FINDING_ASSUME,
    FINDING_ASSERT,
    FINDING_RACE,
    FINDING_NOALIAS,
    FINDING_UNWRITTEN,
    FINDING_WRAPPED,  // an address was made from a number that wrapped
    FINDING_ENDLESS,  // an iteration changes nothing that the next one reads
    FINDING_RECURSION,
    FINDING_DIVERGED,  // threads of a program have different conditions
} FindingKind;

typedef struct Finding {
    FindingKind kind;
    const IrOp *op;
    int64_t program[3];
    uint32_t lane;
    Str detail;
    const IrOp *cause;  // of FINDING_WRAPPED
    uint64_t count;
} Finding;

struct IrInterp {
    Arena *arena;    // lives as long as the interpreter
    Arena *scratch;  // reset after each op
    Arena *memory;   // shadows and marks of the last run
    const IrFunc *func;
    VEC(InterpFrame *) frames;
    Pages *pages;
    VEC(InterpBuffer) buffers;
    VEC(NoAliasPair) noalias_pairs;  // sanitize
    uint64_t steps;                  // of the last run
};

typedef struct InterpRun {
    IrInterp *interp;
    const IrLaunch *launch;
    Arena *scratch;
    VEC(Finding) findings;
    Arena *report;  // texts of findings
    int64_t program[3];
    uint32_t program_number;
    uint64_t steps;
    unsigned depth;
    bool one_thread;  // level `thread`: an op is being executed for one thread after another
    bool section;     // evaluating a grid or requires: no memory, no program
    bool missing;     // it needed memory or a program
    bool over_limit;
    bool failed;   // an assert was false
    bool changed;  // memory, since control.c last cleared this
    bool endless;  // a loop can never end
    bool shadow, sanitize;
    bool relaxed_math;         // the kernel has math(contract) or math(approx)
    bool approximate;          // math(approx)
    unsigned undecided_depth;  // > 0: inside a branch that an undecided condition chose
    unsigned combining;        // > 0: inside a combiner, whose order is not fixed
} InterpRun;

// ---- slots --------------------------------------------------------------------------------------
InterpSlot *slot_of(InterpRun *run, InterpFrame *frame, const IrValue *value);
static inline InterpSlot *operand_slot(InterpRun *run, InterpFrame *frame, const IrOp *op,
                                       uint32_t i) {
    return i < op->operand_count && ir_operand(op, i) ? slot_of(run, frame, ir_operand(op, i))
                                                      : NULL;
}
static inline InterpSlot *result_slot(InterpRun *run, InterpFrame *frame, const IrOp *op,
                                      uint32_t i) {
    InterpSlot *s = slot_of(run, frame, ir_result(op, i));
    s->shadowed = false;
    s->wrap = NULL;
    return s;
}
// Raw bits of elements of up to 8 bytes.
static inline uint64_t bits_get(const unsigned char *data, uint32_t size, uint64_t i) {
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t d;
    switch (size) {
    case 1: memcpy(&b, data + i, 1); return b;
    case 2: memcpy(&h, data + 2 * i, 2); return h;
    case 4: memcpy(&w, data + 4 * i, 4); return w;
    default: memcpy(&d, data + size * i, 8); return d;
    }
}
static inline void bits_put(unsigned char *data, uint32_t size, uint64_t i, uint64_t bits) {
    uint8_t b = (uint8_t)bits;
    uint16_t h = (uint16_t)bits;
    uint32_t w = (uint32_t)bits;
    switch (size) {
    case 1: memcpy(data + i, &b, 1); break;
    case 2: memcpy(data + 2 * i, &h, 2); break;
    case 4: memcpy(data + 4 * i, &w, 4); break;
    default: memcpy(data + size * i, &bits, 8); break;
    }
}
static inline uint64_t slot_get(const InterpSlot *s, uint64_t i) {
    return bits_get(s->data, s->size, i);
}
static inline void slot_put(InterpSlot *s, uint64_t i, uint64_t bits) {
    bits_put(s->data, s->size, i, bits);
}
static inline InterpPlace slot_place(const InterpSlot *s, uint64_t i) {
    InterpPlace p;
    memcpy(&p, s->data + i * sizeof p, sizeof p);
    return p;
}
static inline void slot_put_place(InterpSlot *s, uint64_t i, InterpPlace p) {
    memcpy(s->data + i * sizeof p, &p, sizeof p);
}
// An operand that may be a scalar among tiles.
static inline uint64_t slot_lane(const InterpSlot *s, uint64_t i) { return s->count == 1 ? 0 : i; }
// An integer of any type, sign- or zero-extended; false if a u64 does not fit.
bool slot_i64(const InterpSlot *s, uint64_t i, int64_t *value);
// Copies one element, its bytes or its shadow, from one array to another.
static inline void copy_element(unsigned char *to, const unsigned char *from, uint32_t size) {
    switch (size) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}
// Copies value and shadow of a slot of the same type.
void slot_copy(InterpRun *run, InterpSlot *to, const InterpSlot *from);

// ---- shadows ------------------------------------------------------------------------------------
// The array of a slot's shadows. It is created (v = x, e = 0) if the slot had none; the slot then
// counts as shadowed.
ShadowValue *slot_shadow(InterpRun *run, InterpSlot *s);
// The array, for a result whose every element is about to be set.
ShadowValue *slot_shadow_blank(InterpRun *run, InterpSlot *s);
ShadowValue shadow_get(const InterpSlot *s, uint64_t i);
ShadowValue shadow_exact(Dtype elem, uint64_t bits);
void slot_set_undecided(InterpRun *run, InterpSlot *s);  // e = infinity everywhere
// Computes the shadows of the result after an elementwise op has computed the result.
void shadow_elementwise(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool shadow_any(InterpRun *run, InterpFrame *frame, const IrOp *op);  // is some operand shadowed?
void shadow_dot(InterpRun *run, const IrOp *op, InterpSlot *a, InterpSlot *b, InterpSlot *c,
                InterpSlot *r);

// One lane of an elementwise op, with the bits of the interpreter's operands and result.
typedef struct ShadowLane {
    IrOpcode code;
    Dtype from, to;  // of the first operand, of the result
    bool saturate;   // casts
    bool same_bits;  // rule E holds here
    bool approximate;
    uint32_t n;
    uint64_t bits[3];
    ShadowValue in[3];
    uint64_t result;
} ShadowLane;
ShadowValue shadow_lane(const ShadowLane *l);
// A sum, product, least or greatest, term by term, so that a scan can query it after each. `x`: the
// bits of the result, of the terms so far or of all.
typedef struct ShadowFold {
    Dtype elem;
    IrReduce kind;
    uint32_t n;
    bool exact, finite;                 // so are all terms
    bool certain;                       // no factor may be 0 or infinite only because of its error
    int lowest;                         // last bit of any term
    double v, magnitude, reach, error;  // in doubles; of absolute values; with errors; of errors
    double small, large;                // products of the factors below and above 1
    ShadowValue extreme;
} ShadowFold;
ShadowFold shadow_fold(Dtype elem, IrReduce kind);
void shadow_fold_take(ShadowFold *f, ShadowValue s, uint64_t x);
ShadowValue shadow_folded(const ShadowFold *f, uint64_t x);
// One line of a built-in reduction: the terms that take part, and the result's bits.
typedef struct ShadowTerms {
    Dtype elem;
    uint32_t n;
    const uint64_t *bits;
    const ShadowValue *shadows;
} ShadowTerms;
ShadowValue shadow_reduce(const ShadowTerms *t, IrReduce kind, uint64_t x);
// The shadow of a value that an undecided condition may have exchanged for another.
ShadowValue shadow_join(ShadowValue chosen, ShadowValue other);
// Completes a row of the table: rule O, NaN, infinities. `certain`: all operands have a finite e.
ShadowValue shadow_finish(Dtype t, bool saturates, double v, double e, bool certain);
double half_ulp(Dtype t, double w);
int last_bit(double x);  // the exponent of the last one bit of a finite x that is not 0

// ---- wrap.c -------------------------------------------------------------------------------------
// Are numbers that wrap watched here?
bool wrap_watched(const InterpRun *run, const InterpFrame *frame);
// The flags of the result of an elementwise op, after it has computed the result.
void wrap_elementwise(InterpRun *run, const IrOp *op, InterpSlot *r, InterpSlot *const *in);
void wrap_copy(InterpRun *run, InterpSlot *to, const InterpSlot *from);
// The flags of a slot, one byte for each element: as they are, and none set, for an op that
// wrapped.
const uint8_t *wrap_flags(InterpRun *run, InterpSlot *s);
uint8_t *wrap_blank(InterpRun *run, InterpSlot *s, const IrOp *op);

// ---- ops; false: this program (or section, or run) ends -----------------------------------------
bool execute_op(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_block(InterpRun *run, InterpFrame *frame, const IrBlock *block);
bool execute_step(InterpRun *run);  // false: the launch's limit of steps is reached
bool execute_control(InterpRun *run, InterpFrame *frame, const IrOp *op);
// An op of level `thread`, for all threads of the program.
bool execute_threads(InterpRun *run, InterpFrame *frame, const IrOp *op);
void thread_mma(InterpRun *run, InterpFrame *frame, const IrOp *op);
void thread_wgmma(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_thread_value(InterpRun *run, InterpFrame *frame, const IrOp *op);  // of one thread
// Do all threads have the same value here?
bool threads_agree(InterpRun *run, InterpFrame *frame, const IrOp *op, uint32_t operand);
static inline uint32_t frame_threads(const InterpFrame *frame) {
    return frame->threads ? frame->thread_count : 1;
}
static inline InterpFrame *frame_thread(InterpFrame *frame, uint32_t i) {
    return frame->threads ? &frame->threads[i] : frame;
}
bool execute_call(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_constant(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_elementwise(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_shape(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_gather(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_dot(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_reduce(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_scan(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_sort(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_topk(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_histogram(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_random(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_memory(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_scratch(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_slot(InterpRun *run, InterpFrame *frame, const IrOp *op);  // gpu.slot
bool execute_assert(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_print(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_noalias(InterpRun *run, InterpFrame *frame, const IrOp *op);
// Before a run under sanitize: finds the buffers that the kernel's `requires` keep apart.
void noalias_prepare(IrInterp *interp);
bool execute_cpu_view(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_cpu_vector(InterpRun *run, InterpFrame *frame, const IrOp *op);
bool execute_cpu_tiles(InterpRun *run, InterpFrame *frame, const IrOp *op);  // tiles.c
// A subnormal x gives 0 with its sign.
float flush_subnormal(float x);
bool execute_vec_assert(InterpRun *run, InterpFrame *frame, const IrOp *op);
void execute_vec_print(InterpRun *run, InterpFrame *frame, const IrOp *op);
// The op by which a built-in reduction combines two values; IR_OPCODES if the reduction is not one
// of these.
IrOpcode reduce_opcode(IrReduce kind, Dtype t);
// An assert that failed at a lane: records the finding and ends the program (false).
bool assert_failed(InterpRun *run, const IrOp *op, uint32_t lane);
// Formats a tile as `print` shows it.
void print_tile(const InterpSlot *s, uint32_t d, uint64_t first, StrBuf *out);

// Specialised loops of the common types; false if there is none for these.
bool loop_elementwise(IrOpcode code, Dtype elem, uint64_t n, void *result, const void *a,
                      const void *b, const void *c);
bool loop_cast(Dtype to, Dtype from, uint64_t n, void *result, const void *a);
// Philox 4x32-10 (J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
void philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

// Calls a combiner: `inputs` are 2n scalars, `outputs` n, with their shadows if the run has
// shadows.
typedef struct Scalar {
    uint64_t bits;
    ShadowValue shadow;
} Scalar;
bool combine(InterpRun *run, InterpFrame *frame, const IrOp *op, const Scalar *inputs,
             Scalar *outputs);

// An axis as three extents: element (o, k, i) is at (o * n + k) * inner + i.
typedef struct AxisLines {
    uint64_t outer, n, inner;
} AxisLines;
AxisLines lines_of(const IrType *t, int64_t axis);

// Marks the arguments that ops of a block may write as unknown: another target may take this
// branch.
void poison_written(InterpRun *run, InterpFrame *frame, const IrBlock *block);

// The bytes that a view can access; false if there are none.
typedef struct InterpReach {
    uint64_t low, high;  // [low, high)
} InterpReach;
bool view_reach(const IrType *type, const IrArg *arg, InterpReach *reach);

// ---- memory.c: metadata of memory ---------------------------------------------------------------
Pages *pages_create(Arena *arena);
// Shadows by address. `size` in bytes.
void pages_put_shadow(Pages *p, uint64_t address, Dtype elem, ShadowValue s);
bool pages_get_shadow(const Pages *p, uint64_t address, Dtype elem, ShadowValue *s);
// The shadow of the element that begins here, whatever its type.
bool pages_find_shadow(const Pages *p, uint64_t address, ShadowValue *s);
void pages_clear_shadow(Pages *p, uint64_t address, uint32_t size);
// For float atomics: the terms added so far at one address.
typedef struct Tally {
    uint64_t n;
    double sum, magnitude, error;
    int lowest;  // all terms are multiples of 2^lowest
    bool exact;
    uint8_t kind;  // an IrRmw, sums as IR_RMW_ADD
    bool shared;   // also by other programs than the first
    bool mixed;    // several kinds in programs that run in any order: the order decides the result
    bool again;    // it was restarted after another kind
    uint32_t program;
} Tally;
Tally *pages_tally(Pages *p, uint64_t address, bool make);

typedef enum Touch { TOUCH_READ, TOUCH_WRITE, TOUCH_ATOMIC, TOUCH_ATOMIC_READ } Touch;
// Marks an access of the current program (number + 1). The result is 0, or program + 1 of a program
// that it conflicts with.
uint32_t pages_touch(Pages *p, uint64_t address, uint32_t size, Touch touch, uint32_t program);
// Was any byte there accessed in a way that forbids other programs this access?
bool pages_forbid(const Pages *p, uint64_t address, uint32_t size, Touch touch);
// Release and acquire of a program through an atomic at an address.
void pages_release(Pages *p, uint64_t address, uint32_t program);
void pages_acquire(Pages *p, uint64_t address, uint32_t program);
// Scratch memory: clears all marks; has every byte been written?
void pages_forget(Pages *p, uint64_t address, uint64_t size);
bool pages_written(const Pages *p, uint64_t address, uint32_t size);

// ---- access.c: which memory the lanes of an op mean ---------------------------------------------
typedef struct InterpAccess {
    const IrOp *op;
    Dtype elem;      // in memory; packed ones too
    uint32_t bytes;  // of an element in memory
    uint32_t count;
    InterpPlace *place;
    uint8_t *on;              // lane by lane: takes part (inside, and the mask holds)
    uint8_t *mask_undecided;  // shadow: the mask of the lane is undecided; NULL: no lane's is
    uint8_t *inside;          // lane by lane, for any mask
    bool undecided_address;   // shadow: some address is undecided
    const uint8_t *wrapped;   // sanitize: as the pointers' slot has them
    const IrOp *wrap;
} InterpAccess;
// One dimension of a selection, or all dimensions that tile indices select together.
typedef struct Axis {
    uint32_t count;
    uint64_t *offset;  // in elements, wrapping
    uint8_t *inside;
} Axis;
typedef struct InterpSelection {
    Dtype elem;
    uint64_t origin;
    uint64_t base;           // address, in half bytes for packed elements; scalar indices included
    bool inside;             // all scalar indices are inside
    bool undecided_address;  // shadow: some index is undecided
    uint32_t axis_count;
    Axis axis[IR_MAX_VIEW_RANK];
    bool run_last;  // the last axis selects neighbours in memory
} InterpSelection;
InterpSelection selection_of(InterpRun *run, InterpFrame *frame, const IrOp *op);
// The memory of a load, store or atomic through pointers or a view; checks bounds and races as
// `touch` says.
InterpAccess access_of(InterpRun *run, InterpFrame *frame, const IrOp *op, Touch touch);
// The number of the element that a lane accesses, counted from the argument's element 0.
int64_t accessed_element(const InterpAccess *a, uint32_t i, const InterpBuffer *b);
void store_check_duplicates(InterpRun *run, const InterpAccess *a, const InterpSlot *x);
// Runs of neighbours, `step` elements from one to the next.
typedef struct InterpRuns {
    int64_t first;  // element, from the pointer on
    uint32_t count, length;
    int64_t step;
} InterpRuns;
InterpAccess access_rows(InterpRun *run, const IrOp *op, const InterpSlot *p,
                         const InterpRuns *runs, Touch touch);
uint64_t memory_read(Dtype elem, uint64_t address);
void memory_write(Dtype elem, uint64_t address, uint64_t bits);

// ---- report.c -----------------------------------------------------------------------------------
// Counts a finding of this op and kind; only the first one's text is kept. True if it is the first.
bool finding_add(InterpRun *run, const IrOp *op, FindingKind kind, uint32_t lane,
                 const char *format, ...) __attribute__((format(printf, 5, 6)));
// The op to which a note of the last finding leads.
void finding_cause(InterpRun *run, const IrOp *cause);
void findings_report(const InterpRun *run, Diags *diags);

#endif
