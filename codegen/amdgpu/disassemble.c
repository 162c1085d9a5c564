#include "codegen/amdgpu/disassemble.h"

#include <llvm-c/Disassembler.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "codegen/llvm_shim.h"

enum { TEXT_MAX = 512, WORD = 4, NAMES_MAX = 32 };

typedef VEC(GpuCodeLine) CodeLines;

// The text is one line, with blanks before it and between its parts.
static Str clean_text(Arena *arena, char *text) {
    for (char *p = text; *p; p++)
        if (*p == '\t' || *p == '\n') *p = ' ';
    Str trimmed = str_trim(str(text));
    return (Str){arena_text(arena, trimmed.text, trimmed.size), trimmed.size};
}

// ---- reserved codes -----------------------------------------------------------------------------

// Codes that processors reserve, at which LLVM 22 ends the process.

// A constant after an instruction of 8 bytes, which gfx9 does not have. The result of a comparison
// or of v_readlane is a scalar.
static bool has_far_constant(const uint32_t words[2]) {
    enum { VECTOR = 0x34, BUFFER = 0x38, TYPED_BUFFER = 0x3a, CONSTANT = 0xff };
    enum { COMPARES_END = 0x100, READ_LANE = 0x289 };
    uint32_t encoding = words[0] >> 26, w = words[1], code = words[0] >> 16 & 0x3ff;
    if (encoding == BUFFER || encoding == TYPED_BUFFER) return w >> 24 == CONSTANT;
    if (encoding != VECTOR) return false;
    bool scalar = code < COMPARES_END || code == READ_LANE;
    return (scalar && (words[0] & 0xff) == CONSTANT) || (w & 0x1ff) == CONSTANT ||
           (w >> 9 & 0x1ff) == CONSTANT || (w >> 18 & 0x1ff) == CONSTANT;
}

// An instruction on parts of registers (SDWA, gfx9 and gfx10) that names a part that does not
// exist.
static bool has_no_part(const uint32_t words[2]) {
    enum { PARTS = 0xf9, COMPARES = 0x3e, NONE = 7, NONE_UNUSED = 3 };
    uint32_t w = words[1];
    if (words[0] >> 31 || (words[0] & 0x1ff) != PARTS) return false;
    bool result = words[0] >> 25 != COMPARES;
    return (w >> 16 & 7) == NONE || (w >> 24 & 7) == NONE ||
           (result && ((w >> 8 & 7) == NONE || (w >> 11 & 3) == NONE_UNUSED));
}

static bool is_reserved(const uint8_t *bytes, bool gfx9) {
    uint32_t words[2];
    memcpy(words, bytes, sizeof words);
    return has_no_part(words) || (gfx9 && has_far_constant(words));
}

// LLVM only reads the bytes, but takes a pointer that is not const. It needs some bytes after the
// last instruction.
static size_t decode_one(LLVMDisasmContextRef context, Str bytes, size_t at, uint64_t address,
                         bool gfx9, char *text) {
    uint8_t window[24] = {0};
    size_t left = bytes.size - at;
    memcpy(window, bytes.text + at, left < sizeof window ? left : sizeof window);
    if (is_reserved(window, gfx9)) return 0;
    size_t size = LLVMDisasmInstruction(context, window, sizeof window, address, text, TEXT_MAX);
    return size <= left ? size : 0;
}

// ---- disassembly --------------------------------------------------------------------------------

bool codegen_amd_disassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    (void)user;
    codegen_start();
    char cpu[NAMES_MAX];
    snprintf(cpu, sizeof cpu, "%.*s", STR_ARG(job->processor));
    // Halves of registers have their own names on these targets. Without the feature LLVM does not
    // decode some instructions of gfx12 that only other compilers write.
    bool halves =
        str_starts(job->processor, STR("gfx11")) || str_starts(job->processor, STR("gfx12"));
    char features[64];
    snprintf(features, sizeof features, "+wavefrontsize%u%s", job->lanes == 32 ? 32u : 64u,
             halves ? ",+real-true16" : "");
    LLVMDisasmContextRef context =
        LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, features, NULL, 0, NULL, NULL);
    if (!context) return false;
    bool gfx9 = str_starts(job->processor, STR("gfx9"));
    LLVMSetDisasmOptions(context, LLVMDisassembler_Option_PrintImmHex);
    CodeLines lines = {0};
    for (size_t at = 0; at < job->bytes.size;) {
        char text[TEXT_MAX] = "";
        size_t size = decode_one(context, job->bytes, at, job->begin + at, gfx9, text);
        if (!size) text[0] = 0;
        size_t left = job->bytes.size - at;
        if (!size) size = left < WORD ? left : WORD;
        GpuCodeLine line = {(uint32_t)at, (uint32_t)size, clean_text(arena, text)};
        vec_push(arena, &lines, line);
        at += size;
    }
    LLVMDisasmDispose(context);
    *code = (GpuCode){lines.data, (uint32_t)lines.count};
    return true;
}
