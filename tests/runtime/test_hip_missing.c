// The message when HIP finds no device, from what a system shows.
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os/os.h"
#include "runtime/hip/missing.h"

static Arena *arena;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    return 0;
}
static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void says(const HipSystem *system, const char *expected) {
    StrBuf text = strbuf(arena);
    hip_missing_text(system, &text);
    if (!strstr(text.text, expected)) fail_msg("expected '%s' in '%s'", expected, text.text);
}

static void tells_the_way_round(void **state) {
    (void)state;
    says(&(HipSystem){.node = HIP_NODE_ABSENT}, "there is no /dev/kfd: load the kernel driver");
    says(&(HipSystem){.node = HIP_NODE_DENIED}, "usermod -aG render,video $USER");
    says(&(HipSystem){.node = HIP_NODE_OK}, "has no GPU");
    HipSystem s = {.node = HIP_NODE_OK,
                   .cards = {{0x90a, 128, HIP_NODE_OK}, {0x1103, 129, HIP_NODE_OK}},
                   .count = 2};
    says(&s, "the kernel driver has a gfx90a, a gfx1103; HIP_VISIBLE_DEVICES");
    says(&s, "HSA_OVERRIDE_GFX_VERSION=11.0.0 makes it a gfx1100 to ROCm");
    s.cards[1].render = HIP_NODE_ABSENT;
    says(&s, "there is no /dev/dri/renderD129: give it to the container");
    s.cards[1].render = HIP_NODE_DENIED;
    says(&s, "/dev/dri/renderD129 may not be opened: join the groups");
    s.count = 1;
    says(&s, "does not support it");
}

static void knows_overrides(void **state) {
    (void)state;
    static const struct {
        uint32_t number, becomes;
        const char *value;
    } rows[] = {{0x1012, 0x1010, "10.1.0"}, {0x1036, 0x1030, "10.3.0"},
                {0x1102, 0x1100, "11.0.0"}, {0x1151, 0x1150, "11.5.0"},
                {0x1201, 0x1200, "12.0.0"}, {0x1030, 0, NULL},
                {0x90a, 0, NULL},           {0x942, 0, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t becomes = 0;
        const char *value = hip_override(rows[i].number, &becomes);
        assert_int_equal(becomes, rows[i].becomes);
        if (rows[i].value)
            assert_string_equal(value, rows[i].value);
        else
            assert_null(value);
    }
}

static void write_text(const char *path, const char *text) {
    OsError e;
    if (!os_write_file(arena, path, str(text), &e)) fail_msg("%s: %s", path, e.text);
}

// A system of our own: nodes of two cards and of a processor, and a door that may be shut.
static void looks(void **state) {
    (void)state;
    char folder[] = TEST_BINARY_DIR "/kfd-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *node = arena_printf(arena, "%s/kfd", folder);
    static const char *const texts[] = {
        "cpu_cores_count 8\ngfx_target_version 0\n",
        "simd_count 416\ngfx_target_version 90010\nvendor_id 4098\ndrm_render_minor 128\n",
        "gfx_target_version 110003\ndrm_render_minor 129\n",
    };
    const HipPlaces places = {node, folder, folder};
    const char *render = arena_printf(arena, "%s/renderD129", folder);
    assert_int_equal(hip_probe(&places).node, HIP_NODE_ABSENT);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mkdir(arena_printf(arena, "%s/%d", folder, i), 0700), 0);
        write_text(arena_printf(arena, "%s/%d/properties", folder, i), texts[i]);
    }
    write_text(node, "");
    write_text(render, "");
    HipSystem s = hip_probe(&places);
    assert_int_equal(s.node, HIP_NODE_OK);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.cards[0].processor, 0x90a);
    assert_int_equal(s.cards[0].render, HIP_NODE_ABSENT);
    assert_int_equal(s.cards[1].processor, 0x1103);
    assert_int_equal(s.cards[1].render, HIP_NODE_OK);
    if (geteuid() == 0) {
        print_message("a node that is shut: skipped, nothing is shut to root\n");
    } else {
        assert_int_equal(chmod(node, 0), 0);
        assert_int_equal(chmod(folder, 0500), 0);
        assert_int_equal(hip_probe(&places).node, HIP_NODE_DENIED);
        assert_int_equal(chmod(folder, 0700), 0);
    }
    for (int i = 0; i < 3; i++) {
        unlink(arena_printf(arena, "%s/%d/properties", folder, i));
        rmdir(arena_printf(arena, "%s/%d", folder, i));
    }
    unlink(node);
    unlink(render);
    assert_int_equal(rmdir(folder), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {TEST(tells_the_way_round), TEST(knows_overrides),
                                       TEST(looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
