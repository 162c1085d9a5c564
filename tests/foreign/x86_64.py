"""The processor of Bochs for x86_64.c, with the region of call.h as its memory.

    python x86_64.py RUNNER

File 3 is the region, standard input the socket. Needs bochscpu (PyPI: bochscpu-python).
"""
import ctypes
import functools
import mmap
import os
import struct
import sys

# The wheel of bochscpu wants two names of glibc 2.38, which older ones lack.
ctypes.CDLL(os.path.join(os.path.dirname(sys.argv[1]), "libforeign_glibc.so"), ctypes.RTLD_GLOBAL)

import bochscpu  # noqa: E402
from bochscpu._bochscpu import memory  # noqa: E402

REGION, REGION_SIZE, MESSAGE = 0x200000000000, 128 << 20, 80
LETTER = REGION_SIZE - 4096
LOW_SIZE, REGION_AT = 8 << 20, 16 << 20
COPIES = range(REGION + (7 << 20), REGION + (8 << 20))
# Of every two pages of 2 MiB the second is mapped: the runner is linked for one, the stack has one.
TABLES = 0x1000
DESCRIPTORS, TASK, FAULT_STACK, STACK = 0x300000, 0x301000, 0x320000, 0x7FF000

BOCHS = ctypes.CDLL(bochscpu._bochscpu.__file__)
BOCHS._Z18get_bx_opcode_namet.restype = ctypes.c_char_p
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


@functools.cache
def is_wrong(number, first_byte):
    """Is this one of the instructions of which x86_64.c makes others?"""
    name = BOCHS._Z18get_bx_opcode_namet(number).decode()
    wrong = "KSHIFTLW", "KSHIFTRW", "VPINSRB", "VPSRAVQ"
    return first_byte in (0x62, 0xC4) and any(w in name for w in wrong) and \
        (first_byte == 0x62 or "KSHIFT" in name)


def insert(space, at):
    """Makes a mapping the machine's memory from this address on."""
    first = ctypes.addressof(ctypes.c_char.from_buffer(space))
    for offset in range(0, len(space), 4096):
        memory.page_insert(at + offset, first + offset)


def load(low, path):
    """Loads a linked program; its entry."""
    with open(path, "rb") as file:
        program = file.read()
    entry, headers = struct.unpack_from("<QQ", program, 24)
    size, count = struct.unpack_from("<HH", program, 54)
    for i in range(count):
        kind, _, offset, _, at, length = struct.unpack_from("<IIQQQQ", program, headers + i * size)
        if kind == 1:
            low[at:at + length] = program[offset:offset + length]
    return entry


def put_tables(low):
    """Maps half of low memory as it is and the region where the tests have it, in pages of 2 MiB."""

    def entry(table, index, value):
        struct.pack_into("<Q", low, TABLES + table * 4096 + index * 8, value)
    entry(0, 0, TABLES + 0x1003)
    entry(0, REGION >> 39, TABLES + 0x3003)
    entry(1, 0, TABLES + 0x2003)
    entry(3, REGION >> 30 & 511, TABLES + 0x4003)
    for i in range(1, LOW_SIZE >> 21, 2):
        entry(2, i, i << 21 | 0x83)
    for i in range(REGION_SIZE >> 21):
        entry(4, i, REGION_AT + (i << 21) | 0x83)
    struct.pack_into("<QQQ", low, DESCRIPTORS, 0, 0xAF9B000000FFFF, 0xCF93000000FFFF)
    struct.pack_into("<Q", low, TASK + 36, FAULT_STACK)


def segment(selector, attributes):
    s = bochscpu.Segment()
    s.present, s.selector, s.base, s.limit, s.attr = True, selector, 0, 0xFFFFFFFF, attributes
    return s


def state_at(entry):
    """64-bit mode, with all vector registers on."""
    s = bochscpu.State()
    s.cr0, s.cr3, s.cr4, s.efer = 0x80010033, TABLES, 0x40620, 0x500
    s.xcr0, s.rflags, s.mxcsr, s.mxcsr_mask = 0xE7, 2, 0x1F80, 0xFFFF
    s.rip, s.rsp = entry, STACK - 8
    table = bochscpu.GlobalSegment()
    table.base, table.limit = DESCRIPTORS, 23
    s.gdtr = table
    s.cs = segment(8, 0xA09B)
    for name in ("ds", "es", "fs", "gs", "ss"):
        setattr(s, name, segment(16, 0xC093))
    task = segment(24, 0x808B)
    task.base, task.limit = TASK, 103
    s.tr = task
    return s


def main():
    low = mmap.mmap(-1, LOW_SIZE)
    region = mmap.mmap(3, REGION_SIZE)
    insert(low, 0)
    insert(region, REGION_AT)
    put_tables(low)

    def flushed(session, cpu, linear, physical):
        if linear == REGION + LETTER:
            os.write(0, region[LETTER:LETTER + MESSAGE])
            return
        message = b""
        while len(message) < MESSAGE:
            more = os.read(0, MESSAGE - len(message))
            if not more:
                os._exit(0)
            message += more
        region[LETTER:LETTER + MESSAGE] = message

    invalid = ctypes.cast(BOCHS._ZN8BX_CPU_C7BxErrorEP15bxInstruction_c, ctypes.c_void_p).value

    # A decoded instruction begins with the address of what executes it.
    def decoded(session, cpu, instruction, first_byte, length, is32, is64):
        at = pointer_of(instruction, b"nb_handle")
        number = BOCHS.bochscpu_instr_bx_opcode(ctypes.c_void_p(at))
        if is_wrong(number, first_byte) and session.cpu.rip not in COPIES:
            ctypes.c_uint64.from_address(at).value = invalid

    def missing(address):
        os._exit(1)

    session = bochscpu.Session()
    session.missing_page_handler = missing
    session.cpu.state = state_at(load(low, sys.argv[1]))
    hook = bochscpu.Hook()
    hook.clflush = flushed
    hook.opcode = decoded
    session.run([hook])


main()
