// Names that stand for several values: tuples, block pointers, tensor descriptors.
//
// Each value has a slot of its own, so that branches and loops merge and carry them one by one. The
// name's slot holds an object that lists these slots; it is the same object each time that the name
// gets a value of the same form.
#include "frontend/triton/elaborate.h"

static bool is_composite(Val v) { return v.kind == VAL_TUPLE || tr_is(v, OBJECT_BLOCK); }

static uint32_t count_of(Val v) {
    return v.kind == VAL_TUPLE ? v.tuple.count : tr_object_of(v)->count;
}

static Val field_of(Val v, uint32_t i) {
    return v.kind == VAL_TUPLE ? v.tuple.items[i] : tr_object_of(v)->fields[i];
}

// A key that is equal for values of one form.
static Symbol form_of(Elab *e, Symbol name, Val v) {
    StrBuf text = strbuf(e->scratch);
    strbuf_printf(&text, "%s:%u", name, count_of(v));
    for (uint32_t i = 0; v.kind == VAL_TUPLE && v.tuple.names && i < v.tuple.count; i++)
        strbuf_printf(&text, ":%s", v.tuple.names[i]);
    const Object *o = tr_object_of(v);
    if (o) {
        strbuf_printf(&text, ":%d%d", o->is_static, o->pads_nan);
        for (uint32_t i = 0; i < o->block.rank; i++) strbuf_printf(&text, ",%u", o->block.dims[i]);
    }
    return intern(triton_of(e)->file->names, strbuf_str(&text));
}

static const Object *form_object(Elab *e, Symbol name, Val v) {
    JitFrame *frame = triton_of(e)->frame;
    Symbol key = form_of(e, name, v);
    uint64_t *known = map_find(&frame->forms, map_key(key));
    if (known) return (const Object *)(uintptr_t)*known;
    Object *form = arena_new(e->scratch, Object, 1);
    const Object *o = tr_object_of(v);
    if (o) *form = *o;
    form->kind = OBJECT_FORM;
    form->like = o ? OBJECT_BLOCK : OBJECT_NONE;
    form->count = count_of(v);
    form->names = v.kind == VAL_TUPLE ? v.tuple.names : NULL;
    form->fields = NULL;
    form->slots = arena_new(e->scratch, Slot *, form->count + 1);
    for (uint32_t i = 0; i < form->count; i++) {
        Slot *slot = arena_new(e->scratch, Slot, 1);
        *slot = (Slot){.kind = SLOT_NAME,
                       .val = EL_NONE,
                       .region = frame->region,
                       .name = intern(triton_of(e)->file->names,
                                      str(arena_printf(e->scratch, "%s.%u", name, i)))};
        form->slots[i] = slot;
    }
    map_put(e->scratch, &frame->forms, map_key(key), map_key(form));
    return form;
}

void tr_set_slot(Elab *e, Slot *slot, Val v) {
    if (!is_composite(v)) {
        el_assign_slot(e, slot, v);
        return;
    }
    const Object *form = form_object(e, slot->name, v);
    for (uint32_t i = 0; i < form->count; i++) tr_set_slot(e, form->slots[i], field_of(v, i));
    Val held = {.kind = VAL_FN};
    held.fn.own = form;
    held.fn.name = slot->name;
    el_assign_slot(e, slot, held);
}

Val tr_slot_value(Elab *e, const Slot *slot) {
    const Object *form = tr_object_of(slot->val);
    if (!form || form->kind != OBJECT_FORM) return slot->val;
    Val *items = arena_new(e->scratch, Val, form->count + 1);
    for (uint32_t i = 0; i < form->count; i++) {
        items[i] = tr_slot_value(e, form->slots[i]);
        if (items[i].kind == VAL_NONE) return EL_NONE;
    }
    if (form->like == OBJECT_NONE) {
        Val v = el_tuple(e, form->count, items);
        v.tuple.names = form->names;
        return v;
    }
    Object made = *form;
    made.kind = OBJECT_BLOCK;
    made.fields = items;
    return tr_object(e, made);
}

uint32_t tr_slot_count(const Slot *slot) {
    const Object *form = tr_object_of(slot->val);
    uint32_t count = 1;
    if (form && form->kind == OBJECT_FORM)
        for (uint32_t i = 0; i < form->count; i++) count += tr_slot_count(form->slots[i]);
    return count;
}

uint32_t tr_slot_list(Slot *slot, Slot **out) {
    const Object *form = tr_object_of(slot->val);
    uint32_t count = 0;
    out[count++] = slot;
    if (form && form->kind == OBJECT_FORM)
        for (uint32_t i = 0; i < form->count; i++)
            count += tr_slot_list(form->slots[i], out + count);
    return count;
}
