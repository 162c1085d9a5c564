// The cost of one iteration of a loop on a CPU, by cpu_rates.def: the clocks that each kind of unit
// of a core is busy, if nothing waits and all data is in the first-level cache. The longest bounds
// the loop.
//
// Invariants: an estimate; no code depends on it. Inner loops are not counted.
//
//     CpuCost cost = {0};
//     for (op = block->first; op; op = op->next) cpu_cost_add(&cost, op, &machine, rates);
//     CpuUnit unit = cpu_cost_bound(&cost);
//     printf("%.0f clocks, bound by %s", cost.busy[unit], cpu_unit_info(unit)->text);
#ifndef TILEC_COMPILE_REPORT_CPU_COST_H
#define TILEC_COMPILE_REPORT_CPU_COST_H

#include "ir/ir.h"
#include "target/machine.h"
#include "target/rates.h"

// UNIT(name, key in JSON, text)
#define CPU_UNITS_LIST(UNIT)                             \
    UNIT(LOADS, "loads", "loads")                        \
    UNIT(STORES, "stores", "stores")                     \
    UNIT(MULTIPLY_ADDS, "multiplyAdds", "multiply-adds") \
    UNIT(ARITHMETIC, "arithmetic", "arithmetic")         \
    UNIT(SHUFFLES, "shuffles", "shuffles")               \
    UNIT(DIVISION, "division", "divisions and roots")    \
    UNIT(ISSUE, "issue", "instructions")
typedef enum CpuUnit {
#define UNIT(name, key, text) CPU_UNIT_##name,
    CPU_UNITS_LIST(UNIT)
#undef UNIT
        CPU_UNITS
} CpuUnit;

typedef struct CpuCost {
    double busy[CPU_UNITS];  // clocks
    double bytes;            // loaded and stored
    const IrType *widest;    // vector that is loaded, stored or computed; NULL: there is none
} CpuCost;

void cpu_cost_add(CpuCost *cost, const IrOp *op, const Machine *machine, const CpuRates *rates);
CpuUnit cpu_cost_bound(const CpuCost *cost);

typedef struct CpuUnitInfo {
    const char *key;  // in JSON
    const char *text;
} CpuUnitInfo;
const CpuUnitInfo *cpu_unit_info(CpuUnit unit);

#endif
