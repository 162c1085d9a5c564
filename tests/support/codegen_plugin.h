// libtilec_llvm of this build, or the file that TILEC_TEST_LLVM names, opened by tests that call
// codegen themselves.
//
// Invariants: the version is this build's, or the test fails; the library stays open to the end of
// the program. Ownership: the library's own.
//
//     if (!codegen_plugin()) skip();
#ifndef TILEC_TESTS_SUPPORT_CODEGEN_PLUGIN_H
#define TILEC_TESTS_SUPPORT_CODEGEN_PLUGIN_H

#include "codegen/codegen.h"

// Is there one? False after printing that there is none.
bool codegen_built(void);
const char *codegen_plugin_path(void);
// NULL after printing why.
const CodegenApi *codegen_plugin(void);

#endif
