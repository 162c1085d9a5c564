#include "tests/mutate/statements.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
Str statement_trim(Str s) {
    while (s.size && is_space(s.text[0])) s.text++, s.size--;
    while (s.size && is_space(s.text[s.size - 1])) s.size--;
    return s;
}
static Str word(Str *s) {
    *s = statement_trim(*s);
    size_t n = 0;
    while (n < s->size && !is_space(s->text[n])) n++;
    Str first = {s->text, n};
    *s = statement_trim((Str){s->text + n, s->size - n});
    return first;
}
bool statement_has(Str s, const char *part) {
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.size; i++)
        if (!memcmp(s.text + i, part, n)) return true;
    return false;
}
static bool starts(Str s, const char *with) { return str_starts(s, str(with)); }

// Operands apart at commas outside of brackets and braces.
static void split(Statement *s) {
    size_t from = 0;
    int depth = 0;
    for (size_t i = 0; i <= s->rest.size; i++) {
        char c = i < s->rest.size ? s->rest.text[i] : ',';
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != ',' || depth || s->operand_count == OPERANDS_MAX) continue;
        s->operands[s->operand_count++] = statement_trim((Str){s->rest.text + from, i - from});
        from = i + 1;
    }
}

Statement statement_parse(Str text) {
    Statement s = {.whole = text};
    Str rest = text;
    if (rest.size && rest.text[0] == '@') s.guard = word(&rest);
    s.opcode = word(&rest);
    s.rest = rest;
    if (rest.size) split(&s);
    return s;
}

uint64_t statement_register(Str s, size_t *at) {
    while (*at < s.size && s.text[*at] != '%') ++*at;
    if (*at >= s.size) return 0;
    uint64_t letters = 0, digits = 0;
    for (++*at; *at < s.size && (isalnum((unsigned char)s.text[*at]) || s.text[*at] == '_');
         ++*at) {
        char c = s.text[*at];
        if (isdigit((unsigned char)c))
            digits = digits * 10 + (uint64_t)(c - '0');
        else
            letters = letters * 31 + (uint64_t)(unsigned char)c;
    }
    return letters << 32 | (digits & UINT32_MAX);
}

static uint32_t loc_line(Str line, uint32_t before) {
    uint64_t value;
    Str rest = line;
    if (!str_equal(word(&rest), STR(".loc"))) return before;
    word(&rest);
    return str_to_u64(word(&rest), &value, NULL) ? (uint32_t)value : before;
}

// Directives, labels, comments and scopes begin like this, and are not instructions.
static bool begins_statement(Str line) {
    return line.size && !strchr("./${})(", line.text[0]) && line.text[line.size - 1] != ':';
}

bool statement_number(Str s, int64_t *value) {
    char text[32], *end;
    if (!s.size || s.size >= sizeof text) return false;
    memcpy(text, s.text, s.size);
    text[s.size] = 0;
    *value = strtoll(text, &end, 0);
    return !*end;
}

bool statement_has_result(const Statement *s) {
    static const char *const without[] = {"st.",   "red.", "bra",  "bar",  "cp.",      "membar",
                                          "fence", "ret",  "exit", "trap", "stmatrix", "prefetch"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (starts(s->opcode, without[i])) return false;
    return s->operand_count > 1;
}
Statements statements_of(Arena *arena, Str text) {
    Statements list = {0};
    uint32_t source_line = 0;
    int depth = 0;  // of scopes
    bool label = false;
    for (size_t at = 0; at < text.size;) {
        const char *newline = memchr(text.text + at, '\n', text.size - at);
        size_t end = newline ? (size_t)(newline - text.text) : text.size;
        Str line = statement_trim((Str){text.text + at, end - at});
        at = end + 1;
        source_line = loc_line(line, source_line);
        if (line.size == 1) depth += (line.text[0] == '{') - (line.text[0] == '}');
        label |= str_starts(line, STR("$L__BB")) && line.text[line.size - 1] == ':';
        if (depth <= 0 || !begins_statement(line)) continue;
        size_t left = text.size - (size_t)(line.text - text.text);
        const char *stop = memchr(line.text, ';', left);
        if (!stop) break;
        Statement s = statement_parse((Str){line.text, (size_t)(stop - line.text)});
        s.whole.size++;
        s.line = source_line;
        s.label = label;
        label = false;
        vec_push(arena, &list, s);
        at = (size_t)(stop + 1 - text.text);  // there may be another one on the line
    }
    return list;
}
