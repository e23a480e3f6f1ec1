"""Groups, refusals and misses."""

from pathlib import Path

from inspect_compile import tables
from inspect_compile.analysis.cost.schedule_rows import fused_rows
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.fusion.shared_bytes import shared_bytes
from inspect_compile.analysis.lookup.attempts import concerning
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.graph.fusion.ledger import Candidate, candidates
from tests.handmade import GRAPH, at, attempt, graph, kernel, made, node, operation

BETWEEN = "intermediate nodes between node1 & node2"
OPERATIONS = (
    operation("op0_op1", reads={"x": 400}, writes={"buf0": 400, "buf1": 8}, order=0, nodes=("relu", "sum")),
    operation("op2", reads={"x": 400, "buf1": 8}, writes={"buf2": 400}, order=1, nodes=("sub",)),
    operation("op3", reads={"x": 400}, writes={"buf3": 400}, order=2, nodes=("exp",)),
)
ATTEMPTS = (
    attempt("op0", "op2", "refused", reason=BETWEEN, shared_bytes=400),
    attempt("op0", "op1", "fused", into="op0_op1", shared_bytes=400),
    attempt("op2", "op0_op1", "refused", round=2, reason="no shared data", shared_bytes=8),
    attempt("op0_op1", "op3", "allowed", round=2, shared_bytes=400),
    attempt("op2", "op3", "refused", round=2, reason="no shared data", shared_bytes=0),
)


def test_groups_and_their_kernels(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), *OPERATIONS, kernel("cpp_fused_0", "op0_op1", "op2"), kernel("cpp_fused_1", "op3"))

    assert [(group.name, group.kernel) for group in fused_rows(CompiledGraph(dump, GRAPH))] == [
        ("op0_op1", "cpp_fused_0"),
        ("op2", "cpp_fused_0"),
        ("op3", "cpp_fused_1"),
    ]


def test_refusals_by_reason(tmp_path: Path) -> None:
    found = fusion(CompiledGraph(made(tmp_path, graph(), *OPERATIONS, *ATTEMPTS), GRAPH))

    assert found.rounds == 2
    assert found.verdicts == {"refused": 3, "fused": 1, "allowed": 1}
    assert [(row.code, row.count) for row in found.refusals] == [("no-shared-data", 2), ("intermediate-nodes", 1)]
    assert [row.into for row in found.fused] == ["op0_op1"]


def test_misses_are_told_of_what_they_became(tmp_path: Path) -> None:
    """The looks at parts of a fused node are looks at it; two loops of one kernel come last."""
    dump = made(
        tmp_path, graph(), *OPERATIONS, *ATTEMPTS, kernel("cpp_fused_0", "op0_op1", "op2"), kernel("cpp_fused_1", "op3")
    )

    found = fusion(CompiledGraph(dump, GRAPH))

    assert [(miss.a, miss.b, miss.code, miss.saved_bytes) for miss in found.apart] == [
        ("op0_op1", "op3", "allowed", 400),
        ("op2", "op3", "no-shared-data", 400),
    ]
    (beside,) = found.beside
    assert found.misses == [*found.apart, beside]
    assert (beside.a, beside.b, beside.saved_bytes) == ("op0_op1", "op2", 400 + 8 + 8)
    assert (beside.shared_bytes, beside.rounds) == (400, (1, 2))
    assert (beside.code, beside.reason) == ("no-shared-data", "no shared data")
    assert (beside.buffers, beside.handed) == (("x", "buf1"), ("buf1",))
    assert beside.nodes == ("sub", "sum", "relu")
    assert beside.where is None


def test_a_miss_has_the_line_of_its_first_node_that_has_one(tmp_path: Path) -> None:
    lines = (node("sub", "aten.sub"), node("sum", "aten.sum", where=at(5)), node("relu", "aten.relu", where=at(3)))
    dump = made(tmp_path, graph(), *lines, *OPERATIONS, *ATTEMPTS, kernel("cpp_fused_0", "op0_op1", "op2"))

    (beside,) = fusion(CompiledGraph(dump, GRAPH)).beside

    assert (beside.where, beside.is_apart) == (at(5), False)


def test_what_is_handed_on_is_written_all_the_same_where_others_need_it(tmp_path: Path) -> None:
    def saved(*more: Operation, users: tuple[str, ...] = ()) -> dict[tuple[str, str], int]:
        rows = (
            operation("op0", reads={"x": 8}, writes={"buf0": 100}, order=0, users=users),
            operation("op1", reads={"buf0": 100}, writes={"buf1": 8}, order=1),
            *more,
        )
        shared = shared_bytes(CompiledGraph(made(tmp_path / str(len(more) + len(users)), graph(), *rows), GRAPH))
        return {pair: shared.of(*pair).saved for pair in shared.pairs()}

    assert saved() == {("op0", "op1"): 200}
    assert saved(users=("op1", "OUTPUT")) == {("op0", "op1"): 100}
    reader = operation("op2", reads={"buf0": 100}, writes={"buf2": 8}, order=2)
    assert saved(reader) == {("op0", "op1"): 100, ("op0", "op2"): 100, ("op1", "op2"): 100}


def test_names_of_nested_operations(tmp_path: Path) -> None:
    inner = f"{GRAPH}/true_graph_0"
    dump = made(
        tmp_path,
        graph(),
        graph(inner, kind="subgraph", parent=GRAPH),
        *(
            operation(f"true_graph_0_op{n}", reads={"x": 4}, writes={}, members=(f"true_graph_0_op{n}",), graph=inner)
            for n in (0, 1)
        ),
        attempt("true_graph_0_op0", "true_graph_0_op1", "refused", reason="c", shared_bytes=4, graph=inner),
    )

    assert [(miss.a, miss.b) for miss in fusion(CompiledGraph(dump, GRAPH)).misses] == [
        ("true_graph_0_op0", "true_graph_0_op1")
    ]


def test_attempts_at_a_pair_include_those_at_their_parts(tmp_path: Path) -> None:
    before = [
        operation(name, reads={}, writes={buffer: 8}, phase="pre_fusion", nodes=(node,))
        for name, buffer, node in (
            ("op0", "buf0", "relu"),
            ("op1", "buf1", "sum"),
            ("op2", "buf2", "sub"),
            ("op3", "buf3", "exp"),
        )
    ]
    dump = made(tmp_path, graph(), *before, *OPERATIONS, *ATTEMPTS)

    def at(*names: str) -> list[tuple[str, str]]:
        kept = [
            (row.a, row.b)
            for row in filter(concerning(Graphs(dump, GRAPH), names), candidates(CompiledGraph(dump, GRAPH)))
        ]
        of_json = (row for row in tables.rows("fusion", Graphs(dump), names) if isinstance(row, Candidate))
        assert [(row.a, row.b) for row in of_json] == kept
        return kept

    assert at("op0_op1", "op2") == at("op2", "op1") == [("op0", "op2"), ("op2", "op0_op1")]
    assert at("relu", "buf3") == [("op0_op1", "op3")]
    assert at("op3") == [("op0_op1", "op3"), ("op2", "op3")]
    assert at() == [(row.texts[0], row.texts[1]) for row in ATTEMPTS]
    assert at("nothing") == []
