"""What a miss is worth, what stands between its two, and which launches run them."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.fusion.misses import Miss, misses
from inspect_compile.analysis.fusion.outcome import fusion
from inspect_compile.analysis.fusion.pair_story import FusionStories, PairStory
from inspect_compile.analysis.lookup.pairs import Pair, standing
from inspect_compile.dump import Dump
from inspect_compile.facts import Access, Fact, FusionLooks, FusionRound, Kernel, Operation
from inspect_compile.facts.fusion import ALLOWED, REFUSED, Fused, Look, Refusal
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.fusion.why_text import advice_lines, left_out_lines, miss_text, verdict_line
from inspect_compile.tables.text import place_text
from tests.handmade import GRAPH, at, attempt, graph, kernel, line, made, node, operation
from tests.misses import check_misses

BETWEEN = "intermediate nodes between node1 & node2"
ROWS, WIDTH, WORDS = 8, 16, 1000
TABLE = WORDS * WIDTH * 4
PICKED = ROWS * WIDTH * 4


def loop(
    name: str, reads: tuple[Access, ...], writes: tuple[Access, ...], order: int, **more: object
) -> list[Operation]:
    """A scheduler node of one operation, before and after fusion."""
    found = operation(
        name,
        reads={},
        writes={},
        order=order,
        numel=str(ROWS * WIDTH),
        rnumel="1",
        buffers=tuple(write.buffer for write in writes),
    )
    row = replace(found, reads=reads, writes=writes, **more)
    return [replace(row, phase="pre_fusion"), row]


def flat(buffer: str, size: int = PICKED) -> Access:
    return Access(buffer, "c0", (f"c0={size // 4}",), "memory", size, None, 4, size)


def picked(table: str, by: str = "words") -> Access:
    """Rows of a table, as an embedding reads them: the scheduler counts all of it."""
    ranges = (f"c0={ROWS}", f"c1={WIDTH}")
    return Access(table, f"c1 + {WIDTH}*tmp0", ranges, "memory", TABLE, None, 4, TABLE, by)


def places(buffer: str = "words") -> Access:
    return Access(buffer, "c0", (f"c0={ROWS}",), "memory", ROWS * 8, None, 8, ROWS * 8)


def two_gathers(root: Path, *, other: str = "words", name: str = "cpp_fused_1") -> Dump:
    """op0 and op2 gather rows of one table, in two launches, between which a library is called."""
    called = operation("op1", reads={"buf0": PICKED}, writes={"buf1": PICKED}, order=1, kind="extern", nodes=("mm",))
    called = replace(called, predecessors=("op0",))
    facts: tuple[Fact, ...] = (
        graph(),
        node("mm", "aten.mm.default", where=at(7, "y = x @ w")),
        *loop("op0", (picked("table"), places()), (flat("buf0"),), 0, users=("op1",)),
        called,
        replace(called, phase="pre_fusion"),
        *loop(
            "op2",
            (picked("table", other), places(other), flat("buf1")),
            (flat("buf2"),),
            2,
            users=("OUTPUT",),
            predecessors=("op1",),
        ),
        begun("op0", "op1", "op2"),
        attempt("op0", "op2", "refused", reason=BETWEEN, shared_bytes=TABLE),
        kernel("cpp_fused_0", "op0", launches=(101,)),
        kernel("extern_kernels.mm", "op1", launches=(102,), kind="extern"),
        kernel(name, "op2", launches=(103,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "launch", kernel="cpp_fused_0", arguments=("table", "words", "buf0")),
        line(2, "extern", kernel="extern_kernels.mm", buffer="buf1"),
        line(3, "launch", kernel=name, arguments=("table", "words", "buf1", "buf2")),
    )
    return made(root, *facts)


def begun(*nodes: str) -> FusionRound:
    """The first round, of nodes that all use x."""
    numbers = tuple(range(1000, 1000 + len(nodes)))
    return FusionRound(
        graph=GRAPH,
        round=1,
        first=1000,
        texts=(*nodes, "x"),
        reorder=False,
        window=64,
        aggressive=False,
        nodes=numbers,
        uses=tuple((number, 1000 + len(nodes)) for number in numbers),
    )


def only(dump: Dump) -> Miss:
    (found,) = fusion(CompiledGraph(dump, GRAPH)).apart
    return found


def story(dump: Dump, a: str, b: str) -> PairStory:
    graph = CompiledGraph(dump, GRAPH)
    stories = FusionStories(graph, misses(graph))
    return stories.pair(stories.meant(a), stories.meant(b))


def test_a_gather_is_worth_the_rows_that_it_touches_and_not_the_table(tmp_path: Path) -> None:
    dump = two_gathers(tmp_path)

    found = only(dump)

    assert (found.saved_bytes, found.is_unsure, found.shared_bytes) == (PICKED + ROWS * 8, True, TABLE)
    first, _, second = CompiledGraph(dump, GRAPH).traffic.all()
    assert found.saved_bytes <= min(first.read, second.read)
    assert story(dump, "op0", "op2").saved.saved == found.saved_bytes
    assert found.saved_bytes <= graph_bytes(CompiledGraph(dump, GRAPH)).missed
    check_misses(dump)


def test_a_gather_beside_a_whole_read_or_write_saves_at_most_what_it_reads(tmp_path: Path) -> None:
    """How many rows the gather reads is decided by values, whoever else touches the buffer."""
    for folder, reads, writes in (("read", (flat("table"),), (flat("buf0"),)), ("write", (), (flat("table"),))):
        rows = [
            *loop("op0", reads, writes, 0, users=("op1", "OUTPUT")),
            *loop("op1", (picked("table"), places()), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",)),
        ]
        kernels = kernel("cpp_fused_0", "op0", launches=(101,)), kernel("cpp_fused_1", "op1", launches=(102,))
        lines = line(0, "launch", kernel="cpp_fused_0"), line(1, "launch", kernel="cpp_fused_1")
        found = only(made(tmp_path / folder, graph(), *rows, begun("op0", "op1"), *kernels, *lines))
        assert 0 < found.saved_bytes <= PICKED
        assert found.is_unsure


def test_two_gathers_at_places_from_elsewhere_share_no_rows(tmp_path: Path) -> None:
    assert fusion(CompiledGraph(two_gathers(tmp_path, other="others"), GRAPH)).apart == []


def test_what_stands_between_is_named_with_its_line_and_the_path(tmp_path: Path) -> None:
    dump = two_gathers(tmp_path)

    (between,) = only(dump).between
    assert (between.name, between.kind, between.node, between.operator) == ("op1", "extern", "mm", "matmul")
    assert place_text(between.where) == "net.py:7"
    assert miss_text(only(dump)) == "matmul · net.py:7 (op1) must run between: op0 → op1 → op2"
    told = verdict_line(story(dump, "op0", "op2")).plain
    assert told.startswith("Not fused: matmul · net.py:7 (op1) must run between the two: op0 → op1 → op2.")
    assert "could move up to 576 B less" in told


def test_two_launches_of_one_kernel_are_two_launches(tmp_path: Path) -> None:
    """The kernel is defined once and called twice, with a library call between."""
    dump = two_gathers(tmp_path, name="cpp_fused_0")
    facts = [row for row in dump.rows(Kernel, GRAPH) if row.name == "cpp_fused_0"]
    assert [row.groups for row in facts] == [("op0",), ("op2",)]

    assert not only(dump).one_kernel
    assert not standing(dump, Pair(GRAPH, ("op0",), ("op2",))).is_one_kernel
    assert story(dump, "op0", "op2").outcome == "apart"


def test_one_kernel_with_two_calls_that_run_different_groups(tmp_path: Path) -> None:
    """What torch writes: one row of the kernel, with both groups and both lines."""
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",)),
        *loop("op1", (flat("buf0"), flat("x")), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",)),
        attempt("op0", "op1", "refused", reason="no shared data"),
        kernel("cpp_fused_0", "op0", "op1", launches=(100, 102)),
        line(0, "launch", kernel="cpp_fused_0", arguments=("x", "buf0")),
        line(1, "extern", kernel="extern_kernels.mm"),
        line(2, "launch", kernel="cpp_fused_0", arguments=("buf0", "buf1")),
    )

    found = only(dump)

    assert (found.one_kernel, found.saved_bytes) == (False, 3 * PICKED)
    assert not standing(dump, Pair(GRAPH, ("op0",), ("op1",))).is_one_kernel


@pytest.mark.parametrize(
    ("is_told", "index", "legality", "words"),
    [
        (True, "c0", "free", "by the recorded dependencies nothing must run between"),
        (False, "c0", "unchecked", "the dump has no dependencies to check it"),
        (True, "127 - c0", "other-index", "one reads what the other writes at another index"),
    ],
)
def test_where_torch_did_not_ask_whether_it_would_be_right(
    tmp_path: Path, is_told: bool, index: str, legality: str, words: str
) -> None:
    read = Access("buf0", index, (f"c0={ROWS * WIDTH}",), "memory", PICKED, None, 4, PICKED)
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",)),
        *loop("op1", (read,), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",) if is_told else ()),
        begun("op0", "op1"),
        attempt("op0", "op1", "refused", reason="no shared data", shared_bytes=0),
    )

    found = story(dump, "op0", "op1")

    assert found.legality == legality
    (told, *_) = advice_lines(found)
    assert "torch did not check whether one kernel would be correct" in told.plain
    assert words in told.plain


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (
            "Split scan cannot fuse with reductions",
            "This is the code generator: it cannot put both",
        ),
        ("something that torch says since yesterday", "inspect-compile does not know this reason"),
    ],
)
@pytest.mark.parametrize(
    ("between", "is_told", "legality", "told"),
    [
        (False, True, "free", "; by the recorded dependencies nothing must run between the two; torch's other"),
        (False, False, "unchecked", "; not checked: whether one kernel for both would be correct: the dump does not"),
        (
            True,
            True,
            "illegal",
            (
                "; one kernel would also be wrong: convolution_backward · net.py:10 (op1) must run between: "
                "op0 → op1 → op2"
            ),
        ),
    ],
)
def test_refused_by_a_backend_says_whether_it_would_be_right(
    tmp_path: Path, reason: str, words: str, between: bool, is_told: bool, legality: str, told: str
) -> None:
    source = "buf1" if between else "buf0"
    own = "op1" if between else "op0"
    dump = made(
        tmp_path,
        graph(),
        node("conv", "aten.convolution_backward.default", where=at(10)),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0),
        *loop("op1", (flat("buf0"),), (flat("buf1"),), 1, kind="extern", nodes=("conv",), predecessors=("op0",)),
        *loop(
            "op2",
            (flat(source), flat("x")),
            (flat("buf2"),),
            2,
            users=("OUTPUT",),
            predecessors=(own,) if is_told else (),
        ),
        begun("op0", "op1", "op2"),
        attempt("op0", "op2", "refused", reason=reason, shared_bytes=0),
    )

    found = story(dump, "op0", "op2")

    assert found.legality == legality
    line_told = next(iter(advice_lines(found))).plain
    assert line_told.startswith(words)
    assert told in line_told
    miss = next(row for row in fusion(CompiledGraph(dump, GRAPH)).apart if (row.a, row.b) == ("op0", "op2"))
    assert ("not checked whether one kernel would be correct" in miss_text(miss)) == (legality == "unchecked")


def test_refused_for_profit_and_illegal_too(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        node("conv", "aten.convolution_backward.default", where=at(10)),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0),
        *loop("op1", (flat("buf0"),), (flat("buf1"),), 1, kind="extern", nodes=("conv",), predecessors=("op0",)),
        *loop("op2", (flat("buf1"), flat("x")), (flat("buf2"),), 2, users=("OUTPUT",), predecessors=("op1",)),
        begun("op0", "op1", "op2"),
        attempt("op0", "op2", "refused", reason="no shared data", shared_bytes=0),
    )

    found = story(dump, "op0", "op2")

    assert found.legality == "illegal"
    told, advice = advice_lines(found)
    assert told.plain == (
        "This is about gain, but one kernel would also be wrong:"
        " convolution_backward · net.py:10 (op1) must run between: op0 → op1 → op2;"
        " no setting for fusion changes that."
    )
    assert advice.plain.startswith("In the program: see what runs between the two")
    assert miss_text(only(dump)).endswith(
        "; one kernel would also be wrong: convolution_backward · net.py:10 (op1) must run between"
    )


def test_a_pair_that_is_asked_both_ways_is_two_looks(tmp_path: Path) -> None:
    """The second asks whether the later one may come first: that says nothing of why they are apart."""
    texts = ("op0", "op1", "candidate producer is not dep of any foreach consumer", "node1 must go before node2")
    looks = (Look(0, 1, REFUSED, None, (Refusal(2),)), Look(1, 0, REFUSED, None, (Refusal(3),)))
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0),
        *loop("op1", (flat("x"),), (flat("buf1"),), 1),
        FusionLooks(graph=GRAPH, round=1, texts=texts, looks=looks),
    )

    found = CompiledGraph(dump, GRAPH).ledger.candidates

    codes = [(row.a, row.b, row.verdict, row.code) for row in found]
    assert codes == [
        ("op0", "op1", "refused", "foreach-not-producer"),
        ("op1", "op0", "refused", "wrong-order"),
    ]
    assert only(dump).code == "foreach-not-producer"


def test_what_is_refused_one_way_and_allowed_the_other_is_overruled(tmp_path: Path) -> None:
    texts = ("op0", "op1", "candidate producer is not dep of any foreach consumer")
    looks = (Look(0, 1, REFUSED, None, (Refusal(2),)), Look(1, 0, ALLOWED, 4))
    dump = made(tmp_path, graph(), FusionLooks(graph=GRAPH, round=1, texts=texts, looks=looks))

    found = CompiledGraph(dump, GRAPH).ledger.candidates

    assert [(row.a, row.verdict) for row in found] == [("op0", "overruled"), ("op1", "allowed")]


def test_what_ended_in_one_node_is_not_among_what_was_never_tried(tmp_path: Path) -> None:
    """op0 and op2 were never asked about, and came together by way of op1; op3 was never asked about at all."""
    texts = ("op0", "op1", "op0_op1", "op2", "op0_op1_op2", "FusedSchedulerNode")
    fused = (Fused(0, 1, 2, 5), Fused(2, 3, 4, 5))
    names = ("op0", "op1", "op2", "op3")
    dump = made(
        tmp_path,
        graph(),
        *(operation(name, reads={"x": 4}, writes={}, phase="pre_fusion") for name in names),
        operation("op0_op1_op2", reads={"x": 4}, writes={}),
        operation("op3", reads={"x": 4}, writes={}),
        replace(begun(*names), window=1),
        FusionLooks(graph=GRAPH, round=1, texts=texts, looks=(Look(0, 1, ALLOWED), Look(2, 3, ALLOWED)), fused=fused),
    )

    untried = [(row.a, row.b) for row in CompiledGraph(dump, GRAPH).ledger.untried()]

    assert untried == [("op0", "op3"), ("op1", "op3"), ("op2", "op3")]


def test_what_stays_inside_of_a_kernel_is_of_the_call_that_reads_it(tmp_path: Path) -> None:
    """A mean that never reaches memory stands first in each call of a kernel that is called twice."""
    rows = [
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",)),
        *loop("op1", (flat("x"), flat("buf0")), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",)),
        *loop("op2", (flat("y"),), (flat("buf2"),), 2, users=("op3",)),
        *loop("op3", (flat("y"), flat("buf2")), (flat("buf3"),), 3, users=("OUTPUT",), predecessors=("op2",)),
    ]
    dump = made(
        tmp_path,
        graph(),
        *rows,
        kernel("cpp_fused_0", "op0", "op1", "op2", "op3", launches=(100, 101)),
        line(0, "launch", kernel="cpp_fused_0", arguments=("x", "buf1")),
        line(1, "launch", kernel="cpp_fused_0", arguments=("y", "buf3")),
    )

    assert [launch.groups for launch in CompiledGraph(dump, GRAPH).traffic.launches] == [
        ("op0", "op1"),
        ("op2", "op3"),
    ]
    assert fusion(CompiledGraph(dump, GRAPH)).apart == []


def many(root: Path, count: int, *, parts: int = 1) -> Dump:
    """So many launches that read one input, each one of its `parts`."""
    facts: list[Fact] = [graph()]
    length = ROWS * WIDTH
    for place in range(count):
        index = f"c0 + {place % parts * length}"
        read = Access("x", index, (f"c0={length}",), "memory", PICKED, None, 4, PICKED * parts)
        facts += loop(f"op{place}", (read,), (flat(f"buf{place}"),), place, users=("OUTPUT",))
        facts.append(kernel(f"cpp_fused_{place}", f"op{place}", launches=(100 + place,)))
        facts.append(line(place, "launch", kernel=f"cpp_fused_{place}", arguments=("x", f"buf{place}")))
    return made(root, *facts)


@pytest.mark.parametrize(("count", "parts"), [(64, 1), (300, 1), (300, 7)])
def test_what_many_launches_read_is_worth_all_of_it_but_not_listed_pair_by_pair(
    tmp_path: Path, count: int, parts: int
) -> None:
    dump = many(tmp_path, count, parts=parts)
    found = fusion(CompiledGraph(dump, GRAPH))

    assert found.apart
    assert (found.left_out == []) == (count <= 64)
    if count <= 64:
        assert len(found.apart) == count * (count - 1) // 2
    else:
        assert count - parts <= len(found.apart) <= 4096 + 2 * count
        (left,) = found.left_out
        assert (left.buffer, left.nodes) == ("x", count)
        assert next(left_out_lines(found.left_out)).startswith(
            f"x is touched by {count} scheduler nodes: each is compared"
        )
    assert graph_bytes(CompiledGraph(dump, GRAPH)).missed == (count - parts) * PICKED, "each part is needed once"
    check_misses(dump)


def test_the_time_that_misses_take_grows_with_the_launches(tmp_path: Path) -> None:
    """Of so many pairs that the limit holds for all: not with their square."""
    pairs = [len(fusion(CompiledGraph(many(tmp_path / str(count), count), GRAPH)).misses) for count in (1500, 3000)]

    assert pairs[1] < 2.2 * pairs[0]


@pytest.mark.parametrize("scatters", [False, True])
def test_what_is_scattered_into_is_filled_before_and_nobody_can_act_on_it(tmp_path: Path, scatters: bool) -> None:
    everywhere = (f"c0={ROWS * WIDTH}",)
    whole = Access("buf0", None, (), "star", PICKED, None, 4, PICKED)
    other = Access("buf0", "127 - c0", everywhere, "memory", PICKED, None, 4, PICKED)
    somewhere = Access("buf1", "tmp0", everywhere, "memory", PICKED, "buf0", 4, PICKED)
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",)),
        *loop(
            "op1",
            (whole if scatters else other,),
            (somewhere if scatters else flat("buf1"),),
            1,
            users=("OUTPUT",),
            predecessors=("op0",),
        ),
        begun("op0", "op1"),
        attempt("op0", "op1", "refused", reason="no shared data", shared_bytes=0),
    )

    assert [(miss.a, miss.b) for miss in fusion(CompiledGraph(dump, GRAPH)).apart] == [("op0", "op1")]
    found = [row.names for row in findings(Graphs(dump)) if row.kind == "missed-fusion"]
    assert found == ([] if scatters else [("op0", "op1")])


@pytest.mark.parametrize("scatters", [False, True])
def test_what_was_scattered_is_read_when_all_of_it_is_there(tmp_path: Path, scatters: bool) -> None:
    """As the gradient of an embedding that is added to others."""
    everywhere = (f"c0={ROWS * WIDTH}",)
    somewhere = Access("buf1", "tmp0", everywhere, "memory", PICKED, "buf0", 4, PICKED)
    turned = Access("buf1", "127 - c0", everywhere, "memory", PICKED, None, 4, PICKED)
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (somewhere if scatters else flat("buf1"),), 0, users=("op1",)),
        *loop("op1", (turned,), (flat("buf2"),), 1, users=("OUTPUT",), predecessors=("op0",)),
        begun("op0", "op1"),
        attempt("op0", "op1", "refused", reason="no shared data", shared_bytes=0),
    )

    found = [row.names for row in findings(Graphs(dump)) if row.kind == "missed-fusion"]
    assert found == ([] if scatters else [("op0", "op1")])


@pytest.mark.parametrize("repeats", [False, True])
def test_a_loop_that_repeats_what_the_other_goes_over_once_is_none_that_somebody_can_join(
    tmp_path: Path, repeats: bool
) -> None:
    again = (f"c0={ROWS}", *(("c1=8",) if repeats else ()), f"c2={WIDTH}")
    turned = Access("buf0", f"c0 + {ROWS}*c2", again, "memory", PICKED, None, 4, PICKED)
    dump = made(
        tmp_path,
        graph(),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",)),
        *loop("op1", (turned,), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",)),
        begun("op0", "op1"),
        attempt("op0", "op1", "refused", reason="no shared data", shared_bytes=0),
    )

    assert [(miss.a, miss.b) for miss in fusion(CompiledGraph(dump, GRAPH)).apart] == [("op0", "op1")]
    found = [row.names for row in findings(Graphs(dump)) if row.kind == "missed-fusion"]
    assert found == ([] if repeats else [("op0", "op1")])


@pytest.mark.parametrize(("kind", "line"), [("backward", 3), ("backward", 4), ("forward", 3)])
def test_both_parts_of_one_operators_gradient_are_autograds(tmp_path: Path, kind: str, line: int) -> None:
    everywhere = (f"c0={ROWS * WIDTH}",)
    turned = Access("buf0", "127 - c0", everywhere, "memory", PICKED, None, 4, PICKED)
    made_by = {"original_aten": "aten.silu_backward.default"}
    dump = made(
        tmp_path,
        graph(kind=kind),
        node("sigmoid", "aten.sigmoid.default", where=at(3), **made_by),
        node("mul", "aten.mul.Tensor", where=at(line), **made_by),
        *loop("op0", (flat("x"),), (flat("buf0"),), 0, users=("op1",), nodes=("sigmoid",)),
        *loop("op1", (turned,), (flat("buf1"),), 1, users=("OUTPUT",), predecessors=("op0",), nodes=("mul",)),
        begun("op0", "op1"),
        attempt("op0", "op1", "refused", reason="no shared data", shared_bytes=0),
    )

    found = [row.names for row in findings(Graphs(dump)) if row.kind == "missed-fusion"]
    assert found == ([] if (kind, line) == ("backward", 3) else [("op0", "op1")])
