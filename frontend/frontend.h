// Front ends: source files to tile IR.
//
// Purpose: the only interface between sources and the compiler. A front end is a constant table of
// functions (Frontend), and frontend.c lists all of them; the suffix of a file selects the one that
// reads it. Everything above this room knows a kernel by its description (FrontKernel), never by a
// syntax tree. Invariants: load reports every error of text, grammar and names in one run;
// elaborate reports every error of one kernel and yields no IR then. Neither crashes on any input.
// Kernels with errors have descriptions, too, as far as they could be read. Ownership: everything
// is allocated in the arena of the FrontInput, IR in that of its module.
//
//     FrontInput in = {.arena = arena, .sources = sources, .names = names};
//     FrontFile *f = frontend_load(&in, file, diags);
//     const FrontKernel *k = frontend_find(f, STR("softmax"));
//     IrFunc *func = frontend_elaborate(f, module, k, &(FrontSpec){…}, diags);
#ifndef TILEC_FRONTEND_FRONTEND_H
#define TILEC_FRONTEND_FRONTEND_H

#include "base/diag.h"
#include "base/map.h"
#include "ir/ir.h"

typedef struct Frontend Frontend;

// The most bytes of a name. Names become parts of symbols, of which PTX takes 1024 characters, of
// files and of messages.
enum { FRONT_NAME_MAX = 255 };

// Returns the file that `path` (already made relative to the importing file) names, or NULL after
// reporting why not. The caller of load decides how files are read.
typedef const SourceFile *(*FrontImport)(void *user, Str path, Span span, Diags *diags);

typedef struct FrontInput {
    Arena *arena;
    Sources *sources;
    Interner *names;
    FrontImport import;  // NULL: the text does not come from a file, so it cannot import
    void *user;          // passed to `import`
    bool any_name;       // the source's name is only a label: any suffix is accepted
} FrontInput;

// ---- What a front end says of a kernel

typedef enum FrontParamKind {
    FRONT_TYPE,   // an element type, part of the specialisation
    FRONT_CONST,  // a compile-time integer, part of the specialisation
    FRONT_SCALAR,
    FRONT_POINTER,
    FRONT_VIEW,
} FrontParamKind;

typedef struct FrontParam {
    FrontParamKind kind;
    Symbol name;
    Span span;  // of the name
    const struct FrontParam *next;
    Dtype dtype;            // the element type of an argument, if type_param is NULL
    Symbol type_param;      // the type parameter that gives the element type
    bool has_default;       // for a const
    bool at_launch;         // for a const: its value follows from the arguments of each launch
    bool strided;           // for a view
    uint32_t rank;          // for a view
    const Symbol *extents;  // for a view, one for each dimension: its name, or NULL for a fixed one
} FrontParam;

typedef struct FrontExtent {
    Symbol name;
    const struct FrontExtent *next;
} FrontExtent;

typedef struct FrontKernel {
    Symbol name;
    Span span;  // of the name
    const SourceFile *file;
    const struct FrontFile *in;  // the file that it belongs to
    const FrontParam *params;    // in source order
    const FrontExtent *extents;  // the named ones, in order of first mention
    const void *own;             // for the front end only
} FrontKernel;

typedef struct FrontFile {
    const Frontend *frontend;
    size_t kernel_count;
    const FrontKernel *kernels;  // those of the file itself, in source order
    void *own;                   // for the front end only
} FrontFile;

// ---- What a kernel is specialised to

// A const that is not given takes the first value of the tune space for `target`, then its default.
typedef struct FrontSpec {
    VEC(IrBinding) bindings;  // types, consts and options (ir/options.def)
    Str target;               // selects the tune space; empty: none
    unsigned math;            // added to the flags of the kernel
    Map fixed_extents;        // Symbol → value: extents that are compiled as constants (facts)
} FrontSpec;

// The binding of a grid that the caller gives, as text: up to three expressions.
#define FRONT_GRID "grid"

// An argument of a launch, as far as a specialisation may depend on it.
typedef enum FrontArgKind {
    FRONT_ARG_OTHER,  // memory
    FRONT_ARG_INT,
    FRONT_ARG_HUGE,  // a u64 beyond the range of i64
    FRONT_ARG_REAL,
    FRONT_ARG_NONE,  // Python's None
} FrontArgKind;
typedef struct FrontArg {
    FrontArgKind kind;
    Dtype type;  // of elements; DTYPES where it is unknown
    int64_t integer;
    double real;
} FrontArg;

// The binding of this name, or NULL.
const IrBinding *frontend_spec_find(const FrontSpec *spec, Symbol name);
// The element type of this name in the language ("f32", "fp32"); false if there is none.
bool frontend_type_name(const Frontend *frontend, Str name, Dtype *type);
// The type of a tensor descriptor, which takes a view: "tensordesc<fp16[128, 64]>", of an array in
// row-major order, or "tensordesc<strided fp16[128, 64]>". False: it is another text.
typedef struct FrontDescriptor {
    Dtype type;
    bool strided;
    Str block;  // "128, 64"
} FrontDescriptor;
bool frontend_descriptor(const Frontend *frontend, Str text, FrontDescriptor *descriptor);
// Is this the name of a compilation option, which `tune` and callers set without a parameter of
// that name?
bool frontend_is_option(Symbol name);

// A name of the tune space and its candidate values.
typedef struct FrontTune {
    Symbol name;
    uint32_t count;
    const int64_t *values;
    bool joint;  // the i-th values of all names belong together; then all have as many
} FrontTune;

// ---- A front end

struct Frontend {
    const char *language;   // "Tile"
    const char *suffix;     // ".tile"
    const char *is_kernel;  // what a kernel is, for files that have none
    bool texts;             // consts and the grid (FRONT_GRID) take expressions of the language
    // Never returns NULL; errors are in the diagnostics.
    FrontFile *(*load)(const FrontInput *in, const SourceFile *file, Diags *diags);
    bool (*check)(FrontFile *file, Diags *diags);
    bool (*check_open)(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                       Diags *diags);
    bool (*specialize)(Arena *arena, const FrontKernel *kernel, const FrontArg *args, size_t count,
                       FrontSpec *spec, Diags *diags);
    IrFunc *(*elaborate)(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                         const FrontSpec *spec, Diags *diags);
    size_t (*tune_space)(FrontFile *file, const FrontKernel *kernel, Str target,
                         const FrontTune **space);
    Str (*canonical_text)(const FrontKernel *kernel, Arena *arena);
    bool (*type_name)(Str name, Dtype *type);  // NULL: only the names of base/dtype.def
    size_t (*doc)(const FrontFile *file, const FrontKernel *kernel, Arena *arena,
                  const Str **lines);
};

// The fact that a scalar's value gives a specialisation: 1 if it is 1, 16 if it is a multiple.
static inline int64_t front_scalar_fact(int64_t value) {
    return value == 1 ? 1 : value % 16 == 0 ? 16 : 0;
}

// Is the parameter's element type bound by its own name, like a type parameter?
static inline bool front_own_type(const FrontParam *p) {
    return p->type_param && p->type_param == p->name;
}

static inline bool front_is_descriptor(const IrBinding *given) {
    return given && given->is_type && given->text;
}
// Does the parameter take a pointer? Its use in the kernel says so, or the type that it is given.
static inline bool front_is_pointer(const FrontParam *p, const IrBinding *given) {
    if (front_is_descriptor(given)) return false;
    if (given && (given->pointer || given->number)) return given->pointer;
    return p->kind == FRONT_POINTER;
}
// May a pointer be given for the parameter?
static inline bool front_may_be_pointer(const FrontParam *p) {
    return p->kind == FRONT_POINTER ||
           (p->kind == FRONT_SCALAR && front_own_type(p) && p->dtype == DTYPES);
}

// The front end for files with this name's suffix; NULL when there is none. A name without a suffix
// (a pipe, standard input) gets the first one.
const Frontend *frontend_of(Str path);

// Returns NULL after reporting that no front end reads this file.
FrontFile *frontend_load(const FrontInput *in, const SourceFile *file, Diags *diags);
// The kernel of this name, or NULL.
const FrontKernel *frontend_find(const FrontFile *file, Str name);
// Checks all kernels (all errors reported), with candidates for open types and consts.
bool frontend_check(FrontFile *file, Diags *diags);
// False if no element types make the kernel correct with what is given; some of the errors are then
// reported. This is decided for kernels that leave up to three types open; others can be checked
// only when their types are given.
bool frontend_check_open(FrontFile *file, const FrontKernel *kernel, const FrontSpec *given,
                         Diags *diags);
// Binds what the spec leaves open and the arguments determine: types, facts about scalars, consts
// that follow from them. `args[i]` is for the i-th scalar, pointer or view that has no value in the
// spec. False after reporting two that disagree. The new bindings are pushed in `arena`, like the
// spec's own.
bool frontend_specialize(FrontFile *file, Arena *arena, const FrontKernel *kernel,
                         const FrontArg *args, size_t count, FrontSpec *spec, Diags *diags);
// Tile IR of one specialisation; NULL after reporting errors.
IrFunc *frontend_elaborate(FrontFile *file, IrModule *module, const FrontKernel *kernel,
                           const FrontSpec *spec, Diags *diags);
// The tune space of a kernel for a target, the most specific candidates first.
size_t frontend_tune_space(FrontFile *file, const FrontKernel *kernel, Str target,
                           const FrontTune **space);
// The kernel's text and that of all it uses, without comments, blanks and tune spaces: equal texts
// mean equal kernels.
Str frontend_canonical_text(const FrontKernel *kernel, Arena *arena);
// The comment that documents a kernel, line by line, without its marks.
size_t frontend_doc(const FrontFile *file, const FrontKernel *kernel, Arena *arena,
                    const Str **lines);

#endif
