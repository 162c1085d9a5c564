#include "sim/machine/program.h"

unsigned sim_type_bits(SimType type) {
    static const uint8_t bits[] = {
#define SIM_TYPE(name, text, bits) bits,
#include "sim/machine/type.def"
#undef SIM_TYPE
    };
    return bits[type];
}

const char *sim_type_name(SimType type) {
    static const char *const names[] = {
#define SIM_TYPE(name, text, bits) text,
#include "sim/machine/type.def"
#undef SIM_TYPE
    };
    return names[type];
}

unsigned sim_type_slot(SimType type) {
    unsigned bits = sim_type_bits(type);
    if (bits <= 1) return 0;
    return bits <= 16 ? 2 : bits / 8;
}

const SimKernel *sim_kernel_find(const SimProgram *program, Str name) {
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (str_equal(program->kernels[i].name, name)) return &program->kernels[i];
    return NULL;
}
