# Inline assembly that works on registers.
import triton
import triton.language as tl


@triton.jit
def reals(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    out = out_ptr + i
    v = tl.inline_asm_elementwise("mul.rn.f32 $0, $1, $2;", "=f,f,f", [x, y], tl.float32, True, 1)
    w = tl.inline_asm_elementwise("add.rn.f32 $0, $1, $2;", "=f,f,f", [v, y], tl.float32, True, 1)
    tl.store(out, w)
    v = tl.inline_asm_elementwise(
        """
        {
            // two steps, with a register of its own
            .reg .f32 r, t<2>;
            .reg .pred p;
            div.rn.f32 r, $1, $2;
            setp.lt.f32 p, $1, 0f00000000;
            mov.f32 $0, r;
            @p neg.f32 $0, r;
            @!p add.rn.f32 $0, $0, 1.0;
        }
        """, "=f,f,f", [x, y], tl.float32, is_pure=True, pack=1)
    tl.store(out + N, v)
    v = tl.inline_asm_elementwise("{ max.NaN.xorsign.abs.f32 $0, $1, $2; }", "=r,r,r", [x, y],
                                  dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + 2 * N, v)
    v = tl.inline_asm_elementwise("fma.rn.f32 $0, $1, $2, 0f40000000;", "=f,f,f", [x, y],
                                  dtype=tl.float32, is_pure=True, pack=1)
    tl.store(out + 3 * N, v)


@triton.jit
def words(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    out = out_ptr + i
    a, b, c = tl.inline_asm_elementwise(
        """
        prmt.b32 $0, $3, $4, 0x50b6;
        lop3.b32 $1, $3, $4, 0x80808080, 0xE4;
        shf.l.wrap.b32 $2, $3, $4, 11;
        """, "=r,=r,=r,r,r", [x, y], dtype=(tl.uint32, tl.uint32, tl.uint32), is_pure=True, pack=1)
    tl.store(out, a)
    tl.store(out + N, b)
    tl.store(out + 2 * N, c)
    v = tl.inline_asm_elementwise(
        """{
        .reg .b16 lo, hi; .reg .b32 s; .reg .pred p;
        mov.b32 {lo, hi}, $1; mov.b32 s, {hi, lo};
        bfe.u32 s, s, 5, 9; setp.ge.u32 p, $2, 0x80000000; selp.b32 $0, s, $2, p; /* end */
        }""", "=r,r,r", [x, y], dtype=tl.uint32, is_pure=True, pack=1)
    tl.store(out + 3 * N, v)
    v = tl.inline_asm_elementwise("shr.s32 $0, $1, 40; mad.lo.u32 $0, $2, 3, $0;", "=r,r,r", [x, y],
                                  dtype=tl.uint32, is_pure=True, pack=1)
    tl.store(out + 4 * N, v)


@triton.jit
def conversions(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    out = out_ptr + i
    four, eight, scale, half = tl.inline_asm_elementwise(
        """{
        .reg .b8 t; .reg .b16 u, v;
        cvt.rn.satfinite.e2m1x2.f32 t, $4, $5; cvt.u32.u8 $0, t;
        cvt.rn.satfinite.e4m3x2.f32 u, $4, $5; cvt.u32.u16 $1, u;
        cvt.rp.satfinite.ue8m0x2.f32 v, 0.0, $4; cvt.u32.u16 $2, v;
        cvt.rn.f16x2.f32 $3, $4, $5;
        }""", "=r,=r,=r,=r,f,f", [x, y], dtype=(tl.uint32, tl.uint32, tl.uint32, tl.uint32),
        is_pure=True, pack=1)
    tl.store(out, four)
    tl.store(out + N, eight)
    tl.store(out + 2 * N, scale)
    tl.store(out + 3 * N, half)
    back = tl.inline_asm_elementwise(
        """{
        .reg .b8 t; cvt.u8.u32 t, $1; cvt.rn.f16x2.e2m1x2 $0, t;
        }""", "=r,r", [four], dtype=tl.uint32, is_pure=True, pack=1)
    tl.store(out + 4 * N, back)


@triton.jit
def packed(x_ptr, out_ptr, pair_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    v = tl.inline_asm_elementwise("and.b32 $0, $1, 0x0f1f3f7f; xor.b32 $0, $0, $1;", "=r,r", [x],
                                  dtype=tl.uint8, is_pure=True, pack=4)
    tl.store(out_ptr + i, v)
    # Four bytes in, four words of 16 bits in two registers out.
    w = tl.inline_asm_elementwise(
        "prmt.b32 $0, $2, 0, 0x5140; shl.b32 $0, $0, 7; prmt.b32 $1, $2, 0, 0x7362; "
        "shl.b32 $1, $1, 7;", "=r,=r,r", [x], dtype=tl.uint16, is_pure=True, pack=4)
    tl.store(pair_ptr + i, w)
