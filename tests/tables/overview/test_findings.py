"""`show findings`, and the findings in the summary: read at the widths of a terminal, nothing is cut."""

import io
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len
from rich.console import Console

from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding, Trial
from inspect_compile.dump import Dump
from inspect_compile.knowledge.overview.findings import WORDS
from inspect_compile.tables import rows, table
from inspect_compile.tables.overview.findings import (
    command_words,
    cost_words,
    nothing_words,
    sure_words,
    to_do_words,
)
from tests.conftest import DumpOf, Golden
from tests.handmade import ended, graph, made
from tests.normalised import normalised, of_golden_torch


def printed(dump: Dump, width: int, name: str = "findings", limit: int | None = 40) -> str:
    file = io.StringIO()
    found = table(name, dump, limit=limit, dump_argument="step")
    Console(file=file, width=width, highlight=False).print(found)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


@of_golden_torch
@pytest.mark.parametrize("width", [80, 120])
def test_a_program_with_graph_breaks(dump_of: DumpOf, tmp_path: Path, golden: Golden, width: int) -> None:
    dump = normalised(dump_of("graph_breaks").dump, tmp_path / "dump")
    golden.check(printed(dump, width))


@pytest.mark.parametrize("width", [80, 120])
def test_nothing_is_wider_than_the_terminal_and_no_place_is_cut(dump_of: DumpOf, width: int) -> None:
    text = printed(Dump(dump_of("graph_breaks").dump), width)

    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text
    assert "graph_breaks.py:10   total" in text


def test_the_summary_ends_with_the_first_five(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("graph_breaks").dump)

    text = printed(dump, 120, "summary")
    _, _, told = text.partition("\nFindings, most expensive first ")
    assert told.count(" ▲ ") == min(5, len(findings(dump)))
    assert "show step findings" in told


def test_programs_get_all_that_people_see(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("graph_breaks").dump)

    found = list(rows("findings", dump))
    assert found == findings(dump)
    assert all(isinstance(row, Finding) and row.what and row.sure for row in found)


def test_where_nothing_is_found_that_is_said(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), ended())

    assert " ".join(printed(dump, 80).split()) == nothing_words()


def test_where_nothing_was_compiled_nothing_is_praised(tmp_path: Path) -> None:
    """As in a dump that is read before its first graph is there."""
    told = printed(made(tmp_path), 80)

    assert "nothing was compiled" in told
    assert "missed" not in told


def test_every_kind_leads_to_a_command(tmp_path: Path) -> None:
    varieties = {
        *("apart-handed", "apart-read", "foreach", "complex", "break-builtin", "break-mask", "break-number"),
        *("library-copy", "product-copy", "input-copy", "einsum-copy", "joining", "joining-calls", "padding-by-hand"),
        *("library-layout", "convolution-layout", "convolution-last", "convolution-joined"),
        *(f"recompile-{name}" for name in ("after", "condition", "fixed", "global", "gradient", "integer", "length")),
        *(f"recompile-{name}" for name in ("number", "one", "rest", "state", "value")),
    }
    kinds = {*WORDS, "missed-fusion"} - varieties
    for kind in kinds:
        found = Finding(kind=kind, graph="g", what="w", names=("op0", "op1") if kind == "missed-fusion" else ("one",))
        assert command_words(found, "d1").startswith(("show d1 ", "why d1 "))


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Finding(kind="copy", graph="g", what="w", seconds=1.2e-5, bytes=131_000), "12 µs a call (131 kB)"),
        (Finding(kind="copy", graph="g", what="w", bytes=131_000, is_bound=True), "≤ 131 kB a call"),
        (Finding(kind="recompile", graph="g", what="w", seconds=30.0, when="once"), "30 s of compiling"),
        (Finding(kind="probe", graph="", what="w"), ""),
    ],
)
def test_costs(found: Finding, told: str) -> None:
    assert cost_words(found) == told


def test_a_setting_is_told_with_what_trying_it_showed() -> None:
    trial = Trial("True", 1, True, (8, 7), (4000, 3000))
    found = Finding(kind="copy", graph="g", what="w", to_do="do it", knob="aggressive_fusion", trial=trial)

    assert to_do_words(found) == "do it; aggressive_fusion=True was tried (replay 1): 8 → 7 kernels, 4 kB → 3 kB moved"


@pytest.mark.parametrize(
    ("sure", "calls", "told"),
    [
        ("measured", 23, "measured: the median of 23 calls"),
        ("measured", None, "measured"),
        ("timed a few times", 2, "timed in 2 calls only: 10 make a median to rely on"),
        ("timed a few times", 1, "timed in 1 call only: 10 make a median to rely on"),
        ("not known", None, "how many seconds it costs is not known"),
    ],
)
def test_a_time_is_told_with_the_calls_that_it_rests_on(sure: str, calls: int | None, told: str) -> None:
    assert sure_words(Finding(kind="copy", graph="g", what="w", seconds=1e-5, sure=sure, calls=calls)) == told


def test_what_torch_advises_is_told_as_torchs() -> None:
    found = Finding(kind="graph-break", graph="0/0", what="w", to_do="set it", is_torchs=True)

    assert to_do_words(found) == "torch says, not tried: set it"
    better = msgspec.structs.replace(found, instead="leave it out")
    assert to_do_words(better).endswith("or better: leave it out")
