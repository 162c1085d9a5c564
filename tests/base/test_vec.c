// Vec: elements stay while it grows, in place or by moving.
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct Wide {
    int number;
    char rest[37];
} Wide;

static void grows_alone_and_among_others(void **state) {
    (void)state;
    for (int others = 0; others < 2; others++) {
        Arena *a = arena_create();
        VEC(Wide) v = {0};
        for (int i = 0; i < 10000; i++) {
            vec_push(a, &v, ((Wide){.number = i}));
            if (others) (void)arena_alloc(a, 8);
        }
        assert_int_equal(v.count, 10000);
        assert_true(v.capacity >= v.count);
        for (int i = 0; i < 10000; i++) assert_int_equal(v.data[i].number, i);
        arena_destroy(a);
    }
}

static void pops_the_last(void **state) {
    (void)state;
    Arena *a = arena_create();
    VEC(int) v = {0};
    for (int i = 0; i < 20; i++) vec_push(a, &v, i);
    assert_int_equal(vec_last(&v), 19);
    assert_int_equal(vec_pop(&v), 19);
    assert_int_equal(vec_pop(&v), 18);
    vec_push(a, &v, 7);
    assert_int_equal(vec_last(&v), 7);
    assert_int_equal(v.count, 19);
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_alone_and_among_others),
        cmocka_unit_test(pops_the_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
