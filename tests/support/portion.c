#include "tests/support/portion.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os/os.h"

Portion portion(void) {
    const char *text = os_env("TILEC_TEST_PORTION");
    if (!text || !*text) return (Portion){0, 1};
    unsigned long long which, count;
    char more;
    if (sscanf(text, "%llu/%llu%c", &which, &count, &more) == 2 && which && which <= count)
        return (Portion){which - 1, count};
    fprintf(stderr, "TILEC_TEST_PORTION=%s: expected a portion such as 3/10\n", text);
    exit(2);
}
