"""The first page of `show`: it fits a terminal of 80 × 24 whole, whatever the dump holds, and each part leads on."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from inspect_compile import tables
from inspect_compile.analysis.findings.line_cost import LineCost
from inspect_compile.analysis.findings.line_costs import line_costs
from inspect_compile.analysis.overview.records import Totals
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Run, StepAccount, StepTime, Tuned
from inspect_compile.facts.trials import Place, Repeated
from inspect_compile.graph import Graphs
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.overview.overview import LINES, Section, rooms
from inspect_compile.tui.models.run.overview import OverviewPage
from tests.conftest import DumpOf
from tests.handmade import ended, graph, made
from tests.tui.driving import RECORDED

HEIGHT = 24


def printed(dump: Dump, width: int = 80, dump_argument: str = "d1") -> list[str]:
    page = tables.table("overview", Graphs(dump), limit=40, dump_argument=dump_argument)
    return plain_text(page, width).splitlines()


@pytest.mark.parametrize("argument", ["d1", "a/very/long/path/to/the/folder/of/a/dump/that/leaves/no/room"])
def test_it_fits_a_small_terminal(argument: str) -> None:
    shown = printed(Dump(RECORDED), dump_argument=argument)

    assert len(shown) < HEIGHT
    assert all(cell_len(line) <= 80 for line in shown)
    assert not any(line.strip().startswith(("show ", "why ")) for line in shown)
    what = argument if argument == "d1" else "DUMP"
    for table in ("graphs", "traffic --by line", "findings", "dynamo", "memory --at peak"):
        assert any(line.endswith(f"show {what} {table}") for line in shown), table


def test_many_graphs_and_warnings_fit_too(tmp_path: Path) -> None:
    names = [f"model__{number}_forward_{number}.0" for number in range(12)]
    run = Run(status="finished", argv=("net.py",), exit_code=3, notes=tuple(f"note {number}" for number in range(9)))
    rows = [row for name in names for row in (graph(name), ended(name))]

    shown = printed(made(tmp_path, *rows, run=run))

    assert len(shown) < HEIGHT
    assert "the program ended with exit status 3" in shown[1]
    assert any("more warnings" in line and line.endswith("show d1 summary") for line in shown)
    assert any(line.startswith("Compiled 12 graphs") for line in shown)


def test_where_steps_were_profiled_it_begins_with_what_bounds_them(tmp_path: Path) -> None:
    names = [f"model__{number}_forward_{number}.0" for number in range(12)]
    kinds = ("compiled kernels", "library calls", "eager operators", "optimizer", "copies", "input", "compiling")
    facts = (
        *(row for name in names for row in (graph(name), ended(name))),
        StepAccount(by="Optimizer.step#A", steps=9, seconds=3e-3, least=2e-3, most=4e-3, device="H200", busy=9e-4),
        StepTime(kind="waiting for the host", what="launch kernels", seconds=2.1e-3, is_idle=True),
        *(StepTime(kind=kind, what="x", seconds=9e-4 / len(kinds)) for kind in kinds),
    )
    dump = made(tmp_path, *facts)

    shown = printed(dump)

    assert len(shown) < HEIGHT
    assert re.fullmatch(r"Bound by launch overhead, 70 %   step 3 ms +show d1 steps", shown[1])
    assert printed(dump, 120)[1].startswith("Bound by launch overhead: the GPU is idle 70 % of each step")
    assert "torch.compile" not in printed(dump, 160)[1]
    step = Repeated("compiled call", "net", Place("net.py", 9))
    tuned = Tuned(step=step, device="H200", seconds=2e-3, noise=0.02, runs=4, steps=9, eager=1e-3)
    slower = "tune: 2 ms, without torch.compile 1 ms; it is slower compiled"
    assert slower in printed(made(tmp_path / "tuned", *facts, tuned), 200)[1]
    (longest,) = [line for line in shown if line.startswith("waiting for the host")]
    assert longest.split()[4:6] == ["2.1", "ms"]
    rows = [json.loads(msgspec.json.encode(row)) for row in tables.rows("overview", Graphs(dump))]
    assert [row["fact"] for row in rows].count("step_time") == 8
    page = OverviewPage(dump, "", has_program=False).sheet(78, 30)
    told = [page.plain(index) for index in range(len(page))]
    assert any(line.startswith("Bound by launch overhead") for line in told)
    assert page.lead(next(index for index, line in enumerate(told) if "waiting for the host" in line)) is None


def test_the_order_is_what_bounds_it_what_to_do_what_was_compiled_what_broke_and_where_the_dump_is() -> None:
    shown = printed(Dump(RECORDED))

    starts = ("Bound by", "Do first", "Where the bytes go", "Compiled", "Memory", "Dynamo", "Dump")
    found = [next(at for at, line in enumerate(shown) if line.startswith(start)) for start in starts]
    assert found == sorted(found)
    assert found[0] == 1
    assert shown[-1].startswith("Dump  d1 ")
    assert shown[-1].endswith("inspect-compile open d1")
    first = shown[found[1] + 1 : found[2]]
    assert first[0].startswith(" ▲ ")
    assert first[1].startswith("   → ")


def test_coverage_is_shown_only_where_something_is_missing(tmp_path: Path) -> None:
    whole = made(tmp_path / "whole", graph("model__0_forward_1.0"), ended("model__0_forward_1.0"))
    open_ = made(tmp_path / "open", graph("model__0_forward_1.0"), ended("model__0_forward_1.0"), graph("a_1.1"))

    assert not any("Coverage" in line for line in [*printed(whole), *printed(Dump(RECORDED))])
    (line,) = [line for line in printed(open_) if line.startswith("Coverage")]
    assert "1 graph is incomplete" in line


def test_a_step_of_no_known_bound_names_its_largest_part(tmp_path: Path) -> None:
    name = "model__0_forward_1.0"
    step = StepAccount(by="train.py:9", steps=9, seconds=3e-3, least=2e-3, most=4e-3, device="", busy=0.0)
    times = [
        StepTime(kind=kind, what="x", seconds=part) for kind, part in (("library calls", 2e-3), ("optimizer", 1e-3))
    ]

    shown = printed(made(tmp_path, graph(name), ended(name), step, *times))

    assert shown[1].startswith("Most of a step: library calls, 67 %   step 3 ms")


def test_no_number_is_cut() -> None:
    wide = {word for line in printed(Dump(RECORDED), 200) for word in line.split() if word.replace(".", "").isdecimal()}

    narrow = [word for line in printed(Dump(RECORDED)) for word in line.split() if word.replace(".", "").isdecimal()]

    assert set(narrow) <= wide


def test_sections_share_the_lines_that_there_are() -> None:
    sections = [
        Section("lines", (), rows=range(9), columns=()),
        Section("findings", (), entries=[(None, ((), ()))] * 9),
    ]

    assert rooms(sections, 0, {"lines": 5, "findings": 3}) == {"lines": 1, "findings": 1}
    assert rooms(sections, 100, {"lines": 5, "findings": 3}) == {"lines": 5, "findings": 3}
    assert rooms(sections, 8, {"lines": 5, "findings": 3}) == {"lines": 3, "findings": 2}
    assert LINES < HEIGHT


def test_costs_of_lines_add_up_to_those_of_the_launches(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("training_step").dump)

    found = line_costs(Graphs(dump))

    own = [row for row in found if not row.is_inner]
    traffic = [row for row in tables.rows("traffic", Graphs(dump)) if type(row).__name__ == "KernelTraffic"]
    assert sum(row.bytes for row in own) == sum(row.read + row.written for row in traffic)  # type: ignore[attr-defined]
    assert sum(row.launches for row in own) == len(traffic)
    assert [row.share for row in own] == sorted((row.share for row in own), reverse=True)
    assert not found[0].is_inner


def test_programs_get_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(RECORDED), "--json"]) == 0

    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    kinds = list(dict.fromkeys(row["fact"] for row in rows))
    assert kinds == ["run_summary", "totals", "graph_summary", "line_cost", "finding"]
    assert {Totals.__struct_config__.tag, LineCost.__struct_config__.tag} < set(kinds)


@pytest.mark.parametrize("table", tables.TABLES)
def test_what_is_piped_is_never_cut(
    table: str, dump_of: DumpOf, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`show … | grep` finds whole names."""
    monkeypatch.delenv("COLUMNS", raising=False)
    dump = dump_of("training_step").dump

    assert main(["show", str(dump), table]) == 0

    text = capsys.readouterr().out
    assert re.search(r"\w…(\s|$)", text) is None
    assert not any(line.endswith("   ") for line in text.splitlines())
    if table == "kernels":
        names = {kernel.name for kernel in tables.rows("kernels", Graphs(Dump(dump)))}  # type: ignore[attr-defined]
        assert all(name in text for name in names)
