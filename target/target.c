#include "target/target.h"

_Static_assert((int)CODE_TARGET_NAME_MAX >= (int)GPU_NAME_MAX, "names of GPUs fit");

bool code_target_parse(Str text, CodeTarget *target) {
    *target = (CodeTarget){0};
    return cpu_target_parse(text, &target->cpu) || gpu_target_parse(text, &target->gpu);
}

const char *code_target_name(CodeTarget target, char *buffer) {
    return code_target_is_gpu(target) ? gpu_target_name(target.gpu, buffer)
                                      : cpu_target_name(target.cpu, buffer);
}

Machine code_target_machine(CodeTarget target) {
    return code_target_is_gpu(target) ? machine_of_gpu(target.gpu) : machine_of_cpu(target.cpu);
}
