"""On a machine with a CUDA device: Triton kernels, their sources and launches are in the dump."""

import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from inspect_compile.analysis.compare.replays import replays
from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Hook, Kernel
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.binaries import configurations
from inspect_compile.launch.replay import replayed
from tests.conftest import SAMPLES
from tests.private_names import astray

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def _recorded(sample: str, folder: Path) -> Dump:
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(folder / "dump")]
    script = [str(SAMPLES / f"{sample}.py"), "--device", "cuda"]
    subprocess.run([*command, *script], check=True, timeout=300)
    return open_dump(folder / "dump")


@pytest.mark.parametrize("sample", ["softmax_mlp", "user_triton_kernel"])
def test_a_graph_compiled_again_gives_the_same_code(sample: str, tmp_path: Path) -> None:
    dump = _recorded(sample, tmp_path)

    for graph in dump.outermost():
        assert not replayed(CompiledGraph(dump, graph.graph)).failure
    dump.refresh()
    compiled = [(row.target, row.same_code) for found in replays(dump) for row, _ in found.again]
    assert compiled == [("", True) for _ in dump.outermost()]


@pytest.mark.parametrize("sample", ["softmax_mlp", "user_triton_kernel"])
def test_triton_kernels(sample: str, tmp_path: Path) -> None:
    dump = _recorded(sample, tmp_path)

    (graph,) = (graph.graph for graph in dump.graphs())
    code = (dump.text(graph, "output_code.py") or "").splitlines()
    triton = [kernel for kernel in dump.rows(Kernel, graph) if kernel.kind in ("triton", "user_triton")]
    assert triton
    for kernel in triton:
        assert kernel.device == "cuda:0"
        assert kernel.launches
        assert all(f"{kernel.name}.run(" in code[line - 1] for line in kernel.launches)
        assert "@triton.jit" in (dump.text(graph, kernel.source) or "")
    assert astray(dump.rows(Hook)) == {}


def test_a_kernel_of_the_users_is_told_apart(tmp_path: Path) -> None:
    dump = _recorded("user_triton_kernel", tmp_path)

    own = [kernel for kernel in dump.rows(Kernel) if kernel.kind == "user_triton"]
    assert [kernel.name for kernel in own] == ["blend_kernel_0"]
    assert own[0].nodes == ("triton_kernel_wrapper_mutation",)
    assert own[0].operations


@pytest.mark.parametrize("word", ["", "descent", "subproc"])
def test_the_winner_of_the_autotuning_is_what_torch_remembers(word: str, tmp_path: Path) -> None:
    program = Path(__file__).parent / "programs" / "tuned.py"
    command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", str(tmp_path / "dump")]
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [*command, str(program), word], env=environment, stderr=subprocess.PIPE, text=True, check=True, timeout=300
    )
    dump = open_dump(tmp_path / "dump")
    (graph,) = (graph.graph for graph in dump.graphs())
    kernels = {kernel.name: kernel for kernel in dump.rows(Kernel, graph)}

    operation, *tuned = autotuned(CompiledGraph(dump, graph))

    assert operation.runs is True
    assert operation.in_worker == (word == "subproc")
    told = re.findall(r"^  (\w+) ([0-9.]+) ms ", done.stderr, re.MULTILINE)  # torch prints the ten best
    times = {row.label: row.milliseconds for row in operation.choices if not row.step}
    assert {name: float(time) for name, time in told} == {name: round(times[name] or 0.0, 4) for name, _ in told}
    assert tuned
    for row in tuned:
        assert row.runs is True
        assert all(option.registers is not None for option in row.choices)
        if word == "subproc":
            continue  # it keeps nothing on disk
        (best,) = Path(kernels[row.kernel].path).parent.glob("*.best_config")
        remembered = json.loads(best.read_text())
        assert {name: remembered[name] for name in row.choices[0].config} == row.choices[0].config


@pytest.mark.parametrize("sample", ["softmax_mlp", "user_triton_kernel"])
def test_compiled_kernels_ask_for_what_the_driver_says(sample: str, tmp_path: Path) -> None:
    """Registers, spills and the blocks that fit, of each configuration that Triton compiled."""
    dump = _recorded(sample, tmp_path)
    torch.zeros(1, device="cuda")  # makes the context that the driver is asked in
    major, minor = torch.cuda.get_device_capability()

    for graph in dump.graphs():
        rows = configurations(CompiledGraph(dump, graph.graph))
        kernels = [kernel for kernel in dump.rows(Kernel, graph.graph) if kernel.kind in ("triton", "user_triton")]
        assert {row.kernel for row in rows} == {kernel.name for kernel in kernels}
        for row in rows:
            assert row.target == f"sm_{major}{minor}"
            assert [stage.name for stage in row.stages] == ["ttir", "ttgir", "llir", "ptx", "cubin"]
            cubin = (dump.folder(graph.graph) / row.stages[-1].path).read_bytes()
            name = (
                (dump.text(graph.graph, row.stages[-2].path) or "").partition(".visible .entry ")[2].partition("(")[0]
            )
            threads, shared = 32 * (row.num_warps or 0), row.shared or 0
            assert _driver(cubin, name, threads, shared)[:2] == (row.registers, row.spills)
            if row.blocks is not None:
                assert _driver(cubin, name, threads, shared)[2] == row.blocks
        several = {row.kernel for row in rows if sum(other.kernel == row.kernel for other in rows) > 1}
        for kernel in several:
            assert sorted(row.choice for row in rows if row.kernel == kernel).count("chosen") == 1


def _driver(cubin: bytes, name: str, threads: int, shared: int) -> tuple[int, int, int]:
    """Registers and bytes of local memory of a thread, and the blocks of a multiprocessor."""
    driver = ctypes.CDLL("libcuda.so.1")
    module, function, value = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()

    def ask(call: str, *words: object) -> None:
        assert getattr(driver, call)(*words) == 0, call

    ask("cuModuleLoadData", ctypes.byref(module), cubin)
    ask("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
    answers = []
    for attribute in (4, 3):  # CU_FUNC_ATTRIBUTE_NUM_REGS, _LOCAL_SIZE_BYTES
        ask("cuFuncGetAttribute", ctypes.byref(value), attribute, function)
        answers.append(value.value)
    ask("cuFuncSetAttribute", function, 8, shared)  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    count = ctypes.c_size_t(shared)
    ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(value), function, threads, count)
    ask("cuModuleUnload", module)
    return answers[0], answers[1], value.value
