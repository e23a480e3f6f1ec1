"""Findings that no CPU shows, or that take a replay, from facts that are written down here."""

from pathlib import Path

import msgspec
import pytest
import torch
from torch._dynamo.testing import CompileCounter

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Called, Finding, merged
from inspect_compile.analysis.fusion.part import FindingSite
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    Binary,
    CacheLookup,
    Checked,
    CudaGraph,
    Fact,
    FailedGuard,
    Frame,
    Graph,
    Hook,
    Location,
    Recompile,
    Recording,
    Remark,
    Run,
    Timed,
)
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.cost.sure import MEASURED, TIMED, sure_of
from inspect_compile.tables.overview.findings import cost_text, to_do_text
from tests.handmade import GRAPH, at, ended, graph, kernel, line, made, node, operation

GPU = Run(status="finished", argv=("net.py",), device="cuda (NVIDIA H200, sm_90)")
CODE = (kernel("triton_poi_0", "op0", launches=(101,), kind="triton"), line(0, "launch", kernel="triton_poi_0"))


def only(root: Path, kind: str, *facts: Fact, run: Run | None = None) -> Finding:
    (found,) = [row for row in findings(Graphs(made(root, *facts, run=run))) if row.kind == kind]
    return found


def test_a_number_that_changes_is_no_size(tmp_path: Path) -> None:
    failed = FailedGuard(compile_id="1/0", condition="rate == 0.1", what="rate", before="0.1", after="1e-05")
    again = Recompile(
        graph="1/1", function="step", file="net.py", line=3, reasons=("1/0: rate == 0.1",), failed=(failed,)
    )
    resized = msgspec.structs.replace(failed, what="size of x in dimension 0", before="8", after="9")

    assert "pass rate as a tensor" in only(tmp_path / "number", "recompile", again).to_do
    other = only(tmp_path / "size", "recompile", msgspec.structs.replace(again, failed=(resized,)))
    assert "mark_dynamic" in other.to_do


@pytest.mark.parametrize("sizes", [(1, 2), (1, 2, 3, 4), (24, 1, 1)])
def test_sizes_of_one_are_compiled_apart_whether_marked_or_not(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    torch._dynamo.reset()
    counted = CompileCounter()
    twice = torch.compile(lambda x: x * 2, backend=counted)
    for size in sizes:
        x = torch.zeros(4, size)
        torch._dynamo.mark_dynamic(x, 1)
        twice(x)
    assert counted.frame_count == 2

    failed = FailedGuard(
        compile_id="0/0", condition="…", what="size of x in dimension 1", before=str(sizes[0]), after=str(sizes[1])
    )
    again = Recompile(graph="0/1", function="step", file="net.py", line=3, reasons=("0/0: …",), failed=(failed,))
    to_do = only(tmp_path, "recompile", again).to_do
    assert "use larger sizes only" in to_do
    assert "mark_dynamic" not in to_do


@pytest.mark.parametrize(("began", "seconds"), [(2.0, 5.0), (20.0, 8.0)])
def test_a_backward_that_is_compiled_with_its_frame_counts_once(tmp_path: Path, began: float, seconds: float) -> None:
    """With symbolic sizes it is; else when the program first needs it."""
    again = Recompile(graph="0/1", function="step", file="net.py", line=3, reasons=("0/0: …",))
    frame = Frame(graph="0/1", function="step", file="net.py", line=3, status="compiled", seconds=5.0)
    backward = msgspec.structs.replace(graph(), kind="backward", compile_id="0/1")
    times = (
        Timed(graph="0/1", name="_compile.compile_inner", start=1.0, seconds=5.0),
        Timed(graph="0/1", name="compile_fx.<locals>.bw_compiler", start=began, seconds=3.0),
    )

    found = only(tmp_path, "recompile", again, frame, backward, ended(seconds=3.0), *times)

    assert found.seconds == pytest.approx(seconds)


def test_a_guard_in_a_library_is_told_at_the_users_function(tmp_path: Path) -> None:
    inside = Location("/usr/lib/python3/site-packages/library.py", 50, "has", "if not hasattr(x, name):")
    failed = FailedGuard(compile_id="0/0", condition="x.size(0) == 8", what="size of x in dimension 0", where=inside)
    again = Recompile(graph="0/1", function="step", file="net.py", line=3, reasons=("0/0: …",), failed=(failed,))

    (part,) = only(tmp_path, "recompile", again).parts

    assert part.where is not None
    assert (part.where.file, part.where.line) == ("net.py", 3)


def test_a_librarys_function_is_told_at_the_call_that_made_it_compile_again(tmp_path: Path) -> None:
    file = "/usr/lib/python3/site-packages/library.py"
    failed = FailedGuard(compile_id="0/0", condition="x.size(0) == 8", where=Location(file, 50, "has"))
    again = Recompile(graph="0/1", function="forward", file=file, line=3, reasons=("0/0: …",), failed=(failed,))
    frame = Frame(graph="0/1", function="forward", file=file, line=3, status="compiled", seconds=1.0, caller=at(9))

    (part,) = only(tmp_path, "recompile", again, frame).parts

    assert part.where is not None
    assert [one.line for one in part.where.calls()] == [50, 9]


def test_a_kernel_that_spills(tmp_path: Path) -> None:
    binary = Binary(
        graph=GRAPH, kernel="triton_poi_0", label="a", target="sm_90", registers=255, spills=64, num_warps=4, shared=0
    )
    found = only(tmp_path, "spill", graph(), ended(), *CODE, binary, run=GPU)

    assert found.names == ("triton_poi_0",)
    assert found.why == "64 bytes of a thread, which has 255 registers"
    assert found.is_bound


def test_a_graph_that_is_no_cuda_graph(tmp_path: Path) -> None:
    skipped = CudaGraph(graph=GRAPH, number=0, driver="cudagraph trees", skipped="mutated inputs")
    said = Remark(graph=GRAPH, kind="missed", code="no-cudagraphs", message="…", place=at(3))
    found = only(tmp_path, "no-cudagraph", graph(), ended(), *CODE, skipped, said, run=GPU)

    assert found.why == "mutated inputs"
    assert found.parts[0].where == at(3)
    assert found.seconds == pytest.approx(2e-6)


def test_a_cuda_graph_that_is_recorded_again(tmp_path: Path) -> None:
    again = tuple(Recording(node=number, why="an input has moved", inputs=("arg0_1",)) for number in (1, 2))
    row = CudaGraph(graph=GRAPH, number=0, recorded=3, recordings=(Recording(node=0), *again))
    found = only(tmp_path, "cudagraph-again", graph(), ended(), *CODE, row, run=GPU)

    assert (found.count, found.why) == (2, "an input has moved: arg0_1")


def test_a_compile_that_the_cache_cannot_keep(tmp_path: Path) -> None:
    frame = Frame(graph="0/0", function="f", file="/home/user/net.py", line=3, status="compiled", seconds=4.0)
    look = CacheLookup(graph="0/0", cache="fx_graph", outcome="bypass", reason="an operator of the program's")
    found = only(tmp_path, "cache", graph(), ended(), frame, look)

    assert (found.seconds, found.when, found.why) == (4.0, "once", "an operator of the program's")


def test_a_cache_without_an_entry_tells_what_differs_from_an_earlier_look_at_the_same_graph(tmp_path: Path) -> None:
    frames = [
        Frame(graph=name, function="f", file="/home/user/net.py", line=3, status="compiled", seconds=seconds)
        for name, seconds in (("0/0", 4.0), ("0/1", 3.0), ("1/0", 2.0))
    ]
    keys = [{"gm": "a", "config": "a"}, {"gm": "a", "config": "b"}, {"gm": "b", "config": "b"}]
    looks = [
        CacheLookup(graph=frame.graph, cache="fx_graph", outcome="miss", components=key)
        for frame, key in zip(frames, keys, strict=True)
    ]
    dump = made(tmp_path, graph(), ended(), *frames, *looks, looks[0])

    rows = [row for row in findings(Graphs(dump)) if row.kind == "cache-miss"]

    assert sum(row.seconds or 0 for row in rows) == 9.0
    assert sorted(row.why for row in rows) == ["", "the key is that of 0/0 but for config"]
    assert all("TORCHINDUCTOR_CACHE_DIR" in row.to_do for row in rows)


PADDED = Remark(
    graph="0/0",
    kind="passed",
    code="padded-matmul",
    message="mm is padded (k 63 + 1): it was measured",
    where="net.py:7",
    place=at(7),
    ids=("mm",),
)


@pytest.mark.parametrize(("place", "kind"), [(7, "padding"), (8, "copy")])
def test_copies_for_a_padded_matrix_product(tmp_path: Path, place: int, kind: str) -> None:
    pads = operation("op0", reads={"arg0_1": 65536}, writes={"buf0": 65536}, nodes=("pad",))
    found = only(
        tmp_path,
        kind,
        graph(),
        ended(),
        *CODE,
        line(1, "allocate", buffer="buf0"),
        node("pad", "aten.constant_pad_nd.default", where=at(place)),
        pads,
        msgspec.structs.replace(pads, phase="post_fusion"),
        PADDED,
        run=GPU,
    )

    assert found.bytes == 131072
    assert found.why == (PADDED.message if kind == "padding" else "")


@pytest.mark.parametrize(("outcome", "seconds"), [("hit", 4.0), ("passed over", 4.0), ("bypass", 0.01)])
def test_a_cache_that_costs_nothing_is_no_finding(tmp_path: Path, outcome: str, seconds: float) -> None:
    frame = Frame(graph="0/0", function="f", file="net.py", line=3, status="compiled", seconds=seconds)
    look = CacheLookup(graph="0/0", cache="fx_graph", outcome=outcome)

    assert findings(Graphs(made(tmp_path, graph(), ended(), frame, look))) == []


def test_a_wrong_result_stands_before_all_others(tmp_path: Path) -> None:
    wrong = Checked(
        graph=GRAPH,
        call=1,
        index=0,
        kernel="triton_poi_0",
        line=101,
        buffer="buf0",
        node="relu",
        dtype="float32",
        size=(4,),
        elements=4,
        differing=4,
        rmse=3.0,
        eager_rmse=1e-8,
        exact_rms=1.0,
        worst_error=4.0,
        eager_worst_error=1e-8,
        unexplained=4,
        compiled=5.0,
        exact=1.0,
    )
    hook = Hook(probe="p", target="torch.a.b", state="closed", seconds=5.0)
    run = Run(status="finished", argv=("net.py",), device="cpu", seconds=10.0)
    found = findings(
        Graphs(made(tmp_path, graph(), node("relu", "aten.relu.default", where=at(3)), ended(), wrong, hook, run=run))
    )

    assert [row.kind for row in found] == ["numerics", "incomplete", "slow-probes"]
    assert found[0].parts[0].where == at(3)
    assert cost_text(found[0]) == "wrong"
    assert found[2].seconds == 5.0


def test_a_graph_that_failed_and_a_probe_that_failed(tmp_path: Path) -> None:
    """What another torch has not got is no finding about the program."""
    hook = Hook(probe="p", target="torch.a.b", state="failed", reason="KeyError: 3")
    other = Hook(probe="p", target="torch.a.c", state="missing", reason="this torch has no such function")
    failed = ended(status="failed", exception="InductorError: no compiler")
    found = findings(Graphs(made(tmp_path, graph(), failed, hook, other)))

    assert {row.kind: row.why for row in found} == {
        "failed-compile": "InductorError: no compiler",
        "probe": "torch.a.b: KeyError: 3",
    }


def test_a_function_that_was_given_up(tmp_path: Path) -> None:
    said = Remark(graph="0/8", kind="missed", code="recompile-limit", message="f was compiled too often", knob="k")
    found = only(tmp_path, "recompile-limit", graph(), ended(), said)

    assert to_do_text(found).endswith("the setting k may change it: not tried")


@pytest.mark.parametrize(
    ("target", "words"),
    [("aten._foreach_norm.Scalar", "foreach=False"), ("mine.scale.default", "your own operator")],
)
def test_an_operator_over_a_list_of_tensors_has_its_own_advice(tmp_path: Path, target: str, words: str) -> None:
    said = Remark(graph=GRAPH, kind="missed", code="fallback", message="x", numbers={"how": "implicit"}, ids=("norm",))
    facts = graph(), node("norm", target, where=at(3)), ended(), *CODE, said

    assert words in only(tmp_path, "fallback", *facts).to_do


def test_an_operator_that_torch_leaves_to_a_library_is_no_finding(tmp_path: Path) -> None:
    said = Remark(graph=GRAPH, kind="missed", code="fallback", message="x", numbers={"how": "explicit"}, ids=("mm",))

    assert findings(Graphs(made(tmp_path, graph(), ended(), said))) == []


def remark_with_knob(value: str | None, root: Path, code: str = "same") -> Finding:
    """A fallback by a setting; with `value` a replay with it, whose generated code is `code`."""
    said = Remark(
        graph=GRAPH,
        kind="missed",
        code="fallback",
        message="relu runs as an extern kernel, nothing fuses with it: fallback_by_default is on",
        numbers={"how": "config"},
        knob="torch._inductor.config.fallback_by_default",
        ids=("relu",),
    )
    facts = graph(), node("relu", "aten.relu.default", where=at(3)), ended(), *CODE
    dump = made(root, *facts, said)
    (dump.folder(GRAPH) / "output_code.py").write_text("same", "utf-8")
    if value is not None:
        config = {"fallback_by_default": value}
        run = Run(status="finished", argv=("net.py",), device="cpu", replay_of=GRAPH, config=config)
        again = made(root / "replay_1", *facts, run=run)
        (again.folder(GRAPH) / "output_code.py").write_text(code, "utf-8")
    (found,) = [row for row in findings(Graphs(Dump(root))) if row.kind == "fallback"]
    return found


def test_a_setting_that_nobody_tried(tmp_path: Path) -> None:
    found = remark_with_knob(None, tmp_path)

    assert (found.knob, found.trial) == ("fallback_by_default", None)
    assert to_do_text(found).endswith("the setting fallback_by_default may change it: not tried")


def test_a_setting_that_changes_something(tmp_path: Path) -> None:
    found = remark_with_knob("False", tmp_path, code="other")

    assert found.trial is not None
    assert (found.trial.value, found.trial.replay, found.trial.is_changed) == ("False", 1, True)
    assert "fallback_by_default=False was tried (replay 1): 1 → 1 kernel" in to_do_text(found)


def test_a_setting_that_changes_nothing_is_not_proposed(tmp_path: Path) -> None:
    found = remark_with_knob("False", tmp_path)

    assert to_do_text(found).endswith("fallback_by_default=False was tried and changes nothing")


def row(number: int, seconds: float | None, size: int | None = None) -> Finding:
    where = Location("/home/user/net.py", number)
    return Finding(
        kind="copy", graph="g", what="w", parts=(FindingSite("n", "clone", where),), seconds=seconds, bytes=size
    )


def test_equal_findings_are_one_that_costs_all(tmp_path: Path) -> None:
    found = merged([row(1, 1.0, 10), row(2, 2.5), row(1, 2.0, 20)], {})

    assert [(one.count, one.seconds, one.bytes) for one in found] == [(2, 3.0, 30), (1, 2.5, None)]


def from_library(number: int, called_at: int, graph: str, size: int) -> Finding:
    where = Location("/site-packages/lib/cache.py", number, "update", caller=Location("/home/user/net.py", called_at))
    return Finding(kind="copy", graph=graph, what="w", parts=(FindingSite("n", "cat", where),), bytes=size)


def test_compiles_of_one_frame_and_lines_of_one_function_of_a_library_are_one_finding() -> None:
    called = {
        graph: Called("0", compile_id, Location("/home/user/net.py", at))
        for graph, compile_id, at in (("a", "0/0", 7), ("b", "0/1", 8))
    }
    rows = [from_library(136, 7, "a", 10), from_library(137, 7, "a", 20), from_library(136, 8, "b", 25)]

    (found,) = merged(rows, called)
    assert (found.count, found.bytes) == (3, 30), "a call runs one of the compiles: the dearest counts"
    assert len(merged(rows, {})) == 2, "different lines of the user's own code"


def test_a_peak_is_sorted_behind_what_takes_time(tmp_path: Path) -> None:
    peak = Finding(kind="memory", graph="g", what="m", bytes=10**9)

    found = merged([peak, row(1, None, 1000)], {})
    assert [one.kind for one in found] == ["copy", "memory"]
    assert cost_text(peak) == "1 GB of the peak"


def test_what_is_known_in_bytes_alone_is_sorted_among_seconds(tmp_path: Path) -> None:
    found = merged([row(1, None, 1000), row(2, None, 10**9), row(3, 1e-3, 10)], {})

    assert [one.parts[0].where.line for one in found if one.parts[0].where is not None] == [2, 3, 1]


def test_nested_graphs_are_counted_with_the_outermost(tmp_path: Path) -> None:
    inner = Graph(graph=f"{GRAPH}/true_graph_0", kind="subgraph", parent=GRAPH)

    assert findings(Graphs(made(tmp_path, graph(), inner, ended(), ended(inner.graph)))) == []


def test_of_the_compiles_of_one_frame_the_measured_one_counts() -> None:
    """The first compile ran once, in a cold call that took longer."""
    called = {name: Called("0", name, None) for name in ("0/0", "0/1")}
    first = msgspec.structs.replace(row(1, 9e-4, 10), graph="0/0", sure=TIMED, calls=1)
    second = msgspec.structs.replace(row(1, 1e-4, 10), graph="0/1", sure=MEASURED, calls=22)

    (found,) = merged([first, second], called)

    assert (found.count, found.seconds, found.sure, found.calls) == (2, 1e-4, MEASURED, 22)


@pytest.mark.parametrize(("timed", "sure"), [(1, TIMED), (9, TIMED), (10, MEASURED)])
def test_fewer_than_ten_calls_are_not_called_measured(timed: int, sure: str) -> None:
    assert sure_of(timed) == sure


@pytest.mark.parametrize("is_padded", [True, False])
def test_a_copy_of_padded_rows_is_told_as_that_and_no_transpose_is_blamed(tmp_path: Path, is_padded: bool) -> None:
    """As in a transformer on an H200 whose layer norm is read by several linear layers."""
    place = at(3, "self.layer(self.norm(x))")
    facts = (
        *(graph(device="cuda:0"), node("x"), node("w"), node("mul", "aten.mul.Tensor", inputs=("x",), where=place)),
        *(
            node("view", "aten.reshape.default", inputs=("mul",), where=place),
            node("mm", "aten.mm.default", inputs=("view", "w"), where=place),
        ),
        operation("op0", reads={"x": 8000}, writes={"buf0": 8000}, nodes=("mul",)),
        operation("op1", reads={"buf0": 8000}, writes={"buf1": 8000}, nodes=("mul", "view")),
        operation("op2", reads={"buf1": 8000, "w": 80}, writes={"buf2": 8000}, nodes=("mm",), kind="extern"),
        *(kernel(f"triton_{n}", f"op{n}", launches=(101 + n,), kind="triton", nodes=("mul", "view")) for n in (0, 1)),
        *(line(n, "launch", kernel=f"triton_{n}", line=101 + n, arguments=(f"buf{n}",)) for n in (0, 1)),
        kernel("extern_kernels.mm", "op2", launches=(103,), kind="extern", nodes=("mm",)),
        line(2, "launch", kernel="extern_kernels.mm", line=103, arguments=("buf2",)),
    )
    padding = Remark(
        graph=GRAPH,
        kind="passed",
        code="padded-strides",
        message="buf0 of (4, 5, 100) has strides (512, 100, 1) and not (500, 100, 1): so that its rows are aligned",
        ids=("buf0", "mul"),
        knob="torch._inductor.config.comprehensive_padding",
    )

    found = only(tmp_path, "layout", *facts, *((padding,) if is_padded else ()), run=GPU)

    assert ("avoid a transpose or slice" in found.to_do) != is_padded
    assert (found.knob == "comprehensive_padding") == is_padded
    if is_padded:
        assert found.why.startswith("(4, 5, 100) has strides")
        assert found.bytes == 16_000
        assert "not tried" in to_do_text(found)
