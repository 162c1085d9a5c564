// Instructions of the vector and the scalar unit: operands as given by their row, and modifiers.
#include "sim/amd/decode.h"

#include <string.h>

#include "base/status.h"

static const AmdRow rows[] = {
#define AMD_LANE_ROW(name, roles, function, poison) \
    {#name, roles, amd_##function, NULL, amd_run_lanes, AMD_FAMILY_LANES, poison},
#define AMD_SCALAR_ROW(name, roles, function, poison) \
    {#name, roles, NULL, amd_##function, amd_run_scalar, AMD_FAMILY_SCALAR, poison},
#define AMD_OWN_ROW(name, roles, function) \
    {#name, roles, NULL, NULL, amd_##function, AMD_FAMILY_OWN, AMD_ALL},
#define AMD_IGNORED_ROW(name) {#name, ":", NULL, NULL, NULL, AMD_FAMILY_IGNORED, AMD_ALL},
#include "sim/amd/amd.def"
#undef AMD_LANE_ROW
#undef AMD_SCALAR_ROW
#undef AMD_OWN_ROW
#undef AMD_IGNORED_ROW
};

void amd_rows_begin(AmdDecoder *d) {
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
        map_put(d->arena, &d->rows, map_key(intern(d->names, str(rows[n].name))), n + 1);
}

const AmdRow *amd_row_find(const AmdDecoder *d, Str name) {
    const uint64_t *n = map_find(&d->rows, map_key(intern(d->names, name)));
    return n ? &rows[*n - 1] : NULL;
}

// ---- Operands by roles ----

static AmdOperand implicit(const AmdDecoder *d, uint32_t number) {
    return (AmdOperand){.kind = AMD_SCALAR,
                        .type = AMD_MASK,
                        .words = (uint8_t)(d->kernel->lanes / 32),
                        .number = (uint16_t)number};
}

bool amd_decode_result(AmdDecoder *d, const AmdText *t, uint32_t n, AmdType type, AmdOperand *to) {
    // Lane masks, reads of one lane, and scalar functions belong to the scalar unit.
    bool scalar = type == AMD_MASK || str_starts(t->name, STR("s_")) ||
                  str_starts(t->name, STR("v_s_")) || str_starts(t->name, STR("v_read"));
    TRY(amd_text_operand(d, t, n, type, to));
    if (to->kind == (scalar ? AMD_SCALAR : AMD_VECTOR)) return true;
    return amd_decode_fail(d, "the result must be a %s register", scalar ? "scalar" : "vector");
}

static bool take_results(AmdDecoder *d, AmdText *t, const char *roles, AmdInstr *i, uint32_t *at,
                         bool hidden) {
    for (; *roles != ':'; roles++) {
        if (*roles == '^') {
            i->writes_scc = true;
            continue;
        }
        AmdOperand *to = &i->d[i->results++];
        if (hidden) {
            *to = implicit(d, AMD_EXEC);
            continue;
        }
        TRY(amd_decode_result(d, t, (*at)++, (AmdType)*roles, to));
    }
    return true;
}

static bool take_operands(AmdDecoder *d, AmdText *t, const char *roles, AmdInstr *i, uint32_t *at) {
    for (roles = strchr(roles, ':') + 1; *roles; roles++) {
        AmdOperand *to = &i->s[i->operands++];
        if (*roles == '@') {
            *to = i->d[0];
            i->reads_dst = true;
        } else if (*roles == '!' || (*roles == 'm' && *at == t->operand_count)) {
            *to = implicit(d, AMD_VCC);
        } else {
            TRY(amd_text_operand(d, t, (*at)++, (AmdType)*roles, to));
        }
    }
    return true;
}

static uint32_t text_operands(const char *roles) {
    uint32_t count = 0;
    for (; *roles; roles++)
        count += *roles != ':' && *roles != '^' && *roles != '@' && *roles != '!';
    return count;
}

static bool by_roles(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i) {
    uint32_t at = 0, wanted = text_operands(row->roles);
    bool hidden = str_starts(t->name, STR("v_cmpx")) && t->operand_count + 1 == wanted;
    TRY(take_results(d, t, row->roles, i, &at, hidden));
    TRY(take_operands(d, t, row->roles, i, &at));
    if (at != t->operand_count)
        return amd_decode_fail(d, "there are %u operands, %u are expected", t->operand_count, at);
    return true;
}

// ---- Modifiers ----

static uint8_t bits_of(Str list, uint8_t otherwise) {
    uint32_t values[8], count = amd_text_list(list, values, 8);
    uint8_t bits = 0;
    for (uint32_t n = 0; n < count; n++) bits = (uint8_t)(bits | (values[n] & 1) << n);
    return count ? bits : otherwise;
}

static bool is_packed(const AmdInstr *i) {
    for (uint32_t n = 0; n < i->operands; n++) {
        uint32_t type = i->s[n].type;
        if (type == AMD_F16X2 || type == AMD_B16X2 || type == AMD_BF16X2 || type == AMD_F32X2)
            return true;
    }
    return false;
}

static void take_selections(AmdText *t, AmdInstr *i) {
    Str v;
    i->op_sel_hi = is_packed(i) ? 0xff : 0;
    if (amd_text_modifier(t, "op_sel", &v)) i->op_sel = bits_of(v, 0);
    if (amd_text_modifier(t, "op_sel_hi", &v)) i->op_sel_hi = bits_of(v, 0);
    if (amd_text_modifier(t, "neg_lo", &v)) i->neg_lo = bits_of(v, 0);
    if (amd_text_modifier(t, "neg_hi", &v)) i->neg_hi = bits_of(v, 0);
    if (amd_text_modifier(t, "clamp", NULL)) i->clamp = true;
    if (amd_text_modifier(t, "mul", &v)) i->omod = v.size && v.text[0] == '4' ? 2 : 1;
    if (amd_text_modifier(t, "div", NULL)) i->omod = 3;
    int64_t number;
    if (amd_text_modifier(t, "bitop3", &v) && amd_text_number(v, &number)) i->immediate = number;
    if (amd_text_modifier(t, "byte_sel", &v) && amd_text_number(v, &number)) i->immediate = number;
}

static const struct {
    const char *name;
    AmdMove move;
} moves[] = {{"row_shl", AMD_ROW_SHL},
             {"row_shr", AMD_ROW_SHR},
             {"row_ror", AMD_ROW_ROR},
             {"wave_shl", AMD_WAVE_SHL},
             {"wave_shr", AMD_WAVE_SHR},
             {"wave_rol", AMD_WAVE_ROL},
             {"wave_ror", AMD_WAVE_ROR},
             {"row_mirror", AMD_ROW_MIRROR},
             {"row_half_mirror", AMD_ROW_HALF_MIRROR},
             {"row_bcast", AMD_ROW_BCAST},
             {"row_newbcast", AMD_ROW_SHARE},
             {"row_share", AMD_ROW_SHARE},
             {"row_xmask", AMD_ROW_XMASK}};

static uint32_t number_or(AmdText *t, const char *name, uint32_t otherwise) {
    Str v;
    int64_t number;
    if (!amd_text_modifier(t, name, &v) || !amd_text_number(v, &number)) return otherwise;
    return (uint32_t)number;
}

static bool take_dpp(AmdDecoder *d, AmdText *t, AmdInstr *i) {
    AmdDpp *p = &i->dpp;
    Str v;
    uint32_t list[8];
    if (amd_text_modifier(t, "quad_perm", &v) && amd_text_list(v, list, 8) == 4) {
        p->move = AMD_QUAD_PERM;
        for (uint32_t n = 0; n < 4; n++) p->amount |= (list[n] & 3) << (2 * n);
    }
    if (amd_text_modifier(t, "dpp8", &v) && amd_text_list(v, list, 8) == 8) {
        p->move = AMD_DPP8;
        for (uint32_t n = 0; n < 8; n++) p->amount |= (list[n] & 7) << (3 * n);
    }
    for (size_t n = 0; n < sizeof moves / sizeof *moves; n++)
        if (amd_text_modifier(t, moves[n].name, NULL)) {
            p->move = moves[n].move;
            p->amount = number_or(t, moves[n].name, 0);
        }
    if (!p->move) return amd_decode_fail(d, "the lane movement is unknown");
    p->rows = (uint8_t)number_or(t, "row_mask", 15);
    p->banks = (uint8_t)number_or(t, "bank_mask", 15);
    p->zeros = number_or(t, "bound_ctrl", 0) != 0 || p->move == AMD_DPP8;
    p->fetch_inactive = number_or(t, "fi", 0) != 0;
    if (i->s[0].kind != AMD_VECTOR)
        return amd_decode_fail(d, "only vector registers have lanes to move");
    return true;
}

static bool take_select(AmdDecoder *d, AmdText *t, const char *name, uint8_t *to) {
    static const char *const names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                        "WORD_0", "WORD_1", "DWORD"};
    Str v;
    *to = AMD_DWORD;
    if (!amd_text_modifier(t, name, &v)) return true;
    for (uint8_t n = 0; n < sizeof names / sizeof *names; n++)
        if (str_equal(v, str(names[n]))) {
            *to = n;
            return true;
        }
    return amd_decode_fail(d, "selection '%.*s' is not known", STR_ARG(v));
}

static bool take_sdwa(AmdDecoder *d, AmdText *t, AmdInstr *i) {
    Str v;
    i->sdwa.present = true;
    TRY(take_select(d, t, "dst_sel", &i->sdwa.result));
    TRY(take_select(d, t, "src0_sel", &i->sdwa.operands[0]));
    TRY(take_select(d, t, "src1_sel", &i->sdwa.operands[1]));
    if (amd_text_modifier(t, "dst_unused", &v))
        i->sdwa.unused = str_equal(v, STR("UNUSED_PRESERVE")) ? AMD_UNUSED_PRESERVE
                         : str_equal(v, STR("UNUSED_SEXT"))   ? AMD_UNUSED_SEXT
                                                              : AMD_UNUSED_PAD;
    return true;
}

static bool all_taken(AmdDecoder *d, const AmdText *t) {
    for (uint32_t n = 0; n < t->modifier_count; n++)
        if (!(t->taken >> n & 1))
            return amd_decode_fail(d, "modifier '%.*s' is not known here",
                                   STR_ARG(t->modifiers[n]));
    return true;
}

// For mixed-precision operands, inline constants among halves are halves, too.
static bool take_mixed(AmdDecoder *d, const AmdText *t, AmdInstr *i) {
    for (uint32_t n = 0; n < i->operands; n++) {
        AmdOperand *o = &i->s[n], half;
        if (o->type != AMD_MIX || o->kind != AMD_CONSTANT || !(i->op_sel_hi >> n & 1)) continue;
        TRY(amd_text_operand(d, t, i->results + n, AMD_F16, &half));
        o->value = half.value;
    }
    return true;
}

bool amd_decode_lanes(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i) {
    TRY(by_roles(d, t, row, i));
    take_selections(t, i);
    TRY(take_mixed(d, t, i));
    if (t->dpp) TRY(take_dpp(d, t, i));
    if (t->sdwa) TRY(take_sdwa(d, t, i));
    return true;
}

// ---- One instruction ----

static bool decode_hwreg(AmdDecoder *d, AmdText *t, AmdInstr *i) {
    uint32_t at = 0;
    bool get = str_starts(t->name, STR("s_getreg"));
    if (get) TRY(amd_decode_result(d, t, at++, AMD_B32, &i->d[i->results++]));
    Str s = t->operands[at++];
    if (!str_starts(s, STR("hwreg(")))
        return amd_decode_fail(d, "register '%.*s' is not known", STR_ARG(s));
    Str rest, name = str_cut(amd_text_inner(s, 6), ',', &rest);
    int64_t offset = 0, size = 32;
    Str width, begin = str_cut(rest, ',', &width);
    if (begin.size) (void)amd_text_number(str_trim(begin), &offset);
    if (width.size) (void)amd_text_number(str_trim(width), &size);
    if (!str_equal(name, STR("HW_REG_MODE")) && !str_equal(name, STR("HW_REG_WAVE_MODE")))
        return amd_decode_fail(d, "register '%.*s' is not simulated", STR_ARG(name));
    i->immediate = (offset & 31) | (size & 63) << 8;
    if (!get) TRY(amd_text_operand(d, t, at++, AMD_B32, &i->s[i->operands++]));
    return true;
}

// The scope of an instruction for caches: the workgroup's is that of caches which other workgroups
// do not share, so that alone it lets nothing of theirs be seen. These instructions have modifiers
// only, of which the first one is read as an operand.
static SimScope cache_scope(const AmdRow *row, const AmdText *t) {
    static const char *const far[] = {"sc1", "scope:SCOPE_DEV", "scope:SCOPE_SYS"};
    Str name = str(row->name);
    if (str_equal(name, STR("buffer_gl0_inv"))) return SIM_SCOPE_CTA;
    bool scoped = str_equal(name, STR("buffer_inv")) || str_equal(name, STR("buffer_wbl2")) ||
                  str_starts(name, STR("global_"));
    if (!scoped) return SIM_SCOPE_GPU;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        if (t->operand_count && str_equal(t->operands[0], str(far[i]))) return SIM_SCOPE_GPU;
        for (uint32_t n = 0; n < t->modifier_count; n++)
            if (str_equal(t->modifiers[n], str(far[i]))) return SIM_SCOPE_GPU;
    }
    return SIM_SCOPE_CTA;
}

static bool decode_own(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i) {
    if (row->run == amd_wait) return amd_decode_wait(d, t, i);
    if (row->run == amd_setreg || row->run == amd_getreg) return decode_hwreg(d, t, i);
    bool cache = row->run == amd_invalidate || row->run == amd_write_back ||
                 row->run == amd_invalidate_counted || row->run == amd_write_back_counted ||
                 row->run == amd_both_counted;
    if (cache) {
        i->immediate = cache_scope(row, t);
        t->taken = UINT32_MAX;
        return true;
    }
    if (row->run == amd_endpgm && t->operand_count) t->operand_count = 0;
    TRY(by_roles(d, t, row, i));
    bool swaps = row->run == amd_permlane_swap || row->run == amd_swap || row->run == amd_swap_half;
    if (swaps && i->s[0].kind != AMD_VECTOR)
        return amd_decode_fail(d, "both operands must be vector registers");
    if (row->run == amd_permlane16 || row->run == amd_permlane_swap) take_selections(t, i);
    if (i->operands && i->s[0].kind == AMD_CONSTANT) i->immediate = (int64_t)i->s[0].value;
    return true;
}

static bool decode_one(AmdDecoder *d, Str text, AmdInstr *i);

static size_t find_pair(Str text) {
    for (size_t n = 0; n + 1 < text.size; n++)
        if (text.text[n] == ':' && text.text[n + 1] == ':') return n;
    return 0;
}

static bool is_lanes(const AmdInstr *i) { return i->row && i->row->family == AMD_FAMILY_LANES; }

// "v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v3, v4, v5"
static bool decode_pair(AmdDecoder *d, Str text, size_t at, AmdInstr *i) {
    AmdInstr *other = arena_new(d->arena, AmdInstr, 1);
    Str first = str_trim((Str){text.text, at});
    Str second = str_trim((Str){text.text + at + 2, text.size - at - 2});
    if (find_pair(second)) return amd_decode_fail(d, "these do not form a pair");
    TRY(decode_one(d, first, i));
    TRY(decode_one(d, second, other));
    if (!is_lanes(i) || !is_lanes(other)) return amd_decode_fail(d, "these two do not form a pair");
    i->other = other;
    i->run = amd_run_pair;
    return true;
}

static bool decode_row(AmdDecoder *d, AmdText *t, const AmdRow *row, AmdInstr *i) {
    i->row = row, i->run = row->run;
    switch ((AmdFamily)row->family) {
    case AMD_FAMILY_LANES: return amd_decode_lanes(d, t, row, i);
    case AMD_FAMILY_SCALAR: return by_roles(d, t, row, i);
    case AMD_FAMILY_OWN: return decode_own(d, t, row, i);
    case AMD_FAMILY_IGNORED: t->taken = UINT32_MAX; return true;
    }
    return false;
}

static bool decode_one(AmdDecoder *d, Str text, AmdInstr *i) {
    AmdText t;
    size_t pair = find_pair(text);
    if (pair) return decode_pair(d, text, pair, i);
    TRY(amd_text_split(d, text, &t));
    if (str_starts(t.name, STR("v_dual_")))
        t.name = str(arena_printf(d->arena, "v_%.*s", (int)(t.name.size - 7), t.name.text + 7));
    const AmdRow *row = amd_row_find(d, t.name);
    bool mine = row != NULL;
    if (row) TRY(decode_row(d, &t, row, i));
    if (!mine) TRY(amd_decode_access(d, &t, i, &mine));
    if (!mine) TRY(amd_decode_matrix(d, &t, i, &mine));
    if (!mine) return amd_decode_fail(d, "the simulated %s has no such instruction", "processor");
    return all_taken(d, &t);
}

// ---- A kernel ----

typedef struct DecodeWalk {
    AmdDecoder *d;
    const GpuCode *code;
    AmdInstr *instrs;
    SimInstr *shown;
    uint8_t *seen;
    VEC(uint32_t) left;
} DecodeWalk;

static SimLine line_of(const AmdObject *o, uint64_t address) {
    uint32_t low = 0, high = o->line_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return (SimLine){0};
    const AmdLine *l = &o->lines[low - 1];
    return (SimLine){l->file, l->line, l->column, 0};
}

// The index of the line that begins at the offset, or the count.
static uint32_t index_at(const GpuCode *code, int64_t offset) {
    uint32_t low = 0, high = code->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->lines[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->lines[low].offset == offset ? low : code->count;
}

static bool is_branch(const AmdInstr *i) {
    AmdRun *run = i->row ? i->row->run : NULL;
    return run == amd_branch || run == amd_branch_scc0 || run == amd_branch_scc1 ||
           run == amd_branch_vccz || run == amd_branch_vccnz || run == amd_branch_execz ||
           run == amd_branch_execnz;
}

static void reach(DecodeWalk *w, uint32_t n) {
    if (w->seen[n]) return;
    w->seen[n] = 1;
    vec_push(w->d->arena, &w->left, n);
}

static bool visit(DecodeWalk *w, uint32_t n) {
    const GpuCodeLine *line = &w->code->lines[n];
    AmdDecoder *d = w->d;
    AmdInstr *i = &w->instrs[n];
    uint64_t address = d->source->begin + line->offset;
    d->line = line_of(d->object, address), d->text = line->text;
    if (!line->text.size) return amd_decode_fail(d, "bytes that are not an instruction");
    i->address = (uint32_t)(address + line->size);
    TRY(decode_one(d, line->text, i));
    w->shown[n] = (SimInstr){.name = line->text.text, .line = d->line, .flags = 0};
    if (i->matrix) w->shown[n].flags = SIM_MATRIX;
    if (is_branch(i)) {
        i->target = index_at(w->code, line->offset + line->size + 4 * i->immediate);
        if (i->target == w->code->count)
            return amd_decode_fail(d, "the branch does not go to an instruction");
        reach(w, i->target);
    }
    if (i->row && (i->row->run == amd_branch || i->row->run == amd_endpgm)) return true;
    if (n + 1 == w->code->count) return amd_decode_fail(d, "the code does not end here");
    reach(w, n + 1);
    return true;
}

// Decodes the reachable instructions; bytes between them are padding and may be anything.
bool amd_decode_kernel(AmdDecoder *d, const GpuCode *code, SimKernel *to) {
    DecodeWalk w = {.d = d, .code = code};
    w.instrs = arena_new(d->arena, AmdInstr, code->count + 1);
    w.shown = arena_new(d->arena, SimInstr, code->count + 1);
    w.seen = arena_new(d->arena, uint8_t, code->count + 1);
    if (!code->count) return amd_decode_fail(d, "there is no code");
    reach(&w, 0);
    while (w.left.count) TRY(visit(&w, vec_pop(&w.left)));
    d->kernel->code = w.instrs, d->kernel->count = code->count;
    to->code = w.shown, to->code_count = code->count;
    return true;
}
