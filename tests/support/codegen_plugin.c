#include "tests/support/codegen_plugin.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/os/os.h"
#include "base/status.h"
// cmocka wants these first
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

bool codegen_built(void) {
#ifdef TEST_CODEGEN
    return true;
#else
    print_message(
        "skipped: libtilec_llvm was not built: apt-get install llvm-22-dev liblld-22-dev\n");
    return false;
#endif
}

const char *codegen_plugin_path(void) {
    const char *path = os_env("TILEC_TEST_LLVM");
    if (!path || !path[0]) return TEST_BINARY_DIR "/libtilec_llvm.so";
    CHECK(os_path_exists(path), "TILEC_TEST_LLVM=%s: there is no such file", path);
    return path;
}

const CodegenApi *codegen_plugin(void) {
    const char *path = codegen_plugin_path();
    if (!os_path_exists(path)) {
        printf("skipped: %s was not built (LLVM is missing, see the output of cmake)\n", path);
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) fail_msg("%s", dlerror());
    CodegenApiFunction *function = NULL;
    void *symbol = dlsym(library, CODEGEN_API_SYMBOL);
    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    const CodegenApi *api = function();
    assert_int_equal(api->version, CODEGEN_VERSION);
    assert_string_equal(api->build, CODEGEN_BUILD_TEXT);
    return api;
}
