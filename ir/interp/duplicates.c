// Under sanitize: two lanes of one store that write different values to one element.
#include <stdlib.h>

#include "ir/interp/internal.h"

typedef struct WrittenLane {
    uint64_t address;
    uint32_t lane;
} WrittenLane;

static int by_address(const void *x, const void *y) {
    const WrittenLane *a = x, *b = y;
    if (a->address != b->address) return a->address < b->address ? -1 : 1;
    return a->lane < b->lane ? -1 : a->lane > b->lane;
}

void store_check_duplicates(InterpRun *run, const InterpAccess *a, const InterpSlot *x) {
    if (x->count == 1) return;
    WrittenLane *lanes = arena_new(run->scratch, WrittenLane, a->count);
    uint32_t count = 0;
    bool rising = true;
    for (uint32_t i = 0; i < a->count; i++) {
        if (!a->on[i]) continue;
        lanes[count] = (WrittenLane){a->place[i].address, i};
        rising = rising && (count == 0 || lanes[count - 1].address < lanes[count].address);
        count++;
    }
    if (rising) return;
    qsort(lanes, count, sizeof *lanes, by_address);
    for (uint32_t k = 1; k < count; k++) {
        uint32_t one = lanes[k - 1].lane, two = lanes[k].lane;
        if (lanes[k - 1].address != lanes[k].address || slot_get(x, one) == slot_get(x, two))
            continue;
        const InterpBuffer *b = &run->interp->buffers.data[a->place[two].origin];
        finding_add(run, a->op, FINDING_RACE, two,
                    "writes element %lld of '%s', to which lane %u writes another value",
                    (long long)accessed_element(a, two, b), b->name ? b->name : "?", one);
    }
}
