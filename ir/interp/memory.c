// Metadata of memory: shadows, and marks of which program accessed what.
//
// Pages of 4096 addresses, found by hash. A page keeps one entry for each unit of 2^shift bytes,
// the size of the smallest element seen there; a smaller one makes the units finer. Packed elements
// are keyed by half bytes, far above all byte addresses, so both kinds share the table.
#include "ir/interp/internal.h"

enum { PAGE_BITS = 12 };
#define PAGE_SIZE (UINT32_C(1) << PAGE_BITS)

typedef struct Accessor {
    uint32_t program;  // + 1; 0: none
    uint32_t time;     // the number of releases before its last access of this kind
} Accessor;

// The programs that accessed a unit, and how. Plain accesses and atomics are kept apart: one
// program may do both, and another program's atomic conflicts with plain accesses but not with
// atomics.
typedef struct MemoryMark {
    Accessor writer;     // by plain stores
    Accessor reader;     // by plain loads; MANY: several
    Accessor atomic[2];  // the last, and the last other than that one; none after a plain write
    Accessor watcher;    // by atomic loads, likewise; MANY: several
} MemoryMark;

typedef struct MemoryEntry {
    ShadowValue shadow;
    uint8_t kind;  // Dtype + 1 of the element that begins here; 0: none
} MemoryEntry;

typedef struct MemoryPage {
    uint64_t number;
    unsigned shadow_shift, mark_shift;
    MemoryEntry *entries;
    MemoryMark *marks;
} MemoryPage;

typedef struct Release {
    uint64_t address;
    uint32_t program, number;
} Release;

struct Pages {
    Arena *arena;
    Map index;  // page number -> Page *
    Map tallies;
    VEC(Release) releases;
    uint32_t acquirer;  // the program whose acquisitions these are
    VEC(uint64_t) acquired;
    MemoryPage *last;
};

#define MANY UINT32_MAX

Pages *pages_create(Arena *arena) {
    Pages *p = arena_new(arena, Pages, 1);
    p->arena = arena;
    return p;
}

static MemoryPage *page_find(const Pages *p, uint64_t address) {
    uint64_t number = address >> PAGE_BITS;
    if (p->last && p->last->number == number) return p->last;
    uint64_t *found = map_find(&p->index, number);
    return found ? (MemoryPage *)(uintptr_t)*found : NULL;
}

static MemoryPage *page_at(Pages *p, uint64_t address) {
    MemoryPage *page = page_find(p, address);
    if (!page) {
        page = arena_new(p->arena, MemoryPage, 1);
        page->number = address >> PAGE_BITS;
        map_put(p->arena, &p->index, page->number, map_key(page));
    }
    p->last = page;
    return page;
}

static unsigned shift_of(uint64_t size) {
    unsigned shift = 0;
    while ((UINT64_C(2) << shift) <= size) shift++;
    return shift;
}

// The finest unit that holds an element of this size at this address.
static unsigned unit_shift(uint64_t address, uint64_t size) {
    unsigned shift = shift_of(size);
    while (shift && (address & ((UINT64_C(1) << shift) - 1))) shift--;
    return shift;
}

// ---- shadows ------------------------------------------------------------------------------------

static uint64_t element_bytes(Dtype elem) {
    return dtype_is(elem, DTYPE_CLASS_PACKED) ? 1 : dtype_size(elem);
}

static void entries_refine(Pages *p, MemoryPage *page, unsigned shift) {
    if (page->entries && page->shadow_shift <= shift) return;
    MemoryEntry *fine = arena_new(p->arena, MemoryEntry, PAGE_SIZE >> shift);
    if (page->entries)
        for (uint32_t i = 0; i < PAGE_SIZE >> page->shadow_shift; i++)
            fine[i << (page->shadow_shift - shift)] = page->entries[i];
    page->entries = fine;
    page->shadow_shift = shift;
}

static MemoryEntry *entry_at(MemoryPage *page, uint64_t address) {
    return &page->entries[(address & (PAGE_SIZE - 1)) >> page->shadow_shift];
}

void pages_clear_shadow(Pages *p, uint64_t address, uint32_t size) {
    for (uint64_t at = address; at < address + size;) {
        MemoryPage *page = page_find(p, at);
        uint64_t next = (at | (uint64_t)(PAGE_SIZE - 1)) + 1;
        if (page && page->entries) {
            entry_at(page, at)->kind = 0;
            next = at + (UINT64_C(1) << page->shadow_shift);
        }
        at = next;
    }
}

void pages_put_shadow(Pages *p, uint64_t address, Dtype elem, ShadowValue s) {
    uint64_t size = element_bytes(elem);
    MemoryPage *page = page_at(p, address);
    entries_refine(p, page, unit_shift(address, size));
    if ((UINT64_C(1) << page->shadow_shift) < size)
        for (uint64_t at = address + 1; at < address + size; at++) {
            MemoryPage *other = page_find(p, at);
            if (other && other->entries) entry_at(other, at)->kind = 0;
        }
    MemoryEntry *e = entry_at(page, address);
    e->shadow = s;
    e->kind = (uint8_t)(elem + 1);
}

bool pages_get_shadow(const Pages *p, uint64_t address, Dtype elem, ShadowValue *s) {
    MemoryPage *page = page_find(p, address);
    if (!page || !page->entries) return false;
    const MemoryEntry *e = entry_at(page, address);
    if (!e->kind) return false;
    bool whole = (address & ((UINT64_C(1) << page->shadow_shift) - 1)) == 0;
    if (e->kind == elem + 1 && whole) {
        *s = e->shadow;
        return true;
    }
    // Part of an element, or the element as another type: exact bytes stay exact.
    if (e->shadow.e > 0) s->e = HUGE_VAL;
    return e->shadow.e > 0;
}

bool pages_find_shadow(const Pages *p, uint64_t address, ShadowValue *s) {
    MemoryPage *page = page_find(p, address);
    if (!page || !page->entries) return false;
    const MemoryEntry *e = entry_at(page, address);
    if (!e->kind || (address & ((UINT64_C(1) << page->shadow_shift) - 1))) return false;
    *s = e->shadow;
    return true;
}

Tally *pages_tally(Pages *p, uint64_t address, bool make) {
    uint64_t *found = map_find(&p->tallies, address);
    if (found) return (Tally *)(uintptr_t)*found;
    if (!make) return NULL;
    Tally *t = arena_new(p->arena, Tally, 1);
    map_put(p->arena, &p->tallies, address, map_key(t));
    return t;
}

// ---- marks --------------------------------------------------------------------------------------

static void marks_refine(Pages *p, MemoryPage *page, unsigned shift) {
    if (page->marks && page->mark_shift <= shift) return;
    MemoryMark *fine = arena_new(p->arena, MemoryMark, PAGE_SIZE >> shift);
    for (uint32_t i = 0; page->marks && i < PAGE_SIZE >> shift; i++)
        fine[i] = page->marks[i >> (page->mark_shift - shift)];
    page->marks = fine;
    page->mark_shift = shift;
}

void pages_release(Pages *p, uint64_t address, uint32_t program) {
    uint32_t number = (uint32_t)p->releases.count + 1;
    vec_push(p->arena, &p->releases, ((Release){address, program, number}));
}

void pages_acquire(Pages *p, uint64_t address, uint32_t program) {
    if (p->acquirer != program) p->acquired.count = 0;
    p->acquirer = program;
    for (size_t i = 0; i < p->acquired.count; i++)
        if (p->acquired.data[i] == address) return;
    vec_push(p->arena, &p->acquired, address);
}

// Did `other` release something after its access (`time` releases were before that) that the
// current program has acquired since?
static bool is_ordered(const Pages *p, uint32_t other, uint32_t time, uint32_t program) {
    if (p->acquirer != program || p->acquired.count == 0) return false;
    if (other == MANY) return true;  // the programs are no longer known: no false alarms
    for (size_t i = time; i < p->releases.count; i++) {
        const Release *r = &p->releases.data[i];
        if (r->program != other) continue;
        for (size_t k = 0; k < p->acquired.count; k++)
            if (p->acquired.data[k] == r->address) return true;
    }
    return false;
}

static bool conflicts_with(const Pages *p, const Accessor *other, uint32_t program) {
    return other->program && other->program != program &&
           !is_ordered(p, other->program, other->time, program);
}

static uint32_t conflict(const Pages *p, const MemoryMark *m, Touch touch, uint32_t program) {
    if (conflicts_with(p, &m->writer, program)) return m->writer.program;
    bool plain = touch == TOUCH_READ || touch == TOUCH_WRITE;
    for (int i = 0; plain && i < 2; i++)
        if (conflicts_with(p, &m->atomic[i], program)) return m->atomic[i].program;
    bool changes = touch == TOUCH_WRITE || touch == TOUCH_ATOMIC;
    if (changes && conflicts_with(p, &m->reader, program)) return m->reader.program;
    if (touch == TOUCH_WRITE && conflicts_with(p, &m->watcher, program)) return m->watcher.program;
    return 0;
}

static void mark_reader(Accessor *reader, Accessor now) {
    if (reader->program && reader->program != now.program) now.program = MANY;
    *reader = now;
}

static void mark_touch(const Pages *p, MemoryMark *m, Touch touch, uint32_t program) {
    Accessor now = {program, (uint32_t)p->releases.count};
    switch (touch) {
    case TOUCH_READ: mark_reader(&m->reader, now); return;
    case TOUCH_ATOMIC_READ: mark_reader(&m->watcher, now); return;
    case TOUCH_WRITE:
        m->writer = now;  // anything that conflicts with earlier atomics conflicts with this write
                          // as well
        m->atomic[0] = m->atomic[1] = m->watcher = (Accessor){0};
        return;
    case TOUCH_ATOMIC:
        if (m->atomic[0].program != program) m->atomic[1] = m->atomic[0];
        m->atomic[0] = now;
        return;
    }
}

uint32_t pages_touch(Pages *p, uint64_t address, uint32_t size, Touch touch, uint32_t program) {
    uint32_t found = 0;
    unsigned shift = unit_shift(address, size);
    for (uint64_t at = address; at < address + size;) {
        MemoryPage *page = page_at(p, at);
        marks_refine(p, page, shift);
        MemoryMark *m = &page->marks[(at & (PAGE_SIZE - 1)) >> page->mark_shift];
        if (!found) found = conflict(p, m, touch, program);
        mark_touch(p, m, touch, program);
        at += UINT64_C(1) << page->mark_shift;
    }
    return found == MANY ? 1 : found;
}

bool pages_forbid(const Pages *p, uint64_t address, uint32_t size, Touch touch) {
    for (uint64_t at = address; at < address + size; at++) {
        const MemoryPage *page = page_find(p, at);
        if (!page || !page->marks) continue;
        const MemoryMark *m = &page->marks[(at & (PAGE_SIZE - 1)) >> page->mark_shift];
        if (m->writer.program || m->atomic[0].program) return true;
        bool changes = touch == TOUCH_WRITE || touch == TOUCH_ATOMIC;
        if (changes && (m->reader.program || m->watcher.program)) return true;
    }
    return false;
}

bool pages_written(const Pages *p, uint64_t address, uint32_t size) {
    for (uint64_t at = address; at < address + size; at++) {
        const MemoryPage *page = page_find(p, at);
        if (!page || !page->marks) return false;
        const MemoryMark *m = &page->marks[(at & (PAGE_SIZE - 1)) >> page->mark_shift];
        if (!m->writer.program && !m->atomic[0].program) return false;
    }
    return true;
}

void pages_forget(Pages *p, uint64_t address, uint64_t size) {
    for (uint64_t at = address; at < address + size; at++) {
        MemoryPage *page = page_find(p, at);
        if (!page) continue;
        if (page->marks) page->marks[(at & (PAGE_SIZE - 1)) >> page->mark_shift] = (MemoryMark){0};
        if (page->entries) entry_at(page, at)->kind = 0;
    }
}
