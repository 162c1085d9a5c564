#include "target/rates.h"

static const Rates rows[] = {
#define RATES(...) {__VA_ARGS__},
#include "target/rates.def"
};

const Rates *rates_of(GpuTarget target) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].vendor == target.vendor && rows[i].number == target.number && !target.generic)
            return &rows[i];
    return NULL;
}
