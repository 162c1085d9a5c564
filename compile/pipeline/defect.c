#include "compile/pipeline/defect.h"

#include <stdio.h>

#include "base/os/os_folder.h"
#include "ir/text/text.h"

const char *defect_write(const Defect *defect) {
    char target[CODE_TARGET_NAME_MAX];
    StrBuf text = strbuf(defect->arena);
    strbuf_printf(&text, "// tilec failed on this input while it %s.\n",
                  defect->before.size ? "lowered it" : "generated code for it");
    strbuf_printf(&text, "// Target: %s, entry: %.*s, facts: 0x%x\n",
                  code_target_name(defect->target, target), STR_ARG(defect->entry), defect->facts);
    if (defect->before.size)
        strbuf_add(&text, defect->before);
    else
        ir_print_module(defect->func->module, &text);
    OsError e;
    return os_keep_temporary(defect->arena, "tilec-defect-", ".tir", strbuf_str(&text), &e);
}

void defect_report(void *defect) {
    Defect own = *(const Defect *)defect;
    own.arena = arena_create();  // several threads may make code of one function
    const char *file = defect_write(&own);
    if (file)
        fprintf(stderr, "tilec: its input is saved in %s; please report this with that file\n",
                file);
    else
        fputs("tilec: its input could not be saved in a file\n", stderr);
    arena_destroy(own.arena);
}

static void on_defect(OsWork *work) { defect_report(work); }

void defect_begin(Defect *defect) {
    StrBuf text = strbuf(defect->arena);
    ir_print_module(defect->func->module, &text);
    defect->before = strbuf_str(&text);
    defect->work.on_defect = on_defect;
    os_work_begin(&defect->work);
}

void defect_end(Defect *defect) {
    os_work_end(&defect->work);
    defect->before = (Str){0};
}
