"""Theoretical occupancy: how many warps of a kernel a multiprocessor can hold at once, and what keeps out more.

NVIDIA: the CUDA occupancy calculator, cuda_occupancy.h of the CUDA toolkit 13 ("CUDA C++ Programming Guide", section
"Multiprocessor Level", tells the same in words). A warp's registers come in pieces of 256, all from one of four equal
parts of the register file; a block's shared memory comes in pieces, and from compute capability 8.0 on the driver adds
1 KiB of its own.

AMD: LLVM's GCNSubtarget and AMDGPUBaseInfo, which write their own answer into the assembly as `; Occupancy: 8`. A
compute unit has four SIMDs, each with room for 8 wavefronts and 512 vector registers a lane, which a wavefront takes in
pieces of 8; one that takes more than 100 scalar registers leaves room for 7. Local data share comes in pieces of 512
bytes.
"""

from typing import Final

import msgspec

from inspect_compile.knowledge.targets import Target

PARTS: Final = 4
"""Parts of a multiprocessor, each with its own registers: SM sub-partitions, SIMDs."""

LIMITS: Final = ("warps", "blocks", "registers", "shared memory")
"""What can keep out more warps. Where several do, the first."""

_MOST_THREADS: Final = 1024
"""Of a block."""

_MANY_SCALARS: Final = 100
_WITH_MANY_SCALARS: Final = 7


class Occupancy(msgspec.Struct, frozen=True):
    """How full a multiprocessor can be."""

    warps: int
    """At once; 0 where not one block has room."""
    most: int
    """The multiprocessor holds this many."""
    blocks: int
    limit: str
    """One of LIMITS; `warps` where it is full, or where the warps of one more block would be too many."""

    @property
    def share(self) -> float:
        """0 to 1."""
        return self.warps / self.most


class _Pieces(msgspec.Struct, frozen=True):
    """How a target gives out what it has."""

    registers: int
    """32-bit registers of a warp."""
    shared: int
    """Bytes of a block."""
    reserved: int = 0
    """Bytes of shared memory that every block takes besides its own."""
    has_scalars: bool = False
    """Wavefronts have registers that all their threads share."""


def occupancy(
    target: Target, *, warps: int, registers: int, shared: int, scalar_registers: int | None = None
) -> Occupancy:
    """Of blocks with this many `warps`, whose threads take `registers` each and that take `shared` bytes each."""
    pieces = _pieces(target)
    most = target.threads_per_multiprocessor // target.warp
    of_a_warp = _up(registers * target.warp, pieces.registers)
    fit = PARTS * (target.registers_per_multiprocessor // PARTS // of_a_warp) if of_a_warp else most
    if pieces.has_scalars and (scalar_registers or 0) > _MANY_SCALARS:
        fit = min(fit, PARTS * _WITH_MANY_SCALARS)
    of_a_block = _up(shared + pieces.reserved, pieces.shared)
    room = {
        "warps": most // warps if warps * target.warp <= _MOST_THREADS else 0,
        "blocks": target.blocks_per_multiprocessor,
        "registers": fit // warps,
        "shared memory": target.shared_per_multiprocessor // of_a_block if of_a_block else most,
    }
    if shared > target.shared_per_block:
        room["shared memory"] = 0
    blocks = min(room.values())
    return Occupancy(blocks * warps, most, blocks, next(limit for limit in LIMITS if room[limit] == blocks))


def _pieces(target: Target) -> _Pieces:
    if target.backend == "hip":
        return _Pieces(registers=8 * target.warp, shared=512, has_scalars=True)
    if target.capability < (8, 0):
        return _Pieces(registers=256, shared=256)
    return _Pieces(registers=256, shared=128, reserved=1024)


def _up(count: int, piece: int) -> int:
    """`count`, in whole pieces."""
    return -(-count // piece) * piece
