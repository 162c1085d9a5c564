// Loads, stores and atomics: their names say what they access.
#include <string.h>

#include "base/status.h"
#include "sim/amd/decode.h"

typedef struct Width {
    const char *name;
    uint8_t bytes, words;
    bool sign, half, high;
} Width;

static const Width widths[] = {
    {"dword", 4, 1, false, false, false},     {"dwordx2", 8, 2, false, false, false},
    {"dwordx3", 12, 3, false, false, false},  {"dwordx4", 16, 4, false, false, false},
    {"dwordx8", 32, 8, false, false, false},  {"dwordx16", 64, 16, false, false, false},
    {"b32", 4, 1, false, false, false},       {"b64", 8, 2, false, false, false},
    {"b96", 12, 3, false, false, false},      {"b128", 16, 4, false, false, false},
    {"b256", 32, 8, false, false, false},     {"b512", 64, 16, false, false, false},
    {"ubyte", 1, 1, false, false, false},     {"sbyte", 1, 1, true, false, false},
    {"ushort", 2, 1, false, false, false},    {"sshort", 2, 1, true, false, false},
    {"byte", 1, 1, false, false, false},      {"short", 2, 1, false, false, false},
    {"u8", 1, 1, false, false, false},        {"i8", 1, 1, true, false, false},
    {"u16", 2, 1, false, false, false},       {"i16", 2, 1, true, false, false},
    {"b8", 1, 1, false, false, false},        {"b16", 2, 1, false, false, false},
    {"short_d16", 2, 1, false, true, false},  {"short_d16_hi", 2, 1, false, true, true},
    {"ubyte_d16", 1, 1, false, true, false},  {"ubyte_d16_hi", 1, 1, false, true, true},
    {"sbyte_d16", 1, 1, true, true, false},   {"sbyte_d16_hi", 1, 1, true, true, true},
    {"byte_d16_hi", 1, 1, false, true, true}, {"d16_b16", 2, 1, false, true, false},
    {"d16_hi_b16", 2, 1, false, true, true},  {"d16_u8", 1, 1, false, true, false},
    {"d16_hi_u8", 1, 1, false, true, true},   {"d16_i8", 1, 1, true, true, false},
    {"d16_hi_i8", 1, 1, true, true, true},    {"d16_hi_b8", 1, 1, false, true, true},
    {"u16_d16", 2, 1, false, true, false},    {"u16_d16_hi", 2, 1, false, true, true},
    {"u8_d16", 1, 1, false, true, false},     {"u8_d16_hi", 1, 1, false, true, true},
    {"i8_d16", 1, 1, true, true, false},      {"i8_d16_hi", 1, 1, true, true, true},
    {"b16_d16_hi", 2, 1, false, true, true},  {"b8_d16_hi", 1, 1, false, true, true},
};

typedef struct AccessUnit {
    const char *prefix;
    AmdUnit unit;
} AccessUnit;
static const AccessUnit units[] = {
    {"s_buffer_", AMD_SMEM},  {"s_", AMD_SMEM},          {"global_", AMD_GLOBAL},
    {"flat_", AMD_FLAT_UNIT}, {"scratch_", AMD_SCRATCH}, {"buffer_", AMD_BUFFER},
    {"ds_", AMD_DS}};

typedef struct Action {
    const char *name;
    AmdAction action;
    uint8_t pieces;  // 2, or 2 * 64 if offsets are in units of 64 elements
} Action;
static const Action actions[] = {{"load_2addr_stride64_", AMD_LOAD, 128},
                                 {"load_2addr_", AMD_LOAD, 2},
                                 {"store_2addr_stride64_", AMD_STORE, 128},
                                 {"store_2addr_", AMD_STORE, 2},
                                 {"read2st64_", AMD_LOAD, 128},
                                 {"read2_", AMD_LOAD, 2},
                                 {"read_", AMD_LOAD, 1},
                                 {"write2st64_", AMD_STORE, 128},
                                 {"write2_", AMD_STORE, 2},
                                 {"write_", AMD_STORE, 1},
                                 {"load_lds_", AMD_LOAD, 1},
                                 {"load_", AMD_LOAD, 1},
                                 {"store_", AMD_STORE, 1}};

typedef struct Atom {
    const char *name;
    AmdAtom atom;
    uint8_t bytes;
} Atom;
// Memory atomics in the names of gfx9 and gfx10 ("…_x2": 8 bytes) and of gfx11; LDS atomics.
static const Atom atoms[] = {
    {"add", AMD_ATOM_ADD, 4},
    {"add_u32", AMD_ATOM_ADD, 4},
    {"add_x2", AMD_ATOM_ADD, 8},
    {"add_u64", AMD_ATOM_ADD, 8},
    {"sub", AMD_ATOM_SUB, 4},
    {"sub_u32", AMD_ATOM_SUB, 4},
    {"sub_x2", AMD_ATOM_SUB, 8},
    {"sub_u64", AMD_ATOM_SUB, 8},
    {"rsub_u32", AMD_ATOM_RSUB, 4},
    {"rsub_u64", AMD_ATOM_RSUB, 8},
    {"smin", AMD_ATOM_SMIN, 4},
    {"min_i32", AMD_ATOM_SMIN, 4},
    {"smin_x2", AMD_ATOM_SMIN, 8},
    {"min_i64", AMD_ATOM_SMIN, 8},
    {"umin", AMD_ATOM_UMIN, 4},
    {"min_u32", AMD_ATOM_UMIN, 4},
    {"umin_x2", AMD_ATOM_UMIN, 8},
    {"min_u64", AMD_ATOM_UMIN, 8},
    {"smax", AMD_ATOM_SMAX, 4},
    {"max_i32", AMD_ATOM_SMAX, 4},
    {"smax_x2", AMD_ATOM_SMAX, 8},
    {"max_i64", AMD_ATOM_SMAX, 8},
    {"umax", AMD_ATOM_UMAX, 4},
    {"max_u32", AMD_ATOM_UMAX, 4},
    {"umax_x2", AMD_ATOM_UMAX, 8},
    {"max_u64", AMD_ATOM_UMAX, 8},
    {"and", AMD_ATOM_AND, 4},
    {"and_b32", AMD_ATOM_AND, 4},
    {"and_x2", AMD_ATOM_AND, 8},
    {"and_b64", AMD_ATOM_AND, 8},
    {"or", AMD_ATOM_OR, 4},
    {"or_b32", AMD_ATOM_OR, 4},
    {"or_x2", AMD_ATOM_OR, 8},
    {"or_b64", AMD_ATOM_OR, 8},
    {"xor", AMD_ATOM_XOR, 4},
    {"xor_b32", AMD_ATOM_XOR, 4},
    {"xor_x2", AMD_ATOM_XOR, 8},
    {"xor_b64", AMD_ATOM_XOR, 8},
    {"inc", AMD_ATOM_INC, 4},
    {"inc_u32", AMD_ATOM_INC, 4},
    {"inc_x2", AMD_ATOM_INC, 8},
    {"inc_u64", AMD_ATOM_INC, 8},
    {"dec", AMD_ATOM_DEC, 4},
    {"dec_u32", AMD_ATOM_DEC, 4},
    {"dec_x2", AMD_ATOM_DEC, 8},
    {"dec_u64", AMD_ATOM_DEC, 8},
    {"swap", AMD_ATOM_SWAP, 4},
    {"swap_b32", AMD_ATOM_SWAP, 4},
    {"swap_x2", AMD_ATOM_SWAP, 8},
    {"swap_b64", AMD_ATOM_SWAP, 8},
    {"cmpswap", AMD_ATOM_CMPSWAP, 4},
    {"cmpswap_b32", AMD_ATOM_CMPSWAP, 4},
    {"cmpswap_x2", AMD_ATOM_CMPSWAP, 8},
    {"cmpswap_b64", AMD_ATOM_CMPSWAP, 8},
    {"add_f32", AMD_ATOM_ADD_F32, 4},
    {"add_f64", AMD_ATOM_ADD_F64, 8},
    {"min_f64", AMD_ATOM_MIN_F, 8},
    {"max_f64", AMD_ATOM_MAX_F, 8},
    {"min_f32", AMD_ATOM_MIN_F, 4},
    {"max_f32", AMD_ATOM_MAX_F, 4},
    {"fmin", AMD_ATOM_MIN_F, 4},
    {"fmax", AMD_ATOM_MAX_F, 4},
    {"min_num_f32", AMD_ATOM_MIN_F, 4},
    {"max_num_f32", AMD_ATOM_MAX_F, 4},
    {"pk_add_f16", AMD_ATOM_ADD_F16X2, 4},
    {"pk_add_bf16", AMD_ATOM_ADD_BF16X2, 4},
    {"wrxchg_b32", AMD_ATOM_SWAP, 4},
    {"wrxchg_b64", AMD_ATOM_SWAP, 8},
    {"storexchg_b32", AMD_ATOM_SWAP, 4},
    {"storexchg_b64", AMD_ATOM_SWAP, 8},
    {"cmpst_b32", AMD_ATOM_CMPSWAP, 4},
    {"cmpst_b64", AMD_ATOM_CMPSWAP, 8},
    {"cmpstore_b32", AMD_ATOM_CMPSWAP, 4},
    {"cmpstore_b64", AMD_ATOM_CMPSWAP, 8},
};

// ---- Names ----

static bool cut_prefix(Str *s, const char *prefix) {
    if (!str_starts(*s, str(prefix))) return false;
    size_t size = strlen(prefix);
    *s = (Str){s->text + size, s->size - size};
    return true;
}

static bool find_width(Str name, AmdAccess *a) {
    for (size_t n = 0; n < sizeof widths / sizeof *widths; n++) {
        const Width *w = &widths[n];
        if (!str_equal(name, str(w->name))) continue;
        a->bytes = w->bytes, a->words = w->words;
        a->sign = w->sign, a->half = w->half, a->high = w->high;
        return true;
    }
    return false;
}

// Handles "b64_tr_b16" of gfx950's LDS.
static bool cut_transposed(Str *name, AmdAccess *a) {
    static const struct {
        const char *suffix;
        uint8_t bits;
    } rows[] = {{"_tr_b16", 16}, {"_tr_b8", 8}, {"_tr_b6", 6}, {"_tr_b4", 4}};
    a->transposed = 0;
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        if (!str_ends(*name, str(rows[n].suffix))) continue;
        name->size -= strlen(rows[n].suffix);
        a->transposed = rows[n].bits;
        return a->unit == AMD_DS;
    }
    return true;
}

static bool find_action(Str name, AmdAccess *a) {
    if (!cut_transposed(&name, a)) return false;
    for (size_t n = 0; n < sizeof actions / sizeof *actions; n++) {
        Str rest = name;
        if (!cut_prefix(&rest, actions[n].name)) continue;
        a->action = (uint8_t)actions[n].action;
        a->pieces = actions[n].pieces;
        a->to_lds = strcmp(actions[n].name, "load_lds_") == 0;
        if (find_width(rest, a)) return true;
    }
    return false;
}

// LDS atomics that return a value have "_rtn_" between the operation and its type.
static bool find_atom(AmdDecoder *d, Str name, AmdAccess *a) {
    if (a->unit == AMD_DS) {
        for (size_t n = 0; n + 5 <= name.size; n++)
            if (memcmp(name.text + n, "_rtn_", 5) == 0) {
                name = str(arena_printf(d->arena, "%.*s_%.*s", (int)n, name.text,
                                        (int)(name.size - n - 5), name.text + n + 5));
                a->returns = true;
                break;
            }
    } else if (!cut_prefix(&name, "atomic_")) {
        return false;
    }
    for (size_t n = 0; n < sizeof atoms / sizeof *atoms; n++)
        if (str_equal(name, str(atoms[n].name))) {
            a->action = AMD_ATOMIC, a->atom = (uint8_t)atoms[n].atom;
            a->bytes = atoms[n].bytes, a->words = (uint8_t)(atoms[n].bytes / 4), a->pieces = 1;
            return true;
        }
    return false;
}

// ---- Operands ----

static bool words_operand(AmdDecoder *d, AmdText *t, uint32_t n, AmdOperand *o) {
    TRY(amd_text_operand(d, t, n, AMD_WORDS, o));
    return true;
}

static bool vector_or_off(AmdDecoder *d, AmdText *t, uint32_t n, AmdOperand *o) {
    TRY(words_operand(d, t, n, o));
    if (o->kind != AMD_VECTOR && o->kind != AMD_NOTHING)
        return amd_decode_fail(d, "operand %u must be vector registers", n + 1);
    return true;
}

static bool enough(AmdDecoder *d, const AmdOperand *o, uint32_t words) {
    if (o->kind != AMD_VECTOR || o->words == words) return true;
    return amd_decode_fail(d, "%u registers, %u are expected", o->words, words);
}

static uint32_t data_words(const AmdAccess *a) {
    uint32_t pieces = a->pieces > 1 && a->action == AMD_LOAD ? 2 : 1;
    uint32_t both = a->atom == AMD_ATOM_CMPSWAP && a->action == AMD_ATOMIC && a->unit != AMD_DS;
    return a->words * pieces * (both ? 2 : 1);
}

// Operands v, address, base. The result comes first for loads and for atomics that return; the
// address comes first for stores.
static bool memory_operands(AmdDecoder *d, AmdText *t, AmdAccess *a) {
    uint32_t at = 0;
    bool buffer = a->unit == AMD_BUFFER;
    bool result =
        (a->action == AMD_LOAD && !a->to_lds) || (a->action == AMD_ATOMIC && a->returns && !buffer);
    if (result) TRY(vector_or_off(d, t, at++, &a->result));
    if (buffer) {
        if (a->action != AMD_LOAD) TRY(vector_or_off(d, t, at++, &a->data));
        TRY(vector_or_off(d, t, at++, &a->address));
        TRY(words_operand(d, t, at++, &a->base));
        TRY(amd_text_operand(d, t, at++, AMD_B32, &a->more));
        if (a->base.kind != AMD_SCALAR || a->base.words != 4)
            return amd_decode_fail(d, "the resource must be four scalar registers");
        if (a->action == AMD_ATOMIC && a->returns) {
            a->result = a->data;
            a->result.words = a->words;
        }
    } else {
        TRY(vector_or_off(d, t, at++, &a->address));
        if (a->action != AMD_LOAD) TRY(vector_or_off(d, t, at++, &a->data));
        if (a->unit != AMD_FLAT_UNIT)
            TRY(words_operand(d, t, at++, &a->base));
        else if (at < t->operand_count)
            TRY(words_operand(d, t, at++, &a->base));
    }
    if (at != t->operand_count) return amd_decode_fail(d, "unexpected operands");
    if (a->base.kind == AMD_SCALAR && a->base.number == AMD_NULL) a->base.kind = AMD_NOTHING;
    TRY(enough(d, &a->data, data_words(a)));
    return enough(d, &a->result, a->words);
}

static bool lds_operands(AmdDecoder *d, AmdText *t, AmdAccess *a) {
    uint32_t at = 0;
    if (a->action == AMD_LOAD || a->returns) TRY(vector_or_off(d, t, at++, &a->result));
    TRY(vector_or_off(d, t, at++, &a->address));
    if (a->action != AMD_LOAD) TRY(vector_or_off(d, t, at++, &a->data));
    bool second = (a->action == AMD_STORE && a->pieces > 1) || a->atom == AMD_ATOM_CMPSWAP;
    if (second && a->action != AMD_LOAD) TRY(vector_or_off(d, t, at++, &a->more));
    if (at != t->operand_count) return amd_decode_fail(d, "unexpected operands");
    TRY(enough(d, &a->data, a->words));
    TRY(enough(d, &a->more, a->words));
    return enough(d, &a->result, data_words(a));
}

// s_load: result, base, offset (a constant, or a scalar with or without one).
static bool scalar_operands(AmdDecoder *d, AmdText *t, AmdAccess *a) {
    TRY(words_operand(d, t, 0, &a->result));
    TRY(words_operand(d, t, 1, &a->base));
    TRY(amd_text_operand(d, t, 2, AMD_B32, &a->more));
    if (a->result.kind != AMD_SCALAR || a->base.kind != AMD_SCALAR || a->result.words != a->words ||
        t->operand_count != 3)
        return amd_decode_fail(d, "operands of a scalar load are scalar registers");
    if (a->more.kind == AMD_CONSTANT) {
        a->offset[0] = (int32_t)a->more.value;
        a->more.kind = AMD_NOTHING;
    }
    if (a->more.kind == AMD_SCALAR && a->more.number == AMD_NULL) a->more.kind = AMD_NOTHING;
    return true;
}

// ---- Modifiers ----

static void take_offset(AmdText *t, const char *name, int64_t *to, int64_t unit) {
    Str v;
    int64_t number;
    if (amd_text_modifier(t, name, &v) && amd_text_number(v, &number)) *to = number * unit;
}

// Decodes the bits that make an access visible to others: coherence beyond the workgroup's own
// caches.
static void take_coherence(AmdDecoder *d, AmdText *t, AmdAccess *a) {
    bool sc0 = amd_text_modifier(t, "sc0", NULL), sc1 = amd_text_modifier(t, "sc1", NULL);
    bool glc = amd_text_modifier(t, "glc", NULL), slc = amd_text_modifier(t, "slc", NULL);
    bool dlc = amd_text_modifier(t, "dlc", NULL);
    (void)amd_text_modifier(t, "nt", NULL), (void)slc;
    Str v;
    bool temporal = amd_text_modifier(t, "th", &v);
    if (a->action == AMD_ATOMIC) {
        a->returns |= a->unit != AMD_DS &&
                      (sc0 || glc || (temporal && str_starts(v, STR("TH_ATOMIC_RETURN"))));
        a->coherence = 1 + SIM_SCOPE_GPU;
    } else if (sc1) {
        a->coherence = 1 + (sc0 ? SIM_SCOPE_SYS : SIM_SCOPE_GPU);
    } else if (glc && (dlc || d->processor < 0x1000 || a->action == AMD_LOAD)) {
        a->coherence = 1 + SIM_SCOPE_GPU;
    }
    if (amd_text_modifier(t, "scope", &v) && a->action != AMD_ATOMIC)
        a->coherence = str_equal(v, STR("SCOPE_SYS"))   ? 1 + SIM_SCOPE_SYS
                       : str_equal(v, STR("SCOPE_DEV")) ? 1 + SIM_SCOPE_GPU
                                                        : 0;
}

static void take_modifiers(AmdDecoder *d, AmdText *t, AmdAccess *a) {
    int64_t unit = a->pieces == 128 ? 64 * a->bytes : a->bytes;
    take_coherence(d, t, a);
    a->offen = amd_text_modifier(t, "offen", NULL);
    a->idxen = amd_text_modifier(t, "idxen", NULL);
    if (amd_text_modifier(t, "lds", NULL)) a->to_lds = true;
    take_offset(t, "offset", &a->offset[0], 1);
    take_offset(t, "offset0", &a->offset[0], unit);
    take_offset(t, "offset1", &a->offset[1], unit);
    if (a->pieces > 1) a->pieces = 2;
}

// ---- Moves between lanes through the LDS hardware ----

static bool decode_move(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine);

bool amd_decode_access(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine) {
    TRY(decode_move(d, t, i, mine));
    if (*mine) return true;
    AmdAccess *a = arena_new(d->arena, AmdAccess, 1);
    Str name = t->name;
    bool found = false;
    for (size_t n = 0; !found && n < sizeof units / sizeof *units; n++) {
        name = t->name;
        a->unit = (uint8_t)units[n].unit;
        found = cut_prefix(&name, units[n].prefix);
    }
    if (!found || (!find_action(name, a) && (a->unit == AMD_SMEM || !find_atom(d, name, a))))
        return true;
    *mine = true;
    i->detail = a;
    i->run = a->unit == AMD_SMEM ? amd_run_smem : amd_run_access;
    take_modifiers(d, t, a);
    if (str_starts(t->name, STR("s_buffer_"))) a->idxen = true;
    if (a->unit == AMD_SMEM) return scalar_operands(d, t, a);
    return a->unit == AMD_DS ? lds_operands(d, t, a) : memory_operands(d, t, a);
}

// The offset of ds_swizzle, as LLVM writes it.
static bool swizzle_offset(AmdDecoder *d, Str s, int64_t *to) {
    if (amd_text_number(s, to)) return true;
    if (!str_starts(s, STR("swizzle("))) return amd_decode_fail(d, "an unknown swizzle");
    Str rest, kind = str_cut(amd_text_inner(s, 8), ',', &rest);
    int64_t v[8] = {0};
    uint32_t count = 0;
    if (str_equal(kind, STR("BITMASK_PERM"))) {
        // Five letters for the bits of the lane number, from the highest: 0, 1, p(reserved),
        // i(nverted).
        rest = str_trim(rest);
        if (rest.size != 7) return amd_decode_fail(d, "an unknown swizzle");
        uint32_t and = 0, or = 0, xor = 0;
        for (uint32_t n = 0; n < 5; n++) {
            char c = rest.text[1 + n];
            and = and << 1 | (c == 'p' || c == 'i');
            or = or << 1 | (c == '1');
            xor = xor << 1 | (c == 'i');
        }
        *to = and | or << 5 | xor << 10;
        return true;
    }
    while (rest.size && count < 8) {
        Str more, one = str_trim(str_cut(rest, ',', &more));
        if (!amd_text_number(one, &v[count]) || v[count] < 0 || v[count] > 32)
            return amd_decode_fail(d, "an unknown swizzle");
        count++;
        rest = more;
    }
    if (str_equal(kind, STR("QUAD_PERM")))
        *to = 0x8000 | (v[0] & 3) | (v[1] & 3) << 2 | (v[2] & 3) << 4 | (v[3] & 3) << 6;
    else if (str_equal(kind, STR("BROADCAST")))
        *to = (32 - v[0]) | v[1] << 5;
    else if (str_equal(kind, STR("SWAP")))
        *to = 0x1f | v[0] << 10;
    else if (str_equal(kind, STR("REVERSE")))
        *to = 0x1f | ((v[0] - 1) & 31) << 10;
    else
        return amd_decode_fail(d, "an unknown swizzle");
    return true;
}

AmdRun amd_bpermute, amd_permute, amd_swizzle;

static bool decode_move(AmdDecoder *d, AmdText *t, AmdInstr *i, bool *mine) {
    Str v;
    bool back = str_equal(t->name, STR("ds_bpermute_b32"));
    bool forth = str_equal(t->name, STR("ds_permute_b32"));
    bool swizzle = str_equal(t->name, STR("ds_swizzle_b32"));
    if (!back && !forth && !swizzle) return true;
    *mine = true;
    TRY(amd_decode_result(d, t, 0, AMD_B32, &i->d[i->results++]));
    TRY(amd_text_operand(d, t, 1, AMD_B32, &i->s[i->operands++]));
    if (!swizzle) TRY(amd_text_operand(d, t, 2, AMD_B32, &i->s[i->operands++]));
    bool offset = amd_text_modifier(t, "offset", &v);
    if (swizzle && offset) TRY(swizzle_offset(d, v, &i->immediate));
    if (!swizzle && offset && !amd_text_number(v, &i->immediate))
        return amd_decode_fail(d, "an offset that is not a number");
    i->run = back ? amd_bpermute : forth ? amd_permute : amd_swizzle;
    return true;
}

// ---- Waits ----

static void wait_for(AmdWait *w, AmdCounter c, int64_t n) {
    if (n < w->counts[c]) w->counts[c] = (uint8_t)n;
}

// Reads "vmcnt(0) lgkmcnt(1)" from one operand and the text that LLVM writes after it, separated by
// blanks or '&'.
static bool wait_part(AmdDecoder *d, Str s, AmdWait *w) {
    Str rest, name = str_cut(s, '(', &rest);
    int64_t n;
    if (!rest.size || !amd_text_number(amd_text_inner(rest, 0), &n) || n < 0 || n > 255)
        return amd_decode_fail(d, "'%.*s' is not known", STR_ARG(s));
    if (str_equal(name, STR("vmcnt")))
        wait_for(w, AMD_COUNT_LOAD, n);
    else if (str_equal(name, STR("lgkmcnt")))
        wait_for(w, AMD_COUNT_LDS, n);
    else if (!str_equal(name, STR("expcnt")))
        return amd_decode_fail(d, "'%.*s' is not known", STR_ARG(s));
    return true;
}

bool amd_decode_wait(AmdDecoder *d, AmdText *t, AmdInstr *i) {
    static const struct {
        const char *name;
        uint8_t counters;
    } named[] = {
        {"s_waitcnt_vscnt", 1 << AMD_COUNT_STORE}, {"s_waitcnt_vmcnt", 1 << AMD_COUNT_LOAD},
        {"s_waitcnt_lgkmcnt", 1 << AMD_COUNT_LDS}, {"s_waitcnt_expcnt", 0},
        {"s_wait_loadcnt", 1 << AMD_COUNT_LOAD},   {"s_wait_storecnt", 1 << AMD_COUNT_STORE},
        {"s_wait_dscnt", 1 << AMD_COUNT_LDS},      {"s_wait_kmcnt", 1 << AMD_COUNT_SCALAR}};
    AmdWait *w = arena_new(d->arena, AmdWait, 1);
    memset(w->counts, 255, sizeof w->counts);
    i->detail = w;
    if (str_equal(t->name, STR("s_waitcnt"))) {
        t->taken = UINT32_MAX;
        for (uint32_t n = 0; n < t->operand_count; n++) TRY(wait_part(d, t->operands[n], w));
        for (uint32_t n = 0; n < t->modifier_count; n++)
            if (!str_equal(t->modifiers[n], STR("&"))) TRY(wait_part(d, t->modifiers[n], w));
        return true;
    }
    int64_t n;
    if (!t->operand_count || !amd_text_number(t->operands[t->operand_count - 1], &n))
        return amd_decode_fail(d, "a count is expected");
    if (str_ends(t->name, STR("cnt_dscnt"))) {  // two counts, of six bits each, at bits 0 and 8
        bool load = str_starts(t->name, STR("s_wait_loadcnt"));
        wait_for(w, AMD_COUNT_LDS, n & 63);
        wait_for(w, load ? AMD_COUNT_LOAD : AMD_COUNT_STORE, n >> 8 & 63);
        return true;
    }
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        for (uint32_t c = 0; c < AMD_COUNTERS; c++)
            if (str_equal(t->name, str(named[k].name)) && named[k].counters >> c & 1)
                wait_for(w, (AmdCounter)c, n);
    return true;
}
