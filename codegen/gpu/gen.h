// The part of translations that GPUs share, beyond codegen/common: memory, shuffles, the report.
//
// Purpose: ops of the thread level are the same on all GPUs; the differences between vendors are in
// GpuOps. Invariants: the target's check has passed. Pointers are generic (space 0). Casts say
// where they come from (global for arguments, shared for thread.shared); from these LLVM infers the
// space of each access. Ownership: as in codegen/common/gen.h.
//
//     GpuGen n = {.ops = &ops, .machine = machine};
//     gen_begin(&n.g, scratch, &target, func, NULL);
#ifndef TILEC_CODEGEN_GPU_GEN_H
#define TILEC_CODEGEN_GPU_GEN_H

#include "codegen/codegen.h"
#include "codegen/common/gen.h"
#include "target/machine.h"

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3, SPACE_CONSTANT = 4 };

// If a function is NULL, LLVM's own translation is used.
typedef struct GpuOps {
    // The thread block's memory, as a global in space SPACE_SHARED.
    LLVMValueRef (*shared_memory)(Gen *g);
    LLVMValueRef (*thread_id)(Gen *g);  // i32
    // x, hidden from LLVM, so that values computed from it are rematerialised. NULL: x itself.
    LLVMValueRef (*rematerialized)(Gen *g, LLVMValueRef x);
    void (*program_ids)(Gen *g);  // fills g->program_id and g->grid
    void (*body)(Gen *g);         // translates the body. NULL: all threads execute all of it
    // A word of 32 bits from lane `lane`, or (NULL) from the lane whose number is this one's xor
    // `by`.
    LLVMValueRef (*shuffle)(Gen *g, LLVMValueRef word, LLVMValueRef lane, uint32_t by);
    // `exchanged`: if the call is a shuffle by xor, the word that it sends, and *by; else NULL.
    // `any_lane`: is the bit set in some lane of the warp? Both are NULL if min_max.c does not use
    // them.
    LLVMValueRef (*exchanged)(LLVMValueRef call, uint32_t *by);
    LLVMValueRef (*any_lane)(Gen *g, LLVMValueRef bit);
    // Masked accesses without a branch. can_mask says whether there is an instruction for this
    // number of bytes of `op`. Memory has `count` adjacent elements `elem` of `bits` bits. `other`
    // has the values for a false mask; NULL: zeros. `hinted`: these instructions also have the
    // op's hint, so it needs them even without a mask, which is then NULL; NULL: none does.
    bool (*can_mask)(Gen *g, const IrOp *op, LLVMValueRef p, uint32_t bytes, uint32_t align);
    bool (*hinted)(const IrOp *op, LLVMValueRef p);
    void (*masked_load)(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                        LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *other,
                        LLVMValueRef *x);
    void (*masked_store)(Gen *g, const IrOp *op, LLVMTypeRef elem, uint32_t bits, uint32_t count,
                         LLVMValueRef p, LLVMValueRef mask, LLVMValueRef const *x);
    // `word` joins integers of 8 or 16 bits to one word, the first one lowest. `separate_parts`:
    // LLVM's own code for these parts might read registers that are only partly defined.
    bool (*separate_parts)(LLVMValueRef const *parts, uint32_t bits, bool stored);
    LLVMValueRef (*word)(Gen *g, LLVMValueRef const *parts, uint32_t bits, bool stored);
} GpuOps;

typedef struct GpuGen {
    Gen g;  // first: the Gen of a GPU is a GpuGen
    const GpuOps *ops;
    Machine machine;
    LLVMValueRef shared;     // the thread block's memory; NULL until it is used
    LLVMValueRef report;     // address of the report
    LLVMValueRef launch;     // the number of this launch, in the report
    LLVMBasicBlockRef done;  // the end of the program
    // The block for failed asserts, and a phi of site and lane; NULL until the first assert.
    LLVMBasicBlockRef failure;
    LLVMValueRef failed;
    CodegenSchedule schedule;
    // NVIDIA: the first thread of those that execute what is translated now; the barrier after
    // which no other goes on, NULL: all do (roles.c).
    uint32_t first_thread;
    const IrOp *leader_only_after;
    // NVIDIA: the latest code that one thread executes (codegen/nvptx/map.c): its condition, and
    // the blocks before, of and after it.
    LLVMValueRef leader;
    LLVMBasicBlockRef leader_before, leader_code, leader_after;
    // AMD: the function has thread.copy; the smallest number of copies in a group, for waits.
    bool copies;
    uint32_t group_copies;
} GpuGen;

static inline GpuGen *gpu_gen(Gen *g) { return (GpuGen *)g; }

void gpu_memory(Gen *g, const IrOp *op);  // memory.c
// Does its hint say that the caches need not keep the memory?
bool gpu_evicts_first(const IrOp *op);
void gpu_shuffle(Gen *g, const IrOp *op);    // shuffle.c
void gpu_pack(Gen *g, const IrOp *op);       // shuffle.c
void gpu_reduce(Gen *g, const IrOp *op);     // shuffle.c: over one thread's registers
void gpu_effect(Gen *g, const IrOp *op);     // effect.c
void gpu_thread_id(Gen *g, const IrOp *op);  // function.c

// function.c: the size of the block of arguments in bytes. A GpuTail (base/gpu_abi.h) follows the
// block. The size is known before the parameters are read.
uint32_t gpu_block_size(const IrFunc *f);
// Are programs reordered, so that the grid must be known?
bool gpu_reorders_programs(Gen *g);
void gpu_text_attribute(Gen *g, unsigned index, const char *name, const char *value);
// min_max.c: rewrites trees of maxima and minima where NaNs cost extra instructions.
void gpu_rewrite_min_max(GpuGen *n);
// Builds the body of the declared function; `block` points to the arguments.
void gpu_body(GpuGen *n, LLVMValueRef block);
// The bytes of all thread.shared ops.
uint32_t gpu_shared_size(const IrFunc *f);

// swap.c: compares and swaps within a wider unit of `unit` bits, for which it uses `swap`. Returns
// the old bits. Memory is allocated in whole units.
typedef LLVMValueRef GpuSwap(Gen *g, LLVMValueRef p, LLVMValueRef expected, LLVMValueRef x,
                             IrScope scope);
LLVMValueRef gpu_swap_within(Gen *g, unsigned unit, GpuSwap *swap, LLVMValueRef p,
                             LLVMValueRef expected, LLVMValueRef x, IrScope scope);

// The space from which a generic address was cast; 0: not known.
unsigned gpu_space_of(LLVMValueRef p);
LLVMTypeRef gpu_pointer(const Gen *g, unsigned space);
// The same address in a space, or generic (0).
LLVMValueRef gpu_in_space(Gen *g, LLVMValueRef p, unsigned space);
LLVMTypeRef gpu_int(const Gen *g, unsigned bits);

#endif
