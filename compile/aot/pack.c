#include "compile/aot/pack.h"

#include <lzma.h>
#include <stdint.h>

#include "base/os/os.h"
#include "base/recover.h"
#include "base/unpack.h"

// Packs like `xz -9e`, but with a smaller window. The encoder takes 11 times the window in memory,
// and a window larger than the data gains nothing. The decoder's window may be larger.
static lzma_options_lzma options_for(size_t size) {
    lzma_options_lzma options;
    bool unknown = lzma_lzma_preset(&options, 9 | LZMA_PRESET_EXTREME);
    CHECK(!unknown, "liblzma does not have the preset 9e");
    options.lc = UNPACK_LC;
    options.lp = UNPACK_LP;
    options.pb = UNPACK_PB;
    options.dict_size = size < UNPACK_WINDOW ? (uint32_t)size : UNPACK_WINDOW;
    if (options.dict_size < LZMA_DICT_SIZE_MIN) options.dict_size = LZMA_DICT_SIZE_MIN;
    return options;
}

static lzma_ret encode(Str bytes, uint8_t *to, size_t *size, size_t room) {
    lzma_options_lzma options = options_for(bytes.size);
    lzma_filter chain[] = {{LZMA_FILTER_LZMA1, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    *size = 0;
    return lzma_raw_buffer_encode(chain, NULL, (const uint8_t *)bytes.text, bytes.size, to, size,
                                  room);
}

Str pack(Arena *arena, Str bytes) {
    // Code packs to less than half its size; for other data the packed size is not known in
    // advance.
    for (size_t room = bytes.size / 2 + 64;; room *= 2) {
        size_t size;
        uint8_t *to = recover_new(room);
        lzma_ret ret = encode(bytes, to, &size, room);
        if (ret == LZMA_MEM_ERROR) os_out_of_memory();  // liblzma has released its own memory
        CHECK(ret == LZMA_OK || ret == LZMA_BUF_ERROR, "liblzma says %d", (int)ret);
        const char *packed = ret == LZMA_OK ? arena_copy(arena, to, size) : NULL;
        recover_free(to);
        if (packed) return (Str){packed, size};
    }
}
