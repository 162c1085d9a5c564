// The numbers that a person with a CPU in hand would turn: one table for passes/cpu, and for what a
// launch asks before it chooses a variant. What a machine has (registers, caches, instructions) is
// in target/machine.h; limits that protect the compiler stand where they are checked.
//
// Each row: unit and why; "measured:" names where, in docs/performance.md or the message of the
// commit that brought it (git log -S NAME finds both). A row without it was chosen by reasoning.
//
//     while (sides > TUNE_SQUARE_FEW && …) sides /= 2;
#ifndef TILEC_PASSES_CPU_TUNING_H
#define TILEC_PASSES_CPU_TUNING_H

enum {
    // ---- how long a vector is: in registers of the widest type of a nest

    // Independent chains hide the latency of arithmetic.
    TUNE_VECTOR_REGISTERS = 4,
    // Where a body has more inline ops than this its values need the registers: half as many …
    TUNE_LONG_CHAIN = 60,
    // … and than this: one.
    TUNE_VERY_LONG_CHAIN = 200,
    // Registers of a scan across lines; one along them.
    TUNE_SCAN_REGISTERS = 4,
    // A step of a loop over rows may fill so many registers for short rows to have code of their
    // own
    // (cpu_peel_rows). Measured: docs/cpu.md, 65536 rows of 64.
    TUNE_ROW_REGISTERS = 4,
    // So many such loops at least: one alone shares nothing.
    TUNE_ROW_LOOPS = 2,

    // ---- computed again, or kept in memory: in ops, where a division or a gather counts as eight

    // Fewer ops than this, of no load: computed wherever it is needed.
    TUNE_FREE_OPS = 6,
    // As many ops or more: kept in memory when a second nest wants it.
    TUNE_DEAR_OPS = 6,
    TUNE_SLOW_OP = 8,

    // ---- loads that are asked for early

    // Inline ops from which on a CPU's window does not reach the next loads by itself. Measured:
    // docs/performance.md, exp.
    TUNE_AHEAD_OPS = 24,
    // Bytes: how far ahead such a load asks. Memory answers in time, and it is there still.
    // Measured:
    // docs/performance.md, exp.
    TUNE_AHEAD_BYTES = 4096,
    // Bytes: rows of one vector ask for the row so far on; of long rows that will not stay in the
    // second cache what lies so far on in the same row.
    TUNE_ROW_AHEAD_BYTES = 4096,
    // A row stays in the second cache until the next program if it is at most one part of so many.
    TUNE_ROW_CACHE_PARTS = 4,
    // Vectors: a shorter row is read before anything comes of asking for the next one.
    TUNE_ROW_VECTORS = 8,

    // ---- squares that are turned in registers

    // Inline ops, of all coordinates of a side together: longer bodies are not repeated so often.
    TUNE_SQUARE_OPS = 1024,
    // Coordinates of a side that are always worth it.
    TUNE_SQUARE_FEW = 4,

    // ---- products

    // Rows of a block of accumulators: with 32 registers, with 16 and fused sums, with 16. What is
    // left holds a row of b, an element of a and a product.
    TUNE_DOT_ROWS_32 = 12,
    TUNE_DOT_ROWS_FMA = 6,
    TUNE_DOT_ROWS = 4,
    // Vectors of such a row.
    TUNE_DOT_VECTORS = 2,
    // Rows of a that are a read of b: blocks are as wide as registers allow. Measured:
    // docs/performance.md.
    TUNE_DOT_THIN_ROWS = 2,
    // Steps along k in one turn of the innermost loop: its own arithmetic takes the place of a
    // product now and then.
    TUNE_DOT_STEPS = 4,
    // Bytes of a row along k: then a panel of b fits into the first cache. The second is for tile
    // registers. Measured: docs/performance.md, bf16 in tile registers.
    TUNE_DOT_DEPTH_BYTES = 512,
    TUNE_DOT_TILES_DEPTH_BYTES = 1024,
    // Rows or columns of a run of merged programs. Tile registers multiply so fast that packing b
    // is
    // what counts. Measured: docs/performance.md, runs of 512 rows.
    TUNE_RUN_ROWS = 256,
    TUNE_TILES_RUN_ROWS = 512,
    // Registers that a copy of an operand moves at once.
    TUNE_COPY_REGISTERS = 2,
    // Bytes: rows that are so far apart get a line between them, lest they share the places of a
    // cache.
    TUNE_FAR_ROWS_BYTES = 2048,
    // Bytes: rows that are a multiple of this apart share the places of a cache.
    TUNE_PAGE_BYTES = 4096,
    // Rows lie close where their distance is at most so many times their length: read in place.
    TUNE_CLOSE_ROWS = 2,

    // ---- divisions by one number

    // Bytes of a vector: shorter ones divide quickly. Measured: docs/cpu.md.
    TUNE_DIVIDE_BYTES = 64,
    // Vectors: fewer do not pay for the steps that come once.
    TUNE_DIVIDE_VECTORS = 4,

    // ---- the launch

    // Bytes of an output: below it what is written is likely to lie in a last-level cache already,
    // or to be read from it. Measured: docs/performance.md, the stream.
    TUNE_STREAM_BYTES = 32 << 20,
};

#endif
