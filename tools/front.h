// Front: what the commands that compile a kernel share: the file, the kernel, options of passes.
//
// Invariants: every function reports the error before it returns another status than EXIT_OK.
// Warnings of the file stay in the unit's diagnostics; the command that compiles reports them once,
// together with those of the compilation (front_report). Ownership: the caller destroys the unit,
// also after a failure (it may be NULL).
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
    { "compile-seconds", "N", "an error if compiling takes longer (default: no limit)", false }
// The limit that this option or TILEC_COMPILE_SECONDS gives; 0: no limit.
int front_seconds(Cli *cli, unsigned *seconds);

// Reads a file, or standard input for "-".
Unit *front_load(Cli *cli, Str path);
// Loads the file and finds the kernel. Operand 0 is the file, operand 1 the kernel; a file with
// several kernels needs the second.
int front_open(Cli *cli, Unit **unit, const FrontKernel **kernel);
// Reports the unit's diagnostics in order of their places.
void front_report(Cli *cli, Unit *unit);

// Parses the value of --target, except for `native`. A target without code is accepted if no code
// is needed; otherwise it is reported, and the result is EXIT_UNAVAILABLE.
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
    bool generated;  // codegen was run
    VEC(FrontDump) dumps;
} FrontPasses;

// Errors in the lists of passes go to `diags`; they are reported here.
int front_passes(Cli *cli, Diags *diags, FrontPasses *passes);
// Lowers and generates without a cache; the times are kept with those of the passes.
bool front_code(FrontPasses *passes, Unit *unit, const Compiled *compiled,
                const CodeOptions *options, Code *code);
// The binding that the text gives a parameter in a language with texts: the value of a const, a
// type (i32, *fp16, with `:16` or `:1` a fact about it; tensordesc<fp16[64, 64]>), or None. False:
// the text is another value.
bool front_binding(const Unit *unit, const FrontKernel *kernel, const FrontParam *param, Str text,
                   IrBinding *binding);
// Adds the freedoms in a list of --math.
int front_math(Cli *cli, Str list, unsigned *math);
// The tool that makes machine code from PTX: the one that TILEC_PTX_COMPILER names, else any tool
// that is installed (there is no driver here). An unknown name is a warning.
CubinMaker *front_cubin_maker(Cli *cli);
// The exit status of a failed compilation: the input, a missing part, or a defect.
int front_status(const Diags *diags);
// Prints dumps and timings after the passes have run, as text or members of the object.
void front_passes_report(FrontPasses *passes);

#endif
