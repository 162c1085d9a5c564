#include "base/unpack.h"

#include <lzma.h>
#include <stdint.h>
#include <string.h>

// The .lzma ("alone") decoder needs the smallest part of liblzma. A .lzma file is raw LZMA after
// this header: settings, the window, a size. The size here is the value for "not known"; the data
// then marks its own end.
enum { HEADER_SIZE = 13 };
// No distance in the data is larger than the data, so that a window for `size` bytes is enough.
static void put_header(uint8_t header[HEADER_SIZE], size_t size) {
    uint32_t window = size < UNPACK_WINDOW ? (uint32_t)size : (uint32_t)UNPACK_WINDOW;
    header[0] = (UNPACK_PB * 5 + UNPACK_LP) * 9 + UNPACK_LC;
    for (int i = 0; i < 4; i++) header[1 + i] = (uint8_t)(window >> 8 * i);
    memset(header + 5, 0xff, 8);
}

static lzma_ret begin(lzma_stream *stream, size_t size) {
    uint8_t header[HEADER_SIZE], none;
    put_header(header, size);
    lzma_ret ret = lzma_alone_decoder(stream, UINT64_MAX);
    stream->next_in = header;
    stream->avail_in = sizeof header;
    stream->next_out = &none;  // without output room it would not even read the header
    stream->avail_out = 1;
    return ret == LZMA_OK ? lzma_code(stream, LZMA_RUN) : ret;
}

UnpackResult unpack(Str packed, void *bytes, size_t size) {
    lzma_stream stream = LZMA_STREAM_INIT;
    lzma_ret ret = begin(&stream, size);
    stream.next_in = (const uint8_t *)packed.text;
    stream.avail_in = packed.size;
    stream.next_out = bytes;
    stream.avail_out = size;
    // The second call in a row without progress is LZMA_BUF_ERROR.
    while (ret == LZMA_OK && stream.avail_out) ret = lzma_code(&stream, LZMA_FINISH);
    // The end marker may still follow. A byte beyond `size` is written here and detected.
    uint8_t more;
    stream.next_out = &more;
    stream.avail_out = 1;
    while (ret == LZMA_OK) ret = lzma_code(&stream, LZMA_FINISH);
    bool whole = ret == LZMA_STREAM_END && !stream.avail_in && stream.total_out == size;
    lzma_end(&stream);
    if (ret == LZMA_MEM_ERROR) return UNPACK_NO_MEMORY;
    return whole ? UNPACK_OK : UNPACK_DAMAGED;
}
