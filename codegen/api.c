// The table that libtilec_llvm exports.
#include "codegen/codegen.h"

#include <llvm/Config/llvm-config.h>

#include "base/os.h"
#include "codegen/cpu/compile.h"
#include "codegen/lld_shim.h"

static const CodegenApi api = {
    .version = CODEGEN_VERSION,
    .build = CODEGEN_BUILD_TEXT,
    .llvm_version = LLVM_VERSION_STRING,
    .cpu_compile = codegen_cpu_compile,
};

const CodegenApi *tilec_codegen_api(void) { return &api; }

// LLVM cannot go on after this, and its frames cannot be left in order.
void codegen_fatal(const char *reason) { os_defect("LLVM", 0, "%s", reason); }
