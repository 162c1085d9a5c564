// The bench's cases in OpenCL C, as one would write them for a CPU with PoCL. Vectors of 16 are
// explicit, because calls of exp and similar functions are not vectorized otherwise. A work item
// takes a row of a matrix. Local memory is used for data that is transposed or reused.
//
// Sizes are multiples of 16 except in matmul.

__kernel void add(__global const float16 *x, __global const float16 *y, __global float16 *z)
{
    const size_t i = get_global_id(0);
    z[i] = x[i] + y[i];
}

__kernel void axpy(float alpha, __global const float16 *x, __global float16 *z)
{
    const size_t i = get_global_id(0);
    z[i] += alpha * x[i];
}

__kernel void map_exp(__global const float16 *x, __global float16 *z)
{
    const size_t i = get_global_id(0);
    z[i] = exp(x[i]);
}

// 0.5 (1 + tanh(u)) = 1 / (1 + exp(-2 u))
__kernel void map_gelu_tanh(__global const float16 *x, __global float16 *z)
{
    const size_t i = get_global_id(0);
    const float16 v = x[i];
    z[i] = v / (1.0f + exp(-1.5957691216f * (v + 0.044715f * v * v * v)));
}

__kernel void map_gelu_erf(__global const float16 *x, __global float16 *z)
{
    const size_t i = get_global_id(0);
    z[i] = 0.5f * x[i] * (1.0f + erf(x[i] * 0.70710678f));
}

float sum_16(float16 v)
{
    const float8 a = v.lo + v.hi;
    const float4 b = a.lo + a.hi;
    const float2 c = b.lo + b.hi;
    return c.x + c.y;
}

float max_16(float16 v)
{
    const float8 a = fmax(v.lo, v.hi);
    const float4 b = fmax(a.lo, a.hi);
    const float2 c = fmax(b.lo, b.hi);
    return fmax(c.x, c.y);
}

// `columns` is a multiple of 64.
__kernel void row_sum(__global const float16 *x, __global float *z, int columns)
{
    __global const float16 *row = x + get_global_id(0) * (columns / 16);
    float16 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (int j = 0; j < columns / 16; j += 4) {
        s0 += row[j];
        s1 += row[j + 1];
        s2 += row[j + 2];
        s3 += row[j + 3];
    }
    z[get_global_id(0)] = sum_16((s0 + s1) + (s2 + s3));
}

__kernel void softmax(__global const float16 *x, __global float16 *z, int columns)
{
    const int n = columns / 16;
    __global const float16 *from = x + get_global_id(0) * n;
    __global float16 *to = z + get_global_id(0) * n;
    float16 top = from[0], total = 0;
    for (int j = 1; j < n; j++) top = fmax(top, from[j]);
    const float highest = max_16(top);
    for (int j = 0; j < n; j++) {
        const float16 e = exp(from[j] - highest);
        to[j] = e;
        total += e;
    }
    const float scale = 1.0f / sum_16(total);
    for (int j = 0; j < n; j++) to[j] *= scale;
}

__kernel void layernorm(__global const float16 *x, __global const float16 *weight,
                        __global const float16 *bias, __global float16 *z, int columns, float eps)
{
    const int n = columns / 16;
    __global const float16 *from = x + get_global_id(0) * n;
    __global float16 *to = z + get_global_id(0) * n;
    float16 total = 0, squares = 0;
    for (int j = 0; j < n; j++) total += from[j];
    const float mean = sum_16(total) / columns;
    for (int j = 0; j < n; j++) {
        const float16 d = from[j] - mean;
        squares += d * d;
    }
    const float scale = rsqrt(sum_16(squares) / columns + eps);
    for (int j = 0; j < n; j++) to[j] = (from[j] - mean) * scale * weight[j] + bias[j];
}

// One item for each group; it transposes a square of 64 by 64. `n` is a multiple of 64.
#define SQUARE 64
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void transpose(__global const float *x, __global float *z, int n)
{
    __local float square[SQUARE][SQUARE];
    const int i = get_group_id(1) * SQUARE, j = get_group_id(0) * SQUARE;
    for (int r = 0; r < SQUARE; r++)
        for (int c = 0; c < SQUARE; c++) square[r][c] = x[(size_t)(i + r) * n + j + c];
    for (int r = 0; r < SQUARE; r++)
        for (int c = 0; c < SQUARE; c++) z[(size_t)(j + r) * n + i + c] = square[c][r];
}

// One item for each group, which takes ROWS rows and 32 columns of c. It copies 256 rows of b's
// columns into local memory and processes them for 8 rows at a time, whose sums stay in registers.
#define ROWS 128
#define DEPTH 256
#define HEIGHT 8
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void matmul(__global const float *a, __global const float *b, __global float *c, int m, int n,
            int k)
{
    __local float16 panel[DEPTH][2];
    const int j = get_group_id(0) * 32, i0 = get_group_id(1) * ROWS, i1 = min(m, i0 + ROWS);
    const bool whole = j + 32 <= n;
    for (int p0 = 0; p0 < k; p0 += DEPTH) {
        const int depth = min(DEPTH, k - p0);
        for (int p = 0; p < depth; p++) {
            __global const float *row = b + (size_t)(p0 + p) * n + j;
            if (whole) {
                panel[p][0] = vload16(0, row);
                panel[p][1] = vload16(1, row);
            } else {
                __local float *to = (__local float *)panel[p];
                for (int q = 0; q < 32; q++) to[q] = j + q < n ? row[q] : 0;
            }
        }
        for (int i = i0; i < i1; i += HEIGHT) {
            __global const float *row[HEIGHT]; // repeats the last row if there are fewer
            float16 sum[HEIGHT][2];
#pragma unroll
            for (int r = 0; r < HEIGHT; r++) {
                row[r] = a + (size_t)min(i + r, m - 1) * k + p0;
                sum[r][0] = sum[r][1] = 0;
            }
            for (int p = 0; p < depth; p++) {
                const float16 left = panel[p][0], right = panel[p][1];
#pragma unroll
                for (int r = 0; r < HEIGHT; r++) {
                    sum[r][0] = fma((float16)row[r][p], left, sum[r][0]);
                    sum[r][1] = fma((float16)row[r][p], right, sum[r][1]);
                }
            }
#pragma unroll
            for (int r = 0; r < HEIGHT; r++) {
                if (i + r >= i1) continue;
                __global float *to = c + (size_t)(i + r) * n + j;
                if (whole) {
                    vstore16(p0 ? vload16(0, to) + sum[r][0] : sum[r][0], 0, to);
                    vstore16(p0 ? vload16(1, to) + sum[r][1] : sum[r][1], 1, to);
                } else {
                    float out[32];
                    vstore16(sum[r][0], 0, out);
                    vstore16(sum[r][1], 1, out);
                    for (int q = 0; j + q < n; q++) to[q] = p0 ? to[q] + out[q] : out[q];
                }
            }
        }
    }
}

__kernel void empty(void) {}
