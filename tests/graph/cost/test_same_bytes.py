"""All views take the bytes of a launch from one count."""

from collections import Counter
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.roofline import roofline
from inspect_compile.analysis.cost.roofs import roof_of
from inspect_compile.analysis.fusion.graph_bytes import graph_bytes
from inspect_compile.analysis.overview.summary import summarize
from inspect_compile.analysis.runtime.attributed_time import LaunchTimes
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.dump import open_dump
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.targets.devices import device_named
from inspect_compile.profiles.read import read
from tests.profiles import recordings
from tests.running import COMMAND, run


@pytest.mark.parametrize("name", ["training", "user_kernel", "reduce_overhead"])
def test_of_a_recording(name: str, tmp_path: Path) -> None:
    """Also where a CUDA graph's copies ran beside the launches: of those the bytes are not known."""
    dump = recordings.dump_of(name, tmp_path)
    profile = read(recordings.trace_of(name))
    found = attribute(dump, profile)

    moved, unsure = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for place, joined in enumerate(found.joined):
        if joined.launch is not None and place in found.first:
            traffic = CompiledGraph(dump, joined.launch.graph.partition("/")[0]).traffic.of(joined.launch)
            moved[joined.launch.graph, joined.launch.kernel.name] += traffic.least
            unsure[joined.launch.graph, joined.launch.kernel.name] += traffic.unsure
    rows = LaunchTimes(dump, found).by("kernel", device_named(profile.device))

    assert moved
    assert {(row.graph, row.what[0]): row.bytes for row in rows if row.bytes is not None} == moved
    assert {(row.graph, row.what[0]): row.unsure for row in rows if row.bytes is not None} == unsure
    assert all(row.what[0].startswith("(") for row in rows if row.bytes is None)
    roof = roof_of(dump)
    assert roof is not None
    for graph in dump.outermost():
        total = CompiledGraph(dump, graph.graph).traffic.moved
        assert (
            total
            == summarize(CompiledGraph(dump, graph.graph)).moved_bytes
            == graph_bytes(CompiledGraph(dump, graph.graph)).moved
        )
        assert total == sum(row.bytes + row.unsure for row in roofline(CompiledGraph(dump, graph.graph), roof))


@pytest.mark.harmless
def test_of_a_size_that_is_found_when_the_program_runs(tmp_path: Path) -> None:
    """torch says of an unbacked size that it is 0: that is no number of bytes."""
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "torch._dynamo.config.capture_dynamic_output_shape_ops = True\n"
        "@torch.compile(fullgraph=True)\n"
        "def found(x, w):\n"
        "    return (torch.nonzero(x) * 2).sum(0), torch.relu(x) @ w\n"
        "found(torch.randn(8, 8), torch.randn(8, 4))\n"
    )
    run((*COMMAND, "run", "--no-tui", "--dump", "dump", program), tmp_path)

    dump = open_dump(tmp_path / "dump")
    (graph,) = dump.outermost()
    known = {row.kernel: row.is_known for row in CompiledGraph(dump, graph.graph).traffic.all()}

    assert known.pop("extern_kernels.mm")
    assert known
    assert not any(known.values())
    assert summarize(CompiledGraph(dump, graph.graph)).unknown_launches == len(known)
    for table, of in (("traffic", "nonzero"), ("kernels", "nonzero"), ("schedule", "nonzero")):
        shown = run((*COMMAND, "show", "dump", table), tmp_path).stdout
        line = next(line for line in shown.splitlines() if of in line)
        assert " ? " in line, shown
