#include "runtime/hip/missing.h"

#include <stdio.h>
#include <string.h>

#include "base/os/os.h"

// ---- The system ----

static uint32_t number_behind(Str text, const char *key) {
    Str rest = text;
    while (rest.size) {
        Str line = str_cut(rest, '\n', &rest), value;
        Str name = str_cut(line, ' ', &value);
        uint64_t number;
        if (str_equal(name, str(key)) && str_to_u64(str_trim(value), &number, NULL) &&
            number <= UINT32_MAX)
            return (uint32_t)number;
    }
    return 0;
}

// The kernel writes gfx90a as 90010: the last two parts take two decimal digits each.
static uint32_t processor_of(uint32_t version) {
    uint32_t major = version / 10000, minor = version / 100 % 100, step = version % 100;
    return minor < 16 && step < 16 && major < 100
               ? (major / 10 * 16 + major % 10) << 8 | minor << 4 | step
               : 0;
}

static HipNode probe_node(Arena *arena, const char *path) {
    OsError error;
    if (!os_path_exists(path)) return HIP_NODE_ABSENT;
    return os_path_writable(arena, path, &error) ? HIP_NODE_OK : HIP_NODE_DENIED;
}

// CPUs of the machine are nodes, too; their version is 0.
static void add_card(Arena *arena, const HipPlaces *places, Str properties, HipSystem *s) {
    HipCard card = {.processor = processor_of(number_behind(properties, "gfx_target_version")),
                    .minor = number_behind(properties, "drm_render_minor"),
                    .render = HIP_NODE_OK};
    if (!card.processor) return;
    if (card.minor)
        card.render =
            probe_node(arena, arena_printf(arena, "%s/renderD%u", places->renders, card.minor));
    s->cards[s->count++] = card;
}

static void find_cards(Arena *arena, const HipPlaces *places, HipSystem *s) {
    enum { NODES = 64, SIZE = 1 << 16 };
    for (int i = 0; i < NODES && s->count < HIP_CARDS; i++) {
        Str text;
        OsError error;
        const char *path = arena_printf(arena, "%s/%d/properties", places->topology, i);
        if (os_read_file(arena, path, SIZE, &text, &error)) add_card(arena, places, text, s);
    }
}

HipSystem hip_probe(const HipPlaces *places) {
    Arena *arena = arena_create();
    HipSystem s = {.node = probe_node(arena, places->node)};
    find_cards(arena, places, &s);
    arena_destroy(arena);
    return s;
}

// ---- Words ----

// Processors of one line all run the code of the first one, for which ROCm's libraries have code.
const char *hip_override(uint32_t number, uint32_t *becomes) {
    static const struct {
        uint32_t line, first;
        const char *value;
    } rows[] = {
        {0x101, 0x1010, "10.1.0"}, {0x103, 0x1030, "10.3.0"}, {0x110, 0x1100, "11.0.0"},
        {0x115, 0x1150, "11.5.0"}, {0x120, 0x1200, "12.0.0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].line != number >> 4 || rows[i].first == number) continue;
        *becomes = rows[i].first;
        return rows[i].value;
    }
    return NULL;
}

static void add_unsupported(const HipSystem *s, StrBuf *out) {
    strbuf_printf(out, "the kernel driver has a gfx%x", s->cards[0].processor);
    for (uint32_t i = 1; i < s->count; i++) strbuf_printf(out, ", a gfx%x", s->cards[i].processor);
    strbuf_add(out, STR("; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide it, or this ROCm "
                        "does not support it"));
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t becomes;
        const char *value = hip_override(s->cards[i].processor, &becomes);
        if (!value) continue;
        strbuf_printf(out, ": HSA_OVERRIDE_GFX_VERSION=%s makes it a gfx%x to ROCm", value,
                      becomes);
        return;
    }
}

static void add_denied(const char *path, StrBuf *out) {
    strbuf_printf(out,
                  "%s may not be opened: join the groups that may (sudo usermod -aG render,video "
                  "$USER) and log in again",
                  path);
}

// Checks the render nodes of the cards. True: one cannot be opened, and the reason was added.
static bool add_renders(const HipSystem *s, StrBuf *out) {
    for (uint32_t i = 0; i < s->count; i++) {
        char path[48];
        snprintf(path, sizeof path, "/dev/dri/renderD%u", s->cards[i].minor);
        switch (s->cards[i].render) {
        case HIP_NODE_ABSENT:
            strbuf_printf(out, "there is no %s: give it to the container (--device /dev/dri)",
                          path);
            return true;
        case HIP_NODE_DENIED: add_denied(path, out); return true;
        case HIP_NODE_OK: break;
        }
    }
    return false;
}

void hip_missing_text(const HipSystem *s, StrBuf *out) {
    switch (s->node) {
    case HIP_NODE_ABSENT:
        strbuf_add(out, STR("there is no /dev/kfd: load the kernel driver (modprobe amdgpu), or "
                            "give it to the container (--device /dev/kfd --device /dev/dri)"));
        return;
    case HIP_NODE_DENIED: add_denied("/dev/kfd", out); return;
    case HIP_NODE_OK: break;
    }
    if (add_renders(s, out)) return;
    if (s->count)
        add_unsupported(s, out);
    else
        strbuf_add(out, STR("the kernel driver is loaded but has no GPU"));
}
