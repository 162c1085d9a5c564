// Cubin: machine code of one NVIDIA architecture, made of PTX by a tool of NVIDIA's that is here.
//
// The tools, in the order in which they are asked: `ptxas` in $TILEC_PTXAS (that one and no other),
// $CUDA_HOME/bin, the folders of $PATH, /usr/local/cuda/bin; then the library nvJitLink in
// $TILEC_NVJITLINK, where the loader looks, in lib64 of the same homes. The first that knows the
// text's version of PTX is taken. Which of them count is the wish; PTX_BY_DRIVER: none, the driver
// compiles PTX itself, as it always can.
// Invariants: tools are looked for once, when the first is needed; any thread may ask. The machine
// code is for the architecture that the PTX names. Ownership: cubin_maker_destroy; results are in
// the arena given.
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
// Whom TILEC_PTX_COMPILER names; without it the driver. False, after saying why in `problem`: it
// names nobody.
bool ptx_by_environment(Arena *arena, PtxBy *by, Str *problem);

typedef struct Cubin {
    Str bytes;
    PtxFacts facts;
} Cubin;

typedef struct CubinMaker CubinMaker;
CubinMaker *cubin_maker_create(PtxBy by);
void cubin_maker_destroy(CubinMaker *maker);

// The tool that would be taken for this text, and its version, for keys: "ptxas 13.0.88"; empty:
// there is none, and `diags` (NULL: nobody) hears where it was looked for.
Str cubin_tool(CubinMaker *maker, Arena *arena, Str ptx, Diags *diags);
// Does the PTX say which lines of the source it is of?
bool cubin_has_lines(Str ptx);
// False after reporting: no tool, or what it said. Warnings and spills are reported, too. `sources`
// are those of the diagnostics.
bool cubin_make(CubinMaker *maker, Arena *arena, Sources *sources, Str ptx, Cubin *cubin,
                Diags *diags);

#endif
