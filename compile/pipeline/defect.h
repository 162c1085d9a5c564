// Defect: what tilec was given when it broke, kept in a file for whoever mends it.
//
// The file is the IR as text, after lines that say what was to be done with it; it lies in $TMPDIR,
// and stays. A defect in this process (a failed CHECK, a fatal error of LLVM) says on standard
// error where it is and ends with status 70; a signal says nothing: for those codegen can run in a
// child process (child.h). Invariants: nothing is written, and IR is printed only where it is about
// to be changed, unless something breaks. Ownership: the arena given.
//
//     Defect d = {.arena = arena, .func = func, .target = target, .entry = entry};
//     defect_begin(&d);           // from here on a defect of this thread keeps func
//     bool fine = passes_run(…);
//     defect_end(&d);
#ifndef TILEC_COMPILE_PIPELINE_DEFECT_H
#define TILEC_COMPILE_PIPELINE_DEFECT_H

#include "base/os/os.h"
#include "ir/ir.h"
#include "target/target.h"

typedef struct Defect {
    OsWork work;  // the first member
    Arena *arena;
    const IrFunc *func;
    CodeTarget target;
    Str entry;
    uint32_t facts;  // of the variant
    Str before;      // the IR before somebody changed it; empty: it is printed when needed
} Defect;

// defect_begin: the passes of this process change func.
void defect_begin(Defect *defect);
void defect_end(Defect *defect);
// NULL when it cannot be written.
const char *defect_keep(const Defect *defect);
// The same, and a line on standard error. For CodegenOptions.on_defect.
void defect_say(void *defect);

#endif
