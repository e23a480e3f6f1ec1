"""Theoretical occupancy: how many warps of a kernel a multiprocessor can hold at once, and what limits it.

NVIDIA: the CUDA occupancy calculator, cuda_occupancy.h of the CUDA toolkit 13 ("CUDA C++ Programming Guide", section
"Multiprocessor Level", explains it). A warp's registers are allocated in units of 256, all from one of four equal parts
of the register file; a block's shared memory is allocated in units, and from compute capability 8.0 on the driver adds
1 KiB per block.

AMD: LLVM's GCNSubtarget and AMDGPUBaseInfo, which write their own result into the assembly as `; Occupancy: 8`. A
compute unit has four SIMDs, each with room for 8 wavefronts and 512 vector registers per lane, which a wavefront
allocates in units of 8; one with more than 100 scalar registers limits a SIMD to 7. Local data share is allocated in
units of 512 bytes.
"""

from typing import Final

import msgspec

from inspect_compile.knowledge.targets.targets import Target

PARTS: Final = 4
"""Parts of a multiprocessor with separate register files: SM sub-partitions, SIMDs."""

LIMITS: Final = ("warps", "blocks", "registers", "shared memory")
"""What can limit the number of warps; if several do, the first is named."""

_MOST_THREADS: Final = 1024
"""Threads of a block, at most."""

_MANY_SCALARS: Final = 100
_WITH_MANY_SCALARS: Final = 7


class Occupancy(msgspec.Struct, frozen=True):
    """Occupancy of a multiprocessor."""

    warps: int
    """Resident warps; 0 if not one block fits."""
    most: int
    """Maximum number of warps on the multiprocessor."""
    blocks: int
    limit: str
    """One of LIMITS; `warps` if it is full, or the warps of one more block would not fit."""

    @property
    def share(self) -> float:
        """`warps` / `most`, between 0 and 1."""
        return self.warps / self.most


class _Pieces(msgspec.Struct, frozen=True):
    """Allocation units of a target."""

    registers: int
    """32-bit registers of a warp."""
    shared: int
    """Bytes of shared memory of a block."""
    reserved: int = 0
    """Bytes of shared memory that every block takes in addition."""
    has_scalars: bool = False
    """Whether wavefronts have scalar registers, shared by their threads."""


def occupancy(
    target: Target, *, warps: int, registers: int, shared: int, scalar_registers: int | None = None
) -> Occupancy:
    """Occupancy of blocks of `warps` warps, each with `registers` per thread and `shared` bytes of shared memory."""
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
    """`count` rounded up to a multiple of `piece`."""
    return -(-count // piece) * piece
