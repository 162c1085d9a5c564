// The just-in-time half of the public API: contexts that can compile, kernels from source.
//
// A JIT kernel is a user of its source (source.h), and holds the specialisations made so far, keyed
// by the types of its type parameters, and by the consts that were chosen for a shape
// (jit_tune.h, jit_choose.h). On device cpu each variant has code of its own, made when a launch
// first chooses it; the likeliest variant (launch_guard.h) is compiled at creation, so that errors
// are reported there. On device interp, and under "sanitize", the interpreter runs them.
// Invariants: specialisations are only added, under the source's lock; results that were handed
// out stay valid until the kernel is destroyed.
#ifndef TILEC_COMPILE_JIT_JIT_H
#define TILEC_COMPILE_JIT_JIT_H

#include "compile/jit/source.h"
#include "runtime/kernel.h"
#include "runtime/tune.h"

enum { TUNE_MS_MAX = 86400000 };  // a day

typedef struct JitSwitches {
    bool sanitize;
    bool debug;       // line tables in code; on by default
    int64_t tune_ms;  // budget of TILEC_TUNE; 0: it was not asked for
} JitSwitches;

struct Specialization;
typedef struct Jit {
    tilec_source *source;
    Arena *arena;  // for the next members
    const FrontKernel *kernel;
    FrontSpec spec;
    JitSwitches switches;
    TuneNames tune_names;   // of the device
    TuneRow tune_key;       // the table has rows for it if the kernel is by_shape
    bool chooses;           // the consts of launches without a row, by jit_choose.h
    TuneTable chosen;       // what it chose for classes of shapes
    bool never_tuned;       // TILEC_TUNE has nothing to choose, or cannot measure this kernel
    _Atomic bool reported;  // why it is not measured
    // consts of the last row that does not compile; it is not tried at each launch
    const TuneSetting *refused;
    struct Specialization *made;
} Jit;

// Converts a public specialisation to the compiler's form. Options of ir/options.def are bindings;
// "sanitize", "debug", "math.contract", "math.approx", "tune.ms" are switches. Reports unknown
// ones.
bool jit_spec(Unit *unit, const FrontKernel *kernel, const tilec_spec *from, FrontSpec *spec,
              JitSwitches *switches);

// jit_bind.c: is the specialisation complete without arguments?
bool jit_is_complete(const Jit *jit);
// The bindings of `from`, copied into the arena.
FrontSpec jit_copy_spec(Arena *arena, const FrontSpec *from);

// ---- For jit_tune.c, under the source's lock.

// The kernel's specialisation with the types of the arguments, in the arena.
tilec_status jit_bind(const tilec_kernel *kernel, Arena *arena, const tilec_arg *args, size_t count,
                      FrontSpec *spec);
// Finds the code of one specialisation, or makes it.
tilec_status jit_specialize(tilec_kernel *kernel, const FrontSpec *spec, const RtLoaded **loaded);
// Its tile IR, in the arena; NULL: it does not compile.
const IrFunc *jit_tile_ir(const tilec_kernel *kernel, Arena *arena, const FrontSpec *spec);

#endif
