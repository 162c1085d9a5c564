// AMD code objects on the warp machine.
//
// Purpose: reads the bytes that HIP's loader would get and makes a program that sim_run runs.
// Invariants: any bytes end in a program or in diagnostics; an instruction that the machine does
// not know is an error that names it. Every kernel of the object is decoded. The program has one
// variable, the image, for which sim_program_load allocates memory. Launches need memory made with
// sim_memory_create_at(…, SIM_AMD_BASE), since buffer resources have 48-bit addresses.
// Ownership: the arena; `bytes` must outlive it.
//
//     GpuDisassembler d = {api->amd_disassemble, NULL};
//     const SimProgram *p = amd_read(arena, bytes, d, diags);
//     if (!p) …
#ifndef TILEC_SIM_AMD_AMD_H
#define TILEC_SIM_AMD_AMD_H

#include "base/diag.h"
#include "base/gpu_code.h"
#include "sim/machine/program.h"

const SimProgram *amd_read(Arena *arena, Str bytes, GpuDisassembler disassemble, Diags *diags);

#endif
