// memfd_create, MAP_FIXED_NOREPLACE
#define _GNU_SOURCE 1

#include "tests/support/foreign.h"

#include <elf.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/foreign/call.h"

enum { ARGUMENTS_MAX = 256 };

typedef struct Piece {  // memory of arguments: one or more that overlap
    unsigned char *from, *to;
    size_t size;
} Piece;

// A program that runs code of one target.
typedef struct Runner {
    const char *command[3];
    const char *absent;
    CpuLevel level;
    uint16_t machine;     // of the shared objects
    uint32_t relocation;  // the only one that they have: base plus addend
    bool tried;
    const char *missing;
    int socket;
} Runner;

#ifndef TEST_FOREIGN_RUNNERS
#define TEST_FOREIGN_RUNNERS ""
#define TEST_FOREIGN_PYTHON ""
#endif

// One of each a test program.
static Runner runners[] = {
    {.command = {"qemu-aarch64", TEST_FOREIGN_RUNNERS "/foreign_aarch64"},
     .absent = "qemu-aarch64 does not run here: apt-get install qemu-user",
     .level = CPU_AARCH64,
     .machine = EM_AARCH64,
     .relocation = R_AARCH64_RELATIVE},
    {.command = {TEST_FOREIGN_PYTHON, TEST_SOURCE_DIR "/tests/foreign/x86_64.py",
                 TEST_FOREIGN_RUNNERS "/foreign_x86_64"},
     .absent = "Bochs does not run here: scripts/bochs.sh installs it",
     .level = CPU_X86_64_V4,
     .machine = EM_X86_64,
     .relocation = R_X86_64_RELATIVE},
};

typedef struct Foreign {
    int file;        // of the region, once it is mapped
    Runner *runner;  // of the code loaded last
    const char *failure;
    char fault[128];
    size_t code;  // bytes that are used
    size_t used;  // of the data
    Piece pieces[ARGUMENTS_MAX];
    uint32_t piece_count;
    uint64_t entry;
    void *scratch, *block;
    size_t block_size;
} Foreign;
static Foreign foreign;

static unsigned char *region(void) { return (unsigned char *)FOREIGN_BASE; }

// ---- messages -----------------------------------------------------------------------------------

static bool send_message(const ForeignMessage *m) {
    return send(foreign.runner->socket, m, sizeof *m, MSG_NOSIGNAL) == (ssize_t)sizeof *m;
}

static bool receive(const Runner *r, ForeignMessage *m) {
    return recv(r->socket, m, sizeof *m, MSG_WAITALL) == (ssize_t)sizeof *m;
}

static bool exchange(ForeignMessage *m) { return send_message(m) && receive(foreign.runner, m); }

// ---- the runners --------------------------------------------------------------------------------

static void become_runner(const Runner *r, int end) {
    const char *const *c = r->command;
    // Both numbers are above those they become.
    if (dup2(end, 0) < 0 || dup2(foreign.file, FOREIGN_FILE) < 0) _exit(126);
    execlp(c[0], c[0], c[1], c[2], (char *)NULL);
    _exit(127);
}

static const char *share(void) {
    if (foreign.file) return NULL;
    int small = memfd_create("foreign", MFD_CLOEXEC);
    int file = small < 0 ? -1 : fcntl(small, F_DUPFD_CLOEXEC, 10);
    if (small >= 0) close(small);
    if (file < 0 || ftruncate(file, FOREIGN_SIZE)) return "no memory to share with emulators";
    void *at = mmap(region(), FOREIGN_SIZE, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    if (at != region()) return "the memory to share with emulators has no place";
    foreign.file = file;
    return NULL;
}

static const char *start(Runner *r) {
    int ends[2];
    if (!TEST_FOREIGN_RUNNERS[0]) return "runners were not built: apt-get install clang-22 lld-22";
    const char *why = share();
    if (why) return why;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) return "no socket for emulators";
    int high = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    pid_t child = fork();
    if (child == 0) become_runner(r, high);
    close(ends[1]), close(high);
    r->socket = ends[0];
    ForeignMessage m;
    return child < 0 || !receive(r, &m) || m.word != FOREIGN_READY ? r->absent : NULL;
}

static Runner *runner_of(CpuTarget target) {
    for (size_t i = 0; i < sizeof runners / sizeof *runners; i++)
        if (runners[i].level == target.level && !target.extras) return &runners[i];
    return NULL;
}

const char *foreign_missing(CpuTarget target) {
    if (cpu_runs_here(target)) return NULL;
    Runner *r = runner_of(target);
    if (!r) return "no emulator has this processor";
    if (!r->tried) {
        r->tried = true;
        r->missing = start(r);
    }
    return r->missing;
}

bool foreign_is(CpuTarget target) { return !cpu_runs_here(target) && runner_of(target); }

const char *foreign_failure(void) { return foreign.failure; }

// ---- images -------------------------------------------------------------------------------------

typedef struct Image {
    const unsigned char *bytes;
    size_t size;
    const Elf64_Ehdr *head;
} Image;

static const void *part(const Image *image, uint64_t offset, uint64_t size) {
    if (offset > image->size || size > image->size - offset) return NULL;
    return image->bytes + offset;
}

static bool place_segments(const Image *image) {
    const Elf64_Phdr *p = part(image, image->head->e_phoff, image->head->e_phnum * sizeof *p);
    memset(region(), 0, FOREIGN_CODE);
    for (int i = 0; p && i < image->head->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD) continue;
        const void *bytes = part(image, p[i].p_offset, p[i].p_filesz);
        if (!bytes || p[i].p_vaddr + p[i].p_memsz > FOREIGN_CODE) return false;
        memcpy(region() + p[i].p_vaddr, bytes, p[i].p_filesz);
        if (p[i].p_vaddr + p[i].p_memsz > foreign.code) foreign.code = p[i].p_vaddr + p[i].p_memsz;
    }
    return p != NULL;
}

static bool relocate(const Image *image, const Elf64_Shdr *section) {
    const Elf64_Rela *r = part(image, section->sh_offset, section->sh_size);
    for (size_t i = 0; r && i < section->sh_size / sizeof *r; i++) {
        uint64_t value = FOREIGN_BASE + (uint64_t)r[i].r_addend;
        if (ELF64_R_TYPE(r[i].r_info) != foreign.runner->relocation) return false;
        if (r[i].r_offset > FOREIGN_CODE - sizeof value) return false;
        memcpy(region() + r[i].r_offset, &value, sizeof value);
    }
    return r != NULL;
}

static bool find_entry(const Image *image, const Elf64_Shdr *section, const Elf64_Shdr *names,
                       Str entry) {
    const Elf64_Sym *s = part(image, section->sh_offset, section->sh_size);
    const char *text = part(image, names->sh_offset, names->sh_size);
    for (size_t i = 0; s && text && i < section->sh_size / sizeof *s; i++)
        if (s[i].st_value && str_equal(str(text + s[i].st_name), entry))
            foreign.entry = FOREIGN_BASE + s[i].st_value;
    return foreign.entry != 0;
}

bool foreign_load(CpuTarget target, Str bytes, Str entry, const char **problem) {
    *problem = foreign_missing(target);
    if (*problem) return false;
    // In memory of its own: headers must be aligned.
    unsigned char *copy = malloc(bytes.size + 1);
    Image image = {copy, bytes.size, (const Elf64_Ehdr *)(const void *)copy};
    foreign.runner = runner_of(target);
    foreign.failure = NULL;
    foreign.entry = 0, foreign.code = 0, foreign.used = 0, foreign.piece_count = 0;
    if (copy) memcpy(copy, bytes.text, bytes.size);
    bool fine = copy && part(&image, 0, sizeof *image.head) &&
                image.head->e_machine == foreign.runner->machine && place_segments(&image);
    const Elf64_Shdr *s =
        fine ? part(&image, image.head->e_shoff, image.head->e_shnum * sizeof *s) : NULL;
    for (int i = 0; s && fine && i < image.head->e_shnum; i++) {
        if (s[i].sh_type == SHT_RELA) fine = relocate(&image, &s[i]);
        if (s[i].sh_type == SHT_DYNSYM) fine = find_entry(&image, &s[i], &s[s[i].sh_link], entry);
    }
    free(copy);
    *problem = "the shared object is not as the runner wants it";
    return s && fine && foreign.entry;
}

// ---- arguments ----------------------------------------------------------------------------------

static void *foreign_memory(size_t size, size_t align) {
    size_t room = FOREIGN_RUNNERS - FOREIGN_CODE;
    size_t at = (foreign.used + align - 1) / align * align;
    if (at > room || size > room - at) return NULL;
    foreign.used = at + size;
    return region() + FOREIGN_CODE + at;
}

bool foreign_reserve(size_t block, size_t scratch) {
    foreign.block_size = block;
    foreign.block = foreign_memory(block + 8, 16);
    foreign.scratch = foreign_memory(scratch + 1, CPU_SCRATCH_ALIGN);
    if (foreign.scratch) memset(foreign.scratch, 0xa5, scratch);
    return foreign.block && foreign.scratch;
}

// The bytes that an argument may reach: none through a pointer into memory of unknown size, which
// kernels may count with only; following it ends the runner, and the test.
static bool reach(const IrParam *p, const IrArg *arg, unsigned char **from, size_t *size) {
    const IrType *t = p->value->type;
    *from = arg->data;
    *size = 0;
    if (arg->size) {
        *from = (unsigned char *)arg->data - ((uintptr_t)arg->data - (uintptr_t)arg->base);
        *size = arg->size;
        return true;
    }
    if (t->kind == IR_PTR) return true;
    int64_t low = 0, high = 0;
    for (uint32_t d = 0; d < t->rank; d++) {
        if (arg->extent[d] == 0) return true;
        int64_t far = (arg->extent[d] - 1) * arg->stride[d];
        *(far < 0 ? &low : &high) += far;
    }
    int64_t bits = dtype_bits(t->elem);
    *from += low * bits / 8;
    *size = (size_t)((high - low + 1) * bits + 7) / 8;
    return true;
}

// Pieces that overlap become one.
static void add_piece(unsigned char *from, size_t size) {
    for (uint32_t i = 0; i < foreign.piece_count; i++) {
        Piece *p = &foreign.pieces[i];
        if (from > p->from + p->size || p->from > from + size) continue;
        unsigned char *end = from + size > p->from + p->size ? from + size : p->from + p->size;
        if (p->from < from) from = p->from;
        size = (size_t)(end - from);
        *p = foreign.pieces[--foreign.piece_count];
        i = UINT32_MAX;  // again, with the larger one
    }
    foreign.pieces[foreign.piece_count++] = (Piece){from, NULL, size};
}

// The copy keeps the address modulo 4096.
static bool copy_in(Piece *p) {
    size_t skew = (uintptr_t)p->from % 4096;
    unsigned char *room = foreign_memory(p->size + skew + 64, 4096);
    if (!room) return false;
    p->to = room + skew;
    memcpy(p->to, p->from, p->size);
    return true;
}

bool foreign_arguments(const IrFunc *func, const IrArg *args, uint32_t count, IrArg *moved) {
    unsigned char *from;
    size_t size;
    if (count > ARGUMENTS_MAX) return false;
    for (uint32_t i = 0; i < count; i++) {
        if (func->params.data[i].value->type->kind == IR_TILE) continue;
        if (!reach(&func->params.data[i], &args[i], &from, &size)) return false;
        if (size) add_piece(from, size);
    }
    for (uint32_t i = 0; i < foreign.piece_count; i++)
        if (!copy_in(&foreign.pieces[i])) return false;
    for (uint32_t i = 0; i < count; i++) {
        moved[i] = args[i];
        if (func->params.data[i].value->type->kind == IR_TILE) continue;
        reach(&func->params.data[i], &args[i], &from, &size);
        for (uint32_t k = 0; size && k < foreign.piece_count; k++) {
            const Piece *p = &foreign.pieces[k];
            if (from < p->from || from >= p->from + p->size) continue;
            moved[i].data = p->to + ((unsigned char *)args[i].data - p->from);
        }
    }
    return true;
}

void foreign_results(void) {
    for (uint32_t i = 0; i < foreign.piece_count; i++)
        memcpy(foreign.pieces[i].from, foreign.pieces[i].to, foreign.pieces[i].size);
}

// ---- runs ---------------------------------------------------------------------------------------

static uint64_t remainder_of(const CpuServices *services, const ForeignMessage *m) {
    uint32_t x = (uint32_t)m->a[0], y = (uint32_t)m->a[1], bits;
    if (m->word == FOREIGN_FMODF) {
        float a, b, r;
        memcpy(&a, &x, 4), memcpy(&b, &y, 4);
        r = services->fmodf(a, b);
        memcpy(&bits, &r, 4);
        return bits;
    }
    double a, b, r;
    uint64_t wide;
    memcpy(&a, &m->a[0], 8), memcpy(&b, &m->a[1], 8);
    r = services->fmod(a, b);
    memcpy(&wide, &r, 8);
    return wide;
}

static ForeignMessage answer(const CpuServices *services, const ForeignMessage *m) {
    ForeignMessage back = {.word = FOREIGN_DONE};
    if (m->word == FOREIGN_ASSERT)
        services->assert_failed(services, (int64_t)m->a[0], (int64_t)m->a[1], (uint32_t)m->a[2]);
    else if (m->word == FOREIGN_PRINT)
        services->print(services, (int64_t)m->a[0], (uint32_t)m->a[1],
                        (const void *const *)m->a[2]);
    else
        back.a[0] = remainder_of(services, m);
    back.a[1] = (uint64_t)__atomic_load_n(services->cancel, __ATOMIC_RELAXED);
    return back;
}

void foreign_entry(const void *args, int64_t first, int64_t last, void *scratch,
                   const CpuServices *services) {
    (void)scratch;  // the runner does not see it
    memcpy(foreign.block, args, foreign.block_size);
    ForeignMessage m = {
        .word = FOREIGN_RUN,
        .a = {foreign.entry, (uint64_t)foreign.block, (uint64_t)first, (uint64_t)last,
              (uint64_t)foreign.scratch, (uint64_t)services->grid[0], (uint64_t)services->grid[1],
              (uint64_t)services->grid[2], foreign.code}};
    bool fine = exchange(&m);
    while (fine && m.word != FOREIGN_DONE && m.word != FOREIGN_FAULT) {
        m = answer(services, &m);
        fine = exchange(&m);
    }
    if (!fine) foreign.failure = "the runner ended: the code crashed it";
    if (!fine || m.word != FOREIGN_FAULT) return;
    snprintf(foreign.fault, sizeof foreign.fault, "exception %d at %#llx, address %#llx",
             (int)m.a[0], (unsigned long long)(m.a[1] - FOREIGN_BASE), (unsigned long long)m.a[2]);
    foreign.failure = foreign.fault;
}
