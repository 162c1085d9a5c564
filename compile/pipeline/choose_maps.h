// Can a kernel use tensor maps? Asked before its variants are made, so that a kernel that cannot
// use them has no variant for them; and again by a variant that has them.
//
// Invariants: the answer depends on the optimised tile IR and the arguments alone. A parameter in
// it is a view that launch_can_map takes.
//
//     uint64_t views = choose_mapped_views(func, meta);
//     if (views) …                                    // variants for maps of these parameters
#ifndef TILEC_COMPILE_PIPELINE_CHOOSE_MAPS_H
#define TILEC_COMPILE_PIPELINE_CHOOSE_MAPS_H

#include "ir/ir.h"
#include "runtime/meta.h"
#include "target/occupancy.h"

// The views that the code may copy by maps: bit i stands for parameter i. 0: none.
uint64_t choose_mapped_views(const IrFunc *func, const MetaKernel *meta);
// Do programs gain if each computes several positions of the grid? So do those of a single product
// that do nothing but load, multiply and store, if a multiprocessor runs one of them at a time.
bool choose_persistent(const IrFunc *func, const Chip *chip);

#endif
