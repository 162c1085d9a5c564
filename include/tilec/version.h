// The version of tilec. It is written only here; the build reads it from this file.
//
// Semantic: within one major number (within one minor number while major is 0) programs that were
// built with an older library run with a newer one.
#ifndef TILEC_VERSION_H
#define TILEC_VERSION_H

#define TILEC_VERSION_MAJOR 0
#define TILEC_VERSION_MINOR 1
#define TILEC_VERSION_PATCH 0

#define TILEC_VERSION_NUMBER \
    (TILEC_VERSION_MAJOR * 10000 + TILEC_VERSION_MINOR * 100 + TILEC_VERSION_PATCH)
#define TILEC_VERSION_TEXT_(a, b, c) #a "." #b "." #c
#define TILEC_VERSION_TEXT3_(a, b, c) TILEC_VERSION_TEXT_(a, b, c)
#define TILEC_VERSION_TEXT \
    TILEC_VERSION_TEXT3_(TILEC_VERSION_MAJOR, TILEC_VERSION_MINOR, TILEC_VERSION_PATCH)

#endif
