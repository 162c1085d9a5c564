#include "codegen/llvm_shim.h"

extern "C" {
#include "base/recover.h"
}

#include <lld/Common/Driver.h>
#include <lld/Common/Memory.h>
#include <llvm-c/Core.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsAMDGPU.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Pass.h>
#include <llvm/PassInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <vector>

LLD_HAS_DRIVER(elf)

// ---- Memory ----

// The number of locks and static initialisations of LLVM that this thread is in. If we left one
// unfinished, every later compilation would block, so memory comes from a reserve until the thread
// is out of all of them.
static thread_local unsigned inside;
static std::atomic<void *> reserve;
enum { RESERVE = 1 << 20 };

// True while the library's own statics are initialised, until a caller gets its table.
static std::atomic<bool> opening;

static bool must_go_on() { return inside || opening.load(); }

// True: some memory is free again.
static bool open_reserve() {
    void *block = must_go_on() ? reserve.exchange(nullptr) : nullptr;
    std::free(block);
    return block != nullptr;
}

static void fill_reserve() {
    if (reserve.load()) return;
    void *none = nullptr, *block = std::malloc(RESERVE);
    if (!reserve.compare_exchange_strong(none, block)) std::free(block);
}

// Runs when the library is unloaded.
__attribute__((destructor)) static void drop_reserve() { std::free(reserve.exchange(nullptr)); }

#ifdef CODEGEN_LLVM_STATIC  // linked with --wrap for these

// ---- Memory that lld keeps ----

// Sections and symbols of a link are in thread-local allocators (lld/Common/Memory.h), which lld
// frees when the thread ends: a thread that continues would keep 3 KB for each link. So we destroy
// them after each link, and restore the bytes that they had when they were new. We copy these bytes
// when the C++ runtime registers the destructor.
typedef lld::SpecificAlloc<unsigned char> Allocator;  // has the same size for every type
struct Noted {
    void (*end)(void *);
    void *object;
    alignas(Allocator) unsigned char fresh[sizeof(Allocator)];
};
enum { NOTED_MAX = 16 };
static thread_local struct {
    bool linking;
    bool left;  // a link ran out of memory: do not destroy its objects
    unsigned count;
    Noted list[NOTED_MAX];
} noted;

extern "C" const char __ehdr_start[] __attribute__((visibility("hidden")));
extern "C" const char _end[] __attribute__((visibility("hidden")));

// An allocator's first word points to its virtual table, which is in this library; the first
// function there is its destructor.
static bool is_allocator(void (*end)(void *), const void *object) {
    uintptr_t table, begin = reinterpret_cast<uintptr_t>(__ehdr_start);
    std::memcpy(&table, object, sizeof table);
    if (table < begin || table >= reinterpret_cast<uintptr_t>(_end)) return false;
    void (*first)(void *);
    std::memcpy(&first, reinterpret_cast<const void *>(table), sizeof first);
    return first == end;
}

static void note_allocator(void (*end)(void *), void *object) {
    if (!noted.linking || noted.count == NOTED_MAX || !is_allocator(end, object)) return;
    Noted &n = noted.list[noted.count++];
    n.end = end;
    n.object = object;
    std::memcpy(n.fresh, object, sizeof n.fresh);
}

static void renew_allocators(bool whole) {
    for (unsigned i = 0; i < noted.count; i++) {
        const Noted &n = noted.list[i];
        if (whole) n.end(n.object);
        std::memcpy(n.object, n.fresh, sizeof n.fresh);
    }
}

static void begin_link() {
    if (noted.left) renew_allocators(false);
    noted.linking = noted.left = true;
}

static void end_link() {
    noted.linking = noted.left = false;
    renew_allocators(true);
}

extern "C" {
int __real___cxa_guard_acquire(long long *guard);
void __real___cxa_guard_release(long long *guard);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __real_pthread_rwlock_unlock(pthread_rwlock_t *lock);
int __real_pthread_once(pthread_once_t *once, void (*run)(void));
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);

int __wrap___cxa_guard_acquire(long long *guard);
void __wrap___cxa_guard_release(long long *guard);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock);
int __wrap_pthread_once(pthread_once_t *once, void (*run)(void));
int __real___cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library);
int __wrap___cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

int __wrap___cxa_guard_acquire(long long *guard) {
    int first = __real___cxa_guard_acquire(guard);
    if (first) inside++;
    return first;
}
void __wrap___cxa_guard_release(long long *guard) {
    inside--;
    __real___cxa_guard_release(guard);
}
static int entered(int result) {
    if (!result) inside++;
    return result;
}
static int left(int result) {
    if (!result) inside--;
    return result;
}
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
    return entered(__real_pthread_mutex_lock(mutex));
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return entered(__real_pthread_mutex_trylock(mutex));
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex) {
    return left(__real_pthread_mutex_unlock(mutex));
}
int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    return entered(__real_pthread_rwlock_rdlock(lock));
}
int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    return entered(__real_pthread_rwlock_wrlock(lock));
}
int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    return left(__real_pthread_rwlock_unlock(lock));
}
// glibc ends the process if it has no memory to register the destructor of a thread-local object.
int __wrap___cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library) {
    note_allocator(run, object);
    enum { NOTE = 256 };
    void *block = __real_malloc(NOTE);
    std::free(block ? block : reserve.exchange(nullptr));
    return __real___cxa_thread_atexit_impl(run, object, library);
}
void *__wrap_malloc(size_t size) {
    void *block = __real_malloc(size);
    return block || !open_reserve() ? block : __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size) {
    void *block = __real_calloc(count, size);
    return block || !open_reserve() ? block : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size) {
    void *block = __real_realloc(old, size);
    return block || !size || !open_reserve() ? block : __real_realloc(old, size);
}
int __wrap_pthread_once(pthread_once_t *once, void (*run)(void)) {
    inside++;
    int result = __real_pthread_once(once, run);
    inside--;
    return result;
}
}
#endif

// The handler of operator new, which calls it until there is memory or it does not return.
static void no_memory() {
    if (open_reserve()) return;
    if (must_go_on()) codegen_fatal("out of memory under a lock");
    codegen_no_memory();
    std::set_new_handler(nullptr);  // operator new throws, as it would without our handler
}

// The handler for LLVM's own allocations by malloc.
static void no_malloc(void *, const char *reason, bool) {
    if (!must_go_on()) codegen_no_memory();
    codegen_fatal(reason);
}

#ifdef CODEGEN_LLVM_STATIC
// Runs before the other constructors of this library.
__attribute__((constructor(101))) static void prepare() {
    opening.store(true);
    fill_reserve();
    std::set_new_handler(no_memory);
}
#endif

void codegen_opened(void) { opening.store(false); }

// Makes an option of LLVM's command line true from now on. It changes the default, because every
// link of lld resets all options to their defaults.
static void set_default(llvm::StringRef name) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find(name);
    if (found == options.end()) codegen_fatal("an option of LLVM is gone");
    static_cast<llvm::cl::opt<bool> *>(found->second)->setInitialValue(true);
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
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTarget();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUAsmPrinter();
    LLVMInitializeAMDGPUDisassembler();
    // Addresses of shared memory have 32 bits; only this option says so.
    set_default("nvptx-short-ptr");
    return true;
}

void codegen_start(void) {
    static const bool started = start();
    (void)started;
    fill_reserve();
    std::set_new_handler(no_memory);
}

// lld may run out of memory, too. A compilation may be left while it holds this lock, so the lock
// does not count in `inside`.
struct LinkLock {
    Owned owned;
    std::mutex *mutex;
};

static void release_lock(Owned *owned) {
    std::mutex *mutex = reinterpret_cast<LinkLock *>(owned)->mutex;
#ifdef CODEGEN_LLVM_STATIC
    inside++;
    noted.linking = false;
#endif
    mutex->unlock();
}

static void link_lock(LinkLock *held, std::mutex &mutex) {
    mutex.lock();
#ifdef CODEGEN_LLVM_STATIC
    inside--;
#endif
    held->mutex = &mutex;
    recover_own(&held->owned, OWNED_FRAME, release_lock);
}

static void link_unlock(LinkLock *held) {
    recover_keep(&held->owned);
    release_lock(&held->owned);
}

int codegen_lld(size_t count, const char *const *arguments, char **messages) {
    static std::mutex one_at_a_time;
    LinkLock held;
    std::vector<const char *> args = {"ld.lld"};
    args.insert(args.end(), arguments, arguments + count);
    std::string text;
    llvm::raw_string_ostream stream(text);
    link_lock(&held, one_at_a_time);
#ifdef CODEGEN_LLVM_STATIC
    begin_link();
#endif
    lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
#ifdef CODEGEN_LLVM_STATIC
    end_link();
#endif
    link_unlock(&held);
    if (result.retCode != 0) *messages = strdup(text.c_str());
    return result.retCode == 0;
}

// ---- Machine code ----

namespace {
// Adds LLVM's passes without some of them.
class Passes : public llvm::legacy::PassManager {
    const char *const *without;
    std::vector<bool> met;
    llvm::StringMap<unsigned> seen;  // passes of each name

    static llvm::StringRef name_of(const llvm::Pass *pass) {
        const llvm::PassInfo *info = llvm::Pass::lookupPassInfo(pass->getPassID());
        return info ? info->getPassArgument() : "";
    }
    // Does the entry name the pass that is the nth of its name?
    static bool names(llvm::StringRef entry, llvm::StringRef name, unsigned nth) {
        auto [own, number] = entry.split('#');
        return own == name && (number.empty() || number == std::to_string(nth));
    }

   public:
    explicit Passes(const char *const *names) : without(names) {
        while (without && without[met.size()]) met.push_back(false);
    }
    void add(llvm::Pass *pass) override {
        llvm::StringRef name = name_of(pass);
        unsigned nth = ++seen[name];
        for (size_t i = 0; i < met.size(); i++) {
            if (!names(without[i], name, nth)) continue;
            met[i] = true;
            delete pass;
            return;
        }
        llvm::legacy::PassManager::add(pass);
    }
    // The first name that was not found; NULL: all were found.
    const char *missed() const {
        for (size_t i = 0; i < met.size(); i++)
            if (!met[i]) return without[i];
        return nullptr;
    }
};
}  // namespace

// Does it only compute, so that it may be moved down?
static bool only_computes(const llvm::Instruction &op) {
    if (llvm::isa<llvm::PHINode, llvm::AllocaInst>(op) || op.isTerminator() || op.isEHPad())
        return false;
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(&op)) {
        const auto *assembly = llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand());
        if (call->isConvergent() || (assembly && assembly->hasSideEffects())) return false;
    }
    return !op.mayReadOrWriteMemory() && !op.mayHaveSideEffects();
}

namespace {
// The operations of a block that have no place in the new order yet.
class Waiting {
    llvm::SmallPtrSet<llvm::Instruction *, 32> set;
    std::vector<std::pair<llvm::Instruction *, unsigned>> way;  // an operation, its next operand

    void enter(llvm::Value *value) {
        auto *op = llvm::dyn_cast<llvm::Instruction>(value);
        if (op && set.erase(op)) way.push_back({op, 0});
    }

   public:
    void add(llvm::Instruction *op) { set.insert(op); }
    // If the value waits, appends it to `order`, after the operands from which it is computed. It
    // has a stack of its own, because recursion would be as deep as the code is long.
    void place(llvm::Value *value, std::vector<llvm::Instruction *> &order) {
        enter(value);
        while (!way.empty()) {
            llvm::Instruction *op = way.back().first;
            unsigned next = way.back().second++;
            if (next < op->getNumOperands()) {
                enter(op->getOperand(next));
            } else {
                order.push_back(op);
                way.pop_back();
            }
        }
    }
};
}  // namespace

static bool lives_on(const llvm::Instruction &op) {
    for (const llvm::User *user : op.users())
        if (llvm::isa<llvm::PHINode>(user) ||
            llvm::cast<llvm::Instruction>(user)->getParent() != op.getParent())
            return true;
    return false;
}

// The largest number of the block's values that are live at once in this order.
static size_t max_live(const std::vector<llvm::Instruction *> &order) {
    llvm::DenseMap<const llvm::Value *, size_t> end;
    std::vector<size_t> ends(order.size() + 1);
    size_t live = 0, most = 0;
    for (size_t i = 0; i < order.size(); i++) {
        for (const llvm::Value *operand : order[i]->operands()) {
            auto found = end.find(operand);
            if (found != end.end()) found->second = std::max(found->second, i);
        }
        if (!order[i]->getType()->isVoidTy())
            end[order[i]] = lives_on(*order[i]) ? order.size() : i;
    }
    for (const auto &value : end) ends[value.second]++;
    for (size_t i = 0; i < order.size(); i++) {
        live += !order[i]->getType()->isVoidTy();
        most = std::max(most, live);
        live -= ends[i];
    }
    return most;
}

// Sinks instructions that only compute to their first use, unless more values would be live at
// once. For example, the terms of a sum would all wait for the sum.
static void order_block(llvm::BasicBlock &block) {
    std::vector<llvm::Instruction *> before, after;
    Waiting waiting;
    for (llvm::Instruction &op : block) {
        if (only_computes(op)) waiting.add(&op);
        if (!llvm::isa<llvm::PHINode>(op)) before.push_back(&op);
    }
    llvm::Instruction *end = before.back();  // the terminator
    before.pop_back();
    for (llvm::Instruction *op : before) {
        if (only_computes(*op)) continue;
        for (llvm::Value *operand : op->operands()) waiting.place(operand, after);
        after.push_back(op);
    }
    // The remaining operations are for other blocks and for the terminator.
    for (llvm::Instruction *op : before) waiting.place(op, after);
    if (max_live(after) >= max_live(before)) return;
    for (llvm::Instruction *op : after) op->moveBefore(end->getIterator());
}

void codegen_order_blocks(LLVMModuleRef module) {
    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::BasicBlock &block : function) order_block(block);
}

// The place at which to cut the block; its end if it is short enough.
static llvm::BasicBlock::iterator place_to_cut(llvm::BasicBlock &block, size_t instructions) {
    auto at = block.getFirstNonPHIOrDbgOrAlloca();
    for (size_t n = 0; n < instructions && at != block.end(); n++) ++at;
    return at == block.end() || at->isTerminator() ? block.end() : at;
}

void codegen_cut_blocks(LLVMModuleRef module, size_t instructions) {
    for (llvm::Function &function : *llvm::unwrap(module)) {
        // The part that is cut off is the next block, and is cut in the same way.
        for (auto block = function.begin(); block != function.end(); ++block) {
            auto at = place_to_cut(*block, instructions);
            if (at != block->end()) block->splitBasicBlock(at);
        }
    }
}

// Is it arithmetic whose result fits a scalar register and is used in another block?
static bool goes_on(const llvm::Instruction &op) {
    const llvm::Type *type = op.getType();
    bool arithmetic = llvm::isa<llvm::BinaryOperator, llvm::SelectInst, llvm::CallInst>(op);
    bool number = type->isIntegerTy(32) || type->isIntegerTy(64) || type->isFloatTy();
    return arithmetic && number && op.isUsedOutsideOfBlock(op.getParent());
}

static void break_chain(llvm::Instruction &op) {
    llvm::IRBuilder<> builder(op.getNextNode());
    llvm::Type *type = op.getType();
    llvm::Value *same =
        builder.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {type}, {&op});
    op.replaceUsesWithIf(same, [same](const llvm::Use &u) { return u.getUser() != same; });
}

void codegen_break_chains(LLVMTargetMachineRef machine, LLVMModuleRef module) {
    llvm::PassBuilder passes(reinterpret_cast<llvm::TargetMachine *>(machine));
    llvm::FunctionAnalysisManager analyses;
    passes.registerFunctionAnalyses(analyses);
    for (llvm::Function &function : *llvm::unwrap(module)) {
        if (function.isDeclaration()) continue;
        std::vector<llvm::Instruction *> found;
        llvm::UniformityInfo &uniform = analyses.getResult<llvm::UniformityInfoAnalysis>(function);
        for (llvm::BasicBlock &block : function)
            for (llvm::Instruction &op : block)
                if (goes_on(op) && uniform.isUniform(&op)) found.push_back(&op);
        for (llvm::Instruction *op : found) break_chain(*op);
    }
}

void codegen_hurry(LLVMTargetMachineRef machine) {
    reinterpret_cast<llvm::TargetMachine *>(machine)->setOptLevel(llvm::CodeGenOptLevel::None);
}

static int refused(char **message, const std::string &text) {
    *message = strdup(text.c_str());
    return false;
}

int codegen_emit(LLVMTargetMachineRef machine, LLVMModuleRef module, int assembly,
                 const char *const *without, char **message, LLVMMemoryBufferRef *output) {
    auto *target = reinterpret_cast<llvm::TargetMachine *>(machine);
    auto kind = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
    llvm::SmallString<0> code;
    llvm::raw_svector_ostream stream(code);
    Passes passes(without);
    if (target->addPassesToEmitFile(passes, stream, nullptr, kind))
        return refused(message, "the target emits no such file");
    const char *missed = passes.missed();
    if (missed && target->getOptLevel() != llvm::CodeGenOptLevel::None)
        return refused(message, std::string("there is no pass ") + missed + " to leave out");
    passes.run(*llvm::unwrap(module));
    *output = LLVMCreateMemoryBufferWithMemoryRangeCopy(code.data(), code.size(), "");
    return true;
}
