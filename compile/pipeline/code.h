// Code of one variant: its key, the caches, the code generator, and what a launch needs to know of
// it. code_make (compile.h) uses all of them.
//
//     code_key        everything the code depends on → key         code_key.c
//     code_find       memory (jit.c), disk                         cache.c
//     code_notes_of   memory of its own, asserts, prints           code_notes.c
//     code_generate   → LLVM IR, assembly or PTX, object, shared   plugin.c, child.c
//
// Invariants: equal keys mean equal bytes; a key is a hash of the tile IR before it is lowered, so
// that a hit needs neither lowering nor LLVM. Ownership: everything is in the unit's arena.
//
//     HashKey key = code_key(arena, compiled, &options);
//     if (!code_find(arena, services, &options, &key, &code)) code_make(…, &key, &code);
#ifndef TILEC_COMPILE_PIPELINE_CODE_H
#define TILEC_COMPILE_PIPELINE_CODE_H

#include "base/hash.h"
#include "codegen/codegen.h"
#include "compile/device/cubin.h"
#include "compile/jit/cache.h"
#include "compile/jit/plugin.h"
#include "compile/pipeline/defect.h"
#include "compile/pipeline/unit.h"
#include "target/target.h"

// The services that compilations of one context share.
typedef struct CodeServices {
    Plugin *plugin;
    const char *library;  // path for the child's plugin; NULL: it is searched
    Cache *cache;         // NULL: nothing is stored
    CubinMaker *cubin;    // for devices that take machine code; NULL: drivers compile PTX
    bool in_child;        // codegen runs in a process of its own
    unsigned seconds;     // time limit of a compilation (unit_begin); 0: none
} CodeServices;

typedef struct CodeOptions {
    CodeTarget target;
    uint32_t variant;  // of the metadata
    CodegenOutput output;
    Str entry;                // the symbol; empty: code_entry gives it
    bool lines;               // line tables
    bool file_names;          // asserts and prints name files without their folders
    uint32_t object_version;  // of AMD's code objects; 0: the code generator's choice
    PassOptions passes;
    CodegenTimes *times;  // NULL: no times
    Remarks *remarks;     // of the code generator in this process; NULL: none
} CodeOptions;

// Facts about the code that a launch needs in addition to the metadata.
typedef struct CodeNotes {
    Str entry;
    uint32_t scratch_bytes;
    uint32_t threads, shared_bytes;  // of a program, on GPUs
    uint32_t site_count;
    const MetaSite *sites;
    uint32_t map_count;
    const MetaMap *maps;
} CodeNotes;

typedef struct Code {
    Str bytes;
    const char *path;  // a file that begins with the bytes, for loaders; or NULL
    CodeNotes notes;
    bool cached;  // came from the disk
} Code;

// A hash of the sources that make code (made by the build): part of every key.
extern const char compile_stamp[];
HashKey code_key(Arena *arena, const Compiled *compiled, const CodeOptions *options);
// A symbol from the kernel's name and its specialisation: letters, digits and '_'.
Str code_entry(Arena *arena, const IrFunc *func, uint32_t variant);

// Looks only on disk, for code of the options' target and output.
bool code_find(Arena *arena, const CodeServices *services, const CodeOptions *options,
               const HashKey *key, Code *code);
// Stores code for devices, and objects, on disk under the key. Nothing is stored if the key is NULL
// or for other outputs.
void code_keep(Unit *unit, const CodeServices *services, const CodeOptions *options,
               const HashKey *key, Code *code);
// The output that a device loads: a shared object, or PTX for a driver.
CodegenOutput code_output(CodeTarget target);
// Runs the code generator on lowered IR, in this process or in a child. It sets the bytes of
// `code`, whose notes must be set. `ranges` of the lowered function, or NULL. False after
// reporting.
bool code_generate(Unit *unit, const Compiled *compiled, const CodeOptions *options,
                   const CodeServices *services, IrRanges *ranges, Code *code);
// The description of this work in the file of a defect.
Defect code_defect(const Unit *unit, const Compiled *compiled, const CodeOptions *options,
                   Str entry);
// Machine code from the PTX that has this key; taken from the disk, or made and stored. False after
// reporting.
bool code_cubin(Unit *unit, const CodeServices *services, const HashKey *key, Str ptx,
                Cubin *cubin);
// Copies the facts in the notes to the metadata's variant.
void code_note_variant(const CodeNotes *notes, MetaVariant *variant);

CodeNotes code_notes_of(Arena *arena, const IrFunc *lowered, bool file_names);
void code_notes_write(const CodeNotes *notes, StrBuf *out);
bool code_notes_read(Arena *arena, Str bytes, CodeNotes *notes);

#endif
