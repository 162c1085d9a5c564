// Maps positions to lines. For each block of text we keep the line in which it begins and the next
// line end. So finding a line reads at most two blocks, however long the file or the line is.
#include "base/source.h"

#include <string.h>

#include "base/vec.h"

enum { BLOCK = 64 };

typedef struct SourceBlock {
    uint32_t line;        // number of the line that contains the block's first byte, from 1
    uint32_t line_begin;  // offset of that line
    uint32_t line_end;  // offset of the first '\n' at or after the block's first byte, or the size
} SourceBlock;

typedef struct SourceEntry {
    SourceFile file;
    SourceBlock *blocks;
} SourceEntry;

struct Sources {
    Arena *arena;
    VEC(SourceEntry *) entries;
    uint64_t next;  // position of the next file's first byte
};

Sources *sources_create(Arena *arena) {
    Sources *sources = arena_new(arena, Sources, 1);
    sources->arena = arena;
    sources->next = 1;  // 0 stands for nowhere
    return sources;
}

// The offset of the first '\n' in [from, to), or `to`.
static uint32_t find_line_end(Str text, uint32_t from, uint32_t to) {
    const char *found = from < to ? memchr(text.text + from, '\n', to - from) : NULL;
    return found ? (uint32_t)(found - text.text) : to;
}

static void index_lines(Arena *arena, SourceEntry *entry) {
    Str text = entry->file.text;
    uint32_t size = (uint32_t)text.size;
    entry->blocks = arena_new(arena, SourceBlock, size / BLOCK + 1);
    uint32_t line = 1;
    uint32_t begin = 0;
    uint32_t end = find_line_end(text, 0, size);
    for (uint32_t i = 0; i <= size / BLOCK; i++) {
        while (end < i * BLOCK) {
            line++;
            begin = end + 1;
            end = find_line_end(text, begin, size);
        }
        entry->blocks[i] = (SourceBlock){.line = line, .line_begin = begin, .line_end = end};
    }
}

const SourceFile *source_add(Sources *sources, Str path, Str text) {
    // A file takes one position more than its bytes: the end of the text is a position too.
    if (text.size > SOURCE_MAX || text.size + 1 > UINT32_MAX - sources->next) return NULL;
    Arena *arena = sources->arena;
    SourceEntry *entry = arena_new(arena, SourceEntry, 1);
    entry->file.path = (Str){arena_text(arena, path.text, path.size), path.size};
    entry->file.text = (Str){arena_text(arena, text.text, text.size), text.size};
    entry->file.base = (uint32_t)sources->next;
    index_lines(arena, entry);
    vec_push(arena, &sources->entries, entry);
    sources->next += text.size + 1;
    return &entry->file;
}

size_t sources_count(const Sources *sources) { return sources->entries.count; }

const SourceFile *sources_get(const Sources *sources, size_t number) {
    return &sources->entries.data[number]->file;
}

const SourceFile *source_find(const Sources *sources, Str path) {
    for (size_t i = 0; i < sources->entries.count; i++) {
        const SourceFile *file = &sources->entries.data[i]->file;
        if (str_equal(file->path, path)) return file;
    }
    return NULL;
}

static const SourceEntry *find_entry(const Sources *sources, uint32_t position) {
    if (position == 0 || position >= sources->next) return NULL;
    size_t low = 0;
    size_t high = sources->entries.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (sources->entries.data[middle]->file.base <= position) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return sources->entries.data[low];
}

// The offset of the end of the line that `offset` is in.
static uint32_t line_end_after(const SourceEntry *entry, uint32_t offset) {
    uint32_t size = (uint32_t)entry->file.text.size;
    uint32_t block = offset / BLOCK;
    if (block == size / BLOCK) return find_line_end(entry->file.text, offset, size);
    uint32_t border = (block + 1) * BLOCK;
    uint32_t end = find_line_end(entry->file.text, offset, border);
    return end < border ? end : entry->blocks[block + 1].line_end;
}

SourceLine source_line(const Sources *sources, uint32_t position) {
    const SourceEntry *entry = find_entry(sources, position);
    if (!entry) return (SourceLine){0};
    Str text = entry->file.text;
    uint32_t offset = position - entry->file.base;
    const SourceBlock *block = &entry->blocks[offset / BLOCK];
    uint32_t line = block->line;
    uint32_t begin = block->line_begin;
    for (uint32_t i = offset / BLOCK * BLOCK; i < offset; i++) {
        if (text.text[i] != '\n') continue;
        line++;
        begin = i + 1;
    }
    uint32_t end = line_end_after(entry, offset);
    if (end > begin && end < text.size && text.text[end - 1] == '\r') end--;
    return (SourceLine){.file = &entry->file,
                        .line = line,
                        .column = offset - begin + 1,
                        .text = {text.text + begin, end - begin}};
}

Str source_text(const Sources *sources, Span span) {
    const SourceEntry *entry = find_entry(sources, span.begin);
    if (!entry || span.end <= span.begin) return (Str){"", 0};
    size_t from = span.begin - entry->file.base;
    size_t size = span.end - span.begin;
    size_t left = entry->file.text.size - from;
    return (Str){entry->file.text.text + from, size < left ? size : left};
}
