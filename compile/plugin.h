// Plugin: libtilec_llvm, opened on the first miss of the caches and no earlier.
//
// Looked for, in this order: the file that $TILEC_LLVM_LIBRARY names, and nothing else when it is
// set; beside the library or program that this code is in, and in its ../lib; the folder that
// `make install` fills; wherever the system's loader looks. Invariants: what is opened must carry
// this version and build (codegen/codegen.h), or it is refused; opening happens once, its failure
// is told again to whoever asks again. A build with TILEC_LINK_CODEGEN has codegen linked in and
// opens nothing. Ownership: plugin_destroy; the table it gave is dead then.
//
//     const CodegenApi *api = plugin_open(plugin, diags);   // NULL after reporting
#ifndef TILEC_COMPILE_PLUGIN_H
#define TILEC_COMPILE_PLUGIN_H

#include "codegen/codegen.h"

#define PLUGIN_FILE "libtilec_llvm.so"

typedef struct Plugin Plugin;
Plugin *plugin_create(void);
void plugin_destroy(Plugin *plugin);
// Any thread. The diagnostic names all places tried.
const CodegenApi *plugin_open(Plugin *plugin, Diags *diags);

// The file that would be opened, without opening it: empty when there is none in the places that
// can be looked at.
Str plugin_find(Arena *arena);

#endif
