#include "codegen/amdgpu/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "codegen/amdgpu/check.h"
#include "codegen/amdgpu/gen.h"
#include "codegen/common/link.h"
#include "codegen/common/module.h"

static const char triple[] = "amdgcn-amd-amdhsa";

// Of gfx11 LLVM 22 takes halves of registers for registers of their own, and joins them by a move
// each: two where one permutation of bytes would do.
static const char *features_of(GpuTarget target) {
    return target.number >> 8 == 0x11 ? "-real-true16" : "";
}

static LLVMTargetMachineRef machine_of(const Module *m) {
    LLVMTargetRef found = NULL;
    GpuTarget target = m->options->target.gpu;
    char *message = NULL, name[GPU_NAME_MAX];
    if (LLVMGetTargetFromTriple(triple, &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    return LLVMCreateTargetMachine(found, triple, gpu_target_name(target, name),
                                   features_of(target), LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

static void set_version(Module *m, uint32_t version) {
    static const char name[] = "amdhsa_code_object_version";
    LLVMTypeRef word = LLVMInt32TypeInContext(m->context);
    LLVMMetadataRef value = LLVMValueAsMetadata(LLVMConstInt(word, 100 * version, false));
    LLVMAddModuleFlag(m->module, LLVMModuleFlagBehaviorError, name, sizeof name - 1, value);
}

static Gen *gen_create(Module *m) {
    uint32_t version = m->options->object_version;
    GpuGen *made = arena_new(m->scratch, GpuGen, 1);
    made->ops = &amdgpu_ops;
    made->machine = machine_of_gpu(m->options->target.gpu);
    made->way = m->way;
    made->g.pairs = made->machine.cdna2;
    set_version(m, version ? version : CODEGEN_OBJECT_VERSION);
    return &made->g;
}

static bool finish(Module *m, Str *code) {
    static const char *const args[] = {"-m", "elf64_amdgpu", "-shared", "--no-undefined"};
    return m->options->output != CODEGEN_SHARED ||
           link_in_memory(m->arena, sizeof args / sizeof *args, args, 1, code, code, &m->log);
}

// The vector registers that the code keeps in memory, as its metadata says: in assembly a number
// behind a colon, in an object one of MessagePack.
static uint32_t amdgpu_spills(Str code) {
    enum { BYTE = 0xcc, PAIR = 0xcd };
    static const char key[] = ".vgpr_spill_count";
    size_t at = 0, size = sizeof key - 1;
    while (at + size < code.size && memcmp(code.text + at, key, size) != 0) at++;
    if (at + size >= code.size) return 0;
    Str left = {code.text + at + size, code.size - at - size};
    const unsigned char *bytes = (const unsigned char *)left.text;
    if (*bytes == ':') return (uint32_t)strtoul(left.text + 1, NULL, 10);
    if (*bytes == PAIR && left.size > 2) return (uint32_t)(bytes[1] << 8 | bytes[2]);
    return *bytes == BYTE && left.size > 1 ? bytes[1] : *bytes;
}

// Spaces of memory first: the attributor casts the addresses of accesses only, and leaves what they
// are computed from without a space, where no offset becomes one of an access.
static const char passes[] = "function(infer-address-spaces,early-cse),amdgpu-attributor";

bool codegen_amdgpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                            Str *output, Diags *diags) {
    static const ModuleTarget target = {.machine = machine_of,
                                        .gen = gen_create,
                                        .ops = &amdgpu_gen_target,
                                        .function = amdgpu_function,
                                        .passes = passes,
                                        .ways = AMDGPU_WAYS,
                                        .spills = amdgpu_spills,
                                        .finish = finish};
    return amdgpu_check(func, options->target.gpu, diags) &&
           module_compile(arena, func, options, &target, output, diags);
}
