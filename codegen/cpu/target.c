#include "codegen/cpu/target.h"

#include <elf.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/os/os.h"
#include "codegen/common/link.h"

// ---- facts --------------------------------------------------------------------------------------

const char *target_triple(CpuTarget target) {
    return target.level == CPU_AARCH64 ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
}

const char *target_emulation(CpuTarget target) {
    return target.level == CPU_AARCH64 ? "aarch64linux" : "elf_x86_64";
}

CpuTarget target_baseline(CpuTarget target) {
    return (CpuTarget){target.level == CPU_AARCH64 ? CPU_AARCH64 : CPU_X86_64_V2, 0};
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

// NULL: the name does not end within the object.
static const char *elf_name(const Elf *elf, uint64_t at) {
    if (at >= elf->bytes.size) return NULL;
    const char *name = elf->bytes.text + at;
    return memchr(name, 0, elf->bytes.size - at) ? name : NULL;
}

static void find_undefined(const Elf *elf, const Elf64_Shdr *symbols, TargetSymbol *each,
                           void *user) {
    Elf64_Shdr names;
    if (!elf_section(elf, symbols->sh_link, &names)) return;
    for (uint64_t at = sizeof(Elf64_Sym); at < symbols->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        if (!elf_part(elf, symbols->sh_offset + at, sizeof s, &s)) return;
        const char *name =
            s.st_shndx == SHN_UNDEF ? elf_name(elf, names.sh_offset + s.st_name) : NULL;
        if (name) each(user, name, ELF64_ST_VISIBILITY(s.st_other) != STV_DEFAULT);
    }
}

// Checks that the object has all of its sections: lld ends the process if one is missing.
static bool elf_open(Elf *elf) {
    if (!elf_part(elf, 0, sizeof elf->head, &elf->head)) return false;
    if (memcmp(elf->head.e_ident, ELFMAG, SELFMAG) != 0 || elf->head.e_type != ET_REL) return false;
    for (unsigned i = 0; i < elf->head.e_shnum; i++) {
        Elf64_Shdr s;
        if (!elf_section(elf, i, &s)) return false;
        if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL) continue;
        if (s.sh_offset > elf->bytes.size || s.sh_size > elf->bytes.size - s.sh_offset)
            return false;
    }
    return elf->head.e_shnum > 0;
}

bool target_undefined(Str object, TargetSymbol *each, void *user) {
    Elf elf = {.bytes = object};
    if (!elf_open(&elf)) return false;
    for (unsigned i = 0; i < elf.head.e_shnum; i++) {
        Elf64_Shdr section;
        if (elf_section(&elf, i, &section) && section.sh_type == SHT_SYMTAB)
            find_undefined(&elf, &section, each, user);
    }
    return true;
}

static void report_undefined(void *user, const char *name, bool hidden) {
    TargetLog *log = user;
    (void)hidden;
    target_failed(log, "the code calls an undefined function", name);
    diag_help(log->diags, "this is a defect of tilec; please report it with the kernel");
}

bool target_is_closed(Str object, TargetLog *log) {
    unsigned before = log->errors;
    return target_undefined(object, report_undefined, log) && log->errors == before;
}

// ---- link ---------------------------------------------------------------------------------------

bool target_link(Arena *arena, CpuTarget target, Str object, Str entry, Str *output,
                 TargetLog *log) {
    const char *args[] = {"-m",
                          target_emulation(target),
                          "-shared",
                          "--hash-style=gnu",
                          "--no-undefined",
                          "-z",
                          "noexecstack",
                          "-soname",
                          arena_printf(arena, "%.*s", STR_ARG(entry))};
    return link_in_memory(arena, sizeof args / sizeof *args, args, 1, &object, output, log);
}
