// The just-in-time half of the public API: contexts that can compile, kernels from source.
//
// A JIT kernel holds its unit (source, imports, trees) and the specialisations made so far, keyed
// by the types of its type parameters. On device cpu each variant of one is code of its own, made
// when a launch first chooses it; the likeliest (launch_guard.h) at once, so that what
// is wrong shows at creation. On device interp, and under "sanitize", the interpreter runs them.
// Invariants: specialisations are only added, under the kernel's mutex; what was handed out stays
// valid until the kernel is destroyed.
#ifndef TILEC_COMPILE_JIT_JIT_H
#define TILEC_COMPILE_JIT_JIT_H

#include "compile/pipeline/compile.h"
#include "runtime/kernel.h"

typedef struct JitSwitches {
    bool sanitize;
    bool debug;  // line tables in code, on unless switched off
} JitSwitches;

// A public specialisation in the compiler's terms. Options of ir/options.def are bindings;
// "sanitize", "debug", "math.contract", "math.approx" are switches. Reports unknown ones.
bool jit_spec(Unit *unit, const FrontKernel *kernel, const tilec_spec *from, FrontSpec *spec,
              JitSwitches *switches);

#endif
