// The runner on a bare x86-64 with AVX-512, the processor of Bochs, which x86_64.py sets up and
// starts at `begin`, in 64-bit mode, with the region mapped.
#include <stdbool.h>

#include "tests/foreign/runner.h"

#if defined(__x86_64__)

// Code in exceptions must leave vectors alone.
#define NO_VECTORS __attribute__((target("general-regs-only")))

// ---- messages -----------------------------------------------------------------------------------

// x86_64.py sees each clflush: at the message it sends it to the tests, after it it waits for one.
static ForeignMessage *const letter = (ForeignMessage *)(FOREIGN_BASE + FOREIGN_RUNNERS);

NO_VECTORS static void flush(const void *at) {
    __asm__ volatile("clflush %0" ::"m"(*(const char *)at) : "memory");
}

NO_VECTORS void runner_send(const ForeignMessage *m) {
    *letter = *m;
    flush(letter);
}

void runner_receive(ForeignMessage *m) {
    flush(letter + 1);
    *m = *letter;
}

// ---- faults of Bochs ----------------------------------------------------------------------------

// Some instructions are wrong on Bochs (docs/testing.md). x86_64.py makes them invalid. Where one
// is met, it becomes a jump to a copy that does the same with other instructions, and jumps back.
enum {
    COPY_BYTES = 256,
    COPIES = 4096,  // in x86_64.py, too
    COPIES_AT = FOREIGN_CODE - COPIES * COPY_BYTES
};
enum { SAVED_BYTES = 64, CONSTANT_BYTES = 64 };  // before the copy's code

typedef struct Copy {
    unsigned char *room, *at;
    const unsigned char *code;
} Copy;

NO_VECTORS static void put(Copy *c, unsigned byte) { *c->at++ = (unsigned char)byte; }

NO_VECTORS static void put_word(Copy *c, int64_t word) {
    for (int i = 0; i < 4; i++) put(c, (unsigned)(word >> 8 * i) & 255);
}

NO_VECTORS static void put_distance(Copy *c, const unsigned char *to) {
    put_word(c, to - (c->at + 4));
}

// The operands of an instruction, which follow its opcode, with this register. Returns the length
// of the instruction up to their end.
NO_VECTORS static uint32_t put_operand(Copy *c, unsigned reg) {
    const unsigned char *from = c->code + 5;
    unsigned mod = from[0] >> 6, rm = from[0] & 7;
    put(c, (from[0] & 0xc7u) | reg << 3);
    if (mod == 0 && rm == 5) {
        int32_t far = (int32_t)((uint32_t)from[1] | (uint32_t)from[2] << 8 |
                                (uint32_t)from[3] << 16 | (uint32_t)from[4] << 24);
        put_distance(c, from + 5 + far);
        return 10;
    }
    uint32_t more = mod == 1 ? 1 : mod == 2 ? 4 : 0;
    if (mod != 3 && rm == 4) more += mod == 0 && (from[1] & 7) == 5 ? 5 : 1;
    for (uint32_t i = 1; i <= more; i++) put(c, from[i]);
    return 6 + more;
}

// vmovdqu64 zmm, [at] where the opcode is 0x6f; vmovdqu64 [at], zmm where it is 0x7f.
NO_VECTORS static void put_move(Copy *c, unsigned opcode, unsigned zmm, const unsigned char *at) {
    put(c, 0x62), put(c, 0xf1), put(c, 0xfe), put(c, 0x48), put(c, opcode), put(c, zmm << 3 | 5);
    put_distance(c, at);
}

NO_VECTORS static unsigned register_of(const unsigned char *code) {
    return (code[5] >> 3 & 7u) | (code[1] & 0x80 ? 0 : 8) | (code[1] & 0x10 ? 0 : 16);
}

// Gathers and scatters with an index in zmm16 … zmm31. The copy has it in zmm0, or in zmm1 where
// zmm0 is the other operand.
NO_VECTORS static bool is_high_index(const unsigned char *code) {
    unsigned kind = code[4] & 0x30;
    return code[0] == 0x62 && (code[1] & 15) == 2 && (code[3] & 8) == 0 &&
           (code[4] & 0xcc) == 0x80 && (kind == 0x10 || kind == 0x20) && (code[5] & 7) == 4;
}

NO_VECTORS static uint32_t put_high_index(Copy *c) {
    const unsigned char *code = c->code;
    unsigned free = register_of(code) == 0;
    put_move(c, 0x7f, free, c->room);
    // vmovdqa64 free, index
    put(c, 0x62), put(c, 0x91 | (code[1] & 0x40) >> 1), put(c, 0xfd), put(c, 0x48);
    put(c, 0x6f), put(c, 0xc0 | free << 3 | (code[6] >> 3 & 7));
    put(c, 0x62), put(c, code[1] | 0x40), put(c, code[2]), put(c, code[3] | 8), put(c, code[4]);
    unsigned char *operand = c->at;
    uint32_t length = put_operand(c, code[5] >> 3 & 7);
    operand[1] = (unsigned char)((operand[1] & 0xc7) | free << 3);
    put_move(c, 0x6f, free, c->room);
    return length;
}

// kshiftlw and kshiftrw by 15. The copy shifts by 14 and by the rest.
NO_VECTORS static bool is_mask_shift(const unsigned char *code) {
    return code[0] == 0xc4 && (code[3] & 0xfd) == 0x30;
}

NO_VECTORS static uint32_t put_mask_shift(Copy *c) {
    const unsigned char *code = c->code;
    unsigned to = code[4] >> 3 & 7, first = code[5] < 14 ? code[5] : 14;
    for (int i = 0; i < 5; i++) put(c, code[i]);
    put(c, first);
    for (int i = 0; i < 4; i++) put(c, code[i]);
    put(c, 0xc0 | to << 3 | to), put(c, code[5] - first);
    return 6;
}

// vpinsrb from memory with EVEX and a distance of 8 bits. The copy has 32 bits.
NO_VECTORS static bool is_insert(const unsigned char *code) {
    return code[0] == 0x62 && (code[1] & 15) == 3 && code[4] == 0x20;
}

NO_VECTORS static uint32_t put_insert(Copy *c) {
    const unsigned char *code = c->code;
    for (int i = 0; i < 5; i++) put(c, code[i]);
    unsigned char *operand = c->at;
    uint32_t length = put_operand(c, code[5] >> 3 & 7);
    if (code[5] >> 6 == 1) {
        *operand ^= 0xc0;
        c->at--;
        put_word(c, (int8_t)*c->at);
    }
    put(c, code[length]);
    return length + 1;
}

// vpsravq. The copy shifts by 63 at most.
NO_VECTORS static bool is_shift(const unsigned char *code) {
    return code[0] == 0x62 && (code[1] & 15) == 2 && code[4] == 0x46;
}

NO_VECTORS static uint32_t put_shift(Copy *c) {
    const unsigned char *code = c->code;
    unsigned to = register_of(code), what = ~(unsigned)(code[2] >> 3) & 15, free = 0;
    if (!(code[3] & 8)) what += 16;
    unsigned by = code[5] < 0xc0
                      ? 32u
                      : (code[5] & 7u) | (code[1] & 0x20 ? 0 : 8) | (code[1] & 0x40 ? 0 : 16);
    while (free == to || free == what || free == by) free++;
    unsigned char *limits = c->room + SAVED_BYTES;
    for (int i = 0; i < CONSTANT_BYTES; i++) limits[i] = i % 8 ? 0 : 63;
    put_move(c, 0x7f, free, c->room);
    put_move(c, 0x6f, free, limits);
    // vpminuq free, free, operand
    put(c, 0x62), put(c, code[1] | 0x90), put(c, 0x85 | (~free & 15) << 3);
    put(c, (code[3] & 0x70) | 8), put(c, 0x3b);
    uint32_t length = put_operand(c, free);
    // vpsravq with `free`
    put(c, 0x62), put(c, code[1] | 0x60), put(c, code[2]), put(c, code[3] & 0xef), put(c, 0x46);
    put(c, 0xc0 | (code[5] & 0x38) | free);
    put_move(c, 0x6f, free, c->room);
    return length;
}

static const struct {
    bool (*is)(const unsigned char *code);
    uint32_t (*copy)(Copy *c);  // returns the length of what is copied
} faults[] = {{is_high_index, put_high_index},
              {is_mask_shift, put_mask_shift},
              {is_insert, put_insert},
              {is_shift, put_shift}};

NO_VECTORS static bool replace(unsigned char *code) {
    static uint32_t count;
    for (uint32_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].is(code)) continue;
        uint64_t room = FOREIGN_BASE + COPIES_AT + COPY_BYTES * (uint64_t)(count++ % COPIES);
        unsigned char *first = (unsigned char *)room + SAVED_BYTES + CONSTANT_BYTES;
        Copy copy = {(unsigned char *)room, first, code};
        uint32_t length = faults[i].copy(&copy);
        put(&copy, 0xe9), put_distance(&copy, code + length);
        copy.at = code;
        put(&copy, 0xe9), put_distance(&copy, first);
        return true;
    }
    return false;
}

// Bochs forgets its translation of what it writes itself.
void runner_forget_code(uint64_t size) {
    const void *from = (const void *)FOREIGN_BASE;
    void *to = (void *)FOREIGN_BASE;
    __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(size)::"memory");
}

// ---- exceptions ---------------------------------------------------------------------------------

// Code uses memory below its stack pointer, so exceptions have a stack of their own.
enum { VECTORS = 32, INVALID = 6, CODE_SELECTOR = 8, OWN_STACK = 0x8e01 };

typedef struct Gate {
    uint16_t low, selector, flags, middle;
    uint32_t high, zero;
} Gate;
static Gate gates[VECTORS];
static void *stack;  // of the code

// One in 16 bytes for each exception: its number, and then all the same.
extern const char entries[VECTORS][16];
__asm__(
    ".balign 16\n"
    "entries:\n"
    ".set vector, 0\n"
    ".rept 32\n"
    "  .balign 16\n"
    "  push $vector\n"
    "  jmp enter\n"
    "  .set vector, vector + 1\n"
    ".endr\n"
    "enter:\n"
    "  push %rax\n  push %rcx\n  push %rdx\n  push %rsi\n  push %rdi\n"
    "  push %r8\n  push %r9\n  push %r10\n  push %r11\n  push %rbp\n"
    "  mov %rsp, %rbp\n"
    "  mov 80(%rbp), %rdi\n"
    "  lea 88(%rbp), %rsi\n"
    "  and $-16, %rsp\n"
    "  cld\n"
    "  call fault\n"
    "  mov %rbp, %rsp\n"
    "  pop %rbp\n  pop %r11\n  pop %r10\n  pop %r9\n  pop %r8\n"
    "  pop %rdi\n  pop %rsi\n  pop %rdx\n  pop %rcx\n  pop %rax\n"
    "  add $8, %rsp\n"
    "  iretq\n");

static void catch_exceptions(void) {
    for (int i = 0; i < VECTORS; i++) {
        uint64_t at = (uint64_t)entries[i];
        gates[i] = (Gate){(uint16_t)at, CODE_SELECTOR, OWN_STACK, (uint16_t)(at >> 16), 0, 0};
    }
    struct __attribute__((packed)) {
        uint16_t limit;
        const Gate *base;
    } table = {sizeof gates - 1, gates};
    __asm__ volatile("lidt %0" ::"m"(table));
}

// Double faults, and those of segments, pages, alignment and control flow, have a code before the
// address.
NO_VECTORS static bool has_code(uint64_t vector) {
    return vector == 8 || (vector >= 10 && vector <= 14) || vector == 17 || vector == 21;
}

NO_VECTORS void fault(uint64_t vector, const uint64_t *frame);
NO_VECTORS void fault(uint64_t vector, const uint64_t *frame) {
    ForeignMessage m;
    unsigned char *code = (unsigned char *)frame[has_code(vector)];
    if (vector == INVALID && replace(code)) return;
    m.word = FOREIGN_FAULT;
    m.a[0] = vector, m.a[1] = (uint64_t)code;
    __asm__ volatile("mov %%cr2, %0" : "=r"(m.a[2]));
    runner_send(&m);
    __asm__ volatile("mov %0, %%rsp\n call runner_serve" ::"r"(stack));
}

_Noreturn void begin(void);
_Noreturn void begin(void) {
    ForeignMessage m;
    stack = (void *)((uint64_t)__builtin_frame_address(0) & ~UINT64_C(15));
    catch_exceptions();
    m.word = FOREIGN_READY;
    runner_send(&m);
    runner_serve();
}

#endif
