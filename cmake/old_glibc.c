// LLVM's archives and gcc's unwinder were built with a newer glibc and use functions that glibc
// 2.34 lacks. These are hidden replacements, so that libtilec_llvm runs with 2.34, too. No other
// library sees them.
#define _GNU_SOURCE  // dl_iterate_phdr
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// Used for names of temporary files, and for nothing secret.
HIDDEN uint32_t random_number(void) __asm__("arc4random");
HIDDEN uint32_t random_number(void) {
    uint32_t number = 0;
    for (size_t have = 0; have < sizeof number;) {
        ssize_t got = getrandom((char *)&number + have, sizeof number - have, 0);
        if (got > 0) have += (size_t)got;
    }
    return number;
}

// The struct of glibc 2.35.
struct found_object {
    unsigned long long flags;
    void *map_start, *map_end;
    struct link_map *map;
    void *eh_frame;
    unsigned long long reserved[7];
};

typedef struct Search {
    uintptr_t pc;
    struct found_object *found;
} Search;

static int look(struct dl_phdr_info *info, size_t size, void *user) {
    Search *s = user;
    uintptr_t first = UINTPTR_MAX, last = 0, frame = 0;
    int inside = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type == PT_GNU_EH_FRAME) frame = begin;
        if (p->p_type != PT_LOAD) continue;
        if (begin < first) first = begin;
        if (end > last) last = end;
        if (s->pc >= begin && s->pc < end) inside = 1;
    }
    if (!inside || !frame) return inside;
    *s->found = (struct found_object){
        .map_start = (void *)first, .map_end = (void *)last, .eh_frame = (void *)frame};
    s->pc = 0;  // found
    return 1;
}

HIDDEN int find_object(void *pc, struct found_object *found) __asm__("_dl_find_object");
HIDDEN int find_object(void *pc, struct found_object *found) {
    Search s = {(uintptr_t)pc, found};
    dl_iterate_phdr(look, &s);
    return s.pc ? -1 : 0;
}
