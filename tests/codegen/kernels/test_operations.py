"""The operations that kernels are said to do, against the same kernels run by Triton's interpreter."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.kernel_work import operations, works
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel, KernelBody
from inspect_compile.graph import CompiledGraph
from tests.conftest import DumpOf
from tests.running import inspected

PROGRAMS = Path(__file__).parents[1] / "programs"


def _bodies(dump: Dump) -> dict[str, tuple[KernelBody, Path]]:
    """Kernel → its row, and its source."""
    return {
        kernel.name: (body, dump.root / "torchinductor" / graph.graph / kernel.source)
        for graph in dump.graphs()
        for kernel in dump.rows(Kernel, graph.graph)
        for body in dump.rows(KernelBody, graph.graph)
        if body.kernel == kernel.name and kernel.source
    }


def _said(body: KernelBody) -> tuple[int, int]:
    rows = list(operations(body))
    return sum(row.scalar for row in rows), sum(row.transcendental for row in rows)


def _ran(sources: list[Path]) -> list[tuple[int, int]]:
    """What Triton's interpreter did for each of these, in a process of its own."""
    command = [sys.executable, str(PROGRAMS / "interpreted.py"), *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [(row["scalar"], row["special"]) for row in rows]


def _in_both(dump: Dump, kernels: list[str]) -> None:
    bodies = _bodies(dump)
    said = {name: _said(bodies[name][0]) for name in kernels}
    assert dict(zip(kernels, _ran([bodies[name][1] for name in kernels]), strict=True)) == said
    assert all(scalar for scalar, _ in said.values())


@pytest.mark.harmless
def test_kernels_of_many_forms(tmp_path: Path) -> None:
    """Elementwise, broadcast, reductions of whole, long and many rows, scans, masks, small floats."""
    done = inspected([PROGRAMS / "operations.py"], tmp_path, options=["--target", "sm_90"])
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    kernels = list(_bodies(dump))
    assert len(kernels) >= 8
    _in_both(dump, kernels)


def test_the_kernels_of_softmax_on_a_cpu(dump_of: DumpOf) -> None:
    """Of 32 rows of 10: max, sub, exp, sum, div; the sub and its exp once, though two sums want it."""
    bodies = _bodies(open_dump(dump_of("softmax_mlp").dump))
    name = next(name for name in bodies if "softmax" in name)
    found = {(row.operator, row.elements): row.count for row in operations(bodies[name][0])}
    assert found == dict.fromkeys(
        ((operator, 320) for operator in ("reduction.max", "sub", "exp", "reduction.sum", "truediv")), 1
    )
    assert _said(bodies[name][0]) == (5 * 320, 320)


@pytest.mark.harmless
def test_kernels_of_the_user(tmp_path: Path) -> None:
    """Loops, a reduction, a product and an atomic, by their TTIR; a loop that values end is said to be not counted."""
    options = ["--target", "sm_90", "--fake-kernels"]
    done = inspected([PROGRAMS / "own_kernels.py"], tmp_path, options=options)
    assert done.returncode == 0, done.stderr
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    (graph,) = dump.graphs()
    own = [row for row in works(CompiledGraph(dump, graph.graph)) if row.launch.kernel.kind == "user_triton"]
    told = {
        row.work.kernel.rpartition("_")[0]: [row.work.heavy, row.work.scalar, row.work.transcendental]
        for row in own
        if not row.work.uncounted
    }

    command = [sys.executable, str(PROGRAMS / "interpreted_own.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    counted = json.loads(ran.stdout)
    assert counted.pop("until_small")[1] > 0
    assert told == counted
    (left,) = [row.work for row in own if row.work.uncounted]
    assert (left.kernel, left.uncounted) == ("until_small_3", "the number of iterations of a loop depends on values")

    floats = {"a": 64 * 96 * 4, "b": 96 * 32 * 4, "out": 64 * 32 * 4}
    moved = {row.kernel: (row.read, row.written) for row in CompiledGraph(dump, graph.graph).traffic.all()}
    assert moved["softmax_rows_0"] == moved["until_small_3"] == (floats["a"], floats["a"])
    assert moved["product_1"] == (floats["a"] + floats["b"], floats["out"])
    assert moved["add_up_2"] == (floats["out"] + 4, 4)
