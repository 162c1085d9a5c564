#include "target/rates.h"

static const Rates rows[] = {
#define RATES(...) {__VA_ARGS__},
#include "target/rates.def"
};

static const CpuRates cpu_rows[] = {
#define CPU_RATES(...) {__VA_ARGS__},
#include "target/cpu_rates.def"
};

const CpuRates *rates_of_cpu(CpuTarget target) {
    for (size_t i = 0; i < sizeof cpu_rows / sizeof *cpu_rows; i++)
        if (cpu_rows[i].level == target.level) return &cpu_rows[i];
    return NULL;
}

const Rates *rates_of(GpuTarget target) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].vendor == target.vendor && rows[i].number == target.number && !target.generic)
            return &rows[i];
    return NULL;
}
