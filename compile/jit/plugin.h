// Plugin: libtilec_llvm, opened on the first miss of the caches and no earlier.
//
// It is searched in this order (docs/c-api.md has the list for users):
//     1. the file that the context's option `compiler_library` names, and nothing else;
//     2. the file that $TILEC_LLVM_LIBRARY names, and nothing else;
//     3. in the folder of the library that this code is in, then in that of the program;
//     4. in ../lib of each, then in ../LIBDIR of each, LIBDIR as `make install` has it;
//     5. in the folder that `make install` fills;
//     6. wherever the system's loader looks.
// Invariants: a library is used only if it has this version and build (codegen/codegen.h); others
// are skipped. Opening happens once; a failure is reported again at each later call. LLVM does not
// survive a fork by another thread: each caller of the table must be within os_no_fork_begin and
// os_no_fork_end (base/os/os_fork.h). Ownership: plugin_destroy, after which the table must not be
// used.
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

// A thread begins to compile: returns the number of processors that are not used by compiling
// threads. A thread that runs out of memory may skip plugin_end; then one processor too few counts
// as idle from then on.
unsigned plugin_begin(Plugin *plugin);
void plugin_end(Plugin *plugin);

// The file that was opened; before that, the first existing file of those places, without opening
// it. Empty if there is none. Must not be called while another thread opens it.
Str plugin_find(const Plugin *plugin, Arena *arena);

#endif
