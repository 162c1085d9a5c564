// lld refers to the initialisers of all targets that its LLVM was built with, for link-time
// optimisation. We link the code of two targets; the initialisers of the others do nothing. They
// are in an archive after LLVM's own libraries, so they are used only if a name is not found
// before. They are weak, because one missing name pulls in all of them.
#define NOTHING(name)                      \
    __attribute__((weak)) void name(void); \
    __attribute__((weak)) void name(void) {}

#define LLVM_TARGET(T)                     \
    NOTHING(LLVMInitialize##T##Target)     \
    NOTHING(LLVMInitialize##T##TargetInfo) \
    NOTHING(LLVMInitialize##T##TargetMC)
#include <llvm/Config/Targets.def>

#define LLVM_ASM_PRINTER(T) NOTHING(LLVMInitialize##T##AsmPrinter)
#include <llvm/Config/AsmPrinters.def>

#define LLVM_ASM_PARSER(T) NOTHING(LLVMInitialize##T##AsmParser)
#include <llvm/Config/AsmParsers.def>

// An LLVM with Polly calls this in the pipelines of link-time optimisation, which never run.
__attribute__((weak)) void polly_plugin_info(void) __asm__("_Z18getPollyPluginInfov");
__attribute__((weak)) void polly_plugin_info(void) { __builtin_trap(); }
