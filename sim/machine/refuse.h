// Reasons for refusing launches, and messages for failed accesses; shared by the machines.
//
// Invariants: a refused launch has changed nothing.
// Ownership: texts are in memory of the caller.
//
//     if (!sim_check_block(launch, &(SimBlockRule){.name = name, .most = 1024}, r)) return false;
#ifndef TILEC_SIM_MACHINE_REFUSE_H
#define TILEC_SIM_MACHINE_REFUSE_H

#include "sim/machine/machine.h"

typedef struct SimBlockRule {
    Str name;              // the kernel's
    uint32_t required[3];  // threads; 0 first: no requirement
    uint64_t most;         // threads of a block
    uint64_t items;        // threads of the grid along one dimension; 0: no limit
} SimBlockRule;

// Stores the text in the result; returns false.
bool sim_refuse(SimResult *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool sim_check_block(const SimLaunch *n, const SimBlockRule *rule, SimResult *r);

// Describes a failed access, for the first of the fault's lanes: a thread and block.
enum { SIM_FAULT_TEXT = 160 };
const char *sim_fault_describe(char text[SIM_FAULT_TEXT], const SimFault *f, uint32_t thread,
                               uint64_t block);

#endif
