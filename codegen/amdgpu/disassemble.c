#include "codegen/amdgpu/disassemble.h"

#include <llvm-c/Disassembler.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "codegen/llvm_shim.h"

enum { TEXT_MOST = 512, WORD = 4, NAME_MOST = 32 };

typedef VEC(GpuCodeLine) Lines;

// The text is one line, with blanks before it and between its parts.
static Str clean_text(Arena *arena, char *text) {
    for (char *p = text; *p; p++)
        if (*p == '\t' || *p == '\n') *p = ' ';
    Str trimmed = str_trim(str(text));
    return (Str){arena_text(arena, trimmed.text, trimmed.size), trimmed.size};
}

// LLVM reads bytes of the caller's without writing them, through a pointer that could.
static size_t decode_one(LLVMDisasmContextRef context, Str bytes, size_t at, uint64_t address,
                         char *text) {
    uint8_t window[24] = {0};
    size_t left = bytes.size - at;
    size_t size = left < sizeof window ? left : sizeof window;
    memcpy(window, bytes.text + at, size);
    return LLVMDisasmInstruction(context, window, size, address, text, TEXT_MOST);
}

bool codegen_amd_disassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    (void)user;
    codegen_start();
    char cpu[NAME_MOST];
    snprintf(cpu, sizeof cpu, "%.*s", STR_ARG(job->processor));
    // Halves of registers by their own names, where there are such: of gfx12 LLVM would leave the
    // instructions out that only other compilers write.
    bool halves =
        str_starts(job->processor, STR("gfx11")) || str_starts(job->processor, STR("gfx12"));
    char features[64];
    snprintf(features, sizeof features, "+wavefrontsize%u%s", job->lanes == 32 ? 32u : 64u,
             halves ? ",+real-true16" : "");
    LLVMDisasmContextRef context =
        LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu, features, NULL, 0, NULL, NULL);
    if (!context) return false;
    LLVMSetDisasmOptions(context, LLVMDisassembler_Option_PrintImmHex);
    Lines lines = {0};
    for (size_t at = 0; at < job->bytes.size;) {
        char text[TEXT_MOST] = "";
        size_t size = decode_one(context, job->bytes, at, job->begin + at, text);
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
