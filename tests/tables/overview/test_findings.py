"""`show findings`, and the findings in the summary: read at the widths of a terminal, nothing is cut."""

import ast
import shutil
from pathlib import Path

import msgspec
import pytest
from rich.cells import cell_len

from inspect_compile.analysis.findings import every
from inspect_compile.analysis.findings.every import findings
from inspect_compile.analysis.findings.finding import Finding, Trial
from inspect_compile.analysis.overview.looked_for import KindLookedFor
from inspect_compile.dump import Dump
from inspect_compile.facts import Run
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.overview import findings as kinds_module
from inspect_compile.knowledge.overview.finding_kinds import KINDS
from inspect_compile.knowledge.overview.findings import RECOMPILE_LIMIT, WORDS
from inspect_compile.tables import rows, table
from inspect_compile.tables.block_lines import plain_text
from inspect_compile.tables.overview.findings import (
    command_text,
    cost_text,
    no_findings_text,
    sure_text,
    to_do_text,
)
from tests.conftest import TESTS, DumpOf, Golden
from tests.handmade import ended, graph, made
from tests.normalised import normalised, of_golden_code


def printed(dump: Dump, width: int, name: str = "findings", limit: int | None = 40) -> str:
    found = table(name, Graphs(dump), limit=limit, dump_argument="step")
    return "\n".join(line.rstrip() for line in plain_text(found, width).splitlines()) + "\n"


@of_golden_code
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
    assert told.count(" ▲ ") == min(5, len(findings(Graphs(dump))))
    assert "show step findings" in told


def test_programs_get_all_that_people_see(dump_of: DumpOf) -> None:
    dump = Dump(dump_of("graph_breaks").dump)

    found = list(rows("findings", Graphs(dump)))
    assert found == findings(Graphs(dump))
    assert all(isinstance(row, Finding) and row.what and row.sure for row in found)


def test_where_nothing_is_found_that_is_said(tmp_path: Path) -> None:
    dump = made(tmp_path, graph(), ended())

    told = " ".join(printed(dump, 80).split())
    assert told.startswith(f"{no_findings_text(dump)} show")
    assert told.endswith("findings --kinds")
    looked = [row for row in rows("findings", Graphs(dump), kinds=True) if isinstance(row, KindLookedFor)]
    assert no_findings_text(dump) == f"None of the {sum(not row.why_not for row in looked)} kinds that are looked for"
    assert {"numerics", "spill"} <= {row.kind for row in looked if row.why_not}


def test_every_kind_that_is_found_is_in_the_list_of_kinds() -> None:
    folder = Path(every.__file__).parent
    trees = [ast.parse(path.read_text()) for path in folder.glob("*.py")]
    made_kinds = {
        keyword.value.id
        for tree in trees
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Finding"
        for keyword in call.keywords
        if keyword.arg == "kind" and isinstance(keyword.value, ast.Name) and keyword.value.id.isupper()
    }
    listed = [one.kind for one in KINDS]
    assert {getattr(kinds_module, name) for name in made_kinds} <= set(listed)
    assert len(set(listed)) == len(listed)
    documented = (TESTS.parent / "docs" / "findings.md").read_text()
    assert all(f"`{kind}`" in documented for kind in listed)


@pytest.mark.parametrize("gone", ["graphs.jsonl", "torchinductor", "nodes.jsonl", "half of dynamo.jsonl"])
def test_a_copy_that_broke_off_says_nothing_else(dump_of: DumpOf, tmp_path: Path, gone: str) -> None:
    root = tmp_path / "copy"
    shutil.copytree(dump_of("graph_breaks").dump, root)
    assert not Dump(root).lacking
    first = next(root.rglob(gone.rpartition(" ")[2]))
    if first.is_dir():
        shutil.rmtree(first)
    elif gone.startswith("half"):
        first.write_bytes(first.read_bytes()[: first.stat().st_size // 2])
    else:
        first.unlink()

    dump = Dump(root)
    told = printed(dump, 200)
    assert "this dump is not complete" in told
    assert "nothing was compiled" not in told
    assert "None of the" not in told
    assert [row.kind for row in findings(Graphs(dump))] == ["incomplete"]
    for name in ("overview", "summary"):
        page = " ".join(printed(dump, 200, name).split())
        assert "this dump is not complete" in page.lower()
        assert "No graph was compiled" not in page
        assert "None of the" not in page


def test_of_a_run_without_a_graph_only_that_is_said(tmp_path: Path) -> None:
    """Whether a graph was compiled that is not here is known only where the run recorded its tables."""
    for name, run, words in (
        ("recorded", Run(status="finished", tables={}), "No graph was compiled: torch.compile was never called"),
        ("killed", Run(status="running"), "No graph is recorded: the run did not record whether"),
        ("older", Run(status="finished"), "No graph is recorded: the run did not record whether"),
    ):
        dump = made(tmp_path / name, run=run)
        for page in ("overview", "summary"):
            told = " ".join(printed(dump, 200, page).split())
            assert words in told
            assert "Findings" not in told


def test_where_nothing_was_compiled_nothing_is_praised(tmp_path: Path) -> None:
    """As in a dump that is read before its first graph is there."""
    told = printed(made(tmp_path), 80)

    assert "no graph is recorded" in told
    assert "None of" not in told


def test_every_kind_leads_to_a_command(tmp_path: Path) -> None:
    varieties = {
        *(kind for kind in WORDS if kind.startswith("recompile-") and kind != RECOMPILE_LIMIT),
        *("apart-handed", "apart-read", "foreach", "complex", "break-builtin", "break-mask", "break-number"),
        *("break-library", "break-ddp", "library"),
        *("library-copy", "product-copy", "input-copy", "einsum-copy", "joining", "joining-calls", "padding-by-hand"),
        *("library-layout", "convolution-layout", "convolution-last", "convolution-joined"),
        *("launch-bound-host", "launch-bound-skipped", "synchronisation-asked"),
        *("attention-by-hand", "failed-call", "padded-layout", "compile-time-layers", "autotuning", "own-pass"),
        *("eager-break", "eager-tensors", "transfer-back", "transfer-pinned"),
    }
    kinds = {*WORDS, "missed-fusion"} - varieties
    for kind in kinds:
        found = Finding(kind=kind, graph="g", what="w", names=("op0", "op1") if kind == "missed-fusion" else ("one",))
        assert command_text(found, "d1").startswith(("show d1 ", "why d1 "))


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
    assert cost_text(found) == told


def test_a_setting_is_told_with_what_trying_it_showed() -> None:
    trial = Trial("True", 1, True, (8, 7), (4000, 3000))
    found = Finding(kind="copy", graph="g", what="w", to_do="do it", knob="aggressive_fusion", trial=trial)

    assert to_do_text(found) == "do it; aggressive_fusion=True was tried (replay 1): 8 → 7 kernels, 4 kB → 3 kB moved"


@pytest.mark.parametrize(
    ("sure", "calls", "told"),
    [
        ("measured", 23, "measured: the median of 23 calls"),
        ("measured", None, "measured"),
        ("timed a few times", 2, "timed in 2 calls only: 10 make a median to rely on"),
        ("timed a few times", 1, "timed in 1 call only: 10 make a median to rely on"),
        ("not known", None, "bytes only, no time estimate"),
    ],
)
def test_a_time_is_told_with_the_calls_that_it_rests_on(sure: str, calls: int | None, told: str) -> None:
    assert sure_text(Finding(kind="copy", graph="g", what="w", seconds=1e-5, sure=sure, calls=calls)) == told


def test_what_torch_advises_is_told_as_torchs() -> None:
    found = Finding(kind="graph-break", graph="0/0", what="w", to_do="set it", is_torchs=True)

    assert to_do_text(found) == "torch says, not tried: set it"
    better = msgspec.structs.replace(found, instead="leave it out")
    assert to_do_text(better).endswith("or better: leave it out")
