"""The least time of launches against roofs, and where they stand in the picture."""

from pathlib import Path

import pytest

from inspect_compile.analysis.cost.roofline import OVER_LINKS, median_reached, roofline
from inspect_compile.analysis.cost.roofline_plot import plot
from inspect_compile.analysis.cost.roofs import Roof, of_target, roof_of
from inspect_compile.analysis.runtime.attributed_time import measured_in
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.diagrams.roofline import roofline_svg
from inspect_compile.facts import Run, Tensor
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.targets import host
from inspect_compile.knowledge.targets.targets import TARGETS
from inspect_compile.profiles.read import read
from inspect_compile.tables.cost.roofline import bound_notes, no_roof_text
from inspect_compile.tables.cost.roofline_plot import plot_lines
from tests.handmade import GRAPH, graph, kernel, line, lowered, made, node, operation
from tests.profiles.recordings import dump_of, trace_of

ROOF = Roof("a device", "a data sheet", 1e9, {"float32": 1e10, "tf32": 8e10}, {"float32": 1e10}, 2e-6)


def test_memory_or_compute_bounds(tmp_path: Path) -> None:
    """4 kB at 1 GB/s are 4 µs; 80,000 FLOPs at 10 GFLOP/s are 8 µs, and 1 µs where they may round to tf32."""
    facts = (
        node("x", values=(Tensor("float32", (750,), (1,), "cpu", 3000),)),
        node("mm", "aten.mm.default", inputs=("x",)),
        lowered("mm", "aten.mm.default", flops=80_000, flops_kind="matmul"),
        operation("op0", reads={"x": 3000}, writes={"buf0": 1000}, kind="extern", nodes=("mm",)),
        kernel("extern_kernels.mm", "op0", kind="extern", nodes=("mm",), launches=(101,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "extern", kernel="extern_kernels.mm", buffer="buf0"),
    )
    exact = made(tmp_path / "exact", graph(tf32=False), *facts)
    rounded = made(tmp_path / "rounded", graph(tf32=True), *facts)

    (slow,) = roofline(CompiledGraph(exact, GRAPH), ROOF)
    (fast,) = roofline(CompiledGraph(rounded, GRAPH), ROOF)

    assert (slow.bound, slow.peak) == ("compute", "float32")
    assert (fast.bound, fast.peak) == ("memory", "tf32")
    assert slow.least_seconds == pytest.approx(8e-6)
    assert fast.least_seconds == pytest.approx(4e-6)
    assert slow.intensity == 20
    assert slow.share == 1


def test_a_collective_has_no_roof_of_memory_and_waiting_moves_nothing(tmp_path: Path) -> None:
    reduce, wait = (f"torch.ops._c10d_functional.{name}.default" for name in ("all_reduce_", "wait_tensor"))
    dump = made(
        tmp_path,
        graph(),
        operation("op0", reads={"x": 3000}, writes={"buf0": 3000}, kind="extern", nodes=("all_reduce",)),
        operation("op1", reads={"buf0": 3000}, writes={"buf1": 3000}, kind="extern", nodes=("wait",)),
        kernel(reduce, "op0", kind="extern", nodes=("all_reduce",), launches=(101,)),
        kernel(wait, "op1", kind="extern", nodes=("wait",), launches=(102,)),
        line(1, "extern", kernel=reduce, buffer="buf0"),
        line(2, "extern", kernel=wait, buffer="buf1"),
    )

    over_links, waiting = roofline(CompiledGraph(dump, GRAPH), ROOF)
    assert (over_links.bound, over_links.least_seconds, over_links.uncounted) == ("", 0.0, OVER_LINKS)
    assert CompiledGraph(dump, GRAPH).traffic.of(CompiledGraph(dump, GRAPH).launches[0]).least == 6000
    assert (
        CompiledGraph(dump, GRAPH).traffic.of(CompiledGraph(dump, GRAPH).launches[1]).least
        == waiting.least_seconds
        == 0
    )


def test_the_device_is_the_recorded_one(tmp_path: Path) -> None:
    for device, bandwidth in (("cuda (NVIDIA H200, sm_90)", 4.8e12), ("cuda (GPU of mine, sm_90)", 3.352e12)):
        roof = roof_of(made(tmp_path / device[6:11], graph(), run=Run(device=device)))
        assert roof is not None
        assert roof.bandwidth == bandwidth
    target = made(tmp_path / "target", graph(), run=Run(device="target sm_90", target="sm_90"))
    assert roof_of(target) == of_target(TARGETS["sm_90"])
    other = made(tmp_path / "other", graph(), run=Run(device="xpu"))
    assert roof_of(other) is None
    assert "The peaks of xpu are not known" in no_roof_text(other)


def test_a_cpu_has_the_roof_that_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    dump = made(tmp_path / "dump", graph())
    assert roof_of(dump) is None
    assert "doctor --measure" in no_roof_text(dump)
    here = host.Host(host.cpu_name(), 2, "2026-05-01", "2.13.0", 2e10, {"float32": 1e11})
    host.keep(here)
    roof = roof_of(dump)
    assert roof is not None
    assert roof.bandwidth == 2e10
    for broken in (here._replace(cpu="another"), here._replace(bandwidth=-1.0), here._replace(peak={})):
        host.keep(broken)
        assert host.host() is None


def test_measured_times_stand_beside(tmp_path: Path) -> None:
    """A training step on an H200: too small for its roof, so that no launch comes near it."""
    dump, profile = dump_of("training", tmp_path), read(trace_of("training"))
    times = measured_in(attribute(dump, profile))

    rows = [
        row
        for found in dump.graphs()
        for row in roofline(CompiledGraph(dump, found.graph), of_target(TARGETS["sm_90"]), times)
        if found.parent is None
    ]

    assert all(row.measured_seconds and row.reached and row.reached < 1 for row in rows)
    assert {row.bound for row in rows} == {"launch"}
    assert 0 < (median_reached(rows) or 0) < 0.1


@pytest.mark.parametrize(("bandwidth", "peak", "doubt"), [(1e6, 1e12, "in a cache"), (1e12, 1e6, "this roof is wrong")])
def test_a_roof_that_launches_are_faster_than_is_doubted(
    tmp_path: Path, bandwidth: float, peak: float, doubt: str
) -> None:
    """As if it had been measured while other programs ran."""
    dump = dump_of("training", tmp_path)
    times = measured_in(attribute(dump, read(trace_of("training"))))
    low = Roof("a CPU", "measured here", bandwidth, {"float32": peak}, {"float32": peak}, is_measured=True)
    graph = next(found.graph for found in dump.graphs() if found.parent is None)
    rows = roofline(CompiledGraph(dump, graph), low, times)
    notes = " ".join(bound_notes(rows, low))
    above = [row for row in rows if (row.reached or 0) > 1.05]
    assert above
    assert f"{len(above)} launches are faster than the roof allows" in notes
    assert doubt in notes
    assert "doctor --measure" in notes

    sound = of_target(TARGETS["sm_90"])
    assert "▲" not in " ".join(bound_notes(roofline(CompiledGraph(dump, graph), sound, times), sound))


def test_pictures_escape_what_a_dump_says(tmp_path: Path) -> None:
    name = "</text><script>\x1b[31m&"
    dump = made(
        tmp_path,
        graph(),
        node("x"),
        node("relu", "aten.relu.default", values=(Tensor("float32", (4,), (1,), "cpu", 16),)),
        lowered("relu", "aten.relu.default", flops=4, flops_kind="pointwise"),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("relu",)),
        kernel(name, "op0", nodes=("relu",), computes=("relu",), launches=(101,)),
        line(1, "launch", kernel=name, arguments=("x", "buf0")),
    )
    found = plot(roofline(CompiledGraph(dump, GRAPH), ROOF), ROOF)

    drawn = roofline_svg(found, name)

    assert len(found.points) == 1
    assert "<script" not in drawn
    assert "\x1b" not in drawn
    assert "&lt;script&gt;" in drawn
    lines = plot_lines(found, 60, 12)
    assert len(lines) == 12
    assert sum(text.plain.count("●") for text in lines[:-1]) == 1
