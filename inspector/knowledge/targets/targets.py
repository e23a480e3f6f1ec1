"""GPUs to compile for: what Inductor and Triton query of a device, and the vendor's figures.

Sources. Multiprocessors, registers, shared memory, threads: CUDA C++ Programming Guide, table "Technical Specifications
per Compute Capability", and the CDNA2 and CDNA3 white papers. Clock-bound figures (bandwidth, peak FLOP/s), L2 and
memory: the vendor's data sheet named in `source`; peaks are dense, without sparsity, with 32-bit accumulation.
"""

from typing import Final

import msgspec

GIB: Final = 1 << 30
MIB: Final = 1 << 20
KIB: Final = 1 << 10

TRITON: Final = "3.3"
"""The oldest supported release of Triton: the one that torch's oldest supported release requires, and the first that
knows all of these GPUs. pyproject.toml requires it too.
"""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One GPU, as `--target` names it; the defaults are NVIDIA's."""

    name: str
    """The architecture: `sm_90`, `gfx942`."""
    gpu: str
    backend: str = "cuda"
    """Triton's backend: cuda or hip."""
    capability: tuple[int, int]
    """torch.cuda.get_device_capability(); for AMD from the gfx number."""
    multiprocessors: int
    warp: int = 32
    """Threads of a warp, or wavefront."""
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    registers_per_multiprocessor: int = 65536
    """32-bit each."""
    shared_per_multiprocessor: int
    """Bytes."""
    shared_per_block: int
    """Maximum bytes of shared memory of a block (opt-in)."""
    l2: int
    """Bytes."""
    memory: int
    """Bytes."""
    bandwidth: float
    """Bytes per second."""
    peak: dict[str, float]
    """dtype → FLOP/s of the matrix units if they support it, else of the vector units."""
    source: str


def _peaks(**teraflops: float) -> dict[str, float]:
    """dtype → FLOP/s, from the figures of data sheets."""
    return {dtype: rate * 10**12 for dtype, rate in teraflops.items()}


_TARGETS: Final = (
    Target(
        name="sm_75",
        gpu="T4",
        capability=(7, 5),
        multiprocessors=40,
        threads_per_multiprocessor=1024,
        blocks_per_multiprocessor=16,
        shared_per_multiprocessor=64 * KIB,
        shared_per_block=64 * KIB,
        l2=4 * MIB,
        memory=16 * GIB,
        bandwidth=320e9,
        peak=_peaks(float32=8.1, float16=65, int8=130),
        source="NVIDIA T4 data sheet",
    ),
    Target(
        name="sm_80",
        gpu="A100",
        capability=(8, 0),
        multiprocessors=108,
        threads_per_multiprocessor=2048,
        blocks_per_multiprocessor=32,
        shared_per_multiprocessor=164 * KIB,
        shared_per_block=163 * KIB,
        l2=40 * MIB,
        memory=80 * GIB,
        bandwidth=2039e9,
        peak=_peaks(float64=19.5, float32=19.5, tf32=156, float16=312, bfloat16=312, int8=624),
        source="NVIDIA A100 80GB SXM data sheet",
    ),
    Target(
        name="sm_86",
        gpu="A10",
        capability=(8, 6),
        multiprocessors=72,
        threads_per_multiprocessor=1536,
        blocks_per_multiprocessor=16,
        shared_per_multiprocessor=100 * KIB,
        shared_per_block=99 * KIB,
        l2=6 * MIB,
        memory=24 * GIB,
        bandwidth=600e9,
        peak=_peaks(float32=31.2, tf32=62.5, float16=125, bfloat16=125, int8=250),
        source="NVIDIA A10 data sheet",
    ),
    Target(
        name="sm_89",
        gpu="L4",
        capability=(8, 9),
        multiprocessors=58,
        threads_per_multiprocessor=1536,
        blocks_per_multiprocessor=24,
        shared_per_multiprocessor=100 * KIB,
        shared_per_block=99 * KIB,
        l2=48 * MIB,
        memory=24 * GIB,
        bandwidth=300e9,
        peak=_peaks(float32=30.3, tf32=60, float16=121, bfloat16=121, float8=242.5, int8=242.5),
        source="NVIDIA L4 data sheet (its figures with sparsity, halved)",
    ),
    Target(
        name="sm_90",
        gpu="H100",
        capability=(9, 0),
        multiprocessors=132,
        threads_per_multiprocessor=2048,
        blocks_per_multiprocessor=32,
        shared_per_multiprocessor=228 * KIB,
        shared_per_block=227 * KIB,
        l2=50 * MIB,
        memory=80 * GIB,
        bandwidth=3352e9,
        peak=_peaks(float64=67, float32=67, tf32=494.7, float16=989.4, bfloat16=989.4, float8=1978.9, int8=1978.9),
        source="NVIDIA H100 SXM data sheet and H100 architecture white paper",
    ),
    Target(
        name="sm_100",
        gpu="B200",
        capability=(10, 0),
        multiprocessors=148,
        threads_per_multiprocessor=2048,
        blocks_per_multiprocessor=32,
        shared_per_multiprocessor=228 * KIB,
        shared_per_block=227 * KIB,
        l2=126 * MIB,
        memory=180 * GIB,
        bandwidth=7700e9,
        peak=_peaks(float64=37, float32=75, tf32=1100, float16=2250, bfloat16=2250, float8=4500, int8=4500),
        source="NVIDIA HGX B200 data sheet (of 8 GPUs, divided)",
    ),
    Target(
        name="sm_120",
        gpu="RTX 5090",
        capability=(12, 0),
        multiprocessors=170,
        threads_per_multiprocessor=1536,
        blocks_per_multiprocessor=24,
        shared_per_multiprocessor=100 * KIB,
        shared_per_block=99 * KIB,
        l2=96 * MIB,
        memory=32 * GIB,
        bandwidth=1792e9,
        peak=_peaks(float32=104.8, tf32=104.8, float16=209.5, bfloat16=209.5, float8=419, int8=838),
        source="NVIDIA RTX Blackwell architecture white paper",
    ),
    Target(
        name="gfx90a",
        gpu="MI250X (one die of two)",
        backend="hip",
        capability=(9, 0),
        multiprocessors=110,
        warp=64,
        threads_per_multiprocessor=2048,
        blocks_per_multiprocessor=32,
        registers_per_multiprocessor=131072,
        shared_per_multiprocessor=64 * KIB,
        shared_per_block=64 * KIB,
        l2=8 * MIB,
        memory=64 * GIB,
        bandwidth=1638e9,
        peak=_peaks(float64=47.9, float32=47.9, float16=191.5, bfloat16=191.5, int8=191.5),
        source="AMD Instinct MI250X data sheet (of two dies, halved)",
    ),
    Target(
        name="gfx942",
        gpu="MI300X",
        backend="hip",
        capability=(9, 4),
        multiprocessors=304,
        warp=64,
        threads_per_multiprocessor=2048,
        blocks_per_multiprocessor=32,
        registers_per_multiprocessor=131072,
        shared_per_multiprocessor=64 * KIB,
        shared_per_block=64 * KIB,
        l2=4 * MIB,
        memory=192 * GIB,
        bandwidth=5300e9,
        peak=_peaks(
            float64=163.4, float32=163.4, tf32=653.7, float16=1307.4, bfloat16=1307.4, float8=2614.9, int8=2614.9
        ),
        source="AMD Instinct MI300X data sheet",
    ),
)

TARGETS: Final = {target.name: target for target in _TARGETS}
"""By name of the architecture."""
