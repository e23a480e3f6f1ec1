"""Which of a kernel's configurations runs."""

from pathlib import Path
from typing import Any

from inspect_compile.facts import Binary, Choice, Chosen, Tuning
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.binaries import configurations, of_kernels
from tests.handmade import GRAPH, graph, made


def binary(kernel: str, label: str, **more: Any) -> Binary:
    known = {"num_warps": 4, "registers": 32, "shared": 0, "target": "sm_90", **more}
    return Binary(graph=GRAPH, kernel=kernel, label=label, **known)


def timing(label: str, milliseconds: float | None) -> Choice:
    return Choice(graph=GRAPH, tuning=0, label=label, kind="configuration", milliseconds=milliseconds)


def test_the_fastest_is_chosen_once_they_were_timed(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        *(binary("a", label) for label in ("1", "2", "3")),
        Tuning(graph=GRAPH, number=0, about="kernel", name="a"),
        *(timing(label, time) for label, time in (("1", 0.5), ("2", 0.25), ("3", None))),
        Chosen(graph=GRAPH, tuning=0, label="2", by="time"),
        *(binary("b", label) for label in ("1", "2")),
        binary("c", "1"),
        binary("d", "1", is_remembered=True),
    )

    rows = configurations(CompiledGraph(dump, GRAPH))

    assert [(row.kernel, row.choice, row.milliseconds) for row in rows] == [
        ("a", "slower", 0.5),
        ("a", "chosen", 0.25),
        ("a", "slower", None),
        ("b", "not measured", None),
        ("b", "not measured", None),
        ("c", "only", None),
        ("d", "remembered", None),
    ]
    assert {name: [row.label for row in found] for (_, name), found in of_kernels(rows).items()} == {
        "a": ["2", "1", "3"],
        "b": ["1", "2"],
        "c": ["1"],
        "d": ["1"],
    }


def test_occupancy_is_told_where_all_that_it_takes_is_known(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        graph(),
        binary("full", "1"),
        binary("half", "1", registers=64),
        binary("given more", "1", registers=28, allocated_registers=169, target="gfx942", num_warps=1),
        binary("unknown GPU", "1", target="sm_61"),
        binary("no registers", "1", registers=None),
        binary("no shared", "1", shared=None),
        *(binary("lie", name, **{name: -5}) for name in ("num_warps", "registers", "shared")),
        binary("lie", "zero", num_warps=0),
        binary("lie", "huge", num_warps=2**62, registers=2**62, shared=2**62),
    )

    found = {row.kernel: (row.occupancy, row.limit, row.blocks) for row in configurations(CompiledGraph(dump, GRAPH))}

    assert found.pop("lie") == (0.0, "warps", 0)
    assert found == {
        "full": (1.0, "warps", 16),
        "half": (0.5, "registers", 8),
        "given more": (0.25, "registers", 8),
        **dict.fromkeys(("unknown GPU", "no registers", "no shared"), (None, "", None)),
    }
    assert [row.occupancy for row in configurations(CompiledGraph(dump, GRAPH)) if row.kernel == "lie"] == [
        None
    ] * 4 + [0.0]
