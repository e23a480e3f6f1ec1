"""The replay of the wrapper's memory, and what a real call holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.analysis.graphs import outermost
from inspect_compile.analysis.memory import memory
from inspect_compile.dump import open_dump, paths
from tests.conftest import DumpOf
from tests.handmade import GRAPH, graph, line, made, node, operation

HELD = Path(__file__).parent / "programs" / "held.py"


def test_names_hold_storages(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        line(0, "allocate", buffer="buf0", bytes=100),
        line(1, "allocate", buffer="buf1", bytes=10),
        line(2, "reuse", buffer="buf0", becomes="buf2", bytes=100, delete_old=True),
        line(3, "free", buffer="buf1", is_reused=True),
        line(4, "extern", buffer="buf3", bytes=50, kernel="extern_kernels.mm", torch_type="ExternKernelAllocLine"),
        line(5, "extern", buffer="buf2", bytes=100, kernel="extern_kernels.mm", torch_type="ExternKernelOutLine"),
        line(6, "free", buffer="buf2"),
        line(7, "free", buffer="x", bytes=1000),
        operation("op3", reads={}, writes={"buf3": 50}, users=("OUTPUT",)),
    )

    found = memory(dump, GRAPH)

    assert [(step.line, step.live) for step in found.steps] == [
        (100, 100),
        (101, 110),
        (102, 110),
        (104, 160),
        (105, 160),
        (106, 60),
    ]
    assert (found.peak, found.peak_line) == (160, 104)
    assert (found.allocated, found.allocations) == (160, 3)
    assert found.end == 50


def test_a_tuple_is_its_parts(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        operation("op1", reads={"buf0": 0}, writes={"buf1": 30}, ir_type="MultiOutput"),
        operation("op2", reads={"buf0": 0}, writes={"buf2": 12}, ir_type="MultiOutput"),
        line(0, "extern", buffer="buf0", kernel="aten.split", torch_type="ExternKernelAllocLine"),
        line(1, "multi_output", buffer="buf1"),
        line(2, "multi_output", buffer="buf2"),
        line(3, "free", buffer="buf0"),
        line(4, "free", buffer="buf2"),
    )

    assert [step.live for step in memory(dump, GRAPH).steps] == [42, 30]


def test_a_nested_graph_counts_where_it_is_called(tmp_path: Path) -> None:
    inner = f"{GRAPH}/true_graph_0"
    dump = made(
        tmp_path,
        graph(),
        graph(inner, kind="subgraph", parent=GRAPH),
        line(0, "allocate", buffer="true_graph_0_buf0", bytes=70, graph=inner),
        line(1, "allocate", buffer="buf0", bytes=8),
        line(2, "text", text="buf1 = true_graph_0(true_graph_0_args)"),
        line(3, "text", text="buf2 = other_graph_0(args)"),
    )

    found = memory(dump, GRAPH)

    assert (found.peak, found.peak_line) == (78, 102)


def test_the_backward_graph_gives_back_what_was_saved(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(kind="backward"),
        node("primals_1"),
        node("relu"),
        node("tangents_1"),
        line(0, "allocate", buffer="buf0", bytes=40),
        line(1, "free", buffer="relu"),
        line(2, "free", buffer="primals_1"),
        line(3, "free", buffer="tangents_1"),
    )

    assert [step.live for step in memory(dump, GRAPH).steps] == [40, 24]


PROFILED = """
import sys, torch
from torch.profiler import ProfilerActivity, profile, record_function
source = open(sys.argv[1]).read()
code = {"__name__": "generated"}
exec(compile(source, sys.argv[1], "exec"), code)
arguments = code["get_args"]()
with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
    with record_function("CALL"):
        code["call"](arguments)
events = profiled.profiler.kineto_results.events()
window = next(event for event in events if event.name() == "CALL")
begin, end = window.start_ns(), window.start_ns() + window.duration_ns()
live = peak = 0
memory = (event for event in events if event.name() == "[memory]" and begin <= event.start_ns() <= end)
for event in sorted(memory, key=lambda event: event.start_ns()):
    live += event.nbytes()
    peak = max(peak, live)
print(peak)
"""


@pytest.mark.parametrize("sample", ["softmax_mlp", "two_models"])
def test_the_peak_is_what_the_profiler_sees(dump_of: DumpOf, inductor_cache: Path, sample: str) -> None:
    """The generated code of these samples calls nothing that needs a workspace."""
    dump = open_dump(dump_of(sample).dump)

    for found in outermost(dump):
        code = dump.folder(found.graph) / f"{paths.OUTPUT_CODE}.py"
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
        command = [sys.executable, "-c", PROFILED, str(code)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=300)
        assert memory(dump, found.graph).peak == int(done.stdout.splitlines()[-1]) > 0
