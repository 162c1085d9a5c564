#include "codegen/common/work.h"

#include "base/recover.h"
#include "codegen/llvm_shim.h"

void codegen_no_memory(void) {
    CodegenWork *w = (CodegenWork *)os_work_current();
    if (!w || !recover_possible()) return;
    w->broken = true;
    os_out_of_memory();
}

int codegen_llvm_is_broken(void) {
    const CodegenWork *w = (const CodegenWork *)os_work_current();
    return w && w->broken;
}
