// Kernels: symbols, operands, constants, the loop over statements.
#include "sim/ptx/decode.h"

#include <stdarg.h>
#include <string.h>

#include "sim/ptx/ptx.h"

bool decode_fail(Decoder *d, Span span, DiagCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    StrBuf b = strbuf(d->arena);
    strbuf_vprintf(&b, format, args);
    va_end(args);
    diag_error(d->diags, span, code, "%s", b.text);
    return false;
}

// ---- Modifiers ----

bool take(Decoder *d, const char *modifier) {
    for (uint32_t n = 0; n < d->modifier_count; n++)
        if (str_equal(d->modifiers[n], str(modifier))) return d->taken |= 1u << n, true;
    return false;
}

int take_one(Decoder *d, const char *const *names, int count) {
    for (int n = 0; n < count; n++)
        if (take(d, names[n])) return n;
    return -1;
}

bool take_scope(Decoder *d, SimScope *scope) {
    static const char *const names[] = {"cta", "cluster", "gpu", "sys", "gl"};
    int n = take_one(d, names, 5);
    if (n >= 0) *scope = n == 4 ? SIM_SCOPE_GPU : (SimScope)n;
    return n >= 0;
}

SimType type_at(const Decoder *d, uint32_t n) { return n < d->type_count ? d->types[n] : SIM_NONE; }

void take_rounding(Decoder *d) {
    static const char *const names[] = {"rn", "rz", "rm", "rp", "rna"}, *const integral[] = {
                                                                            "rni", "rzi", "rmi",
                                                                            "rpi"};
    int n = take_one(d, names, 5), i = take_one(d, integral, 4);
    d->now.round = (uint8_t)(n >= 0 ? n : i >= 0 ? i : SIM_RN);
}

static bool split_name(Decoder *d) {
    Str rest, name = d->statement->name;
    d->modifier_count = d->taken = d->type_count = 0;
    str_cut(name, '.', &rest);
    while (rest.size) {
        if (d->modifier_count == MODIFIERS_MAX)
            return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                               "'%.*s' has too many modifiers", STR_ARG(name));
        Str m = str_cut(rest, '.', &rest);
        SimType type;
        if (ptx_type_named(m, &type)) {
            d->types[d->type_count++] = type;
            d->taken |= 1u << d->modifier_count;
        }
        d->modifiers[d->modifier_count++] = m;
    }
    return true;
}

// ---- Registers and constants ----

static bool new_register(Decoder *d, SimType type, SimOperand *to) {
    SimKernel *k = d->kernel;
    unsigned slot = sim_type_slot(type);
    if (k->register_count >= REGISTERS_MAX)
        return decode_fail(d, d->statement->span, DIAG_TOO_LARGE, "too many registers");
    uint32_t bytes = slot ? slot * SIM_LANES : 4;
    // Predicates are adjacent; others are at multiples of the alignment.
    if (slot)
        k->register_bytes =
            (k->register_bytes + SIM_REGISTER_ALIGN - 1) & ~(uint32_t)(SIM_REGISTER_ALIGN - 1);
    *to = (SimOperand){k->register_bytes, (int32_t)k->register_count++};
    k->register_bytes += bytes;
    return true;
}

SimOperand decode_constant(Decoder *d, SimConstant c) {
    uint64_t key = c.value * 0x9e3779b97f4a7c15u + c.kind * 7919u + c.slot * 104729u + c.index;
    const uint64_t *found = map_find(&d->constant_map, key);
    if (found && d->constants.data[*found].value == c.value &&
        d->constants.data[*found].kind == c.kind && d->constants.data[*found].slot == c.slot &&
        d->constants.data[*found].index == c.index)
        return d->constants.data[*found].to;
    static const SimType types[] = {
        [0] = SIM_PRED, [2] = SIM_B16, [4] = SIM_B32, [8] = SIM_B64, [16] = SIM_B128};
    if (!new_register(d, types[c.slot], &c.to)) return no_operand();
    map_put(d->arena, &d->constant_map, key, d->constants.count);
    vec_push(d->arena, &d->constants, c);
    return c.to;
}

// ---- Symbols ----

static uint64_t name_key(Decoder *d, Str name) { return map_key(intern(d->names, name)); }

void put_symbol(Decoder *d, Str name, PtxSymbol *s) {
    map_put(d->arena, &d->scopes[d->scope_count - 1].names, name_key(d, name), map_key(s));
}

static PtxSymbol *in_scopes(Decoder *d, Str name) {
    uint64_t key = name_key(d, name);
    for (size_t n = d->scope_count; n-- > d->frame->first_scope;) {
        const uint64_t *found = map_find(&d->scopes[n].names, key);
        if (found) return (PtxSymbol *)(uintptr_t)*found;
    }
    return NULL;
}

static PtxSymbol *range_member(Decoder *d, PtxSymbol *range, uint64_t number) {
    uint64_t *at = map_at(d->arena, &range->members, number);
    if (!*at) {
        PtxSymbol *s = arena_new(d->arena, PtxSymbol, 1);
        *s = (PtxSymbol){.kind = SYMBOL_REGISTER, .type = range->type};
        if (!new_register(d, range->type, &s->reg)) return NULL;
        *at = map_key(s);
    }
    return (PtxSymbol *)(uintptr_t)*at;
}

static PtxSymbol *module_symbol(Decoder *d, Str name) {
    PtxSymbol *s = arena_new(d->arena, PtxSymbol, 1);
    for (size_t n = 0; n < d->module->variables.count; n++) {
        const PtxVariable *v = d->module->variables.data[n];
        if (!str_equal(v->name, name)) continue;
        if (v->space == PTX_SPACE_SHARED && v->external && !v->bytes) {
            s->kind = SYMBOL_DYNAMIC;
            if (v->align > d->dynamic_align) d->dynamic_align = v->align;
            return s;
        }
        if (v->space == PTX_SPACE_SHARED) {
            uint64_t *at = map_at(d->arena, &d->shared, name_key(d, name));
            if (!*at) {
                d->shared_bytes = (d->shared_bytes + v->align - 1) & ~(v->align - 1);
                *at = (uint64_t)d->shared_bytes + 1;
                d->shared_bytes += (uint32_t)v->bytes;
            }
            *s = (PtxSymbol){.kind = SYMBOL_SHARED, .value = *at - 1};
            return s;
        }
        const uint64_t *index = map_find(&d->variables, name_key(d, name));
        if (!index) return NULL;
        *s = (PtxSymbol){.kind = SYMBOL_GLOBAL, .value = *index - 1};
        return s;
    }
    return NULL;
}

PtxSymbol *find_symbol(Decoder *d, Str name) {
    PtxSymbol *s = in_scopes(d, name);
    if (s) return s;
    size_t digits = name.size;
    while (digits && name.text[digits - 1] >= '0' && name.text[digits - 1] <= '9') digits--;
    uint64_t number;
    if (digits && digits < name.size &&
        str_to_u64((Str){name.text + digits, name.size - digits}, &number, NULL)) {
        PtxSymbol *range = in_scopes(d, (Str){name.text, digits});
        if (range && range->kind == SYMBOL_RANGE && number < range->count)
            return range_member(d, range, number);
    }
    s = module_symbol(d, name);
    if (s) put_symbol(d, name, s);
    return s;
}

static bool place(Decoder *d, uint32_t *bytes, const PtxVariable *v, uint64_t *at) {
    uint64_t begin = ((uint64_t)*bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
    if (begin + v->bytes > 1 << 24)
        return decode_fail(d, v->span, DIAG_TOO_LARGE, "'%.*s' is too large", STR_ARG(v->name));
    *at = begin;
    *bytes = (uint32_t)(begin + v->bytes);
    return true;
}

bool declare(Decoder *d, const PtxVariable *v) {
    PtxSymbol *s = arena_new(d->arena, PtxSymbol, 1);
    s->type = v->type;
    switch (v->space) {
    case PTX_SPACE_REG:
        s->kind = v->range ? SYMBOL_RANGE : SYMBOL_REGISTER;
        s->count = v->range;
        if (!v->range) TRY(new_register(d, v->type, &s->reg));
        break;
    case PTX_SPACE_SHARED:
        s->kind = SYMBOL_SHARED;
        TRY(place(d, &d->shared_bytes, v, &s->value));
        break;
    case PTX_SPACE_LOCAL:
    case PTX_SPACE_PARAM:
        s->kind = SYMBOL_LOCAL;
        TRY(place(d, &d->local_bytes, v, &s->value));
        break;
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return decode_fail(d, v->span, DIAG_UNSUPPORTED,
                           "variables of memory within a function are not supported: '%.*s'",
                           STR_ARG(v->name));
    }
    put_symbol(d, v->name, s);
    return true;
}

// ---- Operands ----

bool more_operands(const Decoder *d) { return d->next_operand < d->statement->operand_count; }
const PtxOperand *peek_operand(const Decoder *d) {
    return more_operands(d) ? &d->statement->operands[d->next_operand] : NULL;
}
const PtxOperand *take_any(Decoder *d) {
    if (more_operands(d)) return &d->statement->operands[d->next_operand++];
    decode_fail(d, d->statement->span, DIAG_ARGUMENTS, "'%.*s' has too few operands",
                STR_ARG(d->statement->name));
    return NULL;
}

static bool is_special(Str name, SimSpecial *s, bool *wide) {
    static const char *const names[] = {
#define SIM_SPECIAL(name, text) text,
#include "sim/machine/special.def"
#undef SIM_SPECIAL
    };
    *wide = str_equal(name, STR("%gridid"));
    if (!name.size || name.text[0] != '%') return false;
    Str plain = {name.text + 1, name.size - 1};
    for (int n = 0; n < SIM_SPECIAL_COUNT; n++)
        if (str_equal(plain, str(names[n]))) return *s = (SimSpecial)n, true;
    return false;
}

static bool number_constant(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to,
                            unsigned slot) {
    uint64_t bits = o->bits;
    if (o->number == PTX_F64 && slot == 4) {  // a decimal for an f32
        double wide;
        memcpy(&wide, &bits, sizeof wide);
        float narrow = (float)wide;
        uint32_t u;
        memcpy(&u, &narrow, sizeof u);
        bits = u;
    }
    if (!slot) bits = (bits != 0) != o->negated;
    (void)type;
    if (slot == 2) bits &= 0xffff;
    if (slot == 4) bits &= UINT32_MAX;
    *to = decode_constant(
        d, (SimConstant){.kind = SIM_CONSTANT_BITS, .slot = (uint8_t)slot, .value = bits});
    return to->number >= 0;
}

static bool symbol_constant(Decoder *d, const PtxOperand *o, const PtxSymbol *s, unsigned slot,
                            SimOperand *to) {
    SimConstant c = {.kind = SIM_CONSTANT_BITS, .slot = (uint8_t)(slot < 4 ? 4 : slot)};
    c.value = s->value + (uint64_t)o->offset;
    if (slot == 4) c.value &= UINT32_MAX;
    if (s->kind == SYMBOL_GLOBAL) {
        c.kind = SIM_CONSTANT_VARIABLE;
        c.index = (uint32_t)s->value;
        c.value = (uint64_t)o->offset;
    }
    if (s->kind == SYMBOL_DYNAMIC) {
        c.index = UINT32_MAX;  // different from equal numbers
        size_t before = d->constants.count;
        *to = decode_constant(d, c);
        if (d->constants.count > before)
            vec_push(d->arena, &d->dynamic_constants, (uint32_t)before);
        return to->number >= 0;
    }
    *to = decode_constant(d, c);
    return to->number >= 0;
}

// A register, or a number converted to one; `slot` receives the size of a lane.
static bool any_operand(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to,
                        unsigned *slot) {
    *slot = sim_type_slot(type);
    if (o->kind == PTX_NUMBER) return number_constant(d, o, type, to, *slot);
    if (o->kind != PTX_NAME)
        return decode_fail(d, o->span, DIAG_TYPE, "a register or a number is expected here");
    SimSpecial special;
    bool wide;
    if (is_special(o->name, &special, &wide)) {
        *to = decode_constant(d, (SimConstant){.kind = SIM_CONSTANT_SPECIAL,
                                               .slot = (uint8_t)*slot,
                                               .index = (uint32_t)special});
        return to->number >= 0;
    }
    PtxSymbol *s = find_symbol(d, o->name);
    if (!s)
        return decode_fail(d, o->span, DIAG_UNKNOWN_NAME, "'%.*s' is not declared",
                           STR_ARG(o->name));
    if (s->kind == SYMBOL_REGISTER) {
        *to = s->reg;
        *slot = sim_type_slot(s->type);
        return true;
    }
    if (s->kind == SYMBOL_TARGETS || s->kind == SYMBOL_RANGE)
        return decode_fail(d, o->span, DIAG_NOT_A_VALUE, "'%.*s' is not a value", STR_ARG(o->name));
    return symbol_constant(d, o, s, *slot, to);
}

static bool same_size(Decoder *d, const PtxOperand *o, SimType type, unsigned slot) {
    if (slot == sim_type_slot(type)) return true;
    return decode_fail(d, o->span, DIAG_TYPE, "'%.*s' does not hold a .%s", STR_ARG(o->name),
                       sim_type_name(type));
}

bool read_operand(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to) {
    unsigned slot;
    if (o->negated && type != SIM_PRED)
        return decode_fail(d, o->span, DIAG_TYPE, "only a predicate is negated by '!'");
    TRY(any_operand(d, o, type, to, &slot));
    TRY(same_size(d, o, type, slot));
    vec_push(d->arena, &d->reads, to->number);
    return true;
}

bool write_operand(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to) {
    uint8_t slot;
    TRY(write_wide(d, o, type, to, &slot));
    if (to->number >= 0) return same_size(d, o, type, slot);
    TRY(new_register(d, type, to));  // '_': the result is unused
    vec_push(d->arena, &d->writes, to->number);
    return true;
}

bool read_wide(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to, uint8_t *slot) {
    unsigned size;
    TRY(any_operand(d, o, type, to, &size));
    *slot = (uint8_t)size;
    if (size < sim_type_slot(type)) return same_size(d, o, type, size);
    vec_push(d->arena, &d->reads, to->number);
    return true;
}

bool write_wide(Decoder *d, const PtxOperand *o, SimType type, SimOperand *to, uint8_t *slot) {
    *slot = (uint8_t)sim_type_slot(type);
    if (o->kind == PTX_NAME && str_equal(o->name, STR("_"))) return *to = no_operand(), true;
    PtxSymbol *s = o->kind == PTX_NAME ? find_symbol(d, o->name) : NULL;
    if (!s || s->kind != SYMBOL_REGISTER)
        return decode_fail(d, o->span, DIAG_TYPE, "a register is expected here");
    *to = s->reg;
    *slot = (uint8_t)sim_type_slot(s->type);
    if (*slot < sim_type_slot(type)) return same_size(d, o, type, *slot);
    vec_push(d->arena, &d->writes, to->number);
    return true;
}

bool next_read(Decoder *d, SimType type, SimOperand *to) {
    const PtxOperand *o = take_any(d);
    return o && read_operand(d, o, type, to);
}
bool next_write(Decoder *d, SimType type, SimOperand *to) {
    const PtxOperand *o = take_any(d);
    return o && write_operand(d, o, type, to);
}

bool constant_operand(Decoder *d, const PtxOperand *o, uint64_t *value) {
    if (!o) return false;
    if (o->kind != PTX_NUMBER || o->number != PTX_INTEGER)
        return decode_fail(d, o->span, DIAG_NOT_CONSTANT, "an integer constant is expected here");
    *value = o->bits;
    return true;
}

bool address_operand(Decoder *d, const PtxOperand *o, SimAccessOp *op) {
    if (o->kind != PTX_ADDRESS || !o->count)
        return decode_fail(d, o->span, DIAG_TYPE, "an address in brackets is expected here");
    const PtxOperand *a = &o->items[0];
    op->address = no_operand();
    if (a->kind == PTX_NUMBER) return op->fixed = true, op->offset = (int64_t)a->bits, true;
    PtxSymbol *s = a->kind == PTX_NAME ? find_symbol(d, a->name) : NULL;
    if (!s)
        return decode_fail(d, a->span, DIAG_UNKNOWN_NAME, "'%.*s' is not declared",
                           STR_ARG(a->name));
    op->offset = a->offset;
    if (s->kind == SYMBOL_REGISTER) {
        op->address = s->reg;
        op->wide = sim_type_bits(s->type) == 64;
        if (!op->wide && sim_type_bits(s->type) != 32)
            return decode_fail(d, a->span, DIAG_TYPE, "an address has 32 or 64 bits");
        vec_push(d->arena, &d->reads, s->reg.number);
        return true;
    }
    if (s->kind == SYMBOL_GLOBAL) {
        op->wide = true;
        PtxOperand plain = *a;
        plain.offset = 0;
        return symbol_constant(d, &plain, s, 8, &op->address);
    }
    op->fixed = true;
    op->offset += (int64_t)s->value;
    if (s->kind == SYMBOL_DYNAMIC) vec_push(d->arena, &d->dynamic_offsets, &op->offset);
    return true;
}

// ---- Statements ----

void add_fixup(Decoder *d, Str label, Span span, bool is_switch, uint32_t slot) {
    Fixup f = {(uint32_t)d->code.count, label, span, is_switch, slot, d->frame->labels};
    vec_push(d->arena, &d->fixups, f);
}

void emit(Decoder *d) {
    SimInstr *i = &d->now;
    i->writes = (uint8_t)d->writes.count, i->reads = (uint8_t)d->reads.count;
    int32_t *registers = arena_new(d->arena, int32_t, d->writes.count + d->reads.count + 1);
    if (d->writes.count) memcpy(registers, d->writes.data, d->writes.count * sizeof *registers);
    if (d->reads.count)
        memcpy(registers + d->writes.count, d->reads.data, d->reads.count * sizeof *registers);
    i->registers = registers;
    vec_push(d->arena, &d->code, *i);
}

typedef struct OpcodeRow {
    const char *name;
    bool (*decode)(Decoder *d);
    const char *operands;
    SimOp op;
} OpcodeRow;
static const OpcodeRow rows[] = {
#define PTX(name, family, operands, op) {name, decode_##family, operands, SIM_OP_##op},
#include "sim/ptx/ptx.def"
#undef PTX
};

// Does the instruction have every part of the row's name? If so, those count as known.
static bool matches(Decoder *d, const OpcodeRow *row) {
    Str rest, part = str_cut(str(row->name), '.', &rest), ignored;
    if (!str_equal(part, str_cut(d->statement->name, '.', &ignored))) return false;
    uint32_t before = d->taken;
    while (rest.size) {
        part = str_cut(rest, '.', &rest);
        char text[32] = {0};
        if (part.size >= sizeof text) return false;
        memcpy(text, part.text, part.size);
        if (!take(d, text)) return d->taken = before, false;
    }
    return true;
}

static bool begin_instr(Decoder *d, const PtxStatement *s) {
    d->statement = s;
    d->next_operand = 0;
    d->writes.count = d->reads.count = 0;
    d->now = (SimInstr){.name = intern(d->names, s->name), .line = s->line};
    SimOperand none = no_operand();
    d->now.guard = d->now.d = d->now.a = d->now.b = d->now.c = d->now.e = none;
    if (!s->guarded) return true;
    PtxSymbol *p = find_symbol(d, s->guard);
    if (!p || p->kind != SYMBOL_REGISTER || p->type != SIM_PRED)
        return decode_fail(d, s->span, DIAG_TYPE, "the guard '%.*s' is not a predicate",
                           STR_ARG(s->guard));
    d->now.guard = p->reg;
    if (s->guard_negated) d->now.flags |= SIM_NOT_GUARD;
    return true;
}

static bool all_known(Decoder *d) {
    for (uint32_t n = 0; n < d->modifier_count; n++)
        if (!(d->taken >> n & 1))
            return decode_fail(d, d->statement->span, DIAG_UNSUPPORTED,
                               "'%.*s': modifier '.%.*s' is not supported here",
                               STR_ARG(d->statement->name), STR_ARG(d->modifiers[n]));
    if (more_operands(d))
        return decode_fail(d, peek_operand(d)->span, DIAG_ARGUMENTS, "'%.*s' has too many operands",
                           STR_ARG(d->statement->name));
    return true;
}

static bool decode_instr(Decoder *d, const PtxStatement *s) {
    if (d->code.count >= CODE_MAX)
        return decode_fail(d, s->span, DIAG_TOO_LARGE, "too many instructions");
    TRY(begin_instr(d, s));
    TRY(split_name(d));
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        if (!matches(d, &rows[n])) continue;
        d->operands = rows[n].operands, d->op = rows[n].op;
        return rows[n].decode(d) && all_known(d);
    }
    return decode_fail(d, s->span, DIAG_UNSUPPORTED, "unknown instruction '%.*s'",
                       STR_ARG(s->name));
}

static bool decode_label(Decoder *d, const PtxStatement *s) {
    uint64_t *at = map_at(d->arena, &d->frame->labels->at, name_key(d, s->name));
    if (*at)
        return decode_fail(d, s->span, DIAG_DUPLICATE_NAME, "label '%.*s' is defined twice",
                           STR_ARG(s->name));
    *at = d->code.count + 1;
    return true;
}

static PtxLabels *labels_in(Decoder *d, PtxLabels *around) {
    PtxLabels *labels = arena_new(d->arena, PtxLabels, 1);
    *labels = (PtxLabels){.around = around};
    return labels;
}

static bool open_scope(Decoder *d, const PtxStatement *s) {
    if (d->scope_count == SCOPES_MAX)
        return decode_fail(d, s->span, DIAG_TOO_DEEP, "braces are nested too deep");
    d->scopes[d->scope_count++] = (Scope){0};
    d->frame->labels = labels_in(d, d->frame->labels);
    return true;
}

static bool decode_statement(Decoder *d, const PtxStatement *s) {
    switch (s->kind) {
    case PTX_INSTR: return decode_instr(d, s);
    case PTX_LABEL: return decode_label(d, s);
    case PTX_DECLARE: d->statement = s; return declare(d, s->variable);
    case PTX_OPEN: return open_scope(d, s);
    case PTX_CLOSE:
        d->scope_count--;
        if (d->frame->labels->around) d->frame->labels = d->frame->labels->around;
        return true;
    case PTX_TARGETS: return true;  // collected before
    }
    return true;
}

// Lists of targets may be used before they are defined.
static void find_targets(Decoder *d, const PtxFunction *f) {
    for (size_t n = 0; n < f->statements.count; n++) {
        const PtxStatement *s = &f->statements.data[n];
        if (s->kind != PTX_TARGETS) continue;
        PtxSymbol *symbol = arena_new(d->arena, PtxSymbol, 1);
        *symbol = (PtxSymbol){.kind = SYMBOL_TARGETS, .targets = s};
        put_symbol(d, s->name, symbol);
    }
}

static bool decode_body(Decoder *d, const PtxFunction *f) {
    find_targets(d, f);
    bool good = true;
    for (size_t n = 0; n < f->statements.count; n++) {
        // Continue after an error, to report all errors.
        if (!decode_statement(d, &f->statements.data[n]))
            good = false;
        else if (f->statements.data[n].kind == PTX_INSTR)
            emit(d);
        if (diags_errors(d->diags) > 50) return false;
    }
    return good;
}

// ---- Calls ----

static bool bind(Decoder *d, const PtxVariable *formal, const PtxOperand *actual) {
    PtxSymbol *s = actual->kind == PTX_NAME ? find_symbol(d, actual->name) : NULL;
    if (!s || (s->kind != SYMBOL_LOCAL && s->kind != SYMBOL_REGISTER))
        return decode_fail(d, actual->span, DIAG_ARGUMENTS, "'%.*s' cannot be passed",
                           STR_ARG(actual->name));
    (void)formal;
    return true;
}

static bool bind_all(Decoder *d, PtxVariable *const *formals, size_t count,
                     const PtxOperand *actuals, Scope *into) {
    size_t given = actuals ? actuals->count : 0;
    if (given != count)
        return decode_fail(d, d->statement->span, DIAG_ARGUMENTS,
                           "the call has %zu arguments or results, the function %zu", given, count);
    for (size_t n = 0; n < count; n++) {
        TRY(bind(d, formals[n], &actuals->items[n]));
        PtxSymbol *s = find_symbol(d, actuals->items[n].name);
        map_put(d->arena, &into->names, name_key(d, formals[n]->name), map_key(s));
    }
    return true;
}

bool inline_call(Decoder *d, const PtxFunction *f, const PtxOperand *results,
                 const PtxOperand *args) {
    for (PtxFrame *up = d->frame; up; up = up->caller)
        if (up->function == f)
            return decode_fail(d, d->statement->span, DIAG_RECURSION,
                               "'%.*s' calls itself: recursion is not supported", STR_ARG(f->name));
    if (d->calls >= CALLS_MAX || d->scope_count + 1 >= SCOPES_MAX)
        return decode_fail(d, d->statement->span, DIAG_TOO_DEEP, "calls are nested too deep");
    Scope scope = {0};
    TRY(bind_all(d, f->params.data, f->params.count, args, &scope));
    TRY(bind_all(d, f->results.data, f->results.count, results, &scope));
    const PtxStatement *call = d->statement;
    uint32_t next = d->next_operand, taken = d->taken, modifiers = d->modifier_count;
    PtxFrame *frame = arena_new(d->arena, PtxFrame, 1);
    *frame = (PtxFrame){.function = f,
                        .labels = labels_in(d, NULL),
                        .caller = d->frame,
                        .first_scope = d->scope_count};
    size_t scopes = d->scope_count;
    d->scopes[d->scope_count++] = scope;
    d->frame = frame, d->calls++;
    bool good = decode_body(d, f);
    // The target of its returns.
    map_put(d->arena, &frame->labels->at, name_key(d, STR("")), d->code.count + 1);
    d->frame = frame->caller, d->calls--;
    d->scope_count = scopes;
    TRY(begin_instr(d, call));
    d->next_operand = next, d->taken = taken, d->modifier_count = modifiers;
    return good;
}

// ---- Kernels ----

static const uint64_t *find_label(Decoder *d, const Fixup *f) {
    const uint64_t *at = NULL;
    for (const PtxLabels *in = f->labels; in && !at; in = in->around)
        at = map_find(&in->at, name_key(d, f->label));
    return at;
}

static bool resolve(Decoder *d) {
    bool good = true;
    for (size_t n = 0; n < d->fixups.count; n++) {
        const Fixup *f = &d->fixups.data[n];
        const uint64_t *at = find_label(d, f);
        if (!at) {
            good = decode_fail(d, f->span, DIAG_UNKNOWN_NAME, "label '%.*s' is not defined",
                               STR_ARG(f->label));
            continue;
        }
        SimInstr *i = &d->code.data[f->pc];
        if (!f->is_switch) {
            i->target = (uint32_t)(*at - 1);
            continue;
        }
        const SimSwitch *s = i->detail;
        uint32_t *targets;
        memcpy(&targets, &s->targets, sizeof targets);
        targets[f->slot] = (uint32_t)(*at - 1);
    }
    return good;
}

static void lay_out_params(Decoder *d, const PtxFunction *f) {
    SimKernel *k = d->kernel;
    SimParam *params = arena_new(d->arena, SimParam, f->params.count + 1);
    uint32_t at = 0;
    for (size_t n = 0; n < f->params.count; n++) {
        const PtxVariable *v = f->params.data[n];
        uint32_t size = (uint32_t)v->bytes;
        uint32_t align = v->pointer ? size : v->align;
        at = (at + align - 1) & ~(align - 1);
        params[n] = (SimParam){v->name, at, size, align};
        PtxSymbol *s = arena_new(d->arena, PtxSymbol, 1);
        *s = (PtxSymbol){.kind = SYMBOL_PARAM, .value = at};
        put_symbol(d, v->name, s);
        at += size;
    }
    k->params = params, k->param_count = (uint32_t)f->params.count, k->param_bytes = at;
}

// Lanes that reach the end of the text end there.
static void add_exit(Decoder *d) {
    SimOperand none = no_operand();
    SimInstr i = {.flow = SIM_EXIT,
                  .name = "exit",
                  .guard = none,
                  .d = none,
                  .a = none,
                  .b = none,
                  .c = none,
                  .e = none};
    if (d->code.count) i.line = vec_last(&d->code).line;
    static const int32_t nothing[1];
    i.registers = nothing;
    vec_push(d->arena, &d->code, i);
}

static void place_dynamic(Decoder *d) {
    uint32_t align = d->dynamic_align ? d->dynamic_align : 16;
    if (align < 16) align = 16;
    SimKernel *k = d->kernel;
    k->shared_bytes = d->shared_bytes;
    k->takes_shared = d->dynamic_constants.count || d->dynamic_offsets.count;
    if (k->takes_shared) k->shared_bytes = (d->shared_bytes + align - 1) & ~(align - 1);
    for (size_t n = 0; n < d->dynamic_constants.count; n++)
        d->constants.data[d->dynamic_constants.data[n]].value += k->shared_bytes;
    for (size_t n = 0; n < d->dynamic_offsets.count; n++)
        *d->dynamic_offsets.data[n] += k->shared_bytes;
}

const SimKernel *ptx_decode(Decoder *d, const PtxFunction *f, SimKernel *k) {
    d->kernel = k;
    *k = (SimKernel){.name = f->name};
    memcpy(k->maxntid, f->maxntid, sizeof k->maxntid);
    memcpy(k->reqntid, f->reqntid, sizeof k->reqntid);
    memcpy(k->cluster, f->cluster, sizeof k->cluster);
    for (int n = 0; n < 3 && k->cluster[0]; n++) k->cluster[n] += !k->cluster[n];
    k->maxnreg = f->maxnreg;
    PtxFrame frame = {.function = f, .labels = labels_in(d, NULL)};
    d->frame = &frame;
    d->scope_count = 1;
    d->scopes[0] = (Scope){0};
    lay_out_params(d, f);
    if (!decode_body(d, f)) return NULL;
    add_exit(d);
    if (!resolve(d)) return NULL;
    place_dynamic(d);
    ptx_graph_joins(d->arena, d->code.data, (uint32_t)d->code.count);
    k->code = d->code.data, k->code_count = (uint32_t)d->code.count;
    k->constants = d->constants.data, k->constant_count = (uint32_t)d->constants.count;
    k->local_bytes = (d->local_bytes + 15) & ~15u;
    return k;
}
