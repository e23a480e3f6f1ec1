"""The ledger of rows that are written down by hand: what won, what was put off, taken apart, or never tried."""

from pathlib import Path

from inspect_compile.facts import FusionCombo, FusionLooks, FusionOrder, FusionRound
from inspect_compile.facts.fusion import ALLOWED, OVERRULED, REFUSED, Benchmark, Fused, Look, Refusal
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import Candidate, Ledger
from tests.handmade import GRAPH, graph, made, operation

OPS = tuple(f"op{number}" for number in range(7))
BUFFERS = ("x", "y")
X, Y = 7, 8
FUSED, CLASS, FAR, DISTANCE, LIMIT, MISMATCH, FOUR = range(9, 16)
TEXTS = (
    *OPS,
    *BUFFERS,
    "op0_op1",
    "FusedSchedulerNode",
    "Nodes are too far away. Fusing them may increase peak memory.",
    "distance",
    "limit",
    "numel mismatch (%s, %s)",
    "4",
)
ROUND = FusionRound(
    graph=GRAPH,
    round=1,
    texts=TEXTS,
    reorder=False,
    window=2,
    aggressive=False,
    nodes=tuple(range(7)),
    unfusable=(6,),
    uses=((0, X), (1, X), (2, X), (3, X), (4, Y), (5, Y), (6, Y)),
)
LOOKS = FusionLooks(
    graph=GRAPH,
    round=1,
    phase="generate",
    looks=(
        Look(0, 1, ALLOWED, 8),
        Look(0, 2, ALLOWED, 4),
        Look(1, 2, REFUSED, 4, (Refusal(FAR, (), (DISTANCE, 70, LIMIT, 64)),)),
        Look(1, 3, REFUSED, 4, (Refusal(MISMATCH, (FOUR, FOUR)),)),
        Look(2, 3, ALLOWED, 4),
        Look(4, 5, ALLOWED, 4),
        Look(5, 6, OVERRULED, None, (Refusal(MISMATCH, (FOUR, 99)),)),
    ),
)
ORDER = FusionOrder(graph=GRAPH, round=1, ranked=((0, 1, 2, 8), (0, 2, 1, 4), (4, 5, 1, 4)), put_off=((2, 3),))
DONE = FusionLooks(
    graph=GRAPH,
    round=1,
    phase="fuse",
    looks=(Look(0, 1, ALLOWED, 8), Look(FUSED, 2, REFUSED), Look(4, 5, ALLOWED, 4)),
    fused=(Fused(0, 1, FUSED, CLASS),),
    benchmarks=(Benchmark(4, 5, 1.0, 2.0, 4.0),),
)
NEXT = FusionRound(
    graph=GRAPH, round=2, reorder=True, window=2, aggressive=False, nodes=(FUSED, 2, 3, 4, 5, 6), uses=((FUSED, X),)
)
COMBO = FusionCombo(graph=GRAPH, round=0, first=50, texts=("op3_op4",), into=50, parts=(3, 4))


def of(root: Path, *more: FusionLooks, apart: bool = False) -> Ledger:
    groups = ("op0", "op1") if apart else ("op0_op1",)
    before = [operation(name, reads={}, writes={}, phase="pre_fusion") for name in OPS]
    after = [operation(name, reads={}, writes={}) for name in (*groups, *OPS[2:])]
    return CompiledGraph(
        made(root, graph(), *before, *after, ROUND, LOOKS, ORDER, DONE, NEXT, COMBO, *more), GRAPH
    ).ledger


def row(found: Ledger, a: str, b: str) -> Candidate:
    (only,) = [one for one in found.candidates if (one.a, one.b) == (a, b)]
    return only


def test_one_candidate_for_each_pair_and_round(tmp_path: Path) -> None:
    found = of(tmp_path)

    fused = row(found, "op0", "op1")
    assert (fused.verdict, fused.into, fused.rank, fused.score, fused.shared_bytes) == (
        "fused",
        "op0_op1",
        1,
        (2, 8),
        8,
    )
    lost = row(found, "op0", "op2")
    assert (lost.verdict, lost.code, lost.won, lost.rank) == ("allowed", "lost-to", "op0 × op1", 2)
    assert (row(found, "op2", "op3").verdict, row(found, "op2", "op3").rank) == ("deferred", None)
    assert (row(found, "op4", "op5").verdict, row(found, "op4", "op5").milliseconds) == ("slower", (1.0, 2.0, 4.0))
    assert row(found, "op5", "op6").verdict == "overruled"
    assert row(found, "op0_op1", "op2").code == "backend-refused"
    assert [(one.a, one.b, one.into) for one in found.candidates if one.kind == "combo"] == [("op3", "op4", "op3_op4")]


def test_reasons_with_their_numbers(tmp_path: Path) -> None:
    found = of(tmp_path)

    assert row(found, "op1", "op2").numbers == (("distance", 70), ("limit", 64))
    assert row(found, "op1", "op3").reason == "numel mismatch (4, 4)"
    assert row(found, "op1", "op3").arguments == ("4", "4")
    assert row(found, "op5", "op6").reason == "numel mismatch (4, )"  # a text whose row was lost


def test_what_is_apart_in_the_end_was_taken_apart(tmp_path: Path) -> None:
    assert row(of(tmp_path, apart=True), "op0", "op1").verdict == "undone"


def test_pairs_that_were_never_tried(tmp_path: Path) -> None:
    found = of(tmp_path)

    assert [(one.a, one.b, one.code) for one in found.untried()] == [
        ("op0", "op3", "outside-window"),
        ("op4", "op6", "unfusable"),
    ]
    assert found.rounds[0].pairs() == {
        *(("op0", "op1"), ("op0", "op2"), ("op1", "op2"), ("op1", "op3"), ("op2", "op3"), ("op4", "op5")),
    }


def test_two_operations_over_the_rounds(tmp_path: Path) -> None:
    found = of(tmp_path)

    assert [(one.round, one.a, one.verdict, one.code) for one in found.met("op0", "op2")] == [
        (1, "op0_op1", "refused", "backend-refused"),
        (2, "op0_op1", "untried", ""),
    ]
    assert [one.verdict for one in found.met("op1", "op0")] == ["fused"]
    assert [one.code for one in found.met("op0", "op4")] == ["no-common-buffer", "no-common-buffer"]
    assert found.group(2, "op1") == "op0_op1"


def test_the_kind_of_a_format_is_not_followed(tmp_path: Path) -> None:
    looks = (Look(2, 4, REFUSED, None, (Refusal(60, (FOUR,)),)),)
    more = FusionLooks(graph=GRAPH, round=1, first=60, texts=("%999999999d bytes",), looks=looks)

    assert row(of(tmp_path, more), "op2", "op4").reason == "%999999999d bytes 4"
