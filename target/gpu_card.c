#include "target/gpu_card.h"

static const GpuCard cards[] = {
    {"T4", "sm_75"},
    {"RTX 2080", "sm_75"},
    {"A100", "sm_80"},
    {"A30", "sm_80"},
    {"A10", "sm_86"},
    {"A40", "sm_86"},
    {"RTX A6000", "sm_86"},
    {"RTX 3090", "sm_86"},
    {"Jetson AGX Orin", "sm_87"},
    {"L4", "sm_89"},
    {"L40S", "sm_89"},
    {"RTX 4090", "sm_89"},
    {"H100", "sm_90a"},
    {"H200", "sm_90a"},
    {"GH200", "sm_90a"},
    {"B200", "sm_100a"},
    {"GB200", "sm_100a"},
    {"B300", "sm_103a"},
    {"GB300", "sm_103a"},
    {"RTX 5090", "sm_120a"},
    {"GB10", "sm_121a"},
    {"DGX Spark", "sm_121a"},
    {"Radeon VII", "gfx906"},
    {"MI50", "gfx906"},
    {"MI60", "gfx906"},
    {"MI100", "gfx908"},
    {"MI210", "gfx90a"},
    {"MI250", "gfx90a"},
    {"MI250X", "gfx90a"},
    {"MI300A", "gfx942"},
    {"MI300X", "gfx942"},
    {"MI325X", "gfx942"},
    {"MI350X", "gfx950"},
    {"MI355X", "gfx950"},
    {"RX 5700 XT", "gfx1010"},
    {"RX 6800 XT", "gfx1030"},
    {"RX 6900 XT", "gfx1030"},
    {"RX 7900 XTX", "gfx1100"},
    {"RX 7800 XT", "gfx1101"},
    {"RX 7600", "gfx1102"},
    {"Ryzen AI Max+ 395", "gfx1151"},
    {"RX 9060 XT", "gfx1200"},
    {"RX 9070 XT", "gfx1201"},
    // Not cards: words that drivers put before the name ("NVIDIA GeForce RTX 4090").
    {"NVIDIA", ""},
    {"GeForce", ""},
    {"Tesla", ""},
    {"AMD", ""},
    {"Instinct", ""},
    {"Radeon", ""},
};
enum { NAMES = sizeof cards / sizeof *cards, MAKERS = 6, CARDS = NAMES - MAKERS };

const GpuCard *gpu_card_at(size_t index) { return index < CARDS ? &cards[index] : NULL; }

static bool is_gap(char c) { return c == ' ' || c == '-' || c == '_'; }

// The next significant character; 0 at the end.
static char next(Str *s) {
    while (s->size) {
        char c = *s->text;
        *s = (Str){s->text + 1, s->size - 1};
        if (!is_gap(c)) return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
    }
    return 0;
}

// The size of memory, the form factor and the like may follow the card's name ("H100 80GB HBM3"),
// but the name must end at a word's end: an L40 is not an L4.
static bool begins_with(Str name, Str card, Str *rest) {
    *rest = name;
    for (char c = next(&card); c; c = next(&card))
        if (next(rest) != c) return false;
    return !rest->size || is_gap(*rest->text);
}

const char *gpu_card_target(Str name) {
    Str rest;
    for (size_t i = 0; i < NAMES; i++) {
        if (!begins_with(name, str(cards[i].name), &rest)) continue;
        if (i < CARDS) return cards[i].target;
        name = rest;
        i = SIZE_MAX;  // start again with the first one
    }
    return NULL;
}
