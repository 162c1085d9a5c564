#include "tests/support/slice.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/os.h"

uint64_t slice_number(void) {
    const char *text = os_env("TILEC_TEST_SLICE");
    if (!text || !*text) return 0;
    unsigned long long number;
    char more;
    if (*text != '-' && sscanf(text, "%llu%c", &number, &more) == 1) return number;
    fprintf(stderr, "TILEC_TEST_SLICE=%s: expected a number such as 522\n", text);
    exit(2);
}
