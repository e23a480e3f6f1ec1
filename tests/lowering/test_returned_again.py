"""Each extern kernel is of the node that made it, each line of the wrapper of a kind, each node somewhere."""

from pathlib import Path

import pytest

from inspect_compile.analysis.cost.flops import graph_flops
from inspect_compile.analysis.cost.rollup import Costs
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.dump import Dump
from inspect_compile.facts import Hook, Kernel, Lowering, Operation, WrapperLine
from inspect_compile.graph import CompiledGraph
from tests.called import called, unseen_calls
from tests.conftest import run_once
from tests.running import COMMAND, inspected, run

PROGRAM = Path(__file__).parent / "programs" / "returned_again.py"
ROWS, COLUMNS = 4, 32
"""Of the image of `spectrum`."""


@pytest.fixture(scope="module")
def dump(shared_folder: Path, inductor_cache: Path) -> Dump:
    """The program, recorded once a session."""
    folder = shared_folder / "recorded" / "returned_again"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder, environment=environment))
    assert done.returncode == 0, done.stderr
    found = Dump(folder / "dump")
    assert not [hook for hook in found.rows(Hook) if hook.state == "failed"]
    return found


def _graph(dump: Dump, operator: str) -> str:
    """The graph with a node of this operator."""
    return next(row.graph for row in dump.rows(Lowering) if row.target == operator)


def _line(text: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_all_is_accounted_for(dump: Dump) -> None:
    for graph in dump.outermost():
        covered = coverage(CompiledGraph(dump, graph.graph))
        assert covered.missing == []
        assert covered.unknown == ()
    assert unseen_calls(dump) == []
    shown = run([*COMMAND, "show", dump.root, "summary"], dump.root.parent)
    assert "100 % of the nodes are accounted for" in shown.stdout
    assert "no known kind" not in shown.stdout


def test_products_whose_results_are_written_over(dump: Dump) -> None:
    graph = _graph(dump, "aten.addmm.default")
    products = [kernel for kernel in dump.rows(Kernel, graph) if kernel.name == "extern_kernels.addmm"]

    assert [kernel.nodes for kernel in products] == [("addmm",), ("addmm_1",)]
    assert [[where.line for where in kernel.lines] for kernel in products] == [
        [_line("self.one(x)")],
        [_line("self.other(h)")],
    ]
    operations = [row for row in dump.rows(Operation, graph) if row.extern_kernel == "extern_kernels.addmm"]
    assert {row.nodes for row in operations} == {("addmm",), ("addmm_1",)}
    costs = Costs(CompiledGraph(dump, graph))
    heavy = {by: sum(row.heavy for row in costs.by(by)) for by in ("op", "line", "kernel")}
    assert set(heavy.values()) == {2 * 20 * 8 * 16 + 2 * 20 * 16 * 16}


def test_parts_of_a_tuple_are_of_the_node_that_takes_them_out(dump: Dump) -> None:
    parts = [row for row in dump.rows(Operation) if row.ir_type == "MultiOutput"]
    getters = {row.node for row in dump.rows(Lowering) if row.way == "getitem"}
    assert parts
    assert all(len(row.nodes) == 1 for row in parts)
    assert all(name in getters or not name.startswith("getitem") for row in parts for name in row.nodes)


def test_a_copy_that_the_wrapper_makes(dump: Dump) -> None:
    graph = _graph(dump, "aten._fft_c2c.default")
    (copy,) = [kernel for kernel in dump.rows(Kernel, graph) if kernel.name == "aten.copy_"]
    (line,) = [row for row in dump.rows(WrapperLine, graph) if row.kernel == "aten.copy_"]

    assert (copy.kind, copy.nodes, copy.device) == ("extern", ("convert_element_type",), "cpu")
    assert copy.launches == (line.line,)
    assert (line.what, line.torch_type) == ("extern", "str")
    assert ".copy_(arg0_1, False)" in line.text
    calls = called(dump.text(graph, "output_code.py") or "")
    assert [span.start for span, name in calls if name.endswith(".copy_")] == [line.line]
    moved = {row.kernel: row for row in CompiledGraph(dump, graph).traffic.all()}
    assert (moved["aten.copy_"].read, moved["aten.copy_"].written) == (4 * ROWS * COLUMNS, 8 * ROWS * COLUMNS)
    assert (moved["torch.ops.aten.view_as_real.default"].least, moved["aten.copy_"].is_known) == (0, True)


def test_what_has_no_elements(dump: Dump) -> None:
    covered = coverage(CompiledGraph(dump, _graph(dump, "aten.addmm.default")))
    assert [row.target for row in covered.nodes if row.where == "empty"] == ["prims.inductor_random.default"]
    assert {row.where for row in covered.nodes if "seed" in row.target} == {"dead"}


def test_numbers_of_the_host(dump: Dump) -> None:
    graph = _graph(dump, "prims._low_memory_max_pool_with_offsets.default")
    found = graph_flops(CompiledGraph(dump, graph))

    assert found.uncounted == {}
    assert {"operator.mul", "operator.floordiv", "operator.add"} <= found.sizes.keys()
    (pool,) = [row for row in found.operators if row.operator == "prims._low_memory_max_pool_with_offsets"]
    assert (pool.kind, pool.flops) == ("reduction", 7 * 2 * 9)
    shown = run([*COMMAND, "show", dump.root, "flops", "--graph", graph], dump.root.parent)
    assert "0 FLOP, they compute sizes and other numbers on the host: " in shown.stdout
    graph = _graph(dump, "aten._local_scalar_dense.default")
    assert {"aten._local_scalar_dense"} <= graph_flops(CompiledGraph(dump, graph)).sizes.keys()
    assert "host" in {row.what for row in dump.rows(WrapperLine, graph)}
