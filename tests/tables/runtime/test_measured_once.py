"""A program that calls its graph once: its times are of the first call, and are told as such."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from inspect_compile.analysis.findings.line_costs import line_costs, only_cold
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Fact, Launched, Measuring
from inspect_compile.graph import Graphs
from tests.handmade import GRAPH, graph, kernel, line, made, node, operation


def measured(root: Path, *, again: bool) -> Dump:
    """Two kernels; the second one was called once, the first one as often, or `again`."""
    names = ("cpp_fused_relu_0", "cpp_fused_sin_1")
    return made(
        root,
        graph(),
        node("x"),
        node("relu", "aten.relu.default", index=1),
        node("sin", "aten.sin.default", index=2),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("relu",)),
        operation("op1", reads={"x": 16}, writes={"buf1": 16}, nodes=("sin",)),
        *(
            kernel(name, f"op{index}", launches=(100 + index,), nodes=(of,))
            for index, (name, of) in enumerate(zip(names, ("relu", "sin"), strict=True))
        ),
        *(line(index, "kernel", kernel=name) for index, name in enumerate(names)),
        Launched(
            graph=GRAPH,
            kernel=names[0],
            line=100,
            device="cpu",
            calls=3 if again else 1,
            timed=2 if again else 0,
            first=9.0,
            least=0.5 if again else None,
            milliseconds=0.75 if again else None,
        ),
        Launched(graph=GRAPH, kernel=names[1], line=101, device="cpu", calls=1, first=4.0),
        Measuring(device="cpu", how="clock", overhead=0.0, timed=2),
    )


@pytest.mark.parametrize("again", [False, True])
def test_the_first_call_is_told_apart(again: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(tmp_path, again=again)

    assert main(["show", str(tmp_path), "measured"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert main(["show", str(tmp_path), "measured", "--json"]) == 0
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert main(["show", str(tmp_path), "kernel", "cpp_fused_sin_1"]) == 0
    page = " ".join(capsys.readouterr().out.split())

    assert "cold: only the first call was timed, in which kernels are compiled and tuned" in told
    assert ("the first call left out" in told) == again
    assert ("cpu: by clock, in the first, cold call" in told) != again
    assert ("in 2 launches, 1 of them cold" if again else "in 2 launches, cold") in told
    assert told.count(" ms cold ") == (1 if again else 2)
    assert [(row["milliseconds"], row["is_cold"]) for row in rows] == [
        (0.75, False) if again else (9.0, True),
        (4.0, True),
    ]
    assert "(the first call, cold)" in page


def _compiled(name: str, compile_id: str, took: float | None) -> Iterator[Fact]:
    """One kernel of one compile; `took` in its later calls, None if there were none."""
    yield graph(name, compile_id=compile_id)
    timed = Launched(graph=name, kernel="cpp_fused_relu_0", line=100, device="cpu", calls=1, first=9.0)
    yield timed if took is None else replace(timed, calls=21, timed=20, least=took, milliseconds=took)
    for fact in (
        node("x"),
        node("relu", "aten.relu.default", index=1),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("relu",)),
        kernel("cpp_fused_relu_0", "op0", launches=(100,), nodes=("relu",)),
        line(0, "kernel", kernel="cpp_fused_relu_0"),
    ):
        yield replace(fact, graph=name)


@pytest.mark.parametrize(
    ("compiles", "cold", "milliseconds"),
    [
        ({"0/0": None, "0/1": 0.5}, {"0/0"}, 0.5),
        ({"0/0": 0.5, "0/1": None}, {"0/1"}, 0.5),
        ({"0/0": None, "1/0": 0.5}, set(), 9.5),  # two functions: there is no other time of the first
        ({"0/0": None, "0/1": None}, set(), 18.0),
        ({"0/0": 0.25, "0/1": 0.5}, set(), 0.75),
    ],
)
def test_a_cold_call_is_not_added_to_those_of_another_compile(
    compiles: dict[str, float | None],
    cold: set[str],
    milliseconds: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = {one: f"model__{one.replace('/', '_')}" for one in compiles}
    dump = made(tmp_path, *(fact for one, took in compiles.items() for fact in _compiled(names[one], one, took)))

    (row,) = line_costs(Graphs(dump))
    assert only_cold(dump) == {names[one] for one in cold}
    assert row.seconds == pytest.approx(milliseconds / 1e3)
    (alone,) = line_costs(Graphs(dump, names["0/0"]))
    assert alone.seconds == pytest.approx((compiles["0/0"] or 9.0) / 1e3)

    monkeypatch.setenv("COLUMNS", "300")  # on less room, by the length of the dump's path, the title is shorter
    assert main(["show", str(tmp_path)]) == 0
    assert ("one call of each graph, 1 cold one left out" in capsys.readouterr().out) == bool(cold)
