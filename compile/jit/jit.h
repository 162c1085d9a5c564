// The just-in-time half of the public API: contexts that can compile, kernels from source.
//
// A JIT kernel holds its unit (source, imports, trees) and the specialisations made so far, keyed
// by the types of its type parameters. On device cpu each variant has code of its own, made when a
// launch first chooses it; the likeliest variant (launch_guard.h) is compiled at creation, so that
// errors are reported there. On device interp, and under "sanitize", the interpreter runs them.
// Invariants: specialisations are only added, under the kernel's mutex; results that were handed
// out stay valid until the kernel is destroyed.
#ifndef TILEC_COMPILE_JIT_JIT_H
#define TILEC_COMPILE_JIT_JIT_H

#include "compile/pipeline/compile.h"
#include "runtime/kernel.h"

typedef struct JitSwitches {
    bool sanitize;
    bool debug;  // line tables in code; on by default
} JitSwitches;

// Converts a public specialisation to the compiler's form. Options of ir/options.def are bindings;
// "sanitize", "debug", "math.contract", "math.approx" are switches. Reports unknown ones.
bool jit_spec(Unit *unit, const FrontKernel *kernel, const tilec_spec *from, FrontSpec *spec,
              JitSwitches *switches);

#endif
