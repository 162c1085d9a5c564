// Defect: the input on which tilec failed, saved in a file for the developer who fixes it.
//
// The file is the IR as text, after lines that say what tilec was doing. It is in $TMPDIR, and
// stays. A defect in this process (a failed CHECK, a fatal error of LLVM) prints the file's path on
// standard error and exits with status 70. A signal prints nothing: codegen can run in a child
// process to catch those (child.h). Invariants: a file is written only after a defect; IR is
// printed in advance only if a pass is about to change it. Ownership: the arena given.
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
    OsWork work;  // must be the first member
    Arena *arena;
    const IrFunc *func;
    CodeTarget target;
    Str entry;
    uint32_t facts;  // of the variant
    Str before;      // the IR before a pass changed it; empty: it is printed when needed
} Defect;

// defect_begin: the passes of this process will change func.
void defect_begin(Defect *defect);
void defect_end(Defect *defect);
// Writes the file; NULL if it cannot be written.
const char *defect_write(const Defect *defect);
// The same, and prints a line on standard error. For CodegenOptions.on_defect.
void defect_report(void *defect);

#endif
