#include "tests/gen/gen_mutate_code.h"

#include <elf.h>
#include <string.h>

#include "base/vec.h"

static uint64_t some_number(Dice *dice, uint64_t was) {
    switch (dice_below(dice, 6)) {
    case 0: return was + 1;
    case 1: return was - 1;
    case 2: return was * 2;
    case 3: return was ^ UINT64_C(1) << dice_below(dice, 32);
    }
    // Values where counts begin or end: next to powers of two.
    if (dice_below(dice, 3) == 0) return dice_below(dice, 16);
    return (UINT64_C(1) << dice_below(dice, 64)) + dice_below(dice, 3) - 1;
}

// ---- PTX: words of the text ---------------------------------------------------------------------

typedef enum WordKind { WORD_NUMBER, WORD_REGISTER, WORD_LABEL, WORD_TYPE, WORD_OTHER } WordKind;
typedef struct Word {
    size_t at, size;
    WordKind kind;
} Word;
typedef VEC(Word) Words;

static WordKind kind_of(Str text, size_t at, size_t size) {
    char first = text.text[at], before = at ? text.text[at - 1] : ' ';
    if (first >= '0' && first <= '9') return WORD_NUMBER;
    if (before == '%') return WORD_REGISTER;
    if (first == '$') return WORD_LABEL;
    if (before == '.' && size <= 4 && strchr("bsuf", first) && size > 1 &&
        text.text[at + 1] >= '0' && text.text[at + 1] <= '9')
        return WORD_TYPE;
    return WORD_OTHER;
}

static Words words_of(Arena *arena, Str text) {
    Words words = {0};
    for (size_t i = 0; i < text.size;) {
        size_t end = i;
        while (end < text.size && (str_word_char(text.text[end]) || text.text[end] == '$')) end++;
        if (end > i) {
            Word w = {i, end - i, kind_of(text, i, end - i)};
            vec_push(arena, &words, w);
        }
        i = end > i ? end : i + 1;
    }
    return words;
}

static Str spliced(Arena *arena, Str text, const Word *w, Str by) {
    StrBuf out = strbuf(arena);
    strbuf_add(&out, (Str){text.text, w->at});
    strbuf_add(&out, by);
    strbuf_add(&out, (Str){text.text + w->at + w->size, text.size - w->at - w->size});
    return strbuf_str(&out);
}

static Str other_word(Arena *arena, Str text, const Words *words, WordKind kind, Dice *dice) {
    for (int tries = 0; tries < 200; tries++) {
        const Word *w = &words->data[dice_below(dice, words->count)];
        if (w->kind == kind) return (Str){arena_text(arena, text.text + w->at, w->size), w->size};
    }
    return (Str){0};
}

static Str other_number(Arena *arena, Str was, Dice *dice) {
    uint64_t n = 0;
    if (!str_to_u64(was, &n, NULL)) n = dice_below(dice, 64);
    StrBuf out = strbuf(arena);
    strbuf_printf(&out, "%llu", (unsigned long long)some_number(dice, n));
    return strbuf_str(&out);
}

// Repeats a line, drops it, or moves it after the next one.
static Str other_lines(Arena *arena, Str text, Dice *dice) {
    size_t begin = dice_below(dice, text.size), end, next;
    while (begin && text.text[begin - 1] != '\n') begin--;
    for (end = begin; end < text.size && text.text[end] != '\n';) end++;
    end += end < text.size;
    for (next = end; next < text.size && text.text[next] != '\n';) next++;
    next += next < text.size;
    Str line = {text.text + begin, end - begin}, second = {text.text + end, next - end};
    StrBuf out = strbuf(arena);
    strbuf_add(&out, (Str){text.text, begin});
    uint64_t way = dice_below(dice, 3);
    if (way == 0) strbuf_add(&out, line), strbuf_add(&out, line), strbuf_add(&out, second);
    if (way == 1) strbuf_add(&out, second);
    if (way == 2) strbuf_add(&out, second), strbuf_add(&out, line);
    strbuf_add(&out, (Str){text.text + next, text.size - next});
    return strbuf_str(&out);
}

Str gen_mutate_ptx(Arena *arena, Str text, Dice *dice) {
    if (dice_below(dice, 8) == 0) return other_lines(arena, text, dice);
    Words words = words_of(arena, text);
    for (int tries = 0; tries < 200 && words.count; tries++) {
        const Word *w = &words.data[dice_below(dice, words.count)];
        if (w->kind == WORD_OTHER) continue;
        Str was = {text.text + w->at, w->size};
        Str by = w->kind == WORD_NUMBER ? other_number(arena, was, dice)
                                        : other_word(arena, text, &words, w->kind, dice);
        if (by.size && !str_equal(was, by)) return spliced(arena, text, w, by);
    }
    return text;
}

// ---- code objects -------------------------------------------------------------------------------

typedef struct Part {
    size_t at, size;
} Part;

static Part section(Str bytes, const char *name) {
    Elf64_Ehdr head;
    Elf64_Shdr names, s;
    if (bytes.size < sizeof head) return (Part){0, 0};
    memcpy(&head, bytes.text, sizeof head);
    size_t end = head.e_shoff + (size_t)head.e_shnum * sizeof s;
    if (head.e_shentsize != sizeof s || head.e_shoff > bytes.size || end > bytes.size ||
        head.e_shstrndx >= head.e_shnum)
        return (Part){0, 0};
    memcpy(&names, bytes.text + head.e_shoff + head.e_shstrndx * sizeof s, sizeof s);
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&s, bytes.text + head.e_shoff + i * sizeof s, sizeof s);
        size_t at = names.sh_offset + s.sh_name, size = strlen(name) + 1;
        if (at > bytes.size || size > bytes.size - at) continue;
        if (memcmp(bytes.text + at, name, size) != 0) continue;
        if (s.sh_offset > bytes.size || s.sh_size > bytes.size - s.sh_offset) continue;
        return (Part){s.sh_offset, s.sh_size};
    }
    return (Part){0, 0};
}

// A word with another bit, byte or half, or one from elsewhere.
static void change_code(char *bytes, Part code, Dice *dice) {
    uint32_t word, other;
    size_t at = code.at + dice_below(dice, code.size / 4) * 4;
    memcpy(&word, bytes + at, 4);
    memcpy(&other, bytes + code.at + dice_below(dice, code.size / 4) * 4, 4);
    switch (dice_below(dice, 5)) {
    case 0: word ^= UINT32_C(1) << dice_below(dice, 32); break;
    case 1: word = (word & 0xffff0000) | (uint32_t)(some_number(dice, word) & 0xffff); break;
    case 2: word = (word & ~UINT32_C(0xff)) | (uint32_t)dice_below(dice, 256); break;
    case 3: word = other; break;
    default: word = (uint32_t)some_number(dice, word);
    }
    memcpy(bytes + at, &word, 4);
}

// Counts of the kernel's descriptor and of the metadata.
static void change_counts(char *bytes, Part counts, bool words, Dice *dice) {
    size_t unit = words && counts.size >= 4 ? 4 : 1;
    size_t at = counts.at + dice_below(dice, counts.size / unit) * unit;
    uint64_t was = 0;
    memcpy(&was, bytes + at, unit);
    was = some_number(dice, was);
    memcpy(bytes + at, &was, unit);
}

Str gen_mutate_object(Arena *arena, Str bytes, Dice *dice) {
    char *copy = arena_text(arena, bytes.text, bytes.size);
    Part code = section(bytes, ".text"), descriptor = section(bytes, ".rodata");
    Part notes = section(bytes, ".note");
    uint64_t way = dice_below(dice, 10);
    if (way < 5 && code.size >= 4)
        change_code(copy, code, dice);
    else if (way < 7 && descriptor.size)
        change_counts(copy, descriptor, true, dice);
    else if (way < 9 && notes.size)
        change_counts(copy, notes, false, dice);
    else
        change_counts(copy, (Part){0, bytes.size}, false, dice);
    return (Str){copy, bytes.size};
}
