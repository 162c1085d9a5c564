#include "codegen/lld_shim.h"

#include <lld/Common/Driver.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

LLD_HAS_DRIVER(elf)

static bool start() {
    LLVMInstallFatalErrorHandler(codegen_fatal);
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
