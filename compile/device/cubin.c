#include "compile/device/cubin.h"

#include <string.h>

#include "base/os/os_child.h"
#include "base/os/os_mutex.h"
#include "base/recover.h"
#include "compile/device/nvjitlink.h"
#include "target/gpu.h"

enum { TOOLS = 16, SECONDS = 600, VERSION_SECONDS = 20 };
#define INSTALL                                                                             \
    "install NVIDIA's toolkit (Debian, Ubuntu: apt-get install nvidia-cuda-toolkit; conda " \
    "install -c nvidia cuda-nvcc), or name the program in TILEC_PTXAS"

typedef struct Tool {
    const char *path;          // of the program ptxas; NULL for the library
    const NvJitLink *library;  // or NULL
    uint32_t release;          // of CUDA: 1208
    const char *version;       // "12.8.93"
} Tool;

struct CubinMaker {
    PtxBy by;
    OsMutex *lock;  // protects all members below
    Arena *arena;
    bool searched;
    Tool tools[TOOLS];
    size_t count;
    StrBuf tried;  // one line for each place without a usable tool
};

bool ptx_by_parse(Str text, PtxBy *by) {
    static const char *const names[] = {"driver", "auto", "ptxas", "nvjitlink"};
    for (int i = 0; i < 4; i++) {
        if (!str_equal(text, str(names[i]))) continue;
        *by = (PtxBy)i;
        return true;
    }
    return false;
}

bool ptx_by_environment(Arena *arena, PtxBy *by, Str *problem) {
    const char *wanted = os_env("TILEC_PTX_COMPILER");
    *by = PTX_BY_DRIVER;
    if (!wanted || !wanted[0] || ptx_by_parse(str(wanted), by)) return true;
    *problem = str(arena_printf(arena,
                                "TILEC_PTX_COMPILER is '%s', expected one of " PTX_BY_TEXT
                                " (TILEC_PTXAS names the program ptxas)",
                                wanted));
    return false;
}

CubinMaker *cubin_maker_create(PtxBy by) {
    CubinMaker *m = recover_new(sizeof *m);
    m->by = by;
    m->lock = os_mutex_create();
    m->arena = arena_create();
    m->tried = strbuf(m->arena);
    return m;
}

void cubin_maker_destroy(CubinMaker *maker) {
    if (!maker) return;
    for (size_t i = 0; i < maker->count; i++) nvjitlink_close(maker->tools[i].library);
    os_mutex_destroy(maker->lock);
    arena_destroy(maker->arena);
    recover_free(maker);
}

// ---- What a text is of ----

// The text after ".target " or ".version " at the beginning of a line.
static Str directive(Str ptx, const char *name) {
    while (ptx.size) {
        Str line = str_trim(str_cut(ptx, '\n', &ptx)), rest;
        if (!str_starts(line, str(name))) continue;
        rest = (Str){line.text + strlen(name), line.size - strlen(name)};
        rest = str_trim(rest);
        return str_trim(str_cut(rest, ',', &rest));
    }
    return STR("");
}

// "8.3": 803; 0 if the text is not a version.
static uint32_t version_of(Str text) {
    uint64_t major = 0, minor = 0;
    Str rest;
    Str first = str_cut(text, '.', &rest);
    Str second = str_cut(rest, '.', &rest);
    bool overflow = false;
    if (!str_to_u64(first, &major, &overflow) || !str_to_u64(second, &minor, &overflow)) return 0;
    return major < 1000 && minor < 100 ? (uint32_t)(major * 100 + minor) : 0;
}

// The newest PTX version that a release of CUDA knows; a release newer than this table knows all. A
// version of PTX knows all architectures of its time, so nothing else needs to be checked.
static uint32_t newest_ptx(uint32_t release) {
    static const uint32_t rows[][2] = {
        {1000, 603}, {1001, 604}, {1002, 605}, {1100, 700}, {1101, 701}, {1102, 702},
        {1103, 703}, {1104, 704}, {1105, 705}, {1106, 706}, {1107, 707}, {1108, 708},
        {1200, 800}, {1201, 801}, {1202, 802}, {1203, 803}, {1204, 804}, {1205, 805},
        {1206, 805}, {1207, 806}, {1208, 807}, {1209, 808}, {1300, 900}, {1301, GPU_PTX_NEWEST}};
    uint32_t found = 0;
    size_t count = sizeof rows / sizeof *rows;
    if (release > rows[count - 1][0]) return UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        if (rows[i][0] <= release) found = rows[i][1];
    return found;
}

// ---- Looking for tools; the lock is held ----

static void note_tried(CubinMaker *m, const char *path, const char *why) {
    strbuf_printf(&m->tried, "%s: %s\n", path, why);
}

static void add_tool(CubinMaker *m, Tool tool) {
    if (m->count < TOOLS) m->tools[m->count++] = tool;
}

// "… release 13.0, V13.0.88": the text after the V.
static Str read_version(Str text) {
    static const char mark[] = ", V";
    for (size_t i = 0; i + sizeof mark <= text.size; i++) {
        if (memcmp(text.text + i, mark, sizeof mark - 1) != 0) continue;
        Str rest = {text.text + i + sizeof mark - 1, text.size - i - sizeof mark + 1};
        return str_trim(str_cut(rest, '\n', &rest));
    }
    return STR("");
}

static void try_program(CubinMaker *m, const char *path) {
    const char *argv[] = {path, "--version", NULL};
    OsChildEnd end;
    OsError e;
    for (size_t i = 0; i < m->count; i++)
        if (m->tools[i].path && strcmp(m->tools[i].path, path) == 0) return;
    if (!os_program_exists(path)) {
        note_tried(m, path, "no such program");
        return;
    }
    if (!os_program_run(m->arena, argv, STR(""), VERSION_SECONDS, &end, &e)) {
        note_tried(m, path, e.text);
        return;
    }
    Str version = read_version(end.output);
    uint32_t release = version_of(version);
    if (!release)
        note_tried(m, path, "it does not say its version");
    else
        add_tool(m, (Tool){.path = path,
                           .release = release,
                           .version = arena_text(m->arena, version.text, version.size)});
}

static const char *cuda_home(void) {
    const char *home = os_env("CUDA_HOME");
    return home && home[0] ? home : NULL;
}

static void find_programs(CubinMaker *m) {
    const char *named = os_env("TILEC_PTXAS"), *home = cuda_home();
    if (named && named[0]) {
        try_program(m, arena_text(m->arena, named, strlen(named)));
        return;
    }
    if (home) try_program(m, arena_printf(m->arena, "%s/bin/ptxas", home));
    Str found = os_program_find(m->arena, "ptxas");
    if (found.size)
        try_program(m, found.text);
    else
        note_tried(m, "ptxas", "in no folder of PATH");
    try_program(m, "/usr/local/cuda/bin/ptxas");
}

static bool try_library(CubinMaker *m, const char *path) {
    OsError e;
    Tool tool = {.library = nvjitlink_open(path, &e)};
    if (!tool.library) {
        note_tried(m, path, e.text);
        return false;
    }
    uint32_t major, minor;
    nvjitlink_version(tool.library, &major, &minor);
    tool.release = major * 100 + minor;
    tool.version = arena_printf(m->arena, "%u.%u", major, minor);
    add_tool(m, tool);
    return true;
}

static void find_libraries(CubinMaker *m) {
    static const char *const names[] = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                                        "/usr/local/cuda/lib64/libnvJitLink.so"};
    const char *named = os_env("TILEC_NVJITLINK"), *home = cuda_home();
    if (named && named[0]) {
        try_library(m, named);
        return;
    }
    if (home && try_library(m, arena_printf(m->arena, "%s/lib64/libnvJitLink.so", home))) return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (try_library(m, names[i])) return;
}

static void search_tools(CubinMaker *m) {
    if (m->searched) return;
    m->tried.size = 0;  // an earlier attempt may have run out of memory
    if (m->by == PTX_BY_ANY || m->by == PTX_BY_PTXAS) find_programs(m);
    // The library is mapped only if it is needed.
    if (m->by == PTX_BY_NVJITLINK || (m->by == PTX_BY_ANY && !m->count)) find_libraries(m);
    m->searched = true;
}

static void report_missing(const CubinMaker *m, Str ptx, Diags *diags) {
    Str target = directive(ptx, ".target"), version = directive(ptx, ".version");
    diag_error(diags, (Span){0}, DIAG_UNAVAILABLE,
               "machine code for %.*s needs %s that knows PTX %.*s, and none was found",
               STR_ARG(target),
               m->by == PTX_BY_PTXAS       ? "ptxas"
               : m->by == PTX_BY_NVJITLINK ? "libnvJitLink"
                                           : "ptxas or libnvJitLink",
               STR_ARG(version));
    Str rest = strbuf_str(&m->tried);
    while (rest.size) {
        Str line = str_cut(rest, '\n', &rest);
        diag_note(diags, (Span){0}, "%.*s", STR_ARG(line));
    }
    for (size_t i = 0; i < m->count; i++)
        diag_note(diags, (Span){0}, "%s: of CUDA %s, which is older",
                  m->tools[i].path ? m->tools[i].path : "libnvJitLink", m->tools[i].version);
    diag_help(diags, "%s", INSTALL);
}

static const Tool *choose(CubinMaker *m, Str ptx, Diags *diags) {
    uint32_t version = version_of(directive(ptx, ".version"));
    const Tool *found = NULL;
    os_mutex_lock(m->lock);
    search_tools(m);
    for (size_t i = 0; i < m->count && !found; i++)
        if (newest_ptx(m->tools[i].release) >= version) found = &m->tools[i];
    if (!found && diags) report_missing(m, ptx, diags);
    os_mutex_unlock(m->lock);
    return found;
}

Str cubin_tool(CubinMaker *maker, Arena *arena, Str ptx, Diags *diags) {
    const Tool *tool = choose(maker, ptx, diags);
    if (!tool) return STR("");
    return str(arena_printf(arena, "%s %s", tool->path ? "ptxas" : "nvjitlink", tool->version));
}

// ---- Making it ----

// For PTX without line numbers the tools would add lines of the PTX itself, with its whole text.
bool cubin_has_lines(Str ptx) {
    static const char mark[] = "\n\t.loc";
    for (size_t i = 0; i + sizeof mark <= ptx.size; i++)
        if (memcmp(ptx.text + i, mark, sizeof mark - 1) == 0) return true;
    return false;
}

static bool run_program(const Tool *tool, Arena *arena, const char *arch, Str ptx, Str *bytes,
                        Str *log, Diags *diags) {
    const char *argv[] = {tool->path, arch, "-v", "-o", "/dev/stdout", "/dev/stdin", NULL, NULL};
    if (cubin_has_lines(ptx)) argv[6] = "-lineinfo";
    OsChildEnd end;
    OsError e;
    if (!os_program_run(arena, argv, ptx, SECONDS, &end, &e)) {
        diag_error(diags, (Span){0}, DIAG_UNAVAILABLE, "%s: %s", tool->path, e.text);
        return false;
    }
    *bytes = end.output;
    *log = end.errors;
    if (end.outcome == OS_CHILD_EXITED && end.number != 127) return true;
    diag_error(diags, (Span){0}, DIAG_UNAVAILABLE, "%s %s%.*s", tool->path,
               end.outcome == OS_CHILD_TIMED_OUT ? "takes too long"
               : end.outcome == OS_CHILD_SIGNAL  ? "was ended by a signal"
                                                 : "",
               STR_ARG(str_trim(end.errors)));
    return false;
}

static bool is_elf(Str bytes) { return str_starts(bytes, STR("\177ELF")); }

// Converts the tool's output to diagnostics. The PTX is added as a source only if a message points
// into it.
static bool read_log(Str log, Sources *sources, Str ptx, Cubin *cubin, Diags *diags) {
    static const char mark[] = ", line ";
    const SourceFile *file = NULL;
    for (size_t i = 0; !file && i + sizeof mark <= log.size; i++)
        if (memcmp(log.text + i, mark, sizeof mark - 1) == 0)
            file = source_add(sources, STR("kernel.ptx"), ptx);
    if (!ptx_log_read(log, file, &cubin->facts, diags)) return false;
    const PtxFacts *f = &cubin->facts;
    if (f->spill_stores || f->spill_loads)
        diag_warning(diags, (Span){0}, DIAG_UNSUPPORTED,
                     "the kernel spills registers: %u bytes of spill stores, %u of spill "
                     "loads; with smaller tiles or more warps a thread needs fewer",
                     f->spill_stores, f->spill_loads);
    return true;
}

bool cubin_make(CubinMaker *maker, Arena *arena, Sources *sources, Str ptx, Cubin *cubin,
                Diags *diags) {
    *cubin = (Cubin){0};
    const Tool *tool = choose(maker, ptx, diags);
    if (!tool) return false;
    Str target = directive(ptx, ".target"), bytes = {0}, log = {0};
    const char *arch = arena_printf(arena, "-arch=%.*s", STR_ARG(target));
    size_t errors = diags_errors(diags);
    bool ran = tool->path ? run_program(tool, arena, arch, ptx, &bytes, &log, diags)
                          : nvjitlink_run(tool->library, arena, arch, ptx, &bytes, &log);
    if (!ran && diags_errors(diags) != errors) return false;
    if (!read_log(log, sources, ptx, cubin, diags)) return false;
    if (is_elf(bytes)) {
        cubin->bytes = bytes;
        return true;
    }
    if (diags_errors(diags) == errors)
        diag_error(diags, (Span){0}, DIAG_UNSUPPORTED, "%s made no machine code from the PTX",
                   tool->path ? tool->path : "libnvJitLink");
    return false;
}
