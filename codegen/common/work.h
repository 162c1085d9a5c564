// The call of libtilec_llvm's table that is running on this thread.
//
// Invariants: one at a time on a thread, from os_work_begin to os_work_end. `broken`: memory ran
// out within LLVM, whose objects can then not even be freed. Ownership: the call's frame.
//
//     CodegenWork work = {{.on_defect = codegen_on_defect}, on_defect, user, false};
//     os_work_begin(&work.work);
#ifndef TILEC_CODEGEN_COMMON_WORK_H
#define TILEC_CODEGEN_COMMON_WORK_H

#include <stdbool.h>

#include "base/os/os.h"

typedef struct CodegenWork {
    OsWork work;  // the first member
    void (*on_defect)(void *user);
    void *user;
    bool broken;  // memory ran out within LLVM
} CodegenWork;

// Informs the caller before a defect ends the process.
static inline void codegen_on_defect(OsWork *work) {
    const CodegenWork *w = (const CodegenWork *)work;
    if (w->on_defect) w->on_defect(w->user);
}

#endif
