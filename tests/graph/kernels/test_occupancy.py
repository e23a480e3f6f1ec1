"""Occupancy, against what the vendors publish and against NVIDIA's own calculator."""

import importlib.util
import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from inspect_compile.graph.kernels.occupancy import LIMITS, Occupancy, occupancy
from inspect_compile.knowledge.targets.targets import TARGETS

CALCULATOR = """
#include <climits>
#include <cstdio>
#include <cuda_occupancy.h>

int main() {
  cudaOccDeviceProp device;
  int warps, registers, shared;
  device.maxThreadsPerBlock = 1024;
  device.regsPerBlock = 65536;
  device.warpSize = 32;
  device.numSms = 1;
  device.sharedMemPerBlock = 49152;
  while (scanf("%d %d %d %d %zu %zu %zu %d %d %d", &device.computeMajor, &device.computeMinor,
               &device.maxThreadsPerMultiprocessor, &device.regsPerMultiprocessor, &device.sharedMemPerMultiprocessor,
               &device.sharedMemPerBlockOptin, &device.reservedSharedMemPerBlock, &warps, &registers, &shared) == 10) {
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX;
    function.numRegs = registers;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = shared;
    cudaOccDeviceState state;
    cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, 32 * warps, shared)) return 1;
    printf("%d %u\\n", result.activeBlocksPerMultiprocessor, result.limitingFactors);
  }
}
"""
FACTORS = {"warps": 1, "registers": 2, "shared memory": 4, "blocks": 8}


def include() -> Path | None:
    """The folder of the header, in the triton wheel."""
    found = importlib.util.find_spec("triton")
    places = found.submodule_search_locations if found is not None else None
    folders = [Path(place, "backends", "nvidia", "include") for place in places or ()]
    return next((folder for folder in folders if (folder / "cuda_occupancy.h").is_file()), None)


@pytest.mark.skipif(include() is None or shutil.which("g++") is None, reason="needs Triton's wheel and a C++ compiler")
def test_nvidias_calculator_says_the_same(tmp_path: Path) -> None:
    (tmp_path / "calculator.cpp").write_text(CALCULATOR)
    build = ["g++", "-w", f"-I{include()}", "calculator.cpp", "-o", "calculator"]
    subprocess.run(build, cwd=tmp_path, check=True, timeout=60)
    asked = [
        (target, warps, registers, shared)
        for target in TARGETS.values()
        if target.backend == "cuda"
        for warps, registers, shared in itertools.product(
            (1, 2, 3, 4, 8, 10, 16, 32),
            (1, 16, 24, 25, 32, 33, 40, 64, 65, 72, 96, 128, 168, 255),
            (0, 1, 1024, 9000, 48 << 10, 64 << 10, 99 << 10, 100 << 10, 163 << 10, 227 << 10, 228 << 10),
        )
    ]
    words = "".join(
        f"{target.capability[0]} {target.capability[1]} {target.threads_per_multiprocessor} "
        f"{target.registers_per_multiprocessor} {target.shared_per_multiprocessor} {target.shared_per_block} "
        f"{1024 if target.capability >= (8, 0) else 0} {warps} {registers} {shared}\n"
        for target, warps, registers, shared in asked
    )

    done = subprocess.run(
        [os.path.join(tmp_path, "calculator")], input=words, capture_output=True, text=True, check=True, timeout=60
    )

    told = done.stdout.splitlines()
    assert len(told) == len(asked) > 8000
    for (target, warps, registers, shared), line in zip(asked, told, strict=True):
        blocks, factors = map(int, line.split())
        mine = occupancy(target, warps=warps, registers=registers, shared=shared)
        where = f"{target.name}: {warps} warps, {registers} registers, {shared} bytes: {mine}, {line}"
        assert (mine.blocks, mine.warps) == (blocks, blocks * warps), where
        if blocks:
            assert FACTORS[mine.limit] & factors, where


@pytest.mark.parametrize(("threads", "blocks", "share"), [(128, 12, 0.75), (320, 4, 0.625)])
def test_the_example_of_the_cuda_best_practices_guide(threads: int, blocks: int, share: float) -> None:
    """Section "Calculating Occupancy": 37 registers, 65,536 of them and 2,048 threads a multiprocessor."""
    found = occupancy(TARGETS["sm_80"], warps=threads // 32, registers=37, shared=0)
    assert found == Occupancy(blocks * threads // 32, 64, blocks, "registers")
    assert found.share == share


@pytest.mark.parametrize(
    ("registers", "waves"), [(64, 8), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2), (512, 1)]
)
def test_the_table_of_amds_note_on_register_pressure(registers: int, waves: int) -> None:
    """AMD lab notes, "Register pressure in AMD CDNA2 GPUs": the most vector registers for so many waves of a SIMD."""
    target = TARGETS["gfx90a"]
    assert occupancy(target, warps=1, registers=registers, shared=0).warps == 4 * waves
    if registers < 512:
        assert occupancy(target, warps=1, registers=registers + 1, shared=0).warps < 4 * waves


def test_the_example_of_llvms_calculator() -> None:
    """llvm-calc-occupancy -mcpu=gfx90a --wg-size=512 --vgprs=50 --sgprs=30: 8 waves of each SIMD."""
    found = occupancy(TARGETS["gfx90a"], warps=8, registers=50, shared=0, scalar_registers=30)
    assert (found.warps, found.most, found.limit) == (32, 32, "warps")


def test_amd_by_hand() -> None:
    target = TARGETS["gfx942"]
    assert occupancy(target, warps=1, registers=8, shared=0, scalar_registers=101).warps == 28
    # 16,384 + 4,096 bytes, 3 blocks of 4 wavefronts fit into 65,536.
    assert occupancy(target, warps=4, registers=32, shared=20_480) == Occupancy(12, 32, 3, "shared memory")
    # One byte more takes another piece of 512; 65,536 / 16,896 is 3.
    assert occupancy(target, warps=4, registers=32, shared=16_385).blocks == 3
    assert occupancy(target, warps=4, registers=32, shared=16_384).blocks == 4


def test_a_block_that_cannot_be_there_at_all() -> None:
    for target in TARGETS.values():
        most = target.shared_per_block
        found = occupancy(target, warps=4, registers=32, shared=most + 1)
        assert (found.warps, found.share, found.limit) == (0, 0, "shared memory")
        assert occupancy(target, warps=4, registers=32, shared=most).blocks == 1
        assert found.limit in LIMITS
