"""What GraphLowering decides, and why values become buffers, said with torch's own reasons and numbers."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch._inductor.config

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.lowering.inlining import inlined
from inspect_compile.analysis.runtime.cudagraphs import cudagraph_rows
from inspect_compile.dump import Dump
from inspect_compile.facts import Hook, Realize, Remark
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.knowledge.overview.findings import NO_CUDAGRAPH
from tests.conftest import run_once
from tests.running import COMMAND, inspected, run
from tests.traced import untold_nodes, untraced_buffers

PROGRAM = Path(__file__).parents[1] / "programs" / "decides.py"


@pytest.fixture(scope="module")
def dump(shared_folder: Path, inductor_cache: Path) -> Dump:
    """decides.py, recorded once a session."""
    folder = shared_folder / "recorded" / "decides"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run_once(folder, lambda folder: inspected([PROGRAM], folder, environment=environment))
    assert done.returncode == 0, done.stderr
    found = Dump(folder / "dump")
    assert not [hook for hook in found.rows(Hook) if hook.state == "failed"]
    return found


Told = Callable[[str, str], list[Remark]]


@pytest.fixture(scope="module")
def told(dump: Dump) -> Told:
    """The remarks of a code about one of the program's functions, by the number of its compile."""

    def told(code: str, compile_number: str) -> list[Remark]:
        graphs = {graph.graph for graph in dump.graphs() if (graph.compile_id or "").startswith(f"{compile_number}/")}
        return [row for row in dump.rows(Remark) if row.code == code and row.graph in graphs]

    return told


def _line(text: str) -> str:
    lines = PROGRAM.read_text().splitlines()
    return f"{PROGRAM}:{next(number for number, line in enumerate(lines, start=1) if text in line)}"


def test_nothing_is_untold(dump: Dump) -> None:
    assert {graph.kind for graph in dump.graphs()} == {"inference", "subgraph"}
    assert untold_nodes(dump) == {}
    assert untraced_buffers(dump) == []


def test_channels_last(told: Told) -> None:
    (layout,) = told("layout-optimization", "0")
    assert (layout.kind, layout.ids, layout.numbers["convolutions"]) == ("passed", ("convolution",), 1)
    assert layout.message == "channels-last memory for 1 convolution: with oneDNN it is always faster"
    assert layout.where == _line("conv2d")
    (preferring,) = told("channels-last", "0")
    assert "convolution" in preferring.ids


def test_fallbacks(told: Told) -> None:
    found = {row.ids[0]: row for row in told("fallback", "0")}
    assert {name: row.numbers["how"] for name, row in found.items()} == {
        "view_as_complex": "explicit",
        "mul": "dtype",
        "view_as_real": "dtype",
        "twice": "implicit",
    }
    assert found["mul"].message.endswith("Inductor generates no code for its types, complex64")
    assert found["twice"].where == _line("torch.ops.mine.twice")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("mutated-inputs", "1 input is written in place: arg0_1"),
        ("inlined-constants", "1 small constant is written into the code: _tensor_constant0"),
        ("output-views", "1 output is a view of a buffer: permute of "),
        ("visible-strides", "the program sees the strides of 4 outputs, as they are in eager: "),
    ],
)
def test_inputs_constants_and_outputs(code: str, words: str, told: Told) -> None:
    (row,) = told(code, "0")
    assert row.message.startswith(words)
    assert row.ids


def test_layout_constraints(told: Told) -> None:
    found = {row.ids: row.message.partition(":")[0] for row in told("layout-constraint", "0")}
    assert found[("view_as_complex",)] == "require_contiguous"
    assert found[("convolution",)].endswith("to_fx_strides")


def test_a_cpu_has_no_cuda_graphs(dump: Dump, told: Told) -> None:
    """torch says "multiple devices" of it: nothing that a program could change."""
    assert told("no-cudagraphs", "4") == []
    (row,) = cudagraph_rows(Graphs(dump))
    assert (row.state, row.is_on_cpu) == ("skipped", True)
    assert row.skipped.startswith("a CPU has none, so")
    assert [one for one in findings(Graphs(dump)) if one.kind == NO_CUDAGRAPH] == []


def test_reasons_have_the_numbers_that_torch_weighed(dump: Dump) -> None:
    asks = {row.node: row for row in dump.rows(Realize) if row.realized and row.graph == dump.graphs()[-3].graph}
    limit: int = 12 if hasattr(torch._inductor.config, "realize_cpu_acc_reads_threshold") else 8
    gathered = next(row for row in asks.values() if row.reason.startswith("it has accumulated"))
    assert gathered.reason.endswith(f"reads of {limit + 1} buffers, more than {limit} (realize_acc_reads_threshold)")
    assert (gathered.numbers["reads"], gathered.numbers["gathered_limit"]) == (limit + 1, limit)
    few = next(row for row in asks.values() if "realize_reads_threshold" in row.reason)
    assert few.reason == "used by 3 nodes, and it reads 5 buffers, more than 4 (realize_reads_threshold)"
    assert few.caller.startswith("GraphLowering.run_node torch/_inductor/graph.py:")
    assert asks["exp"].reason == "used by 2 nodes, and exp in it is slow on a CPU"
    assert {row.reason for row in asks.values() if row.node == "cat"} == {
        "it is written into its place in a concatenation"
    }


def test_what_was_never_real(dump: Dump) -> None:
    graph = dump.graphs()[-3].graph
    found = inlined(CompiledGraph(dump, graph))
    assert {row.node for row in dump.rows(Realize, graph) if row.realized}.isdisjoint(node for _, node in found)
    doubled = next(row for row in found.values() if row.target == "aten.mul.Tensor" and "amax" in row.consumers[0])
    assert (doubled.count, len(doubled.operations)) == (1, 1)


def test_symbols(dump: Dump) -> None:
    graph = next(graph.graph for graph in dump.graphs() if graph.compile_id == "4/0")
    rows, columns = CompiledGraph(dump, graph).symbols
    assert (rows.hint, rows.lower, rows.upper, rows.source) == ("8", "2", "int_oo", "L['x'].size()[0]")
    assert (columns.hint, columns.source) == ("9", "L['x'].size()[1]")
    assert rows.where is not None
    assert f"{rows.where.file}:{rows.where.line}" == _line("x.sin().sum(0)")
    assert CompiledGraph(dump, dump.graphs()[0].graph).symbols == ()


def test_one_node(dump: Dump, tmp_path: Path) -> None:
    def shown(*words: str) -> str:
        done = run([*COMMAND, "show", dump.root, *words], tmp_path, environment={"COLUMNS": "200"})
        return done.stdout + done.stderr

    lowering = shown("lowering", "--node", "exp")
    assert "aten.exp.default" in lowering
    assert "aten.mul.Tensor" not in lowering
    assert "used by 2 nodes, and exp in it is slow on a CPU" in shown("realize", "--node", "exp")
    assert "expp: no node matches; near: exp" in shown("realize", "--node", "expp")
    assert "L['x'].size()[1]" in shown("symbols")


def test_an_operator_with_an_effect_is_told_by_its_own_name(tmp_path: Path, inductor_cache: Path) -> None:
    (tmp_path / "solves.py").write_text(
        "import torch\n"
        "print(torch.compile(lambda a, b: torch.linalg.solve(a, b) + 1)(torch.eye(3), torch.ones(3, 2)).sum())\n"
    )
    done = inspected([tmp_path / "solves.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})
    assert done.returncode == 0, done.stderr
    told = [row.message for row in Dump(tmp_path / "dump").rows(Remark) if row.code == "fallback"]
    assert any(
        line.startswith("aten._linalg_check_errors.default runs as an extern kernel") and "it has a side effect" in line
        for line in told
    ), told
    assert not [line for line in told if "with_effects" in line]
