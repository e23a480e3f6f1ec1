"""What a person types is found in each graph that has it; else the answer says what is near and what is there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.kernels.stage_lines import KernelStages
from inspect_compile.analysis.lookup.answer import Ambiguous, Answer, Found, Unknown, together
from inspect_compile.analysis.lookup.attempts import find_attempts, find_operations_of_line
from inspect_compile.analysis.lookup.graphs import find_graph, find_graphs
from inspect_compile.analysis.lookup.kernels import find_configuration, find_kernels
from inspect_compile.analysis.lookup.moments import find_moments
from inspect_compile.analysis.lookup.names import Names
from inspect_compile.analysis.lookup.nodes import find_node_name, find_nodes
from inspect_compile.analysis.lookup.operations import find_operations
from inspect_compile.analysis.lookup.parts import find_rank, find_replay, find_target
from inspect_compile.analysis.lookup.profiles import find_profile
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.tables.lookup_text import unresolved_text
from tests.handmade import GRAPH, graph, kernel, made
from tests.two_graphs import FACTS, HASH, KERNEL, OTHER


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    return made(tmp_path / "net", *FACTS)


def graphs_in(answer: Answer[Any]) -> list[str]:
    """The graphs of what was found."""
    assert isinstance(answer, Found)
    every = [one[0] if isinstance(one, tuple) and not hasattr(one, "graph") else one for one in answer.all]
    return [one.kins[0].graph if hasattr(one, "kins") else one.graph for one in every]


@pytest.mark.parametrize("text", ["relu", "op0", "buf0", "op0_op1", KERNEL])
@pytest.mark.parametrize("find", [find_nodes, lambda graphs, text: find_operations(graphs, (text,)), find_kernels])
def test_what_several_graphs_have_is_found_in_each(
    dump: Dump, find: Callable[[Graphs, str], Answer[Any]], text: str
) -> None:
    assert graphs_in(find(Graphs(dump), text)) == [GRAPH, OTHER]


@pytest.mark.parametrize(("text", "where"), [("net.py:12", GRAPH), ("20", OTHER), ("/home/user/net.py:21", OTHER)])
@pytest.mark.parametrize("find", [find_nodes, lambda graphs, text: find_operations(graphs, (text,)), find_kernels])
def test_a_line_of_the_program_means_what_came_of_it(
    dump: Dump, find: Callable[[Graphs, str], Answer[Any]], text: str, where: str
) -> None:
    assert graphs_in(find(Graphs(dump), text)) == [where]


@pytest.mark.parametrize("text", [HASH, f"/tmp/torchinductor/{HASH}.py"])
def test_a_hash_means_kernels(dump: Dump, text: str) -> None:
    assert graphs_in(find_kernels(Graphs(dump), text)) == [GRAPH, OTHER]
    named = Names(dump).find(text)
    assert isinstance(named, Found)
    assert [row.graph for row in named.all[0].kernels] == [GRAPH, OTHER]


def test_graphs(dump: Dump) -> None:
    assert graphs_in(find_graphs(dump, "forward")) == [GRAPH, OTHER]
    assert graphs_in(find_graph(dump, "1/0")) == [OTHER]
    assert find_graph(dump, "forward") == Ambiguous("forward", "graph", (GRAPH, OTHER))
    assert together(find_node_name(Graphs(dump, one), "%relu") for one in ("none", OTHER)) == Found(("relu",))


MISSES: dict[str, Callable[[Dump], Answer[Any]]] = {
    "--graph model__0_forwrad: no such graph; near: model__0_forward_1.0": lambda dump: find_graph(
        dump, "model__0_forwrad"
    ),
    "rellu: no node matches; near: relu; list all": lambda dump: find_nodes(Graphs(dump), "rellu"),
    f"rellu: no node matches in {OTHER}; near: relu; list all": lambda dump: find_node_name(
        Graphs(dump, OTHER), "rellu"
    ),
    f"op7: no operation matches in {GRAPH}; near: op1": lambda dump: find_operations(Graphs(dump, GRAPH), ("op7",)),
    "cpp_fused_rleu_0: no kernel of this name; near: cpp_fused_relu_0; list all: show net kernels": (
        lambda dump: find_kernels(Graphs(dump), "cpp_fused_rleu_0")
    ),
    "cpp_fused_reul_0: no kernel of this name; near: cpp_fused_relu_0": lambda dump: Names(dump).find(
        "cpp_fused_reul_0"
    ),
    "--rank 1: no such rank in net; the run has one process; omit --rank": lambda dump: find_rank(dump, 1),
    "--target sm_90: nothing in net was compiled for it; it was compiled for the device": lambda dump: find_target(
        dump, "sm_90"
    ),
    "--replay 2: no such replay in net; inspect-compile replay": lambda dump: find_replay(dump, 2),
    "--reason x: no pair was refused for this reason; no pair": lambda dump: find_attempts(
        Graphs(dump, None), reason="x"
    ),
    "--round 2: no pair was considered in this round; there are: 1": lambda dump: find_attempts(
        Graphs(dump, None), in_round=2
    ),
    "--line x: neither a number nor file.py:NUMBER": lambda dump: find_operations_of_line(Graphs(dump), "x"),
    "--line 3: no operation comes from this line; there are: net.py:12, net.py:13": (
        lambda dump: find_operations_of_line(Graphs(dump, GRAPH), "3")
    ),
    "--at x: neither a line of output_code.py nor `peak`": lambda dump: find_moments(Graphs(dump), "x"),
    f"--at 7: no line of the wrapper; {GRAPH}: no lines are known, ": lambda dump: find_moments(Graphs(dump), "7"),
    f"--config w: no such configuration of {KERNEL}": lambda dump: find_configuration(
        dump, KernelStages(dump, kernel(KERNEL)), "w"
    ),
    "x.json: no such file": lambda dump: find_profile(dump, "x.json"),
}


@pytest.mark.parametrize("text", MISSES)
def test_a_miss_says_what_was_asked_and_what_is_there(dump: Dump, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(dump.root.parent)
    answer = MISSES[text](Dump(Path(dump.root.name)))

    assert isinstance(answer, Unknown)
    assert unresolved_text(answer).startswith(text)


def test_a_dump_without_a_graph_says_why(tmp_path: Path) -> None:
    dump = made(tmp_path)

    for answer in (
        find_graph(dump, "x"),
        find_nodes(Graphs(dump), "x"),
        find_kernels(Graphs(dump), "x"),
        find_moments(Graphs(dump), "peak"),
    ):
        assert isinstance(answer, Unknown)
        assert unresolved_text(answer).startswith(f"{tmp_path}: no graph is recorded: the run did not")


def test_what_is_listed_is_short(tmp_path: Path) -> None:
    dump = made(tmp_path, *(graph(f"model__{n}_{'x' * 10_000}", compile_id=f"{n}/0") for n in range(30)))

    answer = find_graph(dump, "nothing")

    assert isinstance(answer, Unknown)
    assert len(unresolved_text(answer)) < 2_000
    assert unresolved_text(answer).endswith(" and 22 more")
