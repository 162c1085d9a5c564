#include "codegen/lld_shim.h"

#include <lld/Common/Driver.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm/Support/ErrorHandling.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

LLD_HAS_DRIVER(elf)

// Of operator new, which calls it until there is memory or it does not return.
static void no_memory() {
    codegen_no_memory();
    std::set_new_handler(nullptr);  // not ours: operator new throws as it would without us
}

// Of LLVM's own allocations by malloc.
static void no_malloc(void *, const char *reason, bool) {
    codegen_no_memory();
    codegen_fatal(reason);
}

static bool start() {
    LLVMInstallFatalErrorHandler(codegen_fatal);
    llvm::install_bad_alloc_error_handler(no_malloc);
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // LLVM 22's pass against blocked store forwarding dies of some masked copies on x86-64-v3
    // ("cannot implicitly convert a scalable size").
    static const char *const options[] = {"tilec", "-x86-disable-avoid-SFB"};
    LLVMParseCommandLineOptions(2, options, nullptr);
    return true;
}

void codegen_start(void) {
    static const bool started = start();
    (void)started;
    std::set_new_handler(no_memory);
}

int codegen_lld(size_t count, const char *const *arguments, char **messages) {
    static std::mutex one_at_a_time;
    std::vector<const char *> args = {"ld.lld"};
    args.insert(args.end(), arguments, arguments + count);
    std::string text;
    llvm::raw_string_ostream stream(text);
    std::lock_guard<std::mutex> lock(one_at_a_time);
    lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0) *messages = strdup(text.c_str());
    return result.retCode == 0;
}
