"""Distributed data-parallel training on GPUs: five graphs each way, whose kernels have the same names."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from inspect_compile.analysis.cost.launch_origins import LaunchOrigins
from inspect_compile.analysis.runtime.attribution import CERTAIN, attribute
from inspect_compile.dump import Dump
from inspect_compile.facts import Collective, Node
from inspect_compile.profiles import chrome
from tests.profiles import recordings

HIDDEN = frozenset((640, 576, 512, 704, 768))
"""Each block has a width of its own: programs/ddp.py."""
REPLAYED = "ddp_reduce_overhead"


def _hidden(dump: Dump) -> dict[str, int]:
    """Graph → the width of its block, by the shapes of what goes into it."""
    found: dict[str, set[int]] = defaultdict(set)
    for row in dump.rows(Node):
        if row.op == "placeholder" and row.stage == "post_grad" and row.values:
            found[row.graph] |= HIDDEN.intersection(size for size in row.values[0].size if isinstance(size, int))
    return {graph: width for graph, (width,) in found.items()}


def test_each_operator_has_the_shapes_of_its_graph(tmp_path: Path) -> None:
    """The profiler noted the shapes of what it called; nothing of them is used to tell the graph."""
    dump = recordings.dump_of("ddp", tmp_path)
    found, width = attribute(dump, chrome.read(recordings.trace_of("ddp"))), _hidden(dump)
    dims = {
        event["args"]["External id"]: event["args"]["Input Dims"]
        for event in recordings.events_of("ddp")["traceEvents"]
        if event.get("cat") == "cpu_op" and event["name"] in ("aten::mm", "aten::addmm")
    }

    seen: dict[str, int] = defaultdict(int)
    for run, own in zip(found.runs, found.joined, strict=True):
        if run.external in dims and own.launch is not None:
            sizes = HIDDEN.intersection(size for shape in dims[run.external] for size in shape)
            if sizes:  # the last layer, of one column, has none
                assert sizes == {width[own.graph]}, (run.name, own.graph)
                seen[own.graph] += 1
    assert len(width) == 10
    assert seen.keys() == width.keys()
    assert {own.confidence for own in found.joined if own.launch is not None} == {CERTAIN}


@pytest.mark.parametrize("name", ["ddp", REPLAYED])
def test_every_kernel_of_a_graph_has_a_line(name: str, tmp_path: Path) -> None:
    """That of a matmul and its sum, which torch 2.11 takes from the node that it makes of both, too."""
    dump = recordings.dump_of(name, tmp_path)
    found, origins = attribute(dump, chrome.read(recordings.trace_of(name))), LaunchOrigins(dump)
    launched = [own.launch for own in found.joined if own.launch is not None]
    assert "addmm_default" in {node for launch in launched for node in launch.nodes}
    assert all(origins.of(launch).lines for launch in launched)
    assert not [own.reason for own in found.joined if not own.is_joined and not own.reason.startswith("outside")]


def test_a_replay_has_the_kernels_of_the_calls_that_were_not_replayed(tmp_path: Path) -> None:
    """The same program without CUDA graphs tells by operators which kernels each launch starts."""
    told = [_kernels(name, tmp_path / name) for name in ("ddp", REPLAYED)]
    assert told[0] == told[1]
    assert any(len(kernels) > 1 for graph in told[0].values() for _, kernels in graph)


def _kernels(name: str, folder: Path) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Graph → its launches in order, each with the kernels that it started."""
    found = attribute(recordings.dump_of(name, folder), chrome.read(recordings.trace_of(name)))
    rows: dict[str, list[tuple[int | None, str, list[str]]]] = defaultdict(list)
    for run, own in sorted(zip(found.runs, found.joined, strict=True), key=lambda pair: pair[0].start):
        if own.launch is not None:
            if not rows[own.graph] or rows[own.graph][-1][0] != own.launch.line:
                rows[own.graph].append((own.launch.line, own.launch.kernel.name, []))
            is_copy = run.kind != "kernel" or re.match(r"mem(?:cpy|set)\d", run.name)
            rows[own.graph][-1][2].append("a copy" if is_copy else run.name)
    return {graph: [(kernel, tuple(names)) for _, kernel, names in own] for graph, own in rows.items()}


def test_what_the_reducer_summed(tmp_path: Path) -> None:
    """Six steps: all gradients at once in the first, by buckets from then on."""
    dump = recordings.dump_of("ddp", tmp_path)
    (row,) = (row for row in dump.rows(Collective) if row.hook == "reducer")
    width, parameters = 256, 256 + 1
    for hidden in HIDDEN:
        parameters += 2 * width * hidden + hidden + width
    assert (row.op, row.count, row.bytes) == ("all_reduce", 1 + 5 * 6, 6 * 4 * parameters)
