// Plugin: libtilec_llvm, opened on the first miss of the caches and no earlier.
//
// Looked for, in this order (docs/c-api.md says so to users):
//     1. the file that the context's option `compiler_library` names, and nothing else;
//     2. the file that $TILEC_LLVM_LIBRARY names, and nothing else;
//     3. beside the library that this code is in, then beside the program;
//     4. in ../lib of each, then in ../LIBDIR of each, LIBDIR as `make install` has it;
//     5. in the folder that `make install` fills;
//     6. wherever the system's loader looks.
// Invariants: what is opened must carry this version and build (codegen/codegen.h), or it is passed
// over; opening happens once, its failure is told again to whoever asks again. LLVM does not
// live through a fork by another thread: whoever calls into the table is within the gate
// (base/os/os_fork.h). Ownership: plugin_destroy; the table it gave is dead then.
//
//     const CodegenApi *api = plugin_open(plugin, diags);   // NULL after reporting
//     os_no_fork_begin(&whole);   api->compile(…);   os_no_fork_end(&whole);
#ifndef TILEC_COMPILE_JIT_PLUGIN_H
#define TILEC_COMPILE_JIT_PLUGIN_H

#include "codegen/codegen.h"

#define PLUGIN_FILE "libtilec_llvm.so"

typedef struct Plugin Plugin;
// `named`: the option, or NULL; copied.
Plugin *plugin_create(const char *named);
void plugin_destroy(Plugin *plugin);
// Any thread. The diagnostic names all places tried.
const CodegenApi *plugin_open(Plugin *plugin, Diags *diags);

// A thread compiles: gives the number of processors that are left beside those which compile. One
// that runs out of memory need not end it: a processor less is idle from then on.
unsigned plugin_begin(Plugin *plugin);
void plugin_end(Plugin *plugin);

// The file that was opened; before that, the first of those places that can be looked at where
// there is one, without opening it. Empty: there is none. Not while another thread opens it.
Str plugin_find(const Plugin *plugin, Arena *arena);

#endif
