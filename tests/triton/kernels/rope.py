import triton
import triton.language as tl


@triton.jit
def _rope(q_ptr, q_row_stride, k_ptr, k_row_stride, cos, sin, cos_row_stride, sl,
          n_qh: tl.constexpr, n_kh: tl.constexpr, hd: tl.constexpr, pad_qh: tl.constexpr,
          pad_kh: tl.constexpr, pad_hd: tl.constexpr, BACKWARD: tl.constexpr = False):
    pid = tl.program_id(0).to(tl.int64)
    q_ptr = q_ptr + pid * q_row_stride
    k_ptr = k_ptr + pid * k_row_stride
    position = pid % sl
    cos = cos + position * cos_row_stride
    sin = sin + position * cos_row_stride
    half = tl.arange(0, pad_hd // 2)
    cos_row = tl.load(cos + half, mask=half < hd // 2, other=0)
    sin_row = tl.load(sin + half, mask=half < hd // 2, other=0)

    first_q = tl.arange(0, pad_qh)[:, None] * hd + half[None, :]
    first_k = tl.arange(0, pad_kh)[:, None] * hd + half[None, :]
    mask_q = (tl.arange(0, pad_qh)[:, None] < n_qh) & (half[None, :] < hd // 2)
    mask_k = (tl.arange(0, pad_kh)[:, None] < n_kh) & (half[None, :] < hd // 2)
    q1 = tl.load(q_ptr + first_q, mask=mask_q, other=0).to(sin_row.dtype)
    k1 = tl.load(k_ptr + first_k, mask=mask_k, other=0).to(sin_row.dtype)
    second_q = first_q + (hd // 2)
    second_k = first_k + (hd // 2)
    q2 = tl.load(q_ptr + second_q, mask=mask_q, other=0).to(sin_row.dtype)
    k2 = tl.load(k_ptr + second_k, mask=mask_k, other=0).to(sin_row.dtype)
    if not BACKWARD:
        tl.store(q_ptr + first_q, q1 * cos_row - q2 * sin_row, mask=mask_q)
        tl.store(q_ptr + second_q, q2 * cos_row + q1 * sin_row, mask=mask_q)
        tl.store(k_ptr + first_k, k1 * cos_row - k2 * sin_row, mask=mask_k)
        tl.store(k_ptr + second_k, k2 * cos_row + k1 * sin_row, mask=mask_k)
    else:
        tl.store(q_ptr + first_q, q1 * cos_row + q2 * sin_row, mask=mask_q)
        tl.store(q_ptr + second_q, q2 * cos_row - q1 * sin_row, mask=mask_q)
        tl.store(k_ptr + first_k, k1 * cos_row + k2 * sin_row, mask=mask_k)
        tl.store(k_ptr + second_k, k2 * cos_row - k1 * sin_row, mask=mask_k)
