// Script: what one filetest file asks for, read from its comments.
//
//     // RUN: COMMAND              run it; the block that follows is what it must write
//     // OUT:
//     //| a line of output
//     // EXIT: 1                   its exit status; 0 when the line is missing
//     // RUN-PASSES: cse,dce       run passes on the file's module, in this process; the block is
//                                  the module after them (pass_check.h says what else must hold)
//     // RUN-ERRORS: COMMAND       a command that prints diagnostics as JSON; they must be exactly:
//     x = y;   //! error: unknown name 'y' [unknown-name] @5
//     //! error: … [code] @7       alone on its line: meant for the next line of code
//
// Invariants: runs and expectations are in order of the file; lines and columns count from 1.
// A `@-` stands for a diagnostic without a place (line and column 0).
// Ownership: all texts point into the file's text, which must stay.
#ifndef TILEC_TESTS_SUPPORT_SCRIPT_H
#define TILEC_TESTS_SUPPORT_SCRIPT_H

#include <stdbool.h>

#include "base/str.h"
#include "base/vec.h"

typedef enum ScriptKind {
    SCRIPT_OUTPUT,  // RUN
    SCRIPT_ERRORS,  // RUN-ERRORS
    SCRIPT_PASSES,  // RUN-PASSES
} ScriptKind;

typedef struct ScriptRun {
    uint32_t line;
    ScriptKind kind;
    Str command;  // of RUN-PASSES the list of passes
    // The block: where it begins (right after the run's line) and ends in the text; empty if none.
    size_t block_begin, block_end;
    Str expected;  // lines, each ended by '\n'
    int status;
    bool has_block;
    bool has_status;
} ScriptRun;

typedef struct ScriptExpectation {
    uint32_t line, column;
    Str severity, code, fragment;
    bool met;
} ScriptExpectation;

typedef struct ScriptProblem {
    uint32_t line;
    const char *text;
} ScriptProblem;

typedef struct Script {
    VEC(ScriptRun) runs;
    VEC(ScriptExpectation) expectations;
    VEC(ScriptProblem) problems;  // what is wrong with the file as a test
} Script;

// `comment` begins a comment: "//", or "#" in a Python file.
Script script_read(Arena *arena, Str text, Str comment);

#endif
