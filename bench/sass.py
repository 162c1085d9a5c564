#!/usr/bin/env python3
"""ptxas's instructions for our PTX and for Triton's, kernel by kernel; no GPU needed.

usage: bench/sass.py [-k REGEX] [SM…]       SM: 75 80 89 90 90a 120 (default: all but 90a)

  TILEC     the command (default: build/debug/tilec)
  BASELINE  the directory of loops.py (default: ../shared/triton-baseline)
  TRITON    Triton's outputs, KERNEL_SM/k.ptx, made as the README.md there says; without them only
            our side is printed
  WHEEL     bin/ of Triton's wheel, with ptxas, ptxas-blackwell and nvdisasm (default: from PATH)
  KEEP      a directory for PTX and cubins (default: a temporary one)

The same ptxas assembles both sides' PTX, and the same loops.py counts. "all": the instructions of
the kernel. "loop": those of its main loop. "matrix": the matrix instructions among those. "a 2048":
instructions of the loop for each 2048 multiply-adds of a warp (by FFMA if there is no matrix
instruction). Registers and spilled bytes are ptxas's. "ratio" is ours divided by Triton's: of
"a 2048" if the kernel is a product, else of "all". If several loops have the same number of matrix
instructions, loops.py takes the longest, which does the steps of tiles at an edge: "masked". The
main loop is the first, which does the steps of whole tiles.

The kernels "… of Python" are those of Triton's own file, BASELINE/kernels.py, which tilec reads as it
is, with the types, facts, warps and stages that Triton got. Those that begin with "Hopper" are for
sm_90a only.

The tables go into docs/performance.md by

    bench/sass.py -k '^((?!Python).)*$' | scripts/gen/results.sh keep nvidia-triton MACHINE COMMAND
    bench/sass.py -k Python 80 90a | scripts/gen/results.sh keep nvidia-python MACHINE COMMAND
    bench/sass.py -k Hopper 90a | cut -d'|' -f1-10 | sed 's/$/|/' |
        scripts/gen/results.sh keep nvidia-hopper MACHINE COMMAND
    scripts/gen/results.sh
"""
import ast, os, re, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINE = os.environ.get('BASELINE', os.path.join(ROOT, '..', 'shared', 'triton-baseline'))
TILEC = os.environ.get('TILEC', os.path.join(ROOT, 'build', 'debug', 'tilec'))
WHEEL, TRITON = os.environ.get('WHEEL', ''), os.environ.get('TRITON', '')

# name, Triton's name, kernel, is it a product?, options
CASES = [
    ('vadd', 'vadd', 'vadd', False, 'warps=4'),
    ('vadd, pointers', 'vadd', 'vadd_pointers', False, 'warps=4'),
    ('softmax', 'softmax', 'softmax', False, 'warps=4'),
    ('layernorm f16', 'layernorm', 'layernorm', False, 'warps=4'),
    ('matmul f16', 'matmul_fp16', 'matmul', True, 'T=f16 warps=8 stages=3'),
    ('matmul bf16', 'matmul_bf16', 'matmul', True, 'T=bf16 warps=8 stages=3'),
    ('matmul tf32', 'matmul_fp32', 'matmul', True, 'T=f32 TF32=1 BN=64 BK=32 warps=8 stages=3'),
    ('attention', 'attn_fp16', 'attention', True, 'warps=4 stages=3'),
    ('attention, causal', 'attn_fp16_causal', 'attention', True, 'CAUSAL=1 warps=4 stages=3'),
    ('transpose f32', None, 'transposed', False, 'warps=4'),
]


def typed(pointers, element, by16, i32='', rest=''):
    """the types and facts of a Python kernel's parameters"""
    names = [f'{n}=*{element}:16' for n in pointers.split()] + [f'{n}=i32:16' for n in by16.split()]
    return ' '.join(names + [f'{n}=i32' for n in i32.split()]) + ' ' + rest


def python_matmul(element, tiles):
    return typed('a b c', element, 'M N K sam sbk scm', '',
                 f'sak=i32:1 sbn=i32:1 scn=i32:1 {tiles} G=8 warps=8 stages=3')


def python_attention(causal):
    return typed('Q K V O', 'fp16', 'sz sh sm N', 'H',
                 f'scale=fp32 BM=128 BN=64 D=64 CAUSAL={causal} warps=4 stages=3')


CASES += [
    ('vadd of Python', 'vadd', 'vadd', False, typed('x y o', 'fp32', 'n', '', 'B=1024 warps=4')),
    ('softmax of Python', 'softmax', 'softmax', False,
     typed('x y', 'fp32', 'sx sy C', 'R', 'W=1024 warps=4')),
    ('layernorm f16 of Python', 'layernorm', 'layernorm', False,
     typed('X Y Wt Bs', 'fp16', 'stride N', '', 'eps=fp32 BLOCK=1024 warps=4')),
    ('matmul f16 of Python', 'matmul_fp16', 'matmul', True, python_matmul('fp16', 'BM=128 BN=128 BK=64')),
    ('matmul bf16 of Python', 'matmul_bf16', 'matmul', True, python_matmul('bf16', 'BM=128 BN=128 BK=64')),
    ('matmul tf32 of Python', 'matmul_fp32', 'matmul', True, python_matmul('fp32', 'BM=128 BN=64 BK=32')),
    ('attention of Python', 'attn_fp16', 'attn', True, python_attention(0)),
    ('attention of Python, causal', 'attn_fp16_causal', 'attn', True, python_attention(1)),
]


# Fed by tensor maps. A step of a product has four matrix instructions, one of attention 8 to 16.
CASES += [
    ('Hopper: bf16 128x256x64', None, 'matmul', True, 'T=bf16 BN=256 warps=8 stages=4'),
    ('Hopper: f16 128x128x64', None, 'matmul', True, 'T=f16 warps=8 stages=4'),
    ('Hopper: f16 128x256x64, b by columns', None, 'linear', True, 'T=f16 BN=256 warps=8 stages=4'),
    ('Hopper: f8e4m3 128x256x128', None, 'linear', True,
     'T=f8e4m3 BN=256 BK=128 warps=8 stages=4'),
    ('Hopper: attention, 64 columns, 64 keys', None, 'attention', True, 'warps=8 stages=2'),
    ('Hopper: attention, 64 columns, 128 keys', None, 'attention', True, 'BN=128 warps=8 stages=2'),
    ('Hopper: attention, 128 columns, 64 keys', None, 'attention', True, 'BD=128 warps=8 stages=2'),
    ('Hopper: attention, 128 columns, 128 keys', None, 'attention', True,
     'BN=128 BD=128 warps=8 stages=2'),
]


def tool(name):
    return os.path.join(WHEEL, name) if WHEEL else name


def assemble(ptx, cubin, sm):
    """registers and spilled bytes, or None"""
    blackwell = tool('ptxas-blackwell')
    ptxas = blackwell if int(sm.rstrip('a')) >= 90 and os.path.exists(blackwell) else tool('ptxas')
    arch = re.search(r'^\.target\s+(\w+)', open(ptx).read(), re.M)[1]
    made = subprocess.run([ptxas, '-v', '-arch=' + arch, ptx, '-o', cubin], capture_output=True, text=True)
    if made.returncode:
        print(made.stderr.strip()[:500], file=sys.stderr)
        return None
    registers = re.search(r'Used (\d+) registers', made.stderr)
    spilled = re.search(r'(\d+) bytes spill stores', made.stderr)
    return int(registers[1]), int(spilled[1]) if spilled else 0


def multiply_adds(kind):
    """multiply-adds of one matrix instruction, for one warp"""
    wide = re.search(r'\.(\d+)x(\d+)x(\d+)', kind)
    if wide:
        return int(wide[1]) * int(wide[2]) * int(wide[3]) // 4  # four warps share it
    shape = re.search(r'\.(16)(8)(\d+)|\.(8)(8)(\d+)', kind)
    m, n, k = [int(x) for x in shape.groups() if x]
    return m * n * k


MATRIX = re.compile(r'[HIDQ]G?MMA|UTC\w*MMA|OMMA')


def first_loop(cubin, matrix):
    """instructions of the first loop with this many matrix instructions and no inner loop"""
    text = subprocess.run([tool('nvdisasm'), '-c', cubin], capture_output=True, text=True, check=True).stdout
    at, code, loops = {}, [], []
    for line in text.splitlines():
        label = re.match(r'\s*(\.L_\w+):', line)
        if label:
            at[label[1]] = len(code)
        op = re.match(r'\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)(.*?);', line)
        if op:
            to = re.search(r'\.L_\w+', op[2]) if op[1].startswith('BRA') else None
            if to and at.get(to[0], len(code)) < len(code):
                loops.append((at[to[0]], len(code)))
            code.append(op[1])
    for a, b in sorted(loops):
        body = [op for op in code[a:b + 1] if not op.startswith('NOP')]
        if sum(1 for op in body if MATRIX.match(op)) == matrix and not any(
                a <= c and d <= b and (c, d) != (a, b) for c, d in loops):
            return len(body)
    return None


def count(cubin, product):
    """all, loop, masked, matrix, loop for each 2048 multiply-adds"""
    env = dict(os.environ, NVDISASM=tool('nvdisasm'))
    line = subprocess.run([sys.executable, os.path.join(BASELINE, 'loops.py'), cubin], env=env,
                          capture_output=True, text=True, check=True).stdout
    none = re.search(r'no loop, (\d+)', line)
    if none:
        return int(none[1]), None, None, None, None
    loop, total = (int(x) for x in re.search(r'loop (\d+) \(total (\d+)\)', line).groups())
    matrix = re.search(r'(\d+) matrix (\{[^}]*\})', line)
    fma = re.search(r'fma=(\d+)', line)
    work, masked = 0, None
    if matrix:
        first = first_loop(cubin, int(matrix[1]))
        if first and first != loop:
            loop, masked = first, loop
        work = sum(multiply_adds(k) * n for k, n in ast.literal_eval(matrix[2]).items())
    elif product and fma:
        work = 32 * int(fma[1])
    return total, loop, masked, int(matrix[1]) if matrix else None, loop * 2048 / work if work else None


def measure(ptx, folder, name, sm, product):
    cubin = os.path.join(folder, name + '.cubin')
    used = assemble(ptx, cubin, sm)
    return (*count(cubin, product), *used) if used else None


def ours(kernel, options, folder, name, sm, product):
    ptx = os.path.join(folder, name + '.ptx')
    file = os.path.join(BASELINE, 'kernels.py') if 'Python' in name else os.path.join(ROOT, 'bench', 'sass', 'kernels.tile')
    command = [TILEC, 'emit', file, kernel, '--as', 'asm',
               '--target', f'sm_{sm}', '--math=contract,approx', '-o', ptx]
    for option in options.split():
        command += ['--set', option]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        print(made.stderr.strip()[:500], file=sys.stderr)
        return None
    return measure(ptx, folder, name, sm, product)


def cell(x):
    return '' if x is None else f'{x:.2f}' if isinstance(x, float) else str(x)


def row(name, sm, a, b, product):
    which = 4 if product else 0
    ratio = a[which] / b[which] if a and b and a[which] and b[which] else None
    none = (None,) * 7
    cells = [name, f'sm_{sm}', *(cell(x) for x in a or none), *(cell(x) for x in b or none), cell(ratio)]
    print('| ' + ' | '.join(cells) + ' |', flush=True)


def main():
    arguments, only = sys.argv[1:], ''
    if arguments and arguments[0] in ('-h', '--help'):
        sys.exit(print(__doc__))
    if arguments[:1] == ['-k']:
        only, arguments = arguments[1], arguments[2:]
    if not os.path.exists(os.path.join(BASELINE, 'loops.py')):
        sys.exit(f'no loops.py in {BASELINE}: set BASELINE')
    folder = os.environ.get('KEEP') or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    heads = 'all|loop|masked|matrix|a 2048|registers|spilled'.split('|')
    print('| ' + ' | '.join(['kernel', 'target', *heads, 'Triton: all', *heads[1:], 'ratio']) + ' |')
    print('|---' * 17 + '|')
    for name, triton, kernel, product, options in CASES:
        for sm in arguments or ['75', '80', '89', '90', '120']:
            if not re.search(only, name) or (name.startswith('Hopper') and sm != '90a'):
                continue
            stem = re.sub(r'\W+', '_', name) + f'_{sm}'
            a = ours(kernel, options, folder, stem, sm, product)
            theirs = os.path.join(TRITON, f'{triton}_{sm.rstrip("a")}', 'k.ptx')
            b = measure(theirs, folder, 'triton_' + stem, sm, product) if TRITON and os.path.exists(theirs) else None
            row(name, sm, a, b, product)


if __name__ == '__main__':
    main()
