"""The calls that lead to an FX node are recorded once, from the program's own line on."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import CallSite, Frame, Graph, Node
from inspect_compile.knowledge.frontend.own_code import is_library, own_line
from tests.running import inspected

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "through_libraries.py"
LINES = {
    text.split("  # ")[1]: number
    for number, text in enumerate(PROGRAM.read_text("utf-8").splitlines(), 1)
    if "  # " in text
}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Dump]:
    found = {}
    for words in ((), ("nested",)):
        folder = tmp_path_factory.mktemp("calls")
        done = inspected([PROGRAM, *words], folder, options=["--dump", folder / "dump"])
        assert done.returncode == 0, done.stderr
        found[" ".join(words)] = Dump(folder / "dump")
    return found


def own_lines(dump: Dump, graph: str) -> set[int]:
    """The user's own lines that nodes of a graph come from."""
    nodes = [node for node in dump.rows(Node, graph) if node.where is not None]
    found = [own_line(node.where) for node in nodes if node.where is not None]
    assert None not in found
    return {one.line for one in found if one is not None}


def test_a_module_of_torch_leads_to_the_line_that_calls_it(recorded: dict[str, Dump]) -> None:
    """Also in the backward, which is compiled later, on another thread."""
    dump = recorded[""]
    kinds = {graph.kind: graph.graph for graph in dump.rows(Graph)}

    assert own_lines(dump, kinds["forward"]) == {LINES["calls a compiled module of torch"]}
    assert own_lines(dump, kinds["backward"]) == {LINES["calls a compiled module of torch"]}


def test_an_optimizer_leads_to_the_line_that_steps(recorded: dict[str, Dump]) -> None:
    dump = recorded[""]
    (graph,) = [graph.graph for graph in dump.rows(Graph) if graph.kind == "inference"]

    assert own_lines(dump, graph) == {LINES["steps"]}
    files = {node.where.file for node in dump.rows(Node, graph) if node.where is not None}
    assert files
    assert all(is_library(file) for file in files)


def test_what_called_a_compiled_function_is_known(recorded: dict[str, Dump]) -> None:
    dump = recorded["nested"]
    (node,) = [node for node in dump.rows(Node) if node.stage == "post_grad" and node.target == "aten.sin.default"]

    assert node.where is not None
    lines = [where.line for where in node.where.calls()]
    assert lines[:2] == [LINES["in a compiled function"], LINES["calls a compiled function"]]
    (frame,) = [frame for frame in dump.rows(Frame) if frame.status == "compiled"]
    assert frame.caller is not None
    assert frame.caller.line == LINES["calls a compiled function"]


def test_each_call_is_recorded_once(recorded: dict[str, Dump]) -> None:
    for dump in recorded.values():
        rows = dump.rows(CallSite)
        keys = [(row.caller, row.file, row.line, row.function) for row in rows]
        assert len(keys) == len(set(keys))
        assert [row.site for row in rows] == list(range(1, len(rows) + 1))
        assert all(row.caller < row.site for row in rows)
