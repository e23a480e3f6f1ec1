"""The tree from lines to callees: it adds up to what the other tables say, and begins at the user's own line."""

import subprocess
import sys
from itertools import groupby, pairwise
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.flame import FlameRow, flame, folded
from inspect_compile.analysis.cost.rollup import Costs
from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.dump import Dump
from inspect_compile.facts import CallSite, Location
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.cost.sure import ESTIMATED
from inspect_compile.knowledge.cost.units import OF, Of
from inspect_compile.knowledge.targets.host import Host, cpu_name, keep
from inspect_compile.tables.cost.flame import widest
from tests.handmade import GRAPH, ended, graph, lowered, made, node

MIXED = Path(__file__).resolve().parents[2] / "data" / "tui" / "mixed"
FORWARD, BACKWARD = "model__0_forward_1.0", "model__0_backward_3.1"


@pytest.fixture(autouse=True)
def _known_roof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU of 10 GB/s."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    keep(Host(cpu_name(), 2, "2026-05-01", "2.13.0", 1e10, {"float32": 1e11, "float64": 5e10}))


def expected(dump: Dump, name: str, of: Of) -> float:
    """What the other tables say of the graph as a whole."""
    if of == "flops":
        return sum(row.flops for row in Costs(CompiledGraph(dump, name)).by("line"))
    if of == "bytes":
        return sum(row.least for row in CompiledGraph(dump, name).traffic.all())
    roof = roof_of(dump)
    assert roof is not None
    return sum(row.least_seconds for row in roofline(CompiledGraph(dump, name), roof))


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("name", [FORWARD, BACKWARD])
def test_it_adds_up_to_what_the_other_tables_say(name: str, of: Of) -> None:
    dump = Dump(MIXED)

    rows = flame(CompiledGraph(dump, name), of)

    assert rows[0].value == pytest.approx(expected(dump, name, of))
    assert sum(row.own for row in rows) == pytest.approx(rows[0].value)
    for index, row in enumerate(rows):
        below = []
        for other in rows[index + 1 :]:
            if other.depth <= row.depth:
                break
            if other.depth == row.depth + 1:
                below.append(other.value)
        assert row.value == pytest.approx(row.own + sum(below))
        assert below == sorted(below, reverse=True)
    assert {row.sure for row in rows} == ({ESTIMATED} if of == "time" else {""})


def test_folded_stacks_have_each_way_with_what_it_has_by_itself() -> None:
    dump = Dump(MIXED)

    stacks = list(folded(flame(CompiledGraph(dump, FORWARD), "flops")))

    assert sum(value for _, value in stacks) == expected(dump, FORWARD, "flops")
    assert all(way[0] == FORWARD for way, _ in stacks)
    assert any("mixed.py:20" in frame for way, _ in stacks for frame in way)


def test_folded_stacks_on_the_command_line() -> None:
    command = ["show", str(MIXED), "flame", "--of", "bytes", "--graph", FORWARD, "-o", "/dev/stdout"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_compile", *command], capture_output=True, text=True, check=True
    )

    *stacks, told = done.stdout.splitlines()
    assert "speedscope" in told
    values = [int(line.rpartition(" ")[2]) for line in stacks]
    assert sum(values) == expected(Dump(MIXED), FORWARD, "bytes")
    assert all(line.startswith(f"{FORWARD};") for line in stacks)


LIBRARY = "/env/lib/python3.11/site-packages/lib"
SITES = (
    ("/home/me/serve.py", 3, "<module>"),
    (f"{LIBRARY}/wrap.py", 10, "wrapper"),
    (f"{LIBRARY}/wrap.py", 20, "inner"),
    ("/home/me/net.py", 7, "forward"),
    (f"{LIBRARY}/linear.py", 5, "forward"),
)


def calls(dump: Dump) -> list[FlameRow]:
    return flame(CompiledGraph(dump, GRAPH), "flops")


def test_calls_that_only_lead_on_are_told_with_what_they_lead_to(tmp_path: Path) -> None:
    """`serve.py:3` calls `net.py:7` through two lines of a library; that calls the library's `linear.py:5`, and itself
    does something, too.
    """
    sites = [
        CallSite(graph="", site=index, caller=index - 1, file=file, line=line, function=function, code="")
        for index, (file, line, function) in enumerate(SITES, 1)
    ]
    nodes = [
        node("own", "aten.add.Tensor", where=Location(SITES[3][0], 7, "forward", site=4)),
        node("below", "aten.mm.default", where=Location(SITES[4][0], 5, "forward", site=5)),
    ]
    rows = [
        lowered("own", "aten.add.Tensor", flops=100, flops_kind="pointwise"),
        lowered("below", "aten.mm.default", flops=300, flops_kind="matmul"),
    ]

    found = calls(made(tmp_path, graph(), ended(), *sites, *nodes, *rows))

    assert [(row.depth, row.name, row.value) for row in found] == [
        (0, GRAPH, 400),
        (1, "serve.py:3", 400),
        (2, "net.py:7", 400),
        (3, "linear.py:5", 300),
        (4, "aten.mm", 300),
        (3, "aten.add", 100),
    ]
    assert [one.line for one in found[2].through] == [10, 20]


def test_a_kernel_that_a_line_launches_often_is_one_row_with_all_its_launches() -> None:
    rows = flame(CompiledGraph(Dump(MIXED), FORWARD), "bytes")

    kernels = [row for row in rows if row.kind == "kernel"]
    launches = [row.line for row in CompiledGraph(Dump(MIXED), FORWARD).traffic.all() if row.least]
    assert sorted(line for row in kernels for line in row.launches) == sorted(line for line in launches if line)
    below = [
        tuple(row.name for row in same)
        for is_kernel, same in groupby(rows, lambda row: row.kind == "kernel")
        if is_kernel
    ]
    assert all(len(set(names)) == len(names) for names in below)


def test_the_widest_rows_have_their_callers() -> None:
    rows = flame(CompiledGraph(Dump(MIXED), FORWARD), "bytes")

    for limit in range(1, len(rows)):
        shown = widest(rows, limit)
        assert len(shown) == limit
        depths = [row.depth for row in shown]
        assert all(after <= before + 1 for before, after in pairwise(depths))
