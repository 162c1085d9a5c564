// Settings: the values of --set for a kernel: types, consts, extents, scalars, options, sizes.
//
// Invariants: every name belongs to the kernel (else wrong usage, with a list); every value fits
// its parameter. Extents of arrays are added later through settings_extent, which reports a
// contradiction. Ownership: the arena of the command line.
//
//     Settings s;
//     int status = settings_parse(cli, unit, kernel, &s);
#ifndef TILEC_TOOLS_SETTINGS_H
#define TILEC_TOOLS_SETTINGS_H

#include "compile/pipeline/compile.h"
#include "tools/cli.h"

typedef struct SettingsValue {
    Symbol name;
    int64_t value;  // extents, sizes
    Str text;       // scalars, as written
    Str origin;     // "--set" or the array that gave an extent
} SettingsValue;

typedef struct Settings {
    Cli *cli;
    Unit *unit;
    const FrontKernel *kernel;
    FrontSpec spec;
    VEC(SettingsValue) extents;
    VEC(SettingsValue) scalars;
    VEC(SettingsValue) sizes;  // p.size
} Settings;

// The option rows that every command with kernels shares.
#define SETTINGS_OPTIONS                                                                        \
    {"set", "NAME=VALUE", "an extent, type, const, scalar, p.size, option (warps, …)", true}, { \
        "math", "LIST", "contract, approx: allow fused multiply-add, fast functions", false     \
    }

int settings_parse(Cli *cli, Unit *unit, const FrontKernel *kernel, Settings *settings);
// Binds or compares; reports a disagreement as EXIT_INPUT.
int settings_extent(Settings *s, Symbol name, int64_t value, Str origin);
const SettingsValue *settings_find_extent(const Settings *s, Symbol name);
const SettingsValue *settings_find_scalar(const Settings *s, Symbol name);
const SettingsValue *settings_find_size(const Settings *s, Symbol name);
// A scalar's text as bits of its type; EXIT_USAGE after reporting one that does not fit.
int settings_scalar_bits(const Settings *s, Symbol name, Dtype type, uint64_t *bits);
// The value of a scalar as an argument of a launch.
void settings_front_arg(const Settings *s, Symbol name, FrontArg *arg);
// Reports type parameters that are still open, as wrong usage.
int settings_require_types(const Settings *s);

#endif
