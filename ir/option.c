#include "ir/option.h"

#include <stddef.h>

const IrOption ir_options[IR_OPTIONS] = {
#define IR_OPTION(name, least, most) {#name, least, most, offsetof(IrFunc, name)},
#include "ir/options.def"
#undef IR_OPTION
};

const IrOption *ir_option_find(Str name) {
    for (size_t i = 0; i < IR_OPTIONS; i++)
        if (str_equal(name, str(ir_options[i].name))) return &ir_options[i];
    return NULL;
}

bool ir_option_allows(const IrOption *option, int64_t value) {
    return value >= option->min && value <= option->max;
}

int *ir_option_of(IrFunc *f, const IrOption *option) {
    return (int *)(void *)((char *)f + option->place);
}

int ir_option_value(const IrFunc *f, const IrOption *option) {
    return *(const int *)(const void *)((const char *)f + option->place);
}

Str ir_option_list(Arena *arena, const char *between, const char *last) {
    StrBuf b = strbuf(arena);
    for (size_t i = 0; i < IR_OPTIONS; i++) {
        const char *before = i == 0 ? "" : i + 1 < IR_OPTIONS ? between : last;
        strbuf_printf(&b, "%s%s", before, ir_options[i].name);
    }
    return strbuf_str(&b);
}
