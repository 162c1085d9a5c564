// Which version of PTX a kernel needs.
//
// Invariants: no lower one has all its instructions and the architecture; 70 is 7.0.
//
//     uint32_t version = nvptx_version(func, target);
#ifndef TILEC_CODEGEN_NVPTX_VERSION_H
#define TILEC_CODEGEN_NVPTX_VERSION_H

#include "ir/ir.h"
#include "target/gpu.h"

uint32_t nvptx_version(const IrFunc *func, GpuTarget target);

#endif
