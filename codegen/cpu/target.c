#include "codegen/cpu/target.h"

#include <elf.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/os.h"
#include "codegen/common/link.h"

// ---- facts --------------------------------------------------------------------------------------

const char *target_triple(CpuTarget target) {
    return target.level == CPU_AARCH64 ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
}

static const char *cpu_name(CpuLevel level) {
    switch (level) {
    case CPU_X86_64_V2: return "x86-64-v2";
    case CPU_X86_64_V3: return "x86-64-v3";
    case CPU_X86_64_V4: return "x86-64-v4";
    case CPU_AARCH64: return "generic";
    }
    UNREACHABLE("CPU level %d", (int)level);
}

enum { FEATURES_MAX = 128 };

static void features(CpuTarget target, char text[FEATURES_MAX]) {
    text[0] = 0;
    if (target.extras & CPU_VNNI) strcat(text, ",+avx512vnni");
    if (target.extras & CPU_BF16) strcat(text, ",+avx512bf16");
    if (target.extras & CPU_FP16) strcat(text, ",+avx512fp16");
    if (target.extras & CPU_AMX) strcat(text, ",+amx-tile");
    if (target.extras & CPU_AMX_BF16) strcat(text, ",+amx-bf16");
    if (target.extras & CPU_AMX_INT8) strcat(text, ",+amx-int8");
    if (text[0]) memmove(text, text + 1, strlen(text));
}

LLVMTargetMachineRef target_machine(CpuTarget target, bool quick) {
    LLVMTargetRef found = NULL;
    char *message = NULL;
    if (LLVMGetTargetFromTriple(target_triple(target), &found, &message))
        os_defect(__FILE__, __LINE__, "LLVM: %s", message);
    char text[FEATURES_MAX];
    features(target, text);
    return LLVMCreateTargetMachine(found, target_triple(target), cpu_name(target.level), text,
                                   quick ? LLVMCodeGenLevelNone : LLVMCodeGenLevelDefault,
                                   LLVMRelocPIC, LLVMCodeModelSmall);
}

// ---- undefined symbols --------------------------------------------------------------------------

typedef struct Elf {
    Str bytes;
    Elf64_Ehdr head;
} Elf;

static bool elf_part(const Elf *elf, uint64_t offset, uint64_t size, void *to) {
    if (offset > elf->bytes.size || size > elf->bytes.size - offset) return false;
    memcpy(to, elf->bytes.text + offset, size);
    return true;
}

static bool elf_section(const Elf *elf, unsigned i, Elf64_Shdr *section) {
    return elf_part(elf, elf->head.e_shoff + (uint64_t)i * elf->head.e_shentsize, sizeof *section,
                    section);
}

static void find_undefined(const Elf *elf, const Elf64_Shdr *symbols, TargetLog *log) {
    Elf64_Shdr names;
    if (!elf_section(elf, symbols->sh_link, &names)) return;
    for (uint64_t at = sizeof(Elf64_Sym); at < symbols->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        if (!elf_part(elf, symbols->sh_offset + at, sizeof s, &s) || s.st_shndx != SHN_UNDEF)
            continue;
        const char *name = elf->bytes.text + names.sh_offset + s.st_name;
        target_failed(log, "the code calls what it must not", name);
        diag_help(log->diags, "this is a defect of tilec; please report it with the kernel");
    }
}

bool target_is_closed(Str object, TargetLog *log) {
    Elf elf = {.bytes = object};
    unsigned before = log->errors;
    if (!elf_part(&elf, 0, sizeof elf.head, &elf.head)) return false;
    for (unsigned i = 0; i < elf.head.e_shnum; i++) {
        Elf64_Shdr section;
        if (elf_section(&elf, i, &section) && section.sh_type == SHT_SYMTAB)
            find_undefined(&elf, &section, log);
    }
    return log->errors == before;
}

// ---- link ---------------------------------------------------------------------------------------

bool target_link(Arena *arena, CpuTarget target, Str object, Str entry, Str *output,
                 TargetLog *log) {
    const char *args[] = {"-m",
                          target.level == CPU_AARCH64 ? "aarch64linux" : "elf_x86_64",
                          "-shared",
                          "--hash-style=gnu",
                          "--no-undefined",
                          "-z",
                          "noexecstack",
                          "-soname",
                          arena_printf(arena, "%.*s", STR_ARG(entry))};
    return link_in_memory(arena, sizeof args / sizeof *args, args, object, output, log);
}
