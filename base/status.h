// Status and TRY: how our functions fail.
//
// A function that can fail for the user's reasons returns bool (true: done) and reports the error
// in a Diags or an OsError; the runtime and the public C API return tilec_status values. TRY is our
// only macro that changes the flow of control.
//
//     static bool parse_all(P *p) { TRY(parse_header(p)); return parse_body(p); }
#ifndef TILEC_BASE_STATUS_H
#define TILEC_BASE_STATUS_H

#define TRY(expression)                  \
    do {                                 \
        if (!(expression)) return false; \
    } while (0)

#endif
