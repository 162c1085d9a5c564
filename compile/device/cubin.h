// Cubin: machine code for one NVIDIA architecture, made from PTX by a tool of NVIDIA's on this
// machine.
//
// The tools, in the order in which they are tried: `ptxas` in $TILEC_PTXAS (that one and no other),
// $CUDA_HOME/bin, the folders of $PATH, /usr/local/cuda/bin; then the library nvJitLink in
// $TILEC_NVJITLINK, on the loader's search path, in lib64 of the same homes. The first that knows
// the text's version of PTX is taken. An option (PtxBy) says which of them may be used.
// PTX_BY_DRIVER: none; the driver compiles PTX itself, which it always can. Invariants: tools are
// searched once, when the first is needed; any thread may call. The machine code is for the
// architecture that the PTX names. Ownership: cubin_maker_destroy; results are in the arena given.
//
//     CubinMaker *m = cubin_maker_create(PTX_BY_ANY);
//     Cubin cubin;
//     if (cubin_make(m, arena, sources, ptx, &cubin, diags)) …   // cubin.facts.registers
#ifndef TILEC_COMPILE_DEVICE_CUBIN_H
#define TILEC_COMPILE_DEVICE_CUBIN_H

#include "runtime/cuda/ptx_log.h"

typedef enum PtxBy { PTX_BY_DRIVER, PTX_BY_ANY, PTX_BY_PTXAS, PTX_BY_NVJITLINK } PtxBy;
// "driver", "auto", "ptxas", "nvjitlink".
bool ptx_by_parse(Str text, PtxBy *by);
#define PTX_BY_TEXT "driver, auto, ptxas and nvjitlink"
// The compiler that TILEC_PTX_COMPILER names; the driver if it is not set. False, with the reason
// in `problem`, if the value is not one of the names.
bool ptx_by_environment(Arena *arena, PtxBy *by, Str *problem);

typedef struct Cubin {
    Str bytes;
    PtxFacts facts;
} Cubin;

typedef struct CubinMaker CubinMaker;
CubinMaker *cubin_maker_create(PtxBy by);
void cubin_maker_destroy(CubinMaker *maker);

// The tool that would be used for this text, and its version, for keys: "ptxas 13.0.88". Empty if
// there is none; `diags` (may be NULL) then gets the places that were searched.
Str cubin_tool(CubinMaker *maker, Arena *arena, Str ptx, Diags *diags);
// Does the PTX have line numbers of its source?
bool cubin_has_lines(Str ptx);
// False after reporting that there is no tool, or the tool's errors. Warnings and spills are
// reported, too. `sources` are those of the diagnostics.
bool cubin_make(CubinMaker *maker, Arena *arena, Sources *sources, Str ptx, Cubin *cubin,
                Diags *diags);

#endif
