// Inline assembly: constraints, packed arguments and results, and the text of instructions.
#include "frontend/triton/tl/asm.h"

#include <string.h>

// ---- values

const IrType *asm_type(AsmState *s, Dtype elem) {
    return ir_tile(s->e->module, elem, s->shape.rank, s->shape.dims);
}

IrValue *asm_const(AsmState *s, Dtype elem, uint64_t bits) {
    return ir_const_bits(&s->e->b, asm_type(s, elem), bits);
}

IrValue *asm_as(AsmState *s, IrValue *v, Dtype elem) {
    return el_elem(v) == elem ? v : ir_bitcast(&s->e->b, v, asm_type(s, elem));
}

static Dtype unsigned_of(unsigned bits) {
    return bits == 1    ? DTYPE_BOOL
           : bits == 8  ? DTYPE_U8
           : bits == 16 ? DTYPE_U16
           : bits == 32 ? DTYPE_U32
                        : DTYPE_U64;
}

bool asm_unsupported(AsmState *s, Str what) {
    if (!s->failed) {
        el_error(s->e, s->call->at[0], DIAG_UNSUPPORTED, "inline assembly: '%.*s' is not supported",
                 STR_ARG(what));
        el_help(s->e, "PTX that computes with registers is; memory, branches and lanes are not");
    }
    s->failed = true;
    return false;
}

static bool wrong(AsmState *s, uint32_t argument, const char *what, Str text) {
    if (!s->failed)
        el_error(s->e, s->call->at[argument], DIAG_ARGUMENTS, "inline assembly: %s '%.*s'", what,
                 STR_ARG(text));
    s->failed = true;
    return false;
}

// ---- registers and operands

static AsmRegister *find(AsmState *s, Str name) {
    for (size_t i = 0; i < s->registers.count; i++)
        if (str_equal(s->registers.data[i].name, name)) return &s->registers.data[i];
    return NULL;
}

static void declare(AsmState *s, Str name, unsigned bits, IrValue *value) {
    AsmRegister *known = find(s, name);
    AsmRegister r = {name, bits, value};
    if (known)
        *known = r;
    else
        vec_push(s->e->scratch, &s->registers, r);
}

static bool has_char(Str text, char c) { return memchr(text.text, c, text.size) != NULL; }

static int digit_of(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

// 0f3F800000, 0d…, 0x7f, 0b101, -3, 42, 1.5
static bool immediate(Str text, Dtype elem, uint64_t *bits) {
    bool negative = str_starts(text, STR("-"));
    if (negative) text = (Str){text.text + 1, text.size - 1};
    if (!text.size || digit_of(text.text[0]) > 9) return false;
    int base = 10;
    size_t i = 0;
    bool is_float = false;
    if (text.size > 2 && text.text[0] == '0' && strchr("xXbBfFdD", text.text[1])) {
        base = strchr("bB", text.text[1]) ? 2 : 16;
        is_float = strchr("fFdD", text.text[1]) != NULL;
        i = 2;
    }
    double real;
    if (base == 10 && has_char(text, '.')) {
        if (!str_to_double(text, &real)) return false;
        *bits = dtype_from_double(elem, negative ? -real : real, false);
        return true;
    }
    uint64_t value = 0;
    for (; i < text.size && text.text[i] != 'U'; i++) {
        int digit = digit_of(text.text[i]);
        if (digit >= base) return false;
        value = value * (uint64_t)base + (uint64_t)digit;
    }
    (void)is_float;  // its bits
    *bits = negative ? 0 - value : value;
    if (dtype_bits(elem) < 64) *bits &= (UINT64_C(1) << dtype_bits(elem)) - 1;
    return true;
}

static IrValue *register_value(AsmState *s, AsmRegister *r) {
    if (!r->value) r->value = asm_const(s, unsigned_of(r->bits), 0);
    return r->value;
}

static IrValue *read_text(AsmState *s, Str text, AsmType type) {
    unsigned bits = dtype_bits(type.elem) * (type.pair ? 2 : 1);
    Dtype holder = type.elem == DTYPE_BOOL ? DTYPE_BOOL : unsigned_of(bits);
    AsmRegister *r = find(s, text);
    uint64_t constant;
    IrValue *v = NULL;
    if (r) {
        v = register_value(s, r);
        if (r->bits != bits) v = el_convert(s->e, v, holder);
    } else if (immediate(text, type.pair ? holder : type.elem, &constant)) {
        v = asm_const(s, holder, constant);
    } else {
        wrong(s, 0, "there is no register", text);
        return asm_const(s, type.pair ? holder : type.elem, 0);
    }
    return type.pair ? v : asm_as(s, v, type.elem);
}

IrValue *asm_read(AsmState *s, const AsmOperand *o, AsmType type) {
    if (!o->count) return read_text(s, o->text, type);
    // {a, b}: the first is the lowest part.
    unsigned whole = dtype_bits(type.elem) * (type.pair ? 2 : 1), part = whole / o->count;
    if (part < 8) {
        asm_unsupported(s, o->text);
        return asm_const(s, type.pair ? unsigned_of(whole) : type.elem, 0);
    }
    Dtype holder = unsigned_of(whole);
    IrValue *sum = asm_const(s, holder, 0);
    for (uint32_t i = 0; i < o->count; i++) {
        IrValue *v = read_text(s, o->parts[i], (AsmType){.elem = unsigned_of(part)});
        v = el_convert(s->e, v, holder);
        v = ir_binary(&s->e->b, IR_SHL, v, asm_const(s, holder, (uint64_t)part * i));
        sum = ir_binary(&s->e->b, IR_OR, sum, v);
    }
    return type.pair ? sum : asm_as(s, sum, type.elem);
}

static void write_text(AsmState *s, const AsmInstruction *in, Str text, IrValue *v) {
    AsmRegister *r = find(s, text);
    if (!r) {
        if (!str_equal(text, STR("_"))) wrong(s, 0, "there is no register", text);
        return;
    }
    Dtype elem = el_elem(v), holder = unsigned_of(r->bits);
    if (elem != DTYPE_BOOL && !dtype_is(elem, DTYPE_CLASS_INT))
        v = asm_as(s, v, unsigned_of(dtype_bits(elem)));
    if (el_elem(v) != holder) v = el_convert(s->e, v, holder);
    if (in->predicate) v = ir_ternary(&s->e->b, IR_SELECT, in->predicate, v, register_value(s, r));
    r->value = v;
}

void asm_write(AsmState *s, const AsmInstruction *in, const AsmOperand *o, IrValue *v) {
    if (!o->count) {
        write_text(s, in, o->text, v);
        return;
    }
    unsigned whole = dtype_bits(el_elem(v)), part = whole / o->count;
    if (part < 8) {
        asm_unsupported(s, o->text);
        return;
    }
    v = asm_as(s, v, unsigned_of(whole));
    for (uint32_t i = 0; i < o->count; i++) {
        IrValue *shift = asm_const(s, el_elem(v), (uint64_t)part * i);
        IrValue *piece = ir_binary(&s->e->b, IR_SHR, v, shift);
        write_text(s, in, o->parts[i], el_convert(s->e, piece, unsigned_of(part)));
    }
}

// ---- the text

bool asm_has(const AsmInstruction *in, const char *modifier) {
    for (uint32_t i = 0; i < in->modifier_count; i++)
        if (str_equal(in->modifiers[i], str(modifier))) return true;
    return false;
}

static bool type_named(Str name, AsmType *type) {
    static const struct {
        const char *name;
        AsmType type;
    } known[] = {{"f16", {DTYPE_F16, false, false, false}},
                 {"bf16", {DTYPE_BF16, false, false, false}},
                 {"f32", {DTYPE_F32, false, false, false}},
                 {"f64", {DTYPE_F64, false, false, false}},
                 {"f16x2", {DTYPE_F16, true, false, false}},
                 {"bf16x2", {DTYPE_BF16, true, false, false}},
                 {"e4m3x2", {DTYPE_F8E4M3, true, false, false}},
                 {"e5m2x2", {DTYPE_F8E5M2, true, false, false}},
                 {"e2m1x2", {DTYPE_U8, true, true, false}},
                 {"ue8m0x2", {DTYPE_U8, true, false, true}},
                 {"u8", {DTYPE_U8, false, false, false}},
                 {"u16", {DTYPE_U16, false, false, false}},
                 {"u32", {DTYPE_U32, false, false, false}},
                 {"u64", {DTYPE_U64, false, false, false}},
                 {"s8", {DTYPE_I8, false, false, false}},
                 {"s16", {DTYPE_I16, false, false, false}},
                 {"s32", {DTYPE_I32, false, false, false}},
                 {"s64", {DTYPE_I64, false, false, false}},
                 {"b8", {DTYPE_U8, false, false, false}},
                 {"b16", {DTYPE_U16, false, false, false}},
                 {"b32", {DTYPE_U32, false, false, false}},
                 {"b64", {DTYPE_U64, false, false, false}},
                 {"pred", {DTYPE_BOOL, false, false, false}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_equal(name, str(known[i].name))) {
            *type = known[i].type;
            return true;
        }
    return false;
}

// .reg .b32 a, b<4>
static void declare_list(AsmState *s, Str rest) {
    Str name = str_trim(str_cut(rest, '.', &rest));  // what is before the type
    (void)name;
    size_t i = 0;
    while (i < rest.size && rest.text[i] != ' ' && rest.text[i] != '\t' && rest.text[i] != '\n')
        i++;
    AsmType type;
    Str text = {rest.text, i};
    if (!type_named(text, &type)) {
        asm_unsupported(s, text);
        return;
    }
    rest = (Str){rest.text + i, rest.size - i};
    for (Str item; rest.size && str_item(&rest, &item);) {
        Str count, base = str_cut(str_trim(item), '<', &count);
        uint64_t n = 0;
        unsigned bits = type.elem == DTYPE_BOOL ? 1 : dtype_bits(type.elem);
        if (base.size == str_trim(item).size) {
            declare(s, base, bits, NULL);
            continue;
        }
        for (size_t k = 0; k < count.size && digit_of(count.text[k]) < 10; k++)
            n = n * 10 + (uint64_t)digit_of(count.text[k]);
        for (uint64_t k = 0; k < n && k < 64; k++)
            declare(
                s,
                str(arena_printf(s->e->scratch, "%.*s%llu", STR_ARG(base), (unsigned long long)k)),
                bits, NULL);
    }
}

// Cuts at commas outside of braces.
static bool next_operand(Str *rest, Str *item) {
    if (!rest->size) return false;
    int depth = 0;
    size_t i = 0;
    for (; i < rest->size; i++) {
        char c = rest->text[i];
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == ',' && !depth) break;
    }
    *item = str_trim((Str){rest->text, i});
    *rest = i < rest->size ? (Str){rest->text + i + 1, rest->size - i - 1} : (Str){rest->text, 0};
    return true;
}

static bool read_operand(AsmState *s, Str text, AsmOperand *o) {
    *o = (AsmOperand){.text = text};
    if (str_starts(text, STR("["))) return asm_unsupported(s, text);
    if (!str_starts(text, STR("{"))) return true;
    Str rest = {text.text + 1, text.size - 1};
    if (rest.size && rest.text[rest.size - 1] == '}') rest.size--;
    for (Str part; next_operand(&rest, &part);) {
        if (o->count == ASM_PARTS) return asm_unsupported(s, text);
        o->parts[o->count++] = part;
    }
    return o->count == 2 || o->count == 4 || o->count == 8 || asm_unsupported(s, text);
}

static void instruction(AsmState *s, Str text) {
    AsmInstruction in = {0};
    if (str_starts(text, STR("@"))) {
        bool negated = text.size > 1 && text.text[1] == '!';
        size_t i = 1 + negated, begin = i;
        while (i < text.size && text.text[i] != ' ' && text.text[i] != '\t') i++;
        AsmOperand p = {.text = {text.text + begin, i - begin}};
        in.predicate = asm_read(s, &p, (AsmType){.elem = DTYPE_BOOL});
        if (negated) in.predicate = ir_unary(&s->e->b, IR_NOT, in.predicate);
        text = str_trim((Str){text.text + i, text.size - i});
    }
    size_t i = 0;
    while (i < text.size && text.text[i] != ' ' && text.text[i] != '\t' && text.text[i] != '\n')
        i++;
    in.text = (Str){text.text, i};
    Str rest = {text.text + i, text.size - i}, words = in.text;
    in.opcode = str_cut(words, '.', &words);
    if (words.size == in.text.size) words.size = 0;
    while (words.size && in.modifier_count < ASM_MODIFIERS) {
        Str word = str_cut(words, '.', &words);
        in.modifiers[in.modifier_count++] = word;
        if (type_named(word, &in.types[in.type_count])) in.type_count++;
        if (has_char(word, ':')) asm_unsupported(s, in.text);
    }
    for (Str item; next_operand(&rest, &item);) {
        if (in.operand_count == ASM_OPERANDS) {
            asm_unsupported(s, in.text);
            return;
        }
        if (item.size && !read_operand(s, item, &in.operands[in.operand_count])) return;
        if (item.size) in.operand_count++;
    }
    if (!s->failed) asm_run(s, &in);
}

// The text without comments; braces that are scopes become ends of statements.
static Str cleaned(AsmState *s, Str text) {
    StrBuf out = strbuf(s->e->scratch);
    bool begins = true;  // of a statement
    for (size_t i = 0; i < text.size; i++) {
        char c = text.text[i];
        if (c == '/' && i + 1 < text.size && text.text[i + 1] == '/') {
            while (i < text.size && text.text[i] != '\n') i++;
            c = '\n';
        } else if (c == '/' && i + 1 < text.size && text.text[i + 1] == '*') {
            while (i + 1 < text.size && !(text.text[i] == '*' && text.text[i + 1] == '/')) i++;
            i++;
            c = ' ';
        }
        bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (begins && (c == '{' || c == '}')) continue;
        if (!blank) begins = c == ';';
        strbuf_char(&out, c);
    }
    return strbuf_str(&out);
}

static void statements(AsmState *s, Str text) {
    text = cleaned(s, text);
    while (text.size && !s->failed) {
        Str one = str_trim(str_cut(text, ';', &text));
        if (!one.size) continue;
        if (has_char(one, ':'))
            asm_unsupported(s, one);
        else if (str_starts(one, STR(".reg")))
            declare_list(s, (Str){one.text + 4, one.size - 4});
        else if (one.text[0] == '.')
            asm_unsupported(s, one);
        else
            instruction(s, one);
    }
}

// ---- arguments and results

static unsigned register_bits(AsmState *s, Str constraint) {
    static const struct {
        char letter;
        unsigned bits;
    } known[] = {{'r', 32}, {'f', 32}, {'h', 16}, {'l', 64}, {'d', 64}, {'c', 8}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (constraint.size == 1 && constraint.text[0] == known[i].letter) return known[i].bits;
    asm_unsupported(s, constraint);
    return 32;
}

static Str dollar(AsmState *s, uint32_t n) { return str(arena_printf(s->e->scratch, "$%u", n)); }

// `count` parts of a tile whose last dimension they are.
static void unpack_value(Elab *e, IrValue *v, uint32_t count, IrValue **parts) {
    if (count == 1) {
        Shape s = el_shape_of(v->type);
        parts[0] = ir_reshape(&e->b, v, s.rank - 1, s.dims);
        return;
    }
    Shape s = el_shape_of(v->type);
    s.dims[s.rank - 1] = count / 2;
    s.dims[s.rank++] = 2;
    v = ir_reshape(&e->b, v, s.rank, s.dims);
    const IrType *half = ir_tile(e->module, el_elem(v), s.rank - 1, s.dims);
    IrOp *op = ir_op(&e->b, IR_SPLIT, 1, &v, 2, (const IrType *[]){half, half}, 0, NULL);
    IrValue *odd[ASM_PARTS];
    IrValue *even[ASM_PARTS];
    unpack_value(e, ir_result(op, 0), count / 2, even);
    unpack_value(e, ir_result(op, 1), count / 2, odd);
    for (uint32_t i = 0; i < count / 2; i++) {
        parts[2 * i] = even[i];
        parts[2 * i + 1] = odd[i];
    }
}

static IrValue *pack_value(Elab *e, IrValue *const *parts, uint32_t count) {
    Shape s = el_shape_of(parts[0]->type);
    if (count == 1) {
        s.dims[s.rank++] = 1;
        return ir_reshape(&e->b, parts[0], s.rank, s.dims);
    }
    IrValue *even[ASM_PARTS], *odd[ASM_PARTS];
    for (uint32_t i = 0; i < count / 2; i++) {
        even[i] = parts[2 * i];
        odd[i] = parts[2 * i + 1];
    }
    IrValue *both[2] = {pack_value(e, even, count / 2), pack_value(e, odd, count / 2)};
    Shape joined = el_shape_of(both[0]->type);
    joined.dims[joined.rank++] = 2;
    IrValue *v =
        el_op1(e, IR_JOIN, 2, both, ir_tile(e->module, el_elem(both[0]), joined.rank, joined.dims));
    s.dims[s.rank++] = count;
    return ir_reshape(&e->b, v, s.rank, s.dims);
}

// How many elements of these bits are in one register.
static uint32_t per_register(unsigned elem_bits, unsigned bits, uint32_t pack) {
    uint32_t n = elem_bits >= bits ? 1 : bits / elem_bits;
    return n < pack ? n : pack;
}

static uint32_t take_argument(AsmState *s, IrValue *v, uint32_t pack, const Str *constraints,
                              uint32_t first, uint32_t count, uint32_t outputs) {
    Elab *e = s->e;
    IrValue *parts[ASM_PARTS];
    unsigned bits = dtype_bits(el_elem(v));
    if (el_elem(v) == DTYPE_BOOL) v = el_convert(e, v, DTYPE_U8), bits = 8;
    parts[0] = v;
    if (pack > 1) {
        Shape packed = s->shape;
        packed.dims[packed.rank++] = pack;
        unpack_value(e, ir_reshape(&e->b, v, packed.rank, packed.dims), pack, parts);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < pack && first + used < count; used++) {
        unsigned width = register_bits(s, constraints[first + used]);
        if (width < bits) {
            wrong(s, 1, "an argument does not fit its register:", constraints[first + used]);
            return used;
        }
        Dtype holder = unsigned_of(width);
        uint32_t n = per_register(bits, width, pack);
        IrValue *sum = NULL;
        for (uint32_t k = 0; k < n; k++, i++) {
            IrValue *x = asm_as(s, parts[i], unsigned_of(bits));
            if (width != bits) x = el_convert(e, x, holder);
            if (k) x = ir_binary(&e->b, IR_SHL, x, asm_const(s, holder, (uint64_t)bits * k));
            sum = sum ? ir_binary(&e->b, IR_OR, sum, x) : x;
        }
        declare(s, dollar(s, outputs + first + used), width, sum);
    }
    return used;
}

static IrValue *write_result(AsmState *s, Dtype type, uint32_t pack, const Shape *shape,
                             uint32_t *next, uint32_t outputs) {
    Elab *e = s->e;
    IrValue *parts[ASM_PARTS];
    unsigned bits = type == DTYPE_BOOL ? 8 : dtype_bits(type);
    for (uint32_t i = 0; i < pack; (*next)++) {
        AsmRegister *r = *next < outputs ? find(s, dollar(s, *next)) : NULL;
        if (!r) {
            wrong(s, 1, "the outputs do not fit the types of the results:", s->call->arg[1].text);
            return NULL;
        }
        if (r->bits < bits) {
            wrong(s, 1, "a result does not fit its register:", s->call->arg[1].text);
            return NULL;
        }
        uint32_t n = per_register(bits, r->bits, pack);
        for (uint32_t k = 0; k < n; k++, i++) {
            IrValue *x = register_value(s, r);
            if (k) x = ir_binary(&e->b, IR_SHR, x, asm_const(s, el_elem(x), (uint64_t)bits * k));
            if (r->bits != bits) x = el_convert(e, x, unsigned_of(bits));
            parts[i] = x;
        }
    }
    IrValue *v = pack > 1 ? pack_value(e, parts, pack) : parts[0];
    v = ir_reshape(&e->b, v, shape->rank, shape->dims);
    if (type == DTYPE_BOOL) return el_convert(e, v, DTYPE_BOOL);
    return ir_bitcast(&e->b, v, ir_tile(e->module, type, shape->rank, shape->dims));
}

static bool read_arguments(AsmState *s, IrValue **values, uint32_t *count, Shape *shape) {
    const TlCall *c = s->call;
    Val list = c->arg[2].kind == VAL_TUPLE ? c->arg[2] : el_tuple(s->e, 1, &c->arg[2]);
    *count = list.tuple.count;
    *shape = (Shape){0};
    if (*count > TR_ARGS) return wrong(s, 2, "there are too many arguments:", STR("args"));
    for (uint32_t i = 0; i < *count; i++) {
        values[i] = tr_tensor(s->e, list.tuple.items[i], c->at[2]);
        if (!values[i]) return false;
        if (el_is_ptr(values[i])) {
            const IrType *t = values[i]->type;
            values[i] = ir_bitcast(&s->e->b, values[i],
                                   ir_tile(s->e->module, DTYPE_U64, t->rank, t->shape));
        }
    }
    if (*count && !tr_same_shape(s->e, c->at[2], *count, values)) return false;
    if (*count) *shape = el_shape_of(values[0]->type);
    return true;
}

// The shape of the packed arguments: `pack` neighbours are one.
static bool packed_shape(AsmState *s, const Shape *shape, uint32_t pack) {
    uint32_t elements = 1;
    for (uint32_t i = 0; i < shape->rank; i++) elements *= shape->dims[i];
    s->shape = *shape;
    if (pack == 1) return true;
    if (elements % pack || pack > ASM_PARTS || (pack & (pack - 1)))
        return wrong(s, 5, "the pack does not divide the elements of", STR("args"));
    s->shape = (Shape){.rank = 1, .dims = {elements / pack}};
    return true;
}

Val tl_inline_asm(Elab *e, const TlCall *c) {
    AsmState s = {.e = e, .call = c};
    IrValue *values[TR_ARGS];
    uint32_t count, outputs = 0, inputs = 0;
    int64_t pack;
    Shape shape;
    if (c->arg[0].kind != VAL_STRING || c->arg[1].kind != VAL_STRING)
        return el_error(e, c->at[0], DIAG_ARGUMENTS, "inline assembly is a string");
    if (!tr_call_int(e, c, 5, "pack", 1, &pack) || pack < 1) return EL_POISON;
    if (!read_arguments(&s, values, &count, &shape)) return EL_POISON;
    if (!packed_shape(&s, &shape, (uint32_t)pack)) return EL_POISON;
    Str constraints[64], rest = c->arg[1].text;
    for (Str item; rest.size && str_item(&rest, &item) && outputs + inputs < 64;) {
        item = str_trim(item);
        if (str_starts(item, STR("="))) {
            Str letter = {item.text + 1, item.size - 1};
            if (str_starts(letter, STR("&"))) letter = (Str){letter.text + 1, letter.size - 1};
            declare(&s, dollar(&s, outputs++), register_bits(&s, letter), NULL);
        } else {
            constraints[inputs++] = item;
        }
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < count && !s.failed; i++)
        used += take_argument(&s, values[i], (uint32_t)pack, constraints, used, inputs, outputs);
    if (!s.failed && used != inputs)
        wrong(&s, 1, "the inputs do not fit the arguments:", c->arg[1].text);
    if (!s.failed) statements(&s, c->arg[0].text);
    Val types = c->arg[3].kind == VAL_TUPLE ? c->arg[3] : el_tuple(e, 1, &c->arg[3]);
    Val *results = arena_new(e->scratch, Val, types.tuple.count + 1);
    uint32_t next = 0;
    for (uint32_t i = 0; i < types.tuple.count && !s.failed; i++) {
        if (types.tuple.items[i].kind != VAL_TYPE)
            return el_error(e, c->at[3], DIAG_ARGUMENTS, "expected a type, found %s",
                            tr_text(e, types.tuple.items[i]));
        results[i] = el_ir(
            write_result(&s, types.tuple.items[i].type, (uint32_t)pack, &shape, &next, outputs));
    }
    if (s.failed) return EL_POISON;
    return c->arg[3].kind == VAL_TUPLE ? el_tuple(e, types.tuple.count, results) : results[0];
}
