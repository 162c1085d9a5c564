// Status and TRY: how functions of ours fail.
//
// A function that can fail for the user's reasons returns bool (true: done) and leaves what is
// wrong in a Diags or an OsError; the runtime and the public C API return tilec_status values.
// TRY is the only macro of ours that changes the flow of control.
//
//     static bool parse_all(P *p) { TRY(parse_header(p)); return parse_body(p); }
#ifndef TILEC_BASE_STATUS_H
#define TILEC_BASE_STATUS_H

#define TRY(expression)                  \
    do {                                 \
        if (!(expression)) return false; \
    } while (0)

#endif
