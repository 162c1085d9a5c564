// The options of compilation (ir/options.def) by name and by number.
//
// Invariants: the table is constant, in the order of options.def; every option is an int field of
// IrFunc of the same name, 0 if it is not given.
// Ownership: only the list is allocated.
//
//     const IrOption *o = ir_option_find(STR("stages"));
//     if (o && value >= o->min && value <= o->max) *ir_option_of(func, o) = value;
#ifndef TILEC_IR_OPTION_H
#define TILEC_IR_OPTION_H

#include "ir/ir.h"

typedef struct IrOption {
    const char *name;
    int min, max;
    size_t place;  // offset in IrFunc
} IrOption;

enum {
#define IR_OPTION(name, least, most) IR_OPTION_##name,
#include "ir/options.def"
#undef IR_OPTION
    IR_OPTIONS
};

extern const IrOption ir_options[IR_OPTIONS];

const IrOption *ir_option_find(Str name);  // NULL: unknown
bool ir_option_allows(const IrOption *option, int64_t value);
int *ir_option_of(IrFunc *f, const IrOption *option);
int ir_option_value(const IrFunc *f, const IrOption *option);
// "warps, stages and ctas": with the words between them, and before the last.
Str ir_option_list(Arena *arena, const char *between, const char *last);

#endif
