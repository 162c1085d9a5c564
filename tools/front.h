// Front: what the commands that compile a kernel share: the file, the kernel, options of passes.
//
// Invariants: every function reports what is wrong before it returns another status than
// EXIT_FINE. Warnings of the file stay in the unit's diagnostics; whoever compiles reports them
// once, with what compiling adds (front_report).
// Ownership: the caller destroys the unit, also after a failure (it may be NULL).
//
//     Unit *u;  const FrontKernel *k;
//     int status = front_open(cli, &u, &k);
#ifndef TILEC_TOOLS_FRONT_H
#define TILEC_TOOLS_FRONT_H

#include "compile/pipeline/compile.h"
#include "tools/cli.h"

#define FRONT_STDIN "<stdin>"

// The option row of commands that compile.
#define FRONT_LIMIT_OPTION \
    { "compile-seconds", "N", "an error where compiling takes longer (default: no limit)", false }
// What it, or TILEC_COMPILE_SECONDS, says; 0: nothing.
int front_seconds(Cli *cli, unsigned *seconds);

// Reads a file, or standard input for "-".
Unit *front_load(Cli *cli, Str path);
// Compiling begins here. Operand 0 is the file, operand 1 the kernel; with several kernels one must
// be named.
int front_open(Cli *cli, Unit **unit, const FrontKernel **kernel);
// Reports the unit's diagnostics in order of their places.
void front_report(Cli *cli, Unit *unit);

// What --target names, but for `native`. A name without code is fine where code is not needed;
// EXIT_UNAVAILABLE after reporting one that is not.
int front_target(Cli *cli, Str name, bool needs_code, CodeTarget *target, bool *has_code);

// The option rows of commands that run passes.
#define FRONT_PASS_OPTIONS                                                                   \
    {"dump-after", "LIST", "the IR after these passes, on standard error (all: after each)", \
     false},                                                                                 \
    {                                                                                        \
        "time-passes", NULL, "what each pass took, on standard error", false                 \
    }

typedef struct FrontDump {
    PassId pass;
    Str text;
} FrontDump;

typedef struct FrontPasses {
    Cli *cli;
    PassOptions options;
    PassTimings timings;
    CodegenTimes codegen;
    bool generated;  // codegen has run
    VEC(FrontDump) dumps;
} FrontPasses;

// `diags` collects what is wrong with the lists; it is reported here.
int front_passes(Cli *cli, Diags *diags, FrontPasses *passes);
// Lowers and generates, in no cache; times are kept with those of the passes.
bool front_code(FrontPasses *passes, Unit *unit, const Compiled *compiled,
                const CodeOptions *options, Code *code);
// What a list of --math adds.
int front_math(Cli *cli, Str list, unsigned *math);
// Who makes machine code of PTX: whom TILEC_PTX_COMPILER names, else any tool that is here (there
// is no driver). A name that is none is a warning.
CubinMaker *front_cubin_maker(Cli *cli);
// What compiling that failed means: the input, something missing here, or a defect.
int front_status(const Diags *diags);
// After the passes ran: dumps and timings, as text or members of the object.
void front_passes_report(FrontPasses *passes);

#endif
