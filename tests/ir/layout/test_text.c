// Layouts as text: what is printed reads back, what is malformed is said where; tables, drawings.
#include "tests/ir/layout/support.h"

static const char *text_of(Arena *arena, const Layout *l) {
    StrBuf out = strbuf(arena);
    layout_text(l, &out);
    return out.text;
}

static void printed(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Layout l = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    assert_string_equal(text_of(arena, &l),
                        "layout[16,8](reg=(0,1)(8,0) "
                        "lane=(0,2)(0,4)(1,0)(2,0)(4,0))");
    l = layout_swizzled(2, (uint32_t[]){4, 8}, NULL, 2, 1, 4);
    assert_string_equal(text_of(arena, &l), "layout[4,8](offset=(0,1)(0,2)(0,4)(1,2)(2,4))");
    l = layout_zeros(LAYOUT_LANE, 2, 0, NULL);
    assert_string_equal(text_of(arena, &l), "layout[](lane=()())");
    l = layout_empty(1, (uint32_t[]){8});
    assert_string_equal(text_of(arena, &l), "layout[8]()");
    l = layout_identity(LAYOUT_BLOCK, 1, (uint32_t[]){2});
    layout_add(&l, LAYOUT_WARP, 0);
    assert_string_equal(text_of(arena, &l), "layout[2](warp=(0) block=(1))");
    arena_destroy(arena);
}

static void what_is_printed_reads_back(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Dice dice = dice_roll(1);
    for (int t = 0; t < 500; t++) {
        uint32_t shape[IR_MAX_RANK], rank = any_below(&dice, IR_MAX_RANK + 1);
        for (uint32_t i = 0; i < rank; i++) shape[i] = 1u << any_below(&dice, 4);
        if (t % 50 == 0 && rank) shape[0] = t % 100 ? 8 : 2;
        Layout l = any_layout(&dice, rank, shape, any_below(&dice, 8), any_below(&dice, 7),
                              any_below(&dice, 4)),
               back;
        for (uint32_t i = any_below(&dice, 3); i > 0; i--) layout_add(&l, LAYOUT_BLOCK, 0);
        for (uint32_t i = any_below(&dice, 3); i > 0; i--) layout_add(&l, LAYOUT_OFFSET, 0);
        const char *text = text_of(arena, &l);
        char *more = arena_printf(arena, "%s tail", text);
        size_t used;
        LayoutMistake mistake;
        assert_true(layout_parse(str(more), &back, &used, &mistake));
        assert_int_equal(used, strlen(text));
        assert_true(layout_equal(&back, &l));
        StrBuf bases = strbuf(arena);
        layout_bases_text(&l, &bases);
        assert_true(layout_parse_bases(strbuf_str(&bases), rank, shape, &back, &used, &mistake));
        assert_true(layout_equal(&back, &l));
        assert_int_equal(used, bases.size);
        // Every beginning of it is malformed, none is read past.
        for (size_t size = 0; size < strlen(text); size++) {
            char *part = malloc(size ? size : 1);
            memcpy(part, text, size);
            assert_false(layout_parse((Str){part, size}, &back, &used, &mistake));
            assert_true(mistake.at <= size);
            free(part);
        }
    }
    arena_destroy(arena);
}

static void other_spellings(void **state) {
    (void)state;
    Layout l, same;
    size_t used;
    LayoutMistake mistake;
    assert_true(layout_parse(STR(" layout [ 4 , 2 ] ( lane = (0 , 1) reg = (1,0) (2,0) )"), &l,
                             &used, &mistake));
    assert_true(
        layout_parse(STR("layout[4,2](reg=(1,0)(2,0) lane=(0,1))"), &same, &used, &mistake));
    assert_true(layout_equal(&l, &same));
}

static void mistakes_are_said_where_they_are(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t at;
        const char *what;
    } cases[] = {
        {"layuot[8]()", 0, "expected 'layout'"},
        {"layout(8)", 6, "expected '['"},
        {"layout[8", 8, "expected ',' or ']'"},
        {"layout[8,]()", 9, "expected a number"},
        {"layout[6]()", 9, "an extent that is not a power of two"},
        {"layout[0]()", 9, "an extent that is not a power of two"},
        {"layout[99999999]()", 7, "the number is too large"},
        {"layout[8192,8192]()", 17, "too many elements"},
        {"layout[1,1,1,1,1,1,1,1,1]()", 23, "more than 8 dimensions"},
        {"layout[8]", 9, "expected '('"},
        {"layout[8](", 10, "expected reg, lane, warp, block, offset or ')'"},
        {"layout[8](thread=(1))", 10, "expected reg, lane, warp, block, offset or ')'"},
        {"layout[8](reg(1))", 13, "expected '='"},
        {"layout[8](reg=)", 14, "expected '('"},
        {"layout[8](reg=(1)reg=(2))", 20, "a dimension that was given before"},
        {"layout[8](reg=(8))", 15, "a coordinate past the extent of its axis"},
        {"layout[8](reg=(1,0))", 15, "expected one coordinate for each axis"},
        {"layout[8](reg=(1)", 17, "expected reg, lane, warp, block, offset or ')'"},
        {"layout[8](reg=(1", 16, "expected ',' or ')'"},
        {"layout[](reg=()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()()())", 79,
         "more than 32 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Layout l;
        size_t used;
        LayoutMistake mistake = {0};
        assert_false(layout_parse(str(cases[i].text), &l, &used, &mistake));
        assert_string_equal(mistake.what, cases[i].what);
        assert_int_equal(mistake.at, cases[i].at);
    }
    Layout l;
    size_t used;
    LayoutMistake mistake;
    uint32_t odd[] = {3};
    assert_false(layout_parse_bases(STR("()"), 1, odd, &l, &used, &mistake));
}

// Random bytes, and texts with one byte changed: refused or read, nothing else.
static void noise(void **state) {
    (void)state;
    Dice dice = dice_roll(2);
    static const char letters[] = "layoutregnwpbcks[](),=0123456789 ";
    const char *good = "layout[16,8](reg=(0,1)(8,0) lane=(0,2)(0,4)(1,0)(2,0)(4,0))";
    int read = 0;
    for (int t = 0; t < 20000; t++) {
        char text[80];
        size_t size = strlen(good);
        memcpy(text, good, size);
        for (uint32_t i = 1 + any_below(&dice, 3); i > 0; i--) {
            text[any_below(&dice, (uint32_t)size)] = letters[any_below(&dice, sizeof letters - 1)];
        }
        Layout l;
        size_t used;
        LayoutMistake mistake;
        if (layout_parse((Str){text, size}, &l, &used, &mistake)) {
            assert_true(used <= size);
            read++;
        } else {
            assert_true(mistake.at <= size);
        }
    }
    assert_true(read > 100);
}

static void tables(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Layout l = layout_empty(2, (uint32_t[]){2, 4});
    layout_add_step(&l, LAYOUT_REG, 1, 1);
    layout_add_step(&l, LAYOUT_LANE, 1, 2);
    layout_add_step(&l, LAYOUT_WARP, 0, 1);
    StrBuf out = strbuf(arena);
    layout_table(&l, 0, &out);
    assert_string_equal(out.text,
                        "layout[2,4](reg=(0,1) lane=(0,2) warp=(1,0))\n"
                        "reg     0      1    \n"
                        "w0 l0   (0,0)  (0,1)\n"
                        "w0 l1   (0,2)  (0,3)\n"
                        "w1 l0   (1,0)  (1,1)\n"
                        "w1 l1   (1,2)  (1,3)\n");
    out = strbuf(arena);
    layout_table(&l, 1, &out);
    assert_non_null(strstr(out.text, "w0 l0   (0,0)  (0,1)\n(3 more lines)\n"));
    Layout memory = layout_plain(2, (uint32_t[]){2, 4}, (uint8_t[]){0, 1});
    out = strbuf(arena);
    layout_table(&memory, 0, &out);
    assert_string_equal(out.text,
                        "layout[2,4](offset=(1,0)(0,1)(0,2))\n"
                        "offset    0      1      2      3      4      5      6      7    \n"
                        "o0        (0,0)  (1,0)  (0,1)  (1,1)  (0,2)  (1,2)  (0,3)  (1,3)\n");
    arena_destroy(arena);
}

static size_t count_of(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) count++;
    return count;
}

static void drawings(void **state) {
    (void)state;
    Arena *arena = arena_create();
    Layout l = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    Layout tile = layout_tile(&l, (uint32_t[]){32, 16}, 2, (int8_t[]){0, -1}, NULL, NULL);
    StrBuf out = strbuf(arena);
    layout_svg(&tile, &out);
    assert_int_equal(count_of(out.text, "<rect"), 512);
    // Element (9, 3) of the tile: lane 5, register 3 of warp 0; two warps hold it.
    assert_non_null(strstr(out.text, ">w0 5:3+</text>"));
    assert_int_equal(count_of(out.text, "hsl(0,"), 256);
    assert_int_equal(count_of(out.text, "hsl(137,"), 256);
    assert_non_null(strstr(out.text, "the first of 2 that hold it"));
    Layout large = layout_plain(2, (uint32_t[]){512, 256}, NULL);
    out = strbuf(arena);
    layout_svg(&large, &out);
    assert_int_equal(count_of(out.text, "<rect"), 128 * 128);
    assert_non_null(strstr(out.text, "only the first 128 by 128"));
    Layout part = layout_identity(LAYOUT_LANE, 1, (uint32_t[]){4});
    layout_drop(&part, LAYOUT_LANE, 1);
    out = strbuf(arena);
    layout_svg(&part, &out);
    assert_int_equal(count_of(out.text, "fill=\"white\""), 2);
    assert_int_equal(count_of(out.text, "<g"), count_of(out.text, "</g>"));
    arena_destroy(arena);
}

// A line for each row of a tile: which warp, lane and register hold each element.
static void draw_holders(const Layout *l, StrBuf *out) {
    LayoutPoint holder[4][8];
    for (uint32_t input = 0; input < 1u << l->bits; input++) {
        uint32_t at[IR_MAX_RANK];
        layout_coords(l, layout_apply_input(l, input), at);
        holder[at[0]][at[1]] = layout_point(l, input);
    }
    for (uint32_t row = 0; row < 4; row++) {
        strbuf_printf(out, "row %u   w%u", row, holder[row][0].at[LAYOUT_WARP]);
        for (uint32_t column = 0; column < 8; column++) {
            LayoutPoint p = holder[row][column];
            strbuf_printf(out, "%s  l%u r%u", column && column % 2 == 0 ? " " : "",
                          p.at[LAYOUT_LANE], p.at[LAYOUT_REG]);
        }
        strbuf_char(out, '\n');
    }
}

// The small tile of the page: its elements, its table, and the sum over its rows.
static void check_small_tile(Arena *arena, const char *page) {
    Layout l;
    size_t used;
    LayoutMistake mistake;
    Str text = str("layout[4,8](reg=(0,1) lane=(0,2)(0,4)(1,0) warp=(2,0))");
    assert_true(layout_parse(text, &l, &used, &mistake));
    assert_non_null(strstr(page, text.text));
    StrBuf out = strbuf(arena);
    draw_holders(&l, &out);
    assert_non_null(strstr(page, out.text));
    out = strbuf(arena);
    layout_table(&l, 2, &out);
    StrBuf shown = strbuf(arena);  // a page has no blanks at line ends
    for (const char *c = out.text; *c; c++) {
        if (*c != ' ' || c[strspn(c, " ")] != '\n') strbuf_char(&shown, *c);
    }
    assert_non_null(strstr(page, shown.text));
    Layout sum = layout_slice(&l, 1);
    assert_non_null(strstr(page, text_of(arena, &sum)));
}

// The layouts that docs/layouts.md shows are the ones that are printed and that its example finds.
static void layouts_of_the_page(void **state) {
    (void)state;
    Arena *arena = arena_create();
    FILE *file = fopen("docs/layouts.md", "rb");
    assert_non_null(file);
    char *page = arena_alloc(arena, 1 << 16);
    size_t size = fread(page, 1, (1 << 16) - 1, file);
    fclose(file);
    assert_true(size > 1000 && size < (1 << 16) - 1);
    int count = 0;
    for (const char *at = strstr(page, "\nlayout["); at; at = strstr(at + 1, "\nlayout[")) {
        Layout l;
        size_t used;
        LayoutMistake mistake;
        assert_true(layout_parse(str(at + 1), &l, &used, &mistake));
        assert_string_equal(text_of(arena, &l), arena_text(arena, at + 1, used));
        count++;
    }
    assert_int_equal(count, 9);
    check_small_tile(arena, page);
    Layout box;
    assert_true(layout_box(2, (uint32_t[]){64, 128}, 16, &box));
    assert_non_null(strstr(page, text_of(arena, &box)));
    Layout c1 = layout_mma((LayoutMma){16, 8, 16, 16}, LAYOUT_OPERAND_C);
    Layout c = layout_tile(&c1, (uint32_t[]){64, 64}, 2, (int8_t[]){0, 0}, NULL, NULL);
    Layout rows = layout_blocked(&(LayoutBlocked){.rank = 2,
                                                  .shape = {64, 64},
                                                  .elements = {1, 8},
                                                  .lanes = {4, 8},
                                                  .warps = {4, 1},
                                                  .order = {1, 0}});
    LayoutSide store = {.layout = &c}, load = {.layout = &rows};
    LayoutTrip trip;
    assert_true(layout_trip(&store, &load, 16, &banks_nvidia, &trip));
    const Layout *shown[] = {&c1, &c, &rows, &trip.memory};
    for (size_t i = 0; i < 4; i++) assert_non_null(strstr(page, text_of(arena, shown[i])));
    assert_int_equal(layout_conversion(&c, &rows), LAYOUT_CONVERT_WARPS);
    assert_true(trip.store.wavefronts == 1 && trip.load.wavefronts == 4);
    // The one that everybody knows.
    Layout known = layout_swizzled(2, (uint32_t[]){64, 64}, NULL, 8, 1, 8);
    assert_true(layout_equal(&trip.memory, &known));
    arena_destroy(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed),         cmocka_unit_test(what_is_printed_reads_back),
        cmocka_unit_test(other_spellings), cmocka_unit_test(mistakes_are_said_where_they_are),
        cmocka_unit_test(noise),           cmocka_unit_test(tables),
        cmocka_unit_test(drawings),        cmocka_unit_test(layouts_of_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
