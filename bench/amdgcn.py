#!/usr/bin/env python3
"""Our code for AMD's GPUs against Triton's, kernel by kernel; no GPU needed.

usage: bench/amdgcn.py [-k REGEX] [-v] [PROCESSOR…]
       bench/amdgcn.py FILE.s|FILE.amdgcn…      only the loops of these

PROCESSOR: gfx90a gfx942 gfx950 gfx1100 gfx1201 (default: all)
  TILEC     the command (default: build/debug/tilec)
  TRITON    Triton's outputs, KERNEL_PROCESSOR/k.amdgcn (scripts/triton-ptx.sh makes them); without
            them only our side is printed
  KEEP      a directory for our assembly (default: a temporary one)

Both sides are counted by the same rules from LLVM's assembly. The main loop is the natural loop
without an inner loop that has the most matrix instructions (else multiply-adds, else instructions).
If several have the same number of matrix instructions, it is the first, which does the steps of
whole tiles; "masked" is the last one, which does the steps of tiles at an edge.
"loop": the instructions on the shortest path around the main loop that passes every block with
matrix instructions, multiply-adds or loads from global memory; this is the path of a tile without
edges. Waits, s_nop, s_delay_alu and s_clause are not counted, and a pair counts as one. "matrix":
the matrix instructions among them. "a 2048": instructions of the loop for each 2048 multiply-adds
of a wave. "VGPRs" (with accumulators) and spilled ones come from the metadata. "waves": the waves
of a SIMD that the VGPRs allow. "ratio" is ours divided by Triton's: of "a 2048" if the kernel is a
product, else of "all". -v adds a line for each group of instructions in loops of products.

The table goes into docs/performance.md by

    bench/amdgcn.py … | scripts/gen/results.sh keep amd-triton MACHINE COMMAND && scripts/gen/results.sh
"""
import collections, heapq, os, re, subprocess, sys, tempfile
from sass import CASES, ROOT, TILEC, TRITON, cell

PROCESSORS = 'gfx90a gfx942 gfx950 gfx1100 gfx1201'.split()
SKIPPED = re.compile(r's_(nop|delay_alu|clause|waitcnt|wait_|code_end|set_vgpr_msb)')
MATRIX = re.compile(r'v_(?:s?mfmac?|s?wmmac?|smfmac|wmma)\w*?_(\d+)x(\d+)x(\d+)')
MULTIPLY_ADD = re.compile(r'v_(?:dual_)?(?:pk_)?(?:fma|fmac|fmaak|fmamk)_f32|v_dot2c?_f32')
LOAD = re.compile(r'(?:global|buffer|flat)_load')
GROUPS = [('matrix', MATRIX.pattern), ('multiply-add', MULTIPLY_ADD.pattern),
          ('fence', r'global_(?:inv|wb)|buffer_(?:gl|inv|wb)|s_dcache'),
          ('direct to LDS', r'(?:global_load_lds|buffer_load.*\blds\b)'),
          ('load', LOAD.pattern), ('store', r'(?:global|buffer|flat)_store'),
          ('scalar load', r's_(?:buffer_)?load'), ('LDS load', r'ds_(?:read|load)'),
          ('LDS store', r'ds_(?:write|store)'), ('LDS shuffle', r'ds_'), ('scratch', r'scratch_'),
          ('accumulator move', r'v_accvgpr'), ('exp and kin', r'v_(?:exp|rcp|log|rsq|sqrt)'),
          ('convert', r'v_cvt|v_fma_mix'), ('permute', r'v_perm|v_readlane|v_writelane|v_readfirst'),
          ('select and compare', r'v_cndmask|v_cmp'),
          ('float', r'v_(?:dual_)?(?:pk_)?(?:add|sub|subrev|mul|max|min|maximum|minimum|max3|mul_legacy)\w*_f\d'),
          ('move', r'v_(?:dual_|pk_)?mov|v_swap'), ('integer', r'v_'), ('branch', r's_c?branch'),
          ('barrier', r's_barrier'), ('scalar', r's_')]


class Block:
    def __init__(self):
        self.code, self.next = [], []

    def size(self):
        return sum(1 for op in self.code if not SKIPPED.match(op))

    def must(self):
        return any(MATRIX.match(op) or MULTIPLY_ADD.search(op) or LOAD.match(op) for op in self.code)


def parse(path):
    """blocks of the first function, in order"""
    labels, blocks = {}, [Block()]
    branches = []
    for line in open(path, errors='replace'):
        if re.match(r'\s*\.section\s+\.rodata|\.Lfunc_end', line) and len(blocks) > 1:
            break
        label = re.match(r'(\.LBB\w+):', line)
        if label:
            if blocks[-1].code:
                blocks.append(Block())
            labels[label[1]] = len(blocks) - 1
            continue
        op = re.match(r'\s+((?:v|s|ds|global|buffer|flat|scratch)_\w+.*?)\s*(?:;|//|$)', line)
        if not op:
            continue
        blocks[-1].code.append(op[1])
        if re.match(r's_c?branch|s_endpgm', op[1]):
            branches.append((len(blocks) - 1, op[1]))
            blocks.append(Block())
    ends = set()
    for at, op in branches:
        target = re.search(r'\.LBB\w+', op)
        if target:
            blocks[at].next.append(labels[target[0]])
        if not op.startswith('s_cbranch'):
            ends.add(at)
    for at in range(len(blocks) - 1):
        if at not in ends:
            blocks[at].next.append(at + 1)
    return blocks


def natural_loops(blocks):
    """header → set of blocks"""
    before = collections.defaultdict(set)
    for at, block in enumerate(blocks):
        for to in block.next:
            before[to].add(at)
    reached, work = {0}, [0]
    while work:
        for to in blocks[work.pop()].next:
            if to not in reached:
                reached.add(to), work.append(to)
    everything = set(reached)
    dominators = {at: set(everything) for at in reached}
    dominators[0], changed = {0}, True
    while changed:
        changed = False
        for at in sorted(reached - {0}):
            seen = [dominators[b] for b in before[at] if b in reached]
            new = set.intersection(*seen) | {at}
            if new != dominators[at]:
                dominators[at], changed = new, True
    found = collections.defaultdict(set)
    for at in reached:
        for header in blocks[at].next:
            if header not in dominators[at]:
                continue
            body, work = {header, at}, [at] if at != header else []
            while work:
                for b in before[work.pop()]:
                    if b in reached and b not in body and header != b:
                        body.add(b), work.append(b)
            found[header] |= body
    return found


def way(blocks, body, start, ends):
    """the cheapest path in the loop from a block to any of the others; (cost, blocks) or None"""
    heap, done = [(0, [start])], set()
    while heap:
        cost, path = heapq.heappop(heap)
        at = path[-1]
        if at in ends and len(path) > 1:
            return cost, path
        if at in done:
            continue
        done.add(at)
        for to in blocks[at].next:
            if to in body and (to not in done or to in ends):
                heapq.heappush(heap, (cost + blocks[to].size(), path + [to]))
    return None


def around(blocks, header, body):
    """blocks of the shortest path around the loop that passes all required blocks"""
    order, seen = [], set()

    def visit(root):
        stack = [(root, iter(blocks[root].next))]
        seen.add(root)
        while stack:
            at, rest = stack[-1]
            for to in rest:
                if to in body and to not in seen:
                    seen.add(to)
                    stack.append((to, iter(blocks[to].next)))
                    break
            else:
                order.append(at)
                stack.pop()
    visit(header)
    stops = [at for at in reversed(order) if at != header and blocks[at].must()] + [header]
    path = [header]
    for stop in stops:
        found = way(blocks, body, path[-1], {stop})
        if not found:  # the other arm of a branch: passed by neither
            continue
        path += found[1][1:]
    return path[:-1] if len(path) > 1 else path


def multiply_adds(op, lanes):
    shape = MATRIX.match(op)
    if shape:
        m, n, k = (int(x) for x in shape.groups())
        blocks = re.search(r'_(\d+)b_', op)
        return m * n * k * (int(blocks[1]) if blocks else 1)
    return lanes * sum((2 if '_pk_' in x or 'dot2' in x else 1) for x in MULTIPLY_ADD.findall(op))


def waves(processor, vgprs):
    older = processor.startswith('gfx9')
    room, group, most = (512, 8, 8) if older else (1536, 24, 16) if processor >= 'gfx11' else (1024, 16, 16)
    return min(most, room // max(group, (vgprs + group - 1) // group * group))


def measure(path, processor):
    blocks = parse(path)
    lanes = 64 if processor.startswith('gfx9') else 32
    text = open(path, errors='replace').read()

    def number(name):
        return int((re.search(rf'\.{name}:\s*(\d+)', text) or [0, 0])[1])
    result = {'all': sum(b.size() for b in blocks), 'vgprs': number('vgpr_count'), 'loop': None, 'masked': None, 'matrix': None,
              'a2048': None, 'spilled': number('vgpr_spill_count'), 'scratch': number('private_segment_fixed_size')}
    result['waves'] = waves(processor, result['vgprs'])
    loops, best = natural_loops(blocks), None
    for header, body in sorted(loops.items()):
        if any(h != header and b < body for h, b in loops.items()):
            continue
        code = [op for at in around(blocks, header, body) for op in blocks[at].code]
        kinds = [sum(1 for op in code if MATRIX.match(op)), sum(len(MULTIPLY_ADD.findall(op)) for op in code), len(code)]
        if best and kinds[0] and kinds[0] == best[0][0]:
            result['masked'] = sum(1 for op in code if not SKIPPED.match(op))
        elif best is None or kinds > best[0]:
            best = kinds, code
            result['masked'] = None
    if best:
        code = [op for op in best[1] if not SKIPPED.match(op)]
        work = sum(multiply_adds(op, lanes) for op in code if not best[0][0] or MATRIX.match(op))
        result['loop'], result['matrix'] = len(code), best[0][0] or None
        result['a2048'] = len(code) * 2048 / work if work else None
        result['groups'] = collections.Counter(
            next((name for name, rx in GROUPS if re.match(rx, op)), 'other') for op in code)
        result['kinds'] = collections.Counter(op.split()[0] for op in code if MATRIX.match(op))
        result['code'] = best[1]
    return result


def ours(kernel, options, folder, name, processor):
    path = os.path.join(folder, name + '.s')
    command = [TILEC, 'emit', os.path.join(ROOT, 'bench', 'sass', 'kernels.tile'), kernel, '--as', 'asm',
               '--target', processor, '--math=contract,approx', '-o', path]
    for option in options.replace('stages=3', 'stages=2').split():
        command += ['--set', option]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        print(made.stderr.strip()[:500], file=sys.stderr)
        return None
    return measure(path, processor)


COLUMNS = ['all', 'loop', 'masked', 'matrix', 'a2048', 'vgprs', 'waves', 'spilled']


def row(name, processor, a, b, product):
    which = 'a2048' if product else 'all'
    ratio = a[which] / b[which] if a and b and a[which] and b[which] else None
    shown = [c for c in COLUMNS if product or c != 'a2048']
    cells = [name, processor, *(cell(x.get(c) if c in shown else None) for x in (a or {}, b or {}) for c in COLUMNS),
             cell(ratio)]
    print('| ' + ' | '.join(cells) + ' |', flush=True)


def groups(side, x):
    if x and x.get('groups'):
        print(f'    {side}: ' + ', '.join(f'{n} {k}' for k, n in x['groups'].most_common()) +
              (f' {dict(x["kinds"])}' if x['kinds'] else ''))


def main():
    arguments, only, verbose = sys.argv[1:], '', False
    while arguments and arguments[0].startswith('-'):
        option = arguments.pop(0)
        if option == '-k' and arguments:
            only = arguments.pop(0)
        elif option == '-v':
            verbose = True
        else:
            sys.exit(print(__doc__))
    for path in [x for x in arguments if os.path.exists(x)]:
        processor = re.search(r'gfx\w+', open(path, errors='replace').read())[0]
        x = measure(path, processor)
        print(f'{path}: ' + ', '.join(f'{c} {cell(x[c])}' for c in COLUMNS))
        groups(processor, x)
    if any(os.path.exists(x) for x in arguments):
        return
    folder = os.environ.get('KEEP') or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    heads = 'all|loop|masked|matrix|a 2048|VGPRs|waves|spilled'.split('|')
    print('| ' + ' | '.join(['kernel', 'target', *heads, 'Triton: all', *heads[1:], 'ratio']) + ' |')
    print('|---' * 19 + '|')
    for name, triton, kernel, product, options in CASES:
        for processor in arguments or PROCESSORS:
            if not re.search(only, name):
                continue
            a = ours(kernel, options, folder, re.sub(r'\W+', '_', name) + f'_{processor}', processor)
            theirs = os.path.join(TRITON, f'{triton}_{processor}', 'k.amdgcn')
            b = measure(theirs, processor) if TRITON and os.path.exists(theirs) else None
            row(name, processor, a, b, product)
            if verbose and product:
                groups('ours', a), groups('Triton', b)


if __name__ == '__main__':
    main()
