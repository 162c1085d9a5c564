// Inside the Triton front end: the state of one file and of one elaboration, and the functions that
// its files share.
//
// Purpose: one walk over a jit function computes what is known at compile time and emits tile IR
// for the rest; jit functions that it calls are inlined. Invariants: those of
// frontend/common/elab.h; every Elab here is the first member of a TritonElab. A value of kind INT,
// FLOAT or BOOL is a Python number (a constexpr), which takes the type of a tensor that it meets;
// VAL_IR is a tensor; VAL_FN is an Object: anything else that a name can stand for. Ownership: IR
// in the module's arena, objects of a file in its arena, the rest in the elaboration's scratch.
//
//     Val v = tr_expr(e, node);
//     if (v.kind == VAL_POISON) return v;
#ifndef TILEC_FRONTEND_TRITON_ELABORATE_H
#define TILEC_FRONTEND_TRITON_ELABORATE_H

#include "frontend/common/build.h"
#include "frontend/frontend.h"
#include "frontend/triton/syntax/ast.h"
#include "frontend/triton/syntax/parse.h"

// tl.def: which random numbers
enum { TR_RAND, TR_RANDINT, TR_RANDN, TR_RANDINT4X, TR_RAND4X, TR_RANDN4X };

// tl.PropagateNan.NONE and ALL: Triton's numbers
enum { TR_NUMBER_WINS = 0, TR_NAN_WINS = 0xffff };

enum {
    TR_CALL_DEPTH = 64,    // nested calls of jit functions
    TR_WALK_DEPTH = 1000,  // nested nodes, through calls, too
    TR_UNROLL_MAX = 4096,  // iterations of one static_range
    TR_UNROLL_ALL = 65536,
    TR_ARGS = 24,  // parameters of a function of tl.def
};

// ---- objects: what is neither a number nor a tensor

typedef enum ObjectKind {
    OBJECT_NONE,
    OBJECT_MODULE,   // path, module
    OBJECT_TL,       // function `tl` of tl.def
    OBJECT_METHOD,   // function `tl`, whose first argument is *self
    OBJECT_JIT,      // func
    OBJECT_HOST,     // func: a plain Python function
    OBJECT_LAMBDA,   // func, frame
    OBJECT_BLOCK,    // a block pointer or (is_static) a tensor descriptor: type, block, fields
    OBJECT_VIEW,     // a descriptor that the host gives (is_static): type, block, view, is_strided
    OBJECT_FORM,     // in a slot: the slots of a name that stands for several values
    OBJECT_POINTER,  // the type of pointers to `type`
    OBJECT_CONSTEXPR,  // tl.constexpr
    OBJECT_PYTHON,     // a function of Python itself, such as len: path
    OBJECT_DICT,       // fields: a key, its value, …
    OBJECT_CLASS,      // of named tuples: names; fields: defaults, or NONE
    OBJECT_CONFIG,     // triton.Config: fields: a name, its value, …
    OBJECT_LIMITS,     // torch.finfo or iinfo of `type`
    OBJECT_META,       // the argument of a grid's lambda: META["BLOCK"] is a parameter
    OBJECT_RANGE,      // a range to loop over: items are start, stop, step; is_static
    OBJECT_ARGUMENT,   // of a launch, for host code: a tensor with elements of `type`
    OBJECT_UNKNOWN,    // path: something of a module that is not read
} ObjectKind;

typedef struct TlFunction TlFunction;

typedef struct TritonModule TritonModule;

typedef struct Object {
    ObjectKind kind;
    Str path;
    TritonModule *module;  // of a module whose file is read
    const TlFunction *tl;
    const PyFunc *func;
    const Val *self;
    Dtype type;
    Val items[3];
    bool is_static;
    bool pads_nan;  // of a descriptor: elements outside are NaN
    bool is_strided;
    const View *view;
    ObjectKind like;  // of a form: OBJECT_BLOCK, or OBJECT_NONE for a tuple
    Shape block;
    uint32_t count;
    Val *fields;
    const Symbol *names;
    Slot **slots;
} Object;

// ---- files

// A branch of an `if` at the top of a file, in which something is defined.
typedef struct GlobalGuard {
    const Py *node;  // the PY_IF
    bool otherwise;  // its else
    const struct GlobalGuard *outer;
} GlobalGuard;

// A name at the top of a file, evaluated on demand.
typedef struct Global {
    Symbol name;
    const Py *node;  // the PY_DEF, PY_ALIAS or the statement that assigns
    const Py *from;  // of an alias: the PY_FROM, or NULL for PY_IMPORT
    const GlobalGuard *guard;
    bool inner;              // it stands in a function
    struct Global *earlier;  // the definition of the same name before this one
    Val val;
    uint32_t run;       // of the file: in which its evaluation began; 0: it did not
    bool known;         // `val` is its value
    const Diag *wrong;  // why it has no value
} Global;

// A file that was read.
struct TritonModule {
    struct TritonFile *file;
    const SourceFile *source;
    const Py *tree;
    VEC(Global *) globals;
    Map by_name;            // Symbol → Global *, the latest
    Map inner;              // the same of functions that have jit functions in them
    VEC(const Py *) stars;  // from … import *
    const Diag *wrong;      // of a file that is imported: its first error of grammar
};

typedef struct TritonFile {
    Arena *arena;
    Sources *sources;
    Interner *names;
    FrontImport import;  // NULL: nothing is imported
    void *user;
    TritonModule *main;
    VEC(TritonModule *) modules;
    Map by_path;   // Symbol of a path → TritonModule *, or 0: there is no such file
    Map texts;     // Symbol of a text that was given → const Py *
    bool broken;   // the main file has errors of text or grammar
    uint32_t run;  // of elaborations, from 1
} TritonFile;

typedef struct TritonKernel {
    const PyFunc *func;
    // The configurations of @triton.autotune that could be evaluated: all names of any of them, and
    // the values of each.
    uint32_t tune_count;
    const FrontTune *tune;
    const Object *config;  // the first one; NULL: there is none
} TritonKernel;

// ---- configs.c
void tr_configs(TritonFile *file, const PyFunc *func, TritonKernel *kernel);

// ---- an elaboration

typedef struct JitFrame {
    struct JitFrame *caller;
    const PyFunc *func;
    TritonModule *module;  // in which the function stands
    Span call;
    const struct Arguments *args;  // of the call; NULL: the kernel's own frame
    Map slots;                     // Symbol → Slot *: parameters and names that the body assigns
    Map forms;                     // a name and a form → Object *
    Loop *loop;
    Slot active;
    Slot result;
    bool returned;
    bool nested;  // names of the caller are seen, too
    bool host;    // a plain Python function: numbers stay numbers
    Span first_return;
    uint32_t region;
} JitFrame;

// The place of an error.
typedef struct TritonPlace {
    Span kernel;          // the call or place in the kernel's own body
    Span at;              // the error's own
    bool inside;          // in a function that the kernel calls
    bool certain;         // the error does not depend on types and values
    const char *assumed;  // those that it may depend on, as a text; NULL: there are none
} TritonPlace;

// How far an elaboration came that failed. Errors at known places are reported, but do not count.
typedef struct TritonProgress {
    VEC(TritonPlace) known;
    bool stops;  // the first error that counts ends the elaboration
    bool failed;
    uint32_t reached;  // where the last statement of the kernel begins that was reached
    uint32_t ops;      // emitted before that error
    TritonPlace place;
} TritonProgress;

typedef struct TritonElab {
    Elab elab;  // must be the first member
    TritonFile *file;
    const FrontKernel *kernel;
    const FrontSpec *spec;
    JitFrame *frame;       // NULL while a name at the top of a file is evaluated
    TritonModule *module;  // then: of that file
    bool emits;            // IR may be emitted
    bool launch;           // the grid is computed: parameters are scalars of the launch
    int depth, calls, unrolled;
    TritonProgress *progress;
    JitFrame *meta;  // the parameters that META["NAME"] names
    bool certain;    // what is reported next does not depend on types and values
    bool stopped;    // the rest is not elaborated
    uint32_t reached;
    int stars;  // nested `from … import *` that are being searched
} TritonElab;

static inline TritonElab *triton_of(Elab *e) { return (TritonElab *)e; }

// ---- elaborate.c
void tr_begin(TritonElab *t, TritonFile *file, IrModule *module, Diags *diags, Arena *scratch);
// `progress` may be NULL.
IrFunc *tr_kernel(TritonFile *file, IrModule *module, const FrontKernel *kernel,
                  const FrontSpec *spec, Diags *diags, TritonProgress *progress);
// The value that the spec, an autotune configuration or the default gives; false: there is none.
bool tr_config_value(Elab *e, Symbol name, Val *value);
// The value of a constexpr, if one is given, tuned or the default.
bool tr_known_constexpr(Elab *e, const PyParam *p, Val *value);
// An error that no other types and values of parameters would avoid.
Val tr_certain(Elab *e, Span span, DiagCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// The value of a text that was given for a name.
Val tr_text_value(Elab *e, Symbol text, Span span);

// ---- object.c
Val tr_object(Elab *e, Object object);
Val tr_none(void);
const Object *tr_object_of(Val v);  // NULL: it is another kind of value
bool tr_is_none(Val v);
bool tr_is(Val v, ObjectKind kind);
const char *tr_own_text(Elab *e, Val v);  // NULL: Python has no words of its own for it
static inline const char *tr_text(Elab *e, Val v) { return el_val_text(e, v); }
Str tr_str(Elab *e, Val v);  // what Python makes of a value known at compile time as a string
const char *tr_type_name(Dtype t);     // "fp32", "int1"
const char *tr_tl_type_name(Dtype t);  // "float32"
bool tr_type_named(Str name, Dtype *t);

// ---- composite.c: slots whose value may be a tuple or a block pointer
void tr_set_slot(Elab *e, Slot *slot, Val v);
Val tr_slot_value(Elab *e, const Slot *slot);
// The slot and all slots of its parts.
uint32_t tr_slot_count(const Slot *slot);
uint32_t tr_slot_list(Slot *slot, Slot **out);

// ---- module.c: files and their names
TritonModule *tr_module_add(TritonFile *file, const SourceFile *source, const Py *tree);
TritonModule *tr_module_of(const TritonFile *file, const PyFunc *func);
TritonModule *tr_module(const Elab *e);  // the current one
// The latest definition, without regard to conditions; NULL: there is none.
Global *tr_find_global(const TritonModule *module, Symbol name);
// The module that an import of `from` names: "a.b", with `dots` before it; NULL: no file has that
// name.
TritonModule *tr_import(TritonFile *file, const TritonModule *from, Str dotted, unsigned dots);
// The function that a name stands for, here or in the file that it is imported from; NULL: another
// thing. *module: where it is defined.
const PyFunc *tr_find_func(const TritonModule *from, Symbol name, const TritonModule **module);
// "triton.language.load" for an expression of names and attributes; empty for other expressions.
Str tr_path_of(const TritonModule *module, const Py *node, Arena *arena);
Str tr_last_name(const Py *node);  // of a name or an attribute
bool tr_is_jit(const TritonModule *module, const PyFunc *func);

// ---- missing.c
// Reports a name of triton.language that is not there, or not supported.
Val tr_no_function(Elab *e, Str path, Span span);
// Reports a name that a file does not define.
Val tr_not_defined(Elab *e, const TritonModule *module, Str name, Span span);
bool tr_is_builtin(Str name);  // Is it a function of Python that kernels cannot use?
// Reports the use of something that stands in no file that is read.
Val tr_not_read(Elab *e, const Object *o, Span span);
// The parameter of the signature whose name is nearest to this one; empty: all are far away.
Str tr_nearest_param(Elab *e, const char *signature, Str name);

// ---- scope.c: values of names and attributes
Val tr_global(Elab *e, Symbol name, Span span, bool *found);
Val tr_attribute(Elab *e, Val v, const Py *node);

// ---- type.c: Triton's rules
Val tr_binary(Elab *e, PyOp op, Val a, Val b, Span span, const Span *spans);
Val tr_unary(Elab *e, PyOp op, Val v, Span span);
// A Python number as a tensor of its default type; others as they are. NULL after an error.
IrValue *tr_tensor(Elab *e, Val v, Span span);
// The same, which must not be a pointer.
IrValue *tr_numbers(Elab *e, Val v, Span span);
// Both as tensors of one type and one shape; `divides`: for / and %.
bool tr_promote(Elab *e, Val a, Val b, bool divides, Span span, const Span *spans, IrValue **out);
// Three operands, where the tensors are promoted before the numbers.
bool tr_promote_three(Elab *e, const Val *vals, Span span, const Span *spans, IrValue **out);
IrValue *tr_cast(Elab *e, Val v, Dtype to, Span span);
// Converts a tensor to the shape, whose rank may be higher: new dimensions stand in front.
IrValue *tr_stretch(Elab *e, IrValue *v, const Shape *shape, Span span);
// A value to be stored as `to`: a Python number is a tensor first.
IrValue *tr_stored(Elab *e, Val v, Dtype to, Span span);
bool tr_shapes(Elab *e, Span span, uint32_t count, IrValue *const *values, Shape *shape);
bool tr_same_shape(Elab *e, Span span, uint32_t count, IrValue **values);
IrValue *tr_truth(Elab *e, Val v, Span span);  // as a tensor of int1
// A condition of a branch or loop: one element.
IrValue *tr_condition(Elab *e, Val v, Span span);
Val tr_fold(Elab *e, PyOp op, Val a, Val b, Span span);
bool tr_const_truth(Elab *e, Val v, bool *truth);  // false: it is not known

// ---- expr.c
Val tr_expr(Elab *e, const Py *node);
Val tr_meta(Elab *e, Str name);  // META["name"]; NONE: there is no such parameter
bool tr_const_int(Elab *e, Val v, const char *what, Span span, Int128 *value);

// ---- stmt.c
void tr_block(Elab *e, const Py *block);
void tr_assign_name(Elab *e, Symbol name, Val v, Span span);
Slot *tr_slot(Elab *e, Symbol name);
void tr_declare_names(Elab *e, JitFrame *frame, const Py *block);
// A value as a name holds it: Python numbers become tensors.
Val tr_named(Elab *e, Val v, Span span);
void tr_assign(Elab *e, const Py *target, Val v);

// ---- loop.c
void tr_for(Elab *e, const Py *node);
void tr_while(Elab *e, const Py *node);

// ---- call.c
typedef struct TlCall {
    const TlFunction *tl;
    Span span;
    Val arg[TR_ARGS];  // by position in the signature; kind VAL_NONE: not given. That of *name is a
                       // tuple
    Span at[TR_ARGS];
} TlCall;

// The arguments of a call as they are written; *tuple is expanded.
typedef struct Arguments {
    uint32_t count;
    Val *vals;
    Symbol *names;  // NULL: given by position
    Span *spans;
    bool poison;
} Arguments;

Val tr_call(Elab *e, const Py *node);
Val tr_call_func(Elab *e, const PyFunc *func, const Arguments *args, bool host, Span span);
Val tr_config(Elab *e, const Arguments *args);  // triton.Config(…)
Val tr_call_python(Elab *e, const Object *o, const Arguments *args, Span span);  // python.c
bool tr_given(const TlCall *c, uint32_t i);  // given, and not None
bool tr_call_int(Elab *e, const TlCall *c, uint32_t i, const char *what, int64_t missing,
                 int64_t *value);
bool tr_call_bool(Elab *e, const TlCall *c, uint32_t i, bool missing, bool *value);
Str tr_call_text(const TlCall *c, uint32_t i);  // empty if it is not a string
// The extents of a tensor: a tuple, or one number. False after an error.
bool tr_shape(Elab *e, Val v, Span span, Shape *shape);
// Is the argument not given, empty, or one of these words, which are separated by spaces? False
// after an error.
bool tr_call_word(Elab *e, const TlCall *c, uint32_t i, const char *what, const char *words);
bool tr_call_shape(Elab *e, const TlCall *c, uint32_t i, Shape *shape);
bool tr_call_type(Elab *e, const TlCall *c, uint32_t i, Dtype missing, Dtype *type);

// ---- tl_*.c
typedef Val (*TlBody)(Elab *e, const TlCall *c);
struct TlFunction {
    const char *name;       // "load", "math.exp", "libdevice.tanh"
    const char *signature;  // "pointer, mask=None, other=None"
    TlBody body;
    int which;  // for bodies that serve several functions
};
const TlFunction *tl_find(Str name);
uint32_t tl_functions(const TlFunction **list);
// The next parameter of a signature: "mask=None". False at the end.
bool tl_next_param(Str *rest, Str *name, bool *has_default, bool *takes_all);
// scaled.c: codes of e2m1, in u8, as bf16 or f16; codes of e8m0 as bf16 or f32, where 255 is NaN.
IrValue *tr_from_e2m1(Elab *e, IrValue *codes, Dtype to);
IrValue *tr_from_ue8m0(Elab *e, IrValue *codes, Dtype to);
// Accesses through a block pointer, for the calls of tl.load and tl.store.
Val tr_block_load(Elab *e, const TlCall *c, const Object *o);
Val tr_block_store(Elab *e, const TlCall *c, const Object *o);
#define TL(name, signature, body, which) Val body(Elab *e, const TlCall *c);
#include "frontend/triton/tl/tl.def"

#endif
