#include "target/cpu.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

typedef struct CpuName {
    const char *text;
    unsigned value;
} CpuName;
static const CpuName levels[] = {{"x86-64-v2", CPU_X86_64_V2},
                                 {"x86-64-v3", CPU_X86_64_V3},
                                 {"x86-64-v4", CPU_X86_64_V4},
                                 {"aarch64", CPU_AARCH64}};
static const CpuName extras[] = {{"vnni", CPU_VNNI},
                                 {"bf16", CPU_BF16},
                                 {"fp16", CPU_FP16},
                                 {"amx-bf16", CPU_AMX_BF16},
                                 {"amx-int8", CPU_AMX_INT8}};
enum { LEVELS = sizeof levels / sizeof *levels, EXTRAS = sizeof extras / sizeof *extras };

// Takes the part of the text up to the next '+'.
static Str next_part(Str *text) {
    const char *plus = text->size ? memchr(text->text, '+', text->size) : NULL;
    Str part = *text;
    if (plus) part.size = (size_t)(plus - text->text);
    size_t used = part.size + (plus ? 1 : 0);
    *text = (Str){text->text + used, text->size - used};
    return part;
}

static const CpuName *find(const CpuName *names, size_t count, Str text) {
    for (size_t i = 0; i < count; i++)
        if (str_equal(text, str(names[i].text))) return &names[i];
    return NULL;
}

bool cpu_target_parse(Str text, CpuTarget *target) {
    if (str_equal(text, STR("native"))) {
        *target = cpu_native();
        return true;
    }
    bool trailing = text.size && text.text[text.size - 1] == '+';
    const CpuName *level = find(levels, LEVELS, next_part(&text));
    if (!level || trailing) return false;
    *target = (CpuTarget){(CpuLevel)level->value, 0};
    while (text.size) {
        const CpuName *extra = find(extras, EXTRAS, next_part(&text));
        if (!extra || target->level != CPU_X86_64_V4 || (target->extras & extra->value))
            return false;
        target->extras |= extra->value;
    }
    return true;
}

const char *cpu_target_name(CpuTarget target, char *buffer) {
    int size = 0;
    for (size_t i = 0; i < LEVELS; i++)
        if (levels[i].value == (unsigned)target.level)
            size = snprintf(buffer, CPU_NAME_MAX, "%s", levels[i].text);
    for (size_t i = 0; i < EXTRAS; i++)
        if (target.extras & extras[i].value)
            size += snprintf(buffer + size, (size_t)(CPU_NAME_MAX - size), "+%s", extras[i].text);
    return buffer;
}

bool cpu_runs(CpuTarget machine, CpuTarget target) {
    bool arm = machine.level == CPU_AARCH64;
    if (arm != (target.level == CPU_AARCH64)) return false;
    return machine.level >= target.level && !(target.extras & ~machine.extras);
}

#if defined __x86_64__

// The compiler's own reading of CPUID. It also checks which registers the system saves.
static bool has_v4(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

static bool has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}

// Bits of EDX in leaf 7: older compilers have no names for some of them.
enum { LEAF_7_AMX_BF16 = 22, LEAF_7_FP16 = 23, LEAF_7_AMX_TILE = 24, LEAF_7_AMX_INT8 = 25 };

static unsigned leaf_7(void) {
    unsigned a = 7, b, c = 0, d;
    __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return d;
}

static bool bit(unsigned bits, unsigned place) { return (bits >> place & 1) != 0; }

// Does the system save the tile registers (XCR0, bits 17 and 18)? Needs XGETBV, which AVX does.
static bool saves_tiles(void) {
    enum { CONFIG_AND_DATA = 3 << 17 };
    unsigned a, d;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & CONFIG_AND_DATA) == CONFIG_AND_DATA;
}

static unsigned amx_extras(void) {
    unsigned bits = leaf_7(), found = 0;
    if (!bit(bits, LEAF_7_AMX_TILE)) return 0;
    if (bit(bits, LEAF_7_AMX_BF16)) found |= CPU_AMX_BF16;
    if (bit(bits, LEAF_7_AMX_INT8)) found |= CPU_AMX_INT8;
    return found && saves_tiles() && os_tile_registers_ask() ? found : 0;
}

static CpuTarget machine(bool tiles) {
    __builtin_cpu_init();
    CpuTarget t = {CPU_X86_64_V2, 0};
    if (has_v3()) t.level = CPU_X86_64_V3;
    if (!has_v3() || !has_v4()) return t;
    t.level = CPU_X86_64_V4;
    if (__builtin_cpu_supports("avx512vnni")) t.extras |= CPU_VNNI;
    if (__builtin_cpu_supports("avx512bf16")) t.extras |= CPU_BF16;
    if (bit(leaf_7(), LEAF_7_FP16)) t.extras |= CPU_FP16;
    if (tiles) t.extras |= amx_extras();
    return t;
}

// The low six bits of MXCSR are exception flags and not part of the mode. Above its 32 bits the
// result holds the x87 control word, which long double arithmetic and strtod use. It is checked
// first, because setting it is slow.
enum { MXCSR_USUAL = 0x1f80, MXCSR_MODE = 0xffc0, X87_USUAL = 0x37f, X87_MODE = 0xf3f };

// Clears pending exceptions first: with unmasked exceptions they would trap at the next
// instruction.
static void set_x87(uint16_t word) { __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(word)); }

uint64_t cpu_float_mode_usual(void) {
    unsigned mode = __builtin_ia32_stmxcsr();
    uint16_t word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    if ((mode & MXCSR_MODE) != MXCSR_USUAL) __builtin_ia32_ldmxcsr(MXCSR_USUAL);
    if ((word & X87_MODE) != (X87_USUAL & X87_MODE)) set_x87(X87_USUAL);
    return mode | (uint64_t)word << 32;
}

void cpu_float_mode_restore(uint64_t mode) {
    uint16_t word = (uint16_t)(mode >> 32);
    if ((mode & MXCSR_MODE) != MXCSR_USUAL) __builtin_ia32_ldmxcsr((unsigned)mode);
    if ((word & X87_MODE) != (X87_USUAL & X87_MODE)) set_x87(word);
}

#else

static CpuTarget machine(bool tiles) {
    (void)tiles;
    return (CpuTarget){CPU_AARCH64, 0};
}

uint64_t cpu_float_mode_usual(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    if (mode) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)0));
    return mode;
}

void cpu_float_mode_restore(uint64_t mode) {
    if (mode) __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}

#endif

CpuTarget cpu_native(void) { return machine(true); }

bool cpu_runs_here(CpuTarget target) {
    return cpu_runs(machine((target.extras & CPU_AMX) != 0), target);
}
