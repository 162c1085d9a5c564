// The numbers to tune on a real CPU: one table for passes/cpu, and for the facts that a launch
// checks before it chooses a variant. The properties of a machine (registers, caches, instructions)
// are in target/machine.h; limits that protect the compiler are at the place that checks them.
//
// Each row has its unit and its reason. "Measured:" names the place of the measurement: in
// docs/performance.md or in the message of the commit that added the number (git log -S NAME finds
// both). A row without it was chosen by reasoning.
//
//     while (sides > TUNE_TRANSPOSE_FEW && …) sides /= 2;
#ifndef TILEC_PASSES_CPU_TUNING_H
#define TILEC_PASSES_CPU_TUNING_H

enum {
    // ---- how long a vector is: in registers of the widest type of a nest

    // Independent chains hide the latency of arithmetic.
    TUNE_VECTOR_REGISTERS = 4,
    // A body with more inline ops than this needs the registers for its values: half as many …
    TUNE_LONG_CHAIN = 60,
    // … and with more than this: one.
    TUNE_VERY_LONG_CHAIN = 200,
    // Registers of a scan whose lanes are neighbouring lines; a scan along a line takes one.
    TUNE_SCAN_REGISTERS = 4,
    // Short rows get code of their own (cpu_peel_rows) if one step of the loop over a row fills at
    // most this many registers. Measured: docs/cpu.md, 65536 rows of 64.
    TUNE_ROW_REGISTERS = 4,
    // There must be at least this many such loops: a single one shares nothing.
    TUNE_ROW_LOOPS = 2,

    // ---- recomputed, or kept in memory: in ops, where a division or a gather counts as eight

    // A value of fewer ops than this, without loads, is recomputed wherever it is needed.
    TUNE_CHEAP_OPS = 6,
    // A value of this many ops or more is kept in memory when a second nest uses it.
    TUNE_EXPENSIVE_OPS = 6,
    TUNE_SLOW_OP = 8,

    // ---- prefetched loads

    // With this many inline ops or more, a CPU's out-of-order window does not reach the next loads.
    // Measured: docs/performance.md, exp.
    TUNE_PREFETCH_OPS = 24,
    // Bytes: the distance of such a prefetch. Memory has time to answer, and the line is not
    // evicted yet. Measured: docs/performance.md, exp.
    TUNE_PREFETCH_BYTES = 4096,
    // Bytes: the prefetch distance for rows. Rows of one vector prefetch the row at this distance;
    // long rows that will not stay in the second-level cache prefetch at this distance in the same
    // row.
    TUNE_ROW_PREFETCH_BYTES = 4096,
    // A row stays in the second-level cache until the next program if it takes at most one of this
    // many parts of the cache.
    TUNE_ROW_CACHE_PARTS = 4,
    // Vectors: a shorter row is read before a prefetch of the next row has any effect.
    TUNE_ROW_VECTORS = 8,

    // ---- squares that are transposed in registers

    // Inline ops, of all coordinates of a side together: a longer body is repeated for fewer
    // coordinates.
    TUNE_TRANSPOSE_OPS = 1024,
    // This many coordinates of a side always pay.
    TUNE_TRANSPOSE_FEW = 4,

    // ---- products

    // Rows of a block of accumulators: with 32 registers, with 16 and fused sums, with 16 alone.
    // The remaining registers hold a row of b, an element of a and a product.
    TUNE_DOT_ROWS_32 = 12,
    TUNE_DOT_ROWS_FMA = 6,
    TUNE_DOT_ROWS = 4,
    // Vectors of such a row.
    TUNE_DOT_VECTORS = 2,
    // Rows of a for each read of b in blocks for few rows, which are as wide as the registers
    // allow. Measured: docs/performance.md.
    TUNE_DOT_THIN_ROWS = 2,
    // Steps along k in one iteration of the innermost loop: in shorter iterations the loop's own
    // arithmetic displaces products.
    TUNE_DOT_STEPS = 4,
    // Bytes of a row along k: with this size a panel of b fits into the first-level cache. The
    // second number is for tile registers. Measured: docs/performance.md, bf16 in tile registers.
    TUNE_DOT_DEPTH_BYTES = 512,
    TUNE_DOT_TILES_DEPTH_BYTES = 1024,
    // Rows or columns of a run of merged programs. Tile registers multiply so fast that packing b
    // dominates. Measured: docs/performance.md, runs of 512 rows.
    TUNE_RUN_ROWS = 256,
    TUNE_TILES_RUN_ROWS = 512,
    // Registers that a copy of an operand moves at once.
    TUNE_COPY_REGISTERS = 2,
    // Bytes: rows at this distance or more get a cache line between them, so that they do not map
    // to the same cache sets.
    TUNE_FAR_ROWS_BYTES = 2048,
    // Bytes: rows whose distance is a multiple of this map to the same cache sets.
    TUNE_PAGE_BYTES = 4096,
    // Rows are close if their distance is at most this many times their length: read in place.
    TUNE_CLOSE_ROWS = 2,

    // ---- divisions by one number

    // Bytes of a vector: shorter vectors divide quickly. Measured: docs/cpu.md.
    TUNE_DIVIDE_BYTES = 64,
    // Vectors: with fewer, the steps before the loop do not pay.
    TUNE_DIVIDE_VECTORS = 4,

    // ---- the launch

    // Bytes of an output: a smaller one is probably in a last-level cache already, or will be read
    // from it. Measured: docs/performance.md, the stream.
    TUNE_STREAM_BYTES = 32 << 20,
};

#endif
