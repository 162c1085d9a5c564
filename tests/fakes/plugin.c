// A compiler library that has no LLVM and does what $FAKE_PLUGIN says: for tests of who opens it.
//
// Every shared object that it makes is the file $FAKE_KERNEL. It says so in $FAKE_LOG, a line for
// each call, so that tests can count them.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os/os.h"
#include "codegen/codegen.h"

// The table of the real library around the fake's compiler, with what happens on a fatal error.
#define CODEGEN_LLVM_VERSION "0.0"
const CodegenApi *real_codegen_api(void);
#define tilec_codegen_api real_codegen_api
#include "codegen/api.c"
#undef tilec_codegen_api

static bool is(const char *what) {
    const char *mode = getenv("FAKE_PLUGIN");
    return mode && strcmp(mode, what) == 0;
}

static void note_call(Str entry) {
    const char *path = getenv("FAKE_LOG");
    FILE *log = path ? fopen(path, "a") : NULL;
    if (!log) return;
    fprintf(log, "%.*s\n", STR_ARG(entry));
    fclose(log);
}

// As LLVM does: for a while a lock is held of which no fork knows.
static void hold_a_lock(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    pthread_mutex_unlock(&lock);
}

bool codegen_cpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                         Str *output, Diags *diags) {
    note_call(options->entry);
    if (options->times) *options->times = (CodegenTimes){1, 2, 3, 4};
    if (is("abort")) {
        fprintf(stderr, "LLVM ERROR: Cannot select: t5: i32 = planted\nstack of calls\n");
        abort();
    }
    if (is("fatal")) codegen_fatal("Cannot select: t5: i32 = planted");
    if (is("check")) CHECK(func == NULL, "a planted assertion");
    if (is("crash")) raise(SIGSEGV);
    if (is("exit")) exit(70);
    if (is("hang"))
        for (;;) sleep(1);
    if (is("lock")) hold_a_lock();
    if (is("refuse")) {
        diag_warning(diags, func->span, DIAG_UNSUPPORTED, "something to think about");
        diag_error(diags, func->span, DIAG_UNSUPPORTED, "'%s' is refused", func->name);
        diag_note(diags, func->span, "it was planted");
        diag_help(diags, "plant less");
        return false;
    }
    if (options->output != CODEGEN_SHARED) {
        *output = (Str){arena_text(arena, "text of the fake\n", 17), 17};
        return true;
    }
    OsError e;
    const char *path = getenv("FAKE_KERNEL");
    if (path && os_read_file(arena, path, 1 << 30, output, &e)) return true;
    diag_error(diags, func->span, DIAG_IO, "the fake has no kernel");
    return false;
}

static bool no_gpu(const IrFunc *func, Diags *diags) {
    diag_error(diags, func->span, DIAG_UNSUPPORTED, "the fake compiles for no GPU");
    return false;
}

bool codegen_nvptx_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                           Str *output, Diags *diags) {
    (void)arena, (void)options, (void)output;
    return no_gpu(func, diags);
}

bool codegen_amdgpu_compile(Arena *arena, const IrFunc *func, const CodegenOptions *options,
                            Str *output, Diags *diags) {
    (void)arena, (void)options, (void)output;
    return no_gpu(func, diags);
}

bool codegen_amd_disassemble(void *user, Arena *arena, const GpuCodeJob *job, GpuCode *code) {
    (void)user, (void)arena, (void)job, (void)code;
    return false;
}

static bool no_library(Diags *diags) {
    diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "the fake builds no libraries");
    return false;
}

bool codegen_cpu_library(Arena *arena, const CodegenLibrary *library, Str *object, Diags *diags) {
    (void)arena, (void)library, (void)object;
    return no_library(diags);
}

bool codegen_cpu_link_shared(Arena *arena, const CodegenSharedLibrary *library, Str *shared,
                             Diags *diags) {
    (void)arena, (void)library, (void)shared;
    return no_library(diags);
}

static const CodegenApi other_version = {.version = CODEGEN_VERSION + 1,
                                         .build = CODEGEN_BUILD_TEXT,
                                         .llvm_version = "0.0",
                                         .compile = codegen_cpu_compile};
static const CodegenApi other_build = {.version = CODEGEN_VERSION,
                                       .build = "tilec 9.9",
                                       .llvm_version = "0.0",
                                       .compile = codegen_cpu_compile};

void codegen_opened(void) {}

const CodegenApi *tilec_codegen_api(void) {
    if (is("other version")) return &other_version;
    return is("other build") ? &other_build : real_codegen_api();
}
