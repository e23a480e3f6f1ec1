"""The resources of a compiled kernel, as recorded by its compiler: in an ELF file, or in assembly.

Needs neither a driver nor a tool: a probe runs in the user's process, where it starts no other process. A file of a
stranger's is read in the time of its length.
"""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

_ELF = b"\x7fELF\x02\x01"
"""64 bits, little endian: all that NVIDIA's tools write."""
_INFO = b".nv.info"
_PAIRS = 4
_REGISTERS, _STACK = 0x2F, 0x12
"""EIFMT_SVAL; EIATTR_REGCOUNT and EIATTR_MIN_STACK_SIZE, as `cuobjdump -elf` calls them: each holds a symbol and its
value."""

_COUNT = re.compile(r"\.(\w+): +(\d{1,9})$", re.MULTILINE)
_GIVEN = re.compile(r"\.amdhsa_next_free_vgpr (\d{1,9})$", re.MULTILINE)
_METADATA = ".amdgpu_metadata"


class Resources(NamedTuple):
    """The resources of one kernel; None for what is not recorded."""

    registers: int | None = None
    """32-bit registers per thread."""
    allocated_registers: int | None = None
    """Registers allocated per thread, if more than used."""
    scalar_registers: int | None = None
    """Scalar registers of a wavefront, on AMD GPUs."""
    stack: int | None = None
    """Bytes of stack memory per thread: spilled registers, and arrays."""
    shared: int = 0
    """Bytes of static shared memory, whatever the launch requests."""


def of_cubin(data: bytes) -> Resources:
    """From NVIDIA's ELF file. A Triton kernel has one function; of several, the maximum."""
    values: dict[int, int] = {}
    for attribute, value in _attributes(_section(data, _INFO)):
        values[attribute] = max(value, values.get(attribute, 0))
    return Resources(registers=values.get(_REGISTERS), stack=values.get(_STACK))


def of_amdgcn(text: str) -> Resources:
    """From the metadata at the end of AMD's assembly; vector registers include those for accumulation."""
    values = {name: int(count) for name, count in _COUNT.findall(text.rpartition(_METADATA)[2])}
    used, given = values.get("vgpr_count"), _GIVEN.search(text)
    return Resources(
        registers=used,
        allocated_registers=int(given[1]) if given and int(given[1]) > (used or 0) else None,
        scalar_registers=values.get("sgpr_count"),
        stack=values.get("private_segment_fixed_size"),
        shared=values.get("group_segment_fixed_size", 0),
    )


def _section(data: bytes, wanted: bytes) -> bytes:
    """The contents of one section; empty if it does not exist."""
    if not data.startswith(_ELF):
        return b""
    try:
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
        start = headers[names][4]
        for name, _, _, _, offset, length in headers:
            if data[start + name : start + name + len(wanted) + 1] == wanted + b"\0":
                return data[offset : offset + length]
    except (struct.error, IndexError, OverflowError):
        pass
    return b""


def _attributes(info: bytes) -> Iterator[tuple[int, int]]:
    """The single-value attributes of functions: attribute, value."""
    at = 0
    while at + 4 <= len(info):
        kind, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if kind == _PAIRS:
            if size == 8 and at + 8 <= len(info):
                yield attribute, struct.unpack_from("<II", info, at)[1]
            at += size
