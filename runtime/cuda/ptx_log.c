#include "runtime/cuda/ptx_log.h"

#include <string.h>

// The bytes after the first `mark` in the line; false: it has none.
static bool find(Str line, const char *mark, Str *behind) {
    size_t size = strlen(mark);
    for (size_t i = 0; i + size <= line.size; i++) {
        if (memcmp(line.text + i, mark, size) != 0) continue;
        *behind = (Str){line.text + i + size, line.size - i - size};
        return true;
    }
    return false;
}

static bool has(Str line, const char *mark) {
    Str behind;
    return find(line, mark, &behind);
}

static uint32_t number_at(Str text) {
    uint64_t number = 0;
    for (size_t i = 0; i < text.size && number <= UINT32_MAX; i++) {
        if (text.text[i] < '0' || text.text[i] > '9') break;
        number = number * 10 + (uint64_t)(text.text[i] - '0');
    }
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

// The number before `mark`: "16 bytes spill stores".
static uint32_t number_before(Str line, const char *mark) {
    Str behind;
    if (!find(line, mark, &behind)) return 0;
    size_t end = (size_t)(behind.text - line.text) - strlen(mark), begin = end;
    while (begin > 0 && line.text[begin - 1] >= '0' && line.text[begin - 1] <= '9') begin--;
    return number_at((Str){line.text + begin, end - begin});
}

// The place in the PTX that a line of the log names ("…, line 12; …"); else nowhere.
static Span span_of_line(Str line, const SourceFile *file) {
    Str behind = line;
    while (file && find(behind, "line ", &behind)) {
        uint32_t number = number_at(behind), at = 0;
        while (number > 1 && at < file->text.size)
            if (file->text.text[at++] == '\n') number--;
        if (number != 1 || at >= file->text.size) continue;
        return (Span){file->base + at, file->base + at + 1};
    }
    return (Span){0};
}

static void most(uint32_t *kept, uint32_t found) {
    if (found > *kept) *kept = found;
}

static void read_facts(Str line, PtxFacts *facts) {
    bool frame = has(line, " bytes stack frame"), used = has(line, " registers");
    most(&facts->stack, number_before(line, " bytes stack frame"));
    most(&facts->spill_stores, number_before(line, " bytes spill stores"));
    most(&facts->spill_loads, number_before(line, " bytes spill loads"));
    most(&facts->registers, number_before(line, " registers"));
    facts->known = facts->known || frame || used;
}

// "(C7510)": matrix instructions that should overlap are serialized.
static bool is_serialized(Str line) { return has(line, "(C75") || has(line, " C75"); }

static bool read_line(Str line, const SourceFile *file, PtxFacts *facts, Diags *diags) {
    bool fatal = has(line, "error   :") || has(line, "error:") || has(line, "error :") ||
                 has(line, "fatal") || is_serialized(line);
    if (fatal)
        diag_error(diags, span_of_line(line, file), DIAG_UNSUPPORTED, "%.*s", STR_ARG(line));
    else if (has(line, "warning"))
        diag_warning(diags, span_of_line(line, file), DIAG_UNSUPPORTED, "%.*s", STR_ARG(line));
    else if (facts)
        read_facts(line, facts);
    return !fatal;
}

bool ptx_log_read(Str log, const SourceFile *file, PtxFacts *facts, Diags *diags) {
    bool fine = true;
    while (log.size) {
        Str line = str_trim(str_cut(log, '\n', &log));
        if (line.size) fine = read_line(line, file, facts, diags) && fine;
    }
    return fine;
}

void ptx_log_errors(Str log, const SourceFile *file, Diags *diags) {
    while (log.size) {
        Str line = str_trim(str_cut(log, '\n', &log));
        if (line.size)
            diag_error(diags, span_of_line(line, file), DIAG_UNSUPPORTED, "%.*s", STR_ARG(line));
    }
}
