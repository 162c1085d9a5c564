// Loads that go straight to shared memory, bypassing the registers: which lane loads what.
//
// A direct load writes a row: the elements of lane l follow those of lane l - 1. So the memory's
// layout does not follow from the loading layout. The memory's layout is chosen for its reader, and
// the loading layout follows from it: the lowest offsets are a lane's elements, the next ones
// lanes, then warps. Swizzled memory only changes which element of global memory a lane loads.
#include "passes/gpu/cost.h"
#include "passes/gpu/gpu.h"

typedef struct Direct {
    const IrFunc *func;
    const GpuFacts *facts;
    const IrOp *load;
    const Layout *wanted;  // the reader's layout
    uint32_t bytes;        // of an element
    uint64_t cost;         // of the best one so far
    GpuDirect best;
} Direct;

uint32_t gpu_copy_bytes(const IrFunc *f, const GpuFacts *facts, uint32_t bytes) {
    const Machine *machine = facts->machine;
    if (bytes < 4) return 0;
    if (machine->async_copy) return bytes;
    if (!f->direct || !machine->direct_bytes || !(facts->facts & FACT_NEAR)) return 0;
    return bytes >= machine->direct_bytes ? machine->direct_bytes : 4;
}

// False: there are too few elements for all threads.
static bool loading_layout(const Direct *d, const Layout *memory, uint32_t vector,
                           Layout *loading) {
    GpuThreads threads = gpu_threads(d->func);
    uint32_t shape[IR_MAX_RANK], bits = memory->dim_bits[LAYOUT_OFFSET];
    uint32_t lanes = (uint32_t)__builtin_ctz(vector);
    uint32_t warps = lanes + (uint32_t)__builtin_ctz(threads.lanes);
    uint32_t more = warps + (uint32_t)__builtin_ctz(threads.warps);
    layout_shape(memory, shape);
    *loading = layout_empty(memory->rank, shape);
    for (uint32_t i = 0; i < bits; i++) {
        LayoutDim dim = i < lanes || i >= more ? LAYOUT_REG : i < warps ? LAYOUT_LANE : LAYOUT_WARP;
        layout_add(loading, dim, layout_basis(memory, LAYOUT_OFFSET, i));
    }
    return more <= bits;
}

static uint64_t reading_cost(const Direct *d, const Layout *memory) {
    const SharedBanks *banks = d->facts->machine->banks;
    uint32_t bits = 8 * d->bytes;
    uint32_t vector = layout_shared_vector(d->wanted, memory, bits, GPU_ACCESS_BYTES);
    if (vector * d->bytes < 4) return UINT64_MAX;
    LayoutConflicts c = layout_conflicts(d->wanted, memory, vector, bits, banks, false);
    return (uint64_t)layout_size(d->wanted, LAYOUT_REG) / vector *
           (GPU_COST_ISSUE + GPU_COST_WAVEFRONT * c.wavefronts);
}

static uint64_t loading_cost(const Direct *d, const Layout *loading, uint32_t vector) {
    enum { ROW_BYTES = 1 << 14 };
    int64_t strides[IR_MAX_RANK] = {0}, step = d->bytes;
    for (uint32_t axis = loading->rank; axis-- > 0; step *= ROW_BYTES) strides[axis] = step;
    uint32_t sectors =
        layout_sectors(loading, 0, 0, vector, loading->rank - 1u, d->bytes, 0, strides);
    return (uint64_t)layout_size(loading, LAYOUT_REG) / vector *
           (GPU_COST_ADDRESS + GPU_COST_SECTOR * sectors);
}

// Tries `vector` elements per lane at once into this memory, if that is possible.
static void weigh(Direct *d, const Layout *memory, uint32_t vector) {
    GpuDirect found = {.memory = *memory, .vector = vector};
    for (uint32_t bit = 0; 1u << bit < vector; bit++)
        if (layout_basis(memory, LAYOUT_OFFSET, bit) != 1u << bit) return;
    if (!loading_layout(d, memory, vector, &found.load_layout)) return;
    const GpuFacts *f = d->facts;
    if (gpu_view_vector(d->func, f->facts, f->ranges, d->load, &found.load_layout) < vector) return;
    uint64_t reading = reading_cost(d, memory);
    if (reading == UINT64_MAX) return;
    uint64_t cost = reading + loading_cost(d, &found.load_layout, vector);
    if (cost >= d->cost) return;
    d->cost = cost;
    d->best = found;
}

// The layout of a trip whose stores have this width.
static void weigh_trips(Direct *d, uint32_t vector) {
    const IrType *type = d->load->results[0].type;
    Layout blocked = gpu_blocked(type, gpu_threads(d->func), d->bytes);
    uint32_t bytes = vector * d->bytes;
    LayoutSide copy = {.layout = &blocked, .max_bytes = bytes, .min_bytes = bytes};
    LayoutSide load = {.layout = d->wanted, .max_bytes = GPU_ACCESS_BYTES, .min_bytes = 4};
    for (; load.max_bytes >= 4; load.max_bytes /= 2) {
        LayoutTrip way;
        if (layout_trip(&copy, &load, 8 * d->bytes, d->facts->machine->banks, &way))
            weigh(d, &way.memory, vector);
    }
}

// The element's bits from the lowest on, but those of the reading lane come first: as many
// contiguous elements as an access has, in the order of its registers.
static Layout row_by_row(const Direct *d, bool by_registers) {
    const IrType *type = d->load->results[0].type;
    Layout plain = layout_identity(LAYOUT_OFFSET, type->rank, type->shape), rows;
    rows = layout_empty(type->rank, type->shape);
    uint32_t row = UINT32_C(1) << plain.axis_bits[type->rank - 1], taken = 0;
    for (uint32_t i = 0; by_registers && i < d->wanted->dim_bits[LAYOUT_REG]; i++) {
        uint32_t basis = layout_basis(d->wanted, LAYOUT_REG, i);
        bool one = basis && !(basis & (basis - 1)) && basis < row && !(taken & basis);
        if (!one || d->bytes << (rows.dim_bits[LAYOUT_OFFSET] + 1) > GPU_ACCESS_BYTES) continue;
        layout_add(&rows, LAYOUT_OFFSET, basis);
        taken |= basis;
    }
    for (uint32_t i = 0; i < plain.tile_bits; i++)
        if (!(taken >> i & 1)) layout_add(&rows, LAYOUT_OFFSET, UINT32_C(1) << i);
    return rows;
}

// Row by row; rows that are `apart` bits apart have pieces of a row swapped (a swizzle).
static void weigh_rows(Direct *d, uint32_t vector, uint32_t low, const Layout *rows) {
    const IrType *type = d->load->results[0].type;
    uint32_t columns = rows->axis_bits[type->rank - 1], bits = rows->dim_bits[LAYOUT_OFFSET];
    for (uint32_t apart = 0; columns + apart <= bits; apart++) {
        Layout transposed = layout_empty(type->rank, type->shape);
        for (uint32_t i = 0; i < bits; i++) {
            uint32_t basis = layout_basis(rows, LAYOUT_OFFSET, i), piece;
            piece = low + i - columns - apart;  // wraps if there is none
            if (i >= columns + apart && piece < columns)
                basis ^= layout_basis(rows, LAYOUT_OFFSET, piece);
            layout_add(&transposed, LAYOUT_OFFSET, basis);
        }
        weigh(d, &transposed, vector);
    }
}

static void weigh_all(Direct *d, uint32_t vector) {
    Layout rows[2] = {row_by_row(d, false), row_by_row(d, true)};
    weigh_trips(d, vector);
    for (uint32_t piece = vector; piece * d->bytes <= GPU_ACCESS_BYTES; piece *= 2)
        for (int i = 0; i < 2; i++) weigh_rows(d, vector, (uint32_t)__builtin_ctz(piece), &rows[i]);
}

bool gpu_direct(const IrFunc *f, const GpuFacts *facts, const IrOp *load, const Layout *wanted,
                GpuDirect *direct) {
    Direct d = {.func = f,
                .facts = facts,
                .load = load,
                .wanted = wanted,
                .bytes = (uint32_t)dtype_size(ir_operand(load, 0)->type->elem),
                .cost = UINT64_MAX};
    for (uint32_t i = ir_view_index_start(load->code); i < load->operand_count; i++) {
        const IrValue *index = ir_operand(load, i);
        if (index && ir_value_is_tile(index)) return false;  // tiles, in a layout of their own
    }
    for (uint32_t most = GPU_ACCESS_BYTES; most >= 4; most /= 4) {
        uint32_t bytes = gpu_copy_bytes(f, facts, most);
        if (bytes < d.bytes || bytes != most) continue;
        weigh_all(&d, bytes / d.bytes);
    }
    *direct = d.best;
    return d.cost != UINT64_MAX;
}
