"""The rows of the tables of guards, calls and times, against what the tables of a dump hold themselves."""

import json
from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.analysis.caches.lookups import LookupRow
from inspect_compile.analysis.frontend.call_path import call_rows
from inspect_compile.analysis.frontend.dynamo_rows import FrameRow, RecompileRow, SkipRow, dynamo_rows
from inspect_compile.analysis.frontend.guards import guard_rows
from inspect_compile.analysis.frontend.time_sums import TimeSum, time_rows, time_sums
from inspect_compile.analysis.frontend.times import StageTime, parts, stage_times
from inspect_compile.dump import Dump
from inspect_compile.facts import CacheLookup, FailedGuard, Frame, Guard, Hook, Location, Pass, Recompile, Skip, Timed
from inspect_compile.graph import Graphs
from tests.handmade import FILE, GRAPH, at, graph, made

RECORDED = Path(__file__).resolve().parents[2] / "data" / "h200-torch-2.11" / "tuned"


def stored(table: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (RECORDED / f"{table}.jsonl").read_text().splitlines()]


def test_every_guard_is_in_one_row() -> None:
    rows = guard_rows(Graphs(Dump(RECORDED)))

    assert Counter(kind for row in rows for kind in row.kinds) == Counter(row["kind"] for row in stored("guards"))
    assert {row.source for row in rows} == {row["source"] for row in stored("guards")}


def test_guards_that_say_the_same_are_one_row(tmp_path: Path) -> None:
    def guard(compile_id: str, kind: str, source: str = "L['self'].n") -> Guard:
        return Guard(graph=compile_id, kind=kind, source=source, code=(f"{source} == 1",), where=at(3))

    dump = made(
        tmp_path,
        graph(compile_id="0/0"),
        *(guard("0/0", "CONSTANT_MATCH"), guard("0/0", "EQUALS_MATCH"), guard("0/0", "EQUALS_MATCH", "L['n']")),
        guard("0/1", "EQUALS_MATCH"),
    )

    found = [(row.graph, row.expression, row.kinds) for row in guard_rows(Graphs(dump))]

    assert found == [
        ("0/0", "self.n", ("CONSTANT_MATCH", "EQUALS_MATCH")),
        ("0/0", "n", ("EQUALS_MATCH",)),
        ("0/1", "self.n", ("EQUALS_MATCH",)),
    ]
    assert guard_rows(Graphs(dump, GRAPH)) == [row for row in guard_rows(Graphs(dump)) if row.graph == "0/0"]


def test_the_depth_of_a_call_is_the_number_of_its_callers() -> None:
    parents = {row["index"]: row["parent"] for row in stored("calls")}
    depths = {}
    for index in parents:
        callers, above = 0, parents[index]
        while above is not None:
            callers, above = callers + 1, parents[above]
        depths[index] = callers

    rows = [row for made in call_rows(Graphs(Dump(RECORDED))).values() for row in made]

    assert {row.index: row.depth for row in rows} == depths
    assert max(depths.values()) > 3


def timed_dump(root: Path) -> Dump:
    return made(
        root,
        graph(compile_id="0/0"),
        Frame(graph="0/0", function="forward", file="net.py", line=1, status="compiled"),
        Timed(graph="0/0", name="entire_frame_compile", start=0.0, seconds=10.0),
        Timed(graph="0/0", name="GraphLowering.run", start=1.0, seconds=2.0),
        Timed(graph="", name="compile_file", start=20.0, seconds=5.0),
        Pass(graph=GRAPH, index=0, parent=None, stage="post_grad", kind="pass", name="outer", seconds=0.5),
        Pass(graph=GRAPH, index=1, parent=0, stage="post_grad", kind="pass", name="fold", seconds=0.25),
        Pass(graph=GRAPH, index=2, parent=None, stage="post_grad", kind="pass", name="fold", seconds=0.25),
        Hook(probe="lowering.nodes", target="torch.x", state="closed", calls=7, seconds=0.7),
        Hook(probe="lowering.nodes", target="torch.y", state="closed", calls=1, seconds=0.1),
    )


def test_what_each_compile_pass_and_probe_took(tmp_path: Path) -> None:
    dump = timed_dump(tmp_path)

    found = {(row.kind, row.name): row for row in time_sums(Graphs(dump, None), parts(dump))}

    assert [row.seconds for row in found.values()] == sorted((row.seconds for row in found.values()), reverse=True)
    assert found["compile", "0/0"] == TimeSum("compile", "0/0", "forward", "", "net.py:1", 1, 10.0)
    assert found["compile", ""].seconds == 5.0
    assert found["pass", "outer"] == TimeSum("pass", "outer", "post_grad", "", "", 1, 0.25)
    assert found["pass", "fold"] == TimeSum("pass", "fold", "post_grad", "", "", 2, 0.5)
    probe = found["probe", "lowering.nodes"]
    assert probe.count == 8
    assert probe.seconds == pytest.approx(0.8)


def test_stages_of_all_compiles_and_of_each(tmp_path: Path) -> None:
    rows = [row for row in time_rows(Graphs(timed_dump(tmp_path))) if isinstance(row, StageTime)]

    assert list(dict.fromkeys(row.graph for row in rows)) == [None, "0/0", ""]
    for compile_id in (None, "0/0", ""):
        assert sum(row.share for row in rows if row.graph == compile_id) == pytest.approx(1.0)
    together = {row.stage: row.seconds for row in rows if row.graph is None}
    assert sum(together.values()) == pytest.approx(15.0)
    assert stage_times([]) == []


def test_frames_with_what_their_table_says_of_them(tmp_path: Path) -> None:
    def frame(compile_id: str, function: str, caller: str) -> Frame:
        where = Location(FILE, 9, caller)
        return Frame(graph=compile_id, function=function, file=FILE, line=1, status="compiled", caller=where)

    def lookup(compile_id: str, **parts: str) -> CacheLookup:
        return CacheLookup(graph=compile_id, cache="fx_graph", outcome="miss", components=parts)

    failed = [FailedGuard(compile_id=one, condition="n == 1", source="n", before="1", after="2") for one in ("0/0",)]
    dump = made(
        tmp_path,
        graph(compile_id="0/1"),
        frame("0/0", "net", "main"),
        frame("0/1", "net", "main"),
        Recompile(graph="0/1", function="net", file=FILE, line=1, reasons=("0/0: n == 1",), failed=tuple(failed)),
        *(Guard(graph=one, kind="EQUALS_MATCH", source="L['n']", where=at(4)) for one in ("0/0", "0/1", "0/1")),
        *(lookup("0/0", inputs="a", code="b"), lookup("0/1", inputs="c", code="b")),
        Skip(function="helper", file=FILE, line=30, reason="no tensors", caller=Location(FILE, 3, "net")),
    )

    rows = list(dynamo_rows(Graphs(dump)))

    frames = [(row.graph, row.depth, row.guards) for row in rows if isinstance(row, FrameRow)]
    assert frames == [("0/0", 0, 1), ("0/1", 0, 2)]
    (again,) = (row for row in rows if isinstance(row, RecompileRow))
    assert [(cause.compile_ids, cause.where) for cause in again.causes] == [(("0/0",), at(4))]
    keys = [(row.nearest, tuple(one.part for one in row.differing)) for row in rows if isinstance(row, LookupRow)]
    assert keys == [(None, ()), ("0/0", ("inputs",))]
    assert [(row.function, row.depth) for row in rows if isinstance(row, SkipRow)] == [("helper", 1)]
    assert {row.graph for row in dynamo_rows(Graphs(dump, GRAPH)) if isinstance(row, FrameRow)} == {"0/1"}
